//! Ways from a history to a curve, tried side by side by the forecaster.
//!
//! They differ in what they can follow: closed forms over one, four and ten points react at once and stand noise; fitted
//! families extrapolate. Exponential and power law are each fitted once, the reciprocal at two memories, because no
//! single family and memory is near the best on every recorded curve.

use crate::curve::{Curve, Shape};
use crate::fit::{Family, Points, fit};
use crate::history::{History, WINDOW};

/// Number of methods.
pub const METHODS: usize = 10;

/// Weights before anything could be compared: those that are sound on a handful of points.
pub const UNTESTED: [f64; METHODS] = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

/// Index of the first fitted method; the ones before are closed forms.
const FITTED: usize = 6;

/// (family, weight of a point relative to the next newer one)
const FITS: [(Family, f64); METHODS - FITTED] =
    [(Family::Reciprocal, LONG), (Family::Power, LONG), (Family::Exponential, SHORT), (Family::Reciprocal, SHORT)];
/// About ten points decide.
const LONG: f64 = 0.9;
/// About three points decide: as in the paper.
const SHORT: f64 = 0.64;
/// Damping of the slope over five points, an iteration.
const DAMPED: f64 = 0.93;
/// Points of less than this weight are left out of a fit.
const LIGHTEST: f64 = 1e-3;
/// The newest points all enter a fit; of older ones every third does, with its neighbours' weight.
const DENSE: usize = 12;

/// The curve of every method; None where it cannot say.
pub type Opinions = [Option<Curve>; METHODS];

/// Brings all opinions up to date with the history; fits start from the shapes found before.
pub fn refit(opinions: &mut Opinions, history: &History) {
    let (ks, raw) = (history.iterations(), history.losses());
    let n = ks.len();
    if n < 2 {
        return;
    }
    let mut ys = [0.0; WINDOW];
    let ys = &mut ys[..n];
    ys.copy_from_slice(raw);
    straighten(ys);
    let (k, last) = (ks[n - 1], ys[n - 1]);
    let slope = |m: usize| {
        let i = n - 1 - m.min(n - 1);
        (ys[i] - last) / f64::from(k - ks[i])
    };
    opinions[0] = Some(line(k, last, 0.0));
    opinions[1] = Some(line(k, last, slope(1)));
    opinions[2] = Some(damped(k, last, slope(5), DAMPED));
    for (i, m) in [(3, 1), (4, 4), (5, 10)] {
        opinions[i] = geometric(ks, ys, m);
    }
    let (low, high) = ys.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(*y), b.max(*y)));
    let scale = high - low;
    if n < 4 || scale <= 0.0 {
        return;
    }
    // Losses that were never negative are taken to stay so.
    let lowest = if history.best() >= 0.0 { -low / scale } else { f64::NEG_INFINITY };
    let long = points(ks, ys, LONG, low, scale, lowest);
    let short = points(ks, ys, SHORT, low, scale, lowest);
    for (opinion, (family, memory)) in opinions[FITTED..].iter_mut().zip(FITS) {
        let (origin, points) = if memory == LONG { &long } else { &short };
        let found = fit(family, points, opinion.map(|c| c.shape));
        *opinion = found.map(|f| f.curve.scaled(f64::from(*origin), scale, low));
    }
}

/// Points of a fit, scaled to [0, 1], and the iteration at which their x is 0.
fn points(ks: &[u32], ys: &[f64], memory: f64, low: f64, scale: f64, lowest: f64) -> (u32, Points) {
    let n = ks.len();
    let weight = |i: usize| memory.powf(f64::from(ks[n - 1] - ks[i]));
    let dense = n.saturating_sub(DENSE);
    let mut chosen: Vec<(usize, f64)> = (0..dense).rev().skip(1).step_by(3).map(|i| (i, 3.0 * weight(i))).collect();
    chosen.reverse();
    chosen.extend((dense..n).map(|i| (i, weight(i))));
    // Three points are the least that a fit takes, however far apart they are.
    let first = chosen.iter().position(|(_, w)| *w >= LIGHTEST).unwrap_or(0).min(chosen.len() - 3);
    let chosen = &chosen[first..];
    let origin = ks[chosen[0].0];
    let x = chosen.iter().map(|(i, _)| f64::from(ks[*i] - origin)).collect();
    let y = chosen.iter().map(|(i, _)| (ys[*i] - low) / scale).collect();
    let w = chosen.iter().map(|(_, w)| w.max(1e-12)).collect();
    (origin, Points::new(x, y, w, lowest))
}

/// Replaces single outliers by the mean of their neighbours: points that stick out by far more than losses usually change.
fn straighten(ys: &mut [f64]) {
    let n = ys.len();
    if n < 6 {
        return;
    }
    let mut steps = [0.0; WINDOW];
    let steps = &mut steps[..n - 1];
    for (step, pair) in steps.iter_mut().zip(ys.windows(2)) {
        *step = (pair[1] - pair[0]).abs();
    }
    let usual = *steps.select_nth_unstable_by((n - 1) / 2, f64::total_cmp).1;
    for i in 1..n - 1 {
        let (a, y, b) = (ys[i - 1], ys[i], ys[i + 1]);
        let beyond = (y - a.max(b)).max(a.min(b) - y);
        if beyond > 4.0 * (a - b).abs() + 8.0 * usual {
            ys[i] = 0.5 * (a + b);
        }
    }
}

fn line(k: u32, loss: f64, slope: f64) -> Curve {
    let height = slope.max(0.0);
    Curve { shape: Shape::Line, origin: f64::from(k), height, floor: loss - height }
}

/// A slope that shrinks by the factor `damping` < 1 an iteration.
fn damped(k: u32, loss: f64, slope: f64, damping: f64) -> Curve {
    let height = slope.max(0.0) * damping / (1.0 - damping);
    Curve { shape: Shape::Exponential { rate: -damping.ln() }, origin: f64::from(k), height, floor: loss - height }
}

/// The exponential through the falls over the last two blocks of m points; a damped slope if they do not shrink.
fn geometric(ks: &[u32], ys: &[f64], m: usize) -> Option<Curve> {
    let last = ks.len() - 1;
    let (b, a) = (last.checked_sub(m)?, last.checked_sub(2 * m)?);
    let (newer, older) = (f64::from(ks[last] - ks[b]), f64::from(ks[b] - ks[a]));
    let (new, old) = ((ys[b] - ys[last]) / newer, (ys[a] - ys[b]) / older);
    if old <= 0.0 || new <= 0.0 {
        return Some(damped(ks[last], ys[last], new, 0.9));
    }
    // The blocks' mean slopes belong to their centres.
    let rate = (old / new).ln() / (0.5 * (newer + older));
    if rate.is_nan() || rate < 1e-3 {
        return Some(damped(ks[last], ys[last], new, 0.97));
    }
    let height = new * newer / (rate * newer).exp_m1();
    Some(Curve { shape: Shape::Exponential { rate }, origin: f64::from(ks[last]), height, floor: ys[last] - height })
}
