//! What a run sets in the environment is not there in the next.

use std::env;
use std::thread;

#[test]
fn variables() {
    unsafe { env::set_var("kept_from_before", "before") };
    selvedge::explore(|| {
        assert_eq!(env::var("kept_from_before").as_deref(), Ok("before"));
        assert!(env::var("new_in_the_run").is_err());
        unsafe {
            env::set_var("new_in_the_run", "in the run");
            env::remove_var("kept_from_before");
        }
        let seen = thread::spawn(|| env::var("new_in_the_run")).join().unwrap();
        assert_eq!(seen.as_deref(), Ok("in the run"));
    });
}
