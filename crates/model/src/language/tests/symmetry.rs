//! Threads that are alike are found, others are not taken for alike, and what follows from it changes no answer.

use super::super::object::Calls;
use super::model;
use crate::{Reductions, Settings, Verdict};

/// Threads of a counter: what each does between call and return, and what else the model declares.
fn counter(threads: u32, more: &str, body: &str) -> String {
    format!(
        "#define N {threads}; var x; var y; var r[N]; var m[N][2]; {more}
         Thread(t) = inc_inv.t -> Work(t);
         Work(t) = {body};
         Back(t) = inc_res.t.r[t]{{ r[t] = 0; m[t][0] = 0; m[t][1] = 0; }} -> Thread(t);
         System() = ||| t:{{0..N-1}}@Thread(t);
         #object Counter(N) {{ var c; operation inc() {{ var v = c; c = (c+1)%3; return v; }} }}
         #assert System() refines Counter();"
    )
}

/// States, and what was found: 0 for nothing, else steps and context switches.
fn answer(text: &str, reductions: Reductions) -> (u64, usize, usize) {
    let settings = Settings { reductions, ..Settings::default() };
    let answer = model(text).check(0, &settings).unwrap_or_else(|trouble| panic!("{text}\n{trouble}"));
    let states = answer.statistics.states;
    match (answer.verdict, answer.trace) {
        (Verdict::Pass, _) => (states, 0, 0),
        (Verdict::Fail, Some(trace)) => {
            assert!(trace.shortest && trace.fewest_switches, "{text}");
            (states, trace.steps.len(), trace.switches())
        }
        other => panic!("{text}: {:?}", other.0),
    }
}

fn is_alike(text: &str) -> bool {
    let model = model(text);
    Calls::new(model.subject(0), &model.objects[0]).alike.is_some()
}

/// Compares all reductions, none, and all but one; answers how many states fewer there are.
#[track_caller]
fn agree(text: &str) -> (u64, u64, usize) {
    let (all, none) = (Reductions::ALL, Reductions::NONE);
    let (states, steps, switches) = answer(text, none);
    let mut least = states;
    let others = [
        all,
        Reductions { threads: false, ..all },
        Reductions { partial_order: false, ..all },
        Reductions { intervals: false, ..all },
        Reductions { intervals: true, ..none },
    ];
    for reductions in others {
        let (fewer, length, changes) = answer(text, reductions);
        assert_eq!((length, changes), (steps, switches), "{reductions:?}\n{text}");
        least = least.min(fewer);
    }
    (states, least, steps)
}

#[test]
fn threads_that_run_the_same_code_are_found() {
    let alike = [
        "tau{ r[t] = x; } -> tau{ x = (r[t]+1)%3; } -> Back(t)",
        "tau{ r[t] = x; x = (x+1)%3; } -> Back(t)",
        "if (m[t][0] == 0) { tau{ m[t][1] = x; } -> Skip } else { Skip }; tau{ r[t] = x; x = (x+1)%3; } -> Back(t)",
        "case { m[t][1] == 1: Back(t) default: tau{ r[t] = x; x = (x+1)%3; } -> Back(t) }",
        "([] i:{0..1}@ tau{ m[t][i] = 1; } -> Skip); atomic{ tau{ r[t] = x; } -> tau{ x = (x+1)%3; } -> Skip }; Back(t)",
        "note.t.t -> tau{ r[t] = x; x = (x+1)%3; } -> Back(t)",
        "(tau -> Skip) [*] (tau -> Skip); tau{ r[t] = x; x = (x+1)%3; } -> Back(t)",
    ];
    for body in alike {
        let text = counter(2, "", body);
        assert!(is_alike(&text), "{body}");
        let (states, least, _) = agree(&text);
        assert!(least < states, "{body}: {least} of {states} states");
    }
    let written = counter(2, "", alike[0]).replace("||| t:{0..N-1}@Thread(t)", "Thread(0) ||| Thread(1)");
    assert!(is_alike(&written));
    agree(&written);
    // Only three threads show that more is saved than two exchanges.
    let (states, least, _) = agree(&counter(3, "", alike[1]));
    assert!(least * 4 < states, "{least} of {states} states");
}

#[test]
fn threads_that_can_tell_who_they_are_are_not_taken_for_alike() {
    let different = [
        ("", "ifa (t == 0) { tau{ r[t] = x; x = (x+1)%3; } -> Back(t) } else { tau{ r[t] = x; } -> Back(t) }"),
        ("", "tau{ y = t; } -> tau{ r[t] = x; x = (x+1)%3; } -> Back(t)"),
        ("", "tau{ r[t] = x; r[0] = x; x = (x+1)%3; } -> Back(t)"),
        ("", "tau{ r[(t+1)%N] = x; } -> tau{ r[t] = x; x = (x+1)%3; } -> Back(t)"),
        ("", "[&& i:{0..N-1}@(m[i][0] == 0)] tau{ r[t] = x; x = (x+1)%3; m[t][0] = 1; } -> Back(t)"),
        ("", "tau{ var own = t; r[own] = x; x = (x+1)%3; } -> Back(t)"),
        ("var z[5];", "tau{ z[t] = 1; r[t] = x; x = (x+1)%3; } -> Back(t)"),
        ("channel c 1;", "c!1 -> c?n -> tau{ r[t] = x; x = (x+1)%3; } -> Back(t)"),
        ("", "(tau -> Skip ||| tau -> Skip); tau{ r[t] = x; x = (x+1)%3; } -> Back(t)"),
    ];
    for (more, body) in different {
        let text = counter(2, more, body);
        assert!(!is_alike(&text), "{body}");
        agree(&text);
    }
    // The order of values in an event: what stands first is the thread.
    let text = counter(2, "", "tau{ r[t] = x; } -> Back(t)").replace("inc_res.t.r[t]", "inc_res.(0+t).r[t]");
    assert!(!is_alike(&text));
    // Threads in the wrong order, too many of them, and others beside them.
    for system in ["Thread(1) ||| Thread(0)", "||| t:{0..N-1}@Thread(t) ||| Other()", "||| t:{0..N-1}@Thread(0)"] {
        let text = counter(2, "Other() = tau -> Other();", "tau{ r[t] = x; } -> Back(t)");
        assert!(!is_alike(&text.replace("||| t:{0..N-1}@Thread(t)", system)), "{system}");
    }
}

