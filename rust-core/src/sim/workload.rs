//! What arrives: runs with their curves, the work of their iterations, and their arrival times, all from one seed.

use super::random::Random;
use super::recorded::Recorded;
use std::sync::Arc;

/// Work before the first loss (reading, caching, statistics) of a curve without times, in iterations.
const PREPARATION: f64 = 3.0;
/// Recorded work of an iteration, relative to the run's median, is trusted within this factor: beyond it is warm-up and garbage collection.
const TRUSTED: f64 = 4.0;
/// Driver seconds between iterations of a curve without times.
const GAP: f64 = 0.03;
/// Recorded driver gaps are trusted within these seconds.
const GAPS: (f64, f64) = (0.005, 0.2);
/// Spread (sigma of the logarithm) of the data sizes of runs.
const SIZES: f64 = 0.5;

/// How many runs, how often, how large.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Cores of the cluster.
    pub cores: u32,
    /// Runs that arrive.
    pub runs: u32,
    /// Mean seconds between arrivals (Poisson).
    pub arrival: f64,
    /// Typical seconds of a task, to which the recorded times are scaled.
    pub task_seconds: f64,
    /// Smallest and largest number of partitions of a run's data, drawn uniformly in the logarithm.
    pub partitions: (f64, f64),
    /// Driver seconds between iterations; `None`: as recorded.
    pub gap: Option<f64>,
    /// No curve comes twice before all have come, so that no run can be known from an earlier one of the same course.
    pub fresh: bool,
}

/// Tasks that may run side by side; a stage starts when the one before has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageWork {
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// Seconds of each.
    pub seconds: f64,
}

/// One training to simulate.
#[derive(Debug, Clone)]
pub struct Job {
    /// Seconds from the start of the simulation.
    pub arrival: f64,
    /// Its losses.
    pub curve: Arc<Curve>,
    /// Work that ends with the loss of the same index.
    pub iterations: Vec<Vec<StageWork>>,
    /// Driver seconds at the end of each iteration.
    pub gap: f64,
}

impl Job {
    /// Core-seconds of all its tasks.
    pub fn work(&self) -> f64 {
        self.iterations.iter().flatten().map(|stage| f64::from(stage.tasks) * stage.seconds).sum()
    }
}

/// What the simulator needs of a recorded curve, shared by the runs that follow it.
#[derive(Debug, Clone)]
pub struct Curve {
    /// As recorded.
    pub recorded: Recorded,
    /// Best loss so far, 1 at the first and 0 at the best.
    pub normalised: Vec<f64>,
    shape: Vec<Vec<Part>>,
    /// Core-seconds of a median iteration as recorded, if times are known.
    work: Option<f64>,
    gap: f64,
}

/// A stage relative to its run: tasks as part of the partitions, core-seconds as part of a median iteration.
#[derive(Debug, Clone, Copy)]
struct Part {
    tasks: f64,
    work: f64,
}

/// Curves to draw from.
#[derive(Debug, Clone)]
pub struct Library {
    curves: Vec<Arc<Curve>>,
    /// Geometric mean of the curves' work, core-seconds an iteration.
    typical: f64,
    flat: usize,
}

impl Library {
    /// Takes the curves that improve at all; the others have nothing to schedule for.
    pub fn new(recorded: &[Recorded]) -> Library {
        let curves: Vec<Arc<Curve>> = recorded.iter().filter_map(Curve::new).map(Arc::new).collect();
        let logs: Vec<f64> = curves.iter().filter_map(|curve| curve.work).map(f64::ln).collect();
        let typical = if logs.is_empty() { 1.0 } else { (logs.iter().sum::<f64>() / logs.len() as f64).exp() };
        Library { flat: recorded.len() - curves.len(), curves, typical }
    }

    /// The curves.
    pub fn curves(&self) -> &[Arc<Curve>] {
        &self.curves
    }

    /// Recorded curves that were left out because they never improve.
    pub fn flat(&self) -> usize {
        self.flat
    }

    /// The runs of one seed, in order of arrival. The draws do not depend on the setting's sizes, so that settings differ in nothing else.
    pub fn jobs(&self, setting: &Setting, seed: u64) -> Vec<Job> {
        let mut random = Random::new(seed);
        let mut time = 0.0;
        let mut deck: Vec<usize> = Vec::new();
        (0..setting.runs)
            .map(|_| {
                time += random.exponential(1.0) * setting.arrival;
                if deck.is_empty() {
                    deck = (0..self.curves.len()).collect();
                }
                let drawn = random.below(deck.len());
                let curve = &self.curves[if setting.fresh { deck.swap_remove(drawn) } else { deck[drawn] }];
                let partitions = random.log_uniform(setting.partitions.0, setting.partitions.1).round().max(1.0);
                let size = random.spread(SIZES);
                let relative = curve.work.map_or(1.0, |work| (work / self.typical).clamp(1.0 / TRUSTED, TRUSTED));
                let work = partitions * setting.task_seconds * size * relative;
                Job {
                    arrival: time,
                    iterations: curve.iterations(partitions, work),
                    gap: setting.gap.unwrap_or(curve.gap),
                    curve: Arc::clone(curve),
                }
            })
            .collect()
    }
}

