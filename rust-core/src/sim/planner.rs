//! The engine as the product drives it: told of starts, losses and ends, asked for a plan every epoch and when runs come or go.

use super::discipline::Seat;
use super::failure::{Failure, Outcome};
use super::recorded::Recorded;
use crate::{Config, Engine, RunSpec, Stage};
use std::time::{Duration, Instant};

/// An engine, the rule of lending, and the time the engine took.
pub struct Planner {
    engine: Engine,
    epoch: f64,
    /// Seconds before unused cores are lent; infinite: never.
    lend_delay: f64,
    /// Cores that no share covers.
    unassigned: u32,
    /// Wall time spent in plans, and how many there were.
    pub planning: (Duration, u32),
}

impl Planner {
    /// A fresh engine. `lend_delay` is in seconds, at least 0.
    pub fn new(config: Config, lend_delay: f64) -> Planner {
        let epoch = config.epoch;
        Planner { engine: Engine::new(config), epoch, lend_delay, unassigned: 0, planning: (Duration::ZERO, 0) }
    }

    /// Seconds between plans.
    pub fn epoch(&self) -> f64 {
        self.epoch
    }

    /// A run begins. Its name is the curve's, by which the oracle knows it.
    ///
    /// # Errors
    /// The engine refuses it.
    pub fn start(&mut self, run: usize, curve: &Recorded, now: f64) -> Outcome<()> {
        let spec = RunSpec {
            id: run as i64,
            parent: None,
            algorithm: curve.algorithm.clone(),
            name: Some(curve.name.clone()),
            maximise: curve.maximise,
            has_loss: true,
            max_iterations: curve.max_iterations,
            tolerance: None,
            weight: 1.0,
            ceiling: None,
        };
        self.engine.start(spec, now).map_err(refused)
    }

    /// An iteration ended with the curve's loss, off by `error` times what the run has still to lose.
    ///
    /// # Errors
    /// The engine refuses it.
    pub fn report(
        &mut self,
        run: usize,
        iteration: usize,
        curve: &Recorded,
        error: f64,
        now: f64,
        stages: &[Stage],
    ) -> Outcome<()> {
        let loss = curve.losses[iteration];
        let still = if error == 0.0 { 0.0 } else { loss - curve.losses[curve.losses.len() - 1] };
        self.engine.report(run as i64, iteration as u32, loss + error * still, now, stages).map_err(refused)
    }

    /// Work before the first loss.
    ///
    /// # Errors
    /// The engine refuses it.
    pub fn observe(&mut self, run: usize, now: f64, stages: &[Stage]) -> Outcome<()> {
        self.engine.observe(run as i64, now, stages).map_err(refused)
    }

    /// The run is over.
    ///
    /// # Errors
    /// The engine refuses it.
    pub fn finish(&mut self, run: usize, now: f64) -> Outcome<()> {
        self.engine.finish(run as i64, now).map_err(refused)
    }

    /// Sets the limits of the active runs.
    pub fn plan(&mut self, cores: u32, now: f64, active: &[usize], seats: &mut [Seat]) {
        let started = Instant::now();
        let plan = self.engine.plan(cores, 0.0, now);
        self.planning.0 += started.elapsed();
        self.planning.1 += 1;
        let mut shares = vec![0; seats.len()];
        for share in &plan.shares {
            shares[share.run as usize] = share.cores;
        }
        self.unassigned = cores;
        for &run in active {
            let seat = &mut seats[run];
            if shares[run] > seat.limit {
                seat.busy_at = now;
            }
            seat.limit = shares[run];
            self.unassigned = self.unassigned.saturating_sub(seat.limit);
        }
    }

    /// Cores that may be lent now, beyond those that are, and when to ask again because more may be: a run's unused cores
    /// are lent once they were idle for the delay, those that no share covers at once.
    pub fn lendable(&self, now: f64, active: &[usize], seats: &[Seat]) -> (u32, Option<f64>) {
        let (mut lendable, mut borrowed) = (self.unassigned, 0);
        let mut soonest = f64::INFINITY;
        for &run in active {
            let seat = &seats[run];
            let idle_until = seat.busy_at + self.lend_delay;
            if idle_until <= now {
                lendable += seat.unused();
            } else if seat.unused() > 0 {
                soonest = soonest.min(idle_until);
            }
            borrowed += seat.borrowed();
        }
        (lendable.saturating_sub(borrowed), soonest.is_finite().then_some(soonest))
    }
}

fn refused(error: crate::Error) -> Failure {
    Failure::new(format!("the engine refused a simulated event: {error}"))
}
