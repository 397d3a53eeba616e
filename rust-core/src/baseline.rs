//! Forecasters to compare with: what is simplest, and what the paper's authors used.

use crate::curve::Curve;
use crate::fit::{Family, Points, fit};
use crate::forecast::{Forecast, Forecaster};

/// The loss stays where it is.
#[derive(Clone, Debug, Default)]
pub struct LastValue(Option<f64>);

/// The last change repeats itself.
#[derive(Clone, Debug, Default)]
pub struct LastChange {
    before: Option<(u32, f64)>,
    last: Option<(u32, f64)>,
}

/// A curve of one family, chosen by the algorithm's class, through the last points.
#[derive(Clone, Debug)]
pub struct ClassCurve {
    family: Family,
    window: usize,
    recency: f64,
    points: Vec<(u32, f64)>,
    curve: Option<Curve>,
}

/// Points that a class curve needs.
const FEWEST: usize = 5;

impl ClassCurve {
    /// As in the paper of 2017: the last 100 points with weights of 0.64 a step.
    pub fn slaq_2017(algorithm: &str) -> ClassCurve {
        ClassCurve { family: class(algorithm), window: 100, recency: 0.64, points: Vec::new(), curve: None }
    }

    /// The last 100 points, all alike.
    pub fn unweighted(algorithm: &str) -> ClassCurve {
        ClassCurve { recency: 1.0, ..ClassCurve::slaq_2017(algorithm) }
    }
}

/// The paper's classes: quasi-Newton and other (super)linear optimisers converge exponentially, all others like 1/k².
/// Names are looked at as the authors' files and MLlib's classes have them.
pub fn class(algorithm: &str) -> Family {
    let name = algorithm.to_ascii_lowercase();
    let exponential = [
        "logreg",
        "logisticregression",
        "linreg",
        "linearregression",
        "mlp",
        "multilayerperceptron",
        "aft",
        "generalizedlinear",
    ];
    if exponential.iter().any(|part| name.contains(part)) { Family::Exponential } else { Family::Reciprocal }
}

impl Forecaster for LastValue {
    fn push(&mut self, _iteration: u32, loss: f64) {
        if loss.is_finite() {
            self.0 = Some(loss);
        }
    }

    fn forecast(&self, _ahead: f64) -> Option<Forecast> {
        self.0.map(|loss| Forecast { loss, bound: 0.0 })
    }
}

impl Forecaster for LastChange {
    fn push(&mut self, iteration: u32, loss: f64) {
        if loss.is_finite() && self.last.is_none_or(|(k, _)| iteration > k) {
            self.before = self.last.replace((iteration, loss));
        }
    }

    fn forecast(&self, ahead: f64) -> Option<Forecast> {
        let ((k0, before), (k1, last)) = (self.before?, self.last?);
        let slope = (last - before) / f64::from(k1 - k0);
        Some(Forecast { loss: last + slope * ahead, bound: (slope * ahead).abs() })
    }
}

impl Forecaster for ClassCurve {
    fn push(&mut self, iteration: u32, loss: f64) {
        if !loss.is_finite() || self.points.last().is_some_and(|(k, _)| iteration <= *k) {
            return;
        }
        if self.points.len() == self.window {
            self.points.remove(0);
        }
        self.points.push((iteration, loss));
        self.curve = (self.points.len() >= FEWEST).then(|| self.refit()).flatten();
    }

    fn forecast(&self, ahead: f64) -> Option<Forecast> {
        let (k, last) = *self.points.last()?;
        let loss = self.curve?.at(f64::from(k) + ahead);
        Some(Forecast { loss, bound: (loss - last).abs() })
    }
}

impl ClassCurve {
    fn refit(&self) -> Option<Curve> {
        let (origin, last) = (self.points[0].0, self.points[self.points.len() - 1].0);
        let (low, high) =
            self.points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (_, y)| (a.min(*y), b.max(*y)));
        let scale = if high > low { high - low } else { 1.0 };
        let x = self.points.iter().map(|(k, _)| f64::from(k - origin)).collect();
        let y = self.points.iter().map(|(_, y)| (y - low) / scale).collect();
        let w = self.points.iter().map(|(k, _)| self.recency.powf(f64::from(last - k))).collect();
        let found = fit(self.family, &Points::new(x, y, w, f64::NEG_INFINITY), None)?;
        Some(found.curve.scaled(f64::from(origin), scale, low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(mut forecaster: impl Forecaster, losses: &[f64]) -> Option<f64> {
        for (k, loss) in losses.iter().enumerate() {
            forecaster.push(k as u32, *loss);
        }
        forecaster.forecast(10.0).map(|f| f.loss)
    }

    #[test]
    fn simple_forecasters_say_what_their_names_say() {
        assert_eq!(fed(LastValue::default(), &[3.0, 2.0, f64::NAN]), Some(2.0));
        assert_eq!(fed(LastChange::default(), &[30.0, 29.0, 27.0]), Some(7.0));
        assert_eq!(fed(LastChange::default(), &[3.0]), None);
    }

    #[test]
    fn class_curves_recover_curves_of_their_class() {
        let exponential: Vec<f64> = (0..30).map(|k| 2.0 + 5.0 * 0.9f64.powi(k)).collect();
        let expected = 2.0 + 5.0 * 0.9f64.powi(39);
        assert!((fed(ClassCurve::slaq_2017("LogisticRegression"), &exponential).unwrap() - expected).abs() < 1e-3);
        assert!((fed(ClassCurve::unweighted("LogisticRegression"), &exponential).unwrap() - expected).abs() < 1e-3);
        assert_eq!(fed(ClassCurve::slaq_2017("KMeans"), &[4.0, 3.0, 2.5, 2.2]), None);
    }
}
