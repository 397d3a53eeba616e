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
