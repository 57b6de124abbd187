//! Objects: name some calls, and learn whether the object is linearizable.
//!
//! Invariant: nothing that the closures allocate outlives a run. Results are passed on as text before they are dropped.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Debug, Write};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use crate::values::Arguments;
use crate::{Hosting, hosted, message, refuse_when_probed, symbol};

/// An object to be tested: how it is made, and what may be called.
///
/// ```no_run
/// use std::sync::Mutex;
///
/// # fn test() {
/// selvedge::object(|| Mutex::new(Vec::new()))
///     .call("push(1)", |stack| stack.lock().unwrap().push(1))
///     .call("push(2)", |stack| stack.lock().unwrap().push(2))
///     .call("pop()", |stack| stack.lock().unwrap().pop())
///     .check();
/// # }
/// ```
#[must_use = "nothing is tested before `check` is called"]
pub struct Object<T> {
    name: String,
    create: Box<dyn Fn() -> T>,
    calls: Vec<(String, Call<T>)>,
    options: Vec<String>,
    reference: Option<Box<dyn Described>>,
}

/// Makes a call, and gives its result as text.
type Call<T> = Box<dyn Fn(&T)>;

/// An object that the constructor makes. It is called in every run, and what it makes is used by several threads at once.
#[track_caller]
pub fn object<T: Sync + 'static>(create: impl Fn() -> T + 'static) -> Object<T> {
    let place = Location::caller();
    Object {
        name: format!("{}:{}", place.file(), place.line()),
        create: Box::new(create),
        calls: Vec::new(),
        options: Vec::new(),
        reference: None,
    }
}

