//! The whole cluster as the arbiter sees it, for people and programs.

use super::plan::Why;
use super::report::{Run, VERSION};
use super::{App, Arbiter};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Arbiter {
    /// Cores, tenants, and every application with target, executors, runs and the reason of its target.
    pub fn status(&self, now: f64) -> Value {
        let mut used: BTreeMap<&str, u64> = self.tenants.names().map(|name| (name, 0)).collect();
        for app in self.apps.values() {
            *used.entry(&app.report.tenant).or_default() +=
                u64::from(app.target.unwrap_or(0)) * u64::from(app.report.cores_per_executor);
        }
        let tenants: Vec<Value> = used
            .iter()
            .map(|(name, cores)| {
                let promise = self.tenants.get(name);
                let maximum = (promise.maximum != u32::MAX).then_some(promise.maximum);
                json!({"tenant": name, "cores": cores, "guaranteed": promise.guaranteed, "maximum": maximum, "weight": promise.weight})
            })
            .collect();
        json!({
            "version": VERSION,
            "cores": self.cores,
            "promised": self.promised(),
            "epoch": self.epoch,
            "hold": seconds((self.hold - now).max(0.0)),
            "nextRound": seconds((self.last_round + self.settings.period - now).max(0.0)),
            "tenants": tenants,
            "apps": self.apps.values().map(|app| self.app(app, now)).collect::<Vec<_>>(),
        })
    }

    fn app(&self, app: &App, now: f64) -> Value {
        let r = &app.report;
        json!({
            "app": r.app,
            "name": r.name,
            "tenant": r.tenant,
            "weight": r.weight,
            "target": app.target,
            "executors": r.executors,
            "coresPerExecutor": r.cores_per_executor,
            "minimum": r.minimum,
            "maximum": r.maximum,
            "wanted": r.wanted,
            "useful": app.demand.useful,
            "reported": seconds(now - (app.expires - self.settings.lease)),
            "reason": self.reason(app, now),
            "runs": r.runs.iter().map(run).collect::<Vec<_>>(),
        })
    }

    /// Why an application has its target, in words.
    pub(super) fn reason(&self, app: &App, now: f64) -> String {
        if now < self.hold && !app.report.fixed {
            return format!("held for {:.0} s more after the arbiter's start", self.hold - now);
        }
        if app.target.is_none() {
            return "not planned yet: keeps what it has".to_owned();
        }
        match app.why {
            Why::Fixed => "does without dynamic allocation".to_owned(),
            Why::Queue(before) => format!("more applications than executors: {before} wait before it"),
            Why::Newcomer => "joined a moment ago: the minimum".to_owned(),
            Why::Idle => "neither trains nor has tasks: the minimum".to_owned(),
            Why::Guarantee => format!("guaranteed to tenant '{}'", app.report.tenant),
            Why::Fair => "its fair share: no gain is predicted, or the cores are shared equally".to_owned(),
            Why::Gain { last, next } => {
                format!(
                    "gain of its last executor {last:.2e}, of one more {next:.2e}, in {:.0} s",
                    self.settings.period
                )
            }
        }
    }
}

fn run(run: &Run) -> Value {
    let most = run.gain.last();
    json!({
        "run": run.run,
        "name": run.name,
        "algorithm": run.algorithm,
        "iteration": run.iteration,
        "loss": run.loss,
        "cores": most.map(|p| p.0),
        "gain": most.map(|p| p.1),
    })
}

/// Rounded to milliseconds, for reading.
fn seconds(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
