//! What addresses of a test program are called: source lines for code, variables for data.
//!
//! Programs under test run at addresses that are the same every time, which is what makes an address of a message or of an access
//! one of the file. Invariant: an address that cannot be named stays a number; a name is never guessed.

use std::collections::HashMap;

use addr2line::{Loader, demangle_auto};
use selvedge_driver::{Line, Lines, is_mangled};
use selvedge_protocol::{Finding, Place, address, words};

use super::text::clean;

/// The file of the runtime.
const RUNTIME: &str = "libselvedge_runtime.so";

/// Names the addresses of one program.
pub struct Names {
    /// Its path.
    pub program: String,
    symbols: Option<Loader>,
    lines: Lines,
    known: HashMap<u64, Option<String>>,
    sites: HashMap<(u64, Vec<u64>), Site>,
    /// The lines that sites were shown with.
    shown: HashMap<String, Line>,
    /// Source files that were read, line by line.
    files: HashMap<String, Vec<String>>,
}

/// Where a step comes from, as a person sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The line, as `file:line`; empty when it is not known.
    pub line: String,
    /// The same with the path of the file, as the compiler was given it.
    pub source: Option<(String, u32)>,
    /// The function of a library that is called there, such as `Mutex::lock`; `None` for plain and atomic accesses.
    pub call: Option<String>,
    /// Whether the line is outside of standard libraries.
    pub is_own: bool,
    /// Where the user's own code called, when the line is in a crate that was downloaded.
    pub caller: Option<Caller>,
    /// Whether a thread is being made, ended or waited for there.
    pub threads: bool,
    /// Whether the step is made in another file than the program: a library that was not compiled here.
    pub elsewhere: bool,
}

/// A call that the user's own code makes into a crate that was downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The line.
    pub line: String,
    /// The same with the path of the file.
    pub source: (String, u32),
    /// What is called there, such as `Receiver::recv`.
    pub call: Option<String>,
}

impl Site {
    /// The line in words, with the one that the call came from; empty when it is not known.
    pub fn lines(&self) -> String {
        match &self.caller {
            Some(caller) => format!("{}, called at {}", self.line, caller.line),
            None => self.line.clone(),
        }
    }
}

/// A line without directories.
fn short(line: &Line) -> String {
    let name = line.file.rsplit('/').next().unwrap_or_default();
    clean(&format!("{name}:{}", line.line))
}

/// Whether a source file belongs to a standard library.
fn is_library(file: &str) -> bool {
    file.starts_with("/rustc/")
        || file.strip_prefix(INSTALLED).is_some_and(is_of_system)
        || file.starts_with("/usr/lib/")
        || file.contains("/rustlib/src/rust/library/")
}

/// Where headers of the system lie, and those of libraries that were installed.
const INSTALLED: &str = "/usr/include/";

/// Whether a header there is of libc, of the C++ library or of a framework for tests, whose lines help nobody.
fn is_of_system(header: &str) -> bool {
    const DIRECTORIES: [&str; 15] = [
        "c++/",
        "x86_64-linux-gnu/",
        "bits/",
        "sys/",
        "asm/",
        "asm-generic/",
        "linux/",
        "gnu/",
        "net/",
        "netinet/",
        "arpa/",
        "catch2/",
        "doctest/",
        "gtest/",
        "boost/test/",
    ];
    !header.contains('/') || DIRECTORIES.iter().any(|directory| header.starts_with(directory))
}

/// Whether a source file belongs to a crate that cargo downloaded, or to a library that was installed.
fn is_downloaded(file: &str) -> bool {
    file.contains("/registry/src/")
        || file.contains("/git/checkouts/")
        || file.starts_with(INSTALLED)
        || file.starts_with("/usr/local/include/")
}

/// Whether a function of the standard library makes, ends or waits for threads.
fn is_of_threads(function: &str) -> bool {
    let dropped = ["core::ptr::drop_in_place::<", "core::ptr::drop_in_place<", ""];
    let function = dropped.iter().find_map(|start| function.strip_prefix(start)).unwrap_or(function);
    let function = function.trim_start_matches(['<', '&']);
    let parts =
        ["std::thread::", "std::sys::thread::", "alloc::sync::Arc<std::thread::", "std::sys::pal::unix::thread"];
    let waits = ["park", "sleep", "yield_now", "is_finished"];
    parts.iter().any(|part| function.starts_with(part)) && !waits.iter().any(|wait| function.contains(wait))
}

