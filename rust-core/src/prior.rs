//! Typical course of a run per algorithm, learnt from finished runs: what a run without losses is expected to do.

use crate::curve::{Curve, Shape};
use crate::error::{Error, Result};
use crate::history::{History, trace_step};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Places of the trace that are kept: up to 4096 iterations.
const PLACES: usize = 24;
/// Algorithms that are kept; when full, new ones use the general curve.
const ALGORITHMS: usize = 64;
/// Weight of the newest run; about the last ten decide.
const NEWEST: f64 = 0.2;
/// Runs with fewer points teach nothing.
const FEWEST: u32 = 5;

/// Before any run has finished: a reciprocal that has done half its work after three iterations.
const GENERAL: Curve =
    Curve { shape: Shape::Reciprocal { p: 1.0 / 3.0, q: 0.0 }, origin: 0.0, height: 1.0, floor: 0.0 };

/// Before any run has finished: MLlib's usual limit.
const ITERATIONS: f64 = 100.0;

/// Runs after which the typical curve of an algorithm counts half of what it can.
const LEARNT: f64 = 3.0;

#[derive(Clone, Debug, PartialEq)]
struct Learnt {
    /// Mean part of the reduction still to come, per place of the trace.
    left: [f64; PLACES],
    /// Mean number of iterations.
    iterations: f64,
    runs: u32,
}

/// Typical curves: 1 at the start, 0 at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priors {
    algorithms: BTreeMap<String, Learnt>,
}

impl Priors {
    /// What is known of an algorithm.
    pub fn typical(&self, algorithm: &str) -> Typical<'_> {
        Typical(self.algorithms.get(algorithm))
    }

    /// Learns from a finished run; too short or rising runs teach nothing.
    pub fn learn(&mut self, algorithm: &str, history: &History) {
        let (Some((_, first)), Some((_, last))) = (history.first(), history.last()) else { return };
        let range = first - last.min(history.best());
        if history.points() < FEWEST || range <= 0.0 || !range.is_finite() {
            return;
        }
        let mut left = [0.0; PLACES];
        for ((_, loss), place) in history.trace().zip(left.iter_mut()) {
            *place = ((loss - (first - range)) / range).clamp(0.0, 1.0);
        }
        let iterations = f64::from(history.last().map_or(0, |(k, _)| k)).max(1.0);
        self.merge(algorithm, left, iterations, 1);
    }

    fn merge(&mut self, algorithm: &str, left: [f64; PLACES], iterations: f64, runs: u32) {
        if let Some(typical) = self.algorithms.get_mut(algorithm) {
            typical.runs = typical.runs.saturating_add(runs);
            let rate = NEWEST.max(1.0 / f64::from(typical.runs));
            for (mean, new) in typical.left.iter_mut().zip(left) {
                *mean += rate * (new - *mean);
            }
            typical.iterations += rate * (iterations - typical.iterations);
        } else if self.algorithms.len() < ALGORITHMS {
            self.algorithms.insert(algorithm.to_owned(), Learnt { left, iterations, runs });
        }
    }

    /// Reads a file written by [`Priors::save`]; a file that does not exist yet gives none.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be read or is not of this form.
    pub fn load(path: &Path) -> Result<Priors> {
        let fail = |reason: String| Error::File { path: path.display().to_string(), reason };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Priors::default()),
            Err(e) => return Err(fail(e.to_string())),
        };
        let value: Value = serde_json::from_str(&text).map_err(|e| fail(e.to_string()))?;
        let map = value.as_object().ok_or_else(|| fail("not an object of algorithms".into()))?;
        let mut priors = Priors::default();
        for (algorithm, entry) in map {
            let runs = entry["runs"].as_u64().unwrap_or(1).clamp(1, u64::from(u32::MAX)) as u32;
            let values = entry["left"].as_array().ok_or_else(|| fail(format!("{algorithm}: no array \"left\"")))?;
            let mut left = [0.0; PLACES];
            for (place, value) in left.iter_mut().zip(values) {
                *place = value
                    .as_f64()
                    .filter(|v| (0.0..=1.0).contains(v))
                    .ok_or_else(|| fail(format!("{algorithm}: {value} is not in [0, 1]")))?;
            }
            let iterations = entry["iterations"].as_f64().filter(|n| *n >= 1.0 && n.is_finite()).unwrap_or(ITERATIONS);
            priors.merge(algorithm, left, iterations, runs);
        }
        Ok(priors)
    }

    /// Writes the curves, whole or not at all: a reader never sees half a file.
    ///
    /// # Errors
    /// [`Error::File`] when the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let map: Map<String, Value> = self
            .algorithms
            .iter()
            .map(|(name, t)| (name.clone(), json!({"runs": t.runs, "iterations": t.iterations, "left": t.left})))
            .collect();
        let fresh = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&fresh, Value::Object(map).to_string())
            .and_then(|()| std::fs::rename(&fresh, path))
            .map_err(|e| Error::File { path: path.display().to_string(), reason: e.to_string() })
    }
}

