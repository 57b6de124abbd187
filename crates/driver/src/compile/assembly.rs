//! Looks through the assembly that a compiler wrote, and puts a call of the runtime before every access that its thread-sanitizer pass has
//! not announced: inline assembly, blocks that gcc copies and clears inline (`memset`, structures passed and returned by value), and
//! instructions that a compiler makes of intrinsics (`rdtsc`, fences, streaming stores).
//!
//! The call keeps every register and every flag, and the runtime decodes the instruction behind it: here nothing has to be
//! understood but where instructions begin. Invariant: what is announced twice does no harm, so an access is left out only where an announcement of the same
//! bytes stands before it in the same straight piece of code.

use super::announced::{Announced, FRAME, Operand, STACK, operands, size, writes};

/// Which compiler wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Its pass does not see what calls pass and return, and what is expanded behind it.
    Gcc,
    /// Its pass sees all but structures that are passed in memory, and accesses of sizes that it does not know.
    Clang,
}

/// What is put before a plain access, and before an instruction of inline assembly. Functions may use what lies below the stack pointer; the last
/// instruction is eight bytes long, which the runtime counts on.
const PLAIN: &str = "\tleaq\t-128(%rsp), %rsp\n\tcall\tselvedge_before_access@PLT\n\tleaq\t128(%rsp), %rsp\n";
const BARRIER: &str = "\tleaq\t-128(%rsp), %rsp\n\tcall\tselvedge_at_barrier@PLT\n\tleaq\t128(%rsp), %rsp\n";
const ASSEMBLY: &str = "\tleaq\t-128(%rsp), %rsp\n\tcall\tselvedge_before_assembly@PLT\n\tleaq\t128(%rsp), %rsp\n";

/// Words that belong to the next instruction.
const PREFIXES: [&str; 20] = [
    "lock", "rep", "repe", "repz", "repne", "repnz", "xacquire", "xrelease", "data16", "data32", "addr32", "cs", "ds",
    "es", "fs", "gs", "ss", "notrack", "bnd", "rex64",
];

/// Instructions that are not accesses but matter all the same, beginnings of their names: they order accesses, leave the program, or
/// answer differently each time.
const SPECIAL: [&str; 19] = [
    "lock", "mfence", "lfence", "sfence", "rdtsc", "rdrand", "rdseed", "rdpmc", "rdpid", "syscall", "sysenter", "int",
    "xbegin", "xabort", "xchg", "xadd", "cmpxchg", "in", "out",
];

/// The assembly with calls put in. `sequences` says whether it is compiled by a standard in which a thread's later stores go on with what it released: the runtime is then told
/// where its functions lie.
pub fn with_calls(text: &str, author: Author, sequences: bool) -> String {
    let mut rewriter = Rewriter::new(author, text.len());
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        rewriter.marks(trimmed);
        if trimmed == ".cfi_startproc" {
            rewriter.function = Function::of(&lines[at..]);
            rewriter.announced = Announced::default();
        }
        if sequences && rewriter.inside && trimmed == ".cfi_endproc" {
            rewriter.ends_function();
        }
        rewriter.inside = trimmed == ".cfi_startproc" || rewriter.inside && trimmed != ".cfi_endproc";
        // What stands outside of functions is assembly, too, whether it is marked or not.
        if rewriter.inline || !rewriter.inside {
            rewriter.inline_line(line);
        } else {
            rewriter.compiled_line(line, trimmed);
        }
        if sequences && trimmed == ".cfi_startproc" {
            let number = rewriter.functions;
            rewriter.out.push_str(&format!(".Lselvedge_begin{number}:\n"));
        }
    }
    if sequences {
        rewriter.out.push_str(REGISTER);
    }
    rewriter.out
}

/// Tells the runtime where the functions of this file lie, before `main`.
const REGISTER: &str = "\
\t.text
.Lselvedge_register:
\tleaq\t__start_selvedge_units(%rip), %rdi
\tleaq\t__stop_selvedge_units(%rip), %rsi
\tjmp\tselvedge_register_units@PLT
\t.hidden\t__start_selvedge_units
\t.hidden\t__stop_selvedge_units
\t.section\tselvedge_units,\"a\",@progbits
\t.section\t.init_array,\"aw\"
\t.p2align\t3
\t.quad\t.Lselvedge_register
";

