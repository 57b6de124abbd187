//! Random programs as the twin runs them: one instruction a step.

use super::program::{Form, Library, Mode, Order, Program, Statement, Update, VARIABLES};

/// What a thread does at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A statement that is one step, or that waits.
    Do(Statement),
    /// An update of which nothing is seen.
    Add(usize, u8),
    /// Waits until the variable has the value.
    Until(usize, u8),
    /// A load; goes to the place unless it finds the value.
    Unless(usize, u8, usize),
    /// Goes to the place unless this was seen last.
    UnlessLast(u8, usize),
    Goto(usize),
    /// Waits for a signal, and says nothing of it.
    Wait(usize, usize),
    /// In Rust, the first half of a signal: those who have given up their mutex and do not sleep yet will not.
    Announce(usize),
    /// Begins an initialisation, or goes to the place when it is done.
    Begin(usize, usize),
    End(usize),
    Saw(u8),
    /// Puts a new block with a value, or nothing, in a place; what was there is in hand.
    Swap(usize, Option<u8>),
    /// What is in a place is in hand.
    Fetch(usize),
    ReadBlock,
    FreeBlock,
    /// Puts a new block in a place if what is in hand is there; whichever is not is in hand then.
    Replace(usize, u8),
    /// A load of what an attempt goes by, of the other value of it, or of the first once more.
    First(usize),
    Second(usize),
    /// Goes to the place unless it is what the attempt goes by.
    Again(usize, usize),
    /// Goes to the place unless the attempt goes by this value.
    UnlessFirst(u128, usize),
    /// Adds one, and the other value if it is wanted; goes to the place if the variable has changed. Or goes on with what it found.
    Attempt {
        variable: usize,
        adds: bool,
        keeps: bool,
        otherwise: usize,
    },
    Tried,
    SawTries,
    SawSecond,
    /// Runs a destructor.
    Destroy(usize),
}

/// What each thread runs.
pub fn compile(program: &Program) -> Vec<Vec<Instruction>> {
    let compile = |(thread, statements): (usize, &Vec<Statement>)| {
        let mut compiler = Compiler {
            rust: program.library == Library::Rust,
            c11: program.c11,
            widths: program.widths,
            code: Vec::new(),
            exits: Vec::new(),
        };
        compiler.all(statements);
        let end = compiler.code.len();
        for exit in std::mem::take(&mut compiler.exits) {
            compiler.code[exit] = Instruction::Goto(end);
        }
        if thread == 0 {
            let reads = (0..VARIABLES).map(|variable| Instruction::Do(Statement::Read(variable)));
            compiler.code.extend(reads);
        } else {
            compiler.code.extend((0..super::program::OBJECTS).map(Instruction::Destroy));
        }
        compiler.code
    };
    program.threads.iter().enumerate().map(compile).collect()
}

struct Compiler {
    rust: bool,
    c11: bool,
    widths: [u32; VARIABLES],
    code: Vec<Instruction>,
    exits: Vec<usize>,
}

