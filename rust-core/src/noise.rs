//! How much of a loss's last move is chance. The losses of mini-batches jump about their course, and a jump goes back where
//! progress goes on: so the deviation of every loss from the running mean is compared with the step that follows it.

/// Weight of the newest loss in the running mean.
const MEAN: f64 = 0.2;
/// Weight of the newest comparison: about the last fourteen decide.
const NEWEST: f64 = 0.07;
/// Comparisons as which the assumption counts that nothing is chance.
const DOUBT: f64 = 5.0;
/// What comparisons of pure chance say on the average (0.41 to 0.45, by the shape of the noise), as none may say that more than
/// the whole deviation went back, or that it doubled. So a single outlier among losses that fall makes no noise of them.
const CHANCE: f64 = 0.42;

/// Learns, loss by loss, which part of a deviation from the running mean goes back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noise {
    mean: f64,
    last: f64,
    seen: u32,
    back: f64,
}

impl Noise {
    /// Takes in the next loss, which is finite.
    pub fn push(&mut self, loss: f64) {
        if self.seen == 0 {
            self.mean = loss;
        }
        let (deviation, step) = (self.last - self.mean, self.last - loss);
        if self.seen > 0 && deviation != 0.0 {
            let rate = (1.0 / (f64::from(self.seen) + DOUBT)).max(NEWEST);
            self.back += rate * ((step / deviation).clamp(-1.0, 1.0) - self.back);
        }
        self.mean += MEAN * (loss - self.mean);
        self.last = loss;
        self.seen = self.seen.saturating_add(1);
    }

    /// Part of a deviation that is expected to go back, in [0, 1]; 0 for losses that fall smoothly.
    pub fn part(&self) -> f64 {
        (self.back / CHANCE).clamp(0.0, 1.0)
    }

    /// Takes that part of every loss's deviation back; oldest first.
    pub fn settle(&self, losses: &mut [f64]) {
        let part = self.part();
        let Some(mut mean) = losses.first().copied().filter(|_| part > 0.0) else { return };
        for loss in losses {
            mean += MEAN * (*loss - mean);
            *loss += part * (mean - *loss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fed(losses: impl IntoIterator<Item = f64>) -> Noise {
        let mut noise = Noise::default();
        losses.into_iter().for_each(|loss| noise.push(loss));
        noise
    }

    /// Noise of mean 0, evenly spread over a width of 1.
    fn jumps() -> impl Iterator<Item = f64> {
        let mut seed = 7u32;
        std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1 << 24) - 0.5
        })
    }

    #[test]
    fn smooth_losses_are_left_alone() {
        let courses: [&dyn Fn(i32) -> f64; 4] = [&|k| 0.9f64.powi(k), &|k| -f64::from(k), &|k| f64::from(k), &|_| 3.0];
        for course in courses {
            let losses: Vec<f64> = (0..50).map(course).collect();
            let mut settled = losses.clone();
            fed(losses.iter().copied()).settle(&mut settled);
            assert_eq!(settled, losses);
        }
    }

    #[test]
    fn jumps_go_back_to_their_mean() {
        let losses: Vec<f64> = jumps().take(100).map(|jump| 5.0 + jump).collect();
        let noise = fed(losses.iter().copied());
        assert!(noise.part() > 0.6, "{}", noise.part());
        let mut settled = losses.clone();
        noise.settle(&mut settled);
        let spread = |values: &[f64]| values[50..].iter().map(|v| (v - 5.0).powi(2)).sum::<f64>();
        assert!(spread(&settled) < 0.4 * spread(&losses), "{} of {}", spread(&settled), spread(&losses));
    }

    #[test]
    fn an_outlier_makes_no_noise_of_a_fall() {
        let losses = (0..60).map(|k| if k == 40 { 99.0 } else { 9.0 * 0.95f64.powi(k) });
        assert_eq!(fed(losses).part(), 0.0);
    }

    #[test]
    fn a_fall_is_no_noise_however_it_starts() {
        let losses = [9.0, 9.5].into_iter().chain((0..40).map(|k| 8.0 * 0.8f64.powi(k)));
        assert_eq!(fed(losses).part(), 0.0);
    }

    proptest! {
        #[test]
        fn settled_losses_stay_among_those_that_came(losses in prop::collection::vec(-1e100..1e100f64, 1..60)) {
            let mut settled = losses.clone();
            let noise = fed(losses.iter().copied());
            noise.settle(&mut settled);
            let (low, high) = losses.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), l| (a.min(*l), b.max(*l)));
            let slack = 1e-9 * (high - low);
            prop_assert!((0.0..=1.0).contains(&noise.part()));
            prop_assert!(settled.iter().all(|l| (low - slack..=high + slack).contains(l)));
        }
    }
}
