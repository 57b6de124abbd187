//! `--argument`: what a program that is tested through its `main` gets.

use crate::*;

/// Splits its first argument in place, takes an option, and loses an update where it is told to.
const PROGRAM: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static atomic_int sum;
static int careless;
static void *add(void *text) {
    int value = atoi(text);
    if (careless)
        atomic_store(&sum, atomic_load(&sum) + value);
    else
        atomic_fetch_add(&sum, value);
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t threads[2];
    careless = getopt(argc, argv, "c") == 'c';
    assert(argc == optind + 2 && argv[argc] == NULL && strcmp(argv[optind + 1], "a word") == 0);
    char *first = strtok(argv[optind], ","), *second = strtok(NULL, ",");
    assert(first && second);
    pthread_create(&threads[0], NULL, add, first);
    pthread_create(&threads[1], NULL, add, second);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(sum == atoi(first) + atoi(second));
    return 0;
}
"#;

fn test(name: &str, source: &str, args: &[&str]) -> Run {
    let path = file(&format!("arguments-{name}.c"), source.as_bytes());
    let findings = scratch(&format!("findings-arguments-{name}"));
    let _ = std::fs::remove_dir_all(&findings);
    selvedge(&[&["test", &path, "--findings", findings.to_str().expect("a plain name")], args].concat())
}

#[test]
fn each_run_gets_them_as_they_were_given() {
    let run = test("pass", PROGRAM, &["--argument", "2,3", "--argument", "a word", "--json"]).expect(0);
    let document = run.json();
    assert_eq!(document["coverage"], "exhaustive", "{document}");
    assert!(document["runs"].as_u64() > Some(1), "the texts that a run changed came back: {document}");
}

#[test]
fn a_replay_gives_them_again() {
    test("fail", PROGRAM, &["--argument", "-c", "--argument", "2,3", "--argument=a word"]).expect(1);
    let mut findings = std::fs::read_dir(scratch("findings-arguments-fail")).expect("findings");
    let finding = findings.next().expect("one").expect("readable").path();
    let run = selvedge(&["replay", "--json", finding.to_str().expect("a plain name")]).expect(1);
    assert_eq!(run.json()["same"], true);
}

#[test]
fn a_program_with_tests_has_no_use_for_them() {
    let source = "#include <selvedge.h>\nSELVEDGE_TEST(empty) {}\n";
    let run = test("refused", source, &["--argument", "3"]).expect(2);
    assert!(run.stderr.contains("--argument is for a program that is tested through its main"), "{}", run.stderr);
}
