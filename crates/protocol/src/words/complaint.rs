//! What the runtime says on standard error where there is no report to say it in.

use std::fmt;

/// Why the process of a test says something itself.
#[derive(Clone, Copy, Debug)]
pub enum Complaint<'a> {
    /// The settings cannot be read.
    Settings(&'a str),
    /// The report cannot be written.
    Report(&'a std::io::Error),
    /// A program that holds tests was started by hand.
    HoldsTests,
    /// Libc lacks a function.
    NoFunction(&'a str),
    /// There is no memory to put things back with.
    NoMemory,
    /// The system does not hand over system calls.
    NoSystemCalls,
    /// Where libc keeps what belongs to a thread is not known.
    UnknownLibc,
    /// Something was freed before the first run that is no block.
    BadFree,
    /// An assumption does not hold, outside of a run.
    Assumption,
    /// The process waits for a debugger.
    Stopped(i64),
}

impl fmt::Display for Complaint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("selvedge: ")?;
        match self {
            Complaint::Settings(error) => write!(f, "the settings could not be read: {error}")?,
            Complaint::Report(error) => write!(f, "the report could not be written: {error}")?,
            Complaint::HoldsTests => f.write_str("this program holds tests; run it with `selvedge test`")?,
            Complaint::NoFunction(name) => {
                write!(f, "libc and the shared libstdc++ lack a function that this program needs: {name}")?;
            }
            Complaint::NoMemory => f.write_str("no memory to put libraries back between runs")?,
            Complaint::NoSystemCalls => {
                f.write_str("this system hands over no system calls: all memory is put back, which takes longer")?;
            }
            Complaint::UnknownLibc => {
                f.write_str("where this libc keeps what belongs to a thread is not known, so it cannot be put back between runs")?;
            }
            Complaint::BadFree => f.write_str("free of memory that is not allocated, before the first run")?,
            Complaint::Assumption => {
                f.write_str(
                    "an assumption (selvedge_assume) does not hold outside of a test, where no run can be left out",
                )?;
            }
            Complaint::Stopped(process) => {
                write!(f, "stopped at the failing step, process {process}; attach a debugger: gdb -p {process}")?;
            }
        }
        f.write_str("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_who_complains() {
        let full = std::io::Error::other("no space left");
        for (complaint, said) in [
            (Complaint::Settings("it is empty"), "the settings could not be read: it is empty"),
            (Complaint::Report(&full), "the report could not be written: no space left"),
            (
                Complaint::Assumption,
                "an assumption (selvedge_assume) does not hold outside of a test, where no run can be left out",
            ),
            (Complaint::HoldsTests, "this program holds tests; run it with `selvedge test`"),
            (
                Complaint::NoFunction("open"),
                "libc and the shared libstdc++ lack a function that this program needs: open",
            ),
            (Complaint::NoMemory, "no memory to put libraries back between runs"),
            (
                Complaint::NoSystemCalls,
                "this system hands over no system calls: all memory is put back, which takes longer",
            ),
            (
                Complaint::UnknownLibc,
                "where this libc keeps what belongs to a thread is not known, so it cannot be put back between runs",
            ),
            (Complaint::BadFree, "free of memory that is not allocated, before the first run"),
            (Complaint::Stopped(7), "stopped at the failing step, process 7; attach a debugger: gdb -p 7"),
        ] {
            assert_eq!(complaint.to_string(), format!("selvedge: {said}\n"));
        }
    }
}
