//! One planner for the applications of a cluster: reports in, targets out.
//!
//! Each driver reports every few seconds ([`Report`]) and is answered at once with its target, a number of executors.
//! Targets move in *rounds*, tens of seconds apart, because moving an executor costs seconds; in between, [`Arbiter::tick`]
//! only seats newcomers and hands out what has become free. The clock is an argument everywhere: seconds, any origin,
//! not going back.
//!
//! An application is remembered for one *lease* after its last report. For one lease after the arbiter's own start
//! nothing moves: it knows only those applications that have reported again, and would give them everything.

mod demand;
mod plan;
mod report;
mod settings;
mod status;
mod tenants;

pub use demand::Demand;
pub use report::{LONGEST, Message, Report, Run, VERSION};
pub use settings::Settings;
pub use tenants::{Tenant, Tenants};

use crate::error::Result;
use plan::{Claim, Cluster, Decision, Why, plan};
use serde_json::json;
use std::collections::BTreeMap;

/// Growth that is not a round: enough to rank who gets what is free, too little to take from anybody.
const FREE_ONLY: f64 = 1e-6;

/// Lines of the journal that are kept between two ticks; more is summed up, so that a storm cannot fill a log.
const JOURNAL: usize = 50;

/// The state of the arbiter.
#[derive(Debug)]
pub struct Arbiter {
    settings: Settings,
    tenants: Tenants,
    cores: u32,
    apps: BTreeMap<String, App>,
    /// Plans made.
    epoch: u64,
    /// Until when nothing moves after the start.
    hold: f64,
    last_round: f64,
    /// Something happened that the next tick must plan for.
    changed: bool,
    /// Trainings came or went: worth a round before its time.
    runs_changed: bool,
    /// When that is worth a second round: the first could not take from whoever had grown a moment ago.
    second_round: Option<f64>,
    journal: Vec<String>,
    unsaid: usize,
}

/// What is known of one application.
#[derive(Debug)]
struct App {
    report: Report,
    demand: Demand,
    joined: f64,
    /// When it is forgotten unless it reports.
    expires: f64,
    newcomer: bool,
    /// Has not trained yet and is expected to.
    expected: bool,
    /// None until it is planned for: it keeps what it has.
    target: Option<u32>,
    why: Why,
    grown: f64,
    shrunk: f64,
    /// When it got its first executor or last began to wait.
    since: f64,
}

impl App {
    /// Until when it keeps what it grew by.
    fn fresh_until(&self, dwell: f64) -> f64 {
        self.grown + dwell
    }
}

impl Arbiter {
    /// An arbiter without applications.
    pub fn new(settings: Settings, now: f64) -> Arbiter {
        Arbiter {
            cores: settings.cores,
            tenants: Tenants::default(),
            apps: BTreeMap::new(),
            epoch: 0,
            hold: now + settings.lease,
            last_round: now,
            changed: false,
            runs_changed: false,
            second_round: None,
            journal: Vec::new(),
            unsaid: 0,
            settings,
        }
    }

    /// Takes a message and answers it. A report is answered with
    /// `{"version":1,"target":4,"epoch":7,"hold":false,"cores":8,"period":20,"reason":"…"}`, where a target of null means to
    /// keep what one has, and cores and period say up to where gains are of interest; a question with the
    /// [status](Arbiter::status). What is no message is answered with `{"version":1,"error":"…"}` and changes nothing.
    pub fn receive(&mut self, message: &[u8], now: f64) -> Answer {
        match Message::parse(message) {
            Ok(Message::Report(report)) => {
                let app = report.app.clone();
                if report.bye {
                    self.leave(&app, "ended");
                } else {
                    self.update(report, now);
                }
                Answer { text: self.answer(&app, now).to_string(), app: Some(app) }
            }
            Ok(Message::Status) => Answer { app: None, text: self.status(now).to_string() },
            Err(error) => {
                Answer { app: None, text: json!({"version": VERSION, "error": error.to_string()}).to_string() }
            }
        }
    }

