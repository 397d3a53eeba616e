//! Ways from a history to a curve, tried side by side by the forecaster.
//!
//! Four, because each is the best where the others fail: the last change for what falls evenly, the trend of the falls'
//! logarithms for what converges, however ragged, and two fits for sublinear optimisers, of short and of long memory. More
//! of them (damped slopes, two-point geometrics, exponentials) made the mixture no better.

use crate::curve::{Curve, Shape};
use crate::fit::{Family, Points, fit};
use crate::history::WINDOW;

/// Number of methods.
pub const METHODS: usize = 4;

/// The fitted methods, after the last change and the trend: (family, weight of a point relative to the next newer one)
const FITS: [(Family, f64); 2] = [(Family::Power, SHORT), (Family::Reciprocal, LONG)];
/// About ten points decide.
const LONG: f64 = 0.9;
/// About three points decide: as in the paper.
const SHORT: f64 = 0.64;
/// Weight of a fall relative to the next newer one in the trend.
const TREND: f64 = 0.7;
/// What a trend is drawn to while few falls are known: this rate an iteration, counting as a fall one iteration from the mean.
const USUAL: f64 = 0.2;
/// Slowest and fastest trends an iteration.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 5.0;
/// Points of less than this weight are left out of a fit.
const LIGHTEST: f64 = 1e-3;
/// The newest points all enter a fit; of older ones every third does, with its neighbours' weight.
const DENSE: usize = 12;

/// The curve of every method; None where it cannot say.
pub type Opinions = [Option<Curve>; METHODS];

/// Brings all opinions up to date with the losses `ys` after the iterations `ks`, at most [`WINDOW`] of them; fits start
/// from the shapes found before. `positive`: losses will not fall below zero.
pub fn refit(opinions: &mut Opinions, ks: &[u32], ys: &[f64], positive: bool) {
    let n = ks.len();
    if n < 2 {
        return;
    }
    let mut straight = [0.0; WINDOW];
    let straight = &mut straight[..n];
    straight.copy_from_slice(ys);
    straighten(straight);
    let ys = &*straight;
    opinions[0] = Some(line(ks, ys));
    opinions[1] = trend(ks, ys);
    let (low, high) = ys.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(*y), b.max(*y)));
    let scale = high - low;
    if n < 4 || scale <= 0.0 {
        return;
    }
    let lowest = if positive { -low / scale } else { f64::NEG_INFINITY };
    for (opinion, (family, memory)) in opinions[METHODS - FITS.len()..].iter_mut().zip(FITS) {
        let (origin, points) = points(ks, ys, memory, low, scale, lowest);
        let found = fit(family, &points, opinion.map(|c| c.shape));
        *opinion = found.map(|f| f.curve.scaled(f64::from(origin), scale, low));
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

/// The last change goes on, a rise too.
fn line(ks: &[u32], ys: &[f64]) -> Curve {
    let last = ks.len() - 1;
    let height = (ys[last - 1] - ys[last]) / f64::from(ks[last] - ks[last - 1]);
    Curve { shape: Shape::Line, origin: f64::from(ks[last]), height, floor: ys[last] - height }
}

/// The exponential whose falls an iteration follow the straight line through the logarithms of those so far, rises counting
/// as none; none where nothing fell. Logarithms, because the falls of a converging run scatter by factors: in them a large
/// early one does not outweigh the rest, as it does in squares of losses.
fn trend(ks: &[u32], ys: &[f64]) -> Option<Curve> {
    let last = ks.len() - 1;
    let (mut all, mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for i in (0..last).rev() {
        // A fall over several iterations belongs to the middle one.
        let age = f64::from(ks[last]) - 0.5 * (f64::from(ks[i]) + f64::from(ks[i + 1]) + 1.0);
        let weight = TREND.powf(age);
        if weight < LIGHTEST {
            break;
        }
        all += weight;
        let fall = (ys[i] - ys[i + 1]) / f64::from(ks[i + 1] - ks[i]);
        if fall > 0.0 {
            let log = fall.ln();
            w += weight;
            x += weight * age;
            y += weight * log;
            xx += weight * age * age;
            xy += weight * age * log;
        }
    }
    if w <= 0.0 {
        return None;
    }
    let (age, log) = (x / w, y / w);
    let rate = (xy - age * y + USUAL) / (xx - age * x + 1.0);
    let now = w / all * (log - rate * age).exp();
    let rate = rate.clamp(SLOWEST, FASTEST);
    let height = now / rate.exp_m1();
    let curve =
        Curve { shape: Shape::Exponential { rate }, origin: f64::from(ks[last]), height, floor: ys[last] - height };
    height.is_finite().then_some(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(step: u32, losses: impl IntoIterator<Item = f64>) -> (Vec<u32>, Vec<f64>) {
        let ys: Vec<f64> = losses.into_iter().collect();
        ((0..ys.len() as u32).map(|k| step * k).collect(), ys)
    }

    #[test]
    fn the_trend_of_an_exponential_is_its_rate() {
        for step in [1, 3] {
            let (ks, ys) = every(step, (0..30).map(|k| 2.0 + 5.0 * (-0.2 * f64::from(step * k)).exp()));
            let curve = trend(&ks, &ys).unwrap();
            let (k, truth) = (f64::from(ks[29]), ys[29] - 2.0);
            let found = curve.change(k, 1e3);
            assert!((found / truth - 1.0).abs() < 0.02, "{step}: {found} instead of {truth}");
        }
    }

    #[test]
    fn the_trend_stands_falls_that_scatter_by_factors() {
        let scatter = [1.0, 0.3, 2.0, 0.6, 3.0, 0.2, 1.5];
        let falls = (0..35).map(|k: i32| 0.8f64.powi(k) * scatter[k as usize % scatter.len()]);
        let losses = falls.scan(10.0, |loss, fall| {
            *loss -= fall;
            Some(*loss)
        });
        let (ks, ys) = every(1, losses);
        let found = trend(&ks, &ys).unwrap().change(34.0, 10.0);
        let even = (35..45).map(|k| 0.8f64.powi(k)).sum::<f64>();
        assert!((0.5..2.0).contains(&(found / even)), "{found} instead of {even}");
    }

    #[test]
    fn without_a_fall_there_is_no_trend() {
        let (ks, ys) = every(1, (0..9).map(f64::from));
        assert_eq!(trend(&ks, &ys), None);
        let (ks, ys) = every(1, [4.0; 9]);
        assert_eq!(trend(&ks, &ys), None);
    }

    #[test]
    fn the_last_change_is_one_an_iteration_up_or_down() {
        let (ks, ys) = every(2, [9.0, 7.0]);
        assert_eq!(line(&ks, &ys).change(2.0, 3.0), 3.0);
        let (ks, ys) = every(2, [7.0, 9.0]);
        assert_eq!(line(&ks, &ys).change(2.0, 3.0), -3.0);
    }

    #[test]
    fn a_single_outlier_is_straightened() {
        let mut ys: Vec<f64> = (0..20).map(|k| 20.0 - f64::from(k)).collect();
        let straight = ys.clone();
        ys[12] = 500.0;
        straighten(&mut ys);
        assert_eq!(ys, straight);
    }
}
