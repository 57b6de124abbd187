//! Which accesses the thread-sanitizer pass has announced in a straight piece of code.
//!
//! Values of registers are known by name only: a load, a computation or a call gives its register a new name, a copy keeps it. Invariant: two
//! operands with the same names are the same bytes, as long as nothing in between has changed a register that they use.

use std::collections::HashMap;

/// The stack pointer and the frame pointer, as [`Operand::stack`] numbers them.
pub const STACK: usize = 0;
/// See above.
pub const FRAME: usize = 1;

/// An operand in memory, as AT&T's syntax has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// A variable, if it names one, with the segment.
    pub symbol: String,
    /// Beside it.
    pub offset: i64,
    /// The first register.
    pub base: String,
    /// The second one.
    pub index: String,
    /// By which it is multiplied.
    pub scale: String,
}

impl Operand {
    /// What an operand says; `None` for registers and numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('*');
        if text.starts_with('$') || text.is_empty() {
            return None;
        }
        let (segment, rest) = match text.strip_prefix('%') {
            None => ("", text),
            Some(_) => text.split_once(':')?,
        };
        let (outside, inside) = match rest.split_once('(') {
            Some((outside, inside)) => (outside, inside.split(')').next()?),
            None => (rest, ""),
        };
        let mut registers = inside.split(',').map(|one| one.trim().to_owned());
        let (base, index, scale) = (registers.next()?, registers.next(), registers.next());
        let (symbol, offset) = divide(outside);
        Some(Operand {
            symbol: format!("{segment}{symbol}"),
            offset,
            base,
            index: index.unwrap_or_default(),
            scale: scale.unwrap_or_default(),
        })
    }

    /// Whether it lies in the stack of the thread, and by which register.
    pub fn stack(&self) -> Option<usize> {
        match self.base.as_str() {
            "%rsp" if self.symbol.is_empty() => Some(STACK),
            "%rbp" if self.symbol.is_empty() => Some(FRAME),
            _ => None,
        }
    }

    /// Whether nobody ever writes there: what the linker fills in, constants of the compiler, a thread's own place.
    pub fn is_constant(&self) -> bool {
        self.symbol.contains("@GOT")
            || self.symbol.contains("@PLT")
            || self.symbol.starts_with(".L")
            || self.symbol.starts_with("%fs") && self.symbol.len() == 3 && matches!(self.offset, 0 | 40)
    }
}

/// The variable and the number of a displacement such as `16+s` or `-8`.
fn divide(text: &str) -> (String, i64) {
    let (mut symbol, mut offset) = (String::new(), 0);
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest[1..].find(['+', '-']).map_or(rest.len(), |at| at + 1);
        let part = &rest[..end];
        match part.trim_start_matches('+').parse::<i64>() {
            Ok(number) => offset += number,
            Err(_) => symbol.push_str(part.trim_start_matches('+')),
        }
        rest = &rest[end..];
    }
    (symbol, offset)
}

/// The operands of an instruction, parted by commas that are not inside of parentheses; a comment at its end is none.
pub fn operands(text: &str) -> Vec<&str> {
    let text = text.split('#').next().unwrap_or("");
    let (mut from, mut depth, mut parts) = (0, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// A place by the names of what the registers hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    symbol: String,
    base: u64,
    index: u64,
    scale: String,
    offset: i64,
}

/// What has been announced since the last label.
#[derive(Default)]
pub struct Announced {
    /// The name of what each register holds, and what is added to it.
    values: HashMap<&'static str, (u64, i64)>,
    /// What `leaq` has put into a register.
    addresses: HashMap<u64, Place>,
    /// Places, how many bytes, and whether they are written.
    all: Vec<(Place, i64, bool)>,
    /// What was put into the thread's stack, and lies there.
    slots: HashMap<(usize, i64), (u64, i64)>,
    /// The names of what was computed, by what it was computed from.
    computed: HashMap<String, u64>,
    /// The number that `esi` holds.
    size: Option<i64>,
    last: u64,
}

/// All registers, each with the names of its parts.
const REGISTERS: [[&str; 4]; 16] = [
    ["%rax", "%eax", "%ax", "%al"],
    ["%rbx", "%ebx", "%bx", "%bl"],
    ["%rcx", "%ecx", "%cx", "%cl"],
    ["%rdx", "%edx", "%dx", "%dl"],
    ["%rsi", "%esi", "%si", "%sil"],
    ["%rdi", "%edi", "%di", "%dil"],
    ["%rbp", "%ebp", "%bp", "%bpl"],
    ["%rsp", "%esp", "%sp", "%spl"],
    ["%r8", "%r8d", "%r8w", "%r8b"],
    ["%r9", "%r9d", "%r9w", "%r9b"],
    ["%r10", "%r10d", "%r10w", "%r10b"],
    ["%r11", "%r11d", "%r11w", "%r11b"],
    ["%r12", "%r12d", "%r12w", "%r12b"],
    ["%r13", "%r13d", "%r13w", "%r13b"],
    ["%r14", "%r14d", "%r14w", "%r14b"],
    ["%r15", "%r15d", "%r15w", "%r15b"],
];

/// Those that a call may change.
const CHANGED_BY_CALLS: [&str; 9] = ["%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11"];

fn whole(register: &str) -> Option<&'static str> {
    let high = matches!(register, "%ah" | "%bh" | "%ch" | "%dh");
    let register = if high { [&register[..2], "l"].concat() } else { register.to_owned() };
    REGISTERS.iter().find(|names| names.contains(&register.as_str())).map(|names| names[0])
}

