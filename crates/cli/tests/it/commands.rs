//! `selvedge verify`, `convert` and `generate`.

use crate::*;

fn certificate_of(history: &str, name: &str) -> String {
    let certificate = scratch(name);
    let certificate = certificate.to_str().unwrap().to_owned();
    let run = selvedge(&["check", history, "--certificate", &certificate]);
    assert!(run.code <= 1, "{}", run.stderr);
    assert!(!run.stdout.contains("evidence:"), "{}", run.stdout);
    certificate
}

#[test]
fn every_certificate_is_right() {
    for (verdict, says) in [("pass", "is linearizable"), ("fail", "is not linearizable")] {
        for (i, history) in examples(verdict).iter().enumerate() {
            let certificate = certificate_of(history, &format!("{verdict}-{i}.cert"));
            let run = selvedge(&["verify", history, &certificate]).expect(0);
            assert!(run.stdout.starts_with("RIGHT"), "{}", run.stdout);
            assert!(run.stdout.contains(says), "{}", run.stdout);
        }
    }
}

#[test]
fn a_wrong_certificate_is_refused() {
    let certificate = certificate_of(PASS, "tampered.cert");
    let text = std::fs::read_to_string(&certificate).unwrap();
    let order = text.find("\"order\":[").unwrap() + "\"order\":[".len();
    let end = order + text[order..].find(']').unwrap();
    let mut operations: Vec<&str> = text[order..end].split(',').collect();
    operations.reverse();
    let tampered = format!("{}{}{}", &text[..order], operations.join(","), &text[end..]);
    std::fs::write(&certificate, tampered).unwrap();
    let run = selvedge(&["verify", PASS, &certificate]).expect(1);
    assert!(run.stdout.starts_with("REFUSED"), "{}", run.stdout);
    let document = selvedge(&["verify", "--json", PASS, &certificate]).expect(1).json();
    assert_eq!(document["verdict"], "fail");
    assert!(!document["refusal"].as_str().unwrap().is_empty());
}

#[test]
fn a_certificate_of_another_history_is_refused() {
    let certificate = certificate_of(PASS, "other.cert");
    selvedge(&["verify", "examples/histories/fail/priority-queue.fl", &certificate]).expect(1);
}

#[test]
fn a_certificate_about_another_object_says_so() {
    let certificate = scratch("bag.cert");
    let certificate = certificate.to_str().unwrap();
    selvedge(&["check", FAIL, "--object", "bag", "--certificate", certificate]).expect(0);
    let run = selvedge(&["verify", FAIL, certificate]).expect(0);
    assert!(run.stdout.contains("is linearizable as a bag"), "{}", run.stdout);
    assert!(run.stdout.contains("the history says that it is of a queue"), "{}", run.stdout);
}

#[test]
fn what_is_no_certificate_is_wrong_input() {
    let run = selvedge(&["verify", PASS, FAIL]).expect(2);
    assert!(run.stderr.starts_with(&format!("error: {FAIL}:")), "{}", run.stderr);
    let later = file("later.cert", b"{\"selvedge\":\"certificate\",\"version\":3}");
    let run = selvedge(&["verify", PASS, &later]).expect(2);
    assert!(run.stderr.contains("version 3 of the certificate format is not known"), "{}", run.stderr);
    let cut = file("cut.cert", b"{\"selvedge\":\"certificate\",\"version\":1,\n\"criterion\":");
    let run = selvedge(&["verify", PASS, &cut]).expect(2);
    assert!(run.stderr.starts_with(&format!("error: {cut}:2:")), "{}", run.stderr);
    selvedge(&["verify", PASS, "no/such.cert"]).expect(2);
    selvedge(&["verify", "no/such.jsonl", &certificate_of(PASS, "missing.cert")]).expect(2);
}

#[test]
fn a_certificate_that_cannot_be_written_is_an_error() {
    let run = selvedge(&["check", PASS, "--certificate", "no/such/directory/x.cert"]).expect(2);
    assert!(run.stderr.contains("cannot write the certificate"), "{}", run.stderr);
    assert!(run.stdout.starts_with("PASS"), "{}", run.stdout);
}

