//! What a run's loss will be h iterations from now, with an error bound.
//!
//! Several methods are asked at every report. Each is remembered for what it said 1, 5 and 10 iterations ago, and is
//! given weight by how well it did: relative error of the predicted *fall*, which is what runs are ranked by, recency-weighted
//! and capped, so that neither one surprise nor one lucky guess decides; before it did anything, by how well it does on other
//! runs. What is chance in the newest loss is taken out first. The mixture is tabulated at once: a plan looks falls up and never fits.
//!
//! As `slaq forecast` measures it, medians over the curves of `tests/curves`, in brackets those of the paper's authors:
//!
//! | | loss 1 iteration ahead | 10 ahead | 10-step reduction | bound holds |
//! |---|---|---|---|---|
//! | the mixture | 0.36 % (0.02 %) | 2.95 % (0.33 %) | 44 % (10 %) | 87 % (87 %) |
//! | SLAQ 2017 | 1.07 % (0.03 %) | 4.36 % (0.37 %) | 69 % (16 %) | |
//! | the last change goes on | 0.47 % (0.03 %) | 9.34 % (0.96 %) | | |
//!
//! Chosen on every other curve, with the same gain on the rest. Of 78 methods tried (slopes, damped and not, geometrics, trends
//! and fits of several memories) the best on each curve, known only afterwards, still misses the reduction by 31 % and the loss
//! by 2.2 %: losses of mini-batches and plateaus that end do not tell what comes.

use crate::curve::Curve;
use crate::history::{History, WINDOW};
use crate::method::{self, METHODS, Opinions};
use crate::noise::Noise;

/// A predicted loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Expected loss.
    pub loss: f64,
    /// The loss is expected within ± this of it in about nine cases of ten.
    pub bound: f64,
}

/// Anything that is fed a run's losses and predicts the next ones; smaller losses are better.
pub trait Forecaster {
    /// Takes in the loss after an iteration.
    fn push(&mut self, iteration: u32, loss: f64);
    /// The loss `ahead` iterations after the last point; None while there are too few points to say.
    fn forecast(&self, ahead: f64) -> Option<Forecast>;
}

/// Points ahead at which methods are compared.
const AHEAD: [usize; 3] = [1, 5, 10];
const PENDING: usize = AHEAD[0] + AHEAD[1] + AHEAD[2];
/// Weight of the newest comparison: about the last ten decide.
const NEWEST: f64 = 0.1;
/// Errors of the methods in the first twenty iterations per distance: means over every other curve of `tests/curves`.
const USUAL: [[f32; METHODS]; AHEAD.len()] = [[0.65, 0.55, 0.8, 0.95], [0.9, 0.6, 0.8, 0.9], [1.05, 0.6, 0.8, 0.9]];
/// Comparisons as which they count.
const KNOWN: f64 = 2.0;
/// A method's error, the logarithm of 1 + its relative error, counts as this at most.
const WORST: f64 = 3.0;
/// Errors below this are as good as none.
const GOOD: f64 = 0.01;
/// Points below which forecasts are held back.
const FEW: u32 = 16;
/// Part of the distance to the lowest possible loss that may be predicted to fall while points are few.
const BOLD: f64 = 0.75;
/// Part of the truths that the error bound is to cover.
const COVERED: f64 = 0.88;
/// Weight of the newest miss in the mixture's usual one: misses shrink as a run converges.
const LATELY: f64 = 0.5;
/// Step of the error bound's adaptation, in logarithms.
const ADAPT: f64 = 0.3;

/// Predictions that wait for their truth: one ring per distance.
#[derive(Clone, Copy, Debug)]
struct Pending([f32; PENDING]);

impl Pending {
    /// Place of the prediction for distance d made at point n, free again when its truth has come.
    fn place(d: usize, n: u32) -> usize {
        AHEAD[..d].iter().sum::<usize>() + n as usize % AHEAD[d]
    }
}

/// Expected falls at growing distances, not falling with the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Falls([f64; DISTANCES.len()]);

/// Iterations ahead of the table's entries; between them falls are interpolated, beyond the last one they stay.
const DISTANCES: [f64; 18] =
    [0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 22.0, 33.0, 50.0, 75.0, 110.0, 165.0, 250.0, 400.0, 650.0, 1000.0];

impl Falls {
    /// Tabulates a fall over iterations ahead; negative, undefined and sinking values are raised to what came before.
    pub fn tabulate(fall: impl Fn(f64) -> f64) -> Falls {
        let mut so_far: f64 = 0.0;
        Falls(DISTANCES.map(|ahead| {
            if ahead > 0.0 {
                so_far = so_far.max(fall(ahead));
            }
            so_far
        }))
    }

