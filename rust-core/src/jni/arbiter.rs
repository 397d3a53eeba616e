//! The arbiter's functions: class `org.apache.spark.slaq.arbiter.Native`. Bytes and text only, since what crosses the
//! network crosses here unread.

use super::*;
use crate::arbiter::{Arbiter, Settings};
use parking_lot::Mutex;

static ARBITERS: LazyLock<RwLock<HashMap<i64, Arc<Mutex<Arbiter>>>>> = LazyLock::new(RwLock::default);

fn arbiter(handle: jlong) -> Result<Arc<Mutex<Arbiter>>> {
    let found = ARBITERS.read().get(&handle).cloned();
    found.ok_or_else(|| Fault::State(format!("arbiter {handle} is closed")))
}

#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn open<'local>(env: EnvUnowned<'local>, _: JObject<'local>, settings: JString<'local>, now: jdouble) -> jlong {
    guard(env, |env| {
        let settings = Settings::from_json(&settings.try_to_string(env)?)
            // Not a setting of Spark's, but an option of the daemon.
            .map_err(|e| Fault::Input(e.to_string()))?;
        let handle = NEXT_HANDLE.fetch_add(1, Ordering::Relaxed);
        ARBITERS.write().insert(handle, Arc::new(Mutex::new(Arbiter::new(settings, now))));
        Ok(handle)
    })
}

/// Two lines: who reported (empty for any other message), and the answer to send.
#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn receive<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    handle: jlong,
    message: JByteArray<'local>,
    now: jdouble,
) -> JString<'local> {
    guard(env, |env| {
        let message = env.convert_byte_array(message)?;
        let answer = arbiter(handle)?.lock().receive(&message, now);
        Ok(env.new_string(format!("{}\n{}", answer.app.unwrap_or_default(), answer.text))?)
    })
}

#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn disconnected<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    handle: jlong,
    app: JString<'local>,
    now: jdouble,
) {
    guard(env, |env| {
        let app = app.try_to_string(env)?;
        arbiter(handle)?.lock().disconnected(&app, now);
        Ok(())
    })
}

/// What happened since the last time, a line each.
#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn tick<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong, now: jdouble) -> JString<'local> {
    guard(env, |env| {
        let lines = arbiter(handle)?.lock().tick(now);
        Ok(env.new_string(lines.join("\n"))?)
    })
}

#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn set_cores<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong, cores: jint) {
    guard(env, |_| {
        let cores = count("cores", cores)?;
        arbiter(handle)?.lock().set_cores(cores);
        Ok(())
    })
}

#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn set_tenants<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong, tenants: JString<'local>) {
    guard(env, |env| {
        let tenants = tenants.try_to_string(env)?;
        arbiter(handle)?.lock().set_tenants(&tenants).map_err(|e| Fault::Input(e.to_string()))
    })
}

#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn status<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong, now: jdouble) -> JString<'local> {
    guard(env, |env| {
        let status = arbiter(handle)?.lock().status(now);
        Ok(env.new_string(status.to_string())?)
    })
}

#[jni_mangle("org.apache.spark.slaq.arbiter.Native")]
pub fn close<'local>(env: EnvUnowned<'local>, _: JObject<'local>, handle: jlong) {
    guard(env, |_| {
        let arbiter = ARBITERS.write().remove(&handle);
        drop(arbiter);
        Ok(())
    })
}
