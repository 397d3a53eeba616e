use super::*;
use crate::baseline::LastChange;
use proptest::prelude::*;

fn fed(losses: impl IntoIterator<Item = f64>) -> LossModel {
    let mut model = LossModel::default();
    for (k, loss) in losses.into_iter().enumerate() {
        model.push(k as u32 + 1, loss);
    }
    model
}

/// Relative error of the fall over ten iterations, median over the cuts of a curve.
fn error(mut forecaster: impl Forecaster, losses: &[f64]) -> f64 {
    let mut errors: Vec<f64> = Vec::new();
    for (k, loss) in losses.iter().enumerate() {
        forecaster.push(k as u32, *loss);
        if let (5.., Some(later)) = (k, losses.get(k + 10)) {
            let fall = loss - forecaster.forecast(10.0).unwrap().loss;
            errors.push((fall - (loss - later)).abs() / (loss - later));
        }
    }
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn follows_curves_of_every_family() {
    let curves: [(&str, &dyn Fn(f64) -> f64); 4] = [
        ("exponential", &|k| 1.0 + 9.0 * (-0.05 * k).exp()),
        ("reciprocal", &|k| 1.0 + 9.0 / (1.0 + 0.2 * k + 0.01 * k * k)),
        ("power", &|k| 1.0 + 9.0 / (1.0 + k).powf(0.5)),
        ("linear", &|k| 100.0 - 0.5 * k),
    ];
    for (name, curve) in curves {
        let losses: Vec<f64> = (0..100).map(|k| curve(f64::from(k))).collect();
        let ours = error(LossModel::default(), &losses);
        assert!(ours < 0.02, "{name}: {ours}");
        assert!(ours <= error(LastChange::default(), &losses) + 0.01, "{name}");
    }
}

#[test]
fn losses_of_every_third_iteration_tell_as_much() {
    let loss = |k: u32| 1.0 + 9.0 / (1.0 + 0.1 * f64::from(k));
    let mut model = LossModel::default();
    (0..40).for_each(|i| model.push(3 * i, loss(3 * i)));
    for ahead in [3, 15, 30] {
        let (foreseen, truth) = (model.forecast(f64::from(ahead)).unwrap(), loss(117 + ahead));
        assert!((foreseen.loss - truth).abs() < 0.05 * (loss(117) - truth), "{ahead}: {foreseen:?} instead of {truth}");
        assert!(foreseen.bound < 0.1 * (loss(117) - truth), "{ahead}: {foreseen:?}");
    }
}

#[test]
fn an_outlier_does_not_derail_it() {
    let loss = |k: u32| 1.0 + 9.0 * (-0.05 * f64::from(k)).exp();
    let model = fed((1..=60).map(|k| if k == 55 { 50.0 } else { loss(k) }));
    let fall = model.falls().at(10.0);
    assert!((fall / (loss(60) - loss(70)) - 1.0).abs() < 0.1, "{fall}");
}

#[test]
fn rising_and_flat_curves_promise_nothing() {
    assert_eq!(fed((0..50).map(f64::from)).falls().at(10.0), 0.0);
    assert_eq!(fed([2.5; 50]).falls().at(10.0), 0.0);
}

#[test]
fn a_rise_is_foreseen_but_promises_nothing() {
    let model = fed((0..50).map(|k| if k < 20 { 40.0 - f64::from(k) } else { f64::from(k) }));
    assert_eq!(model.falls().at(10.0), 0.0);
    let foreseen = model.forecast(1.0).unwrap().loss;
    assert!((foreseen - 50.0).abs() < 0.2, "{foreseen}");
}

/// Noise of mean 0, evenly spread over a width of 1.
fn noise() -> impl FnMut() -> f64 {
    let mut seed = 7u32;
    move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 24) - 0.5
    }
}

#[test]
fn a_jump_of_a_noisy_loss_goes_back() {
    let mut noise = noise();
    let mut model = fed((0..100).map(|_| 5.0 + noise()));
    model.push(101, 5.5);
    let foreseen = model.forecast(1.0).unwrap().loss;
    assert!((4.8..5.3).contains(&foreseen), "{foreseen}");
    assert!(model.falls().at(10.0) < 0.2, "{}", model.falls().at(10.0));
}

#[test]
fn bounds_cover_the_truth_of_a_noisy_curve() {
    let mut noise = noise();
    let losses: Vec<f64> = (0..400).map(|k| 1.0 + 20.0 / (1.0 + 0.1 * f64::from(k)) + 0.05 * noise()).collect();
    let mut model = LossModel::default();
    let (mut covered, mut all) = (0, 0);
    for (k, loss) in losses.iter().enumerate() {
        model.push(k as u32, *loss);
        if let (10.., Some(truth)) = (k, losses.get(k + 10)) {
            let forecast = model.forecast(10.0).unwrap();
            covered += i32::from((forecast.loss - truth).abs() <= forecast.bound);
            all += 1;
        }
    }
    let part = f64::from(covered) / f64::from(all);
    assert!((0.8..=0.95).contains(&part), "{part}");
}

#[test]
fn a_model_stays_below_four_kibibytes() {
    assert!(size_of::<LossModel>() <= 4096, "{}", size_of::<LossModel>());
}

proptest! {
    #[test]
    fn any_losses_give_finite_falls_that_never_sink(losses in prop::collection::vec(any::<f64>(), 0..80), steps in prop::collection::vec(any::<u32>(), 80)) {
        let mut model = LossModel::default();
        for (loss, k) in losses.iter().zip(steps) {
            model.push(k, *loss);
        }
        let mut before = 0.0;
        for ahead in [0.0, 0.5, 1.0, 7.0, 10.0, 99.0, 1e6, f64::INFINITY] {
            let fall = model.falls().at(ahead);
            prop_assert!(fall.is_finite() && fall >= before, "{fall} after {before}");
            before = fall;
        }
        for ahead in [0.0, 10.0, f64::INFINITY] {
            if let Some(forecast) = model.forecast(ahead) {
                prop_assert!(forecast.loss.is_finite() && forecast.bound >= 0.0, "{forecast:?} at {ahead}");
            }
        }
    }
}
