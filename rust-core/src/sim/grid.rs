//! The map of where quality-driven scheduling pays: cluster size × cores per active run × weight of an iteration.

use super::args::Args;
use super::calibrate::{self, sampling};
use super::contender::Contender;
use super::experiment::Standing;
use super::failure::Outcome;
use super::recorded::Recorded;
use super::simulate::{experiment, figures, progress, write};
use super::table::{change, line, percent};
use super::workload::Setting;
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

const CORES: [u32; 3] = [8, 64, 640];
const PER_RUN: [u32; 3] = [1, 4, 16];
/// Seconds of a task.
const WORK: [(&str, f64); 2] = [("light", 0.05), ("heavy", 1.0)];
const POLICIES: [&str; 5] = ["fair", "progress", "slaq-2017", "slaq", "oracle"];
/// At least so many runs, or this often as many as are active at a time, so that most of them meet the load that was asked for.
const RUNS: (u32, u32) = (40, 2);

const HEADINGS: [&str; 21] = [
    "cores",
    "a run",
    "work",
    "active",
    "fair t90 s",
    "2017 t90",
    "progr. t90",
    "slaq t90",
    "oracle t90",
    "of oracle",
    "slaq t95",
    "oracle t95",
    "2017 loss",
    "progr. loss",
    "slaq loss",
    "oracle loss",
    "of oracle",
    "slaq area",
    "oracle area",
    "completion",
    "worst",
];

/// Plays the grid and prints each row when it is known; the text is what explains them. The file named by `--json` has the
/// cells so far after each of them.
///
/// # Errors
/// Bad arguments, or a simulation fails.
pub fn run(args: &Args, curves: &[Recorded]) -> Outcome<String> {
    let settings = CORES.iter().flat_map(|cores| {
        PER_RUN.iter().flat_map(move |per_run| WORK.iter().map(move |work| (*cores, *per_run, *work)))
    });
    print(&HEADINGS);
    let mut cells = Vec::new();
    for (cores, per_run, (work, task_seconds)) in settings.filter(|(cores, per_run, _)| per_run <= cores) {
        eprintln!("{cores} cores, {per_run} a run, {work} iterations");
        let active = cores / per_run;
        // A run is cut into two to eight times as many tasks as it has cores on average: what it could use if it were alone.
        let low = f64::from(2 * per_run).max(4.0);
        let setting = Setting {
            cores,
            runs: RUNS.0.max(RUNS.1 * active),
            arrival: 1.0,
            task_seconds,
            partitions: (low, 4.0 * low),
            gap: None,
            fresh: args.switch("--fresh"),
        };
        let mut experiment = experiment(args, curves, setting)?;
        let contenders = POLICIES
            .iter()
            .map(|name| Contender::parse(name, &common(args)?, experiment.oracle.path()))
            .collect::<Outcome<Vec<_>>>()?;
        calibrate::arrivals_for_active(&mut experiment, f64::from(active))?;
        experiment.conditions.sample = sampling(&experiment);
        let standings = experiment.compare(&contenders, progress)?;
        print(&row(cores, per_run, work, &standings));
        let policies: Map<String, Value> =
            standings.iter().map(|standing| (standing.name.clone(), figures(standing))).collect();
        cells.push(json!({"cores": cores, "cores_per_run": per_run, "work": work, "arrival_s": experiment.setting.arrival, "policies": policies}));
        if let Some(file) = args.text("--json") {
            write(Path::new(file), &(json!({"grid": cells}).to_string() + "\n"))?;
        }
    }
    Ok("\nChanges are against stock fair; of oracle: slaq's improvement as part of the oracle's. a run: cores per active run under fair.\n\
        light, heavy: tasks of about 0.05 s and 1 s. loss: mean normalised loss of active runs; area: under a run's normalised loss.\n"
        .to_owned())
}

fn print(row: &[impl Display]) {
    let widths = HEADINGS.map(|heading| heading.len().max(5));
    // A reader that closes early has seen what it wanted.
    let mut out = std::io::stdout();
    let _ = out.write_all(line(row, &widths).as_bytes()).and_then(|()| out.flush());
}

fn common(args: &Args) -> Outcome<Vec<(String, String)>> {
    args.all("--set").iter().map(|pair| super::contender::key_value("--set", pair)).collect()
}

fn row(cores: u32, per_run: u32, work: &str, standings: &[Standing]) -> Vec<String> {
    let [fair, progress, old, slaq, oracle] = standings else { return Vec::new() };
    let [fair, progress, old, slaq, oracle] = [fair, progress, old, slaq, oracle].map(|standing| &standing.metrics);
    let reached = |of: fn(&super::metrics::Metrics) -> f64| {
        let possible = of(fair) - of(oracle);
        if possible > 0.02 * of(fair) { percent((of(fair) - of(slaq)) / possible) } else { "-".to_owned() }
    };
    vec![
        cores.to_string(),
        per_run.to_string(),
        work.to_owned(),
        format!("{:.1}", fair.active),
        format!("{:.1}", fair.t90),
        change(old.t90, fair.t90),
        change(progress.t90, fair.t90),
        change(slaq.t90, fair.t90),
        change(oracle.t90, fair.t90),
        reached(|m| m.t90),
        change(slaq.t95, fair.t95),
        change(oracle.t95, fair.t95),
        change(old.mean_norm_loss, fair.mean_norm_loss),
        change(progress.mean_norm_loss, fair.mean_norm_loss),
        change(slaq.mean_norm_loss, fair.mean_norm_loss),
        change(oracle.mean_norm_loss, fair.mean_norm_loss),
        reached(|m| m.mean_norm_loss),
        change(slaq.loss_area, fair.loss_area),
        change(oracle.loss_area, fair.loss_area),
        change(slaq.completion, fair.completion),
        format!("{:.1}x", slaq.worst_slowdown),
    ]
}
