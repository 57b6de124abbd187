//! Choices and assumptions of tests, and what is told of them.

use crate::testing::{finding_of, test};
use crate::*;

/// A run whose assumption does not hold is no finding, and a test of which no other run is left has tested nothing.
#[test]
fn where_no_assumption_holds_nothing_was_tested() {
    let source = |wanted: u32| {
        let path = scratch(&format!("assumes-{wanted}.c"));
        let text = format!(
            "#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\nstatic atomic_int value;\n\
             static void *looks(void *none) {{\n  selvedge_assume(value == {wanted});\n  return none;\n}}\n\
             SELVEDGE_TEST(assumes) {{\n  pthread_t one;\n  pthread_create(&one, 0, looks, 0);\n  value = 1;\n  \
             pthread_join(one, 0);\n}}\n"
        );
        std::fs::write(&path, text).expect("the scratch directory can be written");
        path.to_str().expect("a plain name").to_owned()
    };
    for search in ["portfolio", "dpor", "dfs", "random", "pct"] {
        let flags = |path: &str| test("assumes", &[path, "--strategy", search, "--json"]);
        let held = flags(&source(1)).expect(0).json();
        let tested = &held["tests"][0];
        assert!(tested["excluded"].as_u64() > Some(0) && tested["excluded"] == tested["blocked"], "{tested}");
        assert!(tested["excluded"].as_u64() < tested["runs"].as_u64(), "{tested}");
        let never = flags(&source(2)).expect(3).json();
        let tested = &never["tests"][0];
        assert_eq!((&tested["verdict"], &tested["limit"]), (&"unknown".into(), &"assumptions".into()), "{tested}");
        assert_eq!(tested["excluded"], tested["runs"]);
    }
    let run = test("assumes", &[&source(2)]).expect(3);
    assert!(
        run.stdout.contains("nothing was tested: in every run an assumption of the test did not hold"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("blocked (3 by an assumption)"), "{}", run.stdout);
}

/// A choice of the test is a row of the table, and a part of the finding that a replay repeats.
#[test]
fn a_choice_is_shown_and_repeated() {
    let run = test("chooses", &["corpus/boundary/assertion/chosen_sizes.cc"]).expect(1);
    assert!(run.stdout.contains("chooses 3 of 4"), "{}", run.stdout);
    let replayed = selvedge(&["replay", &finding_of("chooses")]).expect(1);
    assert!(replayed.stdout.contains("chooses 3 of 4"), "{}", replayed.stdout);
}

/// An assumption in an operation of an object would leave it with a history that nobody can judge.
#[test]
fn objects_assume_nothing() {
    let path = scratch("assumes-in-object.c");
    let text = "#include <selvedge.h>\n#include <stdlib.h>\n\
        static void *create(void) { return calloc(1, 4); }\n\
        static selvedge_value add(void *object, const selvedge_value *unused) {\n  (void)unused;\n  \
        selvedge_assume(*(int *)object == 1);\n  return 0;\n}\n\
        SELVEDGE_OBJECT(counter, create, free, SELVEDGE_CALL(\"add\", add));\n";
    std::fs::write(&path, text).expect("the scratch directory can be written");
    let run = test("assumes-in-object", &[path.to_str().expect("a plain name")]).expect(3);
    let words: String = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("of an object nothing can be said then"), "{}", run.stdout);
}