    fn answer(&self, app: &str, now: f64) -> serde_json::Value {
        json!({
            "version": VERSION,
            "target": self.apps.get(app).map_or(Some(0), |a| a.target),
            "epoch": self.epoch,
            "hold": now < self.hold,
            "cores": self.cores,
            "period": self.settings.period,
            "reason": self.apps.get(app).map_or_else(|| "ended".to_owned(), |a| self.reason(a, now)),
        })
    }

    fn update(&mut self, report: Report, now: f64) {
        let most = self.cores / report.cores_per_executor;
        let demand = Demand::of(&report, most);
        let expires = now + self.settings.lease;
        match self.apps.get_mut(&report.app) {
            Some(app) => {
                let runs = |r: &Report| r.runs.iter().map(|run| run.run).collect::<Vec<_>>();
                if runs(&app.report) != runs(&report) {
                    self.runs_changed = true;
                }
                self.changed |= demand.active(&report) != app.demand.active(&app.report)
                    || (report.minimum, report.maximum, report.fixed, report.cores_per_executor, &report.tenant)
                        != (
                            app.report.minimum,
                            app.report.maximum,
                            app.report.fixed,
                            app.report.cores_per_executor,
                            &app.report.tenant,
                        )
                    || report.runs.is_empty()
                        && report.wanted > app.target.unwrap_or(0)
                        && report.wanted > app.report.wanted;
                app.expected &= report.runs.is_empty();
                (app.report, app.demand, app.expires) = (report, demand, expires);
            }
            None => self.join(report, demand, now),
        }
    }

    /// Whoever brings executors along is no newcomer but returns, after our restart or its own silence: it keeps them as
    /// far as nobody else has been promised the cores.
    fn join(&mut self, report: Report, demand: Demand, now: f64) {
        let per = report.cores_per_executor;
        let wish = if report.fixed { report.executors } else { report.executors.max(report.minimum) };
        let fits = wish.min(self.free() / per);
        let target = (report.fixed || fits >= report.minimum).then_some(if report.fixed { wish } else { fits });
        self.say(format!(
            "{} ({}, tenant '{}') joins with {} executors of {per} cores",
            report.app, report.name, report.tenant, report.executors
        ));
        self.changed = true;
        let app = App {
            newcomer: report.executors == 0,
            expected: report.executors == 0 && report.runs.is_empty(),
            joined: now,
            expires: now + self.settings.lease,
            target,
            why: Why::Newcomer,
            grown: f64::NEG_INFINITY,
            shrunk: f64::NEG_INFINITY,
            since: now,
            demand,
            report,
        };
        self.apps.insert(app.report.app.clone(), app);
    }

    /// Cores that no target takes.
    fn free(&self) -> u32 {
        u64::from(self.cores).saturating_sub(self.promised()) as u32
    }

    fn promised(&self) -> u64 {
        self.apps.values().map(|a| u64::from(a.target.unwrap_or(0)) * u64::from(a.report.cores_per_executor)).sum()
    }

    fn leave(&mut self, app: &str, why: &str) {
        if self.apps.remove(app).is_some() {
            self.say(format!("{app} leaves: {why}"));
            self.changed = true;
        }
    }

    /// The connection of an application broke. It may be a flap, so that it has a moment to come back.
    pub fn disconnected(&mut self, app: &str, now: f64) {
        if let Some(app) = self.apps.get_mut(app) {
            app.expires = app.expires.min(now + self.settings.grace);
        }
    }

    /// The cluster has this many cores now.
    pub fn set_cores(&mut self, cores: u32) {
        if cores != self.cores {
            self.say(format!("the cluster has {cores} cores, before {}", self.cores));
            self.cores = cores;
            self.changed = true;
        }
    }

    /// Replaces the tenants by those in this text; see [`Tenants::from_json`].
    ///
    /// # Errors
    /// Those of [`Tenants::from_json`]; the tenants stay as they were.
    pub fn set_tenants(&mut self, text: &str) -> Result<()> {
        let tenants = Tenants::from_json(text, self.cores)?;
        if tenants != self.tenants {
            self.tenants = tenants;
            self.changed = true;
        }
        Ok(())
    }

