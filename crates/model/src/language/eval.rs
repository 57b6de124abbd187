//! Values of expressions, effects of statements.
//!
//! Invariant: evaluation allocates nothing but the message of a fault, and ends: recursion is bounded by the depth of the
//! expression, loops by `LOOP_MAX`.

use smallvec::SmallVec;

use super::program::{Change, Ex, ExId, Op, Place, Program, Query, Segment, St};
use crate::system::Fault;

/// A state in words: variables, segments, process.
pub(crate) type Words = SmallVec<[i32; 30]>;

pub(crate) type Evaluated<T> = Result<T, Box<Fault>>;

/// How many rounds the loops of one block may make.
const LOOP_MAX: u32 = 1_000_000;

/// What an operation returned: a number that stands in its text, or one that was computed.
pub(crate) enum Answered {
    Literal(i32),
    Value(i32),
}

/// How a block runs.
struct Course {
    /// Rounds of loops that are left.
    rounds: u32,
    /// Whether data was written.
    changed: bool,
    /// Whether what it returned stands in its text.
    literal: bool,
}

impl Course {
    fn new() -> Self {
        Course { rounds: LOOP_MAX, changed: false, literal: false }
    }
}
/// How long a collection may grow.
const COLLECTION_MAX: usize = 10_000;

pub(crate) fn fault<T>(place: Place, message: impl Into<String>) -> Evaluated<T> {
    Err(Box::new(Fault { message: message.into(), place: Some(place) }))
}

/// What an expression may read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub data: &'a [i32],
    pub env: &'a [i32],
    pub bound: &'a [i32],
}

impl Program {
    pub fn eval(&self, id: ExId, from: &Reading<'_>) -> Evaluated<i32> {
        Ok(match &self.exprs[id.0 as usize] {
            Ex::Const(value) => *value,
            Ex::Local(at) => from.env[*at as usize],
            Ex::Bound(at) => from.bound[*at as usize],
            Ex::Global(at) => from.data[*at as usize],
            Ex::Element { base, len, index, place } => {
                let index = self.eval(*index, from)?;
                if index < 0 || index as u32 >= *len {
                    return self.outside(*base, index, *len, *place);
                }
                from.data[(*base + index as u32) as usize]
            }
            Ex::Elements { base, at, place } => from.data[self.offset(*base, at, *place, from)?],
            Ex::Not(inner) => i32::from(self.eval(*inner, from)? == 0),
            Ex::Neg(inner, place) => match self.eval(*inner, from)?.checked_neg() {
                Some(value) => value,
                None => return too_large(*place),
            },
            Ex::And(a, b) => i32::from(self.eval(*a, from)? != 0 && self.eval(*b, from)? != 0),
            Ex::Or(a, b) => i32::from(self.eval(*a, from)? != 0 || self.eval(*b, from)? != 0),
            Ex::Bin(op, a, b, place) => {
                let (a, b) = (self.eval(*a, from)?, self.eval(*b, from)?);
                return compute(*op, a, b, *place);
            }
            Ex::Query { of, query, args, place } => return self.query(*of, *query, args, *place, from),
            Ex::Messages { of, place } => {
                let (start, len) = self.segment(*of, *place, from)?;
                let mut words = &from.data[start..start + len];
                let mut count = 0;
                while let [size, rest @ ..] = words {
                    words = &rest[*size as usize..];
                    count += 1;
                }
                count
            }
        })
    }

    pub fn holds(&self, id: ExId, from: &Reading<'_>) -> Evaluated<bool> {
        Ok(self.eval(id, from)? != 0)
    }

    fn outside<T>(&self, base: u32, index: i32, len: u32, place: Place) -> Evaluated<T> {
        let name = self.global_name(base);
        fault(place, format!("index {index} is outside of {name}, whose indices are 0 to {}", i64::from(len) - 1))
    }

    fn global_name(&self, at: u32) -> &str {
        self.globals.iter().rfind(|global| global.at <= at).map_or("the array", |global| global.name.as_str())
    }

    fn offset(&self, base: u32, at: &[(ExId, u32)], place: Place, from: &Reading<'_>) -> Evaluated<usize> {
        let mut offset = 0;
        for &(index, len) in at {
            let index = self.eval(index, from)?;
            if index < 0 || index as u32 >= len {
                return self.outside(base, index, len, place);
            }
            offset = offset * len + index as u32;
        }
        Ok((base + offset) as usize)
    }

