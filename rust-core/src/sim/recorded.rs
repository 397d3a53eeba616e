//! A recorded training: its losses and, where known, the time and tasks of each iteration.

use super::failure::{Failure, Outcome};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A stage as recorded: (tasks, seconds summed over tasks, seconds of the longest task, seconds submitted to finished).
pub type RecordedStage = [f64; 4];

/// One curve of `tests/curves` or a plain list of losses.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Unique among the curves of a directory.
    pub name: String,
    /// Class of the prior, as the loss tap names it.
    pub algorithm: String,
    /// The raw losses rise (a log-likelihood).
    pub maximise: bool,
    /// Raw, one an iteration, at least two, all finite.
    pub losses: Vec<f64>,
    /// Wall seconds that ended with the loss of the same index; the first counts from the start of the fit. Empty: unknown.
    pub seconds: Vec<f64>,
    /// Stages that finished between the previous loss and this one. Empty: unknown.
    pub stages: Vec<Vec<RecordedStage>>,
    /// Task slots of the machine while recording.
    pub slots: Option<u32>,
    /// The limit that the estimator was given.
    pub max_iterations: Option<u32>,
}

impl Recorded {
    /// A curve without times, as tests and plain files have it.
    pub fn plain(name: &str, losses: Vec<f64>) -> Recorded {
        let (name, algorithm) = (name.to_owned(), name.to_owned());
        Recorded {
            name,
            algorithm,
            maximise: false,
            losses,
            seconds: Vec::new(),
            stages: Vec::new(),
            slots: None,
            max_iterations: None,
        }
    }

    /// Losses turned so that smaller is better.
    pub fn turned(&self) -> Vec<f64> {
        let sign = if self.maximise { -1.0 } else { 1.0 };
        self.losses.iter().map(|loss| sign * loss).collect()
    }

    /// Best loss so far, as 1 at the first and 0 at the best of the whole curve; `None` for a curve that does not improve: it
    /// ends no better than it began, whatever a lucky batch had in between.
    pub fn normalised(&self) -> Option<Vec<f64>> {
        let turned = self.turned();
        let best = turned.iter().copied().fold(f64::INFINITY, f64::min);
        let range = turned[0] - best;
        let mut lowest = f64::INFINITY;
        (turned[turned.len() - 1] < turned[0]).then(|| {
            turned
                .iter()
                .map(|loss| {
                    lowest = lowest.min(*loss);
                    (lowest - best) / range
                })
                .collect()
        })
    }

    /// Reads a `.json` curve or a `.txt` with one loss a line.
    ///
    /// # Errors
    /// The file cannot be read, or is no curve: the message names the file and what is wrong.
    pub fn read(path: &Path) -> Outcome<Recorded> {
        let text = fs::read_to_string(path).map_err(|error| Failure::of_path(path, error))?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let curve = if path.extension().is_some_and(|extension| extension == "json") {
            from_json(&text, &stem)
        } else {
            from_lines(&text, &stem)
        };
        curve.and_then(checked).map_err(|reason| Failure::of_path(path, reason))
    }

    /// Reads all `.json` and `.txt` curves of a directory (not of its subdirectories), in the order of their names.
    ///
    /// # Errors
    /// The directory cannot be read or has no curves, two curves share a name, or one of the files is no curve.
    pub fn read_dir(dir: &Path) -> Outcome<Vec<Recorded>> {
        let entries = fs::read_dir(dir).map_err(|error| Failure::of_path(dir, error))?;
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| is_curve(path)).collect();
        paths.sort();
        let curves = paths.iter().map(|path| Recorded::read(path)).collect::<Outcome<Vec<_>>>()?;
        if curves.is_empty() {
            return Err(Failure::of_path(dir, "no curves; expected .json or .txt files"));
        }
        let mut names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Failure::of_path(dir, format!("two curves are named \"{}\"", pair[0]))),
            None => Ok(curves),
        }
    }
}

fn is_curve(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == "json" || extension == "txt")
}

