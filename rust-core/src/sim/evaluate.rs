//! `slaq forecast`: how well the next losses of recorded curves are foreseen, ours against the baselines.

use super::args::{Args, Command, Flag};
use super::failure::Outcome;
use super::metrics::{mean, quantile};
use super::recorded::Recorded;
use super::simulate::write;
use super::table::table;
use crate::baseline::{ClassCurve, LastChange, LastValue};
use crate::forecast::{Forecast, Forecaster, LossModel};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Points known before the first forecast that counts.
const FIRST_CUT: usize = 5;
/// Iterations ahead.
const AHEAD: [usize; 3] = [1, 5, 10];
/// A 10-step reduction smaller than this part of the curve's whole range is no reduction: its relative error says nothing.
const REDUCTION: f64 = 1e-4;
/// From this part of the range on a reduction is one that a plan could turn on.
const SUBSTANTIAL: f64 = 1e-3;

/// The subcommand.
pub const COMMAND: Command = Command {
    name: "forecast",
    about: "forecasts every recorded curve from every cut of at least 5 points and compares with what came.",
    flags: &[
        Flag {
            name: "--curves",
            value: "DIR",
            default: "tests/curves",
            help: "recorded curves (.json, or .txt with one loss a line)",
        },
        Flag { name: "--json", value: "FILE", default: "", help: "writes the figures" },
    ],
};

/// Errors of one forecaster on one curve, as fractions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Errors {
    /// Relative errors of the loss 1, 5 and 10 iterations ahead.
    pub loss: [Vec<f64>; 3],
    /// Errors of the predicted 10-step reduction relative to the true one, where there was one.
    pub reduction: Vec<f64>,
    /// Those of them where the true reduction was substantial.
    pub substantial: Vec<f64>,
    /// Whether the error bound held, 10 iterations ahead: 1 or 0.
    pub covered: Vec<f64>,
}

/// A curve's errors, ours first, then the baselines in their order.
#[derive(Debug)]
pub struct Evaluation {
    /// The curve.
    pub name: String,
    /// Its number of losses.
    pub points: usize,
    /// By forecaster.
    pub errors: Vec<(&'static str, Errors)>,
}

/// Runs the subcommand; the text is its table.
///
/// # Errors
/// Curves that cannot be read, a file that cannot be written.
pub fn run(args: &Args) -> Outcome<String> {
    let curves = Recorded::read_dir(Path::new(args.text("--curves").unwrap_or_default()))?;
    let evaluations: Vec<Evaluation> = curves.iter().map(evaluate).collect();
    if let Some(file) = args.text("--json") {
        let list: Vec<Value> = evaluations.iter().map(to_json).collect();
        write(Path::new(file), &(json!({"curves": list}).to_string() + "\n"))?;
    }
    Ok(to_table(&evaluations))
}

/// All forecasts of one curve.
pub fn evaluate(curve: &Recorded) -> Evaluation {
    let losses = curve.turned();
    let errors =
        forecasters(&curve.algorithm).into_iter().map(|(name, forecaster)| (name, errors(forecaster, &losses)));
    Evaluation { name: curve.name.clone(), points: losses.len(), errors: errors.collect() }
}

/// Ours first, then those to compare with.
fn forecasters(algorithm: &str) -> [(&'static str, Box<dyn Forecaster>); 5] {
    [
        ("ours", Box::new(LossModel::default())),
        ("last-value", Box::new(LastValue::default())),
        ("last-change", Box::new(LastChange::default())),
        ("class-curve", Box::new(ClassCurve::unweighted(algorithm))),
        ("slaq-2017", Box::new(ClassCurve::slaq_2017(algorithm))),
    ]
}

/// The errors of one forecaster over all cuts. Where it has no forecast, the last loss is taken to stay.
fn errors(mut forecaster: Box<dyn Forecaster>, losses: &[f64]) -> Errors {
    let (low, high) =
        losses.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), loss| (a.min(*loss), b.max(*loss)));
    let mut errors = Errors::default();
    for (index, loss) in losses.iter().enumerate() {
        forecaster.push(index as u32, *loss);
        if index + 1 < FIRST_CUT {
            continue;
        }
        for (place, ahead) in AHEAD.into_iter().enumerate() {
            let Some(truth) = losses.get(index + ahead) else { continue };
            let forecast = forecaster.forecast(ahead as f64).unwrap_or(Forecast { loss: *loss, bound: 0.0 });
            errors.loss[place].push((forecast.loss - truth).abs() / truth.abs().max(f64::MIN_POSITIVE));
            if ahead == AHEAD[2] {
                errors.covered.push(f64::from(u8::from((forecast.loss - truth).abs() <= forecast.bound)));
                if loss - truth > REDUCTION * (high - low) {
                    let error = (forecast.loss - truth).abs() / (loss - truth);
                    errors.reduction.push(error);
                    if loss - truth >= SUBSTANTIAL * (high - low) {
                        errors.substantial.push(error);
                    }
                }
            }
        }
    }
    errors
}

impl Errors {
    fn loss_mean(&self, place: usize) -> f64 {
        mean(self.loss[place].iter().copied())
    }

    fn to_json(&self) -> Value {
        let known = |values: &[f64], figure: f64| if values.is_empty() { Value::Null } else { json!(figure) };
        json!({
            "loss_error_1_mean": known(&self.loss[0], self.loss_mean(0)),
            "loss_error_5_mean": known(&self.loss[1], self.loss_mean(1)),
            "loss_error_10_mean": known(&self.loss[2], self.loss_mean(2)),
            "reduction_error_10_median": known(&self.reduction, quantile(self.reduction.clone(), 0.5)),
            "reduction_error_10_p90": known(&self.reduction, quantile(self.reduction.clone(), 0.9)),
            "substantial_reduction_error_10_median": known(&self.substantial, quantile(self.substantial.clone(), 0.5)),
            "bound_coverage": known(&self.covered, mean(self.covered.iter().copied())),
        })
    }
}

