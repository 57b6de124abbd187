//! What is wrong with a text is said with a code, a place and a help.

use super::explore;
use crate::language::Model;

/// The first mistake: code, line, column, and that its message and help say what they should.
#[track_caller]
fn check(text: &str, code: &str, place: (u32, u32), words: &str) {
    let errors = Model::new(text).map(|_| ()).expect_err("something is wrong");
    let first = &errors[0];
    let shown = first.show("model.csp", text);
    assert_eq!((first.code.name(), first.place(text)), (code, place), "{shown}");
    assert!(shown.contains(words), "`{words}` is not in\n{shown}");
    assert!(shown.contains('^') && shown.contains(&format!("model.csp:{}:{}", place.0, place.1)), "{shown}");
}

/// A fault while the model runs.
#[track_caller]
fn faults(text: &str, place: Option<(u32, u32)>, words: &str) {
    let model = super::model(text);
    let fault = explore(&model.process("Sys", &[]).unwrap()).map(|_| ()).expect_err("a fault");
    assert_eq!(fault.place, place, "{fault}");
    assert!(fault.message.contains(words), "{fault}");
}

#[test]
fn syntax() {
    check("Sys = a -> ;", "M001", (1, 12), "a process");
    check("Sys = a b;", "M001", (1, 9), "`;`");
    check("var x\nSys = Stop;", "M001", (2, 1), "`;`");
    check("Sys = a -> Stop;\n/* open", "M001", (2, 1), "no end");
    check("Sys = ä -> Stop;", "M001", (1, 7), "no meaning");
    check("#assert Sys() deadlockfre;\nSys = Stop;", "M001", (1, 15), "deadlockfree");
    check("#frobnicate;", "M001", (1, 1), "#define");
    check("P = Stop; #assert P() || P() deadlockfree;", "M001", (1, 23), "give the process a name");
    check("var x = 99999999999;", "M009", (1, 9), "32 bits");
}

#[test]
fn unknown_names() {
    check("Sys = a -> Sis;", "M004", (1, 12), "did you mean `Sys`?");
    check("var count; Sys = [coutn == 0] a -> Stop;", "M004", (1, 19), "did you mean `count`?");
    check("Sys = a{x = 1} -> Stop;", "M004", (1, 9), "`x`");
    check("Sys = c!1 -> Stop;", "M004", (1, 7), "channel c 0;");
    check("Sys = Stop; #assert Sis() deadlockfree;", "M004", (1, 21), "`Sis`");
    check("Sys = Stop; #alphabet P {a};", "M004", (1, 23), "`P`");
    check("var<Tree> t; Sys = Stop;", "M004", (1, 5), "Queue, Stack");
    check("var<Queue> q; Sys = a{q.Push(1);} -> Stop;", "M004", (1, 23), "Enqueue");
}

/// Of an event that never happens much can be proved: it must be one that stands in the text of a process.
#[test]
fn events_that_no_process_has() {
    check("Sys = eat -> Sys; #assert Sys() |= [] !eta;", "M004", (1, 40), "did you mean `eat`?");
    check("Sys = eat.0 -> Sys; #assert Sys() |= [] !eat;", "M004", (1, 42), "`eat` with 1 value");
    check("Sys = eat -> Sys; #assert Sys() |= [] !eat.1;", "M004", (1, 40), "`eat` without values");
    check("#define busy 1 > 0; Sys = a -> Sys; #assert Sys() |= []buzy;", "M004", (1, 56), "did you mean `busy`?");
    check("Sys = a -> Sys; #assert Sys() |= [] !\"b\";", "M004", (1, 38), "no process has an event `b`");
    check(
        "channel c 1; Sys = c!1 -> c?x -> Sys; #assert Sys() |= [] !\"d!1\";",
        "M004",
        (1, 60),
        "no process has an event `d`",
    );
    check("channel c 1; Sys = c!1 -> c?x -> Sys; #assert Sys() |= [] !\"c.1\";", "M004", (1, 60), "`c!` and `c?`");
    check("channel c 1; Sys = c!1 -> c?x -> Sys; #assert Sys() |= [] !\"c!1.1\";", "M004", (1, 60), "`c!1.1`");
    check("Sys = (a -> Stop) \\ {b};", "M004", (1, 22), "no process has an event `b`");
    check("Sys = (a.1 -> Stop) \\ {a};", "M004", (1, 24), "`a` with 1 value");
    check("P = a -> Stop; #alphabet P {a, aa}; Sys = P || P;", "M004", (1, 32), "did you mean `a`?");
    check(
        "P = a_inv.0 -> a_res.0 -> P; Sys = b -> Sys; #object O(1) { operation a() { return 0; } } \
           #assert Sys() refines O();",
        "M004",
        (1, 99),
        "`Sys` makes no call of `O`",
    );
    check("#define a 1 > 2; Sys = a -> Sys; #assert Sys() |= []<> a;", "M005", (1, 56), "in quotes");
    // What the model can have is right, wherever it stands.
    super::model(
        "channel c 1; channel d 0; Sys = a.1 -> c!1 -> Sys; Other = b -> d!0 -> Other; \
                  #assert Sys() |= [](!b && !a.2 && !\"c!7\" && !\"d.0\" && !\"τ\" && !\"✓\" || \"c!1\");",
    );
}

