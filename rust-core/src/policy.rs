//! Who gets cores: the product's policy, the ones it is compared with, and their weights.

use crate::allocate::{Limits, Utility, allocate, spread};
use crate::error::{Error, Result};
use crate::run::Run;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A way to share cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// By predicted gain (the product).
    Quality,
    /// Equal shares, by weight.
    Equal,
    /// Shares proportional to the measured progress of late.
    Progress,
    /// Least attained service first.
    Las,
    /// As the authors' prototype of 2017: two-point geometric, linear speed-up, floor of three cores.
    Slaq2017,
    /// By the true gain, from recorded losses.
    Oracle,
}

const ALL: [(Policy, &str); 6] = [
    (Policy::Quality, "quality"),
    (Policy::Equal, "equal"),
    (Policy::Progress, "progress"),
    (Policy::Las, "las"),
    (Policy::Slaq2017, "slaq-2017"),
    (Policy::Oracle, "oracle"),
];

impl Policy {
    /// The policy of this name.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown name; it lists the known ones.
    pub fn parse(name: &str) -> Result<Policy> {
        ALL.iter().find(|(_, n)| *n == name.trim()).map(|(p, _)| *p).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|(_, n)| *n).collect();
            Error::config("policy", name, format!("one of {}", names.join(", ")))
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALL.iter().find(|(p, _)| p == self).map_or("", |(_, n)| n))
    }
}

/// Reads the oracle's file: a JSON object of run names and their losses, one an iteration.
///
/// # Errors
/// [`Error::File`] when it cannot be read or is not of this form.
pub fn read_recorded(path: &Path) -> Result<HashMap<String, Arc<[f64]>>> {
    let fail = |reason: String| Error::File { path: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| fail(e.to_string()))?;
    let map = value.as_object().ok_or_else(|| fail("not an object of run names".into()))?;
    map.iter()
        .map(|(name, losses)| {
            let losses: Option<Arc<[f64]>> = losses.as_array().and_then(|a| a.iter().map(Value::as_f64).collect());
            losses
                .filter(|l| !l.is_empty())
                .map(|l| (name.clone(), l))
                .ok_or_else(|| fail(format!("{name}: not a list of numbers")))
        })
        .collect()
}

/// Shares under a policy that does not look at forecasts of ours.
pub(crate) fn shares(policy: Policy, runs: &[&Run], limits: &[Limits], budget: u32, epoch: f64) -> Vec<u32> {
    match policy {
        Policy::Las => least_attained(runs, limits, budget),
        Policy::Slaq2017 => slaq_2017(runs, limits, budget, epoch),
        Policy::Progress => by_weight(limits, budget, |i| runs[i].spec.weight * progress(runs[i])),
        Policy::Equal | Policy::Quality | Policy::Oracle => by_weight(limits, budget, |i| runs[i].spec.weight),
    }
}

/// Last change over the largest so far (ReLAQS 2019, with the paper's normalisation); 1 for a run without two losses.
fn progress(run: &Run) -> f64 {
    let history = run.model.history();
    match history.losses() {
        [.., before, last] if history.largest_change() > 0.0 => {
            ((before - last) / history.largest_change()).clamp(1e-3, 1.0)
        }
        _ => 1.0,
    }
}

/// Shares proportional to weights, between floor and ceiling: repeatedly to the run that is furthest below its part.
fn by_weight(limits: &[Limits], budget: u32, weight: impl Fn(usize) -> f64) -> Vec<u32> {
    allocate(limits, budget, &Proportional(weight))
}

/// Concave gains whose marginal values make the greedy plan a proportional one (the divisor method of Webster).
struct Proportional<F>(F);

impl<F: Fn(usize) -> f64> Utility for Proportional<F> {
    fn gain(&self, run: usize, cores: u32) -> f64 {
        let n = f64::from(cores);
        // Sum over j < n of w/(j + 1/2), up to a constant: the digamma function's first terms.
        let x = n + 0.5;
        self.0(run) * (x.ln() + 1.0 / (24.0 * x * x))
    }

    fn next(&self, _run: usize, cores: u32) -> Option<u32> {
        Some(cores + 1)
    }
}

/// All cores to the runs with the least core-seconds so far, each up to what its stages can use.
fn least_attained(runs: &[&Run], limits: &[Limits], budget: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| {
        (runs[a].service / runs[a].spec.weight).total_cmp(&(runs[b].service / runs[b].spec.weight)).then(a.cmp(&b))
    });
    let mut shares: Vec<u32> = limits.iter().map(|l| l.floor).collect();
    let mut left = budget.saturating_sub(shares.iter().sum());
    for i in order {
        let useful = runs[i].speed.most_useful().unwrap_or(u32::MAX).min(limits[i].ceiling);
        let step = useful.saturating_sub(shares[i]).min(left);
        shares[i] += step;
        left -= step;
    }
    spread(limits, &mut shares, left);
    shares
}

/// Cores that the prototype gives every run first.
const FLOOR_2017: u32 = 3;

/// The prototype: fair share for runs with fewer than two changes, then by predicted reduction over the largest so far.
fn slaq_2017(runs: &[&Run], limits: &[Limits], budget: u32, epoch: f64) -> Vec<u32> {
    let fair = budget / runs.len().max(1) as u32;
    let limits: Vec<Limits> = limits
        .iter()
        .zip(runs)
        .map(|(l, r)| {
            let floor = if r.points() < 3 { fair } else { FLOOR_2017.min(fair) };
            Limits { floor: floor.max(l.floor).min(l.ceiling), ceiling: l.ceiling }
        })
        .collect();
    allocate(&limits, budget, &TwoPoint { runs, epoch })
}

struct TwoPoint<'a> {
    runs: &'a [&'a Run],
    epoch: f64,
}

impl Utility for TwoPoint<'_> {
    fn gain(&self, run: usize, cores: u32) -> f64 {
        let run = self.runs[run];
        let history = run.model.history();
        let [.., a, b, c] = *history.losses() else { return 0.0 };
        let (before, last) = (a - b, b - c);
        if !(last > 0.0 && before > 0.0) || history.largest_change() <= 0.0 {
            return 0.0;
        }
        let ratio = (last / before).min(0.999);
        let iterations = self.epoch * f64::from(cores) / run.speed.seconds(1).unwrap_or(1.0).max(1e-6);
        last * ratio * (1.0 - ratio.powf(iterations)) / (1.0 - ratio) / history.largest_change()
    }

    fn next(&self, _run: usize, cores: u32) -> Option<u32> {
        Some(cores + 1)
    }
}