impl<T: 'static> Object<T> {
    /// Adds a call. The name is how matrices and reports know it; the result is compared as `Debug` prints it.
    pub fn call<R: Debug>(mut self, name: &str, call: impl Fn(&T) -> R + 'static) -> Self {
        let call = move |object: &T| match catch_unwind(AssertUnwindSafe(|| call(object))) {
            Ok(result) => give(&result),
            Err(payload) => give_text(&format!("panicked: {}", message(&*payload))),
        };
        self.calls.push((name.to_owned(), Box::new(call)));
        self
    }

    /// Adds a call for each combination of small values: what [`object!`](crate::object!) makes of a method with arguments.
    pub fn each<A: Arguments, R: Debug>(mut self, name: &str, call: impl Fn(&T, A) -> R + Clone + 'static) -> Self {
        for arguments in A::all() {
            let (name, call) = (format!("{name}({})", arguments.written()), call.clone());
            self = self.call(&name, move |object| call(object, arguments.clone()));
        }
        self
    }

    /// The names of the calls.
    pub fn names(&self) -> Vec<&str> {
        self.calls.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Calls that are made before the threads begin, in every matrix that is drawn.
    pub fn initial<'a>(self, calls: impl IntoIterator<Item = &'a str>) -> Self {
        let calls: Vec<&str> = calls.into_iter().collect();
        self.option(format!("initial {}", calls.join(", ")))
    }

    /// Calls that are made after the threads have ended.
    pub fn finally<'a>(self, calls: impl IntoIterator<Item = &'a str>) -> Self {
        let calls: Vec<&str> = calls.into_iter().collect();
        self.option(format!("final {}", calls.join(", ")))
    }

    /// A matrix to test: the calls of each thread. Can be given several times; no other matrices are then drawn.
    pub fn test<'a, C: IntoIterator<Item = &'a str>>(self, columns: impl IntoIterator<Item = C>) -> Self {
        let columns = columns.into_iter().map(|column| column.into_iter().collect::<Vec<_>>().join(", "));
        let matrix = columns.collect::<Vec<_>>().join(" | ");
        self.matrix(&matrix)
    }

    /// A matrix as text, such as `push(1), pop() | pop()`, as reports show it.
    pub fn matrix(self, matrix: &str) -> Self {
        self.option(format!("test {}", matrix.replace('\n', " ")))
    }

    /// Every matrix up to so many threads with so many calls each, and no random ones unless they are asked for.
    pub fn auto(self, size: usize) -> Self {
        self.option(format!("auto {size}"))
    }

    /// How many threads random matrices have.
    pub fn threads(self, threads: usize) -> Self {
        self.option(format!("threads {threads}"))
    }

    /// How many calls each thread of a random matrix makes.
    pub fn ops(self, ops: usize) -> Self {
        self.option(format!("ops {ops}"))
    }

    /// How many random matrices are tested.
    pub fn samples(self, samples: u64) -> Self {
        self.option(format!("samples {samples}"))
    }

    /// The seed that random matrices are drawn with.
    pub fn seed(self, seed: u64) -> Self {
        self.option(format!("seed {seed}"))
    }

    /// The largest number of preemptions of a schedule.
    pub fn preemptions(self, preemptions: u32) -> Self {
        self.option(format!("preemptions {preemptions}"))
    }

    /// How long the whole test may take.
    pub fn time(self, time: std::time::Duration) -> Self {
        self.option(format!("time {}", time.as_secs_f64()))
    }

    /// A result that a call may have at any time, without effect: `.nondeterministic("try_recv() -> Empty")`.
    pub fn nondeterministic(self, call_and_result: &str) -> Self {
        self.option(format!("nondeterministic {call_and_result}"))
    }

    /// A call whose results are not compared.
    pub fn ignore_result(self, call: &str) -> Self {
        self.option(format!("ignore {call}"))
    }

    /// Calls that only one thread makes, because they must not run in parallel.
    pub fn exclusive<'a>(self, calls: impl IntoIterator<Item = &'a str>) -> Self {
        let calls: Vec<&str> = calls.into_iter().collect();
        self.option(format!("exclusive {}", calls.join(", ")))
    }

    /// A specification with the same calls, whose serial behaviour the object must have. It takes the place of the serial runs of the object itself (phase 1).
    pub fn reference<S: 'static>(mut self, reference: Specification<S>) -> Self {
        self.reference = Some(Box::new(reference.0));
        self
    }

    /// Quasi linearizability in place of linearizability: operations of this method may be out of order by so many places. May be said of
    /// several methods; `*` is all of them, `push+pop` two that change places with each other, `pop:empty` those that found nothing.
    ///
    /// ```no_run
    /// # use std::sync::Mutex;
    /// # fn test() {
    /// # let make = || Mutex::new(std::collections::VecDeque::new());
    /// selvedge::object(make)
    ///     .call("enq(1)", |queue| queue.lock().unwrap().push_back(1))
    ///     .call("deq()", |queue| queue.lock().unwrap().pop_front())
    ///     .quasi("deq", 2)
    ///     .against("queue")
    ///     .check();
    /// # }
    /// ```
    pub fn quasi(self, method: &str, factor: u32) -> Self {
        self.option(format!("quasi {method}={factor}"))
    }

    /// What the object is held against: a built-in one such as `queue`, `stack`, `priority-queue-min`, `set`, `counter`, `mutex`, or
    /// `register=0` with what it begins with. Otherwise it is its [`reference`](Object::reference), or its own serial behaviour. There is no
    /// phase 1 then, so matrices may be large; a history that is too large for the search is counted, as with
    /// [`approximate`](Object::approximate).
    pub fn against(self, object: &str) -> Self {
        self.option(format!("specification {object}"))
    }

    /// Operation counting in place of search for each history, with the last `k` bounds between operations kept apart: the rules are those of
    /// the object named by [`against`](Object::against). A violation is one; that none is visible leaves the answer unknown.
    ///
    /// ```no_run
    /// # use std::sync::Mutex;
    /// # fn test() {
    /// # let make = || Mutex::new(std::collections::VecDeque::new());
    /// selvedge::object(make)
    ///     .call("enq(1)", |queue| queue.lock().unwrap().push_back(1))
    ///     .call("deq()", |queue| queue.lock().unwrap().pop_front())
    ///     .against("queue")
    ///     .approximate(2)
    ///     .check();
    /// # }
    /// ```
    pub fn approximate(self, k: usize) -> Self {
        self.option(format!("approximate k={k}"))
    }

    /// With [`quasi`](Object::quasi): a test is all there is, and drains the object. Otherwise it suffices that a history could go on to
    /// be right.
    pub fn closed(self) -> Self {
        self.option("reading closed".to_owned())
    }

    /// With [`quasi`](Object::quasi): `free` causality, where a value may come out before it went in.
    pub fn free(self) -> Self {
        self.option("causality free".to_owned())
    }

    /// With [`quasi`](Object::quasi): `strict` order, where each operation is one of the first K+1 that remain and the first is passed over
    /// at most K times.
    pub fn strict(self) -> Self {
        self.option("order strict".to_owned())
    }

    /// The matrix of a shape such as `2*2+4` or `enq*deq+12`: how many calls, or which, each thread makes, and how many are made before and
    /// after them. No matrices are then made up.
    pub fn shape(self, shape: &str) -> Self {
        self.option(format!("test-shape {shape}"))
    }

    /// A file with serial histories, used in place of phase 1.
    pub fn observations(self, path: impl AsRef<std::path::Path>) -> Self {
        let option = format!("observations {}", path.as_ref().display());
        self.option(option)
    }

    /// A file that the serial histories of phase 1 are written to.
    pub fn write_observations(self, path: impl AsRef<std::path::Path>) -> Self {
        let option = format!("write-observations {}", path.as_ref().display());
        self.option(option)
    }

    /// Goes on after a matrix that fails, and keeps a record of each in the report.
    pub fn keep_going(self) -> Self {
        self.option("keep-going".to_owned())
    }

    /// Does not report data races on plain accesses.
    pub fn allow_races(self) -> Self {
        self.option("races off".to_owned())
    }

    /// Leaves out that waits may end without a reason.
    pub fn no_spurious(self) -> Self {
        self.option("spurious off".to_owned())
    }

    fn option(mut self, line: String) -> Self {
        self.options.push(line.replace('\n', " "));
        self
    }

    /// Tests the object: every matrix of the plan, first serially, then under every schedule.
    ///
    /// # Panics
    /// When a history is not explained by serial behaviour, or something else is wrong, with a report; when the object
    /// cannot be tested; and when the test does not run under `cargo selvedge test`.
    #[track_caller]
    pub fn check(self) {
        refuse_when_probed();
        let (answer, told) = self.run(false);
        match answer {
            0 => {}
            1 => panic!("{told}"),
            2 => panic!("the object cannot be tested: {told}"),
            _ => eprintln!("selvedge: {}: unknown: {told}", self.name),
        }
    }

    /// Tests the object, and answers with the report as JSON: what `check` would panic about is in it.
    pub fn report(self) -> String {
        self.run(true).1
    }

    /// Has the runtime test it: its answer, and what it told, which is the report where the test takes it.
    fn run(&self, takes: bool) -> (c_int, String) {
        let Some(found) = symbol(c"selvedge_check_object") else {
            panic!("this test explores schedules: run it with `cargo selvedge test`");
        };
        // SAFETY: the runtime's function of that name has that type.
        let check = unsafe { std::mem::transmute::<*mut c_void, CheckObject>(found) };
        let give = symbol(c"selvedge_result");
        // SAFETY: the runtime's function of that name has that type; no search is under way.
        unsafe { *GIVE.0.get() = give.map(|give| std::mem::transmute::<*mut c_void, crate::Give>(give)) };
        hosted(&self.name, takes, |hosting| {
            // SAFETY: the description and what it points at outlive the call.
            self.describe(&mut |description| unsafe { check(hosting, description) })
        })
    }
}

