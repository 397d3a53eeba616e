//! `slaq speed`: how well seconds per iteration on other numbers of slots are predicted from those on one.

use super::args::{Args, Command, Flag};
use super::failure::{Failure, Outcome};
use super::metrics::quantile;
use super::recorded::Recorded;
use super::simulate::write;
use super::table::table;
use crate::speed::{Speed, Stage};
use serde_json::json;
use std::path::Path;

/// Iterations that are observed before the prediction: the first, and enough to have settled.
const OBSERVED: [usize; 2] = [1, 10];

/// The subcommand.
pub const COMMAND: Command = Command {
    name: "speed",
    about: "predicts the seconds of an iteration on other numbers of slots and compares with recordings of the same training there.",
    flags: &[
        Flag {
            name: "--curves",
            value: "DIR",
            default: "tests/curves/speed",
            help: "recordings of scripts/record-curves --speed, named NAME-cSLOTS",
        },
        Flag { name: "--json", value: "FILE", default: "", help: "writes the figures" },
    ],
};

/// A training observed on some slots and predicted for others.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The training.
    pub name: String,
    /// Slots on which it was observed.
    pub from: u32,
    /// Slots for which it was predicted.
    pub to: u32,
    /// Predicted seconds of an iteration after 1 and 10 observed ones.
    pub seconds: [f64; OBSERVED.len()],
    /// Median seconds of an iteration there.
    pub truth: f64,
}

impl Prediction {
    /// Relative error of the prediction at this place of `seconds`.
    fn error(&self, place: usize) -> f64 {
        (self.seconds[place] / self.truth - 1.0).abs()
    }
}

/// Runs the subcommand; the text is its table.
///
/// # Errors
/// Recordings that cannot be read, lack times, or are of no two numbers of slots; a file that cannot be written.
pub fn run(args: &Args) -> Outcome<String> {
    let folder = Path::new(args.text("--curves").unwrap_or_default());
    let predictions = predict(&Recorded::read_dir(folder)?);
    if predictions.is_empty() {
        return Err(Failure::of_path(folder, "no training was recorded on two numbers of slots with its times"));
    }
    let medians: Vec<f64> = (0..OBSERVED.len()).map(|place| median(&predictions, place)).collect();
    if let Some(file) = args.text("--json") {
        let list: Vec<_> = predictions
            .iter()
            .map(|p| json!({"name": p.name, "from": p.from, "to": p.to, "predicted_1": p.seconds[0], "predicted_10": p.seconds[1], "measured": p.truth}))
            .collect();
        let figures = json!({"predictions": list, "median_error_1": medians[0], "median_error_10": medians[1]});
        write(Path::new(file), &(figures.to_string() + "\n"))?;
    }
    let cells = |p: &Prediction| {
        let each = (0..OBSERVED.len()).flat_map(|place| [format!("{:.3}", p.seconds[place]), percent(p.error(place))]);
        [p.name.clone(), p.from.to_string(), p.to.to_string(), format!("{:.3}", p.truth)]
            .into_iter()
            .chain(each)
            .collect()
    };
    let rows: Vec<Vec<String>> = predictions.iter().map(cells).collect();
    let headings = ["training", "slots", "for", "measured s", "after 1", "off", "after 10", "off"];
    Ok(format!(
        "{}\nMedian error of {} predictions: {} after one iteration, {} after ten.\n",
        table(&headings, &rows),
        predictions.len(),
        percent(medians[0]),
        percent(medians[1])
    ))
}

/// Every recording's prediction for every other one of the same training.
pub fn predict(recordings: &[Recorded]) -> Vec<Prediction> {
    let timed: Vec<(&str, u32, &Recorded)> = recordings
        .iter()
        .filter(|r| r.seconds.len() > OBSERVED[1] && !r.stages.is_empty())
        .filter_map(|r| Some((r.name.rsplit_once("-c")?.0, r.slots?, r)))
        .collect();
    let mut predictions = Vec::new();
    for (name, from, seen) in &timed {
        let speeds = OBSERVED.map(|iterations| observe(seen, iterations));
        for (_, to, other) in timed.iter().filter(|(n, slots, _)| n == name && slots != from) {
            let seconds = speeds.each_ref().map(|speed| speed.seconds(*to).unwrap_or(f64::NAN));
            let truth = quantile(other.seconds[1..].to_vec(), 0.5);
            predictions.push(Prediction { name: (*name).to_owned(), from: *from, to: *to, seconds, truth });
        }
    }
    predictions
}

/// What is learnt from the first iterations after the one that prepares.
fn observe(recorded: &Recorded, iterations: usize) -> Speed {
    let mut speed = Speed::default();
    for (stages, wall) in recorded.stages.iter().zip(&recorded.seconds).skip(1).take(iterations) {
        let stages: Vec<Stage> = stages
            .iter()
            .map(|[tasks, task_seconds, longest_seconds, span_seconds]| Stage {
                tasks: *tasks as u32,
                task_seconds: *task_seconds,
                longest_seconds: *longest_seconds,
                span_seconds: *span_seconds,
            })
            .collect();
        stages.iter().for_each(|stage| speed.observe(stage));
        speed.end(*wall, 1);
    }
    speed
}

/// Median error of the predictions after so many observed iterations, a fraction.
pub fn median(predictions: &[Prediction], place: usize) -> f64 {
    quantile(predictions.iter().map(|p| p.error(place)).collect(), 0.5)
}

fn percent(part: f64) -> String {
    format!("{:.1}%", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations of eight tasks of a second and a tenth of driver time, on so many slots.
    fn recorded(slots: u32) -> Recorded {
        let waves = f64::from(8u32.div_ceil(slots));
        let mut recorded = Recorded::plain(&format!("even-c{slots}"), vec![1.0; 20]);
        recorded.slots = Some(slots);
        recorded.seconds = vec![waves + 0.1; 20];
        recorded.stages = vec![vec![[8.0, 8.0, 1.0, waves]]; 20];
        recorded
    }

    #[test]
    fn even_tasks_are_predicted_to_the_wave() {
        let predictions = predict(&[recorded(1), recorded(3), recorded(8)]);
        assert_eq!(predictions.len(), 6);
        assert!(median(&predictions, 0) < 1e-9 && median(&predictions, 1) < 1e-9, "{predictions:?}");
    }

    #[test]
    fn recordings_without_a_partner_or_times_give_nothing() {
        let untimed = Recorded { seconds: Vec::new(), stages: Vec::new(), ..recorded(2) };
        assert_eq!(predict(&[recorded(1), untimed]), []);
    }

    /// The golden recordings: seconds per iteration on 1 to 8 slots within 15 % in the median.
    #[test]
    fn recorded_trainings_are_predicted() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/curves/speed");
        let predictions = predict(&Recorded::read_dir(&folder).unwrap());
        assert!(predictions.len() >= 36, "{}", predictions.len());
        for place in 0..OBSERVED.len() {
            assert!(median(&predictions, place) <= 0.15, "{}", median(&predictions, place));
        }
    }
}
