//! What happened in one simulation: the raw material of all metrics.

/// One run's life.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunTrace {
    /// Seconds from the start of the simulation.
    pub arrival: f64,
    /// When each loss was reached, one an iteration.
    pub times: Vec<f64>,
    /// When it ended.
    pub finished: f64,
    /// Normalised loss (best so far) at the same indices as `times`.
    pub normalised: Vec<f64>,
}

/// The cluster at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Seconds from the start of the simulation.
    pub time: f64,
    /// Runs that have arrived and not ended.
    pub active: u32,
    /// Mean of their normalised losses (1 before the first).
    pub loss: f64,
    /// Cores that run a task.
    pub busy: u32,
    /// Of these, cores of the quarter of the runs with the highest loss; only with four runs or more.
    pub top: Option<f64>,
    /// Of these, cores of the half of the runs with the lowest loss; only with four runs or more.
    pub converged: Option<f64>,
}

/// One simulation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// In order of arrival.
    pub runs: Vec<RunTrace>,
    /// At regular moments.
    pub samples: Vec<Sample>,
}

impl Sample {
    /// The moment's figures from the active runs, each as (normalised loss, running tasks).
    pub fn take(time: f64, runs: &mut [(f64, u32)]) -> Sample {
        let busy: u32 = runs.iter().map(|(_, running)| running).sum();
        let loss =
            if runs.is_empty() { 0.0 } else { runs.iter().map(|(loss, _)| loss).sum::<f64>() / runs.len() as f64 };
        let mut sample = Sample { time, active: runs.len() as u32, loss, busy, top: None, converged: None };
        if runs.len() >= 4 && busy > 0 {
            // Stable, so that equal losses stay in order of arrival.
            runs.sort_by(|a, b| b.0.total_cmp(&a.0));
            let cores = |part: &[(f64, u32)]| {
                part.iter().map(|(_, running)| f64::from(*running)).sum::<f64>() / f64::from(busy)
            };
            sample.top = Some(cores(&runs[..runs.len().div_ceil(4)]));
            sample.converged = Some(cores(&runs[runs.len() - runs.len() / 2..]));
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_quarter_with_the_highest_loss_and_the_half_with_the_lowest() {
        let sample = Sample::take(3.0, &mut [(0.1, 1), (1.0, 5), (0.0, 1), (0.5, 3)]);
        assert_eq!((sample.active, sample.busy), (4, 10));
        assert!((sample.loss - 0.4).abs() < 1e-12);
        assert_eq!((sample.top, sample.converged), (Some(0.5), Some(0.2)));
        assert_eq!(Sample::take(0.0, &mut [(1.0, 2)]).top, None);
        assert_eq!(Sample::take(0.0, &mut []).loss, 0.0);
    }
}
