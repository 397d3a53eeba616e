//! The natives of class `org.apache.spark.slaq.loss.Jvmti`. They return codes, of which 0 is success.

use jni::objects::{JClass, Reference};

use super::*;
use crate::jvmti::{self, Tool};

#[jni_mangle("org.apache.spark.slaq.loss.Jvmti")]
pub fn add_to_system_class_path<'local>(env: EnvUnowned<'local>, _: JObject<'local>, path: JString<'local>) -> jint {
    guard(env, |env| {
        let path = path.mutf8_chars(env)?;
        Ok(tool(env)?.map_or_else(|code| code, |tool| tool.add_to_system_class_path(path.as_cstr())))
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
