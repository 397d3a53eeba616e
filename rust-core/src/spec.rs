//! Description of a run, as the host gives it when the run starts.

use crate::error::{Error, Result};
use serde_json::Value;

/// One iterative training.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// Unique among the active runs.
    pub id: i64,
    /// The run inside which this one was started (cross validation, one-vs-rest).
    pub parent: Option<i64>,
    /// Simple class name of the estimator; runs of one algorithm share a typical curve.
    pub algorithm: String,
    /// Name for people and for the oracle's file.
    pub name: Option<String>,
    /// The loss rises (a log-likelihood): it is turned before anything else sees it.
    pub maximise: bool,
    /// False for runs that report no loss (ALS, Word2Vec, forests): they keep their fair share.
    pub has_loss: bool,
    /// Iterations after which the run stops at the latest.
    pub max_iterations: Option<u32>,
    /// Tolerance at which the run stops by itself, in the algorithm's own terms.
    pub tolerance: Option<f64>,
    /// Importance against other runs, > 0, default 1.
    pub weight: f64,
    /// Cores that it gets at most, ≥ 1.
    pub ceiling: Option<u32>,
}

impl RunSpec {
    /// A run with a loss that falls, weight 1 and no limits.
    pub fn new(id: i64, algorithm: impl Into<String>) -> RunSpec {
        RunSpec {
            id,
            parent: None,
            algorithm: algorithm.into(),
            name: None,
            maximise: false,
            has_loss: true,
            max_iterations: None,
            tolerance: None,
            weight: 1.0,
            ceiling: None,
        }
    }

    /// Reads a JSON object: id and algorithm are required, the others optional; null is as good as absent.
    ///
    /// # Errors
    /// [`Error::Spec`] that names the field, its value and what is allowed.
    pub fn from_json(text: &str) -> Result<RunSpec> {
        let value: Value = serde_json::from_str(text).map_err(|e| Error::Spec(format!("{e} in {text}")))?;
        let map = value.as_object().ok_or_else(|| Error::Spec(format!("{text} is not a JSON object")))?;
        let mut spec = RunSpec::new(0, "");
        let (mut id, mut algorithm) = (None, None);
        for (key, value) in map.iter().filter(|(_, v)| !v.is_null()) {
            let wrong = |allowed: &str| Error::Spec(format!("{key} = {value}: allowed is {allowed}"));
            let flag = || value.as_bool().ok_or_else(|| wrong("true or false"));
            let string = || value.as_str().map(str::to_owned).ok_or_else(|| wrong("a string"));
            let whole =
                || value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| wrong("a whole number from 0"));
            match key.as_str() {
                "id" => id = Some(value.as_i64().ok_or_else(|| wrong("a whole number"))?),
                "parent" => spec.parent = Some(value.as_i64().ok_or_else(|| wrong("a whole number"))?),
                "algorithm" => algorithm = Some(string()?),
                "name" => spec.name = Some(string()?),
                "maximise" => spec.maximise = flag()?,
                "hasLoss" => spec.has_loss = flag()?,
                "maxIterations" => spec.max_iterations = Some(whole()?),
                "tolerance" => spec.tolerance = Some(value.as_f64().ok_or_else(|| wrong("a number"))?),
                "weight" => spec.weight = value.as_f64().ok_or_else(|| wrong("a number above 0"))?,
                "ceiling" => spec.ceiling = Some(whole()?),
                _ => {
                    return Err(Error::Spec(format!(
                        "{key} is not one of id, parent, algorithm, name, maximise, hasLoss, maxIterations, tolerance, weight, ceiling"
                    )));
                }
            }
        }
        spec.id = id.ok_or_else(|| Error::Spec(format!("no id in {text}")))?;
        spec.algorithm = algorithm.ok_or_else(|| Error::Spec(format!("no algorithm in {text}")))?;
        spec.check()?;
        Ok(spec)
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Spec`] for a weight that is not a positive finite number or a ceiling of 0.
    pub fn check(&self) -> Result<()> {
        if !(self.weight > 0.0 && self.weight <= 1e6) {
            return Err(Error::Spec(format!("weight = {}: allowed is a number above 0, at most 1e6", self.weight)));
        }
        if self.ceiling == Some(0) {
            return Err(Error::Spec("ceiling = 0: allowed is a whole number from 1".into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_host_writes() {
        let spec = RunSpec::from_json(
            r#"{"id": 7, "parent": null, "algorithm": "KMeans", "name": "a", "maximise": false, "hasLoss": true,
                "maxIterations": 20, "tolerance": 1e-4, "weight": 2, "ceiling": 8}"#,
        )
        .unwrap();
        let expected = RunSpec {
            name: Some("a".into()),
            max_iterations: Some(20),
            tolerance: Some(1e-4),
            weight: 2.0,
            ceiling: Some(8),
            ..RunSpec::new(7, "KMeans")
        };
        assert_eq!(spec, expected);
    }

    #[test]
    fn wrong_fields_are_named() {
        for (json, part) in [
            (r#"{"algorithm": "KMeans"}"#, "no id"),
            (r#"{"id": 1}"#, "no algorithm"),
            (r#"{"id": 1, "algorithm": "KMeans", "weight": 0}"#, "weight = 0"),
            (r#"{"id": 1, "algorithm": "KMeans", "weight": -1}"#, "above 0"),
            (r#"{"id": 1, "algorithm": "KMeans", "ceiling": 0}"#, "ceiling = 0"),
            (r#"{"id": 1, "algorithm": "KMeans", "maxIterations": -3}"#, "maxIterations = -3"),
            (r#"{"id": "x", "algorithm": "KMeans"}"#, "id = \"x\""),
            (r#"{"id": 1, "algorithm": "KMeans", "speed": 1}"#, "speed is not one of"),
            ("[]", "not a JSON object"),
            ("{", "EOF"),
        ] {
            let message = RunSpec::from_json(json).unwrap_err().to_string();
            assert!(message.contains(part), "{message} lacks {part}");
        }
    }
}
