//! The functions that the JVM calls: decode, call the engine, encode.
//!
//! Every export runs inside [`guard`], so that whatever happens becomes a Java exception and never unwinds into the
//! JVM. Engines are known to the JVM by numbers in a table: a handle that was closed is an exception and not a dangling
//! pointer, and a call that is under way keeps its engine alive. Nothing here calls back into the JVM, starts a thread, or
//! keeps a reference to its objects but the one in `tool.rs`.
#![allow(unsafe_code)]

mod arbiter;
#[cfg(feature = "test-panics")]
mod panics;
mod tool;

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};

use jni::errors::ErrorPolicy;
use jni::objects::{JByteArray, JDoubleArray, JLongArray, JObject, JString};
use jni::strings::JNIString;
use jni::sys::{jdouble, jint, jlong};
use jni::{Env, EnvUnowned, jni_mangle, jni_str};
use log::LevelFilter;
use parking_lot::RwLock;

use crate::{Config, Engine, Error, RunSpec, Stage};

/// Why a call failed, by the exception that it becomes.
#[derive(Debug)]
enum Fault {
    /// The caller's argument: IllegalArgumentException.
    Input(String),
    /// Anything else: IllegalStateException.
    State(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Input(text) | Fault::State(text) => f.write_str(text),
        }
    }
}

impl From<jni::errors::Error> for Fault {
    fn from(error: jni::errors::Error) -> Self {
        match error {
            jni::errors::Error::NullPtr(what) => Fault::Input(format!("null given: {what}")),
            other => Fault::State(other.to_string()),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            // The user knows the setting by its full name.
            Error::Config { .. } => Fault::Input(format!("spark.slaq.{error}")),
            Error::Spec(_) | Error::UnknownRun(_) | Error::AlreadyStarted(_) => Fault::Input(error.to_string()),
            Error::File { .. } => Fault::State(error.to_string()),
        }
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// Turns faults and panics into exceptions. `jni`'s own policies lose the text of a formatted panic.
struct Throw;

impl<T: Default> ErrorPolicy<T, Fault> for Throw {
    type Captures<'local: 'native, 'native> = ();

    fn on_error<'local: 'native, 'native>(env: &mut Env<'local>, _: &mut (), fault: Fault) -> jni::errors::Result<T> {
        throw(env, &fault);
        Ok(T::default())
    }

    fn on_panic<'local: 'native, 'native>(
        env: &mut Env<'local>,
        _: &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        throw(env, &Fault::State(format!("panic in the native library: {}", text_of(&*payload))));
        Ok(T::default())
    }
}

/// Leaves an exception that is pending already as it is: it came first, and JNI forbids a second.
fn throw(env: &mut Env<'_>, fault: &Fault) {
    if env.exception_check() {
        return;
    }
    let class = match fault {
        Fault::Input(_) => jni_str!("java/lang/IllegalArgumentException"),
        Fault::State(_) => jni_str!("java/lang/IllegalStateException"),
    };
    // Returns an error always, to say that an exception is pending now.
    let _ = env.throw_new(class, JNIString::new(fault.to_string()));
}

/// The text of a panic: `panic!("literal")` carries a `&str`, every formatted one a `String`.
fn text_of(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no text")
}

/// Runs the body of an export. On a fault or panic an exception is pending and the default value is returned.
fn guard<'local, T: Default>(mut env: EnvUnowned<'local>, body: impl FnOnce(&mut Env<'local>) -> Result<T>) -> T {
    env.with_env(|env| {
        #[cfg(feature = "test-panics")]
        panics::fire();
        body(env)
    })
    .resolve::<Throw>()
}

static ENGINES: LazyLock<RwLock<HashMap<i64, Arc<Engine>>>> = LazyLock::new(RwLock::default);

/// Handles are never used twice, so one that was closed stays closed.
static NEXT_HANDLE: AtomicI64 = AtomicI64::new(1);