#[test]
fn a_converted_history_gets_the_same_verdict() {
    for (verdict, code) in [("pass", 0), ("fail", 1)] {
        for history in examples(verdict) {
            let run = selvedge(&["convert", &history, "--to", "jsonl"]).expect(0);
            assert!(run.stdout.starts_with("{\"selvedge\":\"history\",\"version\":1"), "{}", run.stdout);
            with_input(&["check", "-", "--format", "jsonl"], run.stdout.as_bytes()).expect(code);
            let again = with_input(&["convert", "-", "--to", "jsonl"], run.stdout.as_bytes()).expect(0);
            assert_eq!(again.stdout, run.stdout);
        }
    }
}

#[test]
fn convert_writes_to_a_file() {
    let out = scratch("converted.jsonl");
    let out = out.to_str().unwrap();
    let run = selvedge(&["convert", FAIL, "--to", "jsonl", "-o", out]).expect(0);
    assert_eq!(run.stdout, "");
    selvedge(&["check", out]).expect(1);
    let run = selvedge(&["convert", "no/such.edn", "--to", "jsonl"]).expect(2);
    assert!(run.stderr.starts_with("error: no/such.edn: no such file"), "{}", run.stderr);
    selvedge(&["convert", FAIL, "--to", "jsonl", "-o", "no/such/directory/x.jsonl"]).expect(2);
}