/// What a function is called in a report: `Mutex::lock` for `<std::sync::poison::mutex::Mutex<i32>>::lock`. `None` for what is no
/// more than an access.
fn call(function: &str) -> Option<String> {
    let function = without_signature(function);
    let plain = without_generics(function);
    if let Some(dropped) = function.split_once("drop_in_place::<").or_else(|| function.split_once("drop_in_place<")) {
        let name = without_generics(dropped.1.trim_end_matches('>'));
        let name = name.rsplit("::").next().unwrap_or_default().trim_matches(['{', '}']);
        return Some(clean(&format!("drop {name}")));
    }
    let segments: Vec<&str> = plain.split("::").filter(|part| !part.is_empty() && !part.starts_with('{')).collect();
    // A module that nobody sees.
    let short = segments[segments.len().saturating_sub(2)..].join("::").replace("functions::", "thread::");
    let is_access = plain.contains("atomic") || short.starts_with("ptr::") || segments.contains(&"__atomic_base");
    (!short.is_empty() && !is_access).then(|| clean(&short))
}

/// A name of C++ without the type of its result, which those of templates have, and without its arguments.
fn without_signature(function: &str) -> &str {
    let (mut depth, mut start) = (0u32, 0);
    let mut before = ' ';
    for (at, letter) in function.char_indices() {
        match letter {
            '<' | '{' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && !function[start..at].ends_with("operator") => start = at + 1,
            '(' if depth == 0 && at > start => return &function[start..at],
            _ => {}
        }
        before = letter;
    }
    function
}

/// A path without what stands in angle brackets; `<T as Trait>::name` becomes `T::name`, `<T>::name` too.
fn without_generics(function: &str) -> String {
    // The arrow of a result is no bracket.
    let function = &*function.replace("->", "");
    let mut text = String::new();
    let function = match function.strip_prefix('<') {
        // The type at the front is what counts.
        Some(rest) => {
            let mut depth = 1;
            let end = rest.char_indices().find(|(_, letter)| {
                depth += i32::from(*letter == '<') - i32::from(*letter == '>');
                depth == 0
            });
            let (kind, after) = end.map_or((rest, ""), |(at, _)| (&rest[..at], &rest[at + 1..]));
            format!("{}{after}", kind.split(" as ").next().unwrap_or(kind))
        }
        None => function.to_owned(),
    };
    let mut depth = 0u32;
    for letter in function.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            letter if depth == 0 => text.push(letter),
            _ => {}
        }
    }
    text.replace("::::", "::").trim_start_matches(['&', ' ']).to_owned()
}