/// The usual course of an algorithm's runs; a general one before any was learnt.
#[derive(Clone, Copy, Debug)]
pub struct Typical<'a>(Option<&'a Learnt>);

impl Typical<'_> {
    /// Part of the reduction still to come after k ≥ 0 iterations: 1 at first, not above 1, never negative.
    pub fn at(&self, k: f64) -> f64 {
        let Some(learnt) = self.0 else { return GENERAL.at(k) };
        let above = (0..PLACES).find(|i| f64::from(trace_step(*i)) >= k).unwrap_or(PLACES - 1);
        let below = above.saturating_sub(1);
        let (x0, x1) = (f64::from(trace_step(below)), f64::from(trace_step(above)));
        let part = if x1 > x0 { ((k - x0) / (x1 - x0)).clamp(0.0, 1.0) } else { 0.0 };
        learnt.left[below] + part * (learnt.left[above] - learnt.left[below])
    }

    /// Iterations that its runs usually take.
    pub fn iterations(&self) -> f64 {
        self.0.map_or(ITERATIONS, |l| l.iterations)
    }

    /// How far the course may be relied on, in [0, 1): grows with the runs that taught it.
    pub fn reliance(&self) -> f64 {
        self.0.map_or(0.0, |l| f64::from(l.runs) / (f64::from(l.runs) + LEARNT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn history(losses: impl IntoIterator<Item = f64>) -> History {
        let mut history = History::default();
        for (k, loss) in losses.into_iter().enumerate() {
            history.push(k as u32, loss);
        }
        history
    }

    #[test]
    fn learns_the_course_of_an_algorithm() {
        let mut priors = Priors::default();
        for _ in 0..5 {
            priors.learn("A", &history((0..60).map(|k| 3.0 + 2.0 * 0.8f64.powi(k))));
        }
        let typical = priors.typical("A");
        assert!((typical.at(0.0) - 1.0).abs() < 1e-9);
        assert!((typical.at(4.0) - 0.8f64.powi(4)).abs() < 1e-3);
        assert_eq!(typical.iterations(), 59.0);
        assert!(typical.reliance() > 0.6);
        assert_eq!(priors.typical("B").reliance(), 0.0);
    }

    #[test]
    fn short_and_rising_runs_teach_nothing() {
        let mut priors = Priors::default();
        priors.learn("A", &history([3.0, 2.0]));
        priors.learn("A", &history([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(priors, Priors::default());
    }

    #[test]
    fn a_file_brings_the_curves_back() {
        let path = std::env::temp_dir().join(format!("slaq-priors-{}.json", std::process::id()));
        let mut priors = Priors::default();
        priors.learn("A", &history((0..9).map(|k| 1.0 / f64::from(k + 1))));
        priors.save(&path).unwrap();
        let loaded = Priors::load(&path);
        std::fs::write(&path, r#"{"A": {"runs": 1, "left": [2.0]}}"#).unwrap();
        let wrong = Priors::load(&path);
        std::fs::remove_file(&path).unwrap();
        let loaded = loaded.unwrap();
        for k in 0..9 {
            assert!((loaded.typical("A").at(f64::from(k)) - priors.typical("A").at(f64::from(k))).abs() < 1e-12);
        }
        assert_eq!(loaded.typical("A").iterations(), 8.0);
        assert!(wrong.unwrap_err().to_string().contains("not in [0, 1]"));
        assert_eq!(Priors::load(&path).unwrap(), Priors::default());
    }

    #[test]
    fn the_number_of_algorithms_is_bounded() {
        let mut priors = Priors::default();
        for i in 0..1000 {
            priors.learn(&i.to_string(), &history((0..9).map(|k| 1.0 / f64::from(k + 1))));
        }
        assert_eq!(priors.algorithms.len(), ALGORITHMS);
    }

    proptest! {
        #[test]
        fn typical_curves_stay_in_range(losses in prop::collection::vec(any::<f64>(), 0..300), k in 0.0..1e6f64) {
            let mut priors = Priors::default();
            priors.learn("A", &history(losses));
            prop_assert!((0.0..=1.0).contains(&priors.typical("A").at(k)));
        }
    }
}