/// What an object is to do, as a sequential implementation with the same calls. Its operations may choose among several results with
/// [`choose`](crate::choose), and wait with [`block`](crate::block).
///
/// ```no_run
/// # fn test() {
/// # struct Bag;
/// # impl Bag { fn add(&self, _: u32) {} fn take(&self) -> Option<u32> { None } }
/// selvedge::object(|| Bag)
///     .call("add(1)", |bag| bag.add(1))
///     .call("take()", |bag| bag.take())
///     .reference(
///         selvedge::specification(Vec::new)
///             .call("add(1)", |bag| bag.push(1))
///             .call("take()", |bag| (!bag.is_empty()).then(|| bag.remove(selvedge::choose(bag.len())))),
///     )
///     .check();
/// # }
/// ```
#[must_use = "a specification is given to `Object::reference`"]
pub struct Specification<S>(Object<Serially<S>>);

/// What only one operation at a time uses.
struct Serially<S>(UnsafeCell<S>);

/// A specification that starts in the state that the closure makes.
pub fn specification<S: Send + 'static>(create: impl Fn() -> S + 'static) -> Specification<S> {
    Specification(Object {
        name: "specification".to_owned(),
        create: Box::new(move || Serially(UnsafeCell::new(create()))),
        calls: Vec::new(),
        options: Vec::new(),
        reference: None,
    })
}

impl<S: Send + 'static> Specification<S> {
    /// Adds a call.
    pub fn call<R: Debug>(self, name: &str, call: impl Fn(&mut S) -> R + 'static) -> Self {
        // SAFETY: a specification runs in phase 1 only, one operation after the other.
        Specification(self.0.call(name, move |state| call(unsafe { &mut *state.0.get() })))
    }
}

