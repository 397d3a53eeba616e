//! Course of earlier runs per algorithm: what a run is expected to do beyond what its own losses tell.
//!
//! A few finished runs are remembered as they went, not as their mean: a run is expected to go on like those that went like it
//! so far. So a second fall after a plateau, which no fit can foresee, is expected where it was seen before.

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
/// Runs of an algorithm that are kept, the newest.
const RUNS: usize = 16;
/// Runs with fewer points teach nothing.
const FEWEST: u32 = 5;
/// Mean difference of the logarithms of two runs' steps at which one counts 1/e for the other.
const ALIKE: f64 = 0.1;
/// Steps below this part of what a run has fallen so far are alike.
const SMALL: f64 = 1e-3;

/// Before any run has finished. The mean over `tests/curves` of what is left after 1, 3, 5, 10, 20 iterations: 0.49, 0.28, 0.22,
/// 0.13, 0.09; over fits of 20 to 40 iterations, as the schedules of `scripts/bench` have them: 0.44, 0.21, 0.12, 0.05, 0.01.
const GENERAL: Curve = Curve { shape: Shape::Reciprocal { p: 1.1, q: 0.0 }, origin: 0.0, height: 1.0, floor: 0.0 };

/// Before any run has finished: MLlib's usual limit.
const ITERATIONS: f64 = 100.0;

/// Runs after which the course of an algorithm's runs counts half of what it can.
const LEARNT: f64 = 3.0;

/// Course of a finished run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Course {
    /// Part of the reduction still to come, per place of the trace.
    left: [f64; PLACES],
    /// Iterations that it took.
    iterations: f64,
}

impl Course {
    /// Part of the reduction still to come after k ≥ 0 iterations.
    fn at(&self, k: f64) -> f64 {
        let above = (0..PLACES).find(|i| f64::from(trace_step(*i)) >= k).unwrap_or(PLACES - 1);
        let below = above.saturating_sub(1);
        let (x0, x1) = (f64::from(trace_step(below)), f64::from(trace_step(above)));
        let part = if x1 > x0 { ((k - x0) / (x1 - x0)).clamp(0.0, 1.0) } else { 0.0 };
        self.left[below] + part * (self.left[above] - self.left[below])
    }

    /// Mean difference of the logarithms of the steps of this course and of a run's so far, each in units of its whole fall so far.
    fn distance(&self, history: &History) -> f64 {
        let (Some((k0, first)), Some((k, last))) = (history.first(), history.last()) else { return 0.0 };
        let now = f64::from(k - k0);
        let (fallen, here) = ((first - last).abs().max(f64::MIN_POSITIVE), (1.0 - self.at(now)).max(1e-9));
        let (mut sum, mut count) = (0.0, 0u32);
        let (mut before, mut left_before) = (first, 1.0);
        let points = history.trace().skip(1).map(|(step, loss)| (f64::from(step), loss));
        for (step, loss) in points.chain(std::iter::once((now, last))) {
            let left = self.at(step);
            let (ours, theirs) = ((before - loss) / fallen, (left_before - left) / here);
            sum += (ours.clamp(SMALL, 1.0 / SMALL) / theirs.clamp(SMALL, 1.0 / SMALL)).ln().abs();
            count += 1;
            (before, left_before) = (loss, left);
        }
        sum / f64::from(count)
    }
}

/// Courses of the newest runs of every algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priors {
    algorithms: BTreeMap<String, Vec<Course>>,
}

impl Priors {
    /// What is known of an algorithm's runs that went like this one so far.
    pub fn typical(&self, algorithm: &str, history: &History) -> Typical<'_> {
        let courses = self.algorithms.get(algorithm).map_or(&[][..], Vec::as_slice);
        let mut weights = [0.0; RUNS];
        let mut nearest = f64::INFINITY;
        for (weight, course) in weights.iter_mut().zip(courses) {
            *weight = course.distance(history);
            nearest = nearest.min(*weight);
        }
        let mut sum = 0.0;
        for weight in &mut weights[..courses.len()] {
            *weight = ((nearest - *weight) / ALIKE).exp();
            sum += *weight;
        }
        for weight in &mut weights {
            *weight /= sum.max(f64::MIN_POSITIVE);
        }
        Typical { courses, weights }
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
        self.keep(algorithm, Course { left, iterations });
    }

    fn keep(&mut self, algorithm: &str, course: Course) {
        if let Some(courses) = self.algorithms.get_mut(algorithm) {
            if courses.len() == RUNS {
                courses.remove(0);
            }
            courses.push(course);
        } else if self.algorithms.len() < ALGORITHMS {
            self.algorithms.insert(algorithm.to_owned(), vec![course]);
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
        for (algorithm, runs) in map {
            for run in runs.as_array().ok_or_else(|| fail(format!("{algorithm}: not an array of runs")))? {
                let values = run["left"].as_array().ok_or_else(|| fail(format!("{algorithm}: no array \"left\"")))?;
                let mut left = [0.0; PLACES];
                for (place, value) in left.iter_mut().zip(values) {
                    *place = value
                        .as_f64()
                        .filter(|v| (0.0..=1.0).contains(v))
                        .ok_or_else(|| fail(format!("{algorithm}: {value} is not in [0, 1]")))?;
                }
                let iterations = run["iterations"].as_f64().filter(|n| *n >= 1.0 && n.is_finite());
                priors.keep(algorithm, Course { left, iterations: iterations.unwrap_or(ITERATIONS) });
            }
        }
        Ok(priors)
    }

    /// Writes the courses, whole or not at all: a reader never sees half a file.
    ///
    /// # Errors
    /// [`Error::File`] when the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let run = |course: &Course| json!({"iterations": course.iterations, "left": course.left});
        let map: Map<String, Value> = self
            .algorithms
            .iter()
            .map(|(name, courses)| (name.clone(), Value::Array(courses.iter().map(run).collect())))
            .collect();
        let fresh = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&fresh, Value::Object(map).to_string())
            .and_then(|()| std::fs::rename(&fresh, path))
            .map_err(|e| Error::File { path: path.display().to_string(), reason: e.to_string() })
    }
}