#[test]
fn classes_of_operations() {
    let model = |classes: &str| {
        format!(
            "Sys = a_inv.0 -> a_res.0 -> Sys; #object O(1) {{ operation a() {{ return 0; }} }}\n#assert Sys() refines O() quasi {classes};"
        )
    };
    check(&model("{}"), "M009", (2, 23), "needs a class");
    check(&model("{b: 1}"), "M004", (2, 34), "`O` has no operation `b`");
    check(&model("{a: 1, a: 2}"), "M005", (2, 40), "`a` is in a class already");
    check(&model("{a & a: 1}"), "M005", (2, 38), "`a` is in a class already");
    check(&model("{*: 1, *: 2}"), "M005", (2, 43), "`*` has a factor already");
    check(&model("{a: 65}"), "M009", (2, 37), "0 to 64");
}

#[test]
fn names_given_twice() {
    check("var x; var x; Sys = Stop;", "M005", (1, 12), "`x`");
    check("P = Stop; P = Skip; Sys = P;", "M005", (1, 11), "`P`");
    check("channel c 1; var x; Sys = c?x -> Stop;", "M005", (1, 29), "already");
}

#[test]
fn arities_and_types() {
    check("P(i) = Stop; Sys = P(1, 2);", "M006", (1, 20), "takes 1 argument");
    check("P(i) = Stop; Sys = P;", "M006", (1, 20), "write `P(a1)`");
    check("var x[2][2]; Sys = a.x[1] -> Stop;", "M006", (1, 22), "2 indices");
    check("var x = 0; Sys = [x] a -> Stop;", "M007", (1, 19), "x != 0");
    check("var x = 0; Sys = [x + true > 1] a -> Stop;", "M007", (1, 23), "a number is expected");
    check("var x = 0; Sys = a{x = true} -> Stop;", "M007", (1, 24), "a number is expected");
    check("var x[3]; Sys = a.x -> Stop;", "M007", (1, 19), "x[0]");
    check("P(i) = a{i = 1} -> Stop; Sys = P(1);", "M007", (1, 10), "parameter");
    check("#define N 3; Sys = a{N = 1} -> Stop;", "M007", (1, 22), "constant");
    check("channel c 0; Sys = c -> Stop;", "M007", (1, 20), "c!x");
}

#[test]
fn constants_and_ranges() {
    check("var n; var x[n]; Sys = Stop;", "M008", (1, 14), "constant");
    check("var x; Sys = [] i:{0..x}@(a.i -> Stop);", "M008", (1, 23), "variables");
    check("var x[2]; Sys = a.x[2] -> Stop;", "M009", (1, 21), "0 to 1");
    check("var x:{1..3}; Sys = Stop;", "M009", (1, 5), "begins as 0");
    check("Sys = |||{20000}@(a -> Stop);", "M003", (1, 7), "10000");
    check("var x[100000]; Sys = Stop;", "M009", (1, 7), "32768");
}

#[test]
fn recursion_that_takes_no_step() {
    check("P = Q; Q = P; Sys = P;", "M010", (1, 1), "before it takes a step");
    check("Sys = a -> Stop [] Sys;", "M010", (1, 1), "e -> P()");
    check("#define a b; #define b a; Sys = [a == 1] e -> Stop;", "M010", (1, 24), "refers to itself");
    // Only values decide here, so that it shows while the model runs.
    faults("P(i) = [i < 3] P(i); Sys = P(1);", None, "unbounded recursion");
    faults("P = a -> (P; b -> Stop); Sys = P;", None, "unbounded recursion");
}

#[test]
fn pat_has_more_than_is_here() {
    check("#import \"My.Library\"; Sys = Stop;", "M012", (1, 9), "var<Queue> q;");
    check("#include \"other.csp\"; Sys = Stop;", "M012", (1, 10), "one file");
    check("P = a -> Stop; Sys = |||{..}@P;", "M012", (1, 26), "|||{3}@P()");
}

