//! A list that lives in a static, filled before the search and added to in it: each run finds it as it was.

use std::sync::Mutex;
use std::thread;

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn names_of_all() {
    NAMES.lock().unwrap().push("from before the search".to_string());
    selvedge::explore(|| {
        let add = |name: &'static str| thread::spawn(move || NAMES.lock().unwrap().push(name.repeat(100)));
        let both = [add("one"), add("two")];
        both.into_iter().for_each(|thread| thread.join().unwrap());
        let names = NAMES.lock().unwrap();
        assert_eq!((names.len(), names[0].as_str()), (3, "from before the search"));
    });
}
