//! Where things lie in a program under test. Programs run at addresses that are the same every time, so that an address means the same on both sides.

/// Where Linux puts a position-independent program on x86-64 when it does not choose at random.
pub const PROGRAM: u64 = 0x5555_5555_4000;
/// Where the runtime's heap begins.
pub const HEAP: u64 = 0x6000_0000_0000;
/// How far an address may be from there to be called one of it.
pub const HEAP_SIZE: u64 = 1 << 37;

/// How far an address lies from the beginning of the runtime's heap, if it is one of it.
pub fn in_heap(address: u64) -> Option<u64> {
    address.checked_sub(HEAP).filter(|offset| *offset < HEAP_SIZE)
}
