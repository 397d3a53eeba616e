//! The event loop: a cluster of cores, runs that alternate between stages of tasks and driver time, and whoever gives them cores.
//!
//! A run's iteration is a sequence of stages and then the driver's gap, at whose end its next loss is known. A core changes
//! hands only when its task ends. Tasks that start together and last equally long are one event, which keeps a simulation of
//! hundreds of cores and runs in the order of a second.

use super::discipline::{Discipline, Seat};
use super::failure::Outcome;
use super::random::Random;
use super::trace::{RunTrace, Sample, Trace};
use super::workload::Job;
use crate::Stage;
use crate::order::Total;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What makes a simulated cluster less tidy than the plan. [`Conditions::default`] has none of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// Spread (sigma of the logarithm) of the times of a stage's tasks.
    pub noise: f64,
    /// Part of the tasks that straggle, and how many times longer they take.
    pub stragglers: (f64, f64),
    /// Seconds added to the first task on each core beyond those the run held in its last iteration (moving its data).
    pub reallocation: f64,
    /// Error of each loss that the engine sees, as part (sigma) of what the run has still to lose.
    pub misprediction: f64,
    /// Seconds between samples of the metrics.
    pub sample: f64,
    /// Tasks end at multiples of so many seconds: what Spark takes to launch one. 0: at any moment. It also bounds the events
    /// of a simulation, since tasks of a run that end together are one.
    pub tick: f64,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions { noise: 0.0, stragglers: (0.0, 1.0), reallocation: 0.0, misprediction: 0.0, sample: 1.0, tick: 0.0 }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Arrival(usize),
    Tasks(usize),
    Gap(usize),
    Epoch,
    Lend,
    Sample,
}

/// Earliest first; of the same moment, in the order they were made.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: Total,
    order: u64,
    kind: Kind,
}

struct Run<'a> {
    job: &'a Job,
    iteration: usize,
    stage: usize,
    stage_started: f64,
    task_seconds: f64,
    longest: f64,
    /// Stages finished since the engine was told last.
    finished: Vec<Stage>,
    /// Most cores held at once in this iteration and in the one before.
    peak: u32,
    warm: u32,
    loss: f64,
}

struct World<'a> {
    cores: u32,
    free: u32,
    conditions: &'a Conditions,
    random: Random,
    events: BinaryHeap<Reverse<Event>>,
    /// Tasks of a run that end at a moment (the bits of its seconds).
    ending: HashMap<(usize, u64), u32>,
    made: u64,
    submissions: u64,
    runs: Vec<Run<'a>>,
    seats: Vec<Seat>,
    traces: Vec<RunTrace>,
    active: Vec<usize>,
    left: usize,
    replan: bool,
}

/// Plays the jobs on `cores` cores shared by `discipline`. The same arguments give the same trace.
///
/// # Errors
/// The engine refuses a run.
pub fn simulate(
    jobs: &[Job],
    cores: u32,
    discipline: &mut Discipline,
    conditions: &Conditions,
    seed: u64,
) -> Outcome<Trace> {
    let mut world = World::new(jobs, cores, conditions, seed);
    let mut samples = Vec::new();
    while world.left > 0 {
        let Some(Reverse(first)) = world.events.pop() else { break };
        let now = first.time.0;
        let mut next = Some(first);
        while let Some(event) = next {
            match event.kind {
                Kind::Arrival(run) => world.arrive(run, now, discipline)?,
                Kind::Tasks(run) => world.tasks_end(run, now),
                Kind::Gap(run) => world.iteration_ends(run, now, discipline)?,
                Kind::Epoch => world.epoch(now, discipline)?,
                Kind::Lend => {}
                Kind::Sample => {
                    samples.push(world.sample(now));
                    world.push(now + conditions.sample, Kind::Sample);
                }
            }
            next = world
                .events
                .peek()
                .is_some_and(|Reverse(event)| event.time.0 <= now)
                .then(|| world.events.pop())
                .flatten()
                .map(|Reverse(event)| event);
        }
        world.share_out(now, discipline);
    }
    Ok(Trace { runs: world.traces, samples })
}

