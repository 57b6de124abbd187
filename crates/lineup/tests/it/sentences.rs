//! What is said of wrong matrices, shapes, options and files, word by word: these sentences are read by people.

use selvedge_lineup::{CallsError, FileError, Matrix, MatrixError, OptionsError, RelaxedError, ShapeError};
use selvedge_protocol::OptionError;

#[test]
fn errors_say_what_was_expected() {
    let cases: Vec<(Box<dyn std::error::Error>, &str)> = vec![
        (CallsError::None.into(), "expected at least one call"),
        (CallsError::TooMany(1001).into(), "expected at most 1000 calls, found 1001"),
        (CallsError::Twice("pop()".into()).into(), "expected distinct names of calls, found `pop()` twice"),
        (CallsError::Empty.into(), "expected a name for every call, found an empty one"),
        (MatrixError::TooManyThreads(17).into(), "expected at most 16 threads in a matrix, found 17"),
        (MatrixError::TooManyCalls(201).into(), "expected at most 200 calls of one thread, found 201"),
        (
            MatrixError::Parts(4).into(),
            "expected the threads, or calls before, the threads and calls after with `;` between, found 4 parts",
        ),
        (
            MatrixError::Exclusive("pop()".into()).into(),
            "expected only one thread to call pop(), which must not run in parallel",
        ),
        (
            OptionsError::Line(OptionError::Declared("pop()".into())).into(),
            "expected a call and a result such as `pop() -> None` for nondeterministic, found `pop()`",
        ),
        (
            RelaxedError::Nondeterministic("pop()".into()).into(),
            "`pop()` was declared nondeterministic, which is not supported with quasi: the order of operations is relaxed, their results are not",
        ),
        (
            ShapeError::NoCollection.into(),
            "a shape needs calls that put something in (with an argument) and calls that take it out (without)",
        ),
        (FileError::Operation("Take()".into()).into(), "expected operations of the matrix, found Take()"),
        (
            FileError::Nondeterministic.into(),
            "expected serial histories of a deterministic object, found two that contradict each other",
        ),
    ];
    for (error, said) in cases {
        assert_eq!(error.to_string(), said);
    }
    assert_eq!(Matrix::THREADS_MAX, 16);
}