/// Whether it is what the older way to mangle names adds: 16 digits.
fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Names {
    /// Those of the program at this path.
    pub fn new(program: &str) -> Self {
        Names {
            program: program.to_owned(),
            symbols: Loader::new(program).ok(),
            lines: Lines::new(),
            known: HashMap::new(),
            sites: HashMap::new(),
            shown: HashMap::new(),
            files: HashMap::new(),
        }
    }

    /// The line of a place.
    pub fn line(&mut self, place: &Place) -> Option<Line> {
        self.lines.line(place)
    }

    /// The lines of places, each once, or where in a file they lie.
    pub fn places(&mut self, places: &[Place]) -> Vec<String> {
        let mut lines = Vec::new();
        for place in places {
            let known = self.line(place).map(|line| short(&line));
            let line = known.unwrap_or_else(|| format!("{}+{:#x}", place.module, place.offset));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The variable that an address lies in: `counter`, `nodes+8`, `heap+0x10`.
    pub fn variable(&mut self, address: u64) -> Option<String> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let name = self.symbol(address).or_else(|| Some(format!("heap+{:#x}", address::in_heap(address)?)));
        self.known.insert(address, name.clone());
        name
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let symbols = self.symbols.as_ref()?;
        let offset = address.checked_sub(address::PROGRAM)?;
        let is_inside = |section: &str| {
            let range = symbols.get_section_range(section.as_bytes());
            range.is_some_and(|range| range.begin <= offset && offset < range.end)
        };
        if ![".data", ".bss", ".rodata", ".data.rel.ro"].into_iter().any(is_inside) {
            return None;
        }
        let symbol = symbols.find_symbol_info(offset)?;
        let name = symbol.name();
        let name = if is_mangled(name) { demangle_auto(name.into(), None) } else { name.into() };
        // Without the hash that tells versions of a crate apart.
        let name = clean(match name.rsplit_once("::h") {
            Some((short, hash)) if is_hash(hash) => short,
            _ => &name,
        });
        match offset.checked_sub(symbol.address())? {
            0 => Some(name),
            inside => Some(format!("{name}+{inside}")),
        }
    }

    /// An address as a person reads it.
    pub fn address(&mut self, address: u64) -> String {
        self.variable(address).unwrap_or_else(|| format!("{address:#x}"))
    }

    /// A value as a person reads it: a number, unless it is an address of something.
    pub fn value(&mut self, value: u64, size: u32) -> String {
        if size == 8
            && let Some(name) = self.variable(value)
        {
            return format!("&{name}");
        }
        let bits = size.clamp(1, 8) * 8;
        // Small negative numbers are more likely than huge ones.
        let signed = (value << (64 - bits)) as i64 >> (64 - bits);
        if (-4096..0).contains(&signed) { signed.to_string() } else { value.to_string() }
    }

    /// The line that a person would look at, and what is called there: a step inside of a library is shown where the library was called from.
    pub fn site(&mut self, finding: &Finding, place: Option<&Place>, callers: &[u32]) -> Site {
        let Some(place) = place else { return Site::default() };
        let callers = || callers.iter().filter_map(|&caller| finding.frames.get(caller as usize));
        // The numbers of frames are those of one finding; what they stand for is the same in all.
        let key = (place.offset, callers().map(|frame| frame.offset).collect::<Vec<u64>>());
        if let Some(known) = self.sites.get(&key) {
            return known.clone();
        }
        let mut site = Site::default();
        let mut called = Vec::new();
        site.elsewhere = place.module != self.program;
        let mut within = None;
        // The runtime is below and above everything, and nobody's concern.
        let frames = std::iter::once(place).chain(callers()).filter(|frame| !frame.module.ends_with(RUNTIME));
        for line in frames.flat_map(|frame| self.lines.lines(frame)) {
            let (shown, own) = (short(&line), !is_library(&line.file));
            let downloaded = own && is_downloaded(&line.file);
            if own && !site.is_own {
                self.shown.insert(shown.clone(), line.clone());
                site.line = shown;
                site.source = Some((line.file, line.line));
                site.is_own = true;
            } else if own && !downloaded {
                let call = within.take().and_then(|name: String| call(&name));
                site.caller = Some(Caller { line: shown, source: (line.file, line.line), call });
            } else if !site.is_own {
                if site.line.is_empty() {
                    site.line = shown;
                }
                called.extend(line.function);
                continue;
            }
            if own && !downloaded {
                break;
            }
            within = line.function.or(within);
        }
        site.threads = called.iter().any(|name| is_of_threads(name));
        site.call = called.last().and_then(|name| call(name));
        self.sites.insert(key, site.clone());
        site
    }

    /// The line of the user's own code that a finding is shown at.
    pub fn own_line(&mut self, finding: &Finding) -> Option<Line> {
        let callers = finding.callers.iter().filter_map(|&caller| finding.frames.get(caller as usize));
        let frames: Vec<&Place> = finding.place.iter().chain(callers).collect();
        let own = frames.into_iter().filter(|frame| !frame.module.ends_with(RUNTIME));
        let lines = own.flat_map(|frame| self.lines.lines(frame)).filter(|line| !is_library(&line.file));
        let mut first = None;
        for line in lines {
            if !is_downloaded(&line.file) {
                return Some(line);
            }
            first = first.or(Some(line));
        }
        first
    }

    /// What stands in a line that a site was shown with, and in which function, where its file can still be read.
    pub fn text(&mut self, line: &str) -> Option<String> {
        let Line { file, line: number, function } = self.shown.get(line)?.clone();
        let read =
            |file: &String| std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect();
        let lines = self.files.entry(file.clone()).or_insert_with(|| read(&file));
        let text = lines.get(number.checked_sub(1)? as usize)?.trim();
        match function {
            _ if text.is_empty() => None,
            Some(function) => Some(clean(&format!("{function}: {text}"))),
            None => Some(clean(text)),
        }
    }

    /// A line or a variable.
    fn name(&mut self, address: u64) -> Option<String> {
        self.variable(address).or_else(|| Some(self.code(address)?.line))
    }

    /// Where an address lies in the program's file.
    pub fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(address::PROGRAM)
    }

    /// The line that an address of the program's code returns to.
    pub fn code(&mut self, address: u64) -> Option<Site> {
        let offset = self.offset(address)?;
        let module = self.program.clone();
        let line = self.line(&Place { module, offset })?;
        let (short, is_own) = (short(&line), !is_library(&line.file));
        let source = is_own.then_some((line.file, line.line));
        Some(Site { line: short, source, is_own, ..Site::default() })
    }
}