/// What is known about the frame of a function.
#[derive(Default)]
struct Function {
    /// Whether `rbp` is its frame pointer.
    framed: bool,
    /// The lowest address in its frame, by register, that it takes: somebody else may have it.
    taken: [Option<i64>; 2],
    /// Whether it puts arguments of calls on its stack.
    passes: bool,
    /// Whether it has atomic updates that LLVM's pass left there, each with a load before it. The runtime finds them.
    updates: bool,
}

impl Function {
    fn of(lines: &[&str]) -> Self {
        let mut function = Function::default();
        for line in lines.iter().map(|line| line.trim()).take_while(|line| *line != ".cfi_endproc") {
            if line == "movq\t%rsp, %rbp" {
                function.framed = true;
            }
            function.updates |= line.starts_with("lock");
            let copies_stack_pointer = line.starts_with("movq\t%rsp, ") && line != "movq\t%rsp, %rbp";
            function.passes |= copies_stack_pointer || line.starts_with("mov") && line.ends_with("(%rsp)");
            let Some(rest) = line.strip_prefix("leaq\t") else { continue };
            let operand = operands(rest).first().and_then(|text| Operand::parse(text));
            let taken = operand.filter(|_| !line.ends_with("%rsp"));
            if let Some((operand, place)) = taken.and_then(|one| one.stack().map(|place| (one, place))) {
                let lowest = &mut function.taken[place];
                *lowest = Some(lowest.map_or(operand.offset, |before| before.min(operand.offset)));
            }
        }
        function
    }

    /// Whether nobody else can know that place in the frame.
    fn is_own(&self, operand: &Operand) -> bool {
        match operand.stack() {
            _ if !operand.index.is_empty() => self.taken == [None, None] && operand.stack().is_some(),
            Some(FRAME) => {
                self.framed && self.taken[STACK].is_none() && self.taken[FRAME].is_none_or(|low| operand.offset < low)
            }
            // Pushes move what its offsets mean.
            Some(_) => self.taken == [None, None],
            None => false,
        }
    }
}

struct Rewriter {
    author: Author,
    out: String,
    /// Whether it is in the middle of inline assembly.
    inline: bool,
    /// Whether it is in an assembly statement that has done nothing so far.
    idle: bool,
    /// Whether it is in a function that the compiler wrote.
    inside: bool,
    /// How many functions there were.
    functions: usize,
    /// Prefixes of the instruction that comes.
    held: String,
    /// Whether the last word was a prefix of the instruction that comes, in what the compiler wrote.
    prefixed: bool,
    function: Function,
    announced: Announced,
}

impl Rewriter {
    fn new(author: Author, size: usize) -> Self {
        Rewriter {
            author,
            out: String::with_capacity(size + size / 8),
            inline: false,
            idle: false,
            inside: false,
            functions: 0,
            held: String::new(),
            prefixed: false,
            function: Function::default(),
            announced: Announced::default(),
        }
    }

    /// Notes where a function lies, beside it: if the linker leaves it out, the note goes too.
    fn ends_function(&mut self) {
        let number = self.functions;
        self.functions += 1;
        self.out.push_str(&format!(
            ".Lselvedge_end{number}:\n\t.pushsection\tselvedge_units,\"?a\",@progbits\n\
             \t.long\t.Lselvedge_begin{number}-., .Lselvedge_end{number}-.Lselvedge_begin{number}\n\t.popsection\n"
        ));
    }

    /// The marks of the compiler: where inline assembly begins and ends, and with gcc each of its statements. One that does nothing is there to keep accesses in order.
    fn marks(&mut self, line: &str) {
        let begins = line == "#APP" || self.inline && line.starts_with("# ") && line.ends_with("\" 1");
        let ends = line == "#NO_APP" || self.inline && line == "# 0 \"\" 2";
        if begins {
            (self.inline, self.idle) = (true, true);
        }
        if ends {
            self.inline = line != "#NO_APP";
            if std::mem::take(&mut self.idle) && self.inside {
                self.out.push_str(BARRIER);
            }
        }
    }

