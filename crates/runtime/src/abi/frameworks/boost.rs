//! Boost.Test: every macro that asserts something ends in `report_assertion`.

use std::ffi::c_char;

use selvedge_protocol::Framework;

use super::{Replacement, failed};

/// What is replaced. The name is that of the versions from 1.59 on.
pub const REPLACED: [Replacement; 1] =
    [("_ZN5boost10test_tools9tt_detail16report_assertionERKNS0_16assertion_resultE", report)];

crate::hidden_entry!(report => report_at);

/// `CHECK` and `REQUIRE`; the others are a warning and a success.
const FAILURES: [usize; 2] = [1, 2];

/// The result begins with whether the assertion holds. What was asserted would be written by a virtual function, and is in the line that is shown.
///
/// The name of the file is a `basic_cstring`, two pointers. Where the version of Boost declares how to copy one, a pointer to it is passed; else both are, and what follows
/// comes one argument later. A line is no address.
unsafe extern "C" fn report_at(
    result: *const u8,
    _description: usize,
    file: *const c_char,
    end_or_line: usize,
    line_or_level: usize,
    level: usize,
) -> bool {
    let is_apart = u32::try_from(end_or_line).is_err();
    let (line, level) = if is_apart { (line_or_level, level) } else { (end_or_line, line_or_level) };
    // SAFETY: Boost's objects; of a level 32 bits count.
    let (holds, file) = unsafe { (*result != 0, if is_apart { file } else { file.cast::<*const c_char>().read() }) };
    if !holds && FAILURES.contains(&(level & 0xffff_ffff)) {
        failed(Framework::BoostTest, file, line as i64, "");
    }
    holds
}