fn engine(handle: jlong) -> Result<Arc<Engine>> {
    let found = ENGINES.read().get(&handle).cloned();
    found.ok_or_else(|| Fault::State(format!("engine {handle} is closed")))
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn version<'local>(env: EnvUnowned<'local>, _: JObject<'local>) -> JString<'local> {
    guard(env, |env| Ok(env.new_string(env!("CARGO_PKG_VERSION"))?))
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn open<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    config: JString<'local>,
    log_level: JString<'local>,
) -> jlong {
    guard(env, |env| {
        start_log(&log_level.try_to_string(env)?)?;
        let config = Config::from_json(&config.try_to_string(env)?)?;
        let engine = Arc::new(Engine::new(config));
        let handle = NEXT_HANDLE.fetch_add(1, Ordering::Relaxed);
        ENGINES.write().insert(handle, engine);
        Ok(handle)
    })
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn start<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong, run: JString<'local>, now: jdouble) {
    guard(env, |env| {
        let spec = RunSpec::from_json(&run.try_to_string(env)?)?;
        Ok(engine(handle)?.start(spec, now)?)
    })
}

#[allow(clippy::too_many_arguments, reason = "primitives cross the boundary fastest, and this is the hot path")]
#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn report<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    handle: jlong,
    run: jlong,
    iteration: jint,
    loss: jdouble,
    now: jdouble,
    stages: JDoubleArray<'local>,
) {
    guard(env, |env| {
        let iteration = count("iteration", iteration)?;
        let stages = decode_stages(env, &stages)?;
        Ok(engine(handle)?.report(run, iteration, loss, now, &stages)?)
    })
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn observe<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    handle: jlong,
    run: jlong,
    now: jdouble,
    stages: JDoubleArray<'local>,
) {
    guard(env, |env| {
        let stages = decode_stages(env, &stages)?;
        Ok(engine(handle)?.observe(run, now, &stages)?)
    })
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn finish<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong, run: jlong, now: jdouble) {
    guard(env, |_| Ok(engine(handle)?.finish(run, now)?))
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn plan<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    handle: jlong,
    cores: jint,
    others: jdouble,
    now: jdouble,
) -> JLongArray<'local> {
    guard(env, |env| {
        let plan = engine(handle)?.plan(count("cores", cores)?, others, now);
        let pairs: Vec<jlong> = plan.shares.iter().flat_map(|share| [share.run, jlong::from(share.cores)]).collect();
        let array = env.new_long_array(pairs.len())?;
        array.set_region(env, 0, &pairs)?;
        Ok(array)
    })
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn explain<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong) -> JString<'local> {
    guard(env, |env| Ok(env.new_string(engine(handle)?.explain().to_string())?))
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn outlook<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    handle: jlong,
    cores: jint,
    horizon: jdouble,
) -> JString<'local> {
    guard(env, |env| {
        let outlook = engine(handle)?.outlook(count("cores", cores)?, horizon);
        Ok(env.new_string(outlook.to_string())?)
    })
}

#[jni_mangle("org.apache.spark.slaq.engine.Native")]
pub fn close<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong) {
    guard(env, |_| {
        // Dropped after the table is free again: the last owner's drop may take a while.
        let engine = ENGINES.write().remove(&handle);
        drop(engine);
        Ok(())
    })
}

/// Four numbers a stage; see [`Stage`].
fn decode_stages(env: &mut Env<'_>, stages: &JDoubleArray<'_>) -> Result<Vec<Stage>> {
    let mut numbers = vec![0.0; stages.len(env)?];
    stages.get_region(env, 0, &mut numbers)?;
    stages_of(&numbers)
}

fn stages_of(numbers: &[f64]) -> Result<Vec<Stage>> {
    let (stages, rest) = numbers.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Fault::Input(format!("stages = {} numbers: allowed are four for each stage", numbers.len())));
    }
    stages
        .iter()
        .map(|&[tasks, task_seconds, longest_seconds, span_seconds]| {
            if !(0.0..=f64::from(u32::MAX)).contains(&tasks) {
                return Err(Fault::Input(format!("tasks = {tasks}: allowed are 0 to {}", u32::MAX)));
            }
            Ok(Stage { tasks: tasks as u32, task_seconds, longest_seconds, span_seconds })
        })
        .collect()
}

