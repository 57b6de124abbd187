//! Everything that decides a history against the brute force.

use selvedge_history::certificate::{Certificate, Claim};
use selvedge_history::check::check;
use selvedge_history::object::Kind;
use selvedge_history::verify::verify;
use selvedge_history::{Budget, Log, Verdict};

use crate::notation::Draft;
use crate::specs::{self, Pure};
use crate::{brute, random};

/// How many histories of each object the differential tests draw.
fn histories() -> u64 {
    let number = std::env::var("SELVEDGE_HISTORIES").ok();
    number.map_or(2_000, |number| number.parse().expect("SELVEDGE_HISTORIES is a number"))
}

/// Every way of the library to decide the log; panics unless each says what the brute force says.
pub fn agree(log: &Log, kind: Kind, linearizable: bool) {
    let by_specification = |pure| specs::linearizable(log, kind, pure);
    assert_eq!(by_specification(Pure::Ignored), linearizable, "the specification under a plain search");
    assert_eq!(by_specification(Pure::Eager), linearizable, "the specification, pure operations first");
    agree_with_evidence(log, kind, linearizable);
}

/// The front door says so too, and the verifier believes its evidence, also after it was written down and read again.
fn agree_with_evidence(log: &Log, kind: Kind, linearizable: bool) {
    let answer = check(log, kind, None, &Budget::new()).expect("the log fits the object");
    let claim = match answer.verdict {
        Verdict::Pass(linearizations) => Claim::Pass { linearizations },
        Verdict::Fail(failure) => Claim::Fail { failure },
        Verdict::Unknown(limit) => panic!("no limit was set, and yet {limit}"),
    };
    let passes = matches!(claim, Claim::Pass { .. });
    assert_eq!(passes, linearizable, "the checker {:?}: {claim:?}", answer.algorithms);
    let certificate = Certificate::new(kind.name(), None, log.history.len() as u64, claim);
    let written = serde_json::to_string(&certificate).expect("a certificate is plain data");
    let read: Certificate = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(read, certificate);
    let verified = verify(log, &read, &Budget::new());
    assert_eq!(verified, Verdict::Pass(()), "evidence of {:?}: {written}", answer.algorithms);
}

/// The verdict of the brute force, after everything else agreed with it. Where it does not, the history is printed in
/// the notation of `notation`, from which it can become a case.
pub fn decide(draft: &Draft, kind: Kind) -> bool {
    let log = draft.log();
    let linearizable = brute::linearizable(&log, kind);
    let agreed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| agree(&log, kind, linearizable)));
    if let Err(panic) = agreed {
        let verdict = if linearizable { "pass" } else { "fail" };
        eprintln!("{kind}: brute force says {verdict} of\n  {draft}");
        std::panic::resume_unwind(panic);
    }
    linearizable
}

/// Draws histories of a kind and has everything agree on them.
fn agree_on_random_histories(kind: Kind) {
    let total = histories();
    let mut counts = Counts::default();
    for seed in 0..total {
        let draft = random::draft(kind, seed);
        let verdict = std::panic::catch_unwind(|| decide(&draft, kind)).unwrap_or_else(|panic| {
            eprintln!("{kind}: seed {seed}");
            std::panic::resume_unwind(panic)
        });
        counts.add(&draft, verdict);
    }
    println!("{kind}: {counts:?}");
    let enough = total / 10;
    assert!(counts.pass > enough && counts.fail > enough, "{kind}: too few of one verdict: {counts:?}");
}

/// How many histories of each sort had which verdict.
#[derive(Debug, Default)]
struct Counts {
    pass: u64,
    fail: u64,
    pending_pass: u64,
    pending_fail: u64,
    stuck_pass: u64,
    stuck_fail: u64,
}

impl Counts {
    fn add(&mut self, draft: &Draft, verdict: bool) {
        let pick = |verdict, pass, fail| if verdict { pass } else { fail };
        *pick(verdict, &mut self.pass, &mut self.fail) += 1;
        if draft.stuck {
            *pick(verdict, &mut self.stuck_pass, &mut self.stuck_fail) += 1;
        } else if draft.pending() > 0 {
            *pick(verdict, &mut self.pending_pass, &mut self.pending_fail) += 1;
        }
    }
}

macro_rules! agree_on {
    ($($name:ident: $kind:ident,)*) => {$(
        #[test]
        fn $name() {
            agree_on_random_histories(Kind::$kind);
        }
    )*};
}

agree_on! {
    agree_on_queues: Queue,
    agree_on_stacks: Stack,
    agree_on_deques: Deque,
    agree_on_priority_queues: PriorityQueue,
    agree_on_priority_queues_min: PriorityQueueMin,
    agree_on_sets: Set,
    agree_on_bags: Bag,
    agree_on_maps: Map,
    agree_on_registers: Register,
    agree_on_cas_registers: CasRegister,
    agree_on_multi_registers: MultiRegister,
    agree_on_counters: Counter,
    agree_on_mutexes: Mutex,
    agree_on_rwlocks: RwLock,
    agree_on_semaphores: Semaphore,
}
