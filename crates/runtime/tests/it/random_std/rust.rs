//! Random programs, written in Rust.
//!
//! Invariant: as in the text in C, every thread keeps what it sees in `r`, and the first one tells all of them at the end. The answers are those that the
//! twin knows: 0, or the error of POSIX.

use crate::random_c::program::{Form, Mode, OBJECTS, Order, Program, Statement, Update, VARIABLES};

const PRELUDE: &str = r#"#![allow(warnings)]
use std::cell::Cell;
use std::ffi::{c_char, c_long};
use std::sync::atomic::{Ordering::*, *};
use std::sync::*;
use std::thread;
use std::time::Duration;
unsafe extern "C" {
    fn selvedge_call(operation: *const c_char, argument: c_long);
    fn selvedge_return(result: c_long);
}
fn tell(value: u64) {
    unsafe { selvedge_call(c"o".as_ptr(), value as c_long); selvedge_return(0); }
}
macro_rules! o {
    ($l:ident, $r:ident, $v:expr) => {{ $l = ($v) as u64 & 127; $r = $r.wrapping_mul(131).wrapping_add($l + 1); }};
}
const SOON: Duration = Duration::from_secs(1);
struct Sem(Mutex<u8>, Condvar);
impl Sem {
    fn give(&self) { *self.0.lock().unwrap() += 1; self.1.notify_one(); }
    fn take(&self) { let mut g = self.1.wait_while(self.0.lock().unwrap(), |n| *n == 0).unwrap(); *g -= 1; }
    fn try_take(&self) -> bool { let mut g = self.0.lock().unwrap(); if *g == 0 { return false; } *g -= 1; true }
    fn take_soon(&self) -> bool {
        let (mut g, _) = self.1.wait_timeout_while(self.0.lock().unwrap(), SOON, |n| *n == 0).unwrap();
        if *g == 0 { return false; }
        *g -= 1;
        true
    }
}
fn free(q: *mut u64) { if !q.is_null() { drop(unsafe { Box::from_raw(q) }); } }
"#;

/// What every thread has of its own.
const LOCALS: &str = "let (mut l, mut r) = (0u64, 0u64);
let mut id: [Option<thread::JoinHandle<()>>; 6] = Default::default();
let mut g: [Option<MutexGuard<'static, ()>>; 2] = Default::default();
let mut wr: [Option<RwLockReadGuard<'static, ()>>; 2] = Default::default();
let mut ww: [Option<RwLockWriteGuard<'static, ()>>; 2] = Default::default();";

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::Both => "AcqRel",
        Order::Total => "SeqCst",
    }
}

struct Writer<'a> {
    program: &'a Program,
    number: u64,
    text: String,
}

