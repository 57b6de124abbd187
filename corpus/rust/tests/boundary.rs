//! The programs of `corpus/boundary` in Rust, one module each.

#[path = "../../boundary/crash/aborts.rs"]
mod crash_aborts;
#[path = "../../boundary/crash/killed_by_itself.rs"]
mod crash_killed_by_itself;
#[path = "../../boundary/crash/leaves_by_exit.rs"]
mod crash_leaves_by_exit;
#[path = "../../boundary/data-race/before_the_byte.rs"]
mod data_race_before_the_byte;
#[path = "../../boundary/data-race/static_counter.rs"]
mod data_race_static_counter;
#[path = "../../boundary/lost-wakeup/bell_without_state.rs"]
mod lost_wakeup_bell_without_state;
#[path = "../../boundary/lost-wakeup/one_too_few.rs"]
mod lost_wakeup_one_too_few;
#[path = "../../boundary/lost-wakeup/own_sender.rs"]
mod lost_wakeup_own_sender;
#[path = "../../boundary/memory-limit/hoards.rs"]
mod memory_limit_hoards;
#[path = "../../boundary/panic/guard_that_panics.rs"]
mod panic_guard_that_panics;
#[path = "../../boundary/panic/poisoned.rs"]
mod panic_poisoned;
#[path = "../../boundary/panic/seventieth.rs"]
mod panic_seventieth;
#[path = "../../boundary/panic/too_late_for_message.rs"]
mod panic_too_late_for_message;
#[path = "../../boundary/pass/caught.rs"]
mod pass_caught;
#[path = "../../boundary/pass/deadline_of_channel.rs"]
mod pass_deadline_of_channel;
#[path = "../../boundary/pass/in_order.rs"]
mod pass_in_order;
#[path = "../../boundary/pass/last_one_out.rs"]
mod pass_last_one_out;
#[path = "../../boundary/pass/made_once.rs"]
mod pass_made_once;
#[path = "../../boundary/pass/names_of_all.rs"]
mod pass_names_of_all;
#[path = "../../boundary/pass/nobody_waits.rs"]
mod pass_nobody_waits;
#[path = "../../boundary/pass/one_leader.rs"]
mod pass_one_leader;
#[path = "../../boundary/pass/scoped.rs"]
mod pass_scoped;
#[path = "../../boundary/pass/through_a_socket.rs"]
mod pass_through_a_socket;
#[path = "../../boundary/pass/variables.rs"]
mod pass_variables;
#[path = "../../boundary/uncontrolled/endless_digits.rs"]
mod uncontrolled_endless_digits;
#[path = "../../boundary/uncontrolled/keeps_a_log.rs"]
mod uncontrolled_keeps_a_log;