    /// Iterations ahead of the table's entries, rising from 0.
    pub const DISTANCES: [f64; DISTANCES.len()] = DISTANCES;

    /// The table's entries multiplied by a factor ≥ 0.
    pub fn times(mut self, factor: f64) -> Falls {
        for entry in &mut self.0 {
            *entry *= factor;
        }
        self
    }

    /// The best rate from any distance on, as a fall: at h iterations, h × the largest later fall per iteration. Who looks at
    /// it sees what a plateau or a distant step is worth per iteration already now.
    pub fn foreseen(mut self) -> Falls {
        let mut best: f64 = 0.0;
        for (entry, distance) in self.0.iter_mut().zip(DISTANCES).skip(1).rev() {
            best = best.max(*entry / distance);
            *entry = best * distance;
        }
        self
    }

    /// Expected fall over the next `ahead` ≥ 0 iterations, ≥ 0.
    #[inline]
    pub fn at(&self, ahead: f64) -> f64 {
        let above = DISTANCES.partition_point(|d| *d < ahead);
        if above == 0 || above == DISTANCES.len() {
            return self.0[above.min(DISTANCES.len() - 1)];
        }
        let (d0, d1) = (DISTANCES[above - 1], DISTANCES[above]);
        self.0[above - 1] + (ahead - d0) / (d1 - d0) * (self.0[above] - self.0[above - 1])
    }
}

/// The product's forecaster.
#[derive(Clone, Debug)]
pub struct LossModel {
    history: History,
    noise: Noise,
    /// The newest loss without what is taken for chance.
    level: f64,
    opinions: Opinions,
    pending: [Pending; METHODS],
    /// Error of each method per distance, recency-weighted.
    errors: [[f32; METHODS]; AHEAD.len()],
    falls: Falls,
    /// Comparisons made per distance.
    tested: [u32; AHEAD.len()],
    own: Pending,
    own_bound: Pending,
    /// Recency-weighted absolute error of the mixture per distance, and the factor that makes a bound of it.
    spread: [f64; AHEAD.len()],
    factor: [f64; AHEAD.len()],
}

impl Default for LossModel {
    fn default() -> Self {
        let nothing = Pending([f32::NAN; PENDING]);
        LossModel {
            history: History::default(),
            noise: Noise::default(),
            level: 0.0,
            opinions: [None; METHODS],
            pending: [nothing; METHODS],
            errors: USUAL,
            falls: Falls([0.0; DISTANCES.len()]),
            tested: [0; AHEAD.len()],
            own: nothing,
            own_bound: nothing,
            spread: [0.0; AHEAD.len()],
            factor: [1.0; AHEAD.len()],
        }
    }
}

impl LossModel {
    /// The points behind the model.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Expected falls from the last point on; all zero before the second point.
    pub fn falls(&self) -> &Falls {
        &self.falls
    }

    /// The curve of the method that did best ten iterations ahead; None before the second point.
    pub fn curve(&self) -> Option<Curve> {
        let errors = &self.errors[AHEAD.len() - 1];
        let known = (0..METHODS).filter(|i| self.opinions[*i].is_some());
        known.min_by(|a, b| errors[*a].total_cmp(&errors[*b])).and_then(|i| self.opinions[i])
    }

    /// Losses were never negative and are taken to stay so.
    fn positive(&self) -> bool {
        self.history.best() >= 0.0
    }

    /// Largest fall that may be predicted: not below zero for losses that never were, and not more than the run has fallen yet.
    fn most(&self) -> f64 {
        let Some((_, first)) = self.history.first() else { return 0.0 };
        let bold = if self.history.points() < FEW { BOLD } else { 1.0 };
        let room = if self.positive() { bold * self.level } else { f64::INFINITY };
        room.min(first.max(self.history.losses()[0]) - self.level).max(0.0)
    }

    /// Iterations from one loss to the next of late.
    fn pace(&self) -> f64 {
        match self.history.iterations() {
            [first, .., last] => f64::from(last - first) / (self.history.iterations().len() - 1) as f64,
            _ => 1.0,
        }
    }