#[test]
fn generated_histories_have_the_verdict_asked_for() {
    for object in ["queue", "stack", "priority-queue", "set", "register"] {
        let args = ["generate", "--object", object, "--operations", "300", "--processes", "3", "--seed", "7"];
        let one = selvedge(&args).expect(0);
        let other = selvedge(&args).expect(0);
        assert_eq!(one.stdout, other.stdout, "{object}: the same seed gives the same history");
        let run = with_input(&["check", "-", "--json"], one.stdout.as_bytes()).expect(0);
        assert_eq!(run.json()["operations"], 300, "{object}");
        assert_eq!(run.json()["object"], object);
        let broken = selvedge(&[&args[..], &["--violation"]].concat()).expect(0);
        with_input(&["check", "-"], broken.stdout.as_bytes()).expect(1);
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let mut command = command(&["generate", "--object", "queue", "--operations", "200000"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::new(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_program_that_was_built_elsewhere_is_tested() {
    let directory = scratch("built-elsewhere");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let source = root().join("examples/c/account.c").canonicalize().unwrap();
    let words = |args: &[&str]| -> Vec<String> {
        selvedge(args).expect(0).stdout.split_whitespace().map(str::to_owned).collect()
    };
    let build = |args: Vec<String>| {
        let run = Command::new("gcc").args(args).current_dir(&directory).output().expect("gcc");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    let source = source.to_str().unwrap().to_owned();
    build([words(&["cflags"]), vec!["-c".into(), source, "-o".into(), "account.o".into()]].concat());
    build([vec!["account.o".into()], words(&["cflags", "--link"]), vec!["-o".into(), "account".into()]].concat());
    let program = directory.join("account");
    let (program, findings) = (program.to_str().unwrap(), directory.join("findings"));
    let findings = findings.to_str().unwrap();
    let document = selvedge(&["test", program, "--json", "--findings", findings]).expect(1).json();
    assert_eq!(document["findings"][0]["kind"], "assertion");
    assert_eq!(document["findings"][0]["line"], 24);
    selvedge(&["replay", document["findings"][0]["path"].as_str().unwrap()]).expect(1);
    let run = selvedge(&["test", program, "--", "-DN=3"]).expect(2);
    assert!(run.stderr.contains("flags for the compiler are of no use"), "{}", run.stderr);
    let run = selvedge(&["test", "/bin/sh"]).expect(2);
    assert!(run.stderr.contains("selvedge cflags"), "{}", run.stderr);
}

/// What is compiled elsewhere is looked through as well: inline assembly, blocks that are cleared inline, and which standard it was compiled by.
#[test]
fn what_is_built_elsewhere_is_looked_through() {
    const SOURCE: &str = r#"
        #include <assert.h>
        #include <pthread.h>
        #include <selvedge.h>
        #include <stdatomic.h>
        #include <stddef.h>
        #include <string.h>
        static struct { int values[16]; } all;
        static int counter, data;
        static atomic_int ready;
        static void *add(void *unused) { __asm__ volatile("incl %0" : "+m"(counter)); return unused; }
        static void *clear(void *unused) { memset(&all, 0, sizeof all); return unused; }
        static void *publish(void *unused) {
            data = 1;
            atomic_store_explicit(&ready, 1, memory_order_release);
            atomic_store_explicit(&ready, 2, memory_order_relaxed);
            return unused;
        }
        static void beside(void *(*work)(void *), void *(*other)(void *)) {
            pthread_t one, two;
            pthread_create(&one, NULL, work, NULL);
            pthread_create(&two, NULL, other, NULL);
            pthread_join(one, NULL);
            pthread_join(two, NULL);
        }
        static void *use(void *unused) {
            if (atomic_load_explicit(&ready, memory_order_acquire) == 2)
                data++;
            return unused;
        }
        SELVEDGE_TEST(adds) { beside(add, add); assert(counter == 2); }
        SELVEDGE_TEST(clears) { beside(clear, clear); }
        SELVEDGE_TEST(publishes) { beside(publish, use); }
    "#;
    for cc in ["gcc", "clang"]
        .into_iter()
        .filter(|cc| *cc == "gcc" || has(has_program(cc), Need::Clang, "only what gcc compiles is looked through"))
    {
        let directory = scratch(&format!("looked-through-{cc}"));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("test.c"), SOURCE).unwrap();
        let words = |args: &[&str]| -> Vec<String> {
            selvedge(args).expect(0).stdout.split_whitespace().map(str::to_owned).collect()
        };
        let build = |args: Vec<String>| {
            let run = Command::new(cc).args(args).current_dir(&directory).output().expect(cc);
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        };
        let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        build([words(&["cflags", "--cc", cc]), plain(&["-c", "test.c", "-o", "test.o"])].concat());
        build([plain(&["test.o"]), words(&["cflags", "--cc", cc, "--link"]), plain(&["-o", "test"])].concat());
        let program = directory.join("test");
        let findings = directory.join("findings");
        let args = ["test", program.to_str().unwrap(), "--json", "--findings", findings.to_str().unwrap()];
        let document = selvedge(&args).expect(1).json();
        let kinds: Vec<&str> =
            document["findings"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["assertion", "data-race"], "{cc}");
    }
}

#[test]
fn doctor_says_what_is_there() {
    let run = selvedge(&["doctor", "--json"]).expect(0);
    let document = run.json();
    assert_eq!(document["usable"], true);
    let c =
        document["findings"].as_array().unwrap().iter().find(|finding| finding["what"] == "tests of C code").unwrap();
    assert_eq!(c["state"], "good", "{c}");
    let mut command = command(&["doctor"]);
    let run = Run::new(command.env("SELVEDGE_RUNTIME", "/nowhere/runtime.so").output().unwrap()).expect(2);
    assert!(run.stdout.contains("missing  runtime"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
}

#[test]
fn completions_pages_and_the_header_are_written() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(selvedge(&["completions", shell]).expect(0).stdout.contains("--preemptions"), "{shell}");
    }
    let directory = scratch("man");
    selvedge(&["man", directory.to_str().unwrap()]).expect(0);
    for page in ["selvedge", "selvedge-check", "selvedge-test", "cargo-selvedge"] {
        let text = std::fs::read_to_string(directory.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    selvedge(&["man", &format!("{PASS}/man")]).expect(2);
    assert!(selvedge(&["header"]).expect(0).stdout.contains("#define SELVEDGE_TEST"));
}

#[test]
fn results_for_continuous_integration_are_written() {
    let path = |name: &str| scratch(name).to_str().unwrap().to_owned();
    let (junit, sarif) = (path("ci.xml"), path("ci.sarif"));
    let run =
        selvedge(&["check", PASS, FAIL, "--junit", &junit, "--sarif", &sarif, "--annotations", "--quiet"]).expect(1);
    assert!(
        run.stderr
            .starts_with(&format!("::error file={FAIL},line=5,title=linearizability%3A overtaken::milk overtook")),
        "{}",
        run.stderr
    );
    assert_eq!(run.stdout.lines().count(), 1, "what passed is not spoken of: {}", run.stdout);
    let text = std::fs::read_to_string(&junit).unwrap();
    assert!(text.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{text}");
    let document: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
    assert_eq!(document["runs"][0]["results"][0]["ruleId"], "overtaken");
    let run = selvedge(&["check", PASS, "--junit", "README.md/results.xml"]).expect(2);
    assert!(run.stderr.contains("README.md/results.xml"), "{}", run.stderr);
}
