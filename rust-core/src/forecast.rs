//! What a run's loss will be h iterations from now, with an error bound.

use crate::curve::{Curve, Shape};
use crate::fit::{Family, Points, fit};
use crate::history::History;

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

/// Ways to a curve, tried side by side.
const METHODS: usize = 4;
const LAST_CHANGE: usize = 0;
const GEOMETRIC: usize = 1;
/// Iterations ahead at which methods are compared.
const AHEAD: [usize; 3] = [1, 5, 10];
const PENDING: usize = 10;
/// Weight of a point relative to the next newer one: about ten points decide.
const RECENCY: f64 = 0.9;

#[derive(Clone, Copy, Debug)]
struct Candidate {
    curve: Option<Curve>,
    /// Predicted falls, per distance, in a ring over the iterations.
    pending: [[f32; PENDING]; AHEAD.len()],
    /// Recency-weighted mean relative error of the predicted fall, per distance.
    error: [f64; AHEAD.len()],
}

/// The product's forecaster: families side by side, the one that predicted best so far is believed.
#[derive(Clone, Debug)]
pub struct LossModel {
    history: History,
    candidates: [Candidate; METHODS],
    chosen: usize,
    tested: [u32; AHEAD.len()],
    spread: [f64; AHEAD.len()],
}

impl Default for LossModel {
    fn default() -> Self {
        let candidate =
            Candidate { curve: None, pending: [[f32::NAN; PENDING]; AHEAD.len()], error: [0.0; AHEAD.len()] };
        LossModel {
            history: History::default(),
            candidates: [candidate; METHODS],
            chosen: LAST_CHANGE,
            tested: [0; AHEAD.len()],
            spread: [0.0; AHEAD.len()],
        }
    }
}

impl LossModel {
    /// The points behind the model.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The curve believed in; None before the second point.
    pub fn curve(&self) -> Option<Curve> {
        self.candidates[self.chosen].curve
    }

    /// Expected fall of the loss over the next `ahead` iterations, ≥ 0; None before the second point.
    pub fn fall(&self, ahead: f64) -> Option<f64> {
        let (k, _) = self.history.last()?;
        Some(self.curve()?.fall(f64::from(k), ahead))
    }

    fn refit(&mut self) {
        let h = &self.history;
        let (ks, ys) = (h.iterations(), h.losses());
        let n = ks.len();
        if n < 2 {
            return;
        }
        let line = |per: f64| Curve {
            shape: Shape::Line,
            origin: f64::from(ks[n - 1]),
            height: per.max(0.0),
            floor: ys[n - 1] - per.max(0.0),
        };
        let change = |i: usize| (ys[i - 1] - ys[i]) / f64::from(ks[i] - ks[i - 1]);
        self.candidates[LAST_CHANGE].curve = Some(line(change(n - 1)));
        self.candidates[GEOMETRIC].curve =
            if n >= 3 && change(n - 2) > 0.0 && change(n - 1) > 0.0 && change(n - 1) < change(n - 2) {
                let ratio = change(n - 1) / change(n - 2);
                let height = change(n - 1) * ratio / (1.0 - ratio);
                Some(Curve {
                    shape: Shape::Exponential { rate: -ratio.ln() },
                    origin: f64::from(ks[n - 1]),
                    height,
                    floor: ys[n - 1] - height,
                })
            } else {
                Some(line(change(n - 1)))
            };
        let (low, high) = ys.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(*y), b.max(*y)));
        let scale = high - low;
        if n < 4 || scale <= 0.0 || scale.is_nan() {
            return;
        }
        let origin = f64::from(ks[0]);
        let x: Vec<f64> = ks.iter().map(|k| f64::from(*k) - origin).collect();
        let y: Vec<f64> = ys.iter().map(|y| (y - low) / scale).collect();
        let w: Vec<f64> = ks.iter().map(|k| RECENCY.powf(f64::from(ks[n - 1] - k))).collect();
        let lowest = if h.best() >= 0.0 { -low / scale } else { f64::NEG_INFINITY };
        let points = Points::new(x, y, w, lowest);
        for (i, family) in [(2, Family::Exponential), (3, Family::Reciprocal)] {
            let start = self.candidates[i].curve.map(|c| c.shape);
            self.candidates[i].curve = fit(family, &points, start).map(|f| Curve {
                shape: f.curve.shape,
                origin,
                height: f.curve.height * scale,
                floor: low + f.curve.floor * scale,
            });
        }
    }

    fn backtest(&mut self) {
        let n = self.history.points() as usize;
        let ys = self.history.losses();
        let last = ys[ys.len() - 1];
        for (d, &ahead) in AHEAD.iter().enumerate() {
            if n <= ahead + 2 || ys.len() <= ahead {
                continue;
            }
            let truth = ys[ys.len() - 1 - ahead] - last;
            let slot = (n - ahead) % PENDING;
            let rate = (1.0 / f64::from(self.tested[d] + 1)).max(0.12);
            self.tested[d] += 1;
            let chosen = f64::from(self.candidates[self.chosen].pending[d][slot]);
            if chosen.is_finite() {
                self.spread[d] += rate * ((chosen - truth).abs() - self.spread[d]);
            }
            for c in &mut self.candidates {
                let p = f64::from(c.pending[d][slot]);
                let e = if p.is_finite() { ((p - truth).abs() / (truth.abs() + 1e-12)).min(2.0) } else { 2.0 };
                c.error[d] += rate * (e - c.error[d]);
            }
        }
        let score = |c: &Candidate| -> f64 {
            if c.curve.is_none() {
                return f64::INFINITY;
            }
            (0..AHEAD.len()).filter(|&d| self.tested[d] >= 1).map(|d| c.error[d]).sum()
        };
        let mut best = (LAST_CHANGE, f64::INFINITY);
        for (i, c) in self.candidates.iter().enumerate() {
            let s = score(c);
            if s < best.1 {
                best = (i, s);
            }
        }
        self.chosen = best.0;
    }

    fn remember(&mut self) {
        let n = self.history.points() as usize;
        let Some((k, _)) = self.history.last() else { return };
        for c in &mut self.candidates {
            for (d, &ahead) in AHEAD.iter().enumerate() {
                c.pending[d][n % PENDING] = c.curve.map_or(f32::NAN, |v| v.fall(f64::from(k), ahead as f64) as f32);
            }
        }
    }
}

impl Forecaster for LossModel {
    fn push(&mut self, iteration: u32, loss: f64) {
        if self.history.push(iteration, loss) {
            self.refit();
            self.backtest();
            self.remember();
        }
    }

    fn forecast(&self, ahead: f64) -> Option<Forecast> {
        let (_, last) = self.history.last()?;
        let fall = self.fall(ahead)?;
        let bound = 2.0 * self.spread[2].max(self.spread[0]);
        Some(Forecast { loss: last - fall, bound })
    }
}
