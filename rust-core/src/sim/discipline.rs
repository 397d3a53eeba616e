//! Who gets a free core: Spark's own orders, or a plan with limits and lending.

use super::planner::Planner;
use crate::order::Total;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What a discipline sees of a run, and where it puts its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seat {
    /// Tasks that wait.
    pub pending: u32,
    /// Tasks that run.
    pub running: u32,
    /// Most tasks the plan lets run.
    pub limit: u32,
    /// When it last started a task, used its whole share, or had the share raised: from then on its unused cores are idle.
    pub busy_at: f64,
    /// Place of its current iteration among all that were submitted.
    pub submission: u64,
    /// Answer: tasks to start now.
    pub given: u32,
}

/// How the cores are shared.
pub enum Discipline {
    /// Spark's FIFO: the job submitted first goes first. Each iteration is a job, so runs on several threads take turns.
    Fifo,
    /// Spark's FAIR with one pool a run: the run with the fewest running tasks goes first, no core idles.
    Fair,
    /// Limits planned by an engine, unused cores lent after a delay.
    Planned(Box<Planner>),
}

impl Seat {
    fn wants(&self) -> u32 {
        self.pending - self.given
    }

    fn held(&self) -> u32 {
        self.running + self.given
    }

    fn wants_within_limit(&self) -> u32 {
        self.wants().min(self.limit.saturating_sub(self.held()))
    }

    /// Cores of the share that nothing runs on.
    pub fn unused(&self) -> u32 {
        self.limit.saturating_sub(self.held())
    }

    /// Cores in use beyond the share.
    pub fn borrowed(&self) -> u32 {
        self.held().saturating_sub(self.limit)
    }

    /// Cores held for each core planned.
    fn load(&self) -> f64 {
        f64::from(self.held()) / f64::from(self.limit).max(0.1)
    }
}

impl Discipline {
    /// Sets `given` of the active runs, together at most `free`. Returns when to ask again although nothing else happens.
    pub fn hand_out(&mut self, free: u32, now: f64, active: &[usize], seats: &mut [Seat]) -> Option<f64> {
        match self {
            Discipline::Fifo => {
                one_by_one(free, active, seats, Seat::wants, |seat| seat.submission as f64);
                None
            }
            Discipline::Fair => {
                one_by_one(free, active, seats, Seat::wants, |seat| f64::from(seat.held()));
                None
            }
            Discipline::Planned(planner) => {
                let free = one_by_one(free, active, seats, Seat::wants_within_limit, Seat::load);
                if free == 0 || active.iter().all(|&run| seats[run].wants() == 0) {
                    return None;
                }
                let (lendable, later) = planner.lendable(now, active, seats);
                one_by_one(free.min(lendable), active, seats, Seat::wants, Seat::load);
                later
            }
        }
    }
}

/// Gives free cores to the run with the smallest rank again and again; all at once when there is enough for everybody.
/// Returns what is left.
fn one_by_one(
    free: u32,
    active: &[usize],
    seats: &mut [Seat],
    wants: impl Fn(&Seat) -> u32,
    rank: impl Fn(&Seat) -> f64,
) -> u32 {
    let wanted: u64 = active.iter().map(|&run| u64::from(wants(&seats[run]))).sum();
    if wanted <= u64::from(free) {
        for &run in active {
            let seat = &mut seats[run];
            seat.given += wants(seat);
        }
        return free - wanted as u32;
    }
    let mut queue: BinaryHeap<Reverse<Place>> = active
        .iter()
        .enumerate()
        .filter(|(_, run)| wants(&seats[**run]) > 0)
        .map(|(order, run)| Reverse(Place { rank: Total(rank(&seats[*run])), order, run: *run }))
        .collect();
    for _ in 0..free {
        let Some(mut first) = queue.peek_mut() else { break };
        let Reverse(place) = &mut *first;
        let seat = &mut seats[place.run];
        seat.given += 1;
        if wants(seat) > 0 {
            place.rank = Total(rank(seat));
        } else {
            PeekMut::pop(first);
        }
    }
    0
}

/// Place of a run in the queue for a core: lowest rank first, of equal ranks the run that arrived first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: Total,
    order: usize,
    run: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(of: &[(u32, u32, u64)]) -> Vec<Seat> {
        of.iter()
            .map(|&(pending, running, submission)| Seat { pending, running, submission, ..Seat::default() })
            .collect()
    }

    fn given(discipline: &mut Discipline, free: u32, mut seats: Vec<Seat>) -> Vec<u32> {
        let active: Vec<usize> = (0..seats.len()).collect();
        assert_eq!(discipline.hand_out(free, 0.0, &active, &mut seats), None);
        seats.iter().map(|seat| seat.given).collect()
    }

    #[test]
    fn fair_evens_out_the_running_tasks_and_fifo_follows_submission() {
        let start = || seats(&[(9, 4, 2), (9, 0, 3), (2, 0, 1)]);
        assert_eq!(given(&mut Discipline::Fair, 6, start()), [0, 4, 2]);
        assert_eq!(given(&mut Discipline::Fifo, 6, start()), [4, 0, 2]);
        assert_eq!(given(&mut Discipline::Fair, 100, start()), [9, 9, 2]);
    }
}
