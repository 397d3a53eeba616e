//! Seeded random numbers. A generator of our own, because figures must stay the same when a dependency changes.

/// SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, any seed is good, streams of different seeds are independent enough here.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator whose whole sequence follows from `seed`.
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform whole number in `0..n` (0 for n = 0).
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Standard normal (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Log-normal with median 1: `exp(sigma · N(0, 1))`.
    pub fn spread(&mut self, sigma: f64) -> f64 {
        if sigma == 0.0 { 1.0 } else { (sigma * self.normal()).exp() }
    }

    /// Uniform in the logarithm between `low` and `high`, both > 0.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.unit() * (high.ln() - low.ln())).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
        let draw = |seed| {
            let mut r = Random::new(seed);
            (0..5).map(|_| r.bits()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut r = Random::new(7);
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || r.unit()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || r.exponential(15.0)) - 15.0).abs() < 0.2);
        assert!(mean(&mut || r.normal()).abs() < 0.01);
        assert!((mean(&mut || r.normal().powi(2)) - 1.0).abs() < 0.02);
        assert!((mean(&mut || r.log_uniform(2.0, 8.0).ln()) - 4f64.ln()).abs() < 0.01);
        assert!((0..1000).all(|_| r.below(3) < 3));
    }
}
