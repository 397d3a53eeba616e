//! What is used of the JVM's tool interface (JVMTI): extend the system class path, replace a class as it is loaded or
//! redefine one that is, name an error.
//!
//! The loss probes are woven into classes of a JVM that was started without an agent. Native code may ask the running
//! JVM for a tool environment at any time, so neither a command line flag nor an attach is needed. A class that loads
//! later gets its new bytes in [`on_class_file`], at no cost to programs that never use it. For one that is loaded
//! already a rewrite that fails verification is refused with a code and leaves the class as it was.
//!
//! This is the only file with raw foreign calls. `jni` binds no JVMTI, and a few functions don't justify a dependency:
//! the tables below are laid out by hand after `jvmti.h`, with the position of each used entry checked at compile time.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::mem::{offset_of, size_of};
use std::panic::catch_unwind;
use std::ptr::{null, null_mut};
use std::slice;

use parking_lot::Mutex;

use crate::replacements::Replacements;

/// What a JVMTI function returns: 0 for success, a `JVMTI_ERROR_*` number when positive, and, from [`Tool::attach`]
/// only, a `JNI_E*` number when negative.
pub(crate) type Code = i32;

/// Success.
pub(crate) const NONE: Code = 0;

/// Any JVM since Java 6.
const VERSION_1_2: i32 = 0x3001_0200;

type Entry = *const c_void;

/// The invocation interface (`JavaVM`), up to the one entry used.
#[repr(C)]
struct Invoke {
    before_get_env: [Entry; 6],
    get_env: unsafe extern "system" fn(*mut *const Invoke, *mut *mut c_void, i32) -> Code,
}

/// The tool interface (`jvmtiEnv`), up to the last entry used. `jvmti.h` counts its entries from 1.
#[repr(C)]
struct Functions {
    to_1: [Entry; 1],
    set_event_notification_mode: unsafe extern "C" fn(Environment, i32, i32, *mut c_void, ...) -> Code,
    to_45: [Entry; 43],
    allocate: unsafe extern "system" fn(Environment, i64, *mut *mut c_uchar) -> Code,
    deallocate: unsafe extern "system" fn(Environment, *mut c_uchar) -> Code,
    to_77: [Entry; 30],
    get_loaded_classes: unsafe extern "system" fn(Environment, *mut i32, *mut *mut *mut c_void) -> Code,
    to_86: [Entry; 8],
    redefine_classes: unsafe extern "system" fn(Environment, i32, *const Definition) -> Code,
    to_121: [Entry; 34],
    set_event_callbacks: unsafe extern "system" fn(Environment, *const Callbacks, i32) -> Code,
    to_126: [Entry; 4],
    dispose_environment: unsafe extern "system" fn(Environment) -> Code,
    get_error_name: unsafe extern "system" fn(Environment, Code, *mut *mut c_char) -> Code,
    to_141: [Entry; 13],
    add_capabilities: unsafe extern "system" fn(Environment, *const Capabilities) -> Code,
    to_150: [Entry; 8],
    add_to_system_class_loader_search: unsafe extern "system" fn(Environment, *const c_char) -> Code,
}

const _: () = {
    const fn at(entry: usize) -> usize {
        (entry - 1) * size_of::<Entry>()
    }
    assert!(offset_of!(Invoke, get_env) == at(7));
    assert!(offset_of!(Functions, set_event_notification_mode) == at(2));
    assert!(offset_of!(Functions, allocate) == at(46));
    assert!(offset_of!(Functions, deallocate) == at(47));
    assert!(offset_of!(Functions, get_loaded_classes) == at(78));
    assert!(offset_of!(Functions, redefine_classes) == at(87));
    assert!(offset_of!(Functions, set_event_callbacks) == at(122));
    assert!(offset_of!(Functions, dispose_environment) == at(127));
    assert!(offset_of!(Functions, get_error_name) == at(128));
    assert!(offset_of!(Functions, add_capabilities) == at(142));
    assert!(offset_of!(Functions, add_to_system_class_loader_search) == at(151));
};

type Environment = *mut *const Functions;

