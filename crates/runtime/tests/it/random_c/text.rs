//! Random programs, written in C.
//!
//! Invariant: every thread keeps what it sees in `r`; the first one tells all of them as the arguments of marked calls at the end, so that the
//! set of histories is the set of outcomes.

use super::kernel;
use super::program::{ALL, FLAVOURS, Flavour, Form, Mode, OBJECTS, Order, Program, Statement, Update, VARIABLES};

/// What stands at the top of every file. `O` keeps what was seen.
const PRELUDE: &str = r#"#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <selvedge.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
typedef unsigned __int128 wide;
#define O(v) (l = (long)((v) & 127), r = r * 131 + (unsigned long)l + 1)
#define W(v) (((wide)(v) << 64) | (wide)(v))
static inline unsigned long SEEN(wide v) { return (unsigned long)(v ^ (v >> 64)); }
static unsigned long out[6];
static pthread_t id[6];
static thrd_t tid[6];
static unsigned char v8[3];
static unsigned short v16[3];
static unsigned int v32[3];
static unsigned long v64[3];
static wide v128[3];
static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m2 = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, m3 = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_spinlock_t m4;
static mtx_t n0, n1, n2, n3;
static pthread_rwlock_t w0 = PTHREAD_RWLOCK_INITIALIZER, w1 = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c0 = PTHREAD_COND_INITIALIZER, c1 = PTHREAD_COND_INITIALIZER;
static cnd_t d0, d1;
static pthread_barrier_t b0, b1;
static sem_t s0, s1;
static pthread_once_t o0 = PTHREAD_ONCE_INIT, o1 = PTHREAD_ONCE_INIT;
static once_flag f0 = ONCE_FLAG_INIT, f1 = ONCE_FLAG_INIT;
static pthread_key_t k0, k1;
static tss_t t0, t1;
static unsigned long *p0, *p1;
static const struct timespec soon = {1, 0}, later = {2000000000, 0};
"#;

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "__ATOMIC_RELAXED",
        Order::Acquire => "__ATOMIC_ACQUIRE",
        Order::Release => "__ATOMIC_RELEASE",
        Order::Both => "__ATOMIC_ACQ_REL",
        Order::Total => "__ATOMIC_SEQ_CST",
    }
}

/// One program, as a test of a file.
struct Writer<'a> {
    program: &'a Program,
    number: u64,
    text: String,
}