    /// Forgets who is silent and plans when there is reason to; call it a few times a second. Returns what happened since
    /// the last time, in words, for a log.
    pub fn tick(&mut self, now: f64) -> Vec<String> {
        let silent: Vec<String> =
            self.apps.values().filter(|a| a.expires <= now).map(|a| a.report.app.clone()).collect();
        for app in silent {
            self.leave(&app, "silent");
        }
        for app in self.apps.values_mut() {
            let (age, before) = (now - app.joined, (app.newcomer, app.expected));
            app.newcomer &= age < self.settings.probation;
            app.expected &= age < self.settings.expect;
            self.changed |= before != (app.newcomer, app.expected);
        }
        let since = now - self.last_round;
        let round = now >= self.hold
            && !self.apps.is_empty()
            && (since >= self.settings.period
                || self.runs_changed && since >= self.settings.settle
                || self.second_round.is_some_and(|at| now >= at));
        let waiting = self.apps.values().any(|a| a.target.is_none_or(|t| t == 0) && !a.report.fixed);
        if round || self.changed || waiting {
            self.replan(round, now);
        }
        let mut said = std::mem::take(&mut self.journal);
        if self.unsaid > 0 {
            said.push(format!("… and {} more", std::mem::take(&mut self.unsaid)));
        }
        said
    }

    fn replan(&mut self, round: bool, now: f64) {
        self.changed = false;
        if round {
            self.last_round = now;
            let fresh_until = self.apps.values().map(|a| a.fresh_until(self.settings.dwell)).fold(now, f64::max);
            self.second_round = (self.runs_changed && fresh_until > now).then_some(fresh_until);
            self.runs_changed = false;
        }
        let names: Vec<String> = {
            let mut names: Vec<String> = self.apps.values().map(|a| a.report.tenant.clone()).collect();
            names.sort();
            names.dedup();
            names
        };
        let cluster = Cluster {
            cores: self.cores,
            tenants: names.iter().map(|n| self.tenants.get(n)).collect(),
            fairness: self.settings.fairness,
            turn: self.settings.turn,
            now,
        };
        let growth = |app: &App| match round && now - app.shrunk >= self.settings.dwell {
            true => 1.0 - (self.settings.move_cost / self.settings.period).min(0.9),
            false => FREE_ONLY,
        };
        let claims: Vec<Claim> = self
            .apps
            .values()
            .map(|app| Claim {
                report: &app.report,
                demand: &app.demand,
                tenant: names.binary_search(&app.report.tenant).unwrap_or(0),
                current: app.target.unwrap_or(0),
                newcomer: app.newcomer,
                expected: app.expected,
                // While holding, what an application has is as good as promised.
                fresh: now < self.hold || now < app.fresh_until(self.settings.dwell),
                growth: growth(app),
                since: app.since,
            })
            .collect();
        let decisions = plan(&cluster, &claims);
        self.epoch += 1;
        self.adopt(&decisions, now);
    }

    fn adopt(&mut self, decisions: &[Decision], now: f64) {
        let mut lines = Vec::new();
        let hold = now < self.hold;
        let mut free = self.free();
        for (app, decision) in self.apps.values_mut().zip(decisions) {
            let before = app.target.unwrap_or(0);
            let target = match hold && !app.report.fixed {
                // Nobody shrinks, and only who has nothing gets the minimum, out of what nobody is known to have.
                true if before > 0 => before,
                true => decision.target.min(app.report.minimum).min(free / app.report.cores_per_executor),
                false => decision.target,
            };
            if target > before {
                app.grown = now;
            } else if target < before {
                app.shrunk = now;
            }
            if hold {
                free -= (target.saturating_sub(before) * app.report.cores_per_executor).min(free);
            }
            if (target == 0) != (before == 0) {
                app.since = now;
            }
            app.why = decision.why;
            app.target = Some(target);
            if target != before {
                lines.push(format!("{}: {before} -> {target} executors", app.report.app));
            }
        }
        for line in lines {
            self.say(line);
        }
    }

    fn say(&mut self, line: String) {
        if self.journal.len() < JOURNAL {
            self.journal.push(line);
        } else {
            self.unsaid += 1;
        }
    }
}

/// An answer to a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Who reported; None for anything else.
    pub app: Option<String>,
    /// JSON to send back.
    pub text: String,
}

#[cfg(test)]
#[path = "arbiter/arbiter_tests.rs"]
mod tests;
