use super::*;
use serde_json::Value;

/// A driver that reports by itself, and does what it is told at once.
#[derive(Clone)]
struct Driver {
    app: String,
    executors: u32,
    size: f64,
    extra: &'static str,
}

impl Driver {
    fn new(app: &str, size: f64) -> Driver {
        Driver { app: app.to_owned(), executors: 0, size, extra: "" }
    }

    fn message(&self) -> String {
        let gain: Vec<String> =
            [1, 2, 3, 4, 6, 8].iter().map(|&n| format!("[{n},{}]", self.size * (1.0 - 0.5_f64.powi(n)))).collect();
        let runs = if self.size > 0.0 { format!(r#"{{"run":1,"gain":[{}]}}"#, gain.join(",")) } else { String::new() };
        format!(r#"{{"version":1,"app":"{}","executors":{},"runs":[{runs}]{}}}"#, self.app, self.executors, self.extra)
    }

    fn report(&mut self, arbiter: &mut Arbiter, now: f64) -> Option<u32> {
        let answer: Value = serde_json::from_str(&arbiter.receive(self.message().as_bytes(), now).text).unwrap();
        let target = answer["target"].as_u64().map(|t| t as u32);
        self.executors = target.unwrap_or(self.executors);
        target
    }
}

/// An arbiter past its hold, and the seconds at which that is.
fn settled(cores: u32) -> (Arbiter, f64) {
    let mut arbiter = Arbiter::new(Settings::new(cores), 0.0);
    arbiter.tick(10.0);
    (arbiter, 10.0)
}

/// Everybody reports every second; never more than the cores are promised.
fn run(arbiter: &mut Arbiter, drivers: &mut [Driver], now: &mut f64, seconds: u32) -> Vec<u32> {
    let mut targets = Vec::new();
    for _ in 0..seconds {
        targets = drivers.iter_mut().map(|d| d.report(arbiter, *now).unwrap_or(0)).collect();
        assert!(arbiter.promised() <= u64::from(arbiter.cores), "{:?}", arbiter.status(*now));
        *now += 0.5;
        arbiter.tick(*now);
        *now += 0.5;
    }
    targets
}

#[test]
fn a_newcomer_has_the_minimum_first_and_then_what_it_gains() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0)];
    assert_eq!(drivers[0].report(&mut arbiter, now), Some(1));
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 30), [8]);
    let mut two = [drivers[0].clone(), Driver::new("b", 1.0)];
    // The newcomer's minimum is taken from the other within a tick, before any round.
    assert_eq!(run(&mut arbiter, &mut two, &mut now, 2), [7, 1]);
    assert_eq!(run(&mut arbiter, &mut two, &mut now, 40), [4, 4]);
}

#[test]
fn who_joins_is_left_its_fair_share_until_it_trains_or_takes_too_long() {
    let (mut arbiter, mut now) = settled(12);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 0.0), Driver::new("c", 0.0)];
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 20), [4, 1, 1]);
    drivers[1].size = 1.0;
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 10), [4, 4, 1]);
    // Having trained, it is expected to no more, whatever it does.
    drivers[1].size = 0.0;
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 20), [5, 1, 1]);
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 20), [8, 1, 1]);
}

#[test]
fn what_becomes_free_is_handed_out_before_the_round() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 1.0)];
    run(&mut arbiter, &mut drivers, &mut now, 40);
    let bye = arbiter.receive(br#"{"version":1,"app":"b","bye":true}"#, now);
    assert!(bye.text.contains(r#""target":0"#), "{}", bye.text);
    assert_eq!(run(&mut arbiter, &mut drivers[..1], &mut now, 2), [8]);
}

#[test]
fn targets_follow_the_gains_from_round_to_round_but_not_their_noise() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 1.0)];
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 40), [4, 4]);
    drivers[0].size = 1.2;
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 60), [4, 4]);
    drivers[0].size = 0.01;
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 25), [1, 7]);
}

#[test]
fn a_training_that_begins_when_another_has_just_grown_does_not_wait_for_a_whole_period() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 0.0), Driver::new("b", 0.0)];
    run(&mut arbiter, &mut drivers, &mut now, 60);
    drivers[0].size = 1.0;
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 2), [7, 1]);
    drivers[1].size = 1.0;
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 6), [7, 1], "what has just grown is not taken back");
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 5), [4, 4]);
}

#[test]
fn the_silent_are_forgotten_after_a_lease_and_the_disconnected_sooner() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 1.0), Driver::new("c", 1.0)];
    run(&mut arbiter, &mut drivers, &mut now, 40);
    arbiter.disconnected("b", now);
    arbiter.disconnected("nobody", now);
    run(&mut arbiter, &mut drivers[..1], &mut now, 5);
    assert_eq!(arbiter.apps.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(run(&mut arbiter, &mut drivers[..1], &mut now, 7), [8]);
    // One that comes back in time is as if it had never gone.
    arbiter.disconnected("a", now);
    assert_eq!(run(&mut arbiter, &mut drivers[..1], &mut now, 7), [8]);
}