    /// The mixture of the methods' changes over the next `ahead` iterations; negative = the loss rises.
    fn mixture(&self, ahead: f64) -> f64 {
        let (low, high, part) = bracket(ahead / self.pace());
        let weight = |error: f32| (f64::from(error) + GOOD).powi(-4);
        let (k, most) = (self.history.last().map_or(0.0, |(k, _)| f64::from(k)), self.most());
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, opinion) in self.opinions.iter().enumerate() {
            let Some(curve) = opinion else { continue };
            let weight = weight(self.errors[low][i]) * (1.0 - part) + weight(self.errors[high][i]) * part;
            sum += weight * curve.change(k, ahead).min(most);
            total += weight;
        }
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// Compares what was predicted for this point with what came; `ys` are the losses without chance.
    fn compare(&mut self, ys: &[f64]) {
        let n = self.history.points();
        let losses = self.history.losses();
        let last = losses.len() - 1;
        for (d, ahead) in AHEAD.into_iter().enumerate() {
            let Some(then) = last.checked_sub(ahead).filter(|_| n as usize > ahead + 2) else { continue };
            let truth = ys[then] - ys[last];
            let place = Pending::place(d, n);
            self.tested[d] = self.tested[d].saturating_add(1);
            let tested = f64::from(self.tested[d]);
            let rate = (1.0 / (tested + KNOWN)).max(NEWEST);
            for (pending, error) in self.pending.iter().zip(&mut self.errors[d]) {
                let relative = ((f64::from(pending.0[place]) - truth) / (truth.abs() + f64::MIN_POSITIVE)).abs();
                let relative = if relative.is_nan() { WORST } else { relative.ln_1p().min(WORST) };
                *error += (rate * (relative - f64::from(*error))) as f32;
            }
            let miss = (f64::from(self.own.0[place]) - (losses[then] - losses[last])).abs();
            if miss.is_finite() {
                let missed = miss > f64::from(self.own_bound.0[place]);
                let step = if missed { COVERED } else { COVERED - 1.0 };
                self.factor[d] = (self.factor[d] * (ADAPT * step).exp()).clamp(1e-3, 50.0);
                self.spread[d] += (1.0 / tested).max(LATELY) * (miss - self.spread[d]);
            }
        }
    }

    fn remember(&mut self, k: u32, loss: f64) {
        let n = self.history.points();
        let most = self.most();
        for (d, ahead) in AHEAD.map(|a| a as f64 * self.pace()).into_iter().enumerate() {
            let place = Pending::place(d, n);
            for (opinion, pending) in self.opinions.iter().zip(&mut self.pending) {
                pending.0[place] = opinion.map_or(f32::NAN, |c| c.change(f64::from(k), ahead).min(most) as f32);
            }
            self.own.0[place] = (loss - self.level + self.mixture(ahead)) as f32;
            self.own_bound.0[place] = self.bound(ahead) as f32;
        }
    }

    /// Half width of the interval around the loss `ahead` iterations from now.
    fn bound(&self, ahead: f64) -> f64 {
        let points = ahead / self.pace();
        let (low, high, part) = bracket(points);
        let at = |d: usize| {
            let by = (0..=d).rev().find(|j| self.tested[*j] >= 2);
            by.map_or(self.falls.at(ahead), |by| {
                self.factor[by] * self.spread[by] * (AHEAD[d] as f64 / AHEAD[by] as f64)
            })
        };
        let near = at(low) * (1.0 - part) + at(high) * part;
        let far = AHEAD[AHEAD.len() - 1] as f64;
        near * (points / far).max(1.0).sqrt()
    }
}

/// Neighbouring distances of the comparison around so many points ahead, and the part of the way between them.
fn bracket(ahead: f64) -> (usize, usize, f64) {
    let [near, middle, far] = AHEAD.map(|a| a as f64);
    if ahead <= middle {
        (0, 1, ((ahead - near) / (middle - near)).max(0.0))
    } else {
        (1, 2, ((ahead - middle) / (far - middle)).min(1.0))
    }
}

impl Forecaster for LossModel {
    fn push(&mut self, iteration: u32, loss: f64) {
        if !self.history.push(iteration, loss) {
            return;
        }
        self.noise.push(loss);
        let losses = self.history.losses();
        let mut ys = [0.0; WINDOW];
        let ys = &mut ys[..losses.len()];
        ys.copy_from_slice(losses);
        self.noise.settle(ys);
        self.level = ys[ys.len() - 1];
        let positive = self.positive();
        method::refit(&mut self.opinions, self.history.iterations(), ys, positive);
        self.compare(ys);
        self.falls = Falls::tabulate(|ahead| self.mixture(ahead));
        self.remember(iteration, loss);
    }

    fn forecast(&self, ahead: f64) -> Option<Forecast> {
        let ahead = ahead.clamp(0.0, DISTANCES[DISTANCES.len() - 1]);
        (self.history.points() >= 2)
            .then(|| Forecast { loss: self.level - self.mixture(ahead), bound: self.bound(ahead) })
    }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
