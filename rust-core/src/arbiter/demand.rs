//! What executors are worth to one application: the gains of its runs, merged.

use super::report::{Report, Run};

/// Gain of an application by number of executors.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Executors that can be of use, at least the minimum.
    pub useful: u32,
    /// `worth[n]` = gain with n executors over the horizon, rising, `worth[0]` = 0; as long as `useful` + 1.
    worth: Vec<f64>,
    /// Part of the application, in [0, 1], whose gain nobody can predict (no loss, or not training): it is owed that
    /// part of the fair share.
    pub unpredicted: f64,
}

impl Demand {
    /// Merges the runs: each next core goes to the run that gains most from it, which is what the planner inside the
    /// application does with the cores that it gets.
    ///
    /// `most`: executors that the cluster could hold, so that a table never grows beyond use.
    pub fn of(report: &Report, most: u32) -> Demand {
        let per = report.cores_per_executor;
        let mut steps: Vec<Step> = report.runs.iter().flat_map(steps).collect();
        steps.sort_by(|a, b| b.slope.total_cmp(&a.slope));
        let predicted: u64 = steps.iter().map(|s| u64::from(s.cores)).sum();

        let blind = report.runs.iter().filter(|r| !r.predicted).count();
        let unpredicted = match report.runs.len() {
            0 => f64::from(u8::from(report.wanted > 0)),
            runs => blind as f64 / runs as f64,
        };
        // Spark's own number counts pending tasks, so it bounds what work without a forecast can use. It sags between
        // iterations, which is why it does not bound the rest.
        let useful = (predicted.div_ceil(u64::from(per)).min(u64::from(u32::MAX)) as u32)
            .max(if unpredicted > 0.0 { report.wanted } else { 0 })
            .clamp(report.minimum, report.maximum)
            .min(most.max(report.minimum));

        let mut worth = Vec::with_capacity(useful as usize + 1);
        let mut total = 0.0;
        let mut steps = steps.into_iter();
        let mut step = steps.next();
        worth.push(0.0);
        for _ in 0..useful {
            let mut room = per;
            while let Some(current) = step.as_mut().filter(|_| room > 0) {
                let used = room.min(current.cores);
                total += f64::from(used) * current.slope;
                current.cores -= used;
                room -= used;
                if current.cores == 0 {
                    step = steps.next();
                }
            }
            worth.push(total);
        }
        Demand { useful, worth, unpredicted }
    }

    /// Gain with this many executors: finite, ≥ 0, never falling, each further executor worth at most the one before.
    pub fn gain(&self, executors: u32) -> f64 {
        self.worth[executors.min(self.useful) as usize]
    }

    /// Whether it could do anything with an executor now.
    pub fn active(&self, report: &Report) -> bool {
        !report.runs.is_empty() || report.wanted > 0
    }
}

/// Cores that are worth the same each.
struct Step {
    cores: u32,
    slope: f64,
}

/// The upper concave hull of a run's gains: a core count on a plateau (a wave that is not saved) is worth its part of
/// the next real step.
fn steps(run: &Run) -> Vec<Step> {
    let mut hull: Vec<(u32, f64)> = vec![(0, 0.0)];
    for &point in &run.gain {
        while hull.len() > 1 && slope(hull[hull.len() - 2], hull[hull.len() - 1]) <= slope(hull[hull.len() - 1], point)
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull.windows(2)
        .map(|pair| Step { cores: pair[1].0 - pair[0].0, slope: slope(pair[0], pair[1]) })
        .filter(|step| step.slope > 0.0)
        .collect()
}

fn slope(from: (u32, f64), to: (u32, f64)) -> f64 {
    (to.1 - from.1) / f64::from(to.0 - from.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(per: u32, wanted: u32, runs: &str) -> Report {
        let json = format!(r#"{{"version":1,"app":"a","coresPerExecutor":{per},"wanted":{wanted},"runs":{runs}}}"#);
        Report::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn the_best_cores_of_all_runs_come_first() {
        let demand = Demand::of(&report(1, 0, r#"[{"gain":[[1,0.4],[2,0.5]]},{"gain":[[1,0.3],[2,0.55]]}]"#), 99);
        assert_eq!(demand.useful, 4);
        let gains: Vec<f64> = (0..=5).map(|n| demand.gain(n)).collect();
        for (gain, expected) in gains.iter().zip([0.0, 0.4, 0.7, 0.95, 1.05, 1.05]) {
            assert!((gain - expected).abs() < 1e-12, "{gains:?}");
        }
    }

    #[test]
    fn executors_of_two_cores_take_two_steps_at_once() {
        let demand = Demand::of(&report(2, 0, r#"[{"gain":[[1,0.4],[2,0.5],[3,0.55]]}]"#), 99);
        assert_eq!(demand.useful, 2);
        assert!((demand.gain(1) - 0.5).abs() < 1e-12 && (demand.gain(2) - 0.55).abs() < 1e-12);
    }

    #[test]
    fn plateaus_are_worth_their_part_of_the_next_step() {
        let demand = Demand::of(&report(1, 0, r#"[{"gain":[[1,0.1],[2,0.1],[3,0.1],[4,0.4]]}]"#), 99);
        assert!((demand.gain(2) - 0.2).abs() < 1e-12, "{}", demand.gain(2));
        assert!((demand.gain(4) - 0.4).abs() < 1e-12);
    }

    #[test]
    fn runs_without_a_forecast_and_plain_work_are_owed_a_fair_share() {
        assert_eq!(Demand::of(&report(1, 0, "[]"), 99).unpredicted, 0.0);
        let plain = Demand::of(&report(1, 5, "[]"), 99);
        assert_eq!((plain.unpredicted, plain.useful), (1.0, 5));
        let half = Demand::of(&report(1, 3, r#"[{"predicted":false},{"gain":[[1,0.1],[2,0.2]]}]"#), 99);
        assert_eq!((half.unpredicted, half.useful), (0.5, 3));
        // A training's number sags between iterations: it must not bound what the forecast asks for.
        assert_eq!(Demand::of(&report(1, 0, r#"[{"gain":[[1,0.1],[8,0.2]]}]"#), 99).useful, 8);
    }
}