/// `jvmtiClassDefinition`.
#[repr(C)]
struct Definition {
    class: *mut c_void,
    length: i32,
    bytes: *const u8,
}

/// `jvmtiCapabilities`: 128 one-bit flags.
#[repr(C)]
struct Capabilities([u32; 4]);

/// `can_redefine_classes` is the tenth flag, `can_generate_all_class_hook_events` the 27th.
const NEEDED: Capabilities = Capabilities([1 << 9 | 1 << 26, 0, 0, 0]);

/// `jvmtiEventCallbacks`, up to the one used: events are counted from 50.
#[repr(C)]
struct Callbacks {
    to_53: [Entry; 4],
    class_file_load_hook: OnClassFile,
}

/// `jvmtiEventClassFileLoadHook`.
type OnClassFile = unsafe extern "system" fn(
    Environment,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *const c_char,
    *mut c_void,
    i32,
    *const c_uchar,
    *mut i32,
    *mut *mut c_uchar,
);

/// `JVMTI_EVENT_CLASS_FILE_LOAD_HOOK`.
const CLASS_FILE_LOAD_HOOK: i32 = 54;

/// `JVMTI_ENABLE`.
const ENABLE: i32 = 1;

/// What classes become when they are loaded.
static REPLACEMENTS: Replacements = Replacements::new();

/// The JVM is about to define a class. Called on the thread that loads it, for every class, so it does nothing but look
/// the class up; it neither calls the JVM's Java side nor takes a lock that a caller of the JVM holds.
unsafe extern "system" fn on_class_file(
    env: Environment,
    _jni: *mut c_void,
    redefined: *mut c_void,
    _loader: *mut c_void,
    name: *const c_char,
    _domain: *mut c_void,
    length: i32,
    bytes: *const c_uchar,
    new_length: *mut i32,
    new_bytes: *mut *mut c_uchar,
) {
    if !redefined.is_null() || name.is_null() || bytes.is_null() {
        return;
    }
    // SAFETY: the JVM passes a terminated name and `length` bytes, for the duration of the call.
    let (name, original) = unsafe { (CStr::from_ptr(name), slice::from_raw_parts(bytes, length.max(0) as usize)) };
    let Ok(Some(replacement)) = catch_unwind(|| REPLACEMENTS.take(name, original)) else { return };
    let mut space: *mut c_uchar = null_mut();
    // SAFETY: `env` is the environment that the event is for; the JVM frees what is allocated by it, and reads it only
    // after this returns.
    unsafe {
        if ((**env).allocate)(env, replacement.len() as i64, &mut space) == NONE {
            space.copy_from_nonoverlapping(replacement.as_ptr(), replacement.len());
            *new_length = replacement.len() as i32;
            *new_bytes = space;
        }
    }
}

/// A tool environment of the running JVM that may redefine classes.
#[derive(Clone, Copy)]
pub(crate) struct Tool(Environment);

// SAFETY: JVMTI environments are not bound to a thread.
unsafe impl Send for Tool {}

/// One environment for the life of the library: the JVM keeps each one it gives out until it ends.
static TOOL: Mutex<Option<Tool>> = Mutex::new(None);

impl Tool {
    /// The tool environment of the JVM behind `vm`, made by the first call that succeeds.
    ///
    /// # Errors
    /// The negative `JNI_E*` number if the JVM has no tool interface, the `JVMTI_ERROR_*` number if it does not let
    /// classes be redefined.
    ///
    /// # Safety
    /// `vm` is the `JavaVM` pointer of the JVM that this thread is attached to.
    pub(crate) unsafe fn attach(vm: *mut c_void) -> Result<Tool, Code> {
        let mut kept = TOOL.lock();
        if let Some(tool) = *kept {
            return Ok(tool);
        }
        let vm = vm.cast::<*const Invoke>();
        let mut env: *mut c_void = null_mut();
        // SAFETY: the caller vouches for `vm`; `env` receives a pointer.
        let code = unsafe { ((**vm).get_env)(vm, &mut env, VERSION_1_2) };
        if code != NONE {
            return Err(code);
        }
        let env: Environment = env.cast();
        // SAFETY: GetEnv succeeded, so `env` is a JVMTI environment.
        let code = unsafe { ((**env).add_capabilities)(env, &NEEDED) };
        if code != NONE {
            // SAFETY: as above, and nobody else knows `env`.
            unsafe { ((**env).dispose_environment)(env) };
            return Err(code);
        }
        Ok(*kept.insert(Tool(env)))
    }