fn to_json(evaluation: &Evaluation) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(evaluation.name));
    object.insert("points".to_owned(), json!(evaluation.points));
    object.extend(evaluation.errors.iter().map(|(name, errors)| ((*name).to_owned(), errors.to_json())));
    Value::Object(object)
}

fn to_table(evaluations: &[Evaluation]) -> String {
    let headings = [
        "curve",
        "points",
        "+1",
        "+10",
        "red. med",
        "red. p90",
        ">= 0.1 %",
        "covered",
        "last-change +1",
        "+10",
        "class +10",
        "red. med",
        "2017 +1",
        "+10",
        "red. med",
        ">= 0.1 %",
    ];
    let cell =
        |values: &[f64], figure: f64| if values.is_empty() { "-".to_owned() } else { format!("{:.2}", 100.0 * figure) };
    let substantial = |errors: &Errors| cell(&errors.substantial, quantile(errors.substantial.clone(), 0.5));
    let median = |errors: &Errors| cell(&errors.reduction, quantile(errors.reduction.clone(), 0.5));
    let row = |evaluation: &Evaluation| {
        let [(_, ours), _, (_, last), (_, class), (_, old)] = &evaluation.errors[..] else { return Vec::new() };
        vec![
            evaluation.name.clone(),
            evaluation.points.to_string(),
            cell(&ours.loss[0], ours.loss_mean(0)),
            cell(&ours.loss[2], ours.loss_mean(2)),
            median(ours),
            cell(&ours.reduction, quantile(ours.reduction.clone(), 0.9)),
            substantial(ours),
            cell(&ours.covered, mean(ours.covered.iter().copied())),
            cell(&last.loss[0], last.loss_mean(0)),
            cell(&last.loss[2], last.loss_mean(2)),
            cell(&class.loss[2], class.loss_mean(2)),
            median(class),
            cell(&old.loss[0], old.loss_mean(0)),
            cell(&old.loss[2], old.loss_mean(2)),
            median(old),
            substantial(old),
        ]
    };
    let mut rows: Vec<Vec<String>> = evaluations.iter().map(row).collect();
    let over = |place: usize, of: fn(&Errors) -> f64| {
        let known = evaluations
            .iter()
            .map(|evaluation| &evaluation.errors[place].1)
            .filter(|errors| !errors.loss[2].is_empty());
        format!("{:.2}", 100.0 * quantile(known.map(of).collect(), 0.5))
    };
    let large = |place: usize| {
        let known = evaluations.iter().map(|evaluation| &evaluation.errors[place].1.substantial);
        let known = known.filter(|errors| !errors.is_empty()).map(|errors| quantile(errors.clone(), 0.5));
        format!("{:.2}", 100.0 * quantile(known.collect(), 0.5))
    };
    let reduction: fn(&Errors) -> f64 = |errors| quantile(errors.reduction.clone(), 0.5);
    let (one, ten) = (|errors: &Errors| errors.loss_mean(0), |errors: &Errors| errors.loss_mean(2));
    rows.push(vec![
        "median".to_owned(),
        String::new(),
        over(0, one),
        over(0, ten),
        over(0, reduction),
        over(0, |errors| quantile(errors.reduction.clone(), 0.9)),
        large(0),
        over(0, |errors| mean(errors.covered.iter().copied())),
        over(2, one),
        over(2, ten),
        over(3, ten),
        over(3, reduction),
        over(4, one),
        over(4, ten),
        over(4, reduction),
        large(4),
    ]);
    table(&headings, &rows)
        + "\nAll in %. +1, +10: mean relative error of the loss so many iterations ahead; red.: error of the predicted 10-step reduction relative to the true one,\n\
           median and 90th percentile, over cuts whose true reduction exceeds 0.01 % of the curve's range; >= 0.1 %: median over cuts with at least that; covered: how often the error bound held at +10.\n\
           The first columns are ours; class: the algorithm's curve of 2017 unweighted; 2017: SLAQ's, weights 0.64 a step, window 100.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_hand() {
        // The last change of 1 goes on until the loss stays at 10: at the cut after the fifth loss, 16, it is foreseen as 6.
        let losses: Vec<f64> = (0..15).map(|k| f64::max(20.0 - f64::from(k), 10.0)).collect();
        let errors = errors(Box::new(LastChange::default()), &losses);
        assert_eq!(errors.loss[2], [0.4; 1]);
        assert_eq!(errors.reduction, [4.0 / 6.0]);
        assert_eq!(errors.covered, [1.0], "its bound is the whole change");
        assert_eq!(errors.loss[0].len(), 10);
        assert_eq!(errors.loss[0].iter().filter(|error| **error > 0.0).count(), 1, "only the bend is missed");
    }

    #[test]
    fn every_cut_of_five_points_or_more_counts() {
        let curve = Recorded::plain("lda", (0..30).map(|k| 1.0 + 1.0 / (1.0 + f64::from(k))).collect());
        let evaluation = evaluate(&curve);
        for (name, errors) in &evaluation.errors {
            assert_eq!(errors.loss.each_ref().map(Vec::len), [25, 21, 16], "{name}");
            assert_eq!(errors.reduction.len(), 16, "{name}");
        }
        assert_eq!(evaluation.errors[0].1.covered.len(), 16);
        assert_eq!(to_json(&evaluation)["last-value"]["bound_coverage"], json!(0.0));
        assert_eq!(to_json(&evaluation)["last-value"]["reduction_error_10_median"], json!(1.0));
    }
}