/// A file with one test for each program.
pub fn file(programs: &[(u64, Program)]) -> String {
    let mut text = format!("{PRELUDE}{}", kernel::PRELUDE);
    for (number, program) in programs {
        let mut writer = Writer { program, number: *number, text: String::new() };
        writer.test();
        text += &writer.text;
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

    fn constant(&self, variable: usize, value: u8) -> String {
        if self.program.widths[variable] == 128 { format!("W({value})") } else { value.to_string() }
    }

    fn seen(&self, variable: usize, value: &str) -> String {
        if self.program.widths[variable] == 128 { format!("O(SEEN({value}));") } else { format!("O({value});") }
    }

    fn test(&mut self) {
        let number = self.number;
        let seen: Vec<String> = (0..OBJECTS).map(|once| self.once(once)).collect();
        for (key, body) in seen.into_iter().enumerate() {
            self.line(&body);
            let (variable, constant) = (self.variable(key), self.program.widths[key] == 128);
            let value = if constant { "W((unsigned long)value)" } else { "(unsigned long)value" };
            self.line(&format!(
                "static void drop_{number}_{key}(void *value) {{ __atomic_fetch_add(&{variable}, {value}, __ATOMIC_SEQ_CST); }}"
            ));
        }
        for (place, value) in self.program.early.into_iter().enumerate().filter(|(_, value)| *value > 0) {
            self.line(&format!(
                "static unsigned long *early_{number}_{place};\n__attribute__((constructor)) static void makes_{number}_{place}(void) {{ \
                 early_{number}_{place} = malloc(16); *early_{number}_{place} = {value}; }}"
            ));
        }
        let kind = if self.program.c11 { "int" } else { "void *" };
        for thread in (1..self.program.threads.len()).rev() {
            self.line(&format!("static {kind} work_{number}_{thread}(void *none) {{"));
            self.line("unsigned long r = 0; long l = 0; unsigned long *q = NULL;\n(void)q; (void)l; (void)none;");
            let body = self.program.threads[thread].clone();
            self.statements(&body, thread);
            self.line(&format!("out[{thread}] = r;\nreturn 0;\n}}"));
        }
        self.line(&format!("SELVEDGE_TEST(random_{number}) {{\nunsigned long r = 0; long l = 0; unsigned long *q = NULL;\n(void)q; (void)l;"));
        self.initialise();
        let body = self.program.threads[0].clone();
        self.statements(&body, 0);
        let detached = |thread: usize| self.program.has(|statement| *statement == Statement::Detach(thread));
        for thread in (1..self.program.threads.len()).filter(|&thread| !detached(thread)) {
            self.line(&format!("selvedge_call(\"o\", (long)out[{thread}]); selvedge_return(0);"));
        }
        for variable in 0..VARIABLES {
            let value = self.variable(variable);
            let text = self.seen(variable, &value);
            self.line(&text);
        }
        self.line("selvedge_call(\"o\", (long)r); selvedge_return(0);\n}");
    }

    /// The body of an initialisation.
    fn once(&self, once: usize) -> String {
        let variable = self.program.statements().into_iter().find_map(|statement| match statement {
            Statement::Once(which, variable) if *which == once => Some(*variable),
            _ => None,
        });
        let variable = variable.unwrap_or(0);
        let (name, one) = (self.variable(variable), self.constant(variable, 1));
        format!(
            "static void once_{}_{once}(void) {{ __atomic_fetch_add(&{name}, {one}, __ATOMIC_SEQ_CST); }}",
            self.number
        )
    }

    /// What cannot be initialised where it is defined, as far as it is used.
    fn initialise(&mut self) {
        let (program, c11) = (self.program, self.program.c11);
        if program.has(|statement| matches!(statement, Statement::Kernel(_))) {
            self.line(&kernel::opens(c11));
        }
        for (mutex, flavour) in FLAVOURS.iter().enumerate() {
            let uses = |statement: &Statement| match statement {
                Statement::Lock(which, _) | Statement::Unlock(which) => *which == mutex,
                Statement::Wait { mutex: which, .. } | Statement::WaitWhile { mutex: which, .. } => *which == mutex,
                _ => false,
            };
            match flavour {
                _ if !program.has(uses) => {}
                Flavour::Spin => self.line("pthread_spin_init(&m4, 0);"),
                Flavour::Recursive if c11 => self.line(&format!("mtx_init(&n{mutex}, mtx_timed | mtx_recursive);")),
                _ if c11 => self.line(&format!("mtx_init(&n{mutex}, mtx_timed);")),
                _ => {}
            }
        }
        let number = self.number;
        for (place, _) in program.early.iter().enumerate().filter(|(_, value)| **value > 0) {
            self.line(&format!("p{place} = early_{number}_{place};"));
        }
        for object in 0..OBJECTS {
            let waits = |statement: &Statement| match statement {
                Statement::Wait { condition, .. } | Statement::WaitWhile { condition, .. } => *condition == object,
                Statement::Signal(condition) | Statement::Broadcast(condition) => *condition == object,
                _ => false,
            };
            if c11 && program.has(waits) {
                self.line(&format!("cnd_init(&d{object});"));
            }
            if program.has(|statement| *statement == Statement::Barrier(object)) {
                self.line(&format!("pthread_barrier_init(&b{object}, NULL, {});", program.barriers[object]));
            }
            let counts = |statement: &Statement| match statement {
                Statement::Take(which, _) | Statement::Give(which) | Statement::Count(which) => *which == object,
                _ => false,
            };
            if program.has(counts) {
                self.line(&format!("sem_init(&s{object}, 0, {});", program.units[object]));
            }
            let keyed = |statement: &Statement| match statement {
                Statement::SetKey(key, _) | Statement::GetKey(key) => *key == object,
                _ => false,
            };
            if program.has(keyed) {
                let create = if c11 { "tss_create(&t" } else { "pthread_key_create(&k" };
                self.line(&format!("{create}{object}, drop_{number}_{object});"));
            }
        }
    }

    fn statements(&mut self, statements: &[Statement], thread: usize) {
        for statement in statements {
            if let Statement::IfLast(value, inner) = statement {
                self.line(&format!("if (l == {value}) {{"));
                self.statements(inner, thread);
                self.line("}");
            } else {
                let line = self.memory(statement).or_else(|| self.locks(statement));
                let line = line.or_else(|| self.waiting(statement)).or_else(|| self.threads(statement, thread));
                self.line(&line.unwrap_or_else(|| panic!("no text for {statement:?}")));
            }
        }
    }

    /// An access in assembly; the registers have the size of the variable.
    fn assembly(&self, access: &Statement) -> String {
        let of = |v: &usize, value: &u8, text: &str| {
            let name = self.variable(*v);
            let seen = if matches!(access, Statement::Store(..)) { String::new() } else { self.seen(*v, "x") };
            format!(
                "{{ __typeof__({name}) x = (__typeof__(x)){value}; __asm__ __volatile__({text} : : \"memory\", \"cc\"); {seen} }}"
            )
            .replace("VARIABLE", &name)
        };
        let both = |text: &str| format!("\"lock; {text} %0, %1\" : \"+q\"(x), \"+m\"(VARIABLE)");
        match access {
            Statement::Load(v, _) => of(v, &0, "\"mov %1, %0\" : \"=q\"(x), \"+m\"(VARIABLE)"),
            Statement::Store(v, value, _) => of(v, value, "\"mov %0, %1\" : \"+q\"(x), \"+m\"(VARIABLE)"),
            Statement::Update(Update::Exchange, v, value, _) => of(v, value, &both("xchg").replace("lock; ", "")),
            Statement::Update(Update::Add, v, value, _) => of(v, value, &both("xadd")),
            Statement::Update(Update::Sub, v, value, _) => of(v, &value.wrapping_neg(), &both("xadd")).replacen(
                &format!("(__typeof__(x)){}", value.wrapping_neg()),
                &format!("(__typeof__(x))-{value}"),
                1,
            ),
            Statement::Exchange { variable: v, expected, new, .. } => {
                let (name, wide) = (self.variable(*v), self.program.widths[*v] == 128);
                let (expected, new) = (self.constant(*v, *expected), self.constant(*v, *new));
                let (text, inputs) = if wide {
                    (
                        "unsigned long a = (unsigned long)e, d = (unsigned long)(e >> 64); __asm__ __volatile__(\"lock; cmpxchg16b %1\\n\\tsete %0\" \
                         : \"=q\"(done), \"+m\"(VARIABLE), \"+a\"(a), \"+d\"(d)",
                        "\"b\"((unsigned long)n), \"c\"((unsigned long)(n >> 64)) : \"memory\", \"cc\"); e = (wide)d << 64 | a;",
                    )
                } else {
                    (
                        "__asm__ __volatile__(\"lock; cmpxchg %3, %1\\n\\tsete %0\" : \"=q\"(done), \"+m\"(VARIABLE), \"+a\"(e)",
                        "\"r\"(n) : \"memory\", \"cc\");",
                    )
                };
                let text = text.replace("VARIABLE", &name);
                let seen = self.seen(*v, "e");
                format!(
                    "{{ __typeof__({name}) e = {expected}, n = {new}; unsigned char done; {text} : {inputs} {seen} O(done); }}"
                )
            }
            other => panic!("no assembly for {other:?}"),
        }
    }

    fn memory(&self, statement: &Statement) -> Option<String> {
        let name = |variable: &usize| self.variable(*variable);
        Some(match statement {
            Statement::Assembly(access) => self.assembly(access),
            Statement::Load(v, o) => self.seen(*v, &format!("__atomic_load_n(&{}, {})", name(v), order(*o))),
            Statement::Store(v, value, o) => {
                format!("__atomic_store_n(&{}, {}, {});", name(v), self.constant(*v, *value), order(*o))
            }
            Statement::Update(update, v, value, o) => {
                let function = match update {
                    Update::Exchange => "exchange_n",
                    Update::Add => "fetch_add",
                    Update::Sub => "fetch_sub",
                    Update::Or => "fetch_or",
                    Update::And => "fetch_and",
                    Update::Xor => "fetch_xor",
                };
                let call = format!("__atomic_{function}(&{}, {}, {})", name(v), self.constant(*v, *value), order(*o));
                self.seen(*v, &call)
            }
            Statement::Exchange { variable: v, expected, new, weak, order: o, failure } => {
                let (expected, new) = (self.constant(*v, *expected), self.constant(*v, *new));
                let (o, failure) = (order(*o), order(*failure));
                let call = format!(
                    "__atomic_compare_exchange_n(&{}, &e, {new}, {}, {o}, {failure})",
                    name(v),
                    u8::from(*weak)
                );
                format!(
                    "{{ __typeof__({0}) e = {expected}; int done = {call}; {1} O(done); }}",
                    name(v),
                    self.seen(*v, "e")
                )
            }
            // Attempts that fail learn nothing, so that it is one update.
            Statement::Retry(v) => format!(
                "{{ __typeof__({0}) e; do e = __atomic_load_n(&{0}, __ATOMIC_RELAXED); \
                 while (!__atomic_compare_exchange_n(&{0}, &e, e + {1}, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); }}",
                name(v),
                self.constant(*v, 1)
            ),
            Statement::Attempts { variable, other, form } => self.attempts(*variable, *other, *form),
            Statement::Until(v, value, yields) => format!(
                "while (__atomic_load_n(&{}, __ATOMIC_SEQ_CST) != {}) {};",
                name(v),
                self.constant(*v, *value),
                if *yields { "sched_yield()" } else { "" }
            ),
            Statement::Fence(o) => format!("__atomic_thread_fence({});", order(*o)),
            Statement::Read(v) => self.seen(*v, &name(v)),
            Statement::Write(v, value) => format!("{} = {};", name(v), self.constant(*v, *value)),
            Statement::Publish(place, value) => format!(
                "q = malloc(16); *q = {value}; q = __atomic_exchange_n(&p{place}, q, __ATOMIC_ACQ_REL); free(q);"
            ),
            Statement::Look(place) => {
                format!("q = __atomic_load_n(&p{place}, __ATOMIC_ACQUIRE); if (q) O(*q); else O(0);")
            }
            Statement::Remove(place) => format!(
                "q = __atomic_exchange_n(&p{place}, NULL, __ATOMIC_ACQ_REL); if (q) {{ O(*q); free(q); }} else O(0);"
            ),
            Statement::Replace(place, value) => format!(
                "{{ unsigned long *n = malloc(16), *e; *n = {value}; e = q = __atomic_load_n(&p{place}, __ATOMIC_ACQUIRE); \
                 if (__atomic_compare_exchange_n(&p{place}, &e, n, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {{ O(1); free(q); }} \
                 else {{ O(0); free(n); }} }}"
            ),
            Statement::Drop(place) => format!("free(__atomic_load_n(&p{place}, __ATOMIC_ACQUIRE));"),
            _ => return None,
        })
    }

    fn attempts(&self, variable: usize, other: usize, form: Form) -> String {
        let (x, y) = (self.variable(variable), self.variable(other));
        let (one, total) = (self.constant(variable, 1), "__ATOMIC_SEQ_CST");
        let (load, look) = (format!("__atomic_load_n(&{x}, {total})"), format!("__atomic_load_n(&{y}, {total})"));
        let exchange = |new: &str| format!("__atomic_compare_exchange_n(&{x}, &e, {new}, 0, {total}, {total})");
        let plus_one = exchange(&format!("e + {one}"));
        let mixed = exchange(&format!("e + (__typeof__({x}))SEEN(o) + {one}"));
        let head = format!("__typeof__({x}) e; __typeof__({y}) o = 0; int n = 0; (void)o; (void)n;");
        let (seen, mark) = (self.seen(other, "o"), self.constant(other, 1));
        let body = match form {
            Form::Keeps => format!("e = {load}; while (!{plus_one});"),
            Form::Counts => format!("do {{ e = {load}; n++; }} while (!{plus_one}); O(n);"),
            Form::Adds => format!("do {{ e = {load}; o = {look}; }} while (!{mixed}); {seen}"),
            Form::Checks => {
                format!("for (;;) {{ e = {load}; o = {look}; if ({load} != e) continue; if ({mixed}) break; }} {seen}")
            }
            Form::GivesUp(value) => {
                let value = self.constant(variable, value);
                format!(
                    "for (;;) {{ e = {load}; if (e == {value}) {{ O(1); break; }} if ({plus_one}) {{ O(0); break; }} }}"
                )
            }
            Form::Marks => {
                format!("while (e = {load}, !{plus_one}) __atomic_fetch_add(&{y}, {mark}, {total});")
            }
        };
        format!("{{ {head} {body} }}")
    }

    fn locks(&self, statement: &Statement) -> Option<String> {
        let c11 = self.program.c11;
        let shared = |which: &usize, mode: &Mode, kind: &str| match mode {
            Mode::Wait => format!("O(pthread_rwlock_{kind}lock(&w{which}));"),
            Mode::Try => format!("O(pthread_rwlock_try{kind}lock(&w{which}));"),
            Mode::Timed if kind == "rd" => format!("O(pthread_rwlock_timedrdlock(&w{which}, &soon));"),
            Mode::Timed => format!("O(pthread_rwlock_clockwrlock(&w{which}, CLOCK_MONOTONIC, &soon));"),
            Mode::Loop => format!("while (pthread_rwlock_try{kind}lock(&w{which}));"),
        };
        Some(match statement {
            Statement::Lock(which, mode) => {
                let (api, name) = match (FLAVOURS[*which], c11) {
                    (Flavour::Spin, _) => ("pthread_spin_", 'm'),
                    (_, true) => ("mtx_", 'n'),
                    (_, false) => ("pthread_mutex_", 'm'),
                };
                match mode {
                    Mode::Wait => format!("O({api}lock(&{name}{which}));"),
                    Mode::Try => format!("O({api}trylock(&{name}{which}));"),
                    Mode::Timed if FLAVOURS[*which] == Flavour::Checking && !c11 => {
                        format!("O(pthread_mutex_clocklock(&m{which}, CLOCK_MONOTONIC, &soon));")
                    }
                    Mode::Timed => format!("O({api}timedlock(&{name}{which}, &soon));"),
                    Mode::Loop => format!("while ({api}trylock(&{name}{which}));"),
                }
            }
            Statement::Unlock(which) => match (FLAVOURS[*which], c11) {
                (Flavour::Spin, _) => format!("O(pthread_spin_unlock(&m{which}));"),
                (_, true) => format!("O(mtx_unlock(&n{which}));"),
                (_, false) => format!("O(pthread_mutex_unlock(&m{which}));"),
            },
            Statement::LockShared(which, mode) => shared(which, mode, "rd"),
            Statement::LockExclusive(which, mode) => shared(which, mode, "wr"),
            Statement::UnlockBoth(which) => format!("O(pthread_rwlock_unlock(&w{which}));"),
            Statement::Take(which, mode) => match mode {
                Mode::Wait => format!("O(sem_wait(&s{which}));"),
                Mode::Try => format!("O(sem_trywait(&s{which}) ? errno : 0);"),
                Mode::Timed if *which == 0 => format!("O(sem_timedwait(&s{which}, &soon) ? errno : 0);"),
                Mode::Timed => format!("O(sem_clockwait(&s{which}, CLOCK_MONOTONIC, &soon) ? errno : 0);"),
                Mode::Loop => format!("while (sem_trywait(&s{which}));"),
            },
            Statement::Give(which) => format!("O(sem_post(&s{which}));"),
            Statement::Count(which) => format!("{{ int n; sem_getvalue(&s{which}, &n); O(n); }}"),
            _ => return None,
        })
    }

    fn waiting(&self, statement: &Statement) -> Option<String> {
        let c11 = self.program.c11;
        Some(match statement {
            Statement::Wait { condition, mutex, timed } => match (c11, timed) {
                (false, false) => format!("O(pthread_cond_wait(&c{condition}, &m{mutex}));"),
                (false, true) => format!("O(pthread_cond_timedwait(&c{condition}, &m{mutex}, &later));"),
                (true, false) => format!("O(cnd_wait(&d{condition}, &n{mutex}));"),
                (true, true) => format!("O(cnd_timedwait(&d{condition}, &n{mutex}, &later));"),
            },
            Statement::WaitWhile { condition, mutex, variable, value } => format!(
                "while (__atomic_load_n(&{}, __ATOMIC_SEQ_CST) == {}) {};",
                self.variable(*variable),
                self.constant(*variable, *value),
                if c11 {
                    format!("cnd_wait(&d{condition}, &n{mutex})")
                } else {
                    format!("pthread_cond_wait(&c{condition}, &m{mutex})")
                }
            ),
            Statement::Signal(c) if c11 => format!("cnd_signal(&d{c});"),
            Statement::Signal(c) => format!("pthread_cond_signal(&c{c});"),
            Statement::Broadcast(c) if c11 => format!("cnd_broadcast(&d{c});"),
            Statement::Broadcast(c) => format!("pthread_cond_broadcast(&c{c});"),
            Statement::Barrier(b) => format!("O(pthread_barrier_wait(&b{b}));"),
            Statement::Once(o, _) if c11 => format!("call_once(&f{o}, once_{}_{o});", self.number),
            Statement::Once(o, _) => format!("O(pthread_once(&o{o}, once_{}_{o}));", self.number),
            Statement::Sleep { variable, value, timed, mask: ALL } => format!(
                "O(syscall(SYS_futex, &v32[{variable}], FUTEX_WAIT_PRIVATE, {value}, {}, NULL, 0) ? errno : 0);",
                if *timed { "&soon" } else { "NULL" }
            ),
            Statement::Sleep { variable, value, timed, mask } => format!(
                "O(syscall(SYS_futex, &v32[{variable}], FUTEX_WAIT_BITSET_PRIVATE, {value}, {}, NULL, {mask}) ? errno : 0);",
                if *timed { "&later" } else { "NULL" }
            ),
            Statement::Wake { variable, count, mask: ALL } => {
                format!("O(syscall(SYS_futex, &v32[{variable}], FUTEX_WAKE_PRIVATE, {count}, NULL, NULL, 0));")
            }
            Statement::Wake { variable, count, mask } => {
                format!(
                    "O(syscall(SYS_futex, &v32[{variable}], FUTEX_WAKE_BITSET_PRIVATE, {count}, NULL, NULL, {mask}));"
                )
            }
            Statement::Requeue { from, to, wake, moved, expected: None } => {
                format!("O(syscall(SYS_futex, &v32[{from}], FUTEX_REQUEUE_PRIVATE, {wake}, {moved}L, &v32[{to}], 0));")
            }
            Statement::Requeue { from, to, wake, moved, expected: Some(value) } => format!(
                "O(syscall(SYS_futex, &v32[{from}], FUTEX_CMP_REQUEUE_PRIVATE, {wake}, {moved}L, &v32[{to}], {value}));"
            ),
            _ => return None,
        })
    }

    fn threads(&self, statement: &Statement, thread: usize) -> Option<String> {
        let (c11, number) = (self.program.c11, self.number);
        Some(match statement {
            Statement::SetKey(key, value) if c11 => format!("tss_set(t{key}, (void *){value}L);"),
            Statement::SetKey(key, value) => format!("pthread_setspecific(k{key}, (void *){value}L);"),
            Statement::GetKey(key) if c11 => format!("O((unsigned long)tss_get(t{key}));"),
            Statement::GetKey(key) => format!("O((unsigned long)pthread_getspecific(k{key}));"),
            Statement::Exit if c11 => format!("out[{thread}] = r; thrd_exit(0);"),
            Statement::Exit => format!("out[{thread}] = r; pthread_exit(NULL);"),
            Statement::Create(other) if c11 => format!("thrd_create(&tid[{other}], work_{number}_{other}, NULL);"),
            Statement::Create(other) => format!("pthread_create(&id[{other}], NULL, work_{number}_{other}, NULL);"),
            Statement::Join(other) if c11 => format!("O(thrd_join(tid[{other}], NULL));"),
            Statement::Join(other) => format!("O(pthread_join(id[{other}], NULL));"),
            Statement::TryJoin(other) => {
                format!("O(pthread_tryjoin_np({}[{other}], NULL));", if c11 { "tid" } else { "id" })
            }
            Statement::Detach(other) if c11 => format!("thrd_detach(tid[{other}]);"),
            Statement::Detach(other) => format!("pthread_detach(id[{other}]);"),
            Statement::Kernel(deed) => kernel::text(*deed),
            Statement::Yield if c11 => "thrd_yield();".into(),
            Statement::Yield => "sched_yield();".into(),
            Statement::Nap if c11 => "thrd_sleep(&soon, NULL);".into(),
            Statement::Nap => "usleep(10);".into(),
            _ => return None,
        })
    }
}