    /// Appends a jar to the search path of the system class loader, where Spark's own classes can see it.
    pub(crate) fn add_to_system_class_path(self, jar: &CStr) -> Code {
        // SAFETY: an environment is valid once attached; the JVM copies the path.
        unsafe { ((**self.0).add_to_system_class_loader_search)(self.0, jar.as_ptr()) }
    }

    /// Has a class of this name (`java/lang/Object`) and these bytes replaced by others when it is loaded. If the others
    /// fail verification, so does the class: only certain rewrites may be given.
    pub(crate) fn replace_on_load(self, name: &CStr, original: Vec<u8>, replacement: Vec<u8>) -> Code {
        REPLACEMENTS.put(name, original, replacement);
        let callbacks = Callbacks { to_53: [null(); 4], class_file_load_hook: on_class_file };
        // SAFETY: an environment is valid once attached; the JVM copies the table. The function stays where it is,
        // since the class loader that this library belongs to is kept: see `tool.rs`.
        unsafe {
            match ((**self.0).set_event_callbacks)(self.0, &callbacks, size_of::<Callbacks>() as i32) {
                NONE => ((**self.0).set_event_notification_mode)(self.0, ENABLE, CLASS_FILE_LOAD_HOOK, null_mut()),
                code => code,
            }
        }
    }

    /// All classes that are loaded now, as local references of the current native frame.
    ///
    /// # Errors
    /// The JVM's code if it can't say.
    pub(crate) fn loaded_classes(self) -> Result<Vec<*mut c_void>, Code> {
        let (mut count, mut classes) = (0, null_mut());
        // SAFETY: an environment is valid once attached; both are received, the array being ours to give back.
        unsafe {
            match ((**self.0).get_loaded_classes)(self.0, &mut count, &mut classes) {
                NONE => {
                    let list = slice::from_raw_parts(classes, count.max(0) as usize).to_vec();
                    ((**self.0).deallocate)(self.0, classes.cast());
                    Ok(list)
                }
                code => Err(code),
            }
        }
    }

    /// Replaces the byte code of a loaded class. 62 (`JVMTI_ERROR_FAILS_VERIFICATION`) and every other code but 0
    /// leave the class untouched.
    ///
    /// # Safety
    /// `class` is a live reference to a `java.lang.Class` in the current native frame.
    pub(crate) unsafe fn redefine(self, class: *mut c_void, bytes: &[u8]) -> Code {
        // A class file comes from a Java array, so its length is an `int`.
        let definition = Definition { class, length: bytes.len() as i32, bytes: bytes.as_ptr() };
        // SAFETY: the caller vouches for `class`; the JVM only reads the definition, during the call.
        unsafe { ((**self.0).redefine_classes)(self.0, 1, &definition) }
    }

    /// The JVM's own name of a code, such as `JVMTI_ERROR_FAILS_VERIFICATION`; none for a number that it doesn't know.
    pub(crate) fn error_name(self, code: Code) -> Option<String> {
        let mut name: *mut c_char = null_mut();
        // SAFETY: an environment is valid once attached; `name` receives a pointer.
        if unsafe { ((**self.0).get_error_name)(self.0, code, &mut name) } != NONE || name.is_null() {
            return None;
        }
        // SAFETY: on success `name` is a terminated string of ours, to be given back with Deallocate.
        unsafe {
            let text = CStr::from_ptr(name).to_string_lossy().into_owned();
            ((**self.0).deallocate)(self.0, name.cast());
            Some(text)
        }
    }
}

/// A name for a code that the JVM has none for, the numbers of JNI above all.
pub(crate) fn fallback_name(code: Code) -> String {
    match code {
        -2 => "JNI_EDETACHED".to_owned(),
        -3 => "JNI_EVERSION".to_owned(),
        _ => format!("code {code}"),
    }
}