    fn keep(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A line of inline assembly, which may hold several instructions. A prefix may stand alone before its instruction.
    fn inline_line(&mut self, line: &str) {
        self.announced = Announced::default();
        for statement in statements(line) {
            let (label, rest) = split_label(statement);
            if is_only_prefixes(rest) && label.is_empty() {
                self.held.push_str(rest);
                self.held.push('\n');
                continue;
            }
            self.out.push_str(label);
            if !label.is_empty() {
                self.out.push('\n');
            }
            let held = std::mem::take(&mut self.held);
            if is_only_prefixes(rest) {
                self.held.push_str(rest);
                self.held.push('\n');
                continue;
            }
            let whole = [held.trim(), rest.trim()].join(" ");
            if matters(whole.trim()) {
                self.out.push_str(ASSEMBLY);
                self.idle = false;
            }
            self.idle &= !rest.trim_start().starts_with('.');
            self.out.push_str(&held);
            self.keep(rest);
        }
    }

    /// A line that the compiler wrote.
    fn compiled_line(&mut self, line: &str, trimmed: &str) {
        if is_instruction(trimmed) {
            let (name, rest) = trimmed.split_once(['\t', ' ']).unwrap_or((trimmed, ""));
            if !self.prefixed {
                if is_special(name, rest) && !self.is_left_over(name) {
                    self.out.push_str(ASSEMBLY);
                } else if self.is_unseen(name, rest) {
                    self.out.push_str(PLAIN);
                }
            }
            self.prefixed = is_only_prefixes(trimmed);
            self.announced.executes(name, rest);
        } else if trimmed.ends_with(':') && !is_note(trimmed) {
            self.announced = Announced::default();
        }
        self.keep(line);
    }

    /// Whether it belongs to an atomic access of LLVM's: a load of which only the call counts, or an update that the runtime finds.
    fn is_left_over(&self, name: &str) -> bool {
        self.author == Author::Clang && ["lock", "xchg", "xadd", "cmpxchg"].iter().any(|start| name.starts_with(start))
    }

    /// Whether it is an access that others may see, and that nothing has announced.
    fn is_unseen(&self, name: &str, rest: &str) -> bool {
        const NOT_ACCESSES: [&str; 6] = ["lea", "nop", "prefetch", "clflush", "cldemote", "ud"];
        if NOT_ACCESSES.iter().any(|start| name.starts_with(start)) {
            return false;
        }
        if is_string_operation(name, rest) {
            return true;
        }
        if name.starts_with('j') || name.starts_with("call") && !rest.contains('*') {
            return false;
        }
        let words = operands(rest);
        let memory = words.iter().filter_map(|text| Operand::parse(text)).find(|one| !one.is_constant());
        let Some(memory) = memory else { return false };
        if self.function.is_own(&memory) {
            return false;
        }
        let size = size(name, &words);
        if self.author == Author::Clang && self.function.updates && (self.is_left_over(name) || !writes(name, &words)) {
            return false;
        }
        // Of what lies on the stack LLVM announces all that somebody else may know.
        if self.author == Author::Clang && memory.stack().is_some() && !self.function.passes && matches!(size, 4 | 8) {
            return false;
        }
        !self.announced.covers(&memory, size, writes(name, &words))
    }
}

/// Whether it is one of those that walk through memory by `rsi` and `rdi`.
fn is_string_operation(name: &str, rest: &str) -> bool {
    let name = if PREFIXES.contains(&name) { rest.split(['\t', ' ']).next().unwrap_or("") } else { name };
    let of =
        |start: &str| name.strip_prefix(start).is_some_and(|size| matches!(size, "b" | "w" | "l" | "q" | "sb" | "sw"));
    let moves = matches!(name, "movsb" | "movsw" | "movsl" | "movsq");
    // Some of these names are also those of SSE and of conversions, which have operands.
    (moves || of("stos") || of("lods") || of("scas") || of("cmps")) && (rest.is_empty() || !rest.contains("%xmm"))
}

fn is_special(name: &str, rest: &str) -> bool {
    let accesses = |start: &str| matches!(start, "xchg" | "xadd" | "cmpxchg");
    SPECIAL.iter().any(|start| {
        let fits = match *start {
            "in" | "out" | "int" => name == *start || name == "int3" && *start == "int",
            _ => name.starts_with(start),
        };
        fits && (!accesses(start) || rest.contains('('))
    }) || name.starts_with("movnt")
        || name.starts_with("vmovnt")
        || name.starts_with("maskmov")
        || name.starts_with("vmaskmov")
        || name.starts_with("vpmaskmov")
        || name.starts_with("vpgather")
        || name.starts_with("vgather")
        || name.starts_with("vpscatter")
        || name.starts_with("vscatter")
}

/// Whether a label is only there for debuggers and for tables: nobody jumps to it.
fn is_note(label: &str) -> bool {
    const NOTES: [&str; 9] = [".LVL", ".LBE", ".LBI", ".LFB", ".LFE", ".LEH", ".LCFI", ".Ltmp", ".LHOTB"];
    // Lexical blocks of gcc; the basic blocks of LLVM have a second number.
    NOTES.iter().any(|start| label.starts_with(start)) || label.starts_with(".LBB") && !label.contains('_')
}

fn is_instruction(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(['.', '#', '/']) && !line.ends_with(':') && !line.contains(" = ")
}

/// Whether an instruction of inline assembly has to be looked at. The runtime decodes it, so this leaves out only what certainly does nothing, and what is
/// so frequent that it should cost nothing.
fn matters(statement: &str) -> bool {
    const NOTHING: [&str; 5] = ["nop", "pause", "endbr64", "cpuid", "xgetbv"];
    let statement = statement.trim();
    if !is_instruction(statement) || statement.starts_with('}') {
        return false;
    }
    let words: Vec<&str> = statement.split([' ', '\t']).collect();
    let is_assignment = words.get(1).is_some_and(|word| *word == "=" || *word == "==");
    let waits = matches!(words.as_slice(), ["rep" | "repz" | "repe", .., "nop"]);
    !is_assignment && !waits && !NOTHING.contains(&words[0])
}

fn is_only_prefixes(statement: &str) -> bool {
    let mut words = statement.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| PREFIXES.contains(&word.to_ascii_lowercase().as_str()))
}