impl words::Names for Names {
    fn name(&mut self, address: u64) -> String {
        Names::name(self, address).unwrap_or_else(|| format!("{address:#x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_stays_a_number() {
        let mut names = Names::new("no/such/program");
        assert_eq!(words::Names::name(&mut names, 0x5555_5555_8014), "0x555555558014");
        assert_eq!(words::Names::name(&mut names, 0x6000_0000_0010), "heap+0x10");
        assert_eq!(names.address(7), "0x7");
        assert_eq!(names.line(&Place { module: "no/such/program".into(), offset: 0 }), None);
    }

    #[test]
    fn functions_have_short_names() {
        let check =
            |function: &str, expected: Option<&str>| assert_eq!(call(function).as_deref(), expected, "{function}");
        check("<std::sync::poison::mutex::Mutex<i32>>::lock", Some("Mutex::lock"));
        check("std::sync::poison::mutex::Mutex<T>::lock", Some("Mutex::lock"));
        check("<std::sync::mpsc::Sender<i32> as core::ops::drop::Drop>::drop", Some("Sender::drop"));
        check("core::ptr::drop_in_place::<std::sync::MutexGuard<i32>>", Some("drop MutexGuard"));
        check("core::ptr::drop_in_place::<counter::two_threads::{{closure}}>", Some("drop closure"));
        check("std::thread::functions::park", Some("thread::park"));
        check("<core::sync::atomic::AtomicU32>::load", None);
        check("core::sync::atomic::atomic_load", None);
        check("std::mutex::lock()", Some("mutex::lock"));
        check("std::condition_variable::wait(std::unique_lock<std::mutex>&)", Some("condition_variable::wait"));
        check("std::counting_semaphore<(long)1>::acquire()", Some("counting_semaphore::acquire"));
        check(
            "bool std::counting_semaphore<4l>::try_acquire_for<long>(int)",
            Some("counting_semaphore::try_acquire_for"),
        );
        check(
            "std::_Function_handler<void ()>::_M_invoke(std::_Any_data const&)",
            Some("_Function_handler::_M_invoke"),
        );
        check("std::once<fn() -> u8>::call", Some("once::call"));
        check("std::__atomic_base<int>::load(std::memory_order) const", None);
        check("<", None);
        check("", None);
        check("<<é>é<", Some("é"));
    }

    #[test]
    fn a_line_of_a_downloaded_crate_names_its_caller() {
        assert!(is_downloaded("/home/me/.cargo/registry/src/index-1949cf8c6b5b557f/flume-0.11.1/src/lib.rs"));
        assert!(is_downloaded("/home/me/.cargo/git/checkouts/flume-1f/2c/src/lib.rs"));
        let installed = |file: &str| is_downloaded(file) && !is_library(file);
        assert!(installed("/usr/include/boost/lockfree/queue.hpp") && installed("/usr/local/include/queue.h"));
        for file in ["c++/12/bits/stl_vector.h", "x86_64-linux-gnu/c++/12/bits/gthr.h", "pthread.h", "catch2/catch.hpp"]
        {
            assert!(is_library(&format!("/usr/include/{file}")), "{file}");
        }
        assert!(!is_downloaded("tests/registry.rs") && !is_downloaded("/home/me/flume/src/lib.rs"));
        let mut site = Site { line: "lib.rs:429".into(), ..Site::default() };
        assert_eq!(site.lines(), "lib.rs:429");
        site.caller = Some(Caller { line: "queue.rs:7".into(), ..Caller::default() });
        assert_eq!(site.lines(), "lib.rs:429, called at queue.rs:7");
    }

    #[test]
    fn values_are_read_as_people_would() {
        let mut names = Names::new("no/such/program");
        assert_eq!(names.value(5, 4), "5");
        assert_eq!(names.value(u64::from(u32::MAX), 4), "-1");
        assert_eq!(names.value(u64::from(u32::MAX), 8), "4294967295");
        assert_eq!(names.value(u64::MAX, 8), "-1");
        assert_eq!(names.value(0x6000_0000_0010, 8), "&heap+0x10");
        assert_eq!(names.value(u64::MAX, 0), "-1");
        assert_eq!(names.value(u64::MAX, u32::MAX), "-1");
    }
}