fn count(name: &str, value: jint) -> Result<u32> {
    u32::try_from(value).map_err(|_| Fault::Input(format!("{name} = {value}: allowed is 0 or more")))
}

/// Sends this crate's log to standard error from the first call on; later calls change the level. `SLAQ_LOG` in the
/// environment goes before what the JVM asks for. Other crates' messages matter only when something is wrong.
fn start_log(level: &str) -> Result<()> {
    let level = match std::env::var("SLAQ_LOG") {
        Ok(asked) => level_of("SLAQ_LOG", &asked)?,
        Err(_) => level_of("log level", level)?,
    };
    // Fails when a logger is there already, which then stays.
    let _ = env_logger::Builder::new()
        .filter_level(LevelFilter::Warn)
        .filter_module(env!("CARGO_CRATE_NAME"), LevelFilter::Trace)
        .try_init();
    log::set_max_level(level);
    Ok(())
}

fn level_of(name: &str, text: &str) -> Result<LevelFilter> {
    LevelFilter::from_str(text)
        .map_err(|_| Fault::Input(format!("{name} = {text}: allowed are off, error, warn, info, debug, trace")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_panic_keep_their_text() {
        let of = |panic: fn()| std::panic::catch_unwind(panic).unwrap_err();
        assert_eq!(text_of(&*of(|| panic!("literal"))), "literal");
        assert_eq!(text_of(&*of(|| panic!("run {}", 7))), "run 7");
        assert_eq!(text_of(&*of(|| std::panic::panic_any(7))), "no text");
    }

    #[test]
    fn stages_come_in_fours() {
        let stages = stages_of(&[8.0, 4.0, 0.75, 1.5, 2.0, 1.0, 0.5, 0.5]).unwrap();
        assert_eq!(stages.len(), 2);
        assert_eq!((stages[0].tasks, stages[0].task_seconds, stages[0].longest_seconds), (8, 4.0, 0.75));
        assert_eq!((stages[1].tasks, stages[1].span_seconds), (2, 0.5));
        assert!(stages_of(&[]).unwrap().is_empty());
        for numbers in [&[1.0, 2.0][..], &[-1.0, 0.0, 0.0, 0.0], &[f64::NAN, 0.0, 0.0, 0.0]] {
            assert!(matches!(stages_of(numbers), Err(Fault::Input(_))), "{numbers:?}");
        }
    }

    #[test]
    fn negative_counts_are_refused_by_name() {
        assert_eq!(count("cores", 3).unwrap(), 3);
        assert_eq!(count("cores", -1).unwrap_err().to_string(), "cores = -1: allowed is 0 or more");
    }

    #[test]
    fn a_handle_that_is_not_open_is_a_fault() {
        assert!(matches!(engine(0), Err(Fault::State(text)) if text == "engine 0 is closed"));
    }

    #[test]
    fn unknown_levels_are_refused() {
        assert_eq!(level_of("log level", "debug").unwrap(), LevelFilter::Debug);
        assert!(level_of("SLAQ_LOG", "loud").unwrap_err().to_string().contains("SLAQ_LOG = loud: allowed are off"));
    }

    #[test]
    fn faults_are_told_apart_by_kind() {
        let config = Error::Config { key: "epoch".into(), value: "0".into(), allowed: "more".into() };
        assert!(matches!(Fault::from(config), Fault::Input(text) if text == "spark.slaq.epoch = 0: allowed is more"));
        assert!(matches!(Fault::from(Error::UnknownRun(7)), Fault::Input(_)));
        let file = Error::File { path: "priors".into(), reason: "full".into() };
        assert!(matches!(Fault::from(file), Fault::State(_)));
    }
}
