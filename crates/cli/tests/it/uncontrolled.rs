//! What is not controlled is *unknown*, by name and place, in every form of the answer; and what the runtime can see after all.

use crate::*;

/// A source file of one test.
fn source(name: &str, text: &str) -> String {
    let path = scratch(name);
    std::fs::write(&path, text).expect("the scratch directory can be written");
    path.to_str().expect("a plain name").to_owned()
}

/// Tests it with that compiler; nothing may be written as a finding unless `exit` is 1.
fn test(name: &str, args: &[&str], exit: i32) -> Run {
    let directory = scratch(&format!("uncontrolled-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    let findings = directory.to_str().expect("a plain name");
    let run = selvedge(&[&["test", "--time-max", "60s", "--findings", findings], args].concat()).expect(exit);
    assert_eq!(directory.exists(), exit == 1, "{}", run.stdout);
    run
}

fn words(run: &Run) -> String {
    run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn text_json_page_and_junit_name_it() {
    let program = "corpus/programs/uncontrolled/socket.c";
    let (page, junit) = (scratch("uncontrolled.html"), scratch("uncontrolled.xml"));
    let files = ["--html", page.to_str().expect("plain"), "--junit", junit.to_str().expect("plain")];
    let run = test("text", &[&[program], &files[..]].concat(), 3);
    let says = "socket is not controlled: what threads hand over through the kernel is not seen (socket.c:13)";
    assert!(run.stdout.starts_with("UNKNOWN  socket_: uncontrolled, "), "{}", run.stdout);
    assert!(words(&run).contains(says), "{}", run.stdout);
    assert!(!words(&run).contains("exhaustive"), "{}", run.stdout);
    let [page, junit] = [page, junit].map(|path| std::fs::read_to_string(path).expect("it was written"));
    assert!(page.contains("socket is not controlled") && junit.contains("socket is not controlled"), "{junit}");
    assert!(!junit.contains("<failure"), "{junit}");
    let document = test("json", &[program, "--json"], 3).json();
    assert_eq!(["verdict", "coverage"].map(|field| document[field].clone()), ["unknown", "partial"], "{document}");
    let tested = &document["tests"][0];
    assert_eq!(tested["limit"], "uncontrolled", "{document}");
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(0), "{document}");
    let unknown = &tested["unknowns"][0];
    assert_eq!((&unknown["kind"], &unknown["line"]), (&"uncontrolled".into(), &13.into()), "{document}");
}

/// A run without an end says nothing of the others: what they show is found, and where they show nothing it is unknown.
#[test]
fn a_run_that_is_cut_off_is_neither_a_livelock_nor_a_pass() {
    let text = |last: &str| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <selvedge.h>\n#include <stdatomic.h>\n\
             static atomic_int rounds, seen;\n\
             static void *work(void *none) {{ while (atomic_fetch_add(&rounds, 1) < 30000) {{}} atomic_store(&seen, 1); return none; }}\n\
             SELVEDGE_TEST(long_run) {{\n  pthread_t one;\n  pthread_create(&one, 0, work, 0);\n  {last}\n  pthread_join(one, 0);\n}}\n"
        )
    };
    let run = test("busy", &["corpus/programs/step-limit/busy.c", "--runs", "5"], 3);
    assert!(words(&run).contains("T2 goes round busy.c:11, busy.c:12"), "the loop is named: {}", run.stdout);
    let plain = source("long-run.c", &text(""));
    let run = test("long", &[&plain, "--runs", "5"], 3);
    assert!(run.stdout.starts_with("UNKNOWN  long_run: step-limit, "), "{}", run.stdout);
    test("longer", &[&plain, "--steps-max", "100000"], 0);
    let wrong = source("long-run-wrong.c", &text("assert(atomic_load(&rounds) == 0);"));
    let run = test("wrong", &[&wrong, "--strategy", "random", "--runs", "50"], 1);
    assert!(run.stdout.starts_with("FAIL  long_run: assertion"), "{}", run.stdout);
}

/// The classes of GoogleTest that its macros use, as far as a failing assertion goes.
const GOOGLE_TEST: &str = r#"
#include <string>
namespace testing {
struct Message {};
struct TestPartResult { enum Type { kSuccess, kNonFatalFailure, kFatalFailure, kSkip }; };
namespace internal {
class AssertHelper {
  public:
    AssertHelper(TestPartResult::Type type, const char *file, int line, const char *message)
        : data_(new Data{type, file, line, message}) {}
    ~AssertHelper() { delete data_; }
    void operator=(const Message &message) const;
  private:
    struct Data { TestPartResult::Type type; const char *const file; const int line; const std::string message; };
    Data *const data_;
};
}
}
#define EXPECT(kind, text) ::testing::internal::AssertHelper(::testing::TestPartResult::kind, __FILE__, __LINE__, text) = ::testing::Message()
"#;

#[test]
fn a_failed_assertion_of_google_test_is_a_finding() {
    if !has(has_cpp(), Need::Cpp, "GoogleTest is C++") {
        return;
    }
    source("google_test.h", GOOGLE_TEST);
    let library = source(
        "google_test.cc",
        "#include \"google_test.h\"\nnamespace testing { namespace internal { void AssertHelper::operator=(const Message &) const {} } }\n",
    );
    let body = |kind: &str| {
        format!(
            "#include \"google_test.h\"\n#include <atomic>\n#include <selvedge.h>\n#include <thread>\n\
             SELVEDGE_TEST(both_count) {{\n  std::atomic<int> count{{0}};\n  auto add = [&] {{ int was = count; count = was + 1; }};\n  \
             std::thread other(add);\n  add();\n  other.join();\n  if (count != 2) EXPECT({kind}, \"count is not 2\");\n}}\n"
        )
    };
    let program = source("google_test_user.cc", &body("kNonFatalFailure"));
    let run = test("google", &[&program, &library], 1);
    assert!(run.stdout.starts_with("FAIL  both_count: assertion"), "{}", run.stdout);
    assert!(words(&run).contains("google_test_user.cc:11: count is not 2"), "{}", run.stdout);
    let program = source("google_test_success.cc", &body("kSuccess"));
    test("google-success", &[&program, &library], 0);
}

#[test]
fn openmp_is_named() {
    let program = source(
        "openmp.c",
        "#include <assert.h>\nint main(void) {\n  int sum = 0;\n  #pragma omp parallel for reduction(+ : sum) num_threads(2)\n  \
         for (int i = 0; i < 10; i++) sum += i;\n  assert(sum == 45);\n}\n",
    );
    // Without the library the program does not link, and there is nothing to control.
    if command(&["test", "--time-max", "60s", &program, "--", "-fopenmp"])
        .output()
        .is_ok_and(|run| run.status.code() == Some(2))
    {
        skip(Need::OpenMp, "a program that uses it does not link");
        return;
    }
    let run = test("openmp", &[&program, "--", "-fopenmp"], 3);
    assert!(words(&run).contains("GOMP_parallel is not controlled: OpenMP's threads"), "{}", run.stdout);
}

/// `exit(0)` at the end of a program is no crash; any other is.
#[test]
fn exit_of_main_is_its_end() {
    let text = |code: u8| {
        format!(
            "#include <pthread.h>\n#include <stdlib.h>\nstatic int count;\nstatic void *work(void *none) {{ count++; return none; }}\n\
             int main(void) {{\n  pthread_t one;\n  pthread_create(&one, 0, work, 0);\n  pthread_join(one, 0);\n  exit({code});\n}}\n"
        )
    };
    test("exit-0", &[&source("exit-0.c", &text(0))], 0);
    test("exit-3", &[&source("exit-3.c", &text(3))], 1);
}
