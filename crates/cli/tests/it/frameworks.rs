//! Assertions of Catch2, doctest and Boost.Test inside of tests: written as their users write them, with the frameworks as they are installed.

use crate::*;

/// What stands in front of the tests, and how each framework says things.
struct Says {
    need: Need,
    framework: &'static str,
    head: &'static str,
    check: &'static str,
    require: &'static str,
    fails: &'static str,
    warns: &'static str,
    throws: &'static str,
    section: &'static str,
}

fn program(says: &Says) -> String {
    let Says { head, check, require, fails, warns, throws, section, .. } = says;
    let lost = "std::atomic<int> count{0}; auto add = [&] { int was = count; count = was + 1; }; \
                std::thread other(add); add(); other.join();";
    let tests = [
        ("checked", format!("{lost} {check}(count == 2);")),
        ("required", format!("{lost} {require}(count == 2);")),
        ("failed", format!("{lost} if (count != 2) {fails};")),
        (
            "in_a_thread",
            format!(
                "std::atomic<int> count{{0}}; auto look = [&] {{ {check}(++count < 2); }}; std::thread other(look); other.join(); look();"
            ),
        ),
        ("thrown", format!("{throws}(std::to_string(1), int);")),
        (
            "right",
            format!(
                "std::atomic<int> count{{0}}; auto add = [&] {{ count++; {check}(count > 0); }}; add(); \
                           std::thread other(add); other.join(); {require}(count == 2); {throws}(throw 1, int); {warns}"
            ),
        ),
        ("sections", section.to_string()),
    ];
    let body = |(name, text): &(&str, String)| format!("SELVEDGE_TEST({name}) {{\n  {text}\n}}\n");
    format!(
        "{head}\n#include <selvedge.h>\n#include <atomic>\n#include <string>\n#include <thread>\n{}",
        tests.iter().map(body).collect::<String>()
    )
}

/// Whether gcc finds that header.
fn has_header(header: &str) -> bool {
    let file = scratch(&format!("has-{}.cc", header.replace('/', "-")));
    std::fs::write(&file, format!("#if !__has_include(<{header}>)\n#error\n#endif\n")).expect("writable");
    Command::new("gcc").arg("-fsyntax-only").arg(&file).output().is_ok_and(|run| run.status.success())
}

fn agrees(says: &Says, header: &str, flags: &[&str], compilers: &[&str]) {
    if !has(has_cpp() && has_header(header), says.need, says.framework) {
        return;
    }
    let name = says.framework.replace('.', "");
    let path = scratch(&format!("framework-{name}.cc"));
    std::fs::write(&path, program(says)).expect("writable");
    let (path, findings) = (path.to_str().expect("plain").to_owned(), scratch(&format!("framework-{name}-findings")));
    for cc in compilers {
        if *cc == "clang" && !has(has_program("clang"), Need::Clang, says.framework) {
            continue;
        }
        let args = ["test", "--cc", cc, "--findings", findings.to_str().expect("plain"), &path];
        let run = selvedge(&[&args[..], flags].concat()).expect(1);
        let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for failing in ["checked", "required", "failed", "in_a_thread", "thrown"] {
            assert!(run.stdout.contains(&format!("FAIL  {failing}: assertion\n")), "{cc}: {failing}: {}", run.stdout);
        }
        assert!(run.stdout.contains("PASS  right: no violation"), "{cc}: {}", run.stdout);
        assert!(words.contains(&format!("assertion of {} failed at {path}:", says.framework)), "{cc}: {}", run.stdout);
        if !says.section.is_empty() {
            assert!(run.stdout.contains("UNKNOWN  sections: uncontrolled"), "{cc}: {}", run.stdout);
            assert!(words.contains("it needs the runner of the test framework"), "{cc}: {}", run.stdout);
        }
    }
}

#[test]
fn assertions_of_catch2_count() {
    let says = Says {
        need: Need::Catch2,
        framework: "Catch2",
        head: "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>",
        check: "CHECK",
        require: "REQUIRE",
        fails: "FAIL(\"lost \" << count)",
        warns: "CHECK_NOFAIL(count == 3); CHECK_FALSE(count == 3); INFO(\"said\"); REQUIRE_NOTHROW(std::to_string(1)); CHECK_THAT(\"abc\", Catch::Contains(\"b\"));",
        throws: "REQUIRE_THROWS_AS",
        section: "SECTION(\"one\") { CHECK(true); }",
    };
    agrees(&says, "catch2/catch.hpp", &[], &["gcc"]);
}

#[test]
fn assertions_of_doctest_count() {
    let says = Says {
        need: Need::Doctest,
        framework: "doctest",
        head: "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n#include <doctest/doctest.h>",
        check: "CHECK",
        require: "REQUIRE",
        fails: "FAIL_CHECK(\"lost \" << count)",
        warns: "WARN(count == 3); MESSAGE(\"said\"); INFO(\"more\"); CHECK_FALSE(count == 3); CHECK_EQ(count, 2);",
        throws: "REQUIRE_THROWS_AS",
        section: "SUBCASE(\"one\") { CHECK(true); }",
    };
    agrees(&says, "doctest/doctest.h", &[], &["gcc", "clang"]);
    agrees(&says, "doctest/doctest.h", &["--", "-O2"], &["gcc", "clang"]);
}

#[test]
fn assertions_of_boost_test_count() {
    let head = |form: &str| format!("#define BOOST_TEST_MODULE counts\n{form}");
    let included = head("#include <boost/test/included/unit_test.hpp>").leak();
    let says = Says {
        need: Need::BoostTest,
        framework: "Boost.Test",
        head: included,
        check: "BOOST_TEST",
        require: "BOOST_REQUIRE",
        fails: "BOOST_ERROR(\"lost\")",
        warns: "BOOST_WARN(count == 3); BOOST_CHECK_EQUAL(count, 2);",
        throws: "BOOST_REQUIRE_THROW",
        section: "",
    };
    agrees(&says, "boost/test/included/unit_test.hpp", &[], &["gcc"]);
    let shared = head("#define BOOST_TEST_DYN_LINK\n#include <boost/test/unit_test.hpp>").leak();
    let says = Says { head: shared, ..says };
    agrees(&says, "boost/test/included/unit_test.hpp", &["--", "-O2", "-lboost_unit_test_framework"], &["gcc"]);
}
