//! Settings of the engine: the `spark.slaq.*` keys without their prefix.

use crate::error::{Error, Result};
use crate::policy::Policy;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Settings of an [`Engine`](crate::Engine). Defaults are those of the product.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Who gets cores; key `policy`, default `quality`.
    pub policy: Policy,
    /// Seconds between plans, > 0 and at most 3600; key `epoch`, default 1.
    pub epoch: f64,
    /// Part of the cores that is shared equally, in [0, 1]; key `fairness`, default 0.
    pub fairness: f64,
    /// Cores that every run gets while there are enough, 1 to 1024; key `floor`, default 1.
    pub floor: u32,
    /// Seconds ahead over which a run's gain is judged, 0 (= one epoch) to 3600; key `horizon`, default 5.
    pub horizon: f64,
    /// Expected loss reduction of a run without losses, as a multiple of the typical curve's, 0 to 100;
    /// key `prior.height`, default 1.
    pub prior_height: f64,
    /// Worth of reaching the last tenth of the reduction against the whole reduction, 0 to 100; key `goal`, default 0.1.
    pub goal: f64,
    /// Worth of a run's end against its whole reduction, 0 to 100; key `end`, default 0.0075.
    pub end: f64,
    /// Longest time in seconds that a run goes without a core while runs outnumber cores, 0.1 to 3600;
    /// key `rotation.age`, default 5.
    pub rotation_age: f64,
    /// File that keeps the typical curves across applications; key `priors.path`, default none.
    pub priors_path: Option<PathBuf>,
    /// File with the recorded losses that the `oracle` policy plans on; key `oracle.path`, default none.
    pub oracle_path: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            policy: Policy::Quality,
            epoch: 1.0,
            fairness: 0.0,
            floor: 1,
            horizon: 5.0,
            prior_height: 1.0,
            goal: 0.1,
            end: 0.0075,
            rotation_age: 5.0,
            priors_path: None,
            oracle_path: None,
        }
    }
}

impl Config {
    /// Reads a JSON object of keys and values; values may be strings, as Spark's configuration has them.
    ///
    /// # Errors
    /// [`Error::Config`] for text that is not an object, an unknown key, or a value outside its range.
    pub fn from_json(text: &str) -> Result<Config> {
        let value: Value =
            serde_json::from_str(text).map_err(|e| Error::config("configuration", e, "a JSON object"))?;
        let map = value.as_object().ok_or_else(|| Error::config("configuration", text, "a JSON object"))?;
        Config::from_map(map)
    }

    fn from_map(map: &Map<String, Value>) -> Result<Config> {
        let mut config = Config::default();
        for (key, value) in map {
            match key.as_str() {
                "policy" => config.policy = Policy::parse(&text(value))?,
                "epoch" => config.epoch = number(key, value, 0.01, 3600.0)?,
                "fairness" => config.fairness = number(key, value, 0.0, 1.0)?,
                "floor" => config.floor = whole(key, value, 1, 1024)?,
                "horizon" => config.horizon = number(key, value, 0.0, 3600.0)?,
                "prior.height" => config.prior_height = number(key, value, 0.0, 100.0)?,
                "goal" => config.goal = number(key, value, 0.0, 100.0)?,
                "end" => config.end = number(key, value, 0.0, 100.0)?,
                "rotation.age" => config.rotation_age = number(key, value, 0.1, 3600.0)?,
                "priors.path" => config.priors_path = path(value),
                "oracle.path" => config.oracle_path = path(value),
                _ => return Err(Error::config(key, text(value), format!("one of {KEYS}"))),
            }
        }
        if config.policy == Policy::Oracle && config.oracle_path.is_none() {
            return Err(Error::config("oracle.path", "(none)", "a file of recorded losses, since policy is oracle"));
        }
        Ok(config)
    }
}

const KEYS: &str =
    "policy, epoch, fairness, floor, horizon, prior.height, goal, end, rotation.age, priors.path, oracle.path";

fn text(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn path(value: &Value) -> Option<PathBuf> {
    let text = text(value);
    (!text.is_empty() && !value.is_null()).then(|| PathBuf::from(text))
}

fn number(key: &str, value: &Value, low: f64, high: f64) -> Result<f64> {
    let parsed = match value {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    };
    parsed
        .filter(|v| (low..=high).contains(v))
        .ok_or_else(|| Error::config(key, text(value), format!("a number from {low} to {high}")))
}

fn whole(key: &str, value: &Value, low: u32, high: u32) -> Result<u32> {
    number(key, value, f64::from(low), f64::from(high))
        .ok()
        .filter(|v| v.fract() == 0.0)
        .map(|v| v as u32)
        .ok_or_else(|| Error::config(key, text(value), format!("a whole number from {low} to {high}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_object_gives_the_defaults() {
        assert_eq!(Config::from_json("{}").unwrap(), Config::default());
    }

    #[test]
    fn values_may_be_numbers_or_strings() {
        let a = Config::from_json(r#"{"epoch": 0.5, "floor": 2, "policy": "equal"}"#).unwrap();
        let b = Config::from_json(r#"{"epoch": "0.5", "floor": "2", "policy": "equal"}"#).unwrap();
        assert_eq!(a, b);
        assert_eq!((a.epoch, a.floor, a.policy), (0.5, 2, Policy::Equal));
    }

    #[test]
    fn wrong_values_name_key_value_and_what_is_allowed() {
        for (json, key, value, allowed) in [
            (r#"{"epoch": 0}"#, "epoch", "0", "0.01 to 3600"),
            (r#"{"fairness": "much"}"#, "fairness", "much", "0 to 1"),
            (r#"{"fairness": "NaN"}"#, "fairness", "NaN", "0 to 1"),
            (r#"{"floor": 1.5}"#, "floor", "1.5", "whole number"),
            (r#"{"policy": "best"}"#, "policy", "best", "quality"),
            (r#"{"colour": "red"}"#, "colour", "red", "policy, epoch"),
            (r#"{"policy": "oracle"}"#, "oracle.path", "(none)", "recorded losses"),
            ("[1]", "configuration", "[1]", "JSON object"),
        ] {
            let message = Config::from_json(json).unwrap_err().to_string();
            for part in [key, value, allowed] {
                assert!(message.contains(part), "{message} lacks {part}");
            }
        }
    }
}
