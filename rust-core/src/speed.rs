//! Seconds per iteration as a function of cores: driver time plus, for each stage, waves × task time.
//!
//! A stage of T tasks on n cores takes ceil(T/n) waves of the mean task time, plus the tail of its longest task in
//! the last wave. Driver time is what remains of the measured iteration when the spans of its stages are taken off; it
//! does not shrink with cores. Everything is learnt online with exponential weights, from the first observation on.

/// One finished stage of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Number of tasks.
    pub tasks: u32,
    /// Sum of all tasks' run times, seconds.
    pub task_seconds: f64,
    /// Run time of the longest task, seconds.
    pub longest_seconds: f64,
    /// Wall time from submission to completion, seconds.
    pub span_seconds: f64,
}

impl Stage {
    fn valid(&self) -> bool {
        self.tasks > 0
            && [self.task_seconds, self.longest_seconds, self.span_seconds].iter().all(|v| v.is_finite() && *v >= 0.0)
    }
}

/// Stages are pooled by their number of tasks; an iteration of MLlib has one to four kinds.
const KINDS: usize = 4;
/// Weight of the newest iteration; about the last five decide.
const NEWEST: f64 = 0.3;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Kind {
    tasks: u32,
    /// Stages of this kind in an iteration.
    count: f64,
    /// Those of the iteration that goes on.
    seen: u32,
    /// Mean task seconds.
    task: f64,
    /// Seconds by which the longest task exceeds the mean.
    tail: f64,
}

/// Learns how long an iteration of a run takes with n cores. Its size does not grow with the stages of an iteration: a line
/// search may try dozens of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speed {
    kinds: [Kind; KINDS],
    used: usize,
    driver: f64,
    /// Seconds of the finished stages of the iteration that goes on.
    span: f64,
    iterations: u32,
}

impl Speed {
    /// Takes in a finished stage of the iteration that goes on. One with invalid numbers is left out.
    pub fn observe(&mut self, stage: &Stage) {
        if !stage.valid() {
            return;
        }
        self.span += stage.span_seconds;
        let i = self.kind_of(stage.tasks);
        let kind = &mut self.kinds[i];
        let mean = stage.task_seconds / f64::from(stage.tasks);
        let tail = (stage.longest_seconds - mean).max(0.0);
        let fresh = if kind.count == 0.0 && kind.seen == 0 { 1.0 } else { NEWEST };
        kind.task += fresh * (mean - kind.task);
        kind.tail += fresh * (tail - kind.tail);
        kind.seen = kind.seen.saturating_add(1);
    }

    /// The stages since the last call were those of `iterations` ≥ 1 iterations, which took `wall` seconds.
    pub fn end(&mut self, wall: f64, iterations: u32) {
        let share = 1.0 / f64::from(iterations.max(1));
        let driver = if wall.is_finite() { (wall - self.span).max(0.0) * share } else { 0.0 };
        let rate = if self.iterations == 0 { 1.0 } else { NEWEST };
        self.iterations = self.iterations.saturating_add(1);
        self.driver += rate * (driver - self.driver);
        self.span = 0.0;
        for kind in &mut self.kinds[..self.used] {
            kind.count += rate * (f64::from(std::mem::take(&mut kind.seen)) * share - kind.count);
        }
    }

    /// Index of the kind with this many tasks; the nearest one when the table is full.
    fn kind_of(&mut self, tasks: u32) -> usize {
        if let Some(i) = self.kinds[..self.used].iter().position(|k| k.tasks == tasks) {
            return i;
        }
        if self.used < KINDS {
            self.kinds[self.used] = Kind { tasks, ..Kind::default() };
            self.used += 1;
            return self.used - 1;
        }
        let distance = |k: &Kind| k.tasks.abs_diff(tasks);
        (0..KINDS).min_by_key(|&i| distance(&self.kinds[i])).unwrap_or(0)
    }

    /// Seconds of one iteration with `cores` ≥ 1 cores; None before the first iteration has ended.
    pub fn seconds(&self, cores: u32) -> Option<f64> {
        (self.iterations > 0).then(|| {
            let n = cores.max(1);
            let stages: f64 = self.kinds[..self.used]
                .iter()
                .map(|k| k.count * (f64::from(k.tasks.div_ceil(n)) * k.task + k.tail))
                .sum();
            self.driver + stages
        })
    }

