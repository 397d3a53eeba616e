//! `slaq plan-bench`: how long a plan takes, how that grows, and the worst epoch, in which every run has a new loss.

use super::args::{Args, Command, Flag};
use super::failure::{Failure, Outcome};
use super::metrics::quantile;
use super::random::Random;
use super::simulate::write;
use super::table::table;
use crate::{Config, Engine, RunSpec, Stage};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Losses that each run has reported before the first plan.
const HISTORY: u32 = 8;
/// A size is measured for so long or so often, whichever is reached first, but at least three times.
const ENOUGH: (Duration, usize) = (Duration::from_secs(3), 200);
/// Sizes of the growth table, as parts of what was asked for.
const GROWTH: [u32; 5] = [16, 8, 4, 2, 1];

/// The subcommand.
pub const COMMAND: Command = Command {
    name: "plan-bench",
    about: "times whole plans of an engine that has runs with fitted curves, on one thread.",
    flags: &[
        Flag { name: "--runs", value: "R", default: "4000", help: "active runs" },
        Flag { name: "--cores", value: "C", default: "16000", help: "cores to share out" },
        Flag { name: "--set", value: "KEY=VALUE", default: "", help: "engine setting (repeatable)" },
        Flag { name: "--json", value: "FILE", default: "", help: "writes {runs, cores, median_ms, p90_ms, …}" },
    ],
};

/// Milliseconds of plans at one size.
#[derive(Debug, Clone, Copy)]
struct Timing {
    runs: u32,
    cores: u32,
    plans: usize,
    median: f64,
    p90: f64,
    /// All runs report and a plan is made: milliseconds together, and microseconds of one report.
    worst_epoch: f64,
    report: f64,
}

/// Runs the subcommand; the text is its table.
///
/// # Errors
/// Bad arguments, a file that cannot be written.
pub fn run(args: &Args) -> Outcome<String> {
    let range = "whole number from 1 to 10000000";
    let allowed = |n| (1..=10_000_000).contains(&n);
    let runs: u32 = args.required("--runs", range, allowed)?;
    let cores: u32 = args.required("--cores", range, allowed)?;
    let mut map = serde_json::Map::new();
    for pair in args.all("--set") {
        let (key, value) = super::contender::key_value("--set", pair)?;
        map.insert(key, Value::String(value));
    }
    let config = Config::from_json(&Value::Object(map).to_string()).map_err(|error| Failure::new(error.to_string()))?;
    let mut bench = Bench::new(config);
    let mut timings = Vec::new();
    for part in GROWTH {
        let size = (runs / part).max(1);
        eprintln!("plan-bench: {size} runs");
        bench.grow(size)?;
        timings.push(bench.measure((cores / part).max(1))?);
    }
    timings.dedup_by_key(|timing| timing.runs);
    if let Some(file) = args.text("--json") {
        write(Path::new(file), &(to_json(&timings).to_string() + "\n"))?;
    }
    Ok(to_table(&timings))
}

/// An engine and the made-up runs in it.
struct Bench {
    engine: Engine,
    random: Random,
    runs: Vec<Made>,
    now: f64,
}

/// A run whose loss falls like a reciprocal or an exponential, with a little noise.
struct Made {
    iteration: u32,
    rate: f64,
    reciprocal: bool,
    stage: Stage,
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench { engine: Engine::new(config), random: Random::new(1), runs: Vec::new(), now: 0.0 }
    }

    fn grow(&mut self, runs: u32) -> Outcome<()> {
        while self.runs.len() < runs as usize {
            let id = self.runs.len();
            let reciprocal = id.is_multiple_of(2);
            let tasks = self.random.log_uniform(8.0, 256.0) as u32;
            let each = self.random.log_uniform(0.02, 2.0);
            let stage = Stage {
                tasks,
                task_seconds: f64::from(tasks) * each,
                longest_seconds: each * 1.2,
                span_seconds: each * 4.0,
            };
            let algorithm = if reciprocal { "GBTClassifier" } else { "LogisticRegression" };
            let spec = RunSpec::new(id as i64, algorithm);
            self.engine.start(spec, self.now).map_err(refused)?;
            self.runs.push(Made { iteration: 0, rate: self.random.log_uniform(0.01, 0.5), reciprocal, stage });
            // Runs are met at different stages of their lives.
            for _ in 0..HISTORY + (id % 4) as u32 {
                self.report(id)?;
            }
        }
        Ok(())
    }

    fn report(&mut self, id: usize) -> Outcome<()> {
        self.now += 1e-4;
        let run = &mut self.runs[id];
        let x = run.rate * f64::from(run.iteration);
        let fall = if run.reciprocal { 1.0 / (1.0 + x) } else { (-x).exp() };
        let loss = 1.0 + fall * (1.0 + 0.01 * self.random.normal());
        let iteration = run.iteration;
        run.iteration += 1;
        self.engine.report(id as i64, iteration, loss, self.now, &[run.stage]).map_err(refused)
    }

    fn measure(&mut self, cores: u32) -> Outcome<Timing> {
        let mut times = Vec::new();
        let started = Instant::now();
        while times.len() < 3 || (times.len() < ENOUGH.1 && started.elapsed() < ENOUGH.0) {
            self.now += 1.0;
            let begun = Instant::now();
            let plan = self.engine.plan(cores, 0.0, self.now);
            times.push(milliseconds(begun.elapsed()));
            let planned: u64 = plan.shares.iter().map(|share| u64::from(share.cores)).sum();
            if planned > u64::from(cores) {
                return Err(Failure::new(format!("the plan gives out {planned} of {cores} cores")));
            }
        }
        let begun = Instant::now();
        for id in 0..self.runs.len() {
            self.report(id)?;
        }
        let reports = milliseconds(begun.elapsed());
        self.now += 1.0;
        self.engine.plan(cores, 0.0, self.now);
        let (runs, plans) = (self.runs.len() as u32, times.len());
        Ok(Timing {
            runs,
            cores,
            plans,
            median: quantile(times.clone(), 0.5),
            p90: quantile(times, 0.9),
            worst_epoch: milliseconds(begun.elapsed()),
            report: 1000.0 * reports / f64::from(runs),
        })
    }
}

fn refused(error: crate::Error) -> Failure {
    Failure::new(format!("the engine refused a run: {error}"))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn to_json(timings: &[Timing]) -> Value {
    let object = |timing: &Timing| {
        json!({"runs": timing.runs, "cores": timing.cores, "median_ms": timing.median, "p90_ms": timing.p90,
               "worst_epoch_ms": timing.worst_epoch, "report_us": timing.report})
    };
    let mut value = timings.last().map_or(Value::Null, object);
    value["growth"] = timings.iter().map(object).collect();
    value
}

fn to_table(timings: &[Timing]) -> String {
    let row = |timing: &Timing| {
        vec![
            timing.runs.to_string(),
            timing.cores.to_string(),
            timing.plans.to_string(),
            format!("{:.3}", timing.median),
            format!("{:.3}", timing.p90),
            format!("{:.3}", 1000.0 * timing.median / f64::from(timing.runs)),
            format!("{:.1}", timing.worst_epoch),
            format!("{:.1}", timing.report),
        ]
    };
    table(
        &["runs", "cores", "plans", "median ms", "p90 ms", "µs a run", "worst epoch ms", "report µs"],
        &timings.iter().map(row).collect::<Vec<_>>(),
    ) + "\nworst epoch: every run reports a new loss, which is fitted at once, and a plan is made.\n"
}
