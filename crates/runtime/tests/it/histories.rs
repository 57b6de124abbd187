//! The reduction loses no history: what it sees is what plain depth-first search sees.

use selvedge_driver::{CoverageRecord, Search, Settings, TestReport};

use crate::build::{build, root, scratch, session, settings};

#[test]
fn reduced_and_plain_search_see_the_same_histories() {
    let directory = scratch("histories");
    let program = build(&root().join("crates/runtime/tests/programs/operations.c"), &[], &directory);
    let see = |search| -> Vec<TestReport> {
        let settings = Settings { histories: true, ..settings(search) };
        session(&program, &settings, &directory).report.tests
    };
    let (all, reduced) = (see(Search::Dfs), see(Search::Dpor));
    assert_eq!(all.len(), 2);
    for (all, reduced) in all.iter().zip(&reduced) {
        assert_eq!((all.coverage, reduced.coverage), (CoverageRecord::Exhaustive, CoverageRecord::Exhaustive));
        assert!(all.histories > 3, "{}", all.histories);
        assert_eq!(all.history_texts, reduced.history_texts, "{}", all.test);
        assert!(reduced.runs < all.runs && reduced.redundant == 0, "{} of {} runs", reduced.runs, all.runs);
        println!("{}: {} histories, {} runs reduced, {} plain", all.test, all.histories, reduced.runs, all.runs);
    }
}
