//! What a driver tells the arbiter: one JSON object, read with suspicion.
//!
//! Anything that is not a report is refused as a whole and changes nothing. Within a report, a number that makes no
//! sense is taken as its harmless value (no gain, weight 1), because the report still says that the driver is alive.

use crate::error::{Error, Result};
use serde_json::{Map, Value};

/// The version of the messages; a higher one is refused, so that old arbiters say so instead of guessing.
pub const VERSION: u64 = 1;

/// Longest message in bytes: a thousand runs with their gains are about a tenth of it.
pub const LONGEST: usize = 4 << 20;

/// Most executors of one application that are planned for.
pub const MOST_EXECUTORS: u32 = 65_536;

const MOST_POINTS: usize = 64;
const MOST_TEXT: usize = 256;

/// One application as it sees itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Unique identity, Spark's application id.
    pub app: String,
    /// What people call it.
    pub name: String,
    /// Who pays for it; see [`Tenants`](super::Tenants).
    pub tenant: String,
    /// Weight among the applications, > 0, default 1.
    pub weight: f64,
    /// Cores of one executor, at least 1: targets are whole executors.
    pub cores_per_executor: u32,
    /// Executors that it must have, at least 1.
    pub minimum: u32,
    /// Executors that it may have.
    pub maximum: u32,
    /// Executors that it has.
    pub executors: u32,
    /// Executors that Spark's own dynamic allocation would ask for now.
    pub wanted: u32,
    /// Its executors are not ours to change: it does without dynamic allocation.
    pub fixed: bool,
    /// It can give back its last executor without losing cached blocks or shuffle output.
    pub pausable: bool,
    /// It ends: whatever it held is free.
    pub bye: bool,
    /// Trainings that are under way.
    pub runs: Vec<Run>,
}

/// One training run of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number within the application.
    pub run: i64,
    /// What people call it.
    pub name: String,
    /// Its algorithm.
    pub algorithm: String,
    /// Iterations done.
    pub iteration: u64,
    /// Loss after them; None before the first, or when the algorithm has none.
    pub loss: Option<f64>,
    /// Whether the gain is a forecast: not before the first loss, and not for algorithms without one. Such runs are owed
    /// their fair share.
    pub predicted: bool,
    /// Predicted normalised loss reduction over the arbiter's horizon: (cores, gain), both rising, gain ≥ 0.
    pub gain: Vec<(u32, f64)>,
}

/// What may be said to an arbiter.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// An application reports, and wants its target.
    Report(Report),
    /// `{"version":1,"ask":"status"}`: somebody wants to know how things are.
    Status,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// [`Error::Spec`] for what is not a message of a known version, with the reason.
    pub fn parse(message: &[u8]) -> Result<Message> {
        if message.len() > LONGEST {
            return Err(refused(format!("{} bytes: allowed are at most {LONGEST}", message.len())));
        }
        let value: Value = serde_json::from_slice(message).map_err(|e| refused(format!("not JSON: {e}")))?;
        let map = value.as_object().ok_or_else(|| refused("not a JSON object"))?;
        let version = map.get("version").and_then(Value::as_u64);
        if version != Some(VERSION) {
            return Err(refused(format!(
                "version = {}: allowed is {VERSION}",
                map.get("version").unwrap_or(&Value::Null)
            )));
        }
        match map.get("ask") {
            None => Report::read(map).map(Message::Report),
            Some(ask) if ask == "status" => Ok(Message::Status),
            Some(ask) => Err(refused(format!("ask = {ask}: allowed is status"))),
        }
    }
}

impl Report {
    /// Reads a message that must be a report.
    ///
    /// # Errors
    /// Those of [`Message::parse`], and [`Error::Spec`] for a message of another kind.
    pub fn parse(message: &[u8]) -> Result<Report> {
        match Message::parse(message)? {
            Message::Report(report) => Ok(report),
            Message::Status => Err(refused("not a report")),
        }
    }

    fn read(map: &Map<String, Value>) -> Result<Report> {
        let app = text(map, "app").ok_or_else(|| refused("app is missing"))?;
        let cores_per_executor = count(map, "coresPerExecutor").unwrap_or(1).clamp(1, 4096);
        let minimum = count(map, "minimum").unwrap_or(1).clamp(1, MOST_EXECUTORS);
        Ok(Report {
            name: text(map, "name").unwrap_or_else(|| app.clone()),
            tenant: text(map, "tenant").unwrap_or_default(),
            weight: weight(map),
            cores_per_executor,
            minimum,
            maximum: count(map, "maximum").unwrap_or(MOST_EXECUTORS).clamp(minimum, MOST_EXECUTORS),
            executors: count(map, "executors").unwrap_or(0).min(MOST_EXECUTORS),
            wanted: count(map, "wanted").unwrap_or(0).min(MOST_EXECUTORS),
            fixed: flag(map, "fixed"),
            pausable: flag(map, "pausable"),
            bye: flag(map, "bye"),
            runs: map
                .get("runs")
                .and_then(Value::as_array)
                .map(|runs| runs.iter().filter_map(Value::as_object).map(run).collect())
                .unwrap_or_default(),
            app,
        })
    }
}

