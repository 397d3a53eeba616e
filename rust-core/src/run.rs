//! State of one active run: its models and its clocks.

use crate::forecast::{Falls, Forecaster, LossModel};
use crate::gain::{Outlook, Wants, value};
use crate::prior::{Priors, Typical};
use crate::spec::RunSpec;
use crate::speed::{Speed, Stage};
use std::sync::Arc;

/// Losses from which on the forecast is believed rather than the typical curve.
const ENOUGH: u32 = 4;
/// Losses at which forecast and typical curve count alike in how far the run will fall at all.
const YOUNG: f64 = 4.0;
/// Weight against the forecast of the course of earlier runs, once many were seen.
const KEPT: f64 = 0.8;
/// Bounds of what a run has ahead before its first loss, in iterations.
const MOST_LEAD: f64 = 20.0;
const LEAST_LEAD: f64 = 1.0;
/// Iterations ahead that stand for the end of a run that states none.
const FAR: f64 = 100.0;

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub spec: RunSpec,
    pub model: LossModel,
    /// Of its iterations; while none has ended, what is expected of them.
    pub speed: Speed,
    /// Of the iteration after the first loss.
    first: Speed,
    /// Recorded losses, for the oracle.
    pub recorded: Option<Arc<[f64]>>,
    /// Value of h more iterations.
    value: Falls,
    /// Core-seconds of finished stages.
    pub service: f64,
    /// Those before the first loss.
    preparation: f64,
    /// When the last iteration ended, or the run started.
    since: f64,
    /// Last time that it had a core.
    pub served: f64,
}

impl Run {
    pub fn new(spec: RunSpec, recorded: Option<Arc<[f64]>>, now: f64) -> Run {
        Run {
            spec,
            model: LossModel::default(),
            speed: Speed::default(),
            first: Speed::default(),
            recorded,
            value: Falls::tabulate(|_| 0.0),
            service: 0.0,
            preparation: 0.0,
            since: now,
            served: now,
        }
    }

    /// Losses taken in; those that are not finite do not count.
    pub fn points(&self) -> u32 {
        self.model.history().points()
    }

    /// Work without a loss.
    pub fn observe(&mut self, stages: &[Stage]) {
        self.service += stages.iter().map(|s| s.task_seconds).filter(|s| s.is_finite() && *s > 0.0).sum::<f64>();
        for stage in stages {
            match self.points() {
                0 => self.expect(stage),
                1 => self.first.observe(stage),
                _ => self.speed.observe(stage),
            }
        }
    }

    /// What comes before the first loss (reading, caching, statistics) is not an iteration, but its heaviest stage goes
    /// over the data as an iteration will: its cost serves until one is known. A single task may only have looked at the
    /// first rows.
    fn expect(&mut self, stage: &Stage) {
        if stage.tasks > 1 && stage.task_seconds > self.speed.work().unwrap_or(0.0) {
            self.speed = Speed::default();
            self.speed.observe(stage);
            self.speed.end(stage.span_seconds, 1);
        }
    }

    /// The most cores that its work so far could use; no limit while nothing was seen of it.
    pub fn width(&self) -> u32 {
        self.speed.most_useful().unwrap_or(u32::MAX)
    }

    /// An iteration ended with this loss.
    pub fn report(&mut self, iteration: u32, loss: f64, now: f64, stages: &[Stage]) {
        self.observe(stages);
        let done = self.model.history().last().map_or(1, |(k, _)| iteration.saturating_sub(k));
        if done > 0 {
            match self.points() {
                0 => self.preparation = self.service,
                known => {
                    if known == 1 {
                        self.speed = std::mem::take(&mut self.first);
                    }
                    self.speed.end(now - self.since, done);
                }
            }
            self.since = now;
        }
        self.model.push(iteration, if self.spec.maximise { -loss } else { loss });
    }

    /// What came before the first loss, in iterations; known once the second loss is.
    pub fn lead(&self) -> Option<f64> {
        let work = self.speed.work().filter(|w| *w > 0.0 && self.points() == 2)?;
        Some((self.preparation / work).min(MOST_LEAD))
    }

    /// The iteration at which the run stands, counted from its first loss; below 0 while it prepares.
    fn at(&self, lead: f64) -> f64 {
        match (self.model.history().first(), self.model.history().last()) {
            (Some((k0, _)), Some((k, _))) => f64::from(k - k0),
            _ => {
                let done = self.speed.work().filter(|w| *w > 0.0).map_or(0.0, |work| self.service / work);
                -(lead - done).max(LEAST_LEAD)
            }
        }
    }

