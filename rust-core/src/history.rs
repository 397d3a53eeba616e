//! Bounded history of a run's losses: a window of recent points and a sparse trace from the start.

/// Points in the window; older ones have less than 1 % of the newest one's weight.
pub const WINDOW: usize = 40;
/// Places in the trace, two per doubling of the iteration count.
const TRACE: usize = 40;
/// Larger magnitudes count as diverged: squares of them would overflow.
const LARGEST: f64 = 1e100;

/// (iteration, loss) points of a run; smaller losses are better. Size does not depend on the run's length.
#[derive(Clone, Debug)]
pub struct History {
    iterations: [u32; WINDOW],
    losses: [f64; WINDOW],
    used: usize,
    trace: [f64; TRACE],
    traced: usize,
    first: Option<(u32, f64)>,
    best: f64,
    largest_change: f64,
    points: u32,
    ignored: u32,
}

impl Default for History {
    fn default() -> Self {
        History {
            iterations: [0; WINDOW],
            losses: [0.0; WINDOW],
            used: 0,
            trace: [0.0; TRACE],
            traced: 0,
            first: None,
            best: f64::INFINITY,
            largest_change: 0.0,
            points: 0,
            ignored: 0,
        }
    }
}

impl History {
    /// Adds a point and says whether it was taken. Ignored, but counted, are losses that are NaN, infinite or beyond
    /// 1e100 in magnitude, and iterations not later than the last one.
    pub fn push(&mut self, iteration: u32, loss: f64) -> bool {
        let later = self.last().is_none_or(|(k, _)| iteration > k);
        if !later || loss.is_nan() || loss.abs() > LARGEST {
            self.ignored = self.ignored.saturating_add(1);
            return false;
        }
        if let Some((_, last)) = self.last() {
            self.largest_change = self.largest_change.max((last - loss).abs());
        }
        if self.used == WINDOW {
            self.iterations.copy_within(1.., 0);
            self.losses.copy_within(1.., 0);
            self.used -= 1;
        }
        self.iterations[self.used] = iteration;
        self.losses[self.used] = loss;
        self.used += 1;
        self.points = self.points.saturating_add(1);
        self.best = self.best.min(loss);
        let (start, _) = *self.first.get_or_insert((iteration, loss));
        while self.traced < TRACE && iteration - start >= trace_step(self.traced) {
            self.trace[self.traced] = loss;
            self.traced += 1;
        }
        true
    }

    /// Iterations in the window, rising.
    pub fn iterations(&self) -> &[u32] {
        &self.iterations[..self.used]
    }

    /// Losses in the window, oldest first.
    pub fn losses(&self) -> &[f64] {
        &self.losses[..self.used]
    }

    /// The newest point.
    pub fn last(&self) -> Option<(u32, f64)> {
        self.used.checked_sub(1).map(|i| (self.iterations[i], self.losses[i]))
    }

    /// The first point of the run.
    pub fn first(&self) -> Option<(u32, f64)> {
        self.first
    }

    /// The smallest loss so far; infinite before the first point.
    pub fn best(&self) -> f64 {
        self.best
    }

    /// The largest change between neighbouring points so far, ≥ 0.
    pub fn largest_change(&self) -> f64 {
        self.largest_change
    }

    /// Points taken.
    pub fn points(&self) -> u32 {
        self.points
    }

    /// Points ignored.
    pub fn ignored(&self) -> u32 {
        self.ignored
    }

    /// The run's whole course, thinned: (iterations since the first point, loss), two per doubling.
    pub fn trace(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.trace[..self.traced].iter().enumerate().map(|(i, &loss)| (trace_step(i), loss))
    }
}

/// Iterations since the start at place i of the trace: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, …
pub fn trace_step(i: usize) -> u32 {
    match (i, i % 2) {
        (0 | 1, _) => i as u32,
        (_, 0) => 1 << (i / 2),
        _ => 3 << ((i - 3) / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn trace_steps_rise_by_half_octaves() {
        let steps: Vec<u32> = (0..11).map(trace_step).collect();
        assert_eq!(steps, [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
    }

    #[test]
    fn a_run_stays_small() {
        assert!(size_of::<History>() <= 1024);
    }

    #[test]
    fn bad_points_are_counted_and_ignored() {
        let mut h = History::default();
        assert!(h.push(1, 5.0));
        for (k, loss) in [(2, f64::NAN), (2, f64::INFINITY), (2, -1e200), (1, 4.0), (0, 4.0)] {
            assert!(!h.push(k, loss));
        }
        assert!(h.push(3, 4.0));
        assert_eq!((h.points(), h.ignored(), h.last()), (2, 5, Some((3, 4.0))));
    }

    proptest! {
        #[test]
        fn window_holds_the_newest_points(points in prop::collection::vec((any::<u32>(), any::<f64>()), 0..200)) {
            let mut h = History::default();
            let mut taken = Vec::new();
            for (k, loss) in points {
                if h.push(k, loss) {
                    taken.push((k, loss));
                }
            }
            let kept: Vec<_> = h.iterations().iter().copied().zip(h.losses().iter().copied()).collect();
            prop_assert_eq!(&taken[taken.len().saturating_sub(WINDOW)..], &kept[..]);
            prop_assert!(kept.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert_eq!(h.points() as usize, taken.len());
        }
    }
}
