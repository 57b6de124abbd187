//! What addresses of a test program are called: source lines for code, variables for data.
//!
//! Programs under test run at addresses that are the same every time, which is what makes an address of a message or of an access
//! one of the file. Invariant: an address that cannot be named stays a number; a name is never guessed.

use std::collections::HashMap;

use addr2line::Loader;
use selvedge_driver::{Line, Lines, Place};

use super::text::clean;

/// Where Linux puts a position-independent program on x86-64 when it does not choose at random.
const BASE: u64 = 0x5555_5555_4000;
/// Where the runtime's heap begins, and how far an address may be from there to be called one of it.
const HEAP: u64 = 0x6000_0000_0000;
const HEAP_SIZE: u64 = 1 << 36;

/// Names the addresses of one program.
pub struct Names {
    program: String,
    symbols: Option<Loader>,
    lines: Lines,
    known: HashMap<u64, Option<String>>,
}

impl Names {
    /// Those of the program at this path.
    pub fn new(program: &str) -> Self {
        Names {
            program: program.to_owned(),
            symbols: Loader::new(program).ok(),
            lines: Lines::new(),
            known: HashMap::new(),
        }
    }

    /// The line of a place.
    pub fn line(&mut self, place: &Place) -> Option<Line> {
        self.lines.line(place)
    }

    /// The line of a place as `file:line`, without directories.
    pub fn short_line(&mut self, place: &Place) -> Option<String> {
        let line = self.line(place)?;
        let name = line.file.rsplit('/').next().unwrap_or_default();
        Some(clean(&format!("{name}:{}", line.line)))
    }

    /// The variable that an address lies in: `counter`, `nodes+8`, `heap+0x10`.
    pub fn variable(&mut self, address: u64) -> Option<String> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let name = self.symbol(address).or_else(|| {
            let offset = address.checked_sub(HEAP).filter(|offset| *offset < HEAP_SIZE)?;
            Some(format!("heap+{offset:#x}"))
        });
        self.known.insert(address, name.clone());
        name
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let symbols = self.symbols.as_ref()?;
        let offset = address.checked_sub(BASE)?;
        let is_inside = |section: &str| {
            let range = symbols.get_section_range(section.as_bytes());
            range.is_some_and(|range| range.begin <= offset && offset < range.end)
        };
        if ![".data", ".bss", ".rodata", ".data.rel.ro"].into_iter().any(is_inside) {
            return None;
        }
        let symbol = symbols.find_symbol_info(offset)?;
        let name = clean(symbol.name());
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

    /// A message with its addresses named, and without the names that only the macro `SELVEDGE_TEST` knows.
    pub fn explain(&mut self, message: &str) -> String {
        let message = &message.replace("selvedge_body_", "");
        let mut text = String::new();
        let mut rest = message.as_str();
        while let Some(at) = rest.find("0x") {
            let (before, hex) = rest.split_at(at);
            let end = hex[2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(hex.len(), |end| end + 2);
            let (literal, after) = hex.split_at(end);
            text.push_str(before);
            let named = u64::from_str_radix(&literal[2..], 16).ok().and_then(|address| self.name(address));
            text.push_str(&named.unwrap_or_else(|| literal.to_owned()));
            rest = after;
        }
        clean(&(text + rest))
    }

    /// A line or a variable.
    fn name(&mut self, address: u64) -> Option<String> {
        self.variable(address).or_else(|| self.code(address))
    }

    /// The line that an address of the program's code returns to, as `file:line`.
    pub fn code(&mut self, address: u64) -> Option<String> {
        let offset = address.checked_sub(BASE)?;
        let module = self.program.clone();
        self.short_line(&Place { module, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_stays_a_number() {
        let mut names = Names::new("no/such/program");
        assert_eq!(names.explain("at 0x555555558014, and 0x, 0xzz"), "at 0x555555558014, and 0x, 0xzz");
        assert_eq!(
            names.explain("read of 0x600000000010 0xffffffffffffffffff"),
            "read of heap+0x10 0xffffffffffffffffff"
        );
        assert_eq!(names.explain("nothing é"), "nothing é");
        assert_eq!(names.address(7), "0x7");
        assert_eq!(names.line(&Place { module: "no/such/program".into(), offset: 0 }), None);
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