impl Curve {
    fn new(recorded: &Recorded) -> Option<Curve> {
        let normalised = recorded.normalised()?;
        let length = recorded.losses.len();
        let works: Vec<f64> = recorded.stages.iter().map(|stages| stages.iter().map(|stage| stage[1]).sum()).collect();
        let widest = recorded.stages.iter().flatten().map(|stage| stage[0]).fold(0.0, f64::max);
        let typical = median(works.iter().skip(1).copied().filter(|work| *work > 0.0).collect());
        let shape = match typical {
            Some(typical) if widest > 0.0 => {
                (0..length).map(|index| parts(&recorded.stages[index], works[index], typical, widest)).collect()
            }
            _ => (0..length)
                .map(|index| vec![Part { tasks: 1.0, work: if index == 0 { PREPARATION } else { 1.0 } }])
                .collect(),
        };
        let gaps = recorded.seconds.iter().zip(&recorded.stages).skip(1);
        let gap =
            median(gaps.map(|(seconds, stages)| seconds - stages.iter().map(|stage| stage[3]).sum::<f64>()).collect());
        Some(Curve {
            recorded: recorded.clone(),
            normalised,
            shape,
            work: typical,
            gap: gap.map_or(GAP, |gap| gap.clamp(GAPS.0, GAPS.1)),
        })
    }

    fn iterations(&self, partitions: f64, work: f64) -> Vec<Vec<StageWork>> {
        let stage = |part: &Part| {
            let tasks = (part.tasks * partitions).round().max(1.0);
            StageWork { tasks: tasks as u32, seconds: part.work * work / tasks }
        };
        self.shape.iter().map(|parts| parts.iter().map(stage).collect()).collect()
    }
}

/// The stages of an iteration, its work held within the trusted factor of the median. An iteration that was recorded
/// without a task gets the median's work, since its stages were finished under its neighbour.
fn parts(stages: &[[f64; 4]], work: f64, typical: f64, widest: f64) -> Vec<Part> {
    if work <= 0.0 {
        return vec![Part { tasks: 1.0, work: 1.0 }];
    }
    let relative = (work / typical).clamp(1.0 / TRUSTED, TRUSTED);
    stages
        .iter()
        .filter(|stage| stage[0] >= 1.0 && stage[1] > 0.0)
        .map(|stage| Part { tasks: stage[0] / widest, work: relative * stage[1] / work })
        .collect()
}

/// The middle value; `None` of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> Setting {
        Setting {
            cores: 8,
            runs: 400,
            arrival: 15.0,
            task_seconds: 0.5,
            partitions: (8.0, 8.0),
            gap: None,
            fresh: false,
        }
    }

    fn timed() -> Recorded {
        let iteration = vec![[4.0, 2.0, 0.6, 0.7], [1.0, 1.0, 1.0, 1.0]];
        let mut curve = Recorded::plain("timed", vec![3.0, 2.0, 1.0]);
        curve.stages = vec![vec![[4.0, 60.0, 20.0, 20.0]], iteration.clone(), iteration];
        curve.seconds = vec![21.0, 1.8, 1.8];
        curve
    }

    #[test]
    fn the_same_seed_gives_the_same_runs() {
        let library = Library::new(&[timed(), Recorded::plain("plain", vec![2.0, 1.0])]);
        let key = |seed| library.jobs(&setting(), seed).iter().map(|job| (job.arrival, job.work())).collect::<Vec<_>>();
        assert_eq!(key(3), key(3));
        assert_ne!(key(3), key(4));
    }

    #[test]
    fn fresh_runs_follow_every_curve_before_one_recurs() {
        let recorded: Vec<Recorded> =
            (2..12).map(|end| Recorded::plain(&end.to_string(), vec![20.0, f64::from(end)])).collect();
        let library = Library::new(&recorded);
        let jobs = library.jobs(&Setting { fresh: true, ..setting() }, 1);
        for hand in jobs.chunks(10) {
            let mut names: Vec<&str> = hand.iter().map(|job| job.curve.recorded.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), 10);
        }
    }

    #[test]
    fn arrivals_have_the_mean_asked_for_and_flat_curves_are_left_out() {
        let library = Library::new(&[timed(), Recorded::plain("flat", vec![1.0, 1.0])]);
        assert_eq!((library.curves().len(), library.flat()), (1, 1));
        let jobs = library.jobs(&setting(), 1);
        let mean = jobs.last().unwrap().arrival / jobs.len() as f64;
        assert!((mean / 15.0 - 1.0).abs() < 0.15, "{mean}");
    }

    #[test]
    fn recorded_stages_keep_their_proportions() {
        let library = Library::new(&[timed()]);
        let job = &library.jobs(&setting(), 1)[0];
        let [data, aggregate] = job.iterations[1][..] else { panic!("two stages expected: {:?}", job.iterations[1]) };
        assert_eq!((data.tasks, aggregate.tasks), (8, 2));
        let (data, aggregate) = (f64::from(data.tasks) * data.seconds, f64::from(aggregate.tasks) * aggregate.seconds);
        assert!((data / aggregate - 2.0).abs() < 1e-9);
        let preparation = f64::from(job.iterations[0][0].tasks) * job.iterations[0][0].seconds;
        assert!(
            (preparation / (data + aggregate) - TRUSTED).abs() < 1e-9,
            "60 core-seconds are cut to {TRUSTED} iterations"
        );
        assert!((job.gap - 0.1).abs() < 1e-9);
    }
}
