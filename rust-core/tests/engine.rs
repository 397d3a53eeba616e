//! The engine as its hosts use it.

use slaq_core::{Config, Engine, Error, Reason, RunSpec, Stage};

fn stage(tasks: u32, each: f64) -> Stage {
    Stage { tasks, task_seconds: f64::from(tasks) * each, longest_seconds: each, span_seconds: each }
}

fn cores(engine: &Engine, cores: u32, now: f64) -> Vec<u32> {
    engine.plan(cores, 0.0, now).shares.iter().map(|s| s.cores).collect()
}

/// Feeds exponential losses of the given rate, one a second.
fn feed(engine: &Engine, run: i64, rate: f64, iterations: std::ops::Range<u32>) {
    for k in iterations {
        engine.report(run, k, 1.0 + (-rate * f64::from(k)).exp(), f64::from(k), &[stage(64, 0.2)]).unwrap();
    }
}

/// Reading, caching and statistics: eight passes over the data of 64 tasks before the first loss.
fn prepare(engine: &Engine, run: i64) {
    for _ in 0..8 {
        engine.observe(run, 1.0, &[stage(64, 0.2)]).unwrap();
    }
}

/// An engine whose run 1 prepared and has reported two losses, so that it knows how long runs prepare.
fn experienced() -> Engine {
    let engine = Engine::new(Config::default());
    engine.start(RunSpec::new(1, "KMeans"), 0.0).unwrap();
    prepare(&engine, 1);
    begin(&engine);
    engine
}

fn begin(engine: &Engine) {
    for (iteration, loss) in [(0, 1.0), (1, 0.9)] {
        engine.report(1, iteration, loss, 9.0, &[stage(64, 0.2)]).unwrap();
    }
}

#[test]
fn cores_go_where_the_loss_falls() {
    let engine = Engine::new(Config::default());
    for (run, rate) in [(1, 0.02), (2, 0.5)] {
        engine.start(RunSpec::new(run, "KMeans"), 0.0).unwrap();
        feed(&engine, run, rate, 0..30);
    }
    let plan = engine.plan(16, 0.0, 30.0);
    assert!(plan.shares[0].cores >= 12, "{plan:?}");
    assert_eq!(plan.shares[0].reason, Reason::Gain);
    assert_eq!(plan.shares.iter().map(|s| s.cores).sum::<u32>(), 16);
}

#[test]
fn misuse_is_an_error_not_a_panic() {
    let engine = Engine::new(Config::default());
    assert_eq!(engine.report(1, 0, 1.0, 0.0, &[]), Err(Error::UnknownRun(1)));
    assert_eq!(engine.observe(1, 0.0, &[]), Err(Error::UnknownRun(1)));
    assert_eq!(engine.finish(1, 0.0), Err(Error::UnknownRun(1)));
    engine.start(RunSpec::new(1, "KMeans"), 0.0).unwrap();
    assert_eq!(engine.start(RunSpec::new(1, "KMeans"), 0.0), Err(Error::AlreadyStarted(1)));
    engine.finish(1, 1.0).unwrap();
    assert!(engine.plan(8, 0.0, 1.0).shares.is_empty());
}

#[test]
fn all_runs_get_a_turn_when_they_outnumber_cores() {
    let engine = Engine::new(Config::default());
    for run in 0..40 {
        engine.start(RunSpec::new(run, "KMeans"), 0.0).unwrap();
        feed(&engine, run, 0.01 * f64::from(run as i32 + 1), 0..12);
    }
    let mut served = [0.0; 40];
    for epoch in 1..200 {
        let now = 12.0 + f64::from(epoch);
        let shares = cores(&engine, 4, now);
        assert!(shares.iter().sum::<u32>() <= 4);
        for (last, share) in served.iter_mut().zip(shares) {
            if share > 0 {
                *last = now;
            }
            assert!(epoch < 20 || now - *last <= 16.0, "waited {} s", now - *last);
        }
    }
}

