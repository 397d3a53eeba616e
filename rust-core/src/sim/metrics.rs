//! The figures of one simulation, and their means over seeds.

use super::trace::Trace;

/// Seconds of the window of the mean normalised loss: the paper's.
const WINDOW: f64 = 800.0;

/// Figures of a policy. Times are in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// Mean over runs of the time from arrival to 90 % of the loss reduction.
    pub t90: f64,
    /// To 95 %.
    pub t95: f64,
    /// To 99 %.
    pub t99: f64,
    /// 90th percentile over runs of the same three.
    pub p90: [f64; 3],
    /// Normalised loss of the active runs, meaned over them and over the window.
    pub mean_norm_loss: f64,
    /// Mean over runs of the area under the normalised loss from arrival on, seconds. A policy cannot improve it by keeping converged runs alive.
    pub loss_area: f64,
    /// Mean time from arrival to end.
    pub completion: f64,
    /// Cores of the quarter of the runs with the highest loss, as part of the busy ones.
    pub share_top_quarter: f64,
    /// Cores of the half of the runs with the lowest loss.
    pub share_converged_half: f64,
    /// When the last run ended.
    pub makespan: f64,
    /// Largest ratio of a run's completion time to its own under fair.
    pub worst_slowdown: f64,
    /// Mean number of active runs from the first to the last arrival.
    pub active: f64,
    /// Mean part of the cores that were busy in that time.
    pub busy: f64,
}

impl Metrics {
    /// The figures of a trace on `cores` cores; `fair` is the trace of the same runs under stock fair.
    pub fn of(trace: &Trace, fair: &Trace, cores: u32) -> Metrics {
        let to = |part: f64| {
            trace.runs.iter().map(|run| time_to(&run.times, &run.normalised, part) - run.arrival).collect::<Vec<_>>()
        };
        let (to90, to95, to99) = (to(0.1), to(0.05), to(0.01));
        let last = trace.runs.last().map_or(0.0, |run| run.arrival);
        let middle = last / 2.0;
        let window: Vec<_> = trace
            .samples
            .iter()
            .filter(|sample| sample.active > 0 && (sample.time - middle).abs() <= WINDOW.min(last) / 2.0)
            .collect();
        let arrivals: Vec<_> = trace.samples.iter().filter(|sample| sample.time <= last).collect();
        let paired = trace.runs.iter().zip(&fair.runs);
        Metrics {
            t90: mean(to90.iter().copied()),
            t95: mean(to95.iter().copied()),
            t99: mean(to99.iter().copied()),
            p90: [quantile(to90, 0.9), quantile(to95, 0.9), quantile(to99, 0.9)],
            mean_norm_loss: mean(window.iter().map(|sample| sample.loss)),
            loss_area: mean(trace.runs.iter().map(|run| area(run.arrival, &run.times, &run.normalised))),
            completion: mean(trace.runs.iter().map(|run| run.finished - run.arrival)),
            share_top_quarter: weighted(
                trace.samples.iter().filter_map(|sample| Some((sample.top?, f64::from(sample.busy)))),
            ),
            share_converged_half: weighted(
                trace.samples.iter().filter_map(|sample| Some((sample.converged?, f64::from(sample.busy)))),
            ),
            makespan: trace.runs.iter().map(|run| run.finished).fold(0.0, f64::max),
            worst_slowdown: paired
                .map(|(ours, fair)| (ours.finished - ours.arrival) / (fair.finished - fair.arrival))
                .fold(0.0, f64::max),
            active: mean(arrivals.iter().map(|sample| f64::from(sample.active))),
            busy: mean(arrivals.iter().map(|sample| f64::from(sample.busy) / f64::from(cores))),
        }
    }

    /// Mean of each figure over seeds, but the worst slow-down, which stays the worst.
    pub fn over_seeds(all: &[Metrics]) -> Metrics {
        let of = |figure: fn(&Metrics) -> f64| mean(all.iter().map(figure));
        Metrics {
            t90: of(|m| m.t90),
            t95: of(|m| m.t95),
            t99: of(|m| m.t99),
            p90: [of(|m| m.p90[0]), of(|m| m.p90[1]), of(|m| m.p90[2])],
            mean_norm_loss: of(|m| m.mean_norm_loss),
            loss_area: of(|m| m.loss_area),
            completion: of(|m| m.completion),
            share_top_quarter: of(|m| m.share_top_quarter),
            share_converged_half: of(|m| m.share_converged_half),
            makespan: of(|m| m.makespan),
            worst_slowdown: all.iter().map(|m| m.worst_slowdown).fold(0.0, f64::max),
            active: of(|m| m.active),
            busy: of(|m| m.busy),
        }
    }
}

