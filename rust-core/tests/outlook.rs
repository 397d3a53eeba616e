//! What an application tells an arbiter of its runs is what its own plan is made of.

use slaq_core::arbiter::{Arbiter, Report, Settings};
use slaq_core::{Config, Engine, RunSpec, Stage};

fn run(engine: &Engine, id: i64, losses: impl Iterator<Item = f64>, has_loss: bool) {
    let spec = format!(r#"{{"id":{id},"algorithm":"A{id}","name":"run-{id}","hasLoss":{has_loss}}}"#);
    engine.start(RunSpec::from_json(&spec).unwrap(), 0.0).unwrap();
    let stage = Stage { tasks: 8, task_seconds: 4.0, longest_seconds: 0.5, span_seconds: 2.0 };
    for (k, loss) in losses.enumerate() {
        engine.report(id, k as u32, loss, 2.0 * k as f64, &[stage]).unwrap();
    }
}

#[test]
fn gains_rise_with_cores_and_stop_where_no_wave_is_saved() {
    let engine = Engine::new(Config::default());
    run(&engine, 1, (0..20).map(|k| 0.8_f64.powi(k)), true);
    run(&engine, 2, std::iter::empty(), false);
    let outlook = engine.outlook(64, 20.0);
    let text = format!(r#"{{"version":1,"app":"a","runs":{outlook}}}"#);
    let report = Report::parse(text.as_bytes()).unwrap();
    let (falling, blind) = (&report.runs[0], &report.runs[1]);
    assert!(falling.predicted && !blind.predicted && blind.gain.is_empty());
    assert_eq!((falling.iteration, falling.name.as_str()), (19, "run-1"));
    let cores: Vec<u32> = falling.gain.iter().map(|p| p.0).collect();
    assert_eq!(cores, [1, 2, 3, 4, 8], "8 tasks take 8, 4, 3, 2 and 1 waves");
    assert!(falling.gain.windows(2).all(|w| w[0].1 <= w[1].1) && falling.gain[0].1 > 0.0);
}

#[test]
fn of_two_applications_the_one_that_still_learns_gets_more() {
    let mut arbiter = Arbiter::new(Settings::new(8), 0.0);
    let engines: Vec<Engine> = [0.9_f64, 0.2]
        .iter()
        .map(|&ratio| {
            let engine = Engine::new(Config::default());
            run(&engine, 1, (0..25).map(|k| ratio.powi(k)), true);
            engine
        })
        .collect();
    let mut targets = [0, 0];
    for second in 0..60 {
        for (i, engine) in engines.iter().enumerate() {
            let report = format!(
                r#"{{"version":1,"app":"a{i}","executors":{},"runs":{}}}"#,
                targets[i],
                engine.outlook(8, 20.0)
            );
            let answer: serde_json::Value =
                serde_json::from_str(&arbiter.receive(report.as_bytes(), f64::from(second)).text).unwrap();
            targets[i] = answer["target"].as_u64().unwrap_or(0);
        }
        arbiter.tick(f64::from(second) + 0.5);
    }
    assert!(targets[0] >= 6 && targets[1] >= 1 && targets.iter().sum::<u64>() <= 8, "{targets:?}");
}
