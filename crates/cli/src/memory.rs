//! How much memory the process uses, and how much it may use.
//!
//! Invariant: [`used`] never misses what was allocated. Two gauges are read: the bytes that are allocated and not freed
//! (known before a page of them is touched, on every system), and on Linux the resident set (which also knows what the
//! allocator keeps and what small pieces waste). The larger one counts.

use std::alloc::System;
use std::fs;
use std::path::Path;

/// The allocator that counts what is live; its own limit is never set. The cost was measured: 5 % of a loop that does
/// nothing but allocate and free, and not to be seen in a search.
pub type Counted = cap::Cap<System>;

/// The allocator, for the one static of the process.
pub const fn counted() -> Counted {
    cap::Cap::new(System, usize::MAX)
}

/// The bytes in use now.
pub fn used() -> u64 {
    (crate::ALLOCATOR.allocated() as u64).max(resident().unwrap_or(0))
}

/// The resident set, where the system tells. Pages are taken to have 4 KiB; where they are larger the other
/// gauge still counts.
fn resident() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(4096)
}

/// The most memory that is taken without being asked for.
const DEFAULT_MAX: u64 = 4 << 30;

/// The limit picked where none was given: 4 GiB, or three quarters of what can be had, whichever is smaller.
pub fn default_max() -> u64 {
    available().map_or(DEFAULT_MAX, |bytes| (bytes / 4 * 3).min(DEFAULT_MAX))
}

/// The memory that can still be had, where the system tells: the least of what the machine has free, what the control
/// group leaves, and what the address space leaves.
fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    [
        read("/proc/meminfo").and_then(|text| meminfo(&text)),
        read("/proc/self/cgroup").and_then(|text| control_group(Path::new("/sys/fs/cgroup"), &text)),
        read("/proc/self/limits").and_then(|text| address_space(&text)),
    ]
    .into_iter()
    .flatten()
    .min()
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control group (version 2) and those around it leave.
fn control_group(root: &Path, text: &str) -> Option<u64> {
    let own = text.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/');
    let read = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    root.join(own)
        .ancestors()
        .take_while(|group| group.starts_with(root))
        .filter_map(|group| {
            let max = read(&group.join("memory.max"))?;
            Some(max.saturating_sub(read(&group.join("memory.current")).unwrap_or(0)))
        })
        .min()
}

fn address_space(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_read() {
        assert_eq!(meminfo("MemTotal: 10 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(meminfo("MemTotal: 10 kB\n"), None);
        let limits =
            |value| format!("Limit  Soft Limit\nMax address space         {value}            unlimited  bytes\n");
        assert_eq!(address_space(&limits("1048576")), Some(1 << 20));
        assert_eq!(address_space(&limits("unlimited")), None);
    }

    #[test]
    fn the_tightest_control_group_counts() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let inner = root.join("outer/inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(root.join("outer/memory.max"), "1000\n").unwrap();
        fs::write(root.join("outer/memory.current"), "400\n").unwrap();
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        assert_eq!(control_group(root, "0::/outer/inner\n"), Some(600));
        assert_eq!(control_group(root, "0::/\n"), None);
        assert_eq!(control_group(root, "3:memory:/x\n"), None);
    }

    #[test]
    fn what_is_allocated_is_counted() {
        let before = crate::ALLOCATOR.allocated();
        let block = vec![1u8; 64 << 20];
        assert!(crate::ALLOCATOR.allocated() >= before + (63 << 20));
        assert!(used() >= 64 << 20);
        drop(block);
    }
}