#[test]
fn faults_while_the_model_runs() {
    faults("var x[2]; var i;\nSys = a{i++} -> b.x[i] -> Sys;", Some((2, 19)), "index 2 is outside of x");
    faults("var x:{0..3}; Sys = a{x++} -> Sys;", Some((1, 23)), "x leaves its range: it becomes 4");
    faults("var x = 2147483647; Sys = a{x++} -> Sys;", Some((1, 29)), "32 bits");
    faults("var x; Sys = a.(1/x) -> Stop;", Some((1, 17)), "division by zero");
    faults("Sys = a{while (true) {}} -> Stop;", Some((1, 9)), "does not end");
    faults("var<Queue> q; Sys = a{q.Dequeue();} -> Stop;", Some((1, 23)), "it is empty");
    faults("channel c[2] 0; var i = 2; Sys = c[i]!1 -> Stop;", Some((1, 34)), "outside of the channels");
    faults("var x; P = e.x -> Stop; Sys = P || P;", None, "#alphabet");
    faults("P(i) = e.i -> P(i+1); Sys = P(0) || P(1);", None, "#alphabet");
}

#[test]
fn objects() {
    let system = "Sys = op_inv.0 -> op_res.0.1 -> Sys;";
    check(&format!("{system} #object O(1) {{ operation opp() {{ return 1; }} }}"), "M004", (1, 63), "opp_inv");
    check(&format!("{system} #object O(0) {{ operation op() {{ return 1; }} }}"), "M009", (1, 48), "threads");
    let object = "#object O(1) { operation op() { return 1; } }";
    check(&format!("{system}\n{object}\n#assert Sys() refines O() quasi {{po: 1}};"), "M004", (3, 34), "`po`");
    check(&format!("{system}\n{object}\n#assert Sys() refines Sys() quasi {{op: 1}};"), "M007", (3, 23), "#object");
    check("Sys = a{return 1;} -> Stop;", "M001", (1, 9), "#object");
}

#[test]
fn calls_and_returns_that_do_not_fit_together() {
    let object = "#object O(1) { operation a() { return 1; } operation b() { return 1; } } #assert Sys() refines O();";
    let trouble = |process: &str| {
        let model = super::model(&format!("Sys = {process}; {object}"));
        model.check(0, &crate::Settings::default()).map(|answer| answer.verdict).expect_err("a fault").to_string()
    };
    // The right return comes first: what is known of it must not be taken for the wrong one.
    let right = "a_inv.0 -> a_res.0.1 -> b_inv.0 -> b_res.0.1 -> ";
    let message = trouble(&format!("{right} a_inv.0 -> b_res.0.1 -> Sys"));
    assert!(message.contains("thread 0 returns from b but has called a"), "{message}");
    let message = trouble("a_inv.0 -> a_inv.0 -> b_inv.0 -> a_res.0.1 -> b_res.0.1 -> Sys");
    assert!(message.contains("thread 0 calls before its last call has returned"), "{message}");
    let message = trouble("a_inv.0 -> a_res.7.1 -> b_inv.0 -> b_res.0.1 -> Sys");
    assert!(message.contains("threads of O are 0 to 0"), "{message}");
}

/// A text that is refused, wherever.
#[track_caller]
fn refused(text: &str, code: &str, words: &str) {
    let errors = Model::new(text).map(|_| ()).expect_err("it is refused");
    let shown = errors[0].show("model.csp", text);
    assert_eq!(errors[0].code.name(), code, "{shown}");
    assert!(shown.contains(words) && shown.len() < 1000, "{shown}");
}

#[test]
fn malicious_texts_get_an_answer() {
    let deep = |open: &str, close: &str| format!("Sys = {}Stop{};", open.repeat(200_000), close.repeat(200_000));
    refused(&deep("(", ")"), "M002", "nests");
    refused(&format!("Sys = [{}1{}] Stop;", "(".repeat(100_000), ")".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = [{}x] Stop;", "!".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = a.({}1) -> Stop;", "1+".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = a{{{}x = 1;", "if (x == 1) { ".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = {};", "if (x == 1) { ".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = {}Stop;", "[1 == 1] a -> ".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = Stop; #assert Sys() |= {}a;", "[]".repeat(100_000)), "M002", "nests");
    refused(&format!("Sys = Stop{};", " \\ {a}".repeat(100_000)), "M002", "nests");
    let bomb: String = (0..30).map(|i| format!("#define d{i} d{}+d{};", i + 1, i + 1)).collect();
    refused(&format!("{bomb}#define d30 1; Sys = a.d0 -> Stop;"), "M003", "put in");
}

#[test]
fn large_texts_are_read() {
    let steps = format!("Sys = {}Stop;", "a -> ".repeat(100_000));
    assert_eq!(explore(&super::model(&steps).process("Sys", &[]).unwrap()).unwrap().steps.len(), 100_001);
    let lines: String = (0..50_000).map(|i| format!("P{i}() = a{{x = {i}}} -> P{}();\n", (i + 1) % 50_000)).collect();
    let model = super::model(&format!("var x;\n{lines}"));
    assert!(model.process("P49999", &[]).is_some());
}
