//! What is said of plain accesses that are steps.

/// Of those in these lines, where so many runs were made before all of them were known.
pub fn plain_steps(lines: &str, runs_before: &str) -> String {
    format!(
        "plain accesses that race or that a loop waits for are steps, each made at once and in one order for all threads, which the language \
         does not promise: {lines} (known after {runs_before}, which do not count)"
    )
}
