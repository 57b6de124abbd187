//! Histories whose verdict is known by hand, in the notation of `notation`.

use selvedge_history::object::Kind::{self, *};

use crate::agree;
use crate::notation::Draft;

const PASS: bool = true;
const FAIL: bool = false;

const COLLECTIONS: &[(Kind, bool, &str)] = &[
    (Queue, PASS, "A enq 1; A ->; A enq 2; A ->; B deq; B -> 1; B deq; B -> 2; B deq; B ->"),
    (Queue, PASS, "A enq 1; B enq 2; A ->; B ->; A deq; A -> 2; A deq; A -> 1"),
    (Queue, PASS, "A enq 1; B deq; B -> 1"),
    (Queue, PASS, "A enq 1; A ?; A deq; A -> 1; A deq; A ->"),
    (Queue, PASS, "A enq 7; A ->; B deq; B ?; A deq; A ->"),
    (Queue, PASS, "A enq 1; A ->; B peek; A deq; A -> 1; B ->"),
    (Queue, PASS, "A q.enq 1; A ->; A r.enq 2; A ->; B r.deq; B -> 2; B q.deq; B -> 1"),
    (Queue, FAIL, "A enq 2; A ->; A deq; A ->"),
    (Queue, FAIL, "A enq 1; A ->; A enq 2; A ->; B deq; B -> 2"),
    (Queue, FAIL, "A enq 1; A ->; B deq; C deq; B -> 1; C -> 1"),
    (Queue, FAIL, "A deq; A -> 1; A enq 1; A ->"),
    (Queue, FAIL, "A enq 1; A ->; B deq; A enq 2; A ->; A deq; A -> 1; B ->"),
    (Queue, FAIL, "A enq 1; A ->; A deq; A ?; B enq 2; B ->; B deq; B -> 2; B deq; B -> 1"),
    (Queue, FAIL, "A q.enq 1; A ->; A r.deq; A -> 1"),
    (Queue, FAIL, "A enq 1; A ->; A deq; #"),
    (Stack, PASS, "A push 1; A ->; A push 2; A ->; B pop; B -> 2; B pop; B -> 1; B pop; B ->"),
    (Stack, PASS, "A push 1; B push 2; A ->; B ->; A pop; A -> 1; A pop; A -> 2"),
    (Stack, PASS, "A push 1; A ->; B pop; C push 2; C ->; B -> 1"),
    (Stack, PASS, "A push 1; A ->; B pop; B ?; A top; A ->"),
    (Stack, FAIL, "A push 1; A ->; A push 2; A ->; B pop; B -> 1"),
    (Stack, FAIL, "A push 1; A ->; A top; A ->"),
    (Stack, FAIL, "A push 1; A ->; A pop; A -> 1; A top; A -> 1"),
    (Stack, FAIL, "A push 1; A ->; A push 2; A ->; B pop; C push 3; C ->; B -> 1"),
    (Deque, PASS, "A push_front 1; A ->; A push_back 2; A ->; B pop_front; B -> 1; B pop_back; B -> 2"),
    (Deque, PASS, "A push_front 1; A ->; A push_front 2; A ->; B pop_back; B -> 1; B peek_back; B -> 2"),
    (Deque, PASS, "A push_back 1; A ->; B pop_front; C pop_back; B ->; C -> 1"),
    (Deque, FAIL, "A push_front 1; A ->; A push_back 2; A ->; B pop_front; B -> 2"),
    (Deque, FAIL, "A push_back 1; A ->; B pop_front; C pop_back; B -> 1; C -> 1"),
    (Deque, FAIL, "A push_front 1; A ->; A peek_back; A ->"),
    (PriorityQueue, PASS, "A insert 1; A ->; A insert 3; A ->; A insert 2; A ->; B poll; B -> 3; B poll; B -> 2"),
    (PriorityQueue, PASS, "A insert 3; B insert 1; B ->; B poll; B -> 1; A ->; A peek; A -> 3"),
    (PriorityQueue, PASS, "A insert 2; A ->; A insert 2; A ->; B poll; C poll; B -> 2; C -> 2"),
    (PriorityQueue, PASS, r#"A insert "ab"; A ->; A insert "b"; A ->; A poll; A -> "b""#),
    (PriorityQueue, FAIL, "A insert 1; A ->; A insert 3; A ->; B poll; B -> 1"),
    (PriorityQueue, FAIL, "A poll; A -> 5; A insert 5; A ->"),
    (PriorityQueue, FAIL, "A insert 1; A ->; A insert 10; A ->; A poll; A ->"),
    (PriorityQueue, FAIL, r#"A insert "10"; A ->; A insert "9"; A ->; A poll; A -> "10""#),
    (PriorityQueueMin, PASS, "A insert 10; A ->; A insert 9; A ->; B poll; B -> 9; B poll; B -> 10; B poll; B ->"),
    (PriorityQueueMin, PASS, "A insert 1; B insert 3; B ->; B poll; B -> 3; A ->; A peek; A -> 1"),
    (PriorityQueueMin, PASS, "A insert 1; A ->; B poll; B ?; A insert 2; A ->; A poll; A -> 2"),
    (PriorityQueueMin, FAIL, "A insert 1; A ->; A insert 3; A ->; B poll; B -> 3"),
    (PriorityQueueMin, FAIL, "A insert 1; A ->; B insert 3; B ->; B poll; A poll; B -> 3; A ->"),
    (PriorityQueueMin, FAIL, "A insert 2; A ->; B poll; C poll; B -> 2; C -> 2"),
    (Set, PASS, "A add 1; A -> true; A add 1; A -> false; A remove 1; A -> true; A contains 1; A -> false"),
    (Set, PASS, "A add 1; B contains 1; C contains 1; B -> false; C -> true; A -> true"),
    (Set, PASS, "A add 1; A ->; A add 2; A ->; B remove 1; B ->; B contains 2; B -> true"),
    (Set, PASS, "A add 1; A ?; B contains 1; B -> false; B contains 1; B -> true"),
    (Set, FAIL, "A add 1; B contains 1; B -> true; B contains 1; B -> false; A -> true"),
    (Set, FAIL, "A add 1; B add 1; A -> true; B -> true"),
    (Set, FAIL, "A remove 1; A -> true; A add 1; A -> true"),
    (Set, FAIL, "A add 1; A ->; A contains 2; A -> true"),
    (Bag, PASS, "A add 1; A ->; A add 2; A ->; B remove; B -> 2; B remove; B -> 1; B remove; B ->"),
    (Bag, PASS, "A add 1; A ->; A add 1; A ->; B remove; C remove; B -> 1; C -> 1"),
    (Bag, PASS, "A add 1; A ->; A add 2; A ->; B remove; B ?; A contains 1; A -> false; A contains 2; A -> true"),
    (Bag, PASS, "A add 1; A ->; A add 2; A ->; B remove; B ?; A contains 2; A -> false; A contains 1; A -> true"),
    (Bag, FAIL, "A add 1; A ->; B remove; C remove; B -> 1; C -> 1"),
    (Bag, FAIL, "A add 1; A ->; B remove; B ->"),
    (Bag, FAIL, "A add 1; A ->; A add 2; A ->; B remove; B ?; A contains 1; A -> false; A contains 2; A -> false"),
    (Bag, FAIL, "A remove; A -> 1; A add 1; A ->"),
];

const VALUES: &[(Kind, bool, &str)] = &[
    (Map, PASS, r#"A get@k; A -> ""; A append@k "x"; A ->; A append@k "y"; A ->; B get@k; B -> "xy""#),
    (Map, PASS, r#"A append@k "x"; B append@k "y"; A ->; B ->; A get@k; A -> "yx""#),
    (Map, PASS, "A put@k 1; A ->; B put@l 2; B ->; A get@k; A -> 1; A remove@k; A -> 1; A get@k; A ->"),
    (Map, PASS, "A put@k 1; A ->; A remove@k; A -> true; A remove@k; A -> false; A remove@k; A ->"),
    (Map, PASS, "A put@k false; A ->; A remove@k; A -> false; A contains@k; A -> false"),
    (Map, PASS, r#"A put ["k",1]; A ->; B get "k"; B -> 1; B get "l"; B ->"#),
    (Map, PASS, r#"A put@k 1; A ->; A append@k "x"; #"#),
    (Map, FAIL, r#"A append@k "x"; A ->; A append@k "y"; A ->; B get@k; B -> "yx""#),
    (Map, FAIL, r#"A append@k "x"; A ->; B get@k; B -> """#),
    (Map, FAIL, "A put@k 1; A ->; A put@l 2; A ->; A get@k; A -> 2"),
    (Map, FAIL, "A put@k 1; A ->; A remove@k; A -> false"),
    (Map, FAIL, "A put@k 1; A ->; A take@k; A ->"),
    (Map, FAIL, r#"A put ["k",1]; A ->; B get "k"; B ->"#),
    (Map, FAIL, r#"A put@k 1; A ->; A append@k "x"; A ->"#),
    (Register, PASS, "A read; A ->; A write 1; A ->; B read; B -> 1"),
    (Register, PASS, "A write 1; A ->; A write 2; B read; B -> 1; B read; B -> 2; A ->"),
    (Register, PASS, "= 0; A read; A -> 0; B write 1; B ?; A read; A -> 0; A read; A -> 1"),
    (Register, PASS, "A write@x 1; A ->; A write@y 2; A ->; B read@x; B -> 1; B read@y; B -> 2"),
    (Register, FAIL, "A write 1; A ->; A write 2; A ->; B read; B -> 1"),
    (Register, FAIL, "A write 1; A ->; A write 2; B read; B -> 2; B read; B -> 1; A ->"),
    (Register, FAIL, "A write 1; A ->; B read; B ->"),
    (Register, FAIL, "= 0; A read; A ->"),
    (Register, FAIL, "B write 1; B ?; A read; A -> 1; A read; A ->"),
    (CasRegister, PASS, "A write 1; A ->; A cas [1,2]; A -> true; B cas [1,3]; B -> false; B read; B -> 2"),
    (CasRegister, PASS, "A write 1; A ->; B cas [1,2]; C cas [2,3]; B ->; C ->; A read; A -> 3"),
    (CasRegister, PASS, "A cas [null,5]; A ->; A read; A -> 5"),
    (CasRegister, PASS, "A write 1; A ->; B cas [1,2]; B ?; A read; A -> 1; A read; A -> 2"),
    (CasRegister, PASS, "A write 1; A ->; B cas [1,2]; B x; A read; A -> 1"),
    (CasRegister, FAIL, "A write 1; A ->; B cas [1,2]; C cas [1,3]; B -> true; C -> true"),
    (CasRegister, FAIL, "A write 1; A ->; A cas [1,2]; A -> false"),
    (CasRegister, FAIL, "A write 1; A ->; B cas [1,2]; B x; A read; A -> 2"),
    (CasRegister, FAIL, "A cas [1,2]; A ->"),
    (
        MultiRegister,
        PASS,
        r#"A txn [["write","x",1],["write","y",1]]; B txn [["read","x",null],["read","y",null]];
           B -> [["read","x",7],["read","y",8]]; A -> [["write","x",1],["write","y",1]]"#,
    ),
    (
        MultiRegister,
        PASS,
        r#"A txn [["read","x",null]]; A -> [["read","x",5]]; A txn [["write","x",1],["read","x",null]];
           A -> [["write","x",1],["read","x",1]]"#,
    ),
    (
        MultiRegister,
        PASS,
        r#"A txn [["read","x",null]]; B txn [["write","x",5]]; C txn [["read","x",null]];
           A -> [["read","x",5]]; B ->; C -> [["read","x",7]]"#,
    ),
    (
        MultiRegister,
        PASS,
        r#"B txn [["read","x",null],["write","y",2]]; B ?; A txn [["read","y",null]]; A -> [["read","y",2]];
           A txn [["read","x",null]]; A -> [["read","x",9]]"#,
    ),
    (
        MultiRegister,
        FAIL,
        r#"= 0; A txn [["write","x",1],["write","y",1]]; B txn [["read","x",null],["read","y",null]];
           A -> [["write","x",1],["write","y",1]]; B -> [["read","x",1],["read","y",0]]"#,
    ),
    (
        MultiRegister,
        FAIL,
        r#"A txn [["read","x",null]]; B txn [["read","x",null]]; A -> [["read","x",5]]; B -> [["read","x",7]]"#,
    ),
    (MultiRegister, FAIL, r#"= 0; A txn [["read","x",null]]; A -> [["read","x",5]]"#),
    (MultiRegister, FAIL, r#"A txn [["write","x",1]]; A ->; A txn [["read","x",null]]; A -> [["read","x",null]]"#),
    (Counter, PASS, "A inc; B inc; A ->; B ->; A get; A -> 2"),
    (Counter, PASS, "A fetch_add 5; B get; B -> 5; A -> 0"),
    (Counter, PASS, "= 10; A dec; A ?; B get; B -> 10; B get; B -> 9"),
    (Counter, PASS, "A increment_and_get; B increment_and_get; A -> 2; B -> 1"),
    (Counter, FAIL, "A inc; B inc; A ->; B ->; A get; A -> 1"),
    (Counter, FAIL, "A increment_and_get; B increment_and_get; A -> 1; B -> 1"),
    (Counter, FAIL, "A fetch_add 5; A -> 5"),
    (Counter, FAIL, "A inc; A ?; B get; B -> 1; B get; B -> 0"),
    (Counter, FAIL, "A inc; #"),
];

const LOCKS: &[(Kind, bool, &str)] = &[
    (Mutex, PASS, "A acquire; A ->; B acquire; A release; A ->; B ->"),
    (Mutex, PASS, "A acquire; A ->; B try_acquire; B -> false; B release; B ->; B try_acquire; B -> true"),
    (Mutex, PASS, "A acquire; A ->; B release; B ?; C acquire; C ->"),
    (Mutex, PASS, "A acquire; A ->; B acquire; C acquire; #"),
    (Mutex, PASS, "A release; #"),
    (Mutex, FAIL, "A acquire; A ->; B acquire; B ->"),
    (Mutex, FAIL, "A release; A ->"),
    (Mutex, FAIL, "A acquire; A ->; A release; A ->; B try_acquire; B -> false"),
    (Mutex, FAIL, "A acquire; A ->; A release; A ->; B acquire; #"),
    (Mutex, FAIL, "A acquire; A ->; B acquire; C release; #"),
    (
        RwLock,
        PASS,
        "A read_lock; A ->; B read_lock; B ->; A read_unlock; A ->; B read_unlock; B ->; A write_lock; A ->",
    ),
    (
        RwLock,
        PASS,
        "A write_lock; A ->; B try_read_lock; B -> false; A write_unlock; A ->; B try_write_lock; B -> true",
    ),
    (RwLock, PASS, "A read_lock; A ->; B write_lock; #"),
    (RwLock, PASS, "A write_lock; A ->; B read_lock; C write_lock; D read_unlock; #"),
    (RwLock, FAIL, "A read_lock; A ->; B write_lock; B ->"),
    (RwLock, FAIL, "A write_lock; A ->; B read_lock; B ->; A write_unlock; A ->"),
    (RwLock, FAIL, "A read_lock; A ->; B try_read_lock; B -> false"),
    (RwLock, FAIL, "A read_lock; A ->; A write_unlock; A ->"),
    (RwLock, FAIL, "A read_lock; A ->; B read_lock; #"),
    (Semaphore, PASS, "A acquire; A ->; B acquire; A release; A ->; B ->"),
    (Semaphore, PASS, "= 2; A acquire; A ->; B acquire; B ->; C try_acquire; C -> false"),
    (Semaphore, PASS, "A release; A ->; A acquire; A ->; A acquire; A ->; A acquire; #"),
    (Semaphore, PASS, "= 0; A acquire; B acquire; #"),
    (Semaphore, FAIL, "A acquire; A ->; B acquire; B ->"),
    (Semaphore, FAIL, "= 2; A acquire; A ->; B try_acquire; B -> false"),
    (Semaphore, FAIL, "= 0; A acquire; A ->; B release; B ->"),
    (Semaphore, FAIL, "= 2; A acquire; A ->; B acquire; #"),
];

#[test]
fn every_case_has_its_verdict() {
    for (kind, verdict, text) in [COLLECTIONS, VALUES, LOCKS].concat() {
        let draft = Draft::parse(text);
        assert_eq!(agree::decide(&draft, kind), verdict, "{kind}: {draft}");
    }
}

#[test]
fn every_object_has_cases_of_both_verdicts() {
    for kind in Kind::ALL {
        let count = |verdict| {
            let cases = [COLLECTIONS, VALUES, LOCKS].concat();
            cases.iter().filter(|case| case.0 == kind && case.1 == verdict).count()
        };
        assert!(count(PASS) >= 3 && count(FAIL) >= 3, "{kind}: {} pass, {} fail", count(PASS), count(FAIL));
    }
}
