//! `slaq simulate`: one setting, all policies, a table; or the grid.

use super::args::{Args, Command, Flag};
use super::calibrate::{self, sampling};
use super::contender::{Contender, NAMES, key_value, lend_delay};
use super::experiment::{Experiment, Standing};
use super::failure::{Failure, Outcome};
use super::recorded::Recorded;
use super::table::{change, percent, table};
use super::workload::Setting;
use super::world::Conditions;
use super::{grid, svg};
use serde_json::{Map, Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Seconds in which the paper's fair baseline reached 90 % of a run's loss reduction.
const PAPER_FAIR_T90: f64 = 71.0;

/// Seconds in which Spark gets a task going.
const LAUNCH: f64 = 0.005;

/// The subcommand.
pub const COMMAND: Command = Command {
    name: "simulate",
    about: "plays arriving trainings against scheduling policies on a simulated cluster.\n\
            Defaults are the setting of SLAQ (SoCC 2017): 640 cores, 160 runs, 15 s between arrivals. Times are simulated seconds.",
    flags: &[
        Flag {
            name: "--curves",
            value: "DIR",
            default: "tests/curves",
            help: "recorded curves (.json, or .txt with one loss a line) that runs follow",
        },
        Flag { name: "--cores", value: "N", default: "640", help: "cores of the cluster" },
        Flag { name: "--runs", value: "N", default: "160", help: "trainings that arrive" },
        Flag { name: "--arrival", value: "S", default: "15", help: "mean seconds between arrivals (Poisson)" },
        Flag {
            name: "--active",
            value: "N",
            default: "",
            help: "instead of --arrival: so many runs active on average under fair",
        },
        Flag {
            name: "--task-seconds",
            value: "S",
            default: "",
            help: "typical seconds of a task; default: so that fair reaches 90 % in 71 s, as in the paper",
        },
        Flag {
            name: "--partitions",
            value: "LOW:HIGH",
            default: "",
            help: "tasks of a stage, drawn per run; default: half to twice the cores (Spark's own default is as many as cores)",
        },
        Flag {
            name: "--gap",
            value: "S",
            default: "",
            help: "driver seconds between iterations; default: as recorded",
        },
        Flag {
            name: "--fresh",
            value: "",
            default: "",
            help: "no curve comes twice before all have come; default: drawn each time, as retrainings recur",
        },
        Flag { name: "--seeds", value: "N", default: "20", help: "workloads; every policy plays the same ones" },
        Flag {
            name: "--first-seed",
            value: "N",
            default: "1",
            help: "the first of them; settings are chosen on other seeds than they are reported on",
        },
        Flag {
            name: "--policies",
            value: "LIST",
            default: "",
            help: "names separated by spaces, each with settings after @, as slaq@fairness=0.5,floor=2; default: all, and slaq with fairness 0.25, 0.5 and no prior",
        },
        Flag {
            name: "--set",
            value: "KEY=VALUE",
            default: "",
            help: "engine setting for every planned policy (repeatable)",
        },
        Flag {
            name: "--compare",
            value: "KEY=A,B,C",
            default: "",
            help: "adds slaq with each of these values of an engine setting (repeatable)",
        },
        Flag {
            name: "--lend",
            value: "S",
            default: "0",
            help: "seconds for which a share's cores must be unused before they are lent (spark.slaq.lend.delay), or off",
        },
        Flag { name: "--noise", value: "SIGMA", default: "0", help: "spread of task times (log-normal)" },
        Flag {
            name: "--stragglers",
            value: "RATE:FACTOR",
            default: "",
            help: "part of the tasks that take FACTOR times as long",
        },
        Flag {
            name: "--reallocation",
            value: "S",
            default: "0",
            help: "seconds added to the first task on a core new to a run",
        },
        Flag {
            name: "--misprediction",
            value: "SIGMA",
            default: "0",
            help: "error of the losses that policies see, relative to what a run has still to lose",
        },
        Flag {
            name: "--grid",
            value: "",
            default: "",
            help: "8, 64, 640 cores x 1, 4, 16 cores per active run x light, heavy iterations, in one table",
        },
        Flag {
            name: "--threads",
            value: "N",
            default: "",
            help: "simulations side by side; default: as many as the machine has cores",
        },
        Flag { name: "--json", value: "FILE", default: "", help: "writes the figures" },
        Flag {
            name: "--svg",
            value: "FILE",
            default: "",
            help: "draws loss over time, time to 90, 95, 99 %, and core shares (first seed)",
        },
    ],
};

/// Competitors of the default table beyond the named policies.
const VARIANTS: [&str; 3] = ["slaq@fairness=0.25", "slaq@fairness=0.5", "slaq@prior.height=0"];

/// Runs the subcommand; the text is its table.
///
/// # Errors
/// Bad arguments, curves that cannot be read, files that cannot be written.
pub fn run(args: &Args) -> Outcome<String> {
    let curves = Recorded::read_dir(Path::new(args.text("--curves").unwrap_or_default()))?;
    if args.switch("--grid") {
        return grid::run(args, &curves);
    }
    let mut experiment = experiment(args, &curves, setting(args)?)?;
    let contenders = contenders(args, &experiment)?;
    let active = args.number("--active", "number > 0", |n: f64| n > 0.0 && n.is_finite())?;
    if args.text("--task-seconds").is_none() {
        calibrate::work_for_time_to_90(&mut experiment, PAPER_FAIR_T90)?;
    }
    if let Some(active) = active {
        calibrate::arrivals_for_active(&mut experiment, active)?;
    }
    experiment.conditions.sample = sampling(&experiment);
    let standings = experiment.compare(&contenders, progress)?;
    if let Some(file) = args.text("--json") {
        write(Path::new(file), &(to_json(&experiment, &standings).to_string() + "\n"))?;
    }
    if let Some(file) = args.text("--svg") {
        write(Path::new(file), &svg::figures(&standings))?;
    }
    Ok(describe(&experiment) + &to_table(&standings))
}

/// The setting that the flags ask for; a task second that is to be found by calibration is 1 for now.
fn setting(args: &Args) -> Outcome<Setting> {
    let cores: u32 = args.required("--cores", "whole number from 1 to 1000000", |n| (1..=1_000_000).contains(&n))?;
    let low = (f64::from(cores) / 2.0).max(4.0);
    let partitions = args.pair("--partitions", "LOW:HIGH, 1 <= LOW <= HIGH <= 100000", |low, high| {
        1.0 <= low && low <= high && high <= 1e5
    })?;
    Ok(Setting {
        cores,
        runs: args.required("--runs", "whole number from 1 to 100000", |n| (1..=100_000).contains(&n))?,
        arrival: args.required("--arrival", "seconds > 0", |s: f64| s > 0.0 && s.is_finite())?,
        task_seconds: args.number("--task-seconds", "seconds > 0", |s: f64| s > 0.0 && s.is_finite())?.unwrap_or(1.0),
        partitions: partitions.unwrap_or((low, low * 4.0)),
        gap: args.number("--gap", "seconds >= 0", |s: f64| s >= 0.0 && s.is_finite())?,
        fresh: args.switch("--fresh"),
    })
}

/// The experiment of a setting under the conditions that the flags ask for.
///
/// # Errors
/// Bad values, or no curve that improves.
pub fn experiment(args: &Args, curves: &[Recorded], setting: Setting) -> Outcome<Experiment> {
    let share = "number >= 0";
    let conditions = Conditions {
        noise: args.required("--noise", share, |s: f64| (0.0..=5.0).contains(&s))?,
        stragglers: args
            .pair("--stragglers", "RATE:FACTOR, RATE in [0, 1], FACTOR >= 1", |rate, factor| {
                (0.0..=1.0).contains(&rate) && factor >= 1.0
            })?
            .unwrap_or((0.0, 1.0)),
        reallocation: args.required("--reallocation", "seconds >= 0", |s: f64| s >= 0.0 && s.is_finite())?,
        misprediction: args.required("--misprediction", share, |s: f64| s >= 0.0 && s.is_finite())?,
        sample: 1.0,
        tick: LAUNCH,
    };
    let lend = lend_delay("--lend", args.text("--lend").unwrap_or_default())?;
    let mut experiment = Experiment::new(curves, setting, conditions, lend)?;
    if experiment.library.curves().is_empty() {
        return Err(Failure::new("--curves: none of the curves improves; allowed: at least one whose loss falls"));
    }
    experiment.seeds = args.required("--seeds", "whole number from 1 to 1000", |n| (1..=1000).contains(&n))?;
    experiment.first_seed =
        args.required("--first-seed", "whole number from 1 to 1000000", |n| (1..=1_000_000).contains(&n))?;
    let machine = std::thread::available_parallelism().map_or(1, usize::from);
    experiment.threads =
        args.number("--threads", "whole number from 1 to 256", |n| (1..=256).contains(&n))?.unwrap_or(machine);
    Ok(experiment)
}

/// The competitors that the flags ask for; fair is always among them.
///
/// # Errors
/// Unknown policies or settings.
pub fn contenders(args: &Args, experiment: &Experiment) -> Outcome<Vec<Contender>> {
    let common = args.all("--set").iter().map(|pair| key_value("--set", pair)).collect::<Outcome<Vec<_>>>()?;
    let mut names: Vec<String> = match args.text("--policies") {
        Some(list) => list.split_whitespace().map(str::to_owned).collect(),
        None if args.all("--compare").is_empty() => {
            NAMES.iter().chain(&VARIANTS).map(|name| (*name).to_owned()).collect()
        }
        None => ["fair", "slaq", "oracle"].map(str::to_owned).to_vec(),
    };
    for pair in args.all("--compare") {
        let (key, values) = key_value("--compare", pair)?;
        names.extend(values.split(',').map(|value| format!("slaq@{key}={value}")));
    }
    if !names.iter().any(|name| name == "fair") {
        names.insert(0, "fair".to_owned());
    }
    names.iter().map(|name| Contender::parse(name, &common, experiment.oracle.path())).collect()
}

/// A line on the terminal that says how far a long command is.
pub fn progress(done: u64, total: u64) {
    let end = if done == total { "\n" } else { "" };
    if std::io::stderr().is_terminal() {
        eprint!("\rsimulation {done} of {total}{end}");
    } else if done == total || done.is_multiple_of(total.div_ceil(10)) {
        eprintln!("simulation {done} of {total}");
    }
}

/// Writes a file that the user named.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, text: &str) -> Outcome<()> {
    std::fs::write(path, text).map_err(|error| Failure::of_path(path, error))
}