    /// Where the words of a segment begin, and how many there are.
    pub fn segment(&self, of: Segment, place: Place, from: &Reading<'_>) -> Evaluated<(usize, usize)> {
        let index = match of.index {
            None => 0,
            Some(index) => self.eval(index, from)?,
        };
        if index < 0 || index as u32 >= of.count {
            let last = i64::from(of.count) - 1;
            return fault(place, format!("index {index} is outside of the array, whose indices are 0 to {last}"));
        }
        Ok(self.locate(of.base + index as u32, from.data))
    }

    pub fn locate(&self, segment: u32, data: &[i32]) -> (usize, usize) {
        let mut at = self.fixed;
        for _ in 0..segment {
            at += 1 + data[at] as usize;
        }
        (at + 1, data[at] as usize)
    }

    /// Where the process begins.
    pub fn process_start(&self, data: &[i32]) -> usize {
        let mut at = self.fixed;
        for _ in 0..self.segments.len() {
            at += 1 + data[at] as usize;
        }
        at
    }

    fn query(&self, of: Segment, query: Query, args: &[ExId], place: Place, from: &Reading<'_>) -> Evaluated<i32> {
        let (start, len) = self.segment(of, place, from)?;
        let words = &from.data[start..start + len];
        let found = match query {
            Query::Count => return Ok(len as i32),
            Query::IsEmpty => return Ok(i32::from(len == 0)),
            Query::First => words.first(),
            Query::Last => words.last(),
            Query::Get => {
                let index = self.eval(args[0], from)?;
                match usize::try_from(index).ok().and_then(|index| words.get(index)) {
                    Some(value) => return Ok(*value),
                    None => return fault(place, format!("index {index} is outside of a list of {len}")),
                }
            }
            Query::Contains => {
                let value = self.eval(args[0], from)?;
                return Ok(i32::from(words.contains(&value)));
            }
            Query::IndexOf => {
                let value = self.eval(args[0], from)?;
                return Ok(words.iter().position(|&word| word == value).map_or(-1, |at| at as i32));
            }
        };
        match found {
            Some(value) => Ok(*value),
            None => fault(place, "it is empty: there is no element to look at"),
        }
    }

    /// Runs a block on data; answers what it returned, if it did. `bound` holds the block's variables.
    pub fn run(&self, block: &[St], data: &mut Words, env: &[i32], bound: &mut Words) -> Evaluated<Option<i32>> {
        self.statements(block, data, env, bound, &mut Course::new())
    }

    /// The same for the body of an operation; answers its result, and whether it assigned to a variable or changed a collection.
    pub fn operate(&self, block: &[St], data: &mut Words, env: &[i32]) -> Evaluated<(Answered, bool)> {
        let mut course = Course::new();
        let result = self.statements(block, data, env, &mut Words::new(), &mut course)?;
        let answered = match result {
            Some(value) if !course.literal => Answered::Value(value),
            result => Answered::Literal(result.unwrap_or(0)),
        };
        Ok((answered, course.changed))
    }

