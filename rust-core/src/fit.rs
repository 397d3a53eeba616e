//! Fits a curve to weighted points: a simplex search over the logarithms of the shape parameters (so that they stay positive
//! without bounds), height and floor in closed form for each shape tried.

use crate::curve::{Curve, Shape};
use crate::history::WINDOW;
use crate::simplex::minimise;

/// Points to fit, at most [`WINDOW`] of them: x = iterations since the first, y = loss, w = weight.
#[derive(Clone, Debug, Default)]
pub struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    w: Vec<f64>,
    /// No floor below this, in units of y.
    lowest: f64,
}

/// Curve families that are fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// exp(−rate·x).
    Exponential,
    /// 1/(1 + p·x + q·x²).
    Reciprocal,
    /// (1 + x/scale)^(−power).
    Power,
}

/// Iterations of the search; a warm start needs fewer than this.
const SEARCH: u32 = 30;

impl Points {
    /// Points with the given weights; `lowest` bounds the floor (−∞: unbounded).
    pub fn new(x: Vec<f64>, y: Vec<f64>, w: Vec<f64>, lowest: f64) -> Points {
        debug_assert!(x.len() == y.len() && y.len() == w.len() && x.len() <= WINDOW.max(100));
        Points { x, y, w, lowest }
    }

    fn span(&self) -> f64 {
        self.x.last().copied().unwrap_or(0.0).max(1.0)
    }

    /// Height, floor and weighted squared error of the best curve of this shape.
    fn solve(&self, shape: Shape) -> (f64, f64, f64) {
        let (mut sw, mut sg, mut sy, mut sgg, mut sgy, mut syy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for i in 0..self.x.len() {
            let (g, y, w) = (shape.at(self.x[i]), self.y[i], self.w[i]);
            sw += w;
            sg += w * g;
            sy += w * y;
            sgg += w * g * g;
            sgy += w * g * y;
            syy += w * y * y;
        }
        let cov = sgy - sg * sy / sw;
        let var = sgg - sg * sg / sw;
        let (mut height, mut floor) = if var > 1e-12 * sgg { (cov / var, 0.0) } else { (0.0, 0.0) };
        if height > 0.0 {
            floor = (sy - height * sg) / sw;
            if floor < self.lowest {
                floor = self.lowest;
                height = ((sgy - floor * sg) / sgg).max(0.0);
            }
        } else {
            height = 0.0;
        }
        if height == 0.0 {
            floor = sy / sw;
        }
        let sse = syy - 2.0 * (height * sgy + floor * sy)
            + height * height * sgg
            + 2.0 * height * floor * sg
            + floor * floor * sw;
        (height, floor, sse.max(0.0) / sw)
    }
}

/// A fitted curve in the units of its points, and its weighted mean squared residual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The curve; its origin is 0 = the first point's x.
    pub curve: Curve,
    /// Weighted mean squared residual.
    pub error: f64,
}

/// Best curve of a family; `start` is a shape from which to search (the previous fit's). None with fewer than three points.
pub fn fit(family: Family, points: &Points, start: Option<Shape>) -> Option<Fit> {
    if points.x.len() < 3 {
        return None;
    }
    let span = points.span();
    let shape = match family {
        Family::Exponential => {
            let build = |t: f64| Shape::Exponential { rate: bounded(t, 1e-4 / span, 20.0) };
            let first = match start {
                Some(Shape::Exponential { rate }) => coarse(
                    [rate.ln(), (0.3 / span).ln(), (1.0 / span).ln(), (3.0 / span).ln(), (10.0 / span).ln()],
                    |t| points.solve(build(t)).2,
                ),
                _ => coarse([0.3, 1.0, 3.0, 10.0].map(|c| (c / span).ln()), |t| points.solve(build(t)).2),
            };
            let [found] = minimise([first], 0.5, SEARCH, |[t]| points.solve(build(t)).2);
            build(found)
        }
        Family::Reciprocal => {
            let build = |t: [f64; 2]| Shape::Reciprocal {
                p: bounded(t[0], 1e-6 / span, 1e3),
                q: bounded(t[1], 1e-8 / (span * span), 1e3),
            };
            let first = match start {
                Some(Shape::Reciprocal { p, q }) => coarse(
                    [(p * span, q * span * span), (1.0, 0.1), (10.0, 0.1), (1.0, 3.0), (10.0, 30.0)]
                        .map(|(p, q)| [(p / span).ln(), (q / (span * span)).ln()]),
                    |t| points.solve(build(t)).2,
                ),
                _ => coarse(
                    [(1.0, 0.1), (10.0, 0.1), (1.0, 3.0), (10.0, 30.0)]
                        .map(|(p, q)| [(p / span).ln(), (q / (span * span)).ln()]),
                    |t| points.solve(build(t)).2,
                ),
            };
            build(minimise(first, 0.7, SEARCH, |t| points.solve(build(t)).2))
        }
        Family::Power => {
            let build =
                |t: [f64; 2]| Shape::Power { scale: bounded(t[0], 1e-2, 1e4), power: bounded(t[1], 0.05, 20.0) };
            let first = match start {
                Some(Shape::Power { scale, power }) => [scale.ln(), power.ln()],
                _ => coarse(
                    [(0.1, 0.5), (0.3, 1.0), (1.0, 1.0), (1.0, 3.0)]
                        .map(|(s, a): (f64, f64)| [(s * span).ln(), a.ln()]),
                    |t| points.solve(build(t)).2,
                ),
            };
            build(minimise(first, 0.7, SEARCH, |t| points.solve(build(t)).2))
        }
    };
    let (height, floor, error) = points.solve(shape);
    (height.is_finite() && floor.is_finite() && error.is_finite())
        .then_some(Fit { curve: Curve { shape, origin: 0.0, height, floor }, error })
}