impl Announced {
    fn new_name(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn value(&mut self, register: &str) -> (u64, i64) {
        match whole(register) {
            // No register, or the instruction pointer: the variable says where.
            None => (0, 0),
            Some(register) => match self.values.get(register) {
                Some(&known) => known,
                None => {
                    let new = (self.new_name(), 0);
                    self.values.insert(register, new);
                    new
                }
            },
        }
    }

    fn forgets(&mut self, register: &'static str) {
        let new = (self.new_name(), 0);
        self.values.insert(register, new);
    }

    fn place(&mut self, operand: &Operand) -> Place {
        let (base, more) = self.value(&operand.base);
        let (index, less) = self.value(&operand.index);
        let scale: i64 = operand.scale.parse().unwrap_or(1);
        let offset = operand.offset.wrapping_add(more).wrapping_add(less.wrapping_mul(scale));
        Place { symbol: operand.symbol.clone(), base, index, scale: operand.scale.clone(), offset }
    }

    /// An instruction of the compiler's is executed.
    pub fn executes(&mut self, name: &str, rest: &str) {
        let words = operands(rest);
        if matches!(name, "call" | "callq") {
            return self.calls(rest.trim_start_matches('*').split('@').next().unwrap_or(""));
        }
        if matches!(name, "cltq" | "cqto" | "cltd" | "cwtl") {
            let target = if matches!(name, "cltq" | "cwtl") { "%rax" } else { "%rdx" };
            return self.computes(name, target, &["%rax"]);
        }
        let Some(target) = words.last().and_then(|word| whole(word)) else {
            return self.stores(name, &words);
        };
        if target == "%rsi" {
            let number = words[0].strip_prefix('$').filter(|_| name.starts_with("mov"));
            self.size = number.and_then(|number| number.parse().ok());
        }
        let compares = ["cmp", "test", "ucomi", "comi", "push"].iter().any(|start| name.starts_with(start));
        if compares && !name.starts_with("cmpxchg") || matches!(name, "bt" | "btl" | "btq" | "btw") {
            return;
        }
        let number = words[0].strip_prefix('$').and_then(|number| number.parse::<i64>().ok());
        let operand = Operand::parse(words[0]);
        match (name, number, operand) {
            ("movq", None, None) if words.len() == 2 && whole(words[0]).is_some() => {
                let value = self.value(words[0]);
                self.values.insert(target, value);
            }
            ("movq", None, Some(operand)) if words.len() == 2 => self.loads(target, &operand),
            ("addq" | "subq", Some(number), _) if words.len() == 2 => {
                let (value, before) = self.value(target);
                let number = if name == "addq" { number } else { number.wrapping_neg() };
                self.values.insert(target, (value, before.wrapping_add(number)));
            }
            ("leaq", _, Some(operand)) => self.points(target, &operand),
            (_, _, Some(operand)) if operand.stack().is_some() && operand.index.is_empty() && words.len() == 2 => {
                // Part of what lies there.
                let slot = (operand.stack().unwrap_or(0), operand.offset);
                let (value, offset) = self.slot(slot);
                let key = format!("{name} {value} {offset}");
                self.named(target, key, name.starts_with("mov"));
            }
            _ => self.computes(name, target, &words),
        }
        let exchanges = name.starts_with("xchg") || name.starts_with("xadd") || name.starts_with("cmpxchg");
        let implied = words.len() == 1 && ["mul", "imul", "div", "idiv"].iter().any(|start| name.starts_with(start));
        if exchanges || implied {
            CHANGED_BY_CALLS.iter().for_each(|register| self.forgets(register));
            whole(words[0]).into_iter().for_each(|register| self.forgets(register));
        }
    }

    /// What lies in the stack there.
    fn slot(&mut self, slot: (usize, i64)) -> (u64, i64) {
        if let Some(&known) = self.slots.get(&slot) {
            return known;
        }
        let new = (self.new_name(), 0);
        self.slots.insert(slot, new);
        new
    }

    fn loads(&mut self, target: &'static str, operand: &Operand) {
        match operand.stack() {
            Some(place) if operand.index.is_empty() => {
                let value = self.slot((place, operand.offset));
                self.values.insert(target, value);
            }
            _ => self.forgets(target),
        }
    }

    /// The address of an operand is put into a register.
    fn points(&mut self, target: &'static str, operand: &Operand) {
        let place = self.place(operand);
        if place.symbol.is_empty() && place.index == 0 && place.base != 0 {
            self.values.insert(target, (place.base, place.offset));
            return;
        }
        // The same address has the same name; what is added to it later is added to that.
        let key = format!("lea {} {} {} {}", place.symbol, place.base, place.index, place.scale);
        self.named(target, key, true);
        let (value, _) = self.values[target];
        self.addresses.insert(value, Place { offset: 0, ..place.clone() });
        self.values.insert(target, (value, place.offset));
    }

    /// A register is given what depends on those operands only; else on something that is not known.
    fn computes(&mut self, name: &str, target: &'static str, words: &[&str]) {
        let flags = ["cmov", "set", "adc", "sbb", "rcl", "rcr", "pop", "xchg", "rd"];
        let known = |word: &&str| word.starts_with('$') || whole(word).is_some();
        let pure = words.iter().all(known) && !flags.iter().any(|start| name.starts_with(start));
        let mut key = name.to_owned();
        for word in words {
            match whole(word) {
                Some(_) => {
                    let (value, offset) = self.value(word);
                    key += &format!(" {value} {offset}");
                }
                None => key = [key.as_str(), word].join(" "),
            }
        }
        self.named(target, key, pure);
    }

    /// A register is given the value that was computed like this.
    fn named(&mut self, target: &'static str, key: String, pure: bool) {
        if !pure {
            return self.forgets(target);
        }
        let name = match self.computed.get(&key) {
            Some(&name) => name,
            None => {
                let name = self.new_name();
                self.computed.insert(key, name);
                name
            }
        };
        self.values.insert(target, (name, 0));
    }

    /// An instruction without a register as its target: what lay in the stack there is gone.
    fn stores(&mut self, name: &str, words: &[&str]) {
        const WIDEST: i64 = 64;
        let Some(operand) = words.last().and_then(|word| Operand::parse(word)) else { return };
        let Some(place) = operand.stack().filter(|_| operand.index.is_empty()) else { return };
        if ["cmp", "test", "push", "call", "jmp"].iter().any(|start| name.starts_with(start)) {
            return;
        }
        let at = operand.offset;
        let size = size(name, words).min(WIDEST);
        self.slots.retain(|&(other, offset), _| other != place || offset + 8 <= at || offset >= at + size);
        if name == "movq" && words.len() == 2 && whole(words[0]).is_some() {
            let value = self.value(words[0]);
            self.slots.insert((place, at), value);
        }
    }

    fn calls(&mut self, function: &str) {
        let plain =
            function.strip_prefix("__tsan_").filter(|name| !name.starts_with("atomic") && !name.starts_with("func"));
        match plain {
            Some(name) => self.announces(name),
            // Others may go on there.
            None => {
                self.all.clear();
                self.slots.clear();
            }
        }
        CHANGED_BY_CALLS.iter().for_each(|register| self.forgets(register));
        self.size = None;
    }

    /// A plain or volatile access is announced by the function of that name.
    fn announces(&mut self, name: &str) {
        let digits = name.trim_start_matches(|one: char| !one.is_ascii_digit());
        let size = match name {
            _ if name.ends_with("_range") => self.size,
            _ if name.starts_with("vptr") => Some(8),
            _ => digits.parse().ok(),
        };
        let Some(size) = size else { return };
        let write = name.contains("write") || name.contains("update");
        let (value, offset) = self.value("%rdi");
        if let Some(address) = self.addresses.get(&value) {
            let address = Place { offset: address.offset.wrapping_add(offset), ..address.clone() };
            self.all.push((address, size, write));
        }
        let place = Place { symbol: String::new(), base: value, index: 0, scale: String::new(), offset };
        self.all.push((place, size, write));
    }

    /// Whether an access there has been announced whole.
    pub fn covers(&self, operand: &Operand, size: i64, writes: bool) -> bool {
        let known = |register: &str| match whole(register) {
            None => Some((0, 0)),
            Some(register) => self.values.get(register).copied(),
        };
        let (Some((base, more)), Some((index, less))) = (known(&operand.base), known(&operand.index)) else {
            return false;
        };
        let scale: i64 = operand.scale.parse().unwrap_or(1);
        let offset = operand.offset.wrapping_add(more).wrapping_add(less.wrapping_mul(scale));
        let mut here =
            vec![Place { symbol: operand.symbol.clone(), base, index, scale: operand.scale.clone(), offset }];
        // The same place may have been put into a register by `leaq`.
        if let Some(address) = self.addresses.get(&base).filter(|_| index == 0 && operand.symbol.is_empty()) {
            here.push(Place { offset: address.offset.wrapping_add(offset), ..address.clone() });
        }
        // Two registers are added in either order, and where both are computed their sum may be one that was announced.
        if operand.scale.is_empty() || operand.scale == "1" {
            let sum = |one: (u64, i64), other: (u64, i64)| format!("addq {} {} {} {}", one.0, one.1, other.0, other.1);
            let sums = [sum((base, more), (index, less)), sum((index, less), (base, more))];
            for value in sums.iter().filter_map(|key| self.computed.get(key)) {
                let offset = operand.offset;
                here.push(Place {
                    symbol: operand.symbol.clone(),
                    base: *value,
                    index: 0,
                    scale: String::new(),
                    offset,
                });
            }
        }
        self.all.iter().any(|(place, announced, write)| {
            (*write || !writes)
                && here.iter().any(|one| {
                    (&one.symbol, one.base, one.index, &one.scale)
                        == (&place.symbol, place.base, place.index, &place.scale)
                        && one.offset >= place.offset
                        && one.offset.saturating_add(size) <= place.offset.saturating_add(*announced)
                })
        })
    }
}

/// How many bytes of memory an instruction touches; rather too many.
pub fn size(name: &str, words: &[&str]) -> i64 {
    let vector = |letter| words.iter().any(|word| word.starts_with('%') && word[1..].starts_with(letter));
    if vector("zmm") {
        return 64;
    }
    if vector("ymm") {
        return 32;
    }
    let scalar = name.trim_start_matches('v');
    match name.bytes().last() {
        _ if vector("xmm") && (scalar.ends_with("ss") || scalar == "movd" || scalar.ends_with('l')) => 4,
        _ if vector("xmm")
            && (scalar.ends_with("sd")
                || scalar.ends_with('q')
                || scalar.ends_with("lps")
                || scalar.ends_with("hps")) =>
        {
            8
        }
        _ if vector("xmm") => 16,
        // The size of the source stands before that of the target.
        _ if name.starts_with("movzb") || name.starts_with("movsb") || name.starts_with("set") => 1,
        _ if name.starts_with("movzw") || name.starts_with("movsw") => 2,
        Some(b'b') => 1,
        Some(b'w') => 2,
        Some(b'l') => 4,
        Some(b'q') => 8,
        _ => 16,
    }
}

/// Whether an instruction writes to its operand in memory; rather so than not.
pub fn writes(name: &str, words: &[&str]) -> bool {
    const READS: [&str; 13] =
        ["cmp", "test", "push", "call", "jmp", "ucom", "comi", "fld", "fild", "mul", "div", "idiv", "imul"];
    let only_reads = READS.iter().any(|start| name.starts_with(start)) && !name.starts_with("cmpxchg");
    !only_reads && words.last().is_some_and(|word| Operand::parse(word).is_some())
}
