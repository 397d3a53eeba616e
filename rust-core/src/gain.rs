//! The gain of a run: predicted normalised loss reduction within a time, with n cores.

use crate::curve::Curve;
use crate::speed::Speed;
use std::sync::Arc;

/// Course of a loss over the iterations.
#[derive(Clone, Debug)]
pub enum Course {
    /// A fitted or typical curve.
    Curve(Curve),
    /// Recorded losses, one an iteration, from iteration 0.
    Recorded(Arc<[f64]>),
}

impl Course {
    /// How far the loss falls from iteration k over the next `ahead`; ≥ 0.
    pub fn fall(&self, k: f64, ahead: f64) -> f64 {
        match self {
            Course::Curve(curve) => curve.fall(k, ahead),
            Course::Recorded(losses) => (interpolate(losses, k) - interpolate(losses, k + ahead)).max(0.0),
        }
    }
}

fn interpolate(losses: &[f64], k: f64) -> f64 {
    let end = losses.len() - 1;
    let below = (k.max(0.0) as usize).min(end);
    let above = (below + 1).min(end);
    let part = (k - below as f64).clamp(0.0, 1.0);
    losses[below] + part * (losses[above] - losses[below])
}

/// What a plan needs to know of one run, copied out of its models.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// Expected course of the loss.
    pub course: Course,
    /// Iterations done, on the course's axis.
    pub iteration: f64,
    /// Iterations that are left before the run stops by itself; infinite when unknown.
    pub left: f64,
    /// Value of one unit of loss: weight / normaliser, ≥ 0.
    pub value: f64,
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
        (seconds / each.max(1e-6)).min(self.left)
    }

    /// Normalised loss reduction within `seconds` with `cores`: finite, ≥ 0, never falling with cores.
    pub fn gain(&self, cores: u32, seconds: f64) -> f64 {
        let gain = self.value * self.course.fall(self.iteration, self.iterations(cores, seconds));
        if gain.is_finite() { gain.max(0.0) } else { 0.0 }
    }
}