impl Compiler {
    fn all(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.one(statement));
    }

    fn one(&mut self, statement: &Statement) {
        let here = self.code.len();
        match statement {
            Statement::IfLast(value, inner) => {
                self.code.push(Instruction::Goto(0));
                self.all(inner);
                self.code[here] = Instruction::UnlessLast(*value, self.code.len());
            }
            // What changes a variable in one step is a fence, too.
            Statement::Assembly(access) => {
                self.one(access);
                if matches!(**access, Statement::Update(..) | Statement::Exchange { .. }) {
                    self.one(&Statement::Fence(Order::Total));
                }
            }
            Statement::Retry(variable) => self.code.push(Instruction::Add(*variable, 1)),
            Statement::Attempts { variable, other, form } => self.attempts(*variable, *other, *form),
            Statement::Until(variable, value, _) => self.code.push(Instruction::Until(*variable, *value)),
            Statement::WaitWhile { condition, mutex, variable, value } => self.code.extend([
                Instruction::Unless(*variable, *value, here + 3),
                Instruction::Wait(*condition, *mutex),
                Instruction::Goto(here),
            ]),
            Statement::Once(once, variable) => {
                self.code.extend([
                    Instruction::Begin(*once, here + 3),
                    Instruction::Add(*variable, 1),
                    Instruction::End(*once),
                ]);
                if !self.c11 {
                    self.code.push(Instruction::Saw(0));
                }
            }
            Statement::Publish(place, value) => {
                self.code.extend([Instruction::Swap(*place, Some(*value)), Instruction::FreeBlock]);
            }
            Statement::Look(place) => self.code.extend([Instruction::Fetch(*place), Instruction::ReadBlock]),
            Statement::Remove(place) => {
                self.code.extend([Instruction::Swap(*place, None), Instruction::ReadBlock, Instruction::FreeBlock]);
            }
            Statement::Replace(place, value) => self.code.extend([
                Instruction::Fetch(*place),
                Instruction::Replace(*place, *value),
                Instruction::FreeBlock,
            ]),
            Statement::Drop(place) => self.code.extend([Instruction::Fetch(*place), Instruction::FreeBlock]),
            Statement::Exit => {
                self.exits.push(here);
                self.code.push(Instruction::Goto(0));
            }
            Statement::Signal(condition) | Statement::Broadcast(condition) if self.rust => {
                self.code.extend([Instruction::Announce(*condition), Instruction::Do(statement.clone())]);
            }
            Statement::Detach(_) | Statement::Yield | Statement::Nap => {}
            other => self.code.push(Instruction::Do(other.clone())),
        }
    }
}

impl Compiler {
    fn attempts(&mut self, variable: usize, other: usize, form: Form) {
        let start = self.code.len();
        let attempt = |adds, otherwise| Instruction::Attempt { variable, adds, keeps: false, otherwise };
        self.code.push(Instruction::First(variable));
        match form {
            Form::Keeps => {
                self.code.push(Instruction::Attempt { variable, adds: false, keeps: true, otherwise: start + 1 });
            }
            Form::Counts => {
                self.code.extend([Instruction::Tried, attempt(false, start), Instruction::SawTries]);
            }
            Form::Adds => {
                self.code.extend([Instruction::Second(other), attempt(true, start), Instruction::SawSecond]);
            }
            Form::Checks => self.code.extend([
                Instruction::Second(other),
                Instruction::Again(variable, start),
                attempt(true, start),
                Instruction::SawSecond,
            ]),
            Form::GivesUp(value) => self.code.extend([
                Instruction::UnlessFirst(wide(value, self.widths[variable]), start + 4),
                Instruction::Saw(1),
                Instruction::Goto(start + 6),
                attempt(false, start),
                Instruction::Saw(0),
            ]),
            Form::Marks => self.code.extend([
                attempt(false, start + 3),
                Instruction::Goto(start + 5),
                Instruction::Add(other, 1),
                Instruction::Goto(start),
            ]),
        }
    }
}

/// What an update leaves in a variable of so many bits.
pub fn updated(update: Update, old: u128, value: u128, width: u32) -> u128 {
    let new = match update {
        Update::Exchange => value,
        Update::Add => old.wrapping_add(value),
        Update::Sub => old.wrapping_sub(value),
        Update::Or => old | value,
        Update::And => old & value,
        Update::Xor => old ^ value,
    };
    if width == 128 { new } else { new & ((1 << width) - 1) }
}

/// A value as a variable of so many bits has it: the widest have it in both halves.
pub fn wide(value: u8, width: u32) -> u128 {
    let value = u128::from(value);
    if width == 128 { value << 64 | value } else { value }
}

/// What is seen of a value.
pub fn digit(value: u128) -> u8 {
    ((value ^ (value >> 64)) & 127) as u8
}

/// Whether an attempt says that it failed, and how.
pub fn failure(mode: Mode, c11: bool) -> u8 {
    const BUSY: u8 = 16;
    const TIMED_OUT: u8 = 110;
    match (mode, c11) {
        (Mode::Timed, true) => 4,
        (Mode::Timed, false) => TIMED_OUT,
        (_, true) => 1,
        (_, false) => BUSY,
    }
}

/// The order of what has none of its own.
pub const TOTAL: Order = Order::Total;