fn describe(experiment: &Experiment) -> String {
    let Setting { cores, runs, arrival, task_seconds, partitions, .. } = &experiment.setting;
    let curves = experiment.library.curves().len();
    let flat = match experiment.library.flat() {
        0 => String::new(),
        flat => format!(" ({flat} that never improve left out)"),
    };
    format!(
        "{cores} cores, {runs} runs, {arrival:.2} s between arrivals, {curves} curves{flat}, {:.0} to {:.0} partitions, {task_seconds:.3} s a task, mean of {} seeds\n\n",
        partitions.0, partitions.1, experiment.seeds
    )
}

fn to_table(standings: &[Standing]) -> String {
    let Some(fair) = standings.iter().find(|standing| standing.name == "fair").map(|standing| standing.metrics) else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = standings
        .iter()
        .map(|standing| {
            let m = &standing.metrics;
            let against = |value: f64, base: f64, digits: usize| format!("{value:.digits$} {:>5}", change(value, base));
            vec![
                standing.name.clone(),
                against(m.t90, fair.t90, 1),
                against(m.t95, fair.t95, 1),
                against(m.t99, fair.t99, 1),
                format!("{:.1}", m.p90[0]),
                format!("{:.1}", m.p90[1]),
                format!("{:.1}", m.p90[2]),
                against(m.mean_norm_loss, fair.mean_norm_loss, 3),
                against(m.loss_area, fair.loss_area, 1),
                against(m.completion, fair.completion, 1),
                percent(m.share_top_quarter),
                percent(m.share_converged_half),
                against(m.makespan, fair.makespan, 0),
                format!("{:.1}x", m.worst_slowdown),
                format!("{:.1}", m.active),
                percent(m.busy),
            ]
        })
        .collect();
    let headings = [
        "policy",
        "t90 s",
        "t95 s",
        "t99 s",
        "p90 t90",
        "p90 t95",
        "p90 t99",
        "norm. loss",
        "loss area",
        "completion s",
        "top 1/4",
        "conv. 1/2",
        "makespan s",
        "worst",
        "active",
        "busy",
    ];
    table(&headings, &rows)
        + "\nPercentages behind figures: against fair. t90: mean seconds from arrival to 90 % of a run's loss reduction. norm. loss: mean over active runs and 800 s.\n\
           loss area: area under a run's normalised loss. top 1/4, conv. 1/2: share of busy cores held by the runs with the highest and the lowest loss.\n\
           worst: largest slow-down of any run against itself under fair.\n"
}

