//! What a run sets in the environment is not there in the next.

use std::env;
use std::thread;

#[test]
fn variables() {
    unsafe { env::set_var("SELVEDGE_BOUNDARY_KEPT", "before") };
    selvedge::explore(|| {
        assert_eq!(env::var("SELVEDGE_BOUNDARY_KEPT").as_deref(), Ok("before"));
        assert!(env::var("SELVEDGE_BOUNDARY_NEW").is_err());
        unsafe {
            env::set_var("SELVEDGE_BOUNDARY_NEW", "in the run");
            env::remove_var("SELVEDGE_BOUNDARY_KEPT");
        }
        let seen = thread::spawn(|| env::var("SELVEDGE_BOUNDARY_NEW")).join().unwrap();
        assert_eq!(seen.as_deref(), Ok("in the run"));
    });
}
