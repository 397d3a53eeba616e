use super::*;

/// An application as a test describes it.
struct App {
    report: Report,
    demand: Demand,
    tenant: usize,
    current: u32,
    newcomer: bool,
    expected: bool,
    fresh: bool,
    growth: f64,
    since: f64,
}

/// A run whose gain saturates: `size · (1 − 2^−cores)`.
fn training(name: &str, size: f64) -> App {
    let gain: Vec<String> =
        [1, 2, 3, 4, 6, 8, 12, 16].iter().map(|&n| format!("[{n},{}]", size * (1.0 - 0.5_f64.powi(n)))).collect();
    app(&format!(r#"{{"version":1,"app":"{name}","executors":1,"runs":[{{"run":1,"gain":[{}]}}]}}"#, gain.join(",")))
}

fn app(json: &str) -> App {
    let report = Report::parse(json.as_bytes()).unwrap();
    let demand = Demand::of(&report, 1000);
    App {
        report,
        demand,
        tenant: 0,
        current: 1,
        newcomer: false,
        expected: false,
        fresh: false,
        growth: 1.0,
        since: 0.0,
    }
}

fn cluster(cores: u32) -> Cluster {
    Cluster { cores, tenants: vec![Tenant::default()], fairness: 0.0, turn: 60.0, now: 1000.0 }
}

fn decide(cluster: &Cluster, apps: &[App]) -> Vec<Decision> {
    let claims: Vec<Claim> = apps
        .iter()
        .map(|a| Claim {
            report: &a.report,
            demand: &a.demand,
            tenant: a.tenant,
            current: a.current,
            newcomer: a.newcomer,
            expected: a.expected,
            fresh: a.fresh,
            growth: a.growth,
            since: a.since,
        })
        .collect();
    plan(cluster, &claims)
}

fn targets(cluster: &Cluster, apps: &[App]) -> Vec<u32> {
    decide(cluster, apps).iter().map(|d| d.target).collect()
}

#[test]
fn more_goes_where_more_is_gained() {
    let apps = [training("a", 1.0), training("b", 0.01)];
    let plan = decide(&cluster(6), &apps);
    assert_eq!(plan.iter().map(|d| d.target).collect::<Vec<_>>(), [5, 1]);
    let Why::Gain { last, next } = plan[0].why else { panic!("{:?}", plan[0].why) };
    assert!(last >= next && next > 0.0);
    assert_eq!(targets(&cluster(6), &[training("a", 1.0), training("b", 1.0)]), [3, 3]);
}

#[test]
fn targets_are_whole_executors_and_never_exceed_the_cores() {
    for cores in 0..40 {
        let mut wide = training("wide", 1.0);
        wide.report.cores_per_executor = 3;
        wide.demand = Demand::of(&wide.report, 1000);
        let apps = [wide, training("a", 0.5), training("b", 0.2)];
        let plan = decide(&cluster(cores), &apps);
        assert!(plan[0].target * 3 + plan[1].target + plan[2].target <= cores, "{cores}: {plan:?}");
    }
}

#[test]
fn a_gain_that_does_not_pay_for_the_move_moves_nothing() {
    let mut a = training("a", 1.0);
    let mut b = training("b", 1.2);
    (a.current, b.current) = (5, 3);
    (a.growth, b.growth) = (1.0, 1.0);
    assert_eq!(targets(&cluster(8), &[a, b]), [4, 4]);
    let mut a = training("a", 1.0);
    let mut b = training("b", 1.2);
    (a.current, b.current) = (4, 4);
    (a.growth, b.growth) = (0.4, 0.4);
    assert_eq!(targets(&cluster(8), &[a, b]), [4, 4]);
}

#[test]
fn what_nobody_needs_stays_where_it_is_and_the_fresh_keep_theirs() {
    let mut done = training("done", 0.0);
    done.current = 4;
    assert_eq!(targets(&cluster(8), &[done, training("a", 1.0)])[1], 7);
    let mut done = training("done", 0.0);
    done.current = 4;
    let mut small = training("small", 1.0);
    small.report.maximum = 2;
    small.demand = Demand::of(&small.report, 1000);
    assert_eq!(targets(&cluster(8), &[done, small]), [4, 2]);
    let mut fresh = training("fresh", 0.01);
    (fresh.current, fresh.fresh) = (3, true);
    assert_eq!(targets(&cluster(8), &[fresh, training("a", 1.0)]), [3, 5]);
}

#[test]
fn nobody_grows_into_the_fair_share_of_who_is_expected_to_train() {
    let starting = |name: &str| {
        let mut app = app(&format!(r#"{{"version":1,"app":"{name}","executors":1}}"#));
        app.expected = true;
        app
    };
    assert_eq!(targets(&cluster(12), &[training("a", 1.0), starting("b"), starting("c")]), [4, 1, 1]);
    // It keeps what it holds: only growth is bounded.
    let mut large = training("a", 1.0);
    large.current = 9;
    assert_eq!(targets(&cluster(12), &[large, starting("b"), starting("c")]), [9, 1, 1]);
    let mut small = starting("b");
    small.report.maximum = 2;
    assert_eq!(targets(&cluster(12), &[training("a", 1.0), small]), [10, 1]);
    let mut old = starting("b");
    old.expected = false;
    assert_eq!(targets(&cluster(12), &[training("a", 1.0), old]), [11, 1]);
}

#[test]
fn newcomers_and_the_idle_have_the_minimum() {
    let mut new = training("new", 5.0);
    (new.current, new.newcomer) = (0, true);
    let mut idle = app(r#"{"version":1,"app":"idle"}"#);
    idle.current = 6;
    let plan = decide(&cluster(8), &[new, idle, training("a", 1.0)]);
    assert_eq!(plan.iter().map(|d| d.target).collect::<Vec<_>>(), [1, 1, 6]);
    assert_eq!((plan[0].why, plan[1].why), (Why::Newcomer, Why::Idle));
}

#[test]
fn work_without_a_forecast_keeps_its_fair_share() {
    let als = app(r#"{"version":1,"app":"als","wanted":8,"runs":[{"run":1,"predicted":false}]}"#);
    let plan = decide(&cluster(8), &[als, training("a", 1.0)]);
    assert_eq!((plan[0].target, plan[0].why), (4, Why::Fair));
    assert_eq!(plan[1].target, 4);
    // Never more than it asks for.
    let etl = app(r#"{"version":1,"app":"etl","wanted":2}"#);
    assert_eq!(targets(&cluster(8), &[etl, training("a", 1.0)]), [2, 6]);
}

#[test]
fn fairness_bounds_what_the_best_can_take() {
    let mut shared = cluster(8);
    shared.fairness = 0.75;
    assert_eq!(targets(&shared, &[training("a", 1.0), training("b", 1e-9)]), [5, 3]);
}

#[test]
fn weights_scale_gains() {
    let mut heavy = training("heavy", 1.0);
    heavy.report.weight = 8.0;
    assert_eq!(targets(&cluster(8), &[heavy, training("a", 1.0)]), [6, 2]);
}

#[test]
fn guarantees_hold_against_any_gain_and_unused_ones_are_lent() {
    let mut two = cluster(8);
    two.tenants.push(Tenant { guaranteed: 5, ..Tenant::default() });
    let mut owed = training("owed", 1e-6);
    owed.tenant = 1;
    let plan = decide(&two, &[training("a", 1.0), owed]);
    assert_eq!((plan[0].target, plan[1].target, plan[1].why), (3, 5, Why::Guarantee));
    let mut modest = training("modest", 1e-6);
    (modest.tenant, modest.report.maximum) = (1, 2);
    modest.demand = Demand::of(&modest.report, 1000);
    assert_eq!(targets(&two, &[training("a", 1.0), modest]), [6, 2]);
}

#[test]
fn maxima_hold_for_all_applications_of_a_tenant() {
    let mut two = cluster(8);
    two.tenants.push(Tenant { maximum: 3, ..Tenant::default() });
    let of = |name: &str, size: f64| {
        let mut app = training(name, size);
        app.tenant = 1;
        app
    };
    let plan = targets(&two, &[training("a", 0.01), of("b", 9.0), of("c", 1.0)]);
    assert_eq!(plan[1] + plan[2], 3, "{plan:?}");
    assert_eq!(plan[0], 5);
    // As many as fit when even the minima exceed it.
    let plan = decide(&two, &[of("b", 9.0), of("c", 1.0), of("d", 1.0), of("e", 1.0)]);
    assert_eq!(plan.iter().map(|d| d.target).sum::<u32>(), 3);
    assert_eq!(plan.iter().filter(|d| matches!(d.why, Why::Queue(_))).count(), 1);
}

#[test]
fn fixed_applications_are_left_alone_and_counted() {
    let mut fixed = app(r#"{"version":1,"app":"fixed","fixed":true,"executors":3}"#);
    fixed.current = 3;
    let plan = decide(&cluster(8), &[fixed, training("a", 1.0)]);
    assert_eq!((plan[0].target, plan[0].why, plan[1].target), (3, Why::Fixed, 5));
}

#[test]
fn more_applications_than_cores_take_turns() {
    let mut apps: Vec<App> = (0..5).map(|i| training(&format!("a{i}"), 1.0)).collect();
    for (i, app) in apps.iter_mut().enumerate() {
        app.report.pausable = true;
        app.current = u32::from(i < 2);
        app.since = 990.0 + i as f64;
    }
    // Turns of 60 s are not over: the two keep their places.
    let plan = decide(&cluster(2), &apps);
    assert_eq!(plan.iter().map(|d| d.target).collect::<Vec<_>>(), [1, 1, 0, 0, 0]);
    assert_eq!(plan[2..].iter().map(|d| d.why).collect::<Vec<_>>(), [Why::Queue(0), Why::Queue(1), Why::Queue(2)]);
    // They are: whoever waits longest comes next, except that data is not thrown away.
    apps[1].report.pausable = false;
    (apps[0].since, apps[1].since) = (900.0, 900.0);
    assert_eq!(targets(&cluster(2), &apps), [0, 1, 1, 0, 0]);
}

#[test]
fn nothing_to_share_and_nobody_to_share_with() {
    assert!(decide(&cluster(8), &[]).is_empty());
    assert_eq!(targets(&cluster(0), &[training("a", 1.0)]), [0]);
}
