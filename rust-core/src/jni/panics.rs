//! Lets the end-to-end tests make any export fail. Compiled only into the library that those tests build.

use std::cell::Cell;

use super::*;

thread_local!(static ARMED: Cell<Option<bool>> = const { Cell::new(None) });

pub(super) fn fire() {
    match ARMED.take() {
        Some(true) => {
            let empty: [u8; 0] = [];
            let _ = empty[std::hint::black_box(7)];
        }
        Some(false) => panic!("a literal"),
        None => {}
    }
}

/// The next guarded call of this thread panics, with a formatted text or with a literal one.
#[jni_mangle("org.apache.spark.slaq.engine.Panics")]
pub fn arm<'local>(_: EnvUnowned<'local>, _: JObject<'local>, formatted: bool) {
    ARMED.set(Some(formatted));
}

/// Fails, by a fault or by a panic, while an exception is pending.
#[jni_mangle("org.apache.spark.slaq.engine.Panics")]
pub fn fail_after_throwing<'local>(env: EnvUnowned<'local>, _: JObject<'local>, by_panic: bool) {
    guard(env, |env| {
        let _ = env.throw_new(jni_str!("java/lang/UnsupportedOperationException"), jni_str!("came first"));
        if by_panic { panic!("came second") } else { Err(Fault::State("came second".to_owned())) }
    })
}