/// The statements of a line: parted by `;`, which may stand in a text or a comment as well.
fn statements(line: &str) -> Vec<&str> {
    let (mut from, mut quoted, mut parts) = (0, false, Vec::new());
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' if at == 0 || bytes[at - 1] != b'\\' => quoted = !quoted,
            b'#' if !quoted => break,
            b';' if !quoted => {
                parts.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&line[from..]);
    parts
}

/// A label and what stands behind it.
fn split_label(statement: &str) -> (&str, &str) {
    let begin = statement.len() - statement.trim_start().len();
    let word = statement[begin..].find(|one: char| !(one.is_alphanumeric() || "_.$".contains(one)));
    match word {
        Some(length) if length > 0 && statement[begin + length..].trim_start().starts_with(':') => {
            let colon = begin + length + statement[begin + length..].find(':').unwrap_or(0) + 1;
            let (label, rest) = statement.split_at(colon);
            let (more, rest) = split_label(rest);
            if more.is_empty() { (label, rest) } else { statement.split_at(colon + more.len()) }
        }
        _ => ("", statement),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instructions of a function before which calls are put; inline assembly is marked.
    fn looked_at(author: Author, lines: &[&str]) -> Vec<String> {
        let function = format!("f:\n\t.cfi_startproc\n\t{}\n\t.cfi_endproc\n", lines.join("\n\t"));
        let written = with_calls(&function, author, false);
        let lines: Vec<&str> = written.lines().collect();
        let mut found = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let mark = match *line {
                "\tcall\tselvedge_before_access@PLT" => "",
                "\tcall\tselvedge_before_assembly@PLT" => "asm: ",
                "\tcall\tselvedge_at_barrier@PLT" => {
                    found.push("barrier".to_owned());
                    continue;
                }
                _ => continue,
            };
            found.push(format!("{mark}{}", lines[at + 2].trim()));
        }
        found
    }

    fn check(lines: &[&str], expected: &[&str]) {
        assert_eq!(looked_at(Author::Gcc, lines), expected, "{lines:?}");
    }

    #[test]
    fn what_is_announced_is_left_out() {
        check(&["leaq\tx(%rip), %rdi", "call\t__tsan_write4@PLT", "movl\t$1, x(%rip)"], &[]);
        check(&["movq\t%rbx, %rdi", "call\t__tsan_read8@PLT", "movq\t(%rbx), %rax"], &[]);
        check(&["leaq\t8(%rbx), %rdi", "call\t__tsan_read4@PLT", "movl\t8(%rbx), %eax"], &[]);
        check(
            &["movl\t$64, %esi", "leaq\ts(%rip), %rdi", "call\t__tsan_write_range@PLT", "movaps\t%xmm0, 48+s(%rip)"],
            &[],
        );
        let through_a_slot = [
            "movq\t-8(%rbp), %rax",
            "movq\t%rax, %rdi",
            "call\t__tsan_read4@PLT",
            "movq\t-8(%rbp), %rax",
            "movl\t(%rax), %eax",
        ];
        check(&[&["movq\t%rsp, %rbp"], &through_a_slot[..]].concat(), &[]);
    }

    #[test]
    fn what_is_not_announced_is_looked_at() {
        check(&["movaps\t%xmm0, s(%rip)"], &["movaps\t%xmm0, s(%rip)"]);
        check(&["movq\tp(%rip), %rdi", "call\ttake@PLT"], &["movq\tp(%rip), %rdi"]);
        check(&["rep stosq"], &["rep stosq"]);
        // Another register, more bytes, a write after a read, and what comes after a call.
        check(&["movq\t%rbx, %rdi", "call\t__tsan_read8@PLT", "movq\t(%r12), %rax"], &["movq\t(%r12), %rax"]);
        check(&["leaq\tx(%rip), %rdi", "call\t__tsan_write4@PLT", "movq\t$1, x(%rip)"], &["movq\t$1, x(%rip)"]);
        check(&["leaq\tx(%rip), %rdi", "call\t__tsan_read4@PLT", "movl\t$1, x(%rip)"], &["movl\t$1, x(%rip)"]);
        check(
            &["leaq\tx(%rip), %rdi", "call\t__tsan_read4@PLT", "call\tlock@PLT", "movl\tx(%rip), %eax"],
            &["movl\tx(%rip), %eax"],
        );
        check(
            &["movq\t%rbx, %rdi", "call\t__tsan_read8@PLT", "addq\t$8, %rbx", "movq\t(%rbx), %rax"],
            &["movq\t(%rbx), %rax"],
        );
        check(
            &["leaq\tx(%rip), %rdi", "call\t__tsan_read4@PLT", ".L2:", "movl\tx(%rip), %eax"],
            &["movl\tx(%rip), %eax"],
        );
    }

    #[test]
    fn what_nobody_else_knows_is_left_out() {
        check(&["movq\t%rsp, %rbp", "movl\t$1, -4(%rbp)", "movq\t%fs:40, %rax", "movq\tx@GOTPCREL(%rip), %rax"], &[]);
        check(&["call\tother", "jmp\t.L3", "leaq\tx(%rip), %rax", "movsd\t.LC0(%rip), %xmm0"], &[]);
        // The address of a variable is taken: what lies from there up may be known.
        let taken =
            ["movq\t%rsp, %rbp", "leaq\t-16(%rbp), %rdi", "call\tother", "movl\t$1, -12(%rbp)", "movl\t$1, -20(%rbp)"];
        check(&taken, &["movl\t$1, -12(%rbp)"]);
    }

    #[test]
    fn inline_assembly_is_looked_at_by_instruction() {
        let inline = |text: &str| looked_at(Author::Gcc, &["#APP", text, "#NO_APP"]);
        assert_eq!(inline("lock; incl x(%rip)"), ["asm: lock"]);
        assert_eq!(inline("1: movl (%rax), %ebx; jne 1b"), ["asm: movl (%rax), %ebx", "asm: jne 1b"]);
        assert_eq!(inline("rep; movsb"), ["asm: rep"]);
        for nothing in ["", "pause", "rep; nop", "nop", "# a comment; lock", "x = 5"] {
            assert_eq!(inline(nothing), ["barrier"], "{nothing}");
        }
        assert_eq!(inline(".byte 1"), [""; 0]);
        // Neighbours of gcc's.
        let neighbours =
            ["#APP", "# 1 \"x.c\" 1", "", "# 0 \"\" 2", "# 2 \"x.c\" 1", "incl x(%rip)", "# 0 \"\" 2", "#NO_APP"];
        assert_eq!(looked_at(Author::Gcc, &neighbours), ["barrier", "asm: incl x(%rip)"]);
        assert_eq!(looked_at(Author::Gcc, &["rdtsc"]), ["asm: rdtsc"]);
        assert_eq!(
            looked_at(Author::Gcc, &["xchgl\t%eax, x(%rip)", "xchgl\t%eax, %ebx"]),
            ["asm: xchgl\t%eax, x(%rip)"]
        );
    }

    #[test]
    fn assembly_outside_of_functions_is_looked_at() {
        let written = with_calls("\t.text\nf:\n\tincl (%rdi)\n\tret\n\t.string \"a; lock\"\n", Author::Clang, false);
        assert_eq!(written.matches("selvedge_before_assembly").count(), 2, "{written}");
        assert!(written.contains("\t.string \"a; lock\"\n"), "{written}");
    }

    #[test]
    fn functions_are_registered_where_the_standard_asks_for_it() {
        let function = "f:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n";
        assert!(!with_calls(function, Author::Gcc, false).contains("selvedge_units"));
        let written = with_calls(function, Author::Gcc, true);
        assert!(written.contains(".long\t.Lselvedge_begin0-., .Lselvedge_end0-.Lselvedge_begin0"), "{written}");
        assert!(written.contains("selvedge_register_units"), "{written}");
    }
}
