//! Objects under test, as C and Rust describe them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::rc::Rc;

use selvedge_lineup::{Calls, Options};
use selvedge_protocol::{ObjectOptions, ObjectTrouble};

use crate::host;

/// The result of an operation in C.
pub type Value = i64;
/// Returns nothing.
pub const VOID: Value = Value::MIN;
/// There was nothing to return.
pub const EMPTY: Value = Value::MIN + 1;
/// It did not work.
pub const FAIL: Value = Value::MIN + 2;
/// The result was given as text.
pub const TEXT: Value = Value::MIN + 3;

/// An operation in C.
pub type Function = unsafe extern "C" fn(*mut c_void, *const Value) -> Value;

/// How many arguments an operation has at most.
pub const ARGUMENTS: usize = 4;

/// How a call is made.
#[derive(Clone, Copy, Debug)]
pub enum Invocation {
    /// A function of C with its arguments, by way of the header's own code, which catches exceptions.
    C {
        /// What the header defines.
        invoke: unsafe extern "C" fn(Function, *mut c_void, *const Value) -> Value,
        /// The operation.
        function: Function,
        /// Its arguments.
        arguments: [Value; ARGUMENTS],
    },
    /// A closure of Rust; it gives its result as text.
    Rust {
        /// What calls it.
        invoke: unsafe extern "C" fn(*const c_void, *mut c_void),
        /// The closure.
        context: *const c_void,
    },
}

/// How an object comes and goes.
#[derive(Clone, Copy, Debug)]
pub enum Life {
    /// Functions of C.
    C {
        /// Calls the constructor and catches exceptions.
        construct: unsafe extern "C" fn(unsafe extern "C" fn() -> *mut c_void) -> *mut c_void,
        /// The constructor.
        create: unsafe extern "C" fn() -> *mut c_void,
        /// The destructor, if there is one.
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    },
    /// Closures of Rust.
    Rust {
        /// Calls the constructor.
        create: unsafe extern "C" fn(*const c_void) -> *mut c_void,
        /// The constructor.
        context: *const c_void,
        /// Drops the object.
        destroy: unsafe extern "C" fn(*mut c_void),
    },
}

/// An object that can be tested.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// How it comes and goes.
    pub life: Life,
    /// What may be called.
    pub calls: Calls,
    /// How.
    pub invocations: Vec<Invocation>,
    /// What the user asked for.
    pub options: Options,
    /// What stands in for it in phase 1.
    pub reference: Option<Rc<Object>>,
    /// How a result that says nothing is written.
    pub void: &'static str,
}

/// `struct selvedge_invocation` of the header.
#[repr(C)]
pub struct RawInvocation {
    name: *const c_char,
    function: Function,
    arity: c_int,
    /// Whether the values of its arguments are made up.
    enumerate: c_int,
    arguments: [Value; ARGUMENTS],
}

/// `struct selvedge_object` of the header.
#[repr(C)]
pub struct RawObject {
    name: *const c_char,
    create: unsafe extern "C" fn() -> *mut c_void,
    destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    calls: *const RawInvocation,
    count: usize,
    invoke: unsafe extern "C" fn(Function, *mut c_void, *const Value) -> Value,
    construct: unsafe extern "C" fn(unsafe extern "C" fn() -> *mut c_void) -> *mut c_void,
    /// The name of the object that this one stands in for in phase 1, or null.
    reference_of: *const c_char,
}

/// The values that arguments take when they are made up.
const SMALL: [Value; 2] = [1, 2];

/// Text of C.
///
/// # Safety
/// A string that ends with a zero byte, or null.
pub unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller says that it is a string, and it is not null.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

/// An object that the header registered, before its calls are looked at.
pub struct Registered {
    /// Its name.
    pub name: String,
    /// The object that it stands in for.
    pub reference_of: Option<String>,
    raw: &'static RawObject,
}

impl Registered {
    /// Takes an object over.
    ///
    /// # Safety
    /// A static object that the header made.
    pub unsafe fn new(raw: *const RawObject) -> Self {
        // SAFETY: the header makes it, with all that it points at, as static data.
        unsafe {
            let raw = &*raw;
            let reference_of = (!raw.reference_of.is_null()).then(|| text(raw.reference_of));
            Registered { name: text(raw.name), reference_of, raw }
        }
    }

