//! Settings of the arbiter.

use crate::error::{Error, Result};
use serde_json::Value;

/// Settings of an [`Arbiter`](super::Arbiter); times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Cores of the cluster; key `cores`, required.
    pub cores: u32,
    /// How long an application is remembered after its last report, and how long nothing moves after the start; key
    /// `lease`, 0.1 to 3600, default 10.
    pub lease: f64,
    /// Time between rounds, over which a driver predicts its gains; key `period`, 0.1 to 3600, default 20.
    pub period: f64,
    /// Least time between rounds, when trainings come and go; key `settle`, 0 to 3600, default 5.
    pub settle: f64,
    /// What moving an executor costs in time of its cores; key `move.cost`, 0 to 3600, default 5.
    pub move_cost: f64,
    /// How long an application that grew does not shrink and the other way round; key `dwell`, 0 to 3600, default 10.
    pub dwell: f64,
    /// How long a newcomer has the minimum at most; key `probation`, 0 to 3600, default 3.
    pub probation: f64,
    /// How long others leave its fair share alone after an application joined, until it trains; key `expect`, 0 to 3600,
    /// default 60.
    pub expect: f64,
    /// How long an application keeps its only place while others wait for one; key `turn`, 0.1 to 86400, default 60.
    pub turn: f64,
    /// How long an application whose connection broke has to come back; key `grace`, 0 to 3600, default 3.
    pub grace: f64,
    /// Part of the cores that is shared equally by weight; key `fairness`, 0 to 1, default 0.
    pub fairness: f64,
}

impl Settings {
    /// The defaults for so many cores.
    pub fn new(cores: u32) -> Settings {
        Settings {
            cores,
            lease: 10.0,
            period: 20.0,
            settle: 5.0,
            move_cost: 5.0,
            dwell: 10.0,
            probation: 3.0,
            expect: 60.0,
            turn: 60.0,
            grace: 3.0,
            fairness: 0.0,
        }
    }

    /// Reads a JSON object of keys and values; values may be numbers or text.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown key, a value outside its range, or missing `cores`.
    pub fn from_json(text: &str) -> Result<Settings> {
        let value: Value =
            serde_json::from_str(text).map_err(|e| Error::config("arbiter settings", e, "a JSON object"))?;
        let map = value.as_object().ok_or_else(|| Error::config("arbiter settings", text, "a JSON object"))?;
        let mut settings = Settings::new(0);
        for (key, value) in map {
            let between = |low: f64, high: f64| {
                let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
                number
                    .filter(|v| (low..=high).contains(v))
                    .ok_or_else(|| Error::config(key, value, format!("a number from {low} to {high}")))
            };
            match key.as_str() {
                "cores" => settings.cores = between(0.0, 1e7)? as u32,
                "lease" => settings.lease = between(0.1, 3600.0)?,
                "period" => settings.period = between(0.1, 3600.0)?,
                "settle" => settings.settle = between(0.0, 3600.0)?,
                "move.cost" => settings.move_cost = between(0.0, 3600.0)?,
                "dwell" => settings.dwell = between(0.0, 3600.0)?,
                "probation" => settings.probation = between(0.0, 3600.0)?,
                "expect" => settings.expect = between(0.0, 3600.0)?,
                "turn" => settings.turn = between(0.1, 86400.0)?,
                "grace" => settings.grace = between(0.0, 3600.0)?,
                "fairness" => settings.fairness = between(0.0, 1.0)?,
                _ => {
                    let known =
                        "cores, lease, period, settle, move.cost, dwell, probation, expect, turn, grace, fairness";
                    return Err(Error::config(key, value, format!("one of {known}")));
                }
            }
        }
        match map.contains_key("cores") {
            true => Ok(settings),
            false => Err(Error::config("cores", "(none)", "a number from 0 to 10000000")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_numbers_or_text() {
        let settings = Settings::from_json(r#"{"cores": "8", "lease": 2.5, "move.cost": "1"}"#).unwrap();
        assert_eq!((settings.cores, settings.lease, settings.move_cost), (8, 2.5, 1.0));
        assert_eq!(Settings::from_json(r#"{"cores": 8}"#).unwrap(), Settings::new(8));
    }

    #[test]
    fn mistakes_name_key_value_and_what_is_allowed() {
        for (text, parts) in [
            ("[]", ["arbiter settings", "[]", "JSON object"]),
            (r#"{"lease": 5}"#, ["cores", "(none)", "0 to 10000000"]),
            (r#"{"cores": 8, "lease": 0}"#, ["lease", "0", "0.1 to 3600"]),
            (r#"{"cores": 8, "fairness": "NaN"}"#, ["fairness", "NaN", "0 to 1"]),
            (r#"{"cores": 8, "leese": 1}"#, ["leese", "1", "one of cores, lease"]),
        ] {
            let message = Settings::from_json(text).unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "{message} lacks {part}");
            }
        }
    }
}
