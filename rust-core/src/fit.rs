//! Fits a curve to weighted points: Nelder-Mead over the logarithms of the shape parameters (so that they stay positive
//! without bounds), height and floor in closed form for each shape tried.

use crate::curve::{Curve, Shape};
use crate::history::WINDOW;
use argmin::core::{CostFunction, Error, Executor, IterState};
use argmin::solver::neldermead::NelderMead;
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};

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
const SEARCH: u64 = 30;

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
            build(minimise(vec![first, first + 0.5], |t: &f64| points.solve(build(*t)).2))
        }
        Family::Reciprocal => {
            let build = |t: Pair| Shape::Reciprocal {
                p: bounded(t.0[0], 1e-6 / span, 1e3),
                q: bounded(t.0[1], 1e-8 / (span * span), 1e3),
            };
            let first = match start {
                Some(Shape::Reciprocal { p, q }) => coarse(
                    [(p * span, q * span * span), (1.0, 0.1), (10.0, 0.1), (1.0, 3.0), (10.0, 30.0)]
                        .map(|(p, q)| Pair([(p / span).ln(), (q / (span * span)).ln()])),
                    |t| points.solve(build(t)).2,
                ),
                _ => coarse(
                    [(1.0, 0.1), (10.0, 0.1), (1.0, 3.0), (10.0, 30.0)]
                        .map(|(p, q)| Pair([(p / span).ln(), (q / (span * span)).ln()])),
                    |t| points.solve(build(t)).2,
                ),
            };
            build(minimise(first.simplex(0.7), |t: &Pair| points.solve(build(*t)).2))
        }
        Family::Power => {
            let build =
                |t: Pair| Shape::Power { scale: bounded(t.0[0], 1e-2, 1e4), power: bounded(t.0[1], 0.05, 20.0) };
            let first = match start {
                Some(Shape::Power { scale, power }) => Pair([scale.ln(), power.ln()]),
                _ => coarse(
                    [(0.1, 0.5), (0.3, 1.0), (1.0, 1.0), (1.0, 3.0)]
                        .map(|(s, a): (f64, f64)| Pair([(s * span).ln(), a.ln()])),
                    |t| points.solve(build(t)).2,
                ),
            };
            build(minimise(first.simplex(0.7), |t: &Pair| points.solve(build(*t)).2))
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

/// Two parameters on the stack: a Vec would be allocated for every step of the search.
#[derive(Clone, Copy, Debug)]
struct Pair([f64; 2]);

impl Pair {
    fn simplex(self, step: f64) -> Vec<Pair> {
        let Pair([a, b]) = self;
        vec![self, Pair([a + step, b]), Pair([a, b + step])]
    }
}

impl ArgminAdd<Pair, Pair> for Pair {
    fn add(&self, o: &Pair) -> Pair {
        Pair([self.0[0] + o.0[0], self.0[1] + o.0[1]])
    }
}

impl ArgminSub<Pair, Pair> for Pair {
    fn sub(&self, o: &Pair) -> Pair {
        Pair([self.0[0] - o.0[0], self.0[1] - o.0[1]])
    }
}

impl ArgminMul<f64, Pair> for Pair {
    fn mul(&self, f: &f64) -> Pair {
        Pair([self.0[0] * f, self.0[1] * f])
    }
}

struct Cost<F>(F);

macro_rules! cost_over {
    ($param:ty) => {
        impl<F: Fn(&$param) -> f64> CostFunction for Cost<(F, std::marker::PhantomData<$param>)> {
            type Param = $param;
            type Output = f64;
            fn cost(&self, p: &$param) -> Result<f64, Error> {
                let c = self.0.0(p);
                // The search sorts by cost and would take NaN for equal.
                Ok(if c.is_nan() { f64::MAX } else { c })
            }
        }
    };
}
cost_over!(f64);
cost_over!(Pair);

fn minimise<P, F>(simplex: Vec<P>, cost: F) -> P
where
    P: Copy + ArgminAdd<P, P> + ArgminSub<P, P> + ArgminMul<f64, P>,
    Cost<(F, std::marker::PhantomData<P>)>: CostFunction<Param = P, Output = f64>,
{
    let fallback = simplex[0];
    let Ok(solver) = NelderMead::new(simplex).with_sd_tolerance(1e-9) else { return fallback };
    Executor::new(Cost((cost, std::marker::PhantomData)), solver)
        .configure(|s: IterState<P, (), (), (), (), f64>| s.max_iters(SEARCH))
        .run()
        .ok()
        .and_then(|r| r.state.best_param)
        .unwrap_or(fallback)
}