#[test]
fn other_work_keeps_its_fair_share() {
    let engine = Engine::new(Config::default());
    for run in 0..3 {
        engine.start(RunSpec::new(run, "KMeans"), 0.0).unwrap();
    }
    let planned: u32 = engine.plan(16, 1.0, 0.0).shares.iter().map(|s| s.cores).sum();
    assert_eq!(planned, 12);
}

#[test]
fn cores_beyond_what_any_stage_could_use_are_given_away_too() {
    let engine = Engine::new(Config::default());
    engine.start(RunSpec::new(1, "KMeans"), 0.0).unwrap();
    engine.observe(1, 0.0, &[stage(2, 0.1)]).unwrap();
    assert_eq!(cores(&engine, 8, 0.0), [8]);
    engine.start(RunSpec { ceiling: Some(3), ..RunSpec::new(2, "KMeans") }, 0.0).unwrap();
    assert_eq!(cores(&engine, 16, 0.0), [13, 3]);
}

#[test]
fn a_run_at_its_first_loss_is_not_held_to_cost_what_its_preparation_did() {
    let engine = Engine::new(Config::default());
    for run in [1, 2] {
        engine.start(RunSpec::new(run, "KMeans"), 0.0).unwrap();
    }
    prepare(&engine, 1);
    engine.report(1, 0, 1.0, 9.0, &[]).unwrap();
    engine.observe(2, 9.0, &[stage(64, 0.2)]).unwrap();
    let shares = cores(&engine, 32, 9.0);
    assert!(shares[0] >= shares[1], "the run that is further with the same work ahead comes second: {shares:?}");
}

#[test]
fn a_run_that_has_only_looked_at_its_first_rows_is_not_taken_to_be_one_task_wide() {
    let engine = experienced();
    engine.start(RunSpec::new(2, "KMeans"), 10.0).unwrap();
    let before = cores(&engine, 32, 10.0);
    engine.observe(2, 10.0, &[stage(1, 0.1)]).unwrap();
    assert_eq!(cores(&engine, 32, 10.0), before);
}

#[test]
fn an_iteration_of_many_stages_leaves_a_run_as_wide_as_it_was() {
    let engine = experienced();
    engine.report(1, 2, 0.8, 20.0, &[stage(64, 0.2); 40]).unwrap();
    engine.start(RunSpec::new(2, "KMeans"), 20.0).unwrap();
    assert_ne!(engine.plan(32, 0.0, 20.0).shares[0].reason, Reason::Ceiling);
}

#[test]
fn a_run_whose_first_loss_is_no_number_still_prepares() {
    let share = |first: Option<f64>, stages: u32| {
        let engine = experienced();
        engine.start(RunSpec::new(2, "KMeans"), 10.0).unwrap();
        if let Some(loss) = first {
            engine.report(2, 0, loss, 10.0, &[]).unwrap();
        }
        for _ in 0..stages {
            engine.observe(2, 11.0, &[stage(64, 0.2)]).unwrap();
        }
        engine.plan(32, 0.0, 11.0).shares[1]
    };
    assert_eq!(share(Some(f64::NAN), 6), share(None, 6));
    assert!(share(None, 6).gain > share(None, 0).gain, "it comes closer to its first loss");
}

#[test]
fn an_unknown_run_is_taken_to_prepare_as_long_as_others_did() {
    let expected = |engine: Engine| {
        engine.start(RunSpec::new(2, "KMeans"), 10.0).unwrap();
        engine.plan(32, 0.0, 10.0).shares[1].gain / f64::from(cores(&engine, 32, 10.0)[1])
    };
    let ready = Engine::new(Config::default());
    ready.start(RunSpec::new(1, "KMeans"), 0.0).unwrap();
    begin(&ready);
    let (late, soon) = (expected(experienced()), expected(ready));
    assert!(late < 0.7 * soon, "a core is worth {late} with nine passes ahead of the first loss, {soon} with none");
}
