//! The gain of a run: what its loss reduction within a time is worth, with n cores.
//!
//! Everything is counted in normalised loss: 1 when the run starts, 0 at the best it is expected to reach. To the reduction
//! itself come two smaller values: reaching the last tenth, for which a user waits who wants a model that is good enough, and
//! coming to an end, without which converged runs would stay for ever.

use crate::forecast::Falls;
use crate::speed::Speed;

/// What is wanted besides loss reduction, in units of a run's whole reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wants {
    /// Value of bringing the normalised loss from 0.15 down to 0.05.
    pub goal: f64,
    /// Value of finishing.
    pub end: f64,
}

/// Between these normalised losses lies the goal.
const GOAL: (f64, f64) = (0.15, 0.05);

/// Part of the goal that is reached at a normalised loss.
fn reached(loss: f64) -> f64 {
    ((GOAL.0 - loss) / (GOAL.0 - GOAL.1)).clamp(0.0, 1.0)
}

/// Value of h more iterations, tabulated: `loss` = present normalised loss, `fall` = how far it falls in h iterations, `left` =
/// iterations that are expected until the run ends, ≥ 1.
pub fn value(loss: f64, fall: impl Fn(f64) -> f64, left: f64, wants: Wants) -> Falls {
    let now = reached(loss);
    Falls::tabulate(|ahead| {
        let fall = fall(ahead).max(0.0);
        let goal = wants.goal * (reached(loss - fall) - now);
        fall + goal + wants.end * (ahead / left).min(1.0)
    })
    .foreseen()
}

/// What a plan needs to know of one run, copied out of its models.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// Value of h more iterations.
    pub value: Falls,
    /// Seconds per iteration.
    pub speed: Speed,
    /// Core-seconds per iteration while nothing was observed; such work is taken to spread over any number of cores.
    pub guess: f64,
}

impl Outlook {
    /// Iterations that fit into `seconds` with `cores`; 0 for 0 cores.
    pub fn iterations(&self, cores: u32, seconds: f64) -> f64 {
        if cores == 0 {
            return 0.0;
        }
        let each = self.speed.seconds(cores).unwrap_or(self.guess / f64::from(cores));
        seconds / each.max(1e-6)
    }

    /// Value of the loss reduction within `seconds` with `cores`: finite, ≥ 0, never falling with cores.
    pub fn gain(&self, cores: u32, seconds: f64) -> f64 {
        let gain = self.value.at(self.iterations(cores, seconds));
        if gain.is_finite() { gain.max(0.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed::Stage;
    use proptest::prelude::*;

    const NONE: Wants = Wants { goal: 0.0, end: 0.0 };

    #[test]
    fn a_step_beyond_a_plateau_is_seen_from_afar() {
        let value = value(1.0, |ahead| if ahead >= 50.0 { 0.5 } else { 0.0 }, 100.0, NONE);
        assert!((value.at(1.0) - 0.01).abs() < 1e-9);
        assert!((value.at(50.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn goal_and_end_add_value() {
        let fall = |ahead: f64| 0.01 * ahead.min(10.0);
        let plain = value(0.15, fall, 20.0, NONE);
        let wanting = value(0.15, fall, 20.0, Wants { goal: 0.5, end: 0.2 });
        assert!((plain.at(10.0) - 0.1).abs() < 1e-9);
        assert!((wanting.at(10.0) - 0.7).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn gains_are_finite_and_never_fall_with_cores(
            loss in 0.0..1.0f64, rate in 1e-6..5.0f64, left in 1.0..1e6f64, goal in 0.0..10.0f64, end in 0.0..10.0f64,
            tasks in 1u32..5000, each in 0.0..100.0f64, seconds in 0.0..1e4f64, cores in 0u32..5000) {
            let mut speed = Speed::default();
            speed.observe(&Stage { tasks, task_seconds: f64::from(tasks) * each, longest_seconds: each, span_seconds: each });
            speed.end(each, 1);
            let value = value(loss, |h| loss * (1.0 - (-rate * h).exp()), left, Wants { goal, end });
            let outlook = Outlook { value, speed, guess: 1.0 };
            let gain = outlook.gain(cores, seconds);
            prop_assert!(gain.is_finite() && gain >= 0.0);
            prop_assert!(outlook.gain(cores + 1, seconds) >= gain * (1.0 - 1e-9));
        }

        #[test]
        fn wild_falls_do_no_harm(falls in prop::collection::vec(any::<f64>(), 1..30), loss in any::<f64>()) {
            let value = value(loss.clamp(-1e100, 1e100), |h| falls[h as usize % falls.len()].clamp(-1e100, 1e100), 5.0, Wants { goal: 1.0, end: 1.0 });
            for h in 0..50 {
                prop_assert!(value.at(f64::from(h)) >= 0.0);
            }
        }
    }
}