/// When the normalised loss first was at most `part`. Every curve ends at 0, so a run that ended has such a moment.
fn time_to(times: &[f64], normalised: &[f64], part: f64) -> f64 {
    times.iter().zip(normalised).find(|(_, loss)| **loss <= part + 1e-12).map_or(f64::INFINITY, |(time, _)| *time)
}

/// Area under the normalised loss from arrival to the end: 1 until the first loss, then each loss until the next.
fn area(arrival: f64, times: &[f64], normalised: &[f64]) -> f64 {
    let start = times.first().map_or(0.0, |first| first - arrival);
    start + times.windows(2).zip(normalised).map(|(pair, loss)| (pair[1] - pair[0]) * loss).sum::<f64>()
}

/// Mean; 0 of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

fn weighted(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weight) = values.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    if weight == 0.0 { 0.0 } else { sum / weight }
}

/// The smallest value that at least the given part of the values does not exceed; 0 of nothing.
pub fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (part * values.len() as f64).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::trace::{RunTrace, Sample};
    use super::*;

    fn trace(shift: f64) -> Trace {
        let run = |arrival: f64, times: &[f64], normalised: &[f64]| RunTrace {
            arrival,
            times: times.to_vec(),
            normalised: normalised.to_vec(),
            finished: *times.last().unwrap(),
        };
        Trace {
            runs: vec![
                run(0.0, &[1.0, 2.0 + shift, 4.0 + shift], &[1.0, 0.1, 0.0]),
                run(10.0, &[12.0, 13.0, 14.0, 16.0 + shift], &[1.0, 0.5, 0.05, 0.0]),
            ],
            samples: vec![
                Sample { time: 0.0, active: 1, loss: 1.0, busy: 4, top: None, converged: None },
                Sample { time: 5.0, active: 4, loss: 0.5, busy: 6, top: Some(0.5), converged: Some(0.0) },
                Sample { time: 10.0, active: 4, loss: 0.0, busy: 2, top: Some(0.1), converged: Some(0.8) },
                Sample { time: 20.0, active: 2, loss: 0.9, busy: 2, top: None, converged: None },
            ],
        }
    }

    #[test]
    fn figures_of_two_runs_by_hand() {
        let metrics = Metrics::of(&trace(0.0), &trace(0.0), 8);
        assert_eq!(metrics.t90, (2.0 + 4.0) / 2.0);
        assert_eq!(metrics.t95, (4.0 + 4.0) / 2.0);
        assert_eq!(metrics.t99, (4.0 + 6.0) / 2.0);
        assert_eq!(metrics.p90, [4.0, 4.0, 6.0]);
        assert_eq!(metrics.completion, 5.0);
        assert_eq!(metrics.makespan, 16.0);
        assert_eq!(metrics.worst_slowdown, 1.0);
        // First run: 1 s at 1, 1 s at 1, 2 s at 0.1; second: 2 s at 1, 1 s at 1, 1 s at 0.5, 2 s at 0.05.
        assert!((metrics.loss_area - (2.2 + 3.6) / 2.0).abs() < 1e-12);
        // Window: arrivals span 10 s, so samples from 0 to 10 s.
        assert!((metrics.mean_norm_loss - 0.5).abs() < 1e-12);
        assert!((metrics.share_top_quarter - (0.5 * 6.0 + 0.1 * 2.0) / 8.0).abs() < 1e-12);
        assert!((metrics.share_converged_half - 0.2).abs() < 1e-12);
        assert_eq!(metrics.active, 3.0);
        assert_eq!(metrics.busy, (4.0 + 6.0 + 2.0) / 24.0);
    }

    #[test]
    fn the_worst_slow_down_is_of_the_same_run_and_stays_the_worst_over_seeds() {
        let slower = Metrics::of(&trace(4.0), &trace(0.0), 8);
        assert_eq!(slower.worst_slowdown, 2.0);
        let both = Metrics::over_seeds(&[slower, Metrics::of(&trace(0.0), &trace(0.0), 8)]);
        assert_eq!(both.worst_slowdown, 2.0);
        assert_eq!(both.completion, 7.0);
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile((1..=10).map(f64::from).collect(), 0.9), 9.0);
        assert_eq!(quantile(Vec::new(), 0.9), 0.0);
    }
}
