//! What a run sets in the environment is not there in the next.

use std::env;
use std::thread;

#[test]
fn variables() {
    unsafe { env::set_var("KEPT_FROM_BEFORE", "before") };
    selvedge::explore(|| {
        assert_eq!(env::var("KEPT_FROM_BEFORE").as_deref(), Ok("before"));
        assert!(env::var("NEW_IN_THE_RUN").is_err());
        unsafe {
            env::set_var("NEW_IN_THE_RUN", "in the run");
            env::remove_var("KEPT_FROM_BEFORE");
        }
        let seen = thread::spawn(|| env::var("NEW_IN_THE_RUN")).join().unwrap();
        assert_eq!(seen.as_deref(), Ok("in the run"));
    });
}
