//! The natives of class `org.apache.spark.slaq.loss.Jvmti`. They return codes, of which 0 is success.

use std::sync::OnceLock;

use jni::objects::{JClass, JObjectArray, Reference};
use jni::refs::{Global, IntoAuto as _};

use super::*;
use crate::jvmti::{self, Tool};

#[jni_mangle("org.apache.spark.slaq.loss.Jvmti")]
pub fn add_to_system_class_path<'local>(env: EnvUnowned<'local>, _: JObject<'local>, path: JString<'local>) -> jint {
    guard(env, |env| {
        let path = path.mutf8_chars(env)?;
        Ok(tool(env)?.map_or_else(|code| code, |tool| tool.add_to_system_class_path(path.as_cstr())))
    })
}

/// A class of the loader that this library was loaded for. While it is kept the JVM does not unload the library, whose
/// function it calls for each class that it loads.
static KEPT: OnceLock<Global<JClass<'static>>> = OnceLock::new();

#[jni_mangle("org.apache.spark.slaq.loss.Jvmti")]
pub fn replace_on_load<'local>(
    env: EnvUnowned<'local>,
    this: JObject<'local>,
    name: JString<'local>,
    original: JByteArray<'local>,
    replacement: JByteArray<'local>,
) -> jint {
    guard(env, |env| {
        let class = env.get_object_class(this)?;
        let kept = env.new_global_ref(class)?;
        KEPT.get_or_init(|| kept);
        let name = name.mutf8_chars(env)?;
        let (original, replacement) = (env.convert_byte_array(original)?, env.convert_byte_array(replacement)?);
        Ok(tool(env)?.map_or_else(|code| code, |tool| tool.replace_on_load(name.as_cstr(), original, replacement)))
    })
}

#[jni_mangle("org.apache.spark.slaq.loss.Jvmti")]
pub fn loaded_classes<'local>(env: EnvUnowned<'local>, _: JObject<'local>) -> JObjectArray<'local, JClass<'local>> {
    guard(env, |env| {
        let listed = tool(env)?.and_then(Tool::loaded_classes);
        let classes = listed.map_err(|code| Fault::State(format!("the loaded classes are unknown: {code}")))?;
        let array = JObjectArray::<JClass>::new(env, classes.len(), JClass::null())?;
        for (index, class) in classes.into_iter().enumerate() {
            // SAFETY: each is a local reference to a class, made in this native frame and owned by nobody else.
            let class = unsafe { JClass::from_raw(env, class.cast()) }.auto();
            array.set_element(env, index, &class)?;
        }
        Ok(array)
    })
}

#[jni_mangle("org.apache.spark.slaq.loss.Jvmti")]
pub fn redefine<'local>(
    env: EnvUnowned<'local>,
    _: JObject<'local>,
    target: JClass<'local>,
    bytes: JByteArray<'local>,
) -> jint {
    guard(env, |env| {
        let bytes = env.convert_byte_array(bytes)?;
        if target.is_null() {
            return Err(Fault::Input("null given: class".to_owned()));
        }
        // SAFETY: `target` is a parameter of this native frame, typed as a class by the Java declaration.
        Ok(tool(env)?.map_or_else(|code| code, |tool| unsafe { tool.redefine(target.as_raw().cast(), &bytes) }))
    })
}

#[jni_mangle("org.apache.spark.slaq.loss.Jvmti")]
pub fn error_name<'local>(env: EnvUnowned<'local>, _: JObject<'local>, code: jint) -> JString<'local> {
    guard(env, |env| {
        let name = match code {
            ..0 => None,
            _ => tool(env)?.ok().and_then(|tool| tool.error_name(code)),
        };
        Ok(env.new_string(name.unwrap_or_else(|| jvmti::fallback_name(code)))?)
    })
}

fn tool(env: &Env<'_>) -> Result<std::result::Result<Tool, jvmti::Code>> {
    let vm = env.get_java_vm()?;
    // SAFETY: the pointer is that of the JVM which is calling.
    Ok(unsafe { Tool::attach(vm.get_raw().cast()) })
}