/// Calls and returns that others notice, or that depend on what others do.
const CALLS: [&str; 4] = [
    "inc_inv.t -> Work(t)",
    "[y == 0] inc_inv.t -> Work(t)",
    "inc_inv.t{ y = (y+1)%2; } -> Work(t)",
    "inc_inv.t -> Work(t) [] tau{ y = 0; } -> Thread(t)",
];
const RETURNS: [&str; 5] = [
    "inc_res.t.r[t]{",
    "inc_res.t.x{",
    "inc_res.t.r[t]{ y = 0;",
    "[y == 0] inc_res.t.r[t]{",
    "[x != 2] inc_res.t.r[t]{ y = 1; } -> Thread(t) [] [x == 2] inc_res.t.r[t]{",
];

fn outside(text: &str, call: usize, back: usize) -> String {
    text.replace(CALLS[0], CALLS[call])
        .replace(&format!("Back(t) = {}", RETURNS[0]), &format!("Back(t) = {}", RETURNS[back]))
}

/// States without any reduction, and with short operations only.
fn shortened(text: &str) -> (u64, u64) {
    let short = Reductions { intervals: true, ..Reductions::NONE };
    (answer(text, Reductions::NONE).0, answer(text, short).0)
}

#[test]
fn only_calls_and_returns_that_nobody_else_notices_are_moved() {
    let body = "tau{ r[t] = x; x = (x+1)%3; } -> tau -> Back(t)";
    for (call, back) in (0..CALLS.len()).flat_map(|call| (0..RETURNS.len()).map(move |back| (call, back))) {
        let text = outside(&counter(2, "", body), call, back);
        assert!(is_alike(&text), "{text}");
        let (_, _, length) = agree(&text);
        if length == 0 {
            let (all, some) = shortened(&text);
            // A state notes who has just called, so that their number alone tells only where nothing was moved.
            assert_eq!(all == some, call > 0 && back > 0, "{all} {some}\n{text}");
        }
    }
}

/// A silent step before an atomic process lets its thread go before all others: taken alone, it would hide what others do before it.
#[test]
fn a_silent_step_before_an_atomic_process_is_not_taken_alone() {
    // The process after the step stands last, so that its number is larger and the reduction would take the step.
    let after = "After(t) = atomic{ tau{ x = (r[t]+1)%3; } -> Skip }; Back(t);";
    for body in ["tau{ r[t] = x; } -> Skip; After(t)", "tau{ r[t] = x; } -> tau{ m[t][0] = 1; } -> After(t)"] {
        let text = format!("{} {after}", counter(2, "", body));
        assert!(is_alike(&text), "{body}");
        assert!(agree(&text).2 > 0, "an update is lost: {body}");
    }
}

#[test]
fn random_threads_have_the_same_answers_whatever_is_reduced() {
    let steps = [
        "tau{ r[t] = x; } ->",
        "tau{ x = (r[t]+1)%3; } ->",
        "tau{ r[t] = x; x = (x+1)%3; } ->",
        "tau{ m[t][0] = 1; } ->",
        "tau ->",
        "[y == 0] tau{ y = 1; } ->",
        "tau{ y = 0; } ->",
        "tau{ m[t][1] = m[t][0]; } ->",
        "tau{ if (m[t][0] == 1) { x = r[t]; } } ->",
        "ifa (t == 0) { tau{ y = 0; } -> Skip } else { tau -> Skip };",
        "if (m[t][1] == 0) { tau{ m[t][1] = 1; } -> Skip };",
        "case { x == 0: tau{ x = 1; } -> Skip default: Skip };",
        "Skip; atomic{ tau{ r[t] = x; } -> tau{ x = (x+1)%3; } -> Skip };",
        "atomic{ [y == 0] tau{ m[t][0] = x; } -> Skip };",
    ];
    let mut random = super::random::Random::new(77);
    let (mut found, mut passed, mut failed, mut saved) = (0, 0, 0, 0);
    for round in 0..300 {
        let count = 2 + random.below(4);
        let body: Vec<&str> = (0..count).map(|_| random.pick(&steps)).collect();
        let text = counter(2, "", &format!("{} Back(t)", body.join(" ")));
        let text = if round % 3 == 0 { text } else { outside(&text, random.below(4), random.below(5)) };
        found += usize::from(is_alike(&text));
        let (states, least, length) = agree(&text);
        *(if length == 0 { &mut passed } else { &mut failed }) += 1;
        saved += usize::from(least < states);
    }
    assert!(
        found > 100 && found < 300 && passed > 20 && failed > 100 && saved > 100,
        "{found} {passed} {failed} {saved}"
    );
}