type CheckObject = unsafe extern "C" fn(*const Hosting, *const Description) -> c_int;

/// `RustCall` of the runtime.
#[repr(C)]
struct CallDescription {
    name: *const u8,
    length: usize,
    context: *const c_void,
}

/// `RustObject` of the runtime.
#[repr(C)]
struct Description {
    name: *const u8,
    length: usize,
    create: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    context: *const c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    invoke: unsafe extern "C" fn(*const c_void, *mut c_void),
    calls: *const CallDescription,
    count: usize,
    options: *const u8,
    options_length: usize,
    reference: *const Description,
}

/// An object of some type.
trait Described {
    /// Describes it to the runtime, for as long as `with` runs.
    fn describe(&self, with: &mut dyn FnMut(*const Description) -> c_int) -> c_int;
}

impl<T: 'static> Described for Object<T> {
    fn describe(&self, with: &mut dyn FnMut(*const Description) -> c_int) -> c_int {
        let call = |(name, call): &(String, Call<T>)| CallDescription {
            name: name.as_ptr(),
            length: name.len(),
            context: (&raw const *call).cast(),
        };
        let calls: Vec<CallDescription> = self.calls.iter().map(call).collect();
        let options = self.options.join("\n");
        let mut description = Description {
            name: self.name.as_ptr(),
            length: self.name.len(),
            create: create::<T>,
            context: (&raw const self.create).cast(),
            destroy: destroy::<T>,
            invoke: invoke::<T>,
            calls: calls.as_ptr(),
            count: calls.len(),
            options: options.as_ptr(),
            options_length: options.len(),
            reference: std::ptr::null(),
        };
        match &self.reference {
            None => with(&description),
            Some(reference) => reference.describe(&mut |other| {
                description.reference = other;
                with(&description)
            }),
        }
    }
}

unsafe extern "C" fn create<T>(create: *const c_void) -> *mut c_void {
    // SAFETY: the constructor of an `Object<T>` that outlives the search.
    let create = unsafe { &*create.cast::<Box<dyn Fn() -> T>>() };
    match catch_unwind(AssertUnwindSafe(|| Box::into_raw(Box::new(create())))) {
        Ok(object) => object.cast(),
        Err(payload) => {
            let text = message(&*payload);
            if let Some(refuse) = symbol(c"selvedge_not_constructed") {
                // SAFETY: the runtime's function of that name has that type; it does not come back.
                unsafe { std::mem::transmute::<*mut c_void, crate::Give>(refuse)(text.as_ptr(), text.len()) };
            }
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn destroy<T>(object: *mut c_void) {
    // SAFETY: what `create` made.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { drop(Box::from_raw(object.cast::<T>())) }));
    if let Err(payload) = dropped {
        crate::panicked(b"", &message(&*payload));
    }
}

unsafe extern "C" fn invoke<T>(call: *const c_void, object: *mut c_void) {
    // SAFETY: a call of an `Object<T>` that outlives the search, and what `create` made.
    let (call, object) = unsafe { (&*call.cast::<Call<T>>(), &*object.cast::<T>()) };
    call(object);
}

/// Passes a result on as text.
fn give(result: &dyn Debug) {
    let mut text = Short { bytes: [0; 120], used: 0 };
    match write!(text, "{result:?}") {
        Ok(()) => give_bytes(&text.bytes[..text.used]),
        Err(_) => give_text(&format!("{result:?}")),
    }
}

fn give_text(text: &str) {
    give_bytes(text.as_bytes());
}

fn give_bytes(text: &[u8]) {
    // SAFETY: written before the search, by the thread that starts it.
    if let Some(result) = unsafe { *GIVE.0.get() } {
        // SAFETY: the text is so many bytes.
        unsafe { result(text.as_ptr(), text.len()) };
    }
}

/// The runtime's function that takes results. No atomic: reading one would be a step of the operation.
struct Give(UnsafeCell<Option<crate::Give>>);

// SAFETY: written before the search only.
unsafe impl Sync for Give {}

static GIVE: Give = Give(UnsafeCell::new(None));

/// Text on the stack: most results are short, and need no memory of the run.
struct Short {
    bytes: [u8; 120],
    used: usize,
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let to = self.bytes.get_mut(self.used..self.used + text.len()).ok_or(fmt::Error)?;
        to.copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}
