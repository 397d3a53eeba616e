use super::*;
use proptest::prelude::*;

/// Iterations per second with waves: not concave in the cores.
#[derive(Clone, Debug)]
struct Waves(Vec<(u32, f64, f64)>);

impl Utility for Waves {
    fn gain(&self, run: usize, cores: u32) -> f64 {
        let (tasks, driver, worth) = self.0[run];
        if cores == 0 {
            return 0.0;
        }
        let iterations = 4.0 / (driver + f64::from(tasks.div_ceil(cores)) * 0.2);
        worth * (1.0 - (-0.2 * iterations).exp())
    }

    fn next(&self, run: usize, cores: u32) -> Option<u32> {
        let tasks = self.0[run].0;
        match cores {
            0 => Some(1),
            n if n >= tasks => None,
            n => Some(tasks.div_ceil(tasks.div_ceil(n) - 1)),
        }
    }
}

/// Anything at all: gains that are NaN, infinite, negative.
struct Wild(Vec<f64>);

impl Utility for Wild {
    fn gain(&self, run: usize, cores: u32) -> f64 {
        self.0[(run * 7 + cores as usize) % self.0.len()]
    }

    fn next(&self, _run: usize, cores: u32) -> Option<u32> {
        Some(cores.saturating_add(1))
    }
}

fn total(utility: &Waves, shares: &[u32]) -> f64 {
    shares.iter().enumerate().map(|(run, cores)| utility.gain(run, *cores)).sum()
}

/// The best total, by dynamic programming over runs and cores.
fn best(limits: &[Limits], budget: u32, utility: &Waves) -> f64 {
    let mut table = vec![f64::NEG_INFINITY; budget as usize + 1];
    table[0] = 0.0;
    for (run, limit) in limits.iter().enumerate() {
        let mut next = vec![f64::NEG_INFINITY; budget as usize + 1];
        for (used, sum) in table.iter().enumerate().filter(|(_, s)| s.is_finite()) {
            for cores in limit.floor..=limit.ceiling.min(budget - used as u32) {
                let place = &mut next[used + cores as usize];
                *place = place.max(sum + utility.gain(run, cores));
            }
        }
        table = next;
    }
    table.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// One core at a time to the largest gain of one more core.
fn plain(limits: &[Limits], budget: u32, utility: &Waves) -> f64 {
    let mut shares: Vec<u32> = limits.iter().map(|l| l.floor).collect();
    for _ in shares.iter().sum::<u32>()..budget {
        let step = |i: usize| utility.gain(i, shares[i] + 1) - utility.gain(i, shares[i]);
        let Some(run) =
            (0..shares.len()).filter(|i| shares[*i] < limits[*i].ceiling).max_by(|a, b| step(*a).total_cmp(&step(*b)))
        else {
            break;
        };
        shares[run] += 1;
    }
    total(utility, &shares)
}

fn cases() -> impl Strategy<Value = (Waves, Vec<Limits>, u32)> {
    prop::collection::vec(((1u32..24), 0.0..1.0, 0.01..2.0, 4u32..24), 2..6).prop_flat_map(|runs| {
        let limits: Vec<Limits> = runs.iter().map(|r| Limits { floor: 1, ceiling: r.3 }).collect();
        let waves = Waves(runs.into_iter().map(|(t, d, w, _)| (t, d, w)).collect());
        let fewest = limits.len() as u32;
        (Just(waves), Just(limits), fewest..40)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn close_to_the_best_and_not_below_plain_greedy((utility, limits, budget) in cases()) {
        let ours = total(&utility, &allocate(&limits, budget, &utility));
        prop_assert!(ours >= best(&limits, budget, &utility) * 0.995 - 1e-9);
        prop_assert!(ours >= plain(&limits, budget, &utility) * (1.0 - 1e-9) - 1e-9);
    }

    #[test]
    fn shares_keep_to_budget_and_limits_whatever_the_gains(
        gains in prop::collection::vec(any::<f64>(), 1..50),
        limits in prop::collection::vec((0u32..5, 0u32..20), 0..20),
        budget in 0u32..200) {
        let limits: Vec<Limits> = limits.into_iter().map(|(f, c)| Limits { floor: f, ceiling: f + c }).collect();
        let shares = allocate(&limits, budget, &Wild(gains));
        prop_assert!(shares.iter().sum::<u32>() <= budget);
        let floors: u32 = limits.iter().map(|l| l.floor).sum();
        for (share, limit) in shares.iter().zip(&limits) {
            prop_assert!(*share <= limit.ceiling);
            prop_assert!(floors > budget || *share >= limit.floor);
        }
        let ceilings: u32 = limits.iter().map(|l| l.ceiling).sum();
        prop_assert_eq!(shares.iter().sum::<u32>(), budget.min(ceilings));
    }
}

/// A cluster too large for the exact search, against the same search.
#[test]
fn greed_comes_close_to_the_best_on_large_clusters() {
    let runs: Vec<(u32, f64, f64)> =
        (0..60u32).map(|i| (16 + i * 37 % 100, f64::from(i % 5) * 0.05, 0.1 + f64::from(i * 29 % 17) * 0.1)).collect();
    let (utility, limits) = (Waves(runs), vec![Limits { floor: 1, ceiling: 400 }; 60]);
    let ours = total(&utility, &allocate(&limits, 400, &utility));
    assert!(ours >= best(&limits, 400, &utility) * 0.995, "{ours}");
    assert!(ours >= plain(&limits, 400, &utility));
}

#[test]
fn equal_runs_are_served_in_order() {
    let utility = Waves(vec![(8, 0.1, 1.0); 3]);
    let limits = [Limits { floor: 0, ceiling: 8 }; 3];
    assert_eq!(allocate(&limits, 1, &utility), [1, 0, 0]);
    let limits = vec![Limits { floor: 0, ceiling: 8 }; 3];
    let utility = Waves(vec![(8, 0.1, 1.0); 3]);
    assert_eq!(allocate(&limits, 2, &utility), allocate(&limits, 2, &utility));
}