/// The expected course of a run: that of earlier runs of its algorithm, weighted by how alike they were so far; a general one
/// before any was learnt.
#[derive(Clone, Copy, Debug)]
pub struct Typical<'a> {
    courses: &'a [Course],
    weights: [f64; RUNS],
}

impl Typical<'_> {
    fn mean(&self, of: impl Fn(&Course) -> f64) -> f64 {
        self.courses.iter().zip(self.weights).map(|(course, weight)| weight * of(course)).sum()
    }

    /// Part of the reduction still to come after k ≥ 0 iterations: 1 at first, not above 1, never negative.
    pub fn at(&self, k: f64) -> f64 {
        if self.courses.is_empty() { GENERAL.at(k) } else { self.mean(|course| course.at(k)).clamp(0.0, 1.0) }
    }

    /// Iterations that its runs usually take.
    pub fn iterations(&self) -> f64 {
        if self.courses.is_empty() { ITERATIONS } else { self.mean(|course| course.iterations) }
    }

    /// How far the course may be relied on, in [0, 1): grows with the runs that taught it.
    pub fn reliance(&self) -> f64 {
        let runs = self.courses.len() as f64;
        runs / (runs + LEARNT)
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
        let typical = priors.typical("A", &History::default());
        assert!((typical.at(0.0) - 1.0).abs() < 1e-9);
        assert!((typical.at(4.0) - 0.8f64.powi(4)).abs() < 1e-3);
        assert_eq!(typical.iterations(), 59.0);
        assert!(typical.reliance() > 0.6);
        assert_eq!(priors.typical("B", &History::default()).reliance(), 0.0);
    }

    #[test]
    fn a_run_is_expected_to_go_on_like_those_that_it_resembles() {
        let converging = |k: i32| 0.5f64.powi(k);
        let stepped = |k: i32| if k < 40 { 0.5 + 0.5 * 0.6f64.powi(k) } else { 0.0 };
        let mut priors = Priors::default();
        for _ in 0..3 {
            priors.learn("A", &history((0..60).map(converging)));
            priors.learn("A", &history((0..60).map(stepped)));
        }
        // Other units, another height: only the shape tells them apart.
        let left = |course: &dyn Fn(i32) -> f64| {
            priors.typical("A", &history((0..20).map(|k| 7.0 + 30.0 * course(k)))).at(20.0)
        };
        assert!(left(&converging) < 0.05, "{}", left(&converging));
        assert!((left(&stepped) - 0.5).abs() < 0.05, "{}", left(&stepped));
    }

    #[test]
    fn only_the_newest_runs_of_an_algorithm_are_kept() {
        let mut priors = Priors::default();
        for _ in 0..RUNS {
            priors.learn("A", &history((0..60).map(|k| 0.9f64.powi(k))));
        }
        for _ in 0..RUNS {
            priors.learn("A", &history((0..9).map(|k| 0.5f64.powi(k))));
        }
        assert_eq!(priors.algorithms["A"].len(), RUNS);
        assert_eq!(priors.typical("A", &History::default()).iterations(), 8.0);
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
        std::fs::write(&path, r#"{"A": [{"left": [2.0]}]}"#).unwrap();
        let wrong = Priors::load(&path);
        std::fs::remove_file(&path).unwrap();
        let loaded = loaded.unwrap();
        for k in 0..9 {
            assert!(
                (loaded.typical("A", &History::default()).at(f64::from(k))
                    - priors.typical("A", &History::default()).at(f64::from(k)))
                .abs()
                    < 1e-12
            );
        }
        assert_eq!(loaded.typical("A", &History::default()).iterations(), 8.0);
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
        fn typical_curves_stay_in_range(
            losses in prop::collection::vec(any::<f64>(), 0..300), so_far in prop::collection::vec(any::<f64>(), 0..300), k in 0.0..1e6f64) {
            let mut priors = Priors::default();
            priors.learn("A", &history(losses));
            prop_assert!((0.0..=1.0).contains(&priors.typical("A", &History::default()).at(k)));
            prop_assert!((0.0..=1.0).contains(&priors.typical("A", &history(so_far)).at(k)));
        }
    }
}