    /// The object, with what the program and the user said of it.
    pub fn object(&self, said: ObjectOptions) -> Result<Object, ObjectTrouble> {
        let raw = self.raw;
        // SAFETY: the header counts its own array.
        let calls = unsafe { std::slice::from_raw_parts(raw.calls, raw.count) };
        let (mut names, mut invocations) = (Vec::new(), Vec::new());
        for call in calls {
            // SAFETY: a string of the program.
            let name = unsafe { text(call.name) };
            for arguments in call.values() {
                let shown: Vec<String> = arguments[..call.arity()].iter().map(|&value| value_text(value)).collect();
                names.push(format!("{name}({})", shown.join(", ")));
                invocations.push(Invocation::C { invoke: raw.invoke, function: call.function, arguments });
            }
        }
        let (calls, options) = described(names, said)?;
        let life = Life::C { construct: raw.construct, create: raw.create, destroy: raw.destroy };
        Ok(Object { name: self.name.clone(), life, calls, invocations, options, reference: None, void: "void" })
    }
}

impl RawInvocation {
    fn arity(&self) -> usize {
        usize::try_from(self.arity).unwrap_or(0).min(ARGUMENTS)
    }

    /// The arguments of each call that it stands for.
    fn values(&self) -> Vec<[Value; ARGUMENTS]> {
        if self.enumerate == 0 {
            return vec![self.arguments];
        }
        let mut all = vec![[0; ARGUMENTS]];
        for at in 0..self.arity() {
            let with = |values: [Value; ARGUMENTS]| {
                SMALL.map(|value| {
                    let mut values = values;
                    values[at] = value;
                    values
                })
            };
            all = all.into_iter().flat_map(with).collect();
        }
        all
    }
}

/// A value as people read it.
pub fn value_text(value: Value) -> String {
    match value {
        VOID => "void".into(),
        EMPTY => "empty".into(),
        FAIL => "fail".into(),
        value => value.to_string(),
    }
}

/// A call as `crates/selvedge` describes it.
#[repr(C)]
pub struct RustCall {
    name: *const u8,
    length: usize,
    context: *const c_void,
}

/// An object as `crates/selvedge` describes it.
#[repr(C)]
pub struct RustObject {
    /// Its name.
    pub name: *const u8,
    /// How long that is.
    pub length: usize,
    create: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    context: *const c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    invoke: unsafe extern "C" fn(*const c_void, *mut c_void),
    calls: *const RustCall,
    count: usize,
    options: *const u8,
    options_length: usize,
    reference: *const RustObject,
}

/// What a reader of calls, options or files says of them.
pub fn wrong(error: impl std::fmt::Display) -> ObjectTrouble {
    ObjectTrouble::Described(error.to_string())
}

/// The calls of these names, and what was said of them.
fn described(names: Vec<String>, said: ObjectOptions) -> Result<(Calls, Options), ObjectTrouble> {
    let mut calls = Calls::new(names).map_err(wrong)?;
    let options = Options::new(said, &mut calls).map_err(wrong)?;
    Ok((calls, options))
}

impl Object {
    /// An object that a Rust test describes, with what the user says of it besides.
    ///
    /// # Safety
    /// Everything that it points at outlives the object.
    pub unsafe fn of_rust(raw: *const RustObject, flags: &ObjectOptions) -> Result<Self, ObjectTrouble> {
        // SAFETY: the caller says that all of it is there.
        let (raw, calls, name, options) = unsafe {
            let raw = &*raw;
            let calls = std::slice::from_raw_parts(raw.calls, raw.count);
            (raw, calls, host::text(raw.name, raw.length), host::text(raw.options, raw.options_length))
        };
        // SAFETY: the name of a call is part of the description.
        let names = calls.iter().map(|call| unsafe { host::text(call.name, call.length) }).collect();
        let said = ObjectOptions::of_lines(options.lines()).map_err(wrong)?;
        let (known, options) = described(names, said.overridden(flags))?;
        let invocations =
            calls.iter().map(|call| Invocation::Rust { invoke: raw.invoke, context: call.context }).collect();
        let life = Life::Rust { create: raw.create, context: raw.context, destroy: raw.destroy };
        let reference = match raw.reference.is_null() {
            true => None,
            // SAFETY: the reference is part of the description, and described in the same way.
            false => Some(Rc::new(unsafe { Object::of_rust(raw.reference, &ObjectOptions::default())? })),
        };
        let object = Object { name, life, calls: known, invocations, options, reference, void: "()" };
        object.matched()
    }

    /// The same, when what stands in for it has the same calls.
    pub fn matched(self) -> Result<Self, ObjectTrouble> {
        match &self.reference {
            Some(reference) if reference.calls.names() != self.calls.names() => Err(ObjectTrouble::ReferenceCalls {
                object: self.calls.names().to_vec(),
                reference: reference.calls.names().to_vec(),
            }),
            _ => Ok(self),
        }
    }
}
