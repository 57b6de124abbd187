//! What the table of an interleaving shows: operations as they are marked, rounds of loops once.

use crate::*;

fn source(name: &str, body: &str) -> String {
    let path = scratch(name);
    let text =
        format!("#include <assert.h>\n#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n{body}");
    std::fs::write(&path, text).expect("the scratch directory can be written");
    path.to_str().expect("a plain name").to_owned()
}

fn fails(name: &str, program: &str) -> (Run, String) {
    let directory = scratch(&format!("tables-{name}"));
    let page = scratch(&format!("tables-{name}.html"));
    let _ = std::fs::remove_dir_all(&directory);
    let [findings, html] = [&directory, &page].map(|path| path.to_str().expect("plain"));
    let run = selvedge(&["test", program, "--findings", findings, "--html", html]).expect(1);
    (run, std::fs::read_to_string(page).expect("the page"))
}

#[test]
fn operations_are_named_as_the_test_marks_them() {
    let program = source(
        "marked.c",
        "static atomic_long cell;\n\
         static void *work(void *none) { selvedge_call(\"push\", -7); atomic_store(&cell, 1); selvedge_return(5); return none; }\n\
         SELVEDGE_TEST(marked) {\n  pthread_t one;\n  pthread_create(&one, 0, work, 0);\n  \
         selvedge_call(\"peek\", 0); long seen = atomic_load(&cell); selvedge_return(-seen);\n  \
         pthread_join(one, 0);\n  assert(seen == 0);\n}\n",
    );
    let (run, page) = fails("marked", &program);
    for said in ["call push(-7)", "return 5", "call peek(0)", "return -1"] {
        assert!(run.stdout.contains(said) && page.contains(said), "{said}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("object"), "{}", run.stdout);
}

#[test]
fn rounds_of_a_loop_are_shown_once() {
    let program = source(
        "rounds.c",
        "static atomic_int ready, other, tries, value;\n\
         static void *work(void *none) {\n  atomic_store(&value, 1);\n  \
         for (int i = 0; i < 10; i++) { atomic_fetch_add(&tries, 0); atomic_load(&other); }\n  atomic_store(&ready, 1);\n  return none;\n}\n\
         SELVEDGE_TEST(rounds) {\n  pthread_t one;\n  pthread_create(&one, 0, work, 0);\n  \
         while (!atomic_load(&ready)) { atomic_fetch_add(&tries, 0); atomic_load(&other); }\n  \
         pthread_join(one, 0);\n  assert(atomic_load(&value) == 0);\n}\n",
    );
    let (run, page) = fails("rounds", &program);
    assert!(
        run.stdout.contains("(9 more rounds of the same)") && page.contains("(9 more rounds of the same)"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.matches("rounds.c:8 ").count(), 2, "{}", run.stdout);
    let directory = scratch("tables-rounds");
    let finding = std::fs::read_dir(directory).expect("findings").next().expect("one").expect("readable").path();
    let finding: serde_json::Value = serde_json::from_slice(&std::fs::read(finding).expect("it")).expect("JSON");
    let steps = finding["steps"].as_array().expect("its steps");
    assert!(steps.len() > 35, "all steps are in the file: {}", steps.len());
}
