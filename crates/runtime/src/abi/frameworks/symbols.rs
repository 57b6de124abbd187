//! Functions by their names, from the symbol tables of files that are loaded: also those that the linker does not know of.

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A function.
pub struct Symbol {
    pub name: String,
    pub address: u64,
    pub size: u64,
}

/// Libraries that frameworks come as.
const LIBRARIES: [&str; 3] = ["boost_unit_test_framework", "Catch2", "doctest"];

/// Those of the program and of frameworks' libraries that are wanted; each address once.
pub fn all(wanted: impl Fn(&str) -> bool) -> Vec<Symbol> {
    let mut files: Vec<(String, u64)> = Vec::new();
    // SAFETY: `visit` gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut files).cast()) };
    let mut found: Vec<Symbol> = Vec::new();
    for (path, base) in files {
        // What cannot be read has no symbols.
        let _ = read(&path, base, &wanted, &mut found);
    }
    found.sort_by_key(|symbol| symbol.address);
    found.dedup_by_key(|symbol| symbol.address);
    found
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, files: *mut c_void) -> c_int {
    // SAFETY: the linker's description of a module, and what `all` passed.
    let (info, files) = unsafe { (&*info, &mut *files.cast::<Vec<(String, u64)>>()) };
    // SAFETY: a string that the linker keeps.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned();
    if files.is_empty() {
        files.push(("/proc/self/exe".into(), info.dlpi_addr));
    } else if LIBRARIES.iter().any(|library| name.rsplit('/').next().is_some_and(|file| file.contains(library))) {
        files.push((name, info.dlpi_addr));
    }
    0
}

/// Why a file has no symbols that can be read.
struct Unreadable;

/// Reads so many bytes at that place of a file.
fn bytes(file: &File, at: u64, size: u64) -> Result<Vec<u8>, Unreadable> {
    /// More than any table has.
    const MOST: u64 = 1 << 30;
    let mut bytes = vec![0; usize::try_from(size.min(MOST)).map_err(|_| Unreadable)?];
    file.read_exact_at(&mut bytes, at).map_err(|_| Unreadable)?;
    Ok(bytes)
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, size: usize) -> Result<u64, Unreadable> {
    let bytes = at.checked_add(size).and_then(|end| bytes.get(at..end)).ok_or(Unreadable)?;
    Ok(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

fn read(path: &str, base: u64, wanted: &impl Fn(&str) -> bool, found: &mut Vec<Symbol>) -> Result<(), Unreadable> {
    const SECTION: usize = 64;
    const SYMBOL: usize = 24;
    const FUNCTION: u64 = 2;
    let file = File::open(path).map_err(|_| Unreadable)?;
    let header = bytes(&file, 0, 64)?;
    let (at, count) = (number(&header, 40, 8)?, number(&header, 60, 2)?);
    let sections = bytes(&file, at, count * SECTION as u64)?;
    let field = |section: usize, at: usize, size: usize| number(&sections, section * SECTION + at, size);
    for section in 0..count as usize {
        // SHT_SYMTAB and SHT_DYNSYM.
        if ![2, 11].contains(&field(section, 4, 4)?) {
            continue;
        }
        let strings = field(section, 40, 4)? as usize;
        let names = bytes(&file, field(strings, 24, 8)?, field(strings, 32, 8)?)?;
        let symbols = bytes(&file, field(section, 24, 8)?, field(section, 32, 8)?)?;
        for symbol in symbols.chunks_exact(SYMBOL) {
            let (kind, inside) = (number(symbol, 4, 1)? & 15, number(symbol, 6, 2)?);
            if kind != FUNCTION || inside == 0 {
                continue;
            }
            let rest = names.get(number(symbol, 0, 4)? as usize..).ok_or(Unreadable)?;
            let Ok(name) = CStr::from_bytes_until_nul(rest) else { continue };
            let name = name.to_string_lossy();
            if wanted(&name) {
                let (address, size) = (base + number(symbol, 8, 8)?, number(symbol, 16, 8)?);
                found.push(Symbol { name: name.into_owned(), address, size });
            }
        }
    }
    Ok(())
}
