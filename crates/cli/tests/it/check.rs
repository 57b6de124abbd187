//! `selvedge check`: verdicts, exit codes, several files.

use crate::*;

#[test]
fn the_examples_get_their_verdicts() {
    for example in examples("pass") {
        let run = selvedge(&["check", &example]).expect(0);
        assert!(run.stdout.starts_with(&format!("PASS  {example}: linearizable as a ")), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
    for example in examples("fail") {
        let run = selvedge(&["check", &example]).expect(1);
        assert!(run.stdout.starts_with(&format!("FAIL  {example}: not linearizable as a ")), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn several_files_get_a_line_each_and_the_worst_exit_code() {
    let missing = "examples/histories/none.jsonl";
    for (files, code, lines) in [
        (vec![PASS, PASS], 0, 2),
        (vec![PASS, FAIL], 1, 2),
        (vec![FAIL, PASS], 1, 2),
        (vec![PASS, missing], 2, 1),
        (vec![missing, FAIL, PASS], 2, 2),
    ] {
        let args: Vec<&str> = ["check"].into_iter().chain(files.iter().copied()).collect();
        let run = selvedge(&args).expect(code);
        assert_eq!(run.stdout.lines().count(), lines, "{files:?}: {}", run.stdout);
        assert_eq!(run.stderr.contains(&format!("error: {missing}: no such file")), files.contains(&missing));
        assert!(run.stderr.contains(&format!("{} files: ", files.len())), "{}", run.stderr);
    }
}

#[test]
fn standard_input_is_read() {
    let history = std::fs::read(root().join(FAIL)).unwrap();
    let run = with_input(&["check", "-"], &history).expect(1);
    assert!(run.stdout.starts_with("FAIL  standard input: not linearizable as a queue"), "{}", run.stdout);
    with_input(&["check", "-", PASS], &history).expect(1);
}

#[test]
fn the_object_and_the_format_can_be_named() {
    // A bag hands out its values in any order.
    let run = selvedge(&["check", FAIL, "--object", "bag"]).expect(0);
    assert!(run.stdout.contains("linearizable as a bag"), "{}", run.stdout);
    selvedge(&["check", FAIL, "--format", "jsonl"]).expect(1);
    let run = selvedge(&["check", FAIL, "--format", "limo"]).expect(2);
    assert!(run.stderr.contains(&format!("error: {FAIL}:1")), "{}", run.stderr);
}

#[test]
fn the_initial_value_can_be_given_and_is_hinted_at() {
    let history = b"{\"call\":\"read\",\"thread\":0}\n{\"return\":0,\"thread\":0}\n\
                    {\"call\":\"write\",\"thread\":0,\"value\":5}\n{\"return\":null,\"thread\":0}\n";
    let path = file("initial.jsonl", history);
    let run = selvedge(&["check", &path, "--object", "register"]).expect(1);
    assert!(run.stdout.contains("--initial 0"), "{}", run.stdout);
    selvedge(&["check", &path, "--object", "register", "--initial", "0"]).expect(0);
    let run = selvedge(&["check", &path, "--object", "register", "--initial", "7"]).expect(1);
    assert!(!run.stdout.contains("--initial"), "{}", run.stdout);
    let run = selvedge(&["check", PASS, "--initial", "7"]).expect(2);
    assert!(run.stderr.contains("initial value"), "{}", run.stderr);
}

#[test]
fn colours_are_for_terminals() {
    let run = selvedge(&["check", FAIL]).expect(1);
    assert!(!run.stdout.contains('\x1b'));
    let forced = Run::new(command(&["check", FAIL]).env("CLICOLOR_FORCE", "1").output().unwrap()).expect(1);
    assert!(forced.stdout.contains('\x1b'));
}

#[test]
fn no_line_of_a_report_is_wider_than_a_terminal() {
    for example in examples("fail") {
        let directory = Path::new(&example);
        let short = directory.file_name().unwrap().to_str().unwrap();
        let mut command = command(&["check", short]);
        command.current_dir(root().join(directory.parent().unwrap()));
        let run = Run::new(command.output().unwrap()).expect(1);
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn a_history_in_which_nothing_happened_passes() {
    let path = file(
        "nothing.edn",
        b"{:process 0, :type :invoke, :f :read, :value nil}\n\
                                     {:process 0, :type :fail, :f :read, :value nil}\n",
    );
    let run = selvedge(&["check", &path]).expect(0);
    assert!(run.stdout.contains("linearizable as any object"), "{}", run.stdout);
    assert!(run.stdout.contains("0 operations"), "{}", run.stdout);
    let certificate = scratch("nothing.cert");
    let certificate = certificate.to_str().unwrap();
    selvedge(&["check", &path, "--certificate", certificate]).expect(0);
    selvedge(&["verify", &path, certificate]).expect(0);
}
