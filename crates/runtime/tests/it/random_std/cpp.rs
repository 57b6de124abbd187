//! Random programs, written in C++20.
//!
//! Invariant: as in the text in C, every thread keeps what it sees in `r`, and the first one tells all of them at the end. The answers are those that the
//! twin knows: 0, or the error of POSIX.

use crate::random_c::program::{Form, Mode, OBJECTS, Order, Program, Statement, Update, VARIABLES};

const PRELUDE: &str = r#"#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <selvedge.h>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#define O(v) (l = (long)((v) & 127), r = r * 131 + (unsigned long)l + 1)
template <class T> static std::atomic_ref<T> A(T &t) { return std::atomic_ref<T>(t); }
using namespace std::chrono_literals;
static unsigned long out[6];
static std::thread id[6];
static unsigned char v8[3];
static unsigned short v16[3];
static unsigned int v32[3];
static unsigned long v64[3];
static std::mutex m0, m1;
static std::timed_mutex n0, n1;
static std::recursive_timed_mutex n2;
static std::shared_timed_mutex w0, w1;
static std::condition_variable c0, c1;
static std::optional<std::barrier<>> b0, b1;
static std::optional<std::counting_semaphore<>> s0, s1;
static std::once_flag o0, o1;
static std::atomic<unsigned long *> p0, p1;
constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire, release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel, seq_cst = std::memory_order_seq_cst;
"#;

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::Both => "acq_rel",
        Order::Total => "seq_cst",
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
        text += &format!("namespace program_{number} {{\n{}}}\n", writer.text);
    }
    text
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn variable(&self, variable: usize) -> String {
        format!("v{}[{variable}]", self.program.widths[variable])
    }

    fn test(&mut self) {
        // Thread-local objects die in the reverse order of their construction.
        for key in (0..OBJECTS).rev() {
            let variable = self.variable(key);
            self.line(&format!(
                "struct K{key} {{ unsigned v = 0; ~K{key}() {{ if (v) A({variable}).fetch_add(v); }} }};"
            ));
            self.line(&format!("static thread_local K{key} k{key};"));
        }
        for thread in (1..self.program.threads.len()).rev() {
            self.line(&format!("static void work_{thread}() {{\nunsigned long r = 0; long l = 0; (void)l;"));
            let body = self.program.threads[thread].clone();
            self.statements(&body, thread);
            self.line(&format!("out[{thread}] = r;\n}}"));
        }
        let number = self.number;
        self.line(&format!("SELVEDGE_TEST(random_{number}) {{\nunsigned long r = 0; long l = 0; (void)l;"));
        for object in 0..OBJECTS {
            let (parties, units) = (self.program.barriers[object], self.program.units[object]);
            self.line(&format!("b{object}.emplace({parties}); s{object}.emplace({units});"));
        }
        let body = self.program.threads[0].clone();
        self.statements(&body, 0);
        let detached = |thread: usize| self.program.has(|statement| *statement == Statement::Detach(thread));
        for thread in (1..self.program.threads.len()).filter(|&thread| !detached(thread)) {
            self.line(&format!("selvedge_call(\"o\", (long)out[{thread}]); selvedge_return(0);"));
        }
        for variable in 0..VARIABLES {
            let value = self.variable(variable);
            self.line(&format!("O({value});"));
        }
        self.line("selvedge_call(\"o\", (long)r); selvedge_return(0);\n}");
    }

    fn statements(&mut self, statements: &[Statement], thread: usize) {
        for statement in statements {
            if let Statement::IfLast(value, inner) = statement {
                self.line(&format!("if (l == {value}) {{"));
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
        let name = |variable: &usize| self.variable(*variable);
        Some(match statement {
            Statement::Load(v, o) => format!("O(A({}).load({}));", name(v), order(*o)),
            Statement::Store(v, value, o) => format!("A({}).store({value}, {});", name(v), order(*o)),
            Statement::Update(update, v, value, o) => {
                let function = match update {
                    Update::Exchange => "exchange",
                    Update::Add => "fetch_add",
                    Update::Sub => "fetch_sub",
                    Update::Or => "fetch_or",
                    Update::And => "fetch_and",
                    Update::Xor => "fetch_xor",
                };
                format!("O(A({}).{function}({value}, {}));", name(v), order(*o))
            }
            Statement::Exchange { variable: v, expected, new, weak, order: o, failure } => {
                let function = if *weak { "compare_exchange_weak" } else { "compare_exchange_strong" };
                format!(
                    "{{ auto e = (std::remove_reference_t<decltype({0})>){expected}; bool done = A({0}).{function}(e, {new}, {1}, {2}); O(e); O(done); }}",
                    name(v),
                    order(*o),
                    order(*failure)
                )
            }
            Statement::Retry(v) => format!(
                "{{ std::remove_reference_t<decltype({0})> e; do e = A({0}).load(relaxed); \
                 while (!A({0}).compare_exchange_strong(e, e + 1, seq_cst, relaxed)); }}",
                name(v)
            ),
            Statement::Attempts { variable, other, form } => self.attempts(*variable, *other, *form),
            Statement::Until(v, value, yields) => format!(
                "while (A({}).load() != {value}) {};",
                name(v),
                if *yields { "std::this_thread::yield()" } else { "" }
            ),
            Statement::Fence(o) => format!("std::atomic_thread_fence({});", order(*o)),
            Statement::Read(v) => format!("O({});", name(v)),
            Statement::Write(v, value) => format!("{} = {value};", name(v)),
            Statement::Publish(p, value) => format!("delete p{p}.exchange(new unsigned long({value}), acq_rel);"),
            Statement::Look(p) => format!("if (auto q = p{p}.load(acquire)) O(*q); else O(0);"),
            Statement::Remove(p) => {
                format!("if (auto q = p{p}.exchange(nullptr, acq_rel)) {{ O(*q); delete q; }} else O(0);")
            }
            Statement::Replace(p, value) => format!(
                "{{ auto n = new unsigned long({value}), q = p{p}.load(acquire), e = q; \
                 if (p{p}.compare_exchange_strong(e, n, acq_rel, acquire)) {{ O(1); delete q; }} else {{ O(0); delete n; }} }}"
            ),
            Statement::Drop(p) => format!("delete p{p}.load(acquire);"),
            _ => return None,
        })
    }

    fn attempts(&self, variable: usize, other: usize, form: Form) -> String {
        let (x, y) = (self.variable(variable), self.variable(other));
        let head = format!(
            "std::remove_reference_t<decltype({x})> e; std::remove_reference_t<decltype({y})> o = 0; int n = 0; (void)o; (void)n;"
        );
        let (load, look) = (format!("A({x}).load()"), format!("A({y}).load()"));
        let plus_one = format!("A({x}).compare_exchange_strong(e, e + 1)");
        let mixed = format!("A({x}).compare_exchange_strong(e, e + o + 1)");
        let body = match form {
            Form::Keeps => format!("e = {load}; while (!{plus_one});"),
            Form::Counts => format!("do {{ e = {load}; n++; }} while (!{plus_one}); O(n);"),
            Form::Adds => format!("do {{ e = {load}; o = {look}; }} while (!{mixed}); O(o);"),
            Form::Checks => {
                format!("for (;;) {{ e = {load}; o = {look}; if ({load} != e) continue; if ({mixed}) break; }} O(o);")
            }
            Form::GivesUp(value) => format!(
                "for (;;) {{ e = {load}; if (e == {value}) {{ O(1); break; }} if ({plus_one}) {{ O(0); break; }} }}"
            ),
            Form::Marks => format!("while (e = {load}, !{plus_one}) A({y}).fetch_add(1);"),
        };
        format!("{{ {head} {body} }}")
    }

    /// Condition variables want the plainest of mutexes.
    fn mutex(&self, mutex: usize) -> String {
        let waits = |statement: &Statement| match statement {
            Statement::Wait { mutex: which, .. } | Statement::WaitWhile { mutex: which, .. } => *which == mutex,
            _ => false,
        };
        format!("{}{mutex}", if self.program.has(waits) { 'm' } else { 'n' })
    }

    fn locks(&self, statement: &Statement) -> Option<String> {
        let lock = |name: &str, shared: &str, mode: &Mode| match mode {
            Mode::Wait => format!("{name}.lock{shared}(); O(0);"),
            Mode::Try => format!("O({name}.try_lock{shared}() ? 0 : 16);"),
            Mode::Timed if shared.is_empty() => format!("O({name}.try_lock_for(1s) ? 0 : 110);"),
            Mode::Timed => {
                format!("O({name}.try_lock{shared}_until(std::chrono::system_clock::now() + 1ms) ? 0 : 110);")
            }
            Mode::Loop => format!("while (!{name}.try_lock{shared}());"),
        };
        let wait = |condition: &usize, mutex: &usize, how: &str| {
            format!("{{ std::unique_lock l(m{mutex}, std::adopt_lock); c{condition}.{how}; l.release(); }}")
        };
        Some(match statement {
            Statement::Lock(which, mode) => lock(&self.mutex(*which), "", mode),
            Statement::Unlock(which) => format!("{}.unlock(); O(0);", self.mutex(*which)),
            Statement::LockShared(which, mode) => lock(&format!("w{which}"), "_shared", mode),
            Statement::LockExclusive(which, mode) => lock(&format!("w{which}"), "", mode),
            Statement::UnlockBoth(which) => format!("w{which}.unlock(); O(0);"),
            Statement::Wait { condition, mutex, timed: false } => wait(condition, mutex, "wait(l)") + " O(0);",
            Statement::Wait { condition, mutex, timed: true } => wait(condition, mutex, "wait_for(l, 1s)") + " O(0);",
            Statement::WaitWhile { condition, mutex, variable, value } => {
                let name = self.variable(*variable);
                wait(condition, mutex, &format!("wait(l, [] {{ return A({name}).load() != {value}; }})"))
            }
            Statement::Signal(c) => format!("c{c}.notify_one();"),
            Statement::Broadcast(c) => format!("c{c}.notify_all();"),
            Statement::Barrier(b) => format!("b{b}->arrive_and_wait(); O(0);"),
            Statement::Take(s, mode) => match mode {
                Mode::Wait => format!("s{s}->acquire(); O(0);"),
                Mode::Try => format!("O(s{s}->try_acquire() ? 0 : 11);"),
                Mode::Timed => format!("O(s{s}->try_acquire_for(1s) ? 0 : 110);"),
                Mode::Loop => format!("while (!s{s}->try_acquire());"),
            },
            Statement::Give(s) => format!("s{s}->release(); O(0);"),
            _ => return None,
        })
    }

    fn others(&self, statement: &Statement, thread: usize) -> Option<String> {
        Some(match statement {
            Statement::Once(o, variable) => {
                format!("std::call_once(o{o}, [] {{ A({}).fetch_add(1); }}); O(0);", self.variable(*variable))
            }
            Statement::SetKey(key, value) => format!("k{key}.v = {value};"),
            Statement::GetKey(key) => format!("O(k{key}.v);"),
            Statement::Exit => format!("out[{thread}] = r; return;"),
            Statement::Create(other) => format!("id[{other}] = std::thread(work_{other});"),
            Statement::Join(other) => format!("id[{other}].join(); O(0);"),
            Statement::Detach(other) => format!("id[{other}].detach();"),
            Statement::Yield => "std::this_thread::yield();".into(),
            Statement::Nap => "std::this_thread::sleep_for(10us);".into(),
            _ => return None,
        })
    }
}
