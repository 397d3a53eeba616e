//! Typical course of a run per algorithm, learnt from finished runs: what a run without losses is expected to do.

use crate::curve::{Curve, Shape};
use crate::error::{Error, Result};
use crate::fit::{Family, Points, fit};
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

#[derive(Clone, Debug, PartialEq)]
struct Typical {
    /// Mean part of the reduction still to come, per place of the trace.
    left: [f64; PLACES],
    /// Mean number of iterations.
    iterations: f64,
    runs: u32,
    curve: Curve,
}

/// Typical curves: 1 at the start, 0 at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priors {
    algorithms: BTreeMap<String, Typical>,
}

impl Priors {
    /// Expected part of the reduction still to come after k iterations, as a curve over k with height 1.
    pub fn curve(&self, algorithm: &str) -> Curve {
        self.algorithms.get(algorithm).map_or(GENERAL, |t| t.curve)
    }

    /// Iterations that runs of this algorithm usually take.
    pub fn iterations(&self, algorithm: &str) -> f64 {
        self.algorithms.get(algorithm).map_or(ITERATIONS, |t| t.iterations)
    }

    /// Runs that taught the curve of this algorithm.
    pub fn runs(&self, algorithm: &str) -> u32 {
        self.algorithms.get(algorithm).map_or(0, |t| t.runs)
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
            typical.curve = curve_through(&typical.left);
        } else if self.algorithms.len() < ALGORITHMS {
            self.algorithms
                .insert(algorithm.to_owned(), Typical { left, iterations, runs, curve: curve_through(&left) });
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

/// A curve through the typical course, so that any iteration can be asked for.
fn curve_through(left: &[f64; PLACES]) -> Curve {
    let x: Vec<f64> = (0..PLACES).map(|i| f64::from(trace_step(i))).collect();
    let points = Points::new(x, left.to_vec(), vec![1.0; PLACES], 0.0);
    [Family::Exponential, Family::Reciprocal]
        .into_iter()
        .filter_map(|family| fit(family, &points, None))
        .min_by(|a, b| a.error.total_cmp(&b.error))
        .map_or(GENERAL, |f| Curve { height: 1.0, floor: 0.0, ..f.curve })
}