fn from_lines(text: &str, stem: &str) -> Result<Recorded, String> {
    let losses = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            line.trim().parse::<f64>().map_err(|_| format!("line {}: \"{}\" is no number", index + 1, line.trim()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Recorded::plain(stem, losses))
}

fn from_json(text: &str, stem: &str) -> Result<Recorded, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let whole = |key: &str| value.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    let stages = match value.get("stages") {
        None => Vec::new(),
        Some(list) => stages(list)
            .ok_or("stages: expected one list an iteration of [tasks, taskSeconds, longestSeconds, spanSeconds]")?,
    };
    Ok(Recorded {
        name: word("name").unwrap_or_else(|| stem.to_owned()),
        algorithm: word("algorithm").ok_or("algorithm: expected a word")?,
        maximise: value.get("maximise").and_then(Value::as_bool).unwrap_or(false),
        losses: value.get("losses").and_then(numbers).ok_or("losses: expected a list of numbers")?,
        seconds: value.get("seconds").map_or(Some(Vec::new()), numbers).ok_or("seconds: expected a list of numbers")?,
        stages,
        slots: whole("slots"),
        max_iterations: whole("maxIterations"),
    })
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

fn stages(value: &Value) -> Option<Vec<Vec<RecordedStage>>> {
    let stage = |value: &Value| numbers(value)?.try_into().ok();
    value.as_array()?.iter().map(|iteration| iteration.as_array()?.iter().map(stage).collect()).collect()
}

fn checked(curve: Recorded) -> Result<Recorded, String> {
    let length = curve.losses.len();
    if length < 2 {
        return Err(format!("{length} losses; expected at least 2"));
    }
    if let Some(index) = curve.losses.iter().position(|loss| !loss.is_finite()) {
        return Err(format!("losses[{index}] is {}; expected a finite number", curve.losses[index]));
    }
    for (key, found) in [("seconds", curve.seconds.len()), ("stages", curve.stages.len())] {
        if found != 0 && found != length {
            return Err(format!("{key} has {found} entries; expected {length}, one a loss"));
        }
    }
    let times = curve.seconds.iter().chain(curve.stages.iter().flatten().flatten());
    if let Some(bad) = times.copied().find(|time| !time.is_finite() || *time < 0.0) {
        return Err(format!("a time or task count is {bad}; expected a finite number >= 0"));
    }
    Ok(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_lines_are_read() {
        let text = r#"{"name":"a","algorithm":"GaussianMixture","maximise":true,"losses":[-9,-5.0],"seconds":[1,2],"stages":[[],[[4,2.0,0.6,0.7]]],"slots":4,"extra":0}"#;
        let curve = from_json(text, "stem").and_then(checked).unwrap();
        assert_eq!(curve.turned(), [9.0, 5.0]);
        assert_eq!(curve.stages[1], [[4.0, 2.0, 0.6, 0.7]]);
        assert_eq!(curve.slots, Some(4));
        assert_eq!(from_lines("3\n2.5\n\n1\n", "lda").unwrap(), Recorded::plain("lda", vec![3.0, 2.5, 1.0]));
    }

    #[test]
    fn what_is_no_curve_is_refused_with_the_reason() {
        let reason = |text: &str| from_json(text, "x").and_then(checked).unwrap_err();
        assert_eq!(reason(r#"{"losses":[1,2]}"#), "algorithm: expected a word");
        assert_eq!(reason(r#"{"algorithm":"A","losses":[1]}"#), "1 losses; expected at least 2");
        assert_eq!(
            reason(r#"{"algorithm":"A","losses":[1,2],"seconds":[1]}"#),
            "seconds has 1 entries; expected 2, one a loss"
        );
        assert!(reason(r#"{"algorithm":"A","losses":[1,2],"stages":[[[1,2]],[]]}"#).starts_with("stages: expected"));
        assert_eq!(from_lines("1\nx", "x").unwrap_err(), "line 2: \"x\" is no number");
        assert_eq!(
            from_lines("1\ninf", "x").and_then(checked).unwrap_err(),
            "losses[1] is inf; expected a finite number"
        );
    }

    #[test]
    fn the_normalised_curve_is_the_best_so_far() {
        let curve = Recorded::plain("a", vec![4.0, 5.0, 2.0, 3.0, 0.0]);
        assert_eq!(curve.normalised().unwrap(), [1.0, 1.0, 0.5, 0.5, 0.0]);
        assert_eq!(Recorded::plain("flat", vec![1.0, 1.0, 2.0]).normalised(), None);
        assert_eq!(Recorded::plain("lucky once", vec![1.0, 2.0, 0.1, 2.0]).normalised(), None);
    }
}