/// A file with one test for each program.
pub fn file(programs: &[(u64, Program)]) -> String {
    let mut text = PRELUDE.to_string();
    for (number, program) in programs {
        let mut writer = Writer { program, number: *number, text: String::new() };
        writer.test();
        text += &format!("mod program_{number} {{\nuse super::*;\n{}}}\n", writer.text);
    }
    text
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn kind(&self, variable: usize) -> String {
        format!("u{}", self.program.widths[variable])
    }

    fn test(&mut self) {
        for variable in 0..VARIABLES {
            let width = self.program.widths[variable];
            self.line(&format!("static V{variable}: AtomicU{width} = AtomicU{width}::new(0);"));
        }
        for object in 0..OBJECTS {
            let (parties, units, kind) = (self.program.barriers[object], self.program.units[object], self.kind(object));
            self.line(&format!(
                "static M{object}: Mutex<()> = Mutex::new(());\nstatic W{object}: RwLock<()> = RwLock::new(());
static C{object}: Condvar = Condvar::new();\nstatic B{object}: Barrier = Barrier::new({parties});
static S{object}: Sem = Sem(Mutex::new({units}), Condvar::new());\nstatic O{object}: Once = Once::new();
static P{object}: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());\nstruct Key{object}(Cell<u8>);
impl Drop for Key{object} {{ fn drop(&mut self) {{ if self.0.get() != 0 {{ V{object}.fetch_add(self.0.get() as {kind}, SeqCst); }} }} }}
thread_local!(static K{object}: Key{object} = const {{ Key{object}(Cell::new(0)) }});"
            ));
        }
        self.line("static SPIN: AtomicBool = AtomicBool::new(false);\nstatic mut OUT: [u64; 6] = [0; 6];");
        let keys = self.program.has(|statement| matches!(statement, Statement::SetKey(..) | Statement::GetKey(_)));
        for thread in 1..self.program.threads.len() {
            self.line(&format!("fn work_{thread}() {{\n{LOCALS}"));
            if keys {
                // Thread-local values die in the reverse order of their first use.
                self.line("K1.with(|_| ()); K0.with(|_| ());");
            }
            let body = self.program.threads[thread].clone();
            self.statements(&body, thread);
            self.line(&format!("unsafe {{ OUT[{thread}] = r }};\n}}"));
        }
        self.line(&format!("#[test]\nfn random_{}() {{\nselvedge::explore(|| {{\n{LOCALS}", self.number));
        let body = self.program.threads[0].clone();
        self.statements(&body, 0);
        for thread in 1..self.program.threads.len() {
            self.line(&format!("tell(unsafe {{ OUT[{thread}] }});"));
        }
        for variable in 0..VARIABLES {
            self.line(&format!("o!(l, r, unsafe {{ *V{variable}.as_ptr() }});"));
        }
        self.line("tell(r);\n});\n}");
    }

    fn statements(&mut self, statements: &[Statement], thread: usize) {
        for statement in statements {
            if let Statement::IfLast(value, inner) = statement {
                self.line(&format!("if l == {value} {{"));
                self.statements(inner, thread);
                self.line("}");
            } else {
                let line = self.memory(statement).or_else(|| self.locks(statement));
                let line = line.or_else(|| self.others(statement, thread));
                self.line(&line.unwrap_or_else(|| panic!("no text for {statement:?}")));
            }
        }
    }

    fn memory(&self, statement: &Statement) -> Option<String> {
        Some(match statement {
            Statement::Load(v, o) => format!("o!(l, r, V{v}.load({}));", order(*o)),
            Statement::Store(v, value, o) => format!("V{v}.store({value}, {});", order(*o)),
            Statement::Update(update, v, value, o) => {
                let function = match update {
                    Update::Exchange => "swap",
                    Update::Add => "fetch_add",
                    Update::Sub => "fetch_sub",
                    Update::Or => "fetch_or",
                    Update::And => "fetch_and",
                    Update::Xor => "fetch_xor",
                };
                format!("o!(l, r, V{v}.{function}({value}, {}));", order(*o))
            }
            Statement::Exchange { variable: v, expected, new, weak, order: o, failure } => {
                let function = if *weak { "compare_exchange_weak" } else { "compare_exchange" };
                format!(
                    "let (e, done) = match V{v}.{function}({expected}, {new}, {}, {}) {{ Ok(e) => (e, 1), Err(e) => (e, 0) }}; \
                     o!(l, r, e); o!(l, r, done);",
                    order(*o),
                    order(*failure)
                )
            }
            Statement::Retry(v) => format!(
                "loop {{ let e = V{v}.load(Relaxed); if V{v}.compare_exchange(e, e.wrapping_add(1), SeqCst, Relaxed).is_ok() {{ break; }} }}"
            ),
            Statement::Attempts { variable, other, form } => self.attempts(*variable, *other, *form),
            Statement::Until(v, value, yields) => {
                let pause = if *yields { "thread::yield_now" } else { "std::hint::spin_loop" };
                format!("while V{v}.load(SeqCst) != {value} {{ {pause}(); }}")
            }
            Statement::Fence(o) => format!("fence({});", order(*o)),
            Statement::Read(v) => format!("o!(l, r, unsafe {{ *V{v}.as_ptr() }});"),
            Statement::Write(v, value) => format!("unsafe {{ *V{v}.as_ptr() = {value} }};"),
            Statement::Publish(p, value) => format!("free(P{p}.swap(Box::into_raw(Box::new({value})), AcqRel));"),
            Statement::Look(p) => format!(
                "let q = P{p}.load(Acquire); if q.is_null() {{ o!(l, r, 0) }} else {{ o!(l, r, unsafe {{ *q }}) }};"
            ),
            Statement::Remove(p) => format!(
                "let q = P{p}.swap(std::ptr::null_mut(), AcqRel); \
                 if q.is_null() {{ o!(l, r, 0) }} else {{ o!(l, r, unsafe {{ *q }}); free(q) }};"
            ),
            Statement::Replace(p, value) => format!(
                "let (n, q) = (Box::into_raw(Box::new({value})), P{p}.load(Acquire)); \
                 if P{p}.compare_exchange(q, n, AcqRel, Acquire).is_ok() {{ o!(l, r, 1); free(q) }} else {{ o!(l, r, 0); free(n) }};"
            ),
            Statement::Drop(p) => format!("free(P{p}.load(Acquire));"),
            _ => return None,
        })
    }

    fn attempts(&self, x: usize, y: usize, form: Form) -> String {
        let kind = self.kind(x);
        let attempt = |new: &str| format!("V{x}.compare_exchange(e, {new}, SeqCst, SeqCst)");
        let plus_one = attempt("e.wrapping_add(1)");
        let mixed = attempt(&format!("e.wrapping_add(o as {kind}).wrapping_add(1)"));
        let (load, look) = (format!("let e = V{x}.load(SeqCst);"), format!("let o = V{y}.load(SeqCst);"));
        match form {
            Form::Keeps => {
                format!("let mut e = V{x}.load(SeqCst); while let Err(found) = {plus_one} {{ e = found; }}")
            }
            Form::Counts => {
                format!("let mut n = 0; loop {{ {load} n += 1; if {plus_one}.is_ok() {{ break; }} }} o!(l, r, n);")
            }
            Form::Adds => format!("loop {{ {load} {look} if {mixed}.is_ok() {{ o!(l, r, o); break; }} }}"),
            Form::Checks => format!(
                "loop {{ {load} {look} if V{x}.load(SeqCst) != e {{ continue; }} if {mixed}.is_ok() {{ o!(l, r, o); break; }} }}"
            ),
            Form::GivesUp(value) => format!(
                "loop {{ {load} if e == {value} {{ o!(l, r, 1); break; }} if {plus_one}.is_ok() {{ o!(l, r, 0); break; }} }}"
            ),
            Form::Marks => {
                format!("loop {{ {load} if {plus_one}.is_ok() {{ break; }} V{y}.fetch_add(1, SeqCst); }}")
            }
        }
    }

    fn locks(&self, statement: &Statement) -> Option<String> {
        let spin = "SPIN.compare_exchange(false, true, Acquire, Relaxed)";
        let lock = |place: String, wait: String, attempt: String, mode: &Mode| match mode {
            Mode::Wait => format!("{place} = Some({wait}.unwrap()); o!(l, r, 0);"),
            Mode::Try | Mode::Timed => {
                format!("match {attempt} {{ Ok(x) => {{ {place} = Some(x); o!(l, r, 0) }} Err(_) => o!(l, r, 16) }};")
            }
            Mode::Loop => format!("loop {{ if let Ok(x) = {attempt} {{ {place} = Some(x); break; }} }}"),
        };
        Some(match statement {
            Statement::Lock(4, Mode::Wait) => {
                format!("while {spin}.is_err() {{ std::hint::spin_loop(); }} o!(l, r, 0);")
            }
            Statement::Lock(4, Mode::Loop) => format!("while {spin}.is_err() {{}}"),
            Statement::Lock(4, _) => format!("o!(l, r, if {spin}.is_ok() {{ 0 }} else {{ 16 }});"),
            Statement::Unlock(4) => "SPIN.store(false, Release); o!(l, r, 0);".into(),
            Statement::Lock(m, mode) => {
                lock(format!("g[{m}]"), format!("M{m}.lock()"), format!("M{m}.try_lock()"), mode)
            }
            Statement::Unlock(m) => format!("drop(g[{m}].take()); o!(l, r, 0);"),
            Statement::LockShared(w, mode) => {
                lock(format!("wr[{w}]"), format!("W{w}.read()"), format!("W{w}.try_read()"), mode)
            }
            Statement::LockExclusive(w, mode) => {
                lock(format!("ww[{w}]"), format!("W{w}.write()"), format!("W{w}.try_write()"), mode)
            }
            Statement::UnlockBoth(w) => format!("drop(wr[{w}].take()); drop(ww[{w}].take()); o!(l, r, 0);"),
            Statement::Wait { condition, mutex, timed: false } => {
                format!("g[{mutex}] = Some(C{condition}.wait(g[{mutex}].take().unwrap()).unwrap()); o!(l, r, 0);")
            }
            Statement::Wait { condition, mutex, timed: true } => format!(
                "let (x, t) = C{condition}.wait_timeout(g[{mutex}].take().unwrap(), SOON).unwrap(); g[{mutex}] = Some(x); \
                 o!(l, r, if t.timed_out() {{ 110 }} else {{ 0 }});"
            ),
            Statement::WaitWhile { condition, mutex, variable, value } => format!(
                "while V{variable}.load(SeqCst) == {value} {{ g[{mutex}] = Some(C{condition}.wait(g[{mutex}].take().unwrap()).unwrap()); }}"
            ),
            Statement::Signal(c) => format!("C{c}.notify_one();"),
            Statement::Broadcast(c) => format!("C{c}.notify_all();"),
            Statement::Barrier(b) => format!("o!(l, r, if B{b}.wait().is_leader() {{ 127 }} else {{ 0 }});"),
            Statement::Take(s, Mode::Wait | Mode::Loop) => format!("S{s}.take(); o!(l, r, 0);"),
            Statement::Take(s, Mode::Try) => format!("o!(l, r, if S{s}.try_take() {{ 0 }} else {{ 11 }});"),
            Statement::Take(s, Mode::Timed) => format!("o!(l, r, if S{s}.take_soon() {{ 0 }} else {{ 110 }});"),
            Statement::Give(s) => format!("S{s}.give(); o!(l, r, 0);"),
            _ => return None,
        })
    }

    fn others(&self, statement: &Statement, thread: usize) -> Option<String> {
        Some(match statement {
            Statement::Once(o, v) => format!("O{o}.call_once(|| {{ V{v}.fetch_add(1, SeqCst); }}); o!(l, r, 0);"),
            Statement::SetKey(k, value) => format!("K{k}.with(|k| k.0.set({value}));"),
            Statement::GetKey(k) => format!("o!(l, r, K{k}.with(|k| k.0.get()));"),
            Statement::Exit => format!("unsafe {{ OUT[{thread}] = r }}; return;"),
            Statement::Create(other) => format!("id[{other}] = Some(thread::spawn(work_{other}));"),
            Statement::Join(other) => format!("id[{other}].take().unwrap().join().unwrap(); o!(l, r, 0);"),
            Statement::Yield => "thread::yield_now();".into(),
            Statement::Nap => "thread::sleep(Duration::from_micros(10));".into(),
            _ => return None,
        })
    }
}
