//! Hands out cores to the largest gain per core, jumping to the next core count that saves a wave of tasks; few cores among few
//! runs are handed out in the best possible way.

use crate::order::Total;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a run may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Cores that it gets in any case.
    pub floor: u32,
    /// Cores that it gets at most; not below the floor.
    pub ceiling: u32,
}

/// What cores are worth to the runs 0, 1, 2, …
pub trait Utility {
    /// Gain of a run with this many cores; ≥ 0, not falling with cores. Anything not finite counts as 0.
    fn gain(&self, run: usize, cores: u32) -> f64;
    /// The least number of cores above `cores` that can be worth more; None when more cores help nothing.
    fn next(&self, run: usize, cores: u32) -> Option<u32>;
}

/// Jumps that are looked at from one core count: enough to get over the plateaus of ceil(tasks/n).
const LOOKAHEAD: usize = 8;

/// Runs × cores² up to which the best plan is searched for: well below a millisecond.
const EXACT: u64 = 200_000;

/// In the queue the larger ratio comes first; ties go to the run that comes first, so a plan is reproducible.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Jump {
    /// Gain per core.
    ratio: Total,
    run: Reverse<u32>,
    to: Reverse<u32>,
}

/// Shares of `budget` cores, one per run, between floor and ceiling (floors are cut, last run first, when they exceed the
/// budget). What no run gains from is spread evenly below the ceilings.
pub fn allocate(limits: &[Limits], budget: u32, utility: &impl Utility) -> Vec<u32> {
    let mut left = budget;
    let mut shares: Vec<u32> = limits
        .iter()
        .map(|l| {
            let share = l.floor.min(left);
            left -= share;
            share
        })
        .collect();
    if (limits.len() as u64).saturating_mul(u64::from(left).pow(2)) <= EXACT {
        exact(limits, left, utility, &mut shares);
        return shares;
    }
    let mut heap: BinaryHeap<Jump> =
        (0..limits.len()).filter_map(|run| best_jump(utility, run, shares[run], limits[run].ceiling, left)).collect();
    while left > 0 {
        let Some(jump) = heap.pop() else { break };
        let (Reverse(run), Reverse(to)) = (jump.run, jump.to);
        let run = run as usize;
        let step = to - shares[run];
        if step <= left {
            left -= step;
            shares[run] = to;
        }
        heap.extend(best_jump(utility, run, shares[run], limits[run].ceiling, left));
    }
    spread(limits, &mut shares, left);
    shares
}

/// Raises the shares by `left` cores to the largest sum of gains, by dynamic programming over the runs: for small clusters, where
/// one core more or less counts and greed may be wrong. Of equal plans the one with fewer cores for later runs is taken.
fn exact(limits: &[Limits], left: u32, utility: &impl Utility, shares: &mut [u32]) {
    let width = left as usize + 1;
    let gain = |run, cores| Some(utility.gain(run, cores)).filter(|g| g.is_finite()).unwrap_or(0.0);
    let mut sums = vec![0.0; width];
    let mut next = vec![0.0; width];
    let mut extras = vec![0u32; width * limits.len()];
    for (run, limit) in limits.iter().enumerate() {
        let (from, row) = (shares[run], &mut extras[run * width..][..width]);
        let here = gain(run, from);
        next.copy_from_slice(&sums);
        let mut to = from;
        while let Some(more) = utility.next(run, to).filter(|n| *n > to && *n <= limit.ceiling.min(from + left)) {
            to = more;
            let (extra, worth) = (to - from, gain(run, to) - here);
            for used in extra as usize..width {
                let sum = sums[used - extra as usize] + worth;
                if sum > next[used] + 1e-12 * next[used].abs() {
                    next[used] = sum;
                    row[used] = extra;
                }
            }
        }
        std::mem::swap(&mut sums, &mut next);
    }
    let mut used = left;
    for run in (0..limits.len()).rev() {
        let extra = extras[run * width + used as usize];
        shares[run] += extra;
        used -= extra;
    }
    spread(limits, shares, used);
}

/// The jump with the most gain per core from `from`, at most `left` cores wide.
fn best_jump(utility: &impl Utility, run: usize, from: u32, ceiling: u32, left: u32) -> Option<Jump> {
    let most = ceiling.min(from.saturating_add(left));
    let gain = |cores| Some(utility.gain(run, cores)).filter(|g| g.is_finite()).unwrap_or(0.0);
    let here = gain(from);
    let mut best: Option<Jump> = None;
    let mut to = from;
    for _ in 0..LOOKAHEAD {
        match utility.next(run, to) {
            Some(next) if next > to && next <= most => to = next,
            _ => break,
        }
        let ratio = (gain(to) - here) / f64::from(to - from);
        if ratio > best.as_ref().map_or(0.0, |b| b.ratio.0 * (1.0 + 1e-9)) {
            best = Some(Jump { ratio: Total(ratio), run: Reverse(run as u32), to: Reverse(to) });
        }
    }
    best
}

/// Raises the lowest shares together until `left` cores are gone or every run is at its ceiling.
pub fn spread(limits: &[Limits], shares: &mut [u32], mut left: u32) {
    let mut open: Vec<usize> = (0..limits.len()).filter(|&i| shares[i] < limits[i].ceiling).collect();
    while left > 0 && !open.is_empty() {
        let each = (left / open.len() as u32).max(1);
        for &run in &open {
            let step = each.min(limits[run].ceiling - shares[run]).min(left);
            shares[run] += step;
            left -= step;
        }
        open.retain(|&i| shares[i] < limits[i].ceiling);
    }
}

#[cfg(test)]
#[path = "allocate_tests.rs"]
mod tests;
