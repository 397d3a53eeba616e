//! Finds the setting in which stock fair behaves as asked, so that policies are compared at a known load.

use super::contender::Contender;
use super::experiment::Experiment;
use super::failure::Outcome;
use super::metrics::Metrics;

/// Runs that a trial is averaged over, in as many seeds as that takes, at most four.
const RUNS: u32 = 640;
/// Halvings of the logarithm of a range of up to 10⁶: the result is within 3 %.
const STEPS: u32 = 9;

/// Sets the task time so that stock fair takes `seconds` on average to 90 % of a run's loss reduction.
///
/// # Errors
/// A simulation fails.
pub fn work_for_time_to_90(experiment: &mut Experiment, seconds: f64) -> Outcome<()> {
    search(
        experiment,
        (0.001, 100.0),
        |experiment, value| experiment.setting.task_seconds = value,
        |metrics| metrics.t90 > seconds,
    )
}

/// Sets the mean time between arrivals so that under stock fair `runs` are active on average while runs arrive.
///
/// # Errors
/// A simulation fails.
pub fn arrivals_for_active(experiment: &mut Experiment, runs: f64) -> Outcome<()> {
    search(
        experiment,
        (0.001, 1000.0),
        |experiment, value| experiment.setting.arrival = value,
        |metrics| metrics.active < runs,
    )
}

/// Bisects `range` in the logarithm for the value from which on `above` holds.
fn search(
    experiment: &mut Experiment,
    range: (f64, f64),
    set: impl Fn(&mut Experiment, f64),
    above: impl Fn(&Metrics) -> bool,
) -> Outcome<()> {
    let (mut low, mut high) = (range.0.ln(), range.1.ln());
    let sample = experiment.conditions.sample;
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        set(experiment, middle.exp());
        experiment.conditions.sample = sampling(experiment);
        if above(&trial(experiment)?) {
            high = middle;
        } else {
            low = middle;
        }
    }
    set(experiment, ((low + high) / 2.0).exp());
    experiment.conditions.sample = sample;
    Ok(())
}

/// Seconds between samples that give about a thousand of them while runs arrive, but at least one a second.
pub fn sampling(experiment: &Experiment) -> f64 {
    (experiment.setting.arrival * f64::from(experiment.setting.runs) / 1000.0).clamp(1e-3, 1.0)
}

fn trial(experiment: &Experiment) -> Outcome<Metrics> {
    let seeds = u64::from(RUNS / experiment.setting.runs).clamp(1, 4);
    let all = (1..=seeds)
        .map(|seed| {
            let trace = experiment.play(&Contender::fair(), seed)?;
            Ok(Metrics::of(&trace, &trace, experiment.setting.cores))
        })
        .collect::<Outcome<Vec<_>>>()?;
    Ok(Metrics::over_seeds(&all))
}