    /// Core-seconds of task work in one iteration; None before the first iteration has ended.
    pub fn work(&self) -> Option<f64> {
        (self.iterations > 0)
            .then(|| self.kinds[..self.used].iter().map(|k| k.count * f64::from(k.tasks) * k.task).sum())
    }

    /// The least number of cores above `cores` that saves a wave in some stage; None when more cores help no stage.
    pub fn next_useful(&self, cores: u32) -> Option<u32> {
        let n = cores.max(1);
        self.kinds[..self.used]
            .iter()
            .filter(|k| k.tasks > n && k.count > 0.0)
            .map(|k| {
                let waves = k.tasks.div_ceil(n);
                k.tasks.div_ceil(waves - 1)
            })
            .min()
    }

    /// The most cores that any stage can use, also of the iteration that goes on; None before the first iteration has ended.
    pub fn most_useful(&self) -> Option<u32> {
        (self.iterations > 0).then(|| self.kinds[..self.used].iter().map(|k| k.tasks).max().unwrap_or(1))
    }

    /// Iterations that have ended.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stage(tasks: u32, each: f64, longest: f64, span: f64) -> Stage {
        Stage { tasks, task_seconds: f64::from(tasks) * each, longest_seconds: longest, span_seconds: span }
    }

    fn iteration(speed: &mut Speed, stages: &[Stage], wall: f64) {
        stages.iter().for_each(|stage| speed.observe(stage));
        speed.end(wall, 1);
    }

    #[test]
    fn one_observation_is_enough() {
        let mut speed = Speed::default();
        iteration(&mut speed, &[stage(8, 0.5, 0.6, 2.1)], 2.4);
        assert!((speed.seconds(1).unwrap() - (0.3 + 8.0 * 0.5 + 0.1)).abs() < 1e-9);
        assert!((speed.seconds(2).unwrap() - (0.3 + 4.0 * 0.5 + 0.1)).abs() < 1e-9);
        assert!((speed.seconds(100).unwrap() - (0.3 + 0.5 + 0.1)).abs() < 1e-9);
        assert_eq!(speed.most_useful(), Some(8));
    }

    #[test]
    fn useful_counts_jump_over_plateaus() {
        let mut speed = Speed::default();
        iteration(&mut speed, &[stage(10, 1.0, 1.0, 10.0)], 10.0);
        let mut counts = vec![1];
        while let Some(next) = speed.next_useful(*counts.last().unwrap()) {
            counts.push(next);
        }
        assert_eq!(counts, [1, 2, 3, 4, 5, 10]);
    }

    #[test]
    fn every_stage_of_a_long_line_search_counts() {
        let mut speed = Speed::default();
        iteration(&mut speed, &[stage(8, 0.5, 0.5, 1.0); 100], 100.0);
        assert!((speed.seconds(4).unwrap() - 100.0).abs() < 1e-6);
        assert_eq!(speed.most_useful(), Some(8));
    }

    #[test]
    fn learns_a_change_of_task_time() {
        let mut speed = Speed::default();
        for _ in 0..20 {
            iteration(&mut speed, &[stage(4, 1.0, 1.0, 4.0)], 4.0);
        }
        for _ in 0..20 {
            iteration(&mut speed, &[stage(4, 2.0, 2.0, 8.0)], 8.0);
        }
        assert!((speed.seconds(1).unwrap() - 8.0).abs() < 0.05);
    }

    proptest! {
        #[test]
        fn seconds_are_finite_and_never_rise_with_cores(
            stages in prop::collection::vec(
                (any::<u32>(), any::<f64>(), any::<f64>(), any::<f64>()).prop_map(|(tasks, a, b, c)| Stage {
                    tasks, task_seconds: a, longest_seconds: b, span_seconds: c }), 0..12),
            wall in any::<f64>(), n in 1u32..1000) {
            let stages: Vec<Stage> = stages.into_iter().map(|mut s| {
                s.task_seconds = s.task_seconds.clamp(-1.0, 1e12); s.longest_seconds = s.longest_seconds.clamp(-1.0, 1e12); s }).collect();
            let mut speed = Speed::default();
            iteration(&mut speed, &stages, wall.clamp(-1.0, 1e12));
            iteration(&mut speed, &stages, 1.0);
            let here = speed.seconds(n).unwrap();
            prop_assert!(here.is_finite() && here >= 0.0);
            prop_assert!(speed.seconds(n + 1).unwrap() <= here * (1.0 + 1e-12));
            if let Some(next) = speed.next_useful(n) {
                prop_assert!(next > n);
            }
        }
    }
}
