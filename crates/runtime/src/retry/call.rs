//! Which function of the runtime the code under test is about to call, and what of its arguments counts.

use std::sync::OnceLock;

use crate::abi::atomic::Operation;
use crate::abi::{atomic as a, plain as p};
use crate::arch::{assembly, unseen};
use crate::posix::{c11, thread};

/// What a function of the runtime does to the thread that calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// An atomic load of so many bytes.
    Load(u8),
    /// A compare and exchange; the expected value behind a pointer.
    Exchange(u8),
    /// A compare and exchange; the expected value as an argument, the value found as the result.
    ExchangeValue(u8),
    /// A plain read is announced.
    Read(u8),
    /// A plain write is announced.
    Write(u8),
    /// Nothing that matters here.
    Ignored,
    /// The access that comes next is looked at; every register is kept.
    Looked,
    /// Inline assembly comes next; every register is kept.
    Assembly,
    /// An atomic update of so many bytes.
    Update(u8, Operation),
    /// The thread offers to give up its turn.
    Yields,
    /// Anything else.
    Other(u64),
}

/// A call that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// What is called.
    pub function: Function,
    /// With what; zero where the function has no such argument.
    pub arguments: [u64; 7],
}

impl Call {
    /// The call of a function with what the registers hold: six that carry arguments, and the one that counts vectors among them.
    pub fn new(function: Function, mut registers: [u64; 7]) -> Self {
        let counted = match function {
            Function::Load(_) | Function::Read(_) | Function::Write(_) => 1,
            Function::Exchange(_) | Function::ExchangeValue(_) => 3,
            Function::Update(..) => 2,
            Function::Ignored | Function::Looked | Function::Assembly | Function::Yields => 0,
            Function::Other(_) => 7,
        };
        registers[counted..].fill(0);
        let bits = match function {
            Function::ExchangeValue(size) if size < 8 => (1u64 << (8 * size)) - 1,
            _ => u64::MAX,
        };
        registers[1] &= bits;
        if let Function::Exchange(size) | Function::ExchangeValue(size) = function
            && size < 8
        {
            registers[2] &= (1u64 << (8 * size)) - 1;
        }
        Call { function, arguments: registers }
    }
}

/// The entry points of atomic updates that may store what they found.
const UPDATES: [(Operation, [unsafe extern "C" fn(); 4]); 3] = [
    (
        Operation::Exchange,
        [
            a::__tsan_atomic8_exchange,
            a::__tsan_atomic16_exchange,
            a::__tsan_atomic32_exchange,
            a::__tsan_atomic64_exchange,
        ],
    ),
    (
        Operation::And,
        [
            a::__tsan_atomic8_fetch_and,
            a::__tsan_atomic16_fetch_and,
            a::__tsan_atomic32_fetch_and,
            a::__tsan_atomic64_fetch_and,
        ],
    ),
    (
        Operation::Or,
        [
            a::__tsan_atomic8_fetch_or,
            a::__tsan_atomic16_fetch_or,
            a::__tsan_atomic32_fetch_or,
            a::__tsan_atomic64_fetch_or,
        ],
    ),
];

/// Addresses of functions with what they do, in order.
fn table() -> &'static [(u64, Function)] {
    static TABLE: OnceLock<Vec<(u64, Function)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        use Function::{Exchange, ExchangeValue, Ignored, Load, Read, Write};
        let mut all: Vec<(u64, Function)> = Vec::new();
        let mut add = |function: Function, addresses: &[unsafe extern "C" fn()]| {
            all.extend(addresses.iter().map(|&address| (address as usize as u64, function)));
        };
        add(Load(1), &[a::__tsan_atomic8_load]);
        add(Load(2), &[a::__tsan_atomic16_load]);
        add(Load(4), &[a::__tsan_atomic32_load]);
        add(Load(8), &[a::__tsan_atomic64_load]);
        add(Exchange(1), &[a::__tsan_atomic8_compare_exchange_strong, a::__tsan_atomic8_compare_exchange_weak]);
        add(Exchange(2), &[a::__tsan_atomic16_compare_exchange_strong, a::__tsan_atomic16_compare_exchange_weak]);
        add(Exchange(4), &[a::__tsan_atomic32_compare_exchange_strong, a::__tsan_atomic32_compare_exchange_weak]);
        add(Exchange(8), &[a::__tsan_atomic64_compare_exchange_strong, a::__tsan_atomic64_compare_exchange_weak]);
        add(ExchangeValue(1), &[a::__tsan_atomic8_compare_exchange_val]);
        add(ExchangeValue(2), &[a::__tsan_atomic16_compare_exchange_val]);
        add(ExchangeValue(4), &[a::__tsan_atomic32_compare_exchange_val]);
        add(ExchangeValue(8), &[a::__tsan_atomic64_compare_exchange_val]);
        for (operation, [one, two, four, eight]) in UPDATES {
            add(Function::Update(1, operation), &[one]);
            add(Function::Update(2, operation), &[two]);
            add(Function::Update(4, operation), &[four]);
            add(Function::Update(8, operation), &[eight]);
        }
        add(Read(1), &[p::__tsan_read1, p::__tsan_unaligned_read1]);
        add(Read(2), &[p::__tsan_read2, p::__tsan_unaligned_read2]);
        add(Read(4), &[p::__tsan_read4, p::__tsan_unaligned_read4]);
        add(Read(8), &[p::__tsan_read8, p::__tsan_unaligned_read8, p::__tsan_vptr_read]);
        add(Read(16), &[p::__tsan_read16, p::__tsan_unaligned_read16]);
        add(Write(1), &[p::__tsan_write1, p::__tsan_unaligned_write1]);
        add(Write(2), &[p::__tsan_write2, p::__tsan_unaligned_write2]);
        add(Write(4), &[p::__tsan_write4, p::__tsan_unaligned_write4]);
        add(Write(8), &[p::__tsan_write8, p::__tsan_unaligned_write8]);
        add(Write(16), &[p::__tsan_write16, p::__tsan_unaligned_write16]);
        all.push((unseen::selvedge_before_access as *const () as u64, Function::Looked));
        all.push((assembly::selvedge_at_barrier as *const () as u64, Function::Looked));
        all.push((assembly::selvedge_before_assembly as *const () as u64, Function::Assembly));
        for yields in [thread::sched_yield, thread::pthread_yield, c11::thrd_yield] {
            all.push((yields as *const () as u64, Function::Yields));
        }
        all.push((p::__tsan_func_entry as *const () as u64, Ignored));
        all.push((p::__tsan_func_exit as *const () as u64, Ignored));
        all.sort_unstable_by_key(|&(address, _)| address);
        all
    })
}

/// What the function at an address inside the runtime does.
pub fn function_at(address: u64) -> Function {
    let table = table();
    match table.binary_search_by_key(&address, |&(address, _)| address) {
        Ok(at) => table[at].1,
        Err(_) => Function::Other(address),
    }
}
