//! The test under selvedge: ordinary types, nothing swapped.

mod queue {
    compare_queue::michael_scott!(std::sync, std::thread);
}

#[test]
fn michael_scott() {
    selvedge::explore(queue::test);
}