    /// Iterations that are left at most.
    fn left(&self) -> f64 {
        let done = self.model.history().last().map_or(0, |(k, _)| k);
        self.spec.max_iterations.map_or(f64::INFINITY, |most| f64::from(most.saturating_sub(done)).max(1.0))
    }

    /// Iterations that are left, by the run's own limit or else by the length of earlier runs of its kind.
    fn expected_left(&self, typical: &Typical) -> f64 {
        let done = self.model.history().last().map_or(0.0, |(k, _)| f64::from(k));
        let usual = (typical.iterations() - done).max(0.25 * done).max(5.0);
        self.left().min(usual).max(1.0)
    }

    /// Values the run anew after its losses, its preparation or the typical curves have changed. `lead` = iterations for
    /// which a run usually prepares.
    pub fn revalue(&mut self, priors: &Priors, lead: f64, height: f64, wants: Wants, oracle: bool) {
        let history = self.model.history();
        if let Some(losses) = self.recorded.as_ref().filter(|_| oracle) {
            let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
            let scale = 1.0 / (losses[0] - best).max(f64::MIN_POSITIVE);
            let k = history.last().map_or(self.at(lead), |(k, _)| f64::from(k));
            let at = |k: f64| interpolate(losses, k);
            let left = (losses.len() - 1) as f64 - k;
            self.value = value((at(k) - best) * scale, |ahead| (at(k) - at(k + ahead)) * scale, left.max(1.0), wants);
            return;
        }
        let typical = priors.typical(&self.spec.algorithm, history);
        let (most, left) = (self.left(), self.expected_left(&typical));
        self.value = match (history.first(), history.last()) {
            (Some((k0, first)), Some((k, last))) if history.points() >= ENOUGH => {
                let (range, trust) = (self.range(first - last, &typical), 1.0 - KEPT * typical.reliance());
                let falls = self.model.falls();
                let k = f64::from(k - k0);
                // A run that stalls may still do what others of its kind did.
                let fall = |ahead: f64| {
                    let ahead = ahead.min(most);
                    trust * falls.at(ahead) / range + (1.0 - trust) * (typical.at(k) - typical.at(k + ahead)).max(0.0)
                };
                value((1.0 - (first - last) / range).clamp(0.0, 1.0), fall, left, wants)
            }
            _ => {
                let k = self.at(lead);
                let at = |k: f64| typical.at(k.max(0.0));
                value(at(k), |ahead| at(k) - at(k + ahead), left, wants).times(height)
            }
        };
    }

    /// Whole loss reduction that the run is expected to make, > 0; infinite when nothing has fallen or is expected to.
    fn range(&self, fallen: f64, typical: &Typical) -> f64 {
        let history = self.model.history();
        let forecast = self.model.falls().at(self.left().min(FAR));
        let (k0, k) = (history.first().map_or(0, |f| f.0), history.last().map_or(0, |l| l.0));
        let left = typical.at(f64::from(k - k0)).clamp(0.0, 0.95);
        let fallen = fallen.max(0.0);
        let usual = fallen * left / (1.0 - left);
        let young = YOUNG / (YOUNG + f64::from(self.points()));
        let trust = 1.0 - young.max(KEPT * typical.reliance());
        let range = fallen + trust * forecast + (1.0 - trust) * usual;
        if range > 0.0 { range } else { f64::INFINITY }
    }

    /// What a plan needs to know; `guess` = core-seconds of an iteration of a run that is not known yet.
    pub fn outlook(&self, guess: f64) -> Outlook {
        Outlook { value: self.value.times(self.spec.weight), speed: self.speed.clone(), guess }
    }

    /// Too few losses for a forecast of its own.
    pub fn young(&self) -> bool {
        self.points() < ENOUGH
    }

    /// Part of the expected reduction that is still to come, 1 at the start; None before the first loss.
    pub fn normalised_loss(&self) -> Option<f64> {
        let history = self.model.history();
        let (first, last) = (history.first()?.1, history.last()?.1);
        let to_come = self.model.falls().at(self.left().min(FAR));
        let range = first - last + to_come;
        (range > 0.0).then(|| (to_come / range).clamp(0.0, 1.0))
    }
}

fn interpolate(losses: &[f64], k: f64) -> f64 {
    let end = losses.len() - 1;
    let below = (k.max(0.0) as usize).min(end);
    let above = (below + 1).min(end);
    let part = (k - below as f64).clamp(0.0, 1.0);
    losses[below] + part * (losses[above] - losses[below])
}
