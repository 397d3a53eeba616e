//! Cost of what the engine does often: a report with its fits, a plan, one fit.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use slaq_core::fit::{Family, Points, fit};
use slaq_core::forecast::{Forecaster, LossModel};
use slaq_core::{Config, Engine, RunSpec, Stage};
use std::hint::black_box;

fn loss(run: u32, k: u32) -> f64 {
    let k = f64::from(k);
    let noise = 1.0 + 0.002 * (f64::from(run) * 7.0 + k * 13.0).sin();
    noise * if run.is_multiple_of(2) { 1.0 + 9.0 / (1.0 + 0.1 * k) } else { 1.0 + 9.0 * (-0.03 * k).exp() }
}

fn engine(runs: u32) -> Engine {
    let engine = Engine::new(Config::default());
    for run in 0..runs {
        engine.start(RunSpec::new(i64::from(run), "KMeans"), 0.0).expect("a new run");
        for k in 0..12 {
            let tasks = 8 + run % 200;
            let stage = Stage { tasks, task_seconds: f64::from(tasks) * 0.1, longest_seconds: 0.1, span_seconds: 0.5 };
            engine.report(i64::from(run), k, loss(run, k), f64::from(k), &[stage]).expect("an active run");
        }
    }
    engine
}

fn benches(c: &mut Criterion) {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let y: Vec<f64> = (0..40).map(|k| loss(1, k)).collect();
    let points = Points::new(x, y, vec![1.0; 40], f64::NEG_INFINITY);
    for family in [Family::Exponential, Family::Reciprocal, Family::Power] {
        c.bench_function(&format!("fit {family:?}"), |b| b.iter(|| fit(family, black_box(&points), None)));
    }
    c.bench_function("report, 100 losses of one run", |b| {
        b.iter_batched_ref(
            LossModel::default,
            |model| (0..100).for_each(|k| model.push(k, loss(0, k))),
            BatchSize::SmallInput,
        );
    });
    let engine = engine(4000);
    c.bench_function("plan, 4000 runs on 16000 cores", |b| b.iter(|| engine.plan(16_000, 0.0, 20.0)));
}

criterion_group!(all, benches);
criterion_main!(all);