#[test]
fn after_a_restart_everybody_keeps_what_they_have_for_one_lease() {
    let mut arbiter = Arbiter::new(Settings::new(8), 0.0);
    let mut now = 0.0;
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 1e-6), Driver::new("new", 1.0)];
    (drivers[0].executors, drivers[1].executors) = (2, 5);
    for _ in 0..9 {
        assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 1), [2, 5, 1]);
    }
    let after = run(&mut arbiter, &mut drivers, &mut now, 25);
    assert!(after[0] >= 3 && after[1] == 1 && after[2] >= 3, "{after:?}");
}

#[test]
fn one_that_returns_from_silence_gets_its_place_back() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 1.0)];
    run(&mut arbiter, &mut drivers, &mut now, 40);
    assert_eq!(run(&mut arbiter, &mut drivers[..1], &mut now, 15), [8]);
    // Nothing is free at once: it keeps what it has until it is planned for.
    assert_eq!(drivers[1].report(&mut arbiter, now), None);
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 30), [4, 4]);
}

#[test]
fn garbage_and_nan_change_nothing() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("b", 1.0)];
    let before = run(&mut arbiter, &mut drivers, &mut now, 40);
    for garbage in [&b"\xff\x00"[..], b"", b"{}", br#"{"version":1,"app":"x","weight":NaN}"#] {
        let answer = arbiter.receive(garbage, now);
        assert!(answer.app.is_none() && answer.text.contains("error"), "{}", answer.text);
    }
    let nan =
        br#"{"version":1,"app":"nan","executors":1,"runs":[{"run":1,"loss":"NaN","gain":[[1,null],[8,"Infinity"]]}]}"#;
    for _ in 0..40 {
        arbiter.receive(nan, now);
        run(&mut arbiter, &mut drivers, &mut now, 1);
    }
    let status = arbiter.status(now);
    let nan = &status["apps"][2];
    assert_eq!((nan["app"].as_str(), nan["target"].as_u64()), (Some("nan"), Some(1)));
    assert_eq!(before.iter().sum::<u32>() - 1, run(&mut arbiter, &mut drivers, &mut now, 1).iter().sum::<u32>());
}

#[test]
fn fifty_applications_on_eight_cores_all_get_their_turn() {
    let settings = Settings { turn: 10.0, ..Settings::new(8) };
    let mut arbiter = Arbiter::new(settings, 0.0);
    let mut drivers: Vec<Driver> =
        (0..50).map(|i| Driver { extra: r#","pausable":true"#, ..Driver::new(&format!("a{i:02}"), 1.0) }).collect();
    let mut now = 0.0;
    let mut longest = [0_u32; 50];
    let mut waited = [0_u32; 50];
    for _ in 0..300 {
        let targets = run(&mut arbiter, &mut drivers, &mut now, 1);
        for (i, &target) in targets.iter().enumerate() {
            waited[i] = if target == 0 { waited[i] + 1 } else { 0 };
            longest[i] = longest[i].max(waited[i]);
        }
    }
    // 42 wait for 8 places of 10 s each: nobody waits longer than six turns, and the hold.
    assert!(longest.iter().all(|&w| w <= 80), "{longest:?}");
}

#[test]
fn cores_and_tenants_change_while_running() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver { extra: r#","tenant":"ann""#, ..Driver::new("a", 1.0) }, Driver::new("b", 1.0)];
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 40), [4, 4]);
    assert!(arbiter.set_tenants(r#"{"ann": {"guaranteed": 9}}"#).is_err());
    arbiter.set_tenants(r#"{"ann": {"guaranteed": 6}}"#).unwrap();
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 3), [6, 2]);
    arbiter.set_cores(4);
    arbiter.tick(now);
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 3).iter().sum::<u32>(), 4);
    arbiter.set_tenants("{}").unwrap();
    arbiter.set_cores(8);
    assert_eq!(run(&mut arbiter, &mut drivers, &mut now, 40).iter().sum::<u32>(), 8);
}

#[test]
fn the_status_tells_who_has_what_and_why() {
    let (mut arbiter, mut now) = settled(8);
    let mut drivers = [Driver::new("a", 1.0), Driver::new("idle", 0.0)];
    run(&mut arbiter, &mut drivers, &mut now, 70);
    let status = arbiter.status(now);
    assert_eq!((status["cores"].as_u64(), status["promised"].as_u64()), (Some(8), Some(8)));
    assert_eq!(status["apps"][0]["target"], 7);
    assert!(status["apps"][0]["reason"].as_str().unwrap().contains("gain of its last executor"), "{status}");
    assert_eq!(status["apps"][1]["reason"], "neither trains nor has tasks: the minimum");
    assert_eq!(status["apps"][0]["runs"][0]["cores"], 8);
}

#[test]
fn a_storm_of_events_does_not_fill_the_journal() {
    let (mut arbiter, now) = settled(8);
    for i in 0..1000 {
        Driver::new(&format!("a{i}"), 1.0).report(&mut arbiter, now);
    }
    let said = arbiter.tick(now + 1.0);
    assert_eq!(said.len(), JOURNAL + 1);
    assert!(said[JOURNAL].contains("more"), "{}", said[JOURNAL]);
}
