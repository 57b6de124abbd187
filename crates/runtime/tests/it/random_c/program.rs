//! Small random programs over everything that is controlled, as data: [`super::text`] writes them in C, [`super::twin`] knows what they may do.
//!
//! Invariant: a statement means the same to both, and neither knows the other.

use super::kernel::Deed;

/// The order that an atomic access asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    Both,
    Total,
}

impl Order {
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::Both | Order::Total)
    }

    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::Both | Order::Total)
    }
}

/// What an update does with the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Exchange,
    Add,
    Sub,
    Or,
    And,
    Xor,
}

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Waits.
    Wait,
    /// Tries once, and says whether it worked.
    Try,
    /// Waits for some time, and says whether it worked.
    Timed,
    /// Tries until it works.
    Loop,
}

/// What a loop that tries to add something does besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Goes on with what the failure found.
    Keeps,
    /// Counts its attempts.
    Counts,
    /// Adds what it finds in the other variable, and tells.
    Adds,
    /// The same; begins anew when the first has changed in between.
    Checks,
    /// Gives up when it finds this.
    GivesUp(u8),
    /// Changes the other variable at every failure.
    Marks,
}

/// How a mutex treats its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Normal,
    Recursive,
    Checking,
    Spin,
}

/// The mask of who does not say one.
pub const ALL: u8 = u8::MAX;

/// The mutexes of every program.
pub const FLAVOURS: [Flavour; 5] =
    [Flavour::Normal, Flavour::Normal, Flavour::Recursive, Flavour::Checking, Flavour::Spin];

/// How many there are of each other object.
pub const VARIABLES: usize = 3;
pub const OBJECTS: usize = 2;

/// One statement of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Load(usize, Order),
    Store(usize, u8, Order),
    Update(Update, usize, u8, Order),
    Exchange {
        variable: usize,
        expected: u8,
        new: u8,
        weak: bool,
        order: Order,
        failure: Order,
    },
    /// A load and a compare and exchange, until it works, that adds one.
    Retry(usize),
    Attempts {
        variable: usize,
        other: usize,
        form: Form,
    },
    /// Loads until the value is there; yields in between or not.
    Until(usize, u8, bool),
    Fence(Order),
    Read(usize),
    Write(usize, u8),
    Lock(usize, Mode),
    Unlock(usize),
    LockShared(usize, Mode),
    LockExclusive(usize, Mode),
    UnlockBoth(usize),
    Wait {
        condition: usize,
        mutex: usize,
        timed: bool,
    },
    /// Waits as long as the variable has the value.
    WaitWhile {
        condition: usize,
        mutex: usize,
        variable: usize,
        value: u8,
    },
    Signal(usize),
    Broadcast(usize),
    Barrier(usize),
    Take(usize, Mode),
    Give(usize),
    Count(usize),
    /// The initialisation adds one to a variable.
    Once(usize, usize),
    /// The destructor adds the value to the variable of the key's number.
    SetKey(usize, u8),
    GetKey(usize),
    Exit,
    Create(usize),
    Join(usize),
    TryJoin(usize),
    Detach(usize),
    /// Puts a new block into a place and frees the one that was there.
    Publish(usize, u8),
    /// Reads the block that is in a place.
    Look(usize),
    /// Takes the block out of a place, reads and frees it.
    Remove(usize),
    /// Puts a new block into a place if what was there a moment ago still is; frees the other.
    Replace(usize, u8),
    /// Frees the block in a place, and leaves it there.
    Drop(usize),
    /// Sleeps for those who wake one of the bits of the mask.
    Sleep {
        variable: usize,
        value: u8,
        timed: bool,
        mask: u8,
    },
    Wake {
        variable: usize,
        count: u8,
        mask: u8,
    },
    Requeue {
        from: usize,
        to: usize,
        wake: u8,
        moved: u8,
        expected: Option<u8>,
    },
    /// The same in assembly: the processor says what it orders, whatever the statement asks for.
    Assembly(Box<Statement>),
    /// Something with a pipe or its like.
    Kernel(Deed),
    Yield,
    Nap,
    /// If what was seen last is this.
    IfLast(u8, Vec<Statement>),
}

impl Statement {
    /// Whether it takes memory from the heap.
    pub fn allocates(&self) -> bool {
        matches!(self, Statement::Publish(..) | Statement::Replace(..))
    }
}

/// Whose locks and threads a program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Those of POSIX, or of C11.
    C,
    /// `std` of C++.
    Cpp,
    /// `std` of Rust.
    Rust,
}

/// A program: the first thread creates the others and waits for them.
#[derive(Clone, Debug)]
pub struct Program {
    pub library: Library,
    pub threads: Vec<Vec<Statement>>,
    /// How many bits each variable has.
    pub widths: [u32; VARIABLES],
    /// The names and answers of C11 in place of those of POSIX.
    pub c11: bool,
    pub barriers: [u8; OBJECTS],
    pub units: [u8; OBJECTS],
    /// What is in the block that a constructor has put into each place before the search; 0 for no block.
    pub early: [u8; OBJECTS],
}

impl Program {
    /// Every statement, those in branches too.
    pub fn statements(&self) -> Vec<&Statement> {
        fn collect<'a>(of: &'a [Statement], all: &mut Vec<&'a Statement>) {
            for statement in of {
                all.push(statement);
                if let Statement::IfLast(_, inner) = statement {
                    collect(inner, all);
                }
            }
        }
        let mut all = Vec::new();
        self.threads.iter().for_each(|thread| collect(thread, &mut all));
        all
    }

    /// Whether some statement is like this.
    pub fn has(&self, like: impl Fn(&Statement) -> bool) -> bool {
        self.statements().into_iter().any(like)
    }
}
