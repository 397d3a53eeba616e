//! The event loop on cases small enough to follow by hand, and what must hold on large ones.

use super::super::recorded::Recorded;
use super::super::workload::{Library, Setting, StageWork};
use super::*;
use crate::Config;
use crate::sim::planner::Planner;

/// A job of one curve with the same single stage in each iteration.
fn job(arrival: f64, losses: &[f64], tasks: u32, seconds: f64, gap: f64) -> Job {
    let library = Library::new(&[Recorded::plain("hand", losses.to_vec())]);
    let iterations = losses.iter().map(|_| vec![StageWork { tasks, seconds }]).collect();
    Job { arrival, curve: library.curves()[0].clone(), iterations, gap }
}

fn many(seed: u64) -> Vec<Job> {
    let exponential = (0..30).map(|k| 0.8f64.powi(k)).collect();
    let reciprocal = (0..40).map(|k| 1.0 / (1.0 + 0.2 * f64::from(k))).collect();
    let library =
        Library::new(&[Recorded::plain("exponential", exponential), Recorded::plain("reciprocal", reciprocal)]);
    let setting = Setting {
        cores: 16,
        runs: 25,
        arrival: 3.0,
        task_seconds: 0.2,
        partitions: (4.0, 40.0),
        gap: None,
        fresh: false,
    };
    library.jobs(&setting, seed)
}

fn planned(config: &str) -> Discipline {
    Discipline::Planned(Box::new(Planner::new(Config::from_json(config).unwrap(), 0.1)))
}

fn untidy() -> Conditions {
    Conditions { noise: 0.3, stragglers: (0.05, 4.0), reallocation: 0.2, misprediction: 0.2, sample: 0.05, tick: 0.005 }
}

#[test]
fn waves_and_gaps_by_hand() {
    // 5 tasks of 1 s on 2 cores: three waves, then 0.5 s of the driver, for each of two losses.
    let jobs = [job(1.0, &[2.0, 1.0], 5, 1.0, 0.5)];
    let trace = simulate(&jobs, 2, &mut Discipline::Fair, &Conditions::default(), 1).unwrap();
    assert_eq!(trace.runs[0].times, [4.5, 8.0]);
    assert_eq!(trace.runs[0].normalised, [1.0, 0.0]);
    assert_eq!(trace.runs[0].finished, 8.0);
}

#[test]
fn fair_shares_and_fifo_queues() {
    let jobs = [job(0.0, &[2.0, 1.0], 4, 1.0, 0.0), job(0.5, &[2.0, 1.0], 4, 1.0, 0.0)];
    let times = |discipline: &mut Discipline| {
        let trace = simulate(&jobs, 4, discipline, &Conditions::default(), 1).unwrap();
        trace.runs.iter().map(|run| run.times.clone()).collect::<Vec<_>>()
    };
    // FIFO: the jobs of the two runs take turns of one second on all four cores.
    assert_eq!(times(&mut Discipline::Fifo), [[1.0, 3.0], [2.0, 4.0]]);
    // FAIR: at 1 s both have four tasks waiting and share the cores evenly until 3 s, when only the second has work left.
    assert_eq!(times(&mut Discipline::Fair), [[1.0, 3.0], [3.0, 4.0]]);
    // On six cores the newcomer has the two free ones at once and a third at 1 s, as the two even out; its fourth task runs from 1.5 s on.
    let trace = simulate(&jobs, 6, &mut Discipline::Fair, &Conditions::default(), 1).unwrap();
    assert_eq!(trace.runs[1].times[0], 2.5);
}

#[test]
fn a_straggler_and_a_cold_core_lengthen_the_stage() {
    let jobs = [job(0.0, &[2.0, 1.0], 2, 1.0, 0.0)];
    let conditions = Conditions { stragglers: (1.0, 3.0), ..Conditions::default() };
    assert_eq!(simulate(&jobs, 2, &mut Discipline::Fair, &conditions, 1).unwrap().runs[0].times, [3.0, 6.0]);
    let conditions = Conditions { reallocation: 0.25, ..Conditions::default() };
    // Both cores are new in the first iteration, none in the second.
    assert_eq!(simulate(&jobs, 2, &mut Discipline::Fair, &conditions, 1).unwrap().runs[0].times, [1.25, 2.25]);
}

#[test]
fn unused_cores_are_lent_after_the_delay() {
    // Equal shares of two cores: the second run's single task leaves one that the first, with five tasks of 1 s, can use.
    let jobs = [job(0.0, &[2.0, 1.0], 5, 1.0, 0.0), job(0.0, &[2.0, 1.0], 1, 10.0, 0.0)];
    let first = |lend: f64| {
        let planner = Planner::new(Config::from_json(r#"{"policy":"equal"}"#).unwrap(), lend);
        let mut discipline = Discipline::Planned(Box::new(planner));
        simulate(&jobs, 4, &mut discipline, &Conditions::default(), 1).unwrap().runs[0].times[0]
    };
    assert_eq!(first(f64::INFINITY), 3.0, "never lent: waves of two, two and one");
    assert_eq!(first(0.1), 2.0, "lent at 0.1 s");
    assert_eq!(first(1.5), 2.5, "lent at 1.5 s, for the fifth task");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for policy in ["quality", "progress", "las", "slaq-2017"] {
        let trace = |seed| {
            simulate(&many(seed), 16, &mut planned(&format!(r#"{{"policy":"{policy}"}}"#)), &untidy(), seed).unwrap()
        };
        assert_eq!(trace(5), trace(5), "{policy}");
        assert_ne!(trace(5), trace(6), "{policy}");
    }
}

#[test]
fn never_more_tasks_than_cores_and_every_run_ends() {
    for policy in ["fifo", "fair", "equal", "progress", "las", "slaq-2017", "quality"] {
        let mut discipline = match policy {
            "fifo" => Discipline::Fifo,
            "fair" => Discipline::Fair,
            planned_policy => planned(&format!(r#"{{"policy":"{planned_policy}"}}"#)),
        };
        let jobs = many(9);
        let trace = simulate(&jobs, 16, &mut discipline, &untidy(), 9).unwrap();
        assert!(trace.samples.iter().all(|sample| sample.busy <= 16), "{policy}");
        assert!(trace.samples.iter().any(|sample| sample.busy == 16), "{policy} never fills the cluster");
        for (run, job) in trace.runs.iter().zip(&jobs) {
            assert_eq!(run.times.len(), job.iterations.len(), "{policy}");
            assert!(run.times.windows(2).all(|pair| pair[0] < pair[1]), "{policy}");
        }
        let work: f64 = jobs.iter().map(Job::work).sum();
        let last = trace.runs.iter().map(|run| run.finished).fold(0.0, f64::max);
        assert!(last * 16.0 > work * 0.9, "{policy}: {work} core-seconds do not fit into {last} s on 16 cores");
    }
}

#[test]
fn no_core_idles_under_fair_while_tasks_wait() {
    let jobs = [job(0.0, &[2.0, 1.0], 30, 0.5, 0.0), job(0.0, &[2.0, 1.0], 30, 0.5, 0.0)];
    let trace = simulate(&jobs, 6, &mut Discipline::Fair, &Conditions::default(), 1).unwrap();
    // 120 tasks of 0.5 s on 6 cores: 10 s, whatever the order.
    assert_eq!(trace.runs.iter().map(|run| run.finished).fold(0.0, f64::max), 10.0);
}
