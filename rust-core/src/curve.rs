//! The curve families: how a loss may fall with the iterations, one short block each.

/// Shape of a falling curve g(x), x = iterations since the origin, g(0) = 1, with g not rising and g(∞) = 0
/// (a line has no floor: g falls for ever).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// 1 − x: the last change repeats itself.
    Line,
    /// exp(−rate·x): linear and superlinear optimisers (L-BFGS, Newton, Lloyd, EM).
    Exponential {
        /// Decay per iteration, > 0.
        rate: f64,
    },
    /// 1/(1 + p·x + q·x²): sublinear optimisers (gradient descent, boosting); the paper's 1/(ak²+bk+c).
    Reciprocal {
        /// Linear coefficient, ≥ 0.
        p: f64,
        /// Quadratic coefficient, ≥ 0.
        q: f64,
    },
    /// (1 + x/scale)^(−power): slower than any reciprocal quadratic.
    Power {
        /// Iterations over which the start bends, > 0.
        scale: f64,
        /// Exponent, > 0.
        power: f64,
    },
}

impl Shape {
    /// g(x); x ≥ 0.
    #[inline]
    pub fn at(self, x: f64) -> f64 {
        match self {
            Shape::Line => 1.0 - x,
            Shape::Exponential { rate } => (-rate * x).exp(),
            Shape::Reciprocal { p, q } => 1.0 / (1.0 + x * (p + q * x)),
            Shape::Power { scale, power } => (1.0 + x / scale).powf(-power),
        }
    }
}

/// A curve: loss(k) = floor + height · g(k − origin).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// How it falls.
    pub shape: Shape,
    /// Iteration at which g is 1.
    pub origin: f64,
    /// Loss above the floor at the origin; ≥ 0 but for a line that rises.
    pub height: f64,
    /// Loss after infinitely many iterations (for a line: loss at origin + 1).
    pub floor: f64,
}

impl Curve {
    /// Loss after iteration k; k at or after the origin.
    #[inline]
    pub fn at(&self, k: f64) -> f64 {
        self.floor + self.height * self.shape.at(k - self.origin)
    }

    /// The curve in other units: its first iteration is `origin`, its losses are multiplied by `scale` and raised by `low`.
    pub fn scaled(&self, origin: f64, scale: f64, low: f64) -> Curve {
        Curve { shape: self.shape, origin, height: self.height * scale, floor: low + self.floor * scale }
    }

    /// How far the loss falls from iteration k to k + ahead; negative for a line that rises.
    #[inline]
    pub fn change(&self, k: f64, ahead: f64) -> f64 {
        let x = k - self.origin;
        self.height * (self.shape.at(x) - self.shape.at(x + ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shapes() -> impl Strategy<Value = Shape> {
        prop_oneof![
            Just(Shape::Line),
            (1e-6..10.0).prop_map(|rate| Shape::Exponential { rate }),
            (0.0..10.0, 0.0..10.0).prop_map(|(p, q)| Shape::Reciprocal { p, q }),
            (0.1..1e3, 0.05..5.0).prop_map(|(scale, power)| Shape::Power { scale, power }),
        ]
    }

    proptest! {
        #[test]
        fn every_shape_starts_at_one_and_never_rises(shape in shapes(), x in 0.0..1e4, step in 0.0..1e4) {
            prop_assert_eq!(shape.at(0.0), 1.0);
            prop_assert!(shape.at(x + step) <= shape.at(x));
        }

        #[test]
        fn falls_are_finite_and_never_negative(shape in shapes(), k in 1.0..1e5, ahead in 0.0..1e5, height in 0.0..1e9) {
            let curve = Curve { shape, origin: 1.0, height, floor: -3.0 };
            let fall = curve.change(k, ahead);
            prop_assert!(fall.is_finite() && fall >= 0.0);
        }
    }
}