fn to_json(experiment: &Experiment, standings: &[Standing]) -> Value {
    let policies: Map<String, Value> =
        standings.iter().map(|standing| (standing.name.clone(), figures(standing))).collect();
    let Setting { cores, runs, arrival, task_seconds, .. } = &experiment.setting;
    json!({"cores": cores, "runs": runs, "arrival_s": arrival, "task_s": task_seconds, "seeds": experiment.seeds, "policies": policies})
}

/// A policy's figures under the keys of the JSON files.
pub fn figures(standing: &Standing) -> Value {
    let m = &standing.metrics;
    json!({
        "t90_s": m.t90, "t95_s": m.t95, "t99_s": m.t99,
        "t90_p90_s": m.p90[0], "t95_p90_s": m.p90[1], "t99_p90_s": m.p90[2],
        "mean_norm_loss": m.mean_norm_loss, "loss_area": m.loss_area, "completion_s": m.completion,
        "share_top_quarter": m.share_top_quarter, "share_converged_half": m.share_converged_half,
        "makespan_s": m.makespan, "worst_slowdown": m.worst_slowdown, "active": m.active, "busy": m.busy,
    })
}

/// The file a flag names, if given.
pub fn file(args: &Args, flag: &str) -> Option<PathBuf> {
    args.text(flag).map(PathBuf::from)
}