impl<'a> World<'a> {
    fn new(jobs: &'a [Job], cores: u32, conditions: &'a Conditions, seed: u64) -> World<'a> {
        let run = |job| Run {
            job,
            iteration: 0,
            stage: 0,
            stage_started: 0.0,
            task_seconds: 0.0,
            longest: 0.0,
            finished: Vec::new(),
            peak: 0,
            warm: 0,
            loss: 1.0,
        };
        let mut world = World {
            cores,
            free: cores,
            conditions,
            random: Random::new(seed ^ 0x7A5C),
            events: BinaryHeap::new(),
            ending: HashMap::new(),
            made: 0,
            submissions: 0,
            runs: jobs.iter().map(run).collect(),
            seats: vec![Seat::default(); jobs.len()],
            traces: jobs.iter().map(|job| RunTrace { arrival: job.arrival, ..RunTrace::default() }).collect(),
            active: Vec::new(),
            left: jobs.len(),
            replan: false,
        };
        for (index, job) in jobs.iter().enumerate() {
            world.push(job.arrival, Kind::Arrival(index));
        }
        world.push(0.0, Kind::Epoch);
        world.push(0.0, Kind::Sample);
        world
    }

    fn push(&mut self, time: f64, kind: Kind) {
        self.made += 1;
        self.events.push(Reverse(Event { time: Total(time), order: self.made, kind }));
    }

    fn arrive(&mut self, index: usize, now: f64, discipline: &mut Discipline) -> Outcome<()> {
        if let Discipline::Planned(planner) = discipline {
            planner.start(index, &self.runs[index].job.curve.recorded, now)?;
        }
        self.active.push(index);
        self.replan = true;
        self.submit(index, now);
        Ok(())
    }

    /// The stage's tasks are ready to run.
    fn submit(&mut self, index: usize, now: f64) {
        let run = &mut self.runs[index];
        run.stage_started = now;
        (run.task_seconds, run.longest) = (0.0, 0.0);
        if run.stage == 0 {
            self.submissions += 1;
            self.seats[index].submission = self.submissions;
            run.warm = run.peak;
            run.peak = 0;
        }
        self.seats[index].pending = run.job.iterations[run.iteration][run.stage].tasks;
    }

    fn tasks_end(&mut self, index: usize, now: f64) {
        let count = self.ending.remove(&(index, now.to_bits())).unwrap_or(0);
        self.free += count;
        let seat = &mut self.seats[index];
        if seat.running >= seat.limit {
            seat.busy_at = now;
        }
        seat.running -= count;
        if seat.running > 0 || seat.pending > 0 {
            return;
        }
        let run = &mut self.runs[index];
        let stages = &run.job.iterations[run.iteration];
        run.finished.push(Stage {
            tasks: stages[run.stage].tasks,
            task_seconds: run.task_seconds,
            longest_seconds: run.longest,
            span_seconds: now - run.stage_started,
        });
        run.stage += 1;
        if run.stage < stages.len() {
            self.submit(index, now);
        } else {
            let gap = run.job.gap;
            self.push(now + gap, Kind::Gap(index));
        }
    }

    fn iteration_ends(&mut self, index: usize, now: f64, discipline: &mut Discipline) -> Outcome<()> {
        let run = &mut self.runs[index];
        let (job, iteration) = (run.job, run.iteration);
        run.loss = job.curve.normalised[iteration];
        self.traces[index].times.push(now);
        self.traces[index].normalised.push(run.loss);
        run.stage = 0;
        run.iteration += 1;
        let over = run.iteration == job.iterations.len();
        if let Discipline::Planned(planner) = discipline {
            let error = if self.conditions.misprediction > 0.0 {
                self.conditions.misprediction * self.random.normal()
            } else {
                0.0
            };
            planner.report(index, iteration, &job.curve.recorded, error, now, &self.runs[index].finished)?;
            if over {
                planner.finish(index, now)?;
            }
        }
        self.runs[index].finished.clear();
        if over {
            self.traces[index].finished = now;
            self.active.retain(|run| *run != index);
            self.left -= 1;
            self.replan = true;
        } else {
            self.submit(index, now);
        }
        Ok(())
    }

    fn epoch(&mut self, now: f64, discipline: &mut Discipline) -> Outcome<()> {
        let Discipline::Planned(planner) = discipline else { return Ok(()) };
        for &index in &self.active {
            let run = &mut self.runs[index];
            if run.iteration == 0 && !run.finished.is_empty() {
                planner.observe(index, now, &run.finished)?;
                run.finished.clear();
            }
        }
        self.replan = true;
        let epoch = planner.epoch();
        self.push(now + epoch, Kind::Epoch);
        Ok(())
    }

    fn share_out(&mut self, now: f64, discipline: &mut Discipline) {
        if std::mem::take(&mut self.replan)
            && let Discipline::Planned(planner) = discipline
        {
            planner.plan(self.cores, now, &self.active, &mut self.seats);
        }
        if self.free == 0 {
            return;
        }
        if let Some(later) = discipline.hand_out(self.free, now, &self.active, &mut self.seats) {
            self.push(later, Kind::Lend);
        }
        for place in 0..self.active.len() {
            let index = self.active[place];
            let count = std::mem::take(&mut self.seats[index].given);
            if count > 0 {
                self.start_tasks(index, count, now);
            }
        }
    }

    fn start_tasks(&mut self, index: usize, count: u32, now: f64) {
        self.free -= count;
        let run = &mut self.runs[index];
        let seat = &mut self.seats[index];
        let seconds = run.job.iterations[run.iteration][run.stage].seconds;
        seat.pending -= count;
        seat.running += count;
        seat.busy_at = now;
        run.peak = run.peak.max(seat.running);
        let cold =
            if self.conditions.reallocation > 0.0 { seat.running.saturating_sub(run.warm).min(count) } else { 0 };
        run.warm = run.warm.max(seat.running);
        let (rate, factor) = self.conditions.stragglers;
        if self.conditions.noise == 0.0 && rate == 0.0 {
            self.start_batch(index, cold, seconds + self.conditions.reallocation, now);
            self.start_batch(index, count - cold, seconds, now);
            return;
        }
        for task in 0..count {
            let mut each = seconds * self.random.spread(self.conditions.noise);
            if rate > 0.0 && self.random.unit() < rate {
                each *= factor;
            }
            self.start_batch(index, 1, if task < cold { each + self.conditions.reallocation } else { each }, now);
        }
    }

    fn start_batch(&mut self, index: usize, count: u32, seconds: f64, now: f64) {
        if count > 0 {
            let run = &mut self.runs[index];
            run.task_seconds += f64::from(count) * seconds;
            run.longest = run.longest.max(seconds);
            let end = self.moment(now + seconds);
            let ending = self.ending.entry((index, end.to_bits())).or_insert(0);
            *ending += count;
            if *ending == count {
                self.push(end, Kind::Tasks(index));
            }
        }
    }

    /// The first moment from `time` on at which tasks end.
    fn moment(&self, time: f64) -> f64 {
        let tick = self.conditions.tick;
        // The margin keeps a time that is a multiple but for rounding where it is.
        if tick > 0.0 { (time / tick - 1e-6).ceil() * tick } else { time }
    }

    fn sample(&self, now: f64) -> Sample {
        let mut runs: Vec<(f64, u32)> =
            self.active.iter().map(|&index| (self.runs[index].loss, self.seats[index].running)).collect();
        Sample::take(now, &mut runs)
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
