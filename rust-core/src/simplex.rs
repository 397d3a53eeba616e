//! Search for the minimum of a function of few variables without derivatives (Nelder and Mead, 1965), on the stack: a fit
//! runs it several times at every report.

/// Costs whose standard deviation over the corners is below this are as good as equal.
const FLAT: f64 = 1e-9;

/// A corner and its cost.
type Corner<const N: usize> = ([f64; N], f64);

/// The best point found from a simplex at `start` with edges of length `step` along the axes, in at most `most` steps of one
/// or two evaluations (a shrinkage, which is rare, costs N more). The cost there is never above that at `start`; costs that
/// are NaN count as infinite. Corners of equal cost end the search, even should they lie on both sides of the minimum.
pub fn minimise<const N: usize>(start: [f64; N], step: f64, most: u32, cost: impl Fn([f64; N]) -> f64) -> [f64; N] {
    let valued = |x: [f64; N]| -> Corner<N> {
        let c = cost(x);
        (x, if c.is_nan() { f64::INFINITY } else { c })
    };
    let mut best = valued(start);
    // All corners but the best.
    let mut others: [Corner<N>; N] = std::array::from_fn(|axis| {
        let mut x = start;
        x[axis] += step;
        valued(x)
    });
    for _ in 0..most {
        others.sort_by(|a, b| a.1.total_cmp(&b.1));
        if others[0].1 < best.1 {
            std::mem::swap(&mut best, &mut others[0]);
            others.sort_by(|a, b| a.1.total_cmp(&b.1));
        }
        if deviation(best.1, &others) < FLAT {
            break;
        }
        let (worst, rest) = (others[N - 1], &others[..N - 1]);
        let second = rest.last().map_or(best.1, |corner| corner.1);
        let centre: [f64; N] =
            std::array::from_fn(|i| rest.iter().fold(best.0[i], |sum, corner| sum + corner.0[i]) / N as f64);
        let along = |t: f64| valued(std::array::from_fn(|i| centre[i] + t * (worst.0[i] - centre[i])));
        let reflected = along(-1.0);
        let found = if reflected.1 < best.1 {
            let expanded = along(-2.0);
            if expanded.1 < reflected.1 { Some(expanded) } else { Some(reflected) }
        } else if reflected.1 < second {
            Some(reflected)
        } else {
            let contracted = along(if reflected.1 < worst.1 { -0.5 } else { 0.5 });
            (contracted.1 < worst.1.min(reflected.1)).then_some(contracted)
        };
        match found {
            Some(corner) => others[N - 1] = corner,
            None => {
                for corner in &mut others {
                    *corner = valued(std::array::from_fn(|i| 0.5 * (best.0[i] + corner.0[i])));
                }
            }
        }
    }
    others.iter().fold(best, |best, corner| if corner.1 < best.1 { *corner } else { best }).0
}

/// Standard deviation of the corners' costs; infinite or NaN while some are infinite.
fn deviation<const N: usize>(best: f64, others: &[Corner<N>; N]) -> f64 {
    let count = (N + 1) as f64;
    let mean = others.iter().fold(best, |sum, corner| sum + corner.1) / count;
    (others.iter().fold((best - mean).powi(2), |sum, corner| sum + (corner.1 - mean).powi(2)) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use argmin::core::{CostFunction, Error, Executor, IterState};
    use argmin::solver::neldermead::NelderMead;
    use proptest::prelude::*;

    /// A tilted bowl with its bottom at (`a`, `b`).
    #[derive(Clone, Copy, Debug)]
    struct Bowl {
        a: f64,
        b: f64,
        tilt: f64,
    }

    impl Bowl {
        fn at(&self, [x, y]: [f64; 2]) -> f64 {
            let (u, v) = (x - self.a, y - self.b);
            u * u + v * v * (1.0 + self.tilt.abs()) + self.tilt * u * v
        }
    }

    impl CostFunction for Bowl {
        type Param = Vec<f64>;
        type Output = f64;
        fn cost(&self, p: &Vec<f64>) -> Result<f64, Error> {
            Ok(self.at([p[0], p[1]]))
        }
    }

    /// The cost at which argmin's solver of the same name ends.
    fn reference(bowl: Bowl, [x, y]: [f64; 2], step: f64, most: u64) -> f64 {
        let solver =
            NelderMead::new(vec![vec![x, y], vec![x + step, y], vec![x, y + step]]).with_sd_tolerance(FLAT).unwrap();
        let configure = |s: IterState<Vec<f64>, (), (), (), (), f64>| s.max_iters(most);
        Executor::new(bowl, solver).configure(configure).run().unwrap().state.best_cost
    }

    #[test]
    fn finds_the_bottom_of_a_bent_valley() {
        let rosenbrock = |[x, y]: [f64; 2]| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2);
        let [x, y] = minimise([-1.2, 1.0], 0.7, 300, rosenbrock);
        assert!((x - 1.0).abs() < 1e-3 && (y - 1.0).abs() < 1e-3, "{x} {y}");
    }

    #[test]
    fn one_variable_and_a_start_far_off() {
        let [x] = minimise([0.0], 0.5, 60, |[x]| (x - 37.1).abs());
        assert!((x - 37.1).abs() < 1e-3, "{x}");
    }

    #[test]
    fn undefined_costs_are_avoided() {
        let [x, y] = minimise([1.0, 1.0], 0.7, 100, |[x, y]| (x.ln() - 1.0).powi(2) + y * y);
        assert!((x - 1.0f64.exp()).abs() < 1e-2 && y.abs() < 1e-2, "{x} {y}");
        assert_eq!(minimise([1.0, 2.0], 0.5, 30, |_| f64::NAN), [1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn as_good_as_the_reference(a in -5.0..5.0f64, b in -5.0..5.0f64, tilt in -1.0..1.0f64, x in -9.0..9.0f64, y in -9.0..9.0f64) {
            let bowl = Bowl { a, b, tilt };
            let found = bowl.at(minimise([x, y], 0.7, 60, |p| bowl.at(p)));
            prop_assert!(found <= reference(bowl, [x, y], 0.7, 60) + 1e-6, "{found}");
        }

        #[test]
        fn never_worse_than_the_start(a in -5.0..5.0f64, b in -5.0..5.0f64, x in -9.0..9.0f64, y in -9.0..9.0f64, most in 0u32..40) {
            let cost = |[u, v]: [f64; 2]| (u - a).powi(2) + (3.0 * (v - b)).sin() + 0.1 * v * v;
            let found = minimise([x, y], 0.7, most, cost);
            prop_assert!(cost(found) <= cost([x, y]));
        }
    }
}