fn bounded(log: f64, low: f64, high: f64) -> f64 {
    log.exp().clamp(low, high)
}

fn coarse<T: Copy, const N: usize>(grid: [T; N], cost: impl Fn(T) -> f64) -> T {
    let mut best = (grid[0], f64::INFINITY);
    for t in grid {
        let c = cost(t);
        if c < best.1 {
            best = (t, c);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Family; 3] = [Family::Exponential, Family::Reciprocal, Family::Power];

    fn points(n: u32, of: impl Fn(f64) -> f64, lowest: f64) -> Points {
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let y = x.iter().map(|x| of(*x)).collect();
        Points::new(x, y, vec![1.0; n as usize], lowest)
    }

    fn shape(family: Family) -> Shape {
        match family {
            Family::Exponential => Shape::Exponential { rate: 0.15 },
            Family::Reciprocal => Shape::Reciprocal { p: 0.2, q: 0.01 },
            Family::Power => Shape::Power { scale: 4.0, power: 0.8 },
        }
    }

    #[test]
    fn every_family_foresees_a_curve_of_its_own() {
        for family in ALL {
            let truth = Curve { shape: shape(family), origin: 0.0, height: 0.8, floor: 0.2 };
            let found = fit(family, &points(30, |x| truth.at(x), f64::NEG_INFINITY), None).unwrap();
            let (ahead, expected) = (found.curve.change(29.0, 10.0), truth.change(29.0, 10.0));
            assert!((ahead / expected - 1.0).abs() < 0.1, "{family:?}: {ahead} instead of {expected}");
            assert!(found.error < 1e-6, "{family:?}: {}", found.error);
        }
    }

    #[test]
    fn a_start_at_the_shape_before_is_no_worse_than_none() {
        for family in ALL {
            let before = points(20, |x| shape(family).at(x), f64::NEG_INFINITY);
            let after = points(21, |x| shape(family).at(x), f64::NEG_INFINITY);
            let start = fit(family, &before, None).unwrap().curve.shape;
            let (warm, cold) = (fit(family, &after, Some(start)).unwrap(), fit(family, &after, None).unwrap());
            assert!(warm.error <= cold.error + 1e-9, "{family:?}: {} against {}", warm.error, cold.error);
        }
    }

    #[test]
    fn the_floor_is_not_below_the_lowest() {
        // A line has its best floor far below.
        for family in ALL {
            let curve = fit(family, &points(20, |x| 1.0 - 0.01 * x, 0.3), None).unwrap().curve;
            assert!(curve.floor >= 0.3, "{family:?}: {}", curve.floor);
        }
    }

    #[test]
    fn losses_that_rise_or_stay_give_a_flat_curve() {
        for family in ALL {
            for slope in [0.0, 0.05] {
                let curve = fit(family, &points(12, |x| slope * x, f64::NEG_INFINITY), None).unwrap().curve;
                assert_eq!(curve.change(11.0, 10.0), 0.0, "{family:?}");
            }
        }
    }

    #[test]
    fn two_points_are_too_few() {
        for family in ALL {
            assert_eq!(fit(family, &points(2, |x| 1.0 - x, f64::NEG_INFINITY), None), None);
        }
    }

    proptest! {
        #[test]
        fn fits_are_finite_and_no_worse_than_the_mean(
            y in prop::collection::vec(0.0..1.0f64, 3..40), w in 1e-12..1.0f64, floor in -1.0..0.0f64) {
            let x: Vec<f64> = (0..y.len()).map(|k| k as f64).collect();
            let weights: Vec<f64> = (0..y.len()).map(|k| w.powf(k as f64 / y.len() as f64)).collect();
            let sum: f64 = weights.iter().sum();
            let mean = y.iter().zip(&weights).map(|(y, w)| y * w).sum::<f64>() / sum;
            let spread = y.iter().zip(&weights).map(|(y, w)| w * (y - mean).powi(2)).sum::<f64>() / sum;
            for family in ALL {
                let found = fit(family, &Points::new(x.clone(), y.clone(), weights.clone(), floor), None).unwrap();
                prop_assert!(found.curve.at(1e6).is_finite() && found.curve.height >= 0.0);
                prop_assert!(found.error <= spread * (1.0 + 1e-6) + 1e-9, "{family:?}: {} above {spread}", found.error);
            }
        }
    }
}
