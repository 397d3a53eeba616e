//! State of one active run: its models and its clocks.

use crate::forecast::{Forecaster, LossModel};
use crate::gain::{Course, Outlook};
use crate::prior::Priors;
use crate::spec::RunSpec;
use crate::speed::{Speed, Stage};
use std::sync::Arc;

/// Losses from which on the forecast is believed rather than the typical curve.
const ENOUGH: u32 = 4;
/// Iterations ahead that stand for the end of a run that states none.
const FAR: f64 = 100.0;

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub spec: RunSpec,
    pub model: LossModel,
    pub speed: Speed,
    /// Recorded losses, for the oracle.
    pub recorded: Option<Arc<[f64]>>,
    /// Core-seconds of finished stages.
    pub service: f64,
    /// When the last iteration ended, or the run started.
    since: f64,
    /// Stages since then.
    stages: Vec<Stage>,
    /// Last time that it had a core.
    pub served: f64,
    pub reports: u32,
}

impl Run {
    pub fn new(spec: RunSpec, recorded: Option<Arc<[f64]>>, now: f64) -> Run {
        Run {
            spec,
            model: LossModel::default(),
            speed: Speed::default(),
            recorded,
            service: 0.0,
            since: now,
            stages: Vec::new(),
            served: now,
            reports: 0,
        }
    }

    /// Work without a loss.
    pub fn observe(&mut self, stages: &[Stage]) {
        self.service += stages.iter().map(|s| s.task_seconds).filter(|s| s.is_finite() && *s > 0.0).sum::<f64>();
        // A run that reports nothing for long must not grow.
        if self.stages.len() + stages.len() <= 64 {
            self.stages.extend_from_slice(stages);
        }
    }

    /// An iteration ended with this loss.
    pub fn report(&mut self, iteration: u32, loss: f64, now: f64, stages: &[Stage]) {
        self.observe(stages);
        let done = self.model.history().last().map_or(1, |(k, _)| iteration.saturating_sub(k));
        // What came before the first loss (reading, caching, statistics) is not an iteration: it serves until one is known.
        if self.reports == 1 {
            self.speed = Speed::default();
        }
        if done > 0 {
            self.speed.observe(&self.stages, now - self.since, done);
            self.stages.clear();
            self.since = now;
        }
        self.model.push(iteration, if self.spec.maximise { -loss } else { loss });
        self.reports = self.reports.saturating_add(1);
    }

    /// Iterations that are left at most.
    fn left(&self) -> f64 {
        let done = self.model.history().last().map_or(0, |(k, _)| k);
        self.spec.max_iterations.map_or(f64::INFINITY, |most| f64::from(most.saturating_sub(done)).max(1.0))
    }

    /// What a plan needs to know; `guess` = core-seconds of an iteration of a run that is not known yet.
    pub fn outlook(&self, priors: &Priors, height: f64, guess: f64, oracle: bool) -> Outlook {
        let history = self.model.history();
        let left = self.left();
        let iteration = history.last().map_or(0.0, |(k, _)| f64::from(k));
        let common = |course, value: f64| Outlook {
            course,
            iteration,
            left,
            value: value * self.spec.weight,
            speed: self.speed.clone(),
            guess,
        };
        if let Some(losses) = self.recorded.as_ref().filter(|_| oracle) {
            let range = losses[0] - losses.iter().copied().fold(f64::INFINITY, f64::min);
            return common(Course::Recorded(losses.clone()), if range > 0.0 { 1.0 / range } else { 0.0 });
        }
        let typical = priors.curve(&self.spec.algorithm);
        match (history.first(), history.last(), self.model.curve()) {
            (Some((k0, first)), Some((k, last)), Some(curve)) if history.points() >= ENOUGH => {
                let fallen = (first - last).max(0.0);
                let to_come = curve.fall(f64::from(k), left.min(FAR));
                // The typical curve bounds how much may be expected to come: a lucky forecast is no reason for a grab.
                let typical_left = typical.at(f64::from(k - k0)).clamp(0.0, 0.95);
                let range = fallen + to_come.min(fallen / (1.0 - typical_left) * 2.0);
                common(Course::Curve(curve), if range > 0.0 { 1.0 / range } else { 0.0 })
            }
            _ => common(Course::Curve(typical), height),
        }
    }

    /// Too few losses for a forecast of its own.
    pub fn young(&self) -> bool {
        self.model.history().points() < ENOUGH
    }

    /// Part of the expected reduction that is still to come, 1 at the start; None before the first loss.
    pub fn normalised_loss(&self) -> Option<f64> {
        let history = self.model.history();
        let ((_, first), (k, last)) = (history.first()?, history.last()?);
        let to_come = self.model.curve()?.fall(f64::from(k), self.left().min(FAR));
        let range = first - last + to_come;
        (range > 0.0).then(|| (to_come / range).clamp(0.0, 1.0))
    }
}
