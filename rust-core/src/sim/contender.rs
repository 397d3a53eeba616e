//! The policies that compete, by name, with engine settings where they have any: `slaq@fairness=0.5,epoch=2`.

use super::discipline::Discipline;
use super::failure::{Failure, Outcome};
use super::planner::Planner;
use super::recorded::Recorded;
use crate::Config;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Names without settings, in the order of the tables.
pub const NAMES: [&str; 8] = ["fifo", "fair", "equal", "progress", "las", "slaq-2017", "slaq", "oracle"];

/// One competitor.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// As given, shown in tables and JSON.
    pub name: String,
    rule: Rule,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Fifo,
    Fair,
    Planned { config: Box<Config>, lend: Option<f64> },
}

impl Contender {
    /// Stock fair: what all others are compared with.
    pub fn fair() -> Contender {
        Contender { name: "fair".to_owned(), rule: Rule::Fair }
    }

    /// Reads `NAME` or `NAME@key=value,key=value`. `common` are settings for every planned policy, which those after `@` override;
    /// the key `lend.delay` (seconds, or `off`) belongs to the scheduler and may be given too.
    ///
    /// # Errors
    /// An unknown name, a key or value the engine refuses.
    pub fn parse(text: &str, common: &[(String, String)], oracle: &Path) -> Outcome<Contender> {
        let (base, settings) = text.split_once('@').map_or((text, None), |(base, settings)| (base, Some(settings)));
        let rule = match base {
            "fifo" | "fair" if settings.is_some() => {
                return Err(Failure::new(format!(
                    "--policies: \"{text}\": {base} is Spark's own and takes no settings"
                )));
            }
            "fifo" => Rule::Fifo,
            "fair" => Rule::Fair,
            name if NAMES.contains(&name) => {
                let own = settings.map_or(Ok(Vec::new()), |settings| {
                    settings.split(',').map(|pair| key_value("--policies", pair)).collect()
                })?;
                planned(if name == "slaq" { "quality" } else { name }, common.iter().cloned().chain(own), oracle)?
            }
            _ => {
                return Err(Failure::new(format!(
                    "--policies: \"{base}\" is not allowed; allowed: {}",
                    NAMES.join(", ")
                )));
            }
        };
        Ok(Contender { name: text.to_owned(), rule })
    }

    /// A fresh discipline for one simulation.
    pub fn discipline(&self, lend_delay: f64) -> Discipline {
        match &self.rule {
            Rule::Fifo => Discipline::Fifo,
            Rule::Fair => Discipline::Fair,
            Rule::Planned { config, lend } => {
                Discipline::Planned(Box::new(Planner::new((**config).clone(), lend.unwrap_or(lend_delay))))
            }
        }
    }
}

fn planned(policy: &str, settings: impl Iterator<Item = (String, String)>, oracle: &Path) -> Outcome<Rule> {
    let mut map = Map::new();
    let mut lend = None;
    for (key, value) in settings {
        if key == "lend.delay" {
            lend = Some(lend_delay("lend.delay", &value)?);
        } else {
            map.insert(key, Value::String(value));
        }
    }
    map.insert("policy".to_owned(), Value::String(policy.to_owned()));
    if policy == "oracle" {
        map.insert("oracle.path".to_owned(), Value::String(oracle.to_string_lossy().into_owned()));
    }
    let config = Config::from_json(&Value::Object(map).to_string()).map_err(|error| Failure::new(error.to_string()))?;
    Ok(Rule::Planned { config: Box::new(config), lend })
}

/// Splits `key=value`.
///
/// # Errors
/// No `=`: the message names the flag.
pub fn key_value(flag: &str, pair: &str) -> Outcome<(String, String)> {
    let (key, value) = pair
        .split_once('=')
        .ok_or_else(|| Failure::new(format!("{flag}: \"{pair}\" is not allowed; allowed: key=value")))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Seconds before unused cores are lent; `off` never lends.
///
/// # Errors
/// Neither: the message names the flag.
pub fn lend_delay(flag: &str, text: &str) -> Outcome<f64> {
    if text == "off" {
        Ok(f64::INFINITY)
    } else {
        super::args::number(flag, text, "seconds >= 0, or off", |delay: f64| delay >= 0.0 && delay.is_finite())
    }
}

/// The recorded losses in the form the oracle reads, in a file of its own that goes away with this value.
#[derive(Debug)]
pub struct OracleFile(PathBuf);

impl OracleFile {
    /// Writes the file into the system's temporary directory.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(curves: &[Recorded]) -> Outcome<OracleFile> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let map: Map<String, Value> =
            curves.iter().map(|curve| (curve.name.clone(), Value::from(curve.losses.clone()))).collect();
        let path = std::env::temp_dir().join(format!(
            "slaq-oracle-{}-{}.json",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        ));
        fs::write(&path, Value::Object(map).to_string()).map_err(|error| Failure::of_path(&path, error))?;
        Ok(OracleFile(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OracleFile {
    fn drop(&mut self) {
        // A file left in the temporary directory does no harm.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Contender::parse(text, &[], Path::new("/oracle")).unwrap_err().to_string()
    }

    #[test]
    fn names_and_settings_are_checked() {
        assert!(message("best").starts_with("--policies: \"best\" is not allowed; allowed: fifo, fair"));
        assert!(message("fair@fairness=1").contains("takes no settings"));
        assert!(message("slaq@fairness").contains("allowed: key=value"));
        assert!(message("slaq@fairness=2").contains("fairness"));
        assert!(
            message("slaq@lend.delay=soon")
                .contains("lend.delay: \"soon\" is not allowed; allowed: seconds >= 0, or off")
        );
    }

    #[test]
    fn settings_after_the_name_override_the_common_ones() {
        let common = [("fairness".to_owned(), "0.25".to_owned())];
        let config = |text| match Contender::parse(text, &common, Path::new("/oracle")).unwrap().rule {
            Rule::Planned { config, .. } => config,
            rule => panic!("{rule:?} is not planned"),
        };
        assert_eq!(config("slaq").fairness, 0.25);
        assert_eq!(config("slaq@fairness=0.5").fairness, 0.5);
        assert_eq!(config("oracle").oracle_path.as_deref(), Some(Path::new("/oracle")));
    }
}