fn refused(reason: impl Into<String>) -> Error {
    Error::Spec(reason.into())
}

fn run(map: &Map<String, Value>) -> Run {
    let algorithm = text(map, "algorithm").unwrap_or_default();
    Run {
        run: map.get("run").and_then(Value::as_i64).unwrap_or(0),
        name: text(map, "name").unwrap_or_else(|| algorithm.clone()),
        algorithm,
        iteration: map.get("iteration").and_then(Value::as_u64).unwrap_or(0),
        loss: number(map, "loss"),
        predicted: map.get("predicted").and_then(Value::as_bool).unwrap_or(true),
        gain: gains(map.get("gain")),
    }
}

/// Pairs in rising order of cores whose gain is finite and never falls; the rest is dropped.
fn gains(value: Option<&Value>) -> Vec<(u32, f64)> {
    let Some(pairs) = value.and_then(Value::as_array) else { return Vec::new() };
    let mut points: Vec<(u32, f64)> = pairs
        .iter()
        .take(MOST_POINTS)
        .filter_map(|pair| {
            let cores = u32::try_from(pair.get(0)?.as_u64()?).ok().filter(|&c| c > 0)?;
            let gain = pair.get(1)?.as_f64().filter(|g| g.is_finite() && *g >= 0.0)?;
            // A normalised reduction above 1 is possible (a loss that falls further than ever before), a large one is
            // a mistake that must not buy the cluster.
            Some((cores, gain.min(10.0)))
        })
        .collect();
    points.sort_by_key(|p| p.0);
    points.dedup_by_key(|p| p.0);
    let mut best = 0.0_f64;
    for point in &mut points {
        best = best.max(point.1);
        point.1 = best;
    }
    points
}

fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    let text = map.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.chars().filter(|c| !c.is_control()).take(MOST_TEXT).collect())
}

fn number(map: &Map<String, Value>, key: &str) -> Option<f64> {
    map.get(key)?.as_f64().filter(|v| v.is_finite())
}

fn count(map: &Map<String, Value>, key: &str) -> Option<u32> {
    map.get(key)?.as_u64().map(|v| u32::try_from(v).unwrap_or(u32::MAX))
}

fn flag(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn weight(map: &Map<String, Value>) -> f64 {
    number(map, "weight").filter(|w| (1e-3..=1e3).contains(w)).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_report_is_read() {
        let report = Report::parse(
            br#"{"version":1,"app":"a-1","name":"digits","tenant":"ann","weight":2,"coresPerExecutor":2,"minimum":1,
                "maximum":4,"executors":3,"wanted":4,"fixed":false,"pausable":true,"runs":[{"run":7,"name":"lr",
                "algorithm":"LogisticRegression","iteration":12,"loss":0.5,"predicted":true,"gain":[[1,0.1],[4,0.3],[2,0.2]]}]}"#,
        )
        .unwrap();
        assert_eq!((report.app.as_str(), report.tenant.as_str(), report.weight), ("a-1", "ann", 2.0));
        assert_eq!((report.cores_per_executor, report.minimum, report.maximum), (2, 1, 4));
        assert_eq!((report.executors, report.wanted, report.pausable, report.bye), (3, 4, true, false));
        assert_eq!(report.runs[0].gain, [(1, 0.1), (2, 0.2), (4, 0.3)]);
        assert_eq!(report.runs[0].loss, Some(0.5));
    }

    #[test]
    fn numbers_without_sense_are_harmless() {
        let report = Report::parse(
            br#"{"version":1,"app":"a","weight":-3,"coresPerExecutor":0,"minimum":9,"maximum":2,"executors":-5,
                "runs":[{"run":1,"loss":null,"gain":[[1,null],[2,"NaN"],[0,5],[3,1e300],[4,-1],[5],7]},8]}"#,
        )
        .unwrap();
        assert_eq!((report.weight, report.cores_per_executor), (1.0, 1));
        assert_eq!((report.minimum, report.maximum, report.executors), (9, 9, 0));
        assert_eq!(report.runs.len(), 1);
        assert_eq!(report.runs[0].gain, [(3, 10.0)]);
    }

    #[test]
    fn what_is_no_report_is_refused_with_the_reason() {
        for (message, reason) in [
            (&b"\x00\xff garbage"[..], "not JSON"),
            (b"{\"version\":1,\"app\":\"a\",\"weight\":NaN}", "not JSON"),
            (b"[]", "not a JSON object"),
            (b"{\"app\":\"a\"}", "version = null: allowed is 1"),
            (b"{\"version\":2,\"app\":\"a\"}", "version = 2: allowed is 1"),
            (b"{\"version\":1}", "app is missing"),
            (b"{\"version\":1,\"ask\":\"secrets\"}", "allowed is status"),
            (b"{\"version\":1,\"ask\":\"status\"}", "not a report"),
        ] {
            let error = Report::parse(message).unwrap_err().to_string();
            assert!(error.contains(reason), "{error} lacks {reason}");
        }
        assert!(Report::parse(&vec![b' '; LONGEST + 1]).unwrap_err().to_string().contains("at most"));
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        assert!(Report::parse("[".repeat(1_000_000).as_bytes()).is_err());
    }
}
