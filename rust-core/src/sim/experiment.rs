//! Policies against each other: every seed's runs under every policy, on as many threads as asked for.

use super::contender::{Contender, OracleFile};
use super::failure::Outcome;
use super::metrics::Metrics;
use super::recorded::Recorded;
use super::trace::Trace;
use super::workload::{Library, Setting};
use super::world::{Conditions, simulate};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Everything that stays the same while policies differ.
#[derive(Debug)]
pub struct Experiment {
    /// Curves that the runs follow.
    pub library: Library,
    /// Where the oracle looks the curves up.
    pub oracle: OracleFile,
    /// What arrives.
    pub setting: Setting,
    /// How untidy the cluster is.
    pub conditions: Conditions,
    /// Seconds before unused cores are lent; infinite: never.
    pub lend_delay: f64,
    /// Number of seeds.
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
    /// Simulations side by side.
    pub threads: usize,
}

/// How a policy did.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The policy's name.
    pub name: String,
    /// Means over the seeds.
    pub metrics: Metrics,
    /// Of each seed.
    pub per_seed: Vec<Metrics>,
    /// The first seed's course, for the figures.
    pub trace: Trace,
}

/// Figures and course of each policy for one seed.
type Played = Vec<(Metrics, Trace)>;

impl Experiment {
    /// An experiment with the curves that improve.
    ///
    /// # Errors
    /// The oracle's file cannot be written.
    pub fn new(
        recorded: &[Recorded],
        setting: Setting,
        conditions: Conditions,
        lend_delay: f64,
    ) -> Outcome<Experiment> {
        Ok(Experiment {
            library: Library::new(recorded),
            oracle: OracleFile::write(recorded)?,
            setting,
            conditions,
            lend_delay,
            seeds: 1,
            first_seed: 1,
            threads: 1,
        })
    }

    /// One simulation.
    ///
    /// # Errors
    /// The engine refuses a run.
    pub fn play(&self, contender: &Contender, seed: u64) -> Outcome<Trace> {
        let jobs = self.library.jobs(&self.setting, seed);
        simulate(&jobs, self.setting.cores, &mut contender.discipline(self.lend_delay), &self.conditions, seed)
    }

    /// All policies over all seeds, in the order given. `progress` is told how many simulations of how many are done.
    ///
    /// # Errors
    /// The first simulation that fails.
    pub fn compare(&self, contenders: &[Contender], progress: impl Fn(u64, u64) + Sync) -> Outcome<Vec<Standing>> {
        let (next, done) = (AtomicU64::new(self.first_seed), AtomicU64::new(0));
        let total = self.seeds * contenders.len() as u64;
        let results: Mutex<Vec<(u64, Outcome<Played>)>> = Mutex::new(Vec::new());
        let work = || {
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= self.first_seed + self.seeds {
                    return;
                }
                let result = self.seed(contenders, seed, || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total));
                results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((seed, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
        });
        let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        results.sort_by_key(|(seed, _)| *seed);
        let per_seed = results.into_iter().map(|(_, result)| result).collect::<Outcome<Vec<_>>>()?;
        Ok(contenders
            .iter()
            .enumerate()
            .map(|(index, contender)| {
                let metrics: Vec<Metrics> = per_seed.iter().map(|seed| seed[index].0).collect();
                let trace = per_seed.first().map(|seed| seed[index].1.clone()).unwrap_or_default();
                Standing {
                    name: contender.name.clone(),
                    metrics: Metrics::over_seeds(&metrics),
                    per_seed: metrics,
                    trace,
                }
            })
            .collect())
    }

    fn seed(&self, contenders: &[Contender], seed: u64, done: impl Fn()) -> Outcome<Played> {
        let fair = self.play(&Contender::fair(), seed)?;
        contenders
            .iter()
            .map(|contender| {
                let trace = if contender.name == "fair" { fair.clone() } else { self.play(contender, seed)? };
                let metrics = Metrics::of(&trace, &fair, self.setting.cores);
                done();
                // Only the first seed's course is drawn; a thousand samples of every other one need not be kept.
                Ok((metrics, if seed == self.first_seed { trace } else { Trace::default() }))
            })
            .collect()
    }
}