    fn statements(
        &self,
        block: &[St],
        data: &mut Words,
        env: &[i32],
        bound: &mut Words,
        course: &mut Course,
    ) -> Evaluated<Option<i32>> {
        for statement in block {
            let from = Reading { data, env, bound };
            match statement {
                St::Set { at, bounds, value, place } => {
                    let value = self.eval(*value, &from)?;
                    self.bounded(*at, *bounds, value, *place)?;
                    data[*at as usize] = value;
                    course.changed = true;
                }
                St::SetElement { base, at, bounds, value, place } => {
                    let value = self.eval(*value, &from)?;
                    let offset = self.offset(*base, at, *place, &from)?;
                    self.bounded(*base, *bounds, value, *place)?;
                    data[offset] = value;
                    course.changed = true;
                }
                St::SetLocal(at, value) => {
                    let value = self.eval(*value, &from)?;
                    if bound.len() <= *at as usize {
                        bound.resize(*at as usize + 1, 0);
                    }
                    bound[*at as usize] = value;
                }
                St::If(condition, then, otherwise) => {
                    let branch = if self.holds(*condition, &from)? { then } else { otherwise };
                    if let Some(value) = self.statements(branch, data, env, bound, course)? {
                        return Ok(Some(value));
                    }
                }
                St::While(condition, body, place) => {
                    while self.holds(*condition, &Reading { data, env, bound })? {
                        if course.rounds == 0 {
                            return fault(*place, format!("the loop does not end within {LOOP_MAX} rounds"));
                        }
                        course.rounds -= 1;
                        if let Some(value) = self.statements(body, data, env, bound, course)? {
                            return Ok(Some(value));
                        }
                    }
                }
                St::Change { of, change, args, place } => {
                    let mut values = [0; 2];
                    for (value, arg) in values.iter_mut().zip(args.iter()) {
                        *value = self.eval(*arg, &from)?;
                    }
                    let (start, len) = self.segment(*of, *place, &from)?;
                    alter(*change, values, data, start, len, *place)?;
                    course.changed = true;
                }
                St::Return(value) => {
                    course.literal = matches!(self.exprs[value.0 as usize], Ex::Const(_));
                    return self.eval(*value, &from).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn bounded(&self, at: u32, bounds: Option<(i32, i32)>, value: i32, place: Place) -> Evaluated<()> {
        let Some((low, high)) = bounds else { return Ok(()) };
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let range = match (low, high) {
            (i32::MIN, high) => format!("at most {high}"),
            (low, i32::MAX) => format!("at least {low}"),
            (low, high) => format!("{low} to {high}"),
        };
        fault(place, format!("{} leaves its range: it becomes {value}, and may be {range}", self.global_name(at)))
    }
}

fn too_large<T>(place: Place) -> Evaluated<T> {
    fault(place, "the result does not fit into 32 bits")
}

pub(crate) fn compute(op: Op, a: i32, b: i32, place: Place) -> Evaluated<i32> {
    let result = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::Div | Op::Mod if b == 0 => return fault(place, "division by zero"),
        Op::Div => a.checked_div(b),
        // As PAT does: never negative for a positive divisor, so that (i-1)%N is the neighbour in a ring.
        Op::Mod => a.checked_rem(b).map(|rest| if rest < 0 { rest.wrapping_add(b.wrapping_abs()) } else { rest }),
        Op::Eq => Some(i32::from(a == b)),
        Op::Ne => Some(i32::from(a != b)),
        Op::Lt => Some(i32::from(a < b)),
        Op::Le => Some(i32::from(a <= b)),
        Op::Gt => Some(i32::from(a > b)),
        Op::Ge => Some(i32::from(a >= b)),
        Op::Xor => Some(i32::from((a != 0) != (b != 0))),
        Op::BitOr => Some(a | b),
        Op::BitXor => Some(a ^ b),
        Op::BitAnd => Some(a & b),
    };
    match result {
        Some(value) => Ok(value),
        None => too_large(place),
    }
}

/// Changes the words of a segment that begin at `start`; the word before them is their number.
fn alter(
    change: Change,
    [first, second]: [i32; 2],
    data: &mut Words,
    start: usize,
    len: usize,
    place: Place,
) -> Evaluated<()> {
    let words = &data[start..start + len];
    let index = |limit: usize| match usize::try_from(first) {
        Ok(index) if index < limit => Ok(index),
        _ => fault(place, format!("index {first} is outside of a list of {len}")),
    };
    let (insert, remove) = match change {
        Change::PushBack => (Some((len, first)), None),
        Change::PopFront | Change::PopBack if len == 0 => {
            return fault(place, "it is empty: there is no element to remove");
        }
        Change::PopFront => (None, Some(0)),
        Change::PopBack => (None, Some(len - 1)),
        Change::Insert => match words.binary_search(&first) {
            Ok(_) => (None, None),
            Err(at) => (Some((at, first)), None),
        },
        Change::InsertAt => (Some((index(len + 1)?, second)), None),
        Change::SetAt => {
            data[start + index(len)?] = second;
            (None, None)
        }
        Change::RemoveAt => (None, Some(index(len)?)),
        Change::Remove => (None, words.iter().position(|&word| word == first)),
        Change::Clear => {
            data.drain(start..start + len);
            data[start - 1] = 0;
            (None, None)
        }
    };
    if let Some((at, value)) = insert {
        if len >= COLLECTION_MAX {
            return fault(place, format!("it grows beyond {COLLECTION_MAX} elements"));
        }
        data.insert(start + at, value);
        data[start - 1] += 1;
    }
    if let Some(at) = remove {
        data.remove(start + at);
        data[start - 1] -= 1;
    }
    Ok(())
}
