//! The syntax of EDN, as far as values need it: one form at a time from a window of bytes.
//!
//! A parser stands on a window that may end anywhere; when a form does not end within it, [`Stop::More`] asks for a
//! longer one. Forms nest at most [`DEPTH_MAX`] deep, so the recursion here is bounded.

use std::borrow::Cow;

use crate::Value;
use crate::format::Reason;
use crate::format::error::excerpt;
use crate::format::source::text;

/// How deep lists may nest.
pub(in crate::format) const DEPTH_MAX: u32 = 64;

/// Why no form was read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::format) enum Stop {
    /// The window ends inside of the form.
    More,
    /// What is wrong, and at which offset.
    Fault(usize, Reason),
}

/// A form that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::format) enum Form<'a> {
    /// A keyword without its colon, or a symbol.
    Word(&'a str),
    /// Any other value.
    Value(Value),
    /// A form that is no value of a history, such as a map or a fraction: where it stands and why not.
    Unfit(usize, Reason),
}

impl Form<'_> {
    /// That something else belongs in the place of this form.
    pub fn unexpected(&self, expected: &'static str) -> Stop {
        match self {
            Form::Word(word) => Stop::Fault(0, Reason::syntax(expected, word)),
            Form::Value(value) => Stop::Fault(0, Reason::syntax(expected, &value.to_string())),
            Form::Unfit(at, reason) => Stop::Fault(*at, reason.clone()),
        }
    }

    /// The value, or where and why it is none.
    pub fn into_value(self) -> Result<Value, (usize, Reason)> {
        match self {
            Form::Word(word) => Ok(Value::text(word)),
            Form::Value(value) => Ok(value),
            Form::Unfit(at, reason) => Err((at, reason)),
        }
    }
}

/// Reads forms from a window.
#[derive(Clone, Debug)]
pub(in crate::format) struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether nothing follows the window.
    complete: bool,
}

type Parsed<T> = Result<T, Stop>;

impl<'a> Parser<'a> {
    pub fn new(bytes: &'a [u8], complete: bool) -> Self {
        Parser { bytes, at: 0, complete }
    }

    /// How much was read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What was read.
    pub fn consumed(&self) -> &'a [u8] {
        &self.bytes[..self.at]
    }

    /// The rest of the line, as far as the window has it.
    pub fn line(&self) -> Cow<'a, str> {
        let rest = &self.bytes[self.at..];
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len()).min(200);
        String::from_utf8_lossy(&rest[..end])
    }

    /// The next byte, `None` at the end of a complete window.
    pub fn peek(&self) -> Parsed<Option<u8>> {
        match self.bytes.get(self.at) {
            Some(&byte) => Ok(Some(byte)),
            None if self.complete => Ok(None),
            None => Err(Stop::More),
        }
    }

    /// Takes a byte that was peeked.
    pub fn bump(&mut self) {
        self.at += 1;
    }

    /// Something else than what belongs here.
    pub fn expected(&self, expected: &'static str) -> Stop {
        if self.at >= self.bytes.len() {
            return self.cut_off(expected);
        }
        Stop::Fault(self.at, Reason::syntax(expected, &self.line()))
    }

    /// The window ends where something should follow.
    pub fn cut_off(&self, expected: &'static str) -> Stop {
        if self.complete { Stop::Fault(self.bytes.len(), Reason::Truncated { expected }) } else { Stop::More }
    }

    /// Skips white space, commas, comments and discarded forms.
    pub fn blank(&mut self, depth: u32) -> Parsed<()> {
        loop {
            match self.bytes.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() || *byte == b',' => self.at += 1,
                Some(b';') => self.comment()?,
                Some(b'#') => match self.bytes.get(self.at + 1) {
                    Some(b'_') => self.discard(depth)?,
                    None if !self.complete => return Err(Stop::More),
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Parsed<()> {
        let rest = &self.bytes[self.at..];
        let length = match memchr::memchr(b'\n', rest) {
            Some(length) => length + 1,
            None if self.complete => rest.len(),
            None => return Err(Stop::More),
        };
        text(&rest[..length]).map_err(|(at, reason)| Stop::Fault(self.at + at, reason))?;
        self.at += length;
        Ok(())
    }

    fn discard(&mut self, depth: u32) -> Parsed<()> {
        if depth >= DEPTH_MAX {
            return Err(Stop::Fault(self.at, Reason::Nesting));
        }
        self.at += 2;
        self.form(depth + 1).map(drop)
    }

    /// A form, after what is blank. Nothing but the window's end may follow it.
    pub fn last_value(&mut self) -> Parsed<Form<'a>> {
        let form = self.form(0)?;
        self.blank(0)?;
        match self.peek()? {
            None => Ok(form),
            Some(_) => Err(self.expected("the end of the line after the value")),
        }
    }

    /// A form, after what is blank.
    pub fn form(&mut self, depth: u32) -> Parsed<Form<'a>> {
        self.blank(depth)?;
        let at = self.at;
        match self.peek()? {
            None => Err(self.cut_off("a value")),
            Some(b'[') => self.list(depth, b']'),
            Some(b'(') => self.list(depth, b')'),
            Some(b'{') => self.map(depth),
            Some(b'"') => self.string(),
            Some(b'\\') => self.character(),
            Some(b'#') => self.dispatch(depth),
            Some(b':') => {
                self.bump();
                let word = self.token()?;
                if word.is_empty() {
                    return match self.peek()? {
                        None => Err(self.cut_off("a keyword")),
                        Some(_) => Err(Stop::Fault(at, Reason::syntax("a keyword", ":"))),
                    };
                }
                Ok(Form::Word(word))
            }
            Some(b'0'..=b'9') => self.number(),
            Some(b'+' | b'-') => match self.bytes.get(self.at + 1) {
                Some(b'0'..=b'9') => self.number(),
                None if !self.complete => Err(Stop::More),
                _ => self.symbol(),
            },
            Some(_) => self.symbol(),
        }
    }

    /// What stands up to the next delimiter.
    pub fn token(&mut self) -> Parsed<&'a str> {
        let rest = &self.bytes[self.at..];
        let length = match rest.iter().position(|&byte| DELIMITER[usize::from(byte)]) {
            Some(length) => length,
            None if self.complete => rest.len(),
            None => return Err(Stop::More),
        };
        let token = text(&rest[..length]).map_err(|(at, reason)| Stop::Fault(self.at + at, reason))?;
        self.at += length;
        Ok(token)
    }

    fn symbol(&mut self) -> Parsed<Form<'a>> {
        let at = self.at;
        let token = self.token()?;
        if token.is_empty() || token.starts_with(['^', '@', '`', '~', '\'']) {
            self.at = at;
            return Err(self.expected("a value"));
        }
        Ok(match token {
            "nil" => Form::Value(Value::Nil),
            "true" => Form::Value(Value::Bool(true)),
            "false" => Form::Value(Value::Bool(false)),
            _ => Form::Word(token),
        })
    }

    fn number(&mut self) -> Parsed<Form<'a>> {
        let at = self.at;
        let token = self.token()?;
        let digits = token.strip_suffix('N').unwrap_or(token);
        if let Ok(int) = digits.parse() {
            return Ok(Form::Value(Value::Int(int)));
        }
        let found = excerpt(token);
        if digits.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Form::Unfit(at, Reason::OutOfRange(found)));
        }
        Ok(Form::Unfit(at, Reason::NotAnInteger(found)))
    }

    fn string(&mut self) -> Parsed<Form<'a>> {
        let begin = self.at + 1;
        let mut at = begin;
        let mut plain = true;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(length) if rest[length] == b'"' => {
                    at += length;
                    break;
                }
                Some(length) => {
                    plain = false;
                    at += length + 2;
                }
                None => return Err(self.cut_off("the end of a string")),
            }
        }
        let inside = text(&self.bytes[begin..at]).map_err(|(at, reason)| Stop::Fault(begin + at, reason))?;
        self.at = at + 1;
        if plain {
            return Ok(Form::Value(Value::text(inside)));
        }
        unescape(inside).map(|string| Form::Value(Value::text(string))).map_err(|(at, found)| {
            Stop::Fault(begin + at, Reason::syntax("an escape (\\n \\t \\r \\b \\f \\\\ \\\" \\uXXXX)", &found))
        })
    }

    fn character(&mut self) -> Parsed<Form<'a>> {
        let at = self.at;
        self.bump();
        let Some(first) = self.peek()? else {
            return Err(self.cut_off("a character"));
        };
        if DELIMITER[usize::from(first)] && !first.is_ascii_whitespace() {
            self.bump();
            return Ok(Form::Value(Value::text(char::from(first))));
        }
        let token = self.token()?;
        let mut characters = token.chars();
        let character = match (characters.next(), characters.as_str()) {
            (Some(character), "") => Some(character),
            (Some('u'), hex) => code_unit(hex).and_then(|unit| char::from_u32(unit.into())),
            _ => match token {
                "newline" => Some('\n'),
                "return" => Some('\r'),
                "space" => Some(' '),
                "tab" => Some('\t'),
                _ => None,
            },
        };
        match character {
            Some(character) => Ok(Form::Value(Value::text(character))),
            None => Err(Stop::Fault(at, Reason::syntax("a character such as \\a or \\newline", token))),
        }
    }

    fn dispatch(&mut self, depth: u32) -> Parsed<Form<'a>> {
        let at = self.at;
        match self.bytes.get(self.at + 1) {
            None => Err(self.cut_off("a set or a tagged value")),
            Some(b'{') => {
                self.bump();
                let set = self.list(depth, b'}')?;
                Ok(match set {
                    Form::Value(Value::List(items)) => {
                        let mut items = items.to_vec();
                        items.sort();
                        items.dedup();
                        Form::Value(Value::list(items))
                    }
                    other => other,
                })
            }
            Some(b'#') => {
                let token = self.token()?;
                Ok(Form::Unfit(at, Reason::NotAnInteger(excerpt(token))))
            }
            Some(_) => {
                self.tag()?;
                if depth >= DEPTH_MAX {
                    return Err(Stop::Fault(at, Reason::Nesting));
                }
                self.form(depth + 1)
            }
        }
    }

    /// Skips a tag: what it tags is read as it is.
    pub fn tag(&mut self) -> Parsed<()> {
        let at = self.at;
        self.bump();
        let tag = self.token()?;
        if tag.starts_with(|c: char| c.is_alphabetic() || c == ':') {
            return Ok(());
        }
        self.at = at;
        Err(self.expected("a value"))
    }

    fn list(&mut self, depth: u32, close: u8) -> Parsed<Form<'a>> {
        if depth >= DEPTH_MAX {
            return Err(Stop::Fault(self.at, Reason::Nesting));
        }
        self.bump();
        let mut items = Vec::new();
        let mut unfit = None;
        loop {
            self.blank(depth)?;
            match self.peek()? {
                None => return Err(self.cut_off("the end of a list")),
                Some(byte) if byte == close => {
                    self.bump();
                    break;
                }
                Some(b']' | b')' | b'}') => return Err(self.expected("a value or the end of a list")),
                Some(_) => match self.form(depth + 1)?.into_value() {
                    Ok(value) => items.push(value),
                    Err((at, reason)) => unfit = unfit.or(Some(Form::Unfit(at, reason))),
                },
            }
        }
        Ok(unfit.unwrap_or_else(|| Form::Value(Value::list(items))))
    }

    fn map(&mut self, depth: u32) -> Parsed<Form<'a>> {
        let at = self.at;
        self.list(depth, b'}').map(|_| Form::Unfit(at, Reason::MapValue))
    }
}

const DELIMITER: [bool; 256] = {
    let mut table = [false; 256];
    let delimiters = b" \t\n\r\x0C\x0B,()[]{}\";";
    let mut i = 0;
    while i < delimiters.len() {
        table[delimiters[i] as usize] = true;
        i += 1;
    }
    table
};

/// The code unit of four hexadecimal digits.
fn code_unit(hex: &str) -> Option<u16> {
    let digits = hex.len() == 4 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u16::from_str_radix(hex, 16).ok()).flatten()
}

/// The string without its escapes, or the offset and text of a wrong one.
fn unescape(inside: &str) -> Result<String, (usize, String)> {
    let mut string = String::with_capacity(inside.len());
    // Characters outside of the basic plane are written as two code units.
    let mut high = None;
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let begin = inside.len() - rest.len() + at;
        let wrong = || (begin, inside[begin..].chars().take(6).collect());
        if high.is_some() && at > 0 {
            return Err(wrong());
        }
        string.push_str(&rest[..at]);
        let mut escape = rest[at + 1..].chars();
        let character = match escape.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{C}',
            Some(c @ ('\\' | '"' | '\'' | '/')) => c,
            Some('u') => {
                let digits = escape.as_str().get(..4).ok_or_else(wrong)?;
                let unit = code_unit(digits).ok_or_else(wrong)?;
                escape = escape.as_str()[4..].chars();
                if (0xD800..0xDC00).contains(&unit) && high.is_none() {
                    high = Some(unit);
                    rest = escape.as_str();
                    continue;
                }
                let units = high.take().into_iter().chain([unit]);
                let mut decoded = char::decode_utf16(units);
                match (decoded.next(), decoded.next()) {
                    (Some(Ok(character)), None) => character,
                    _ => return Err(wrong()),
                }
            }
            _ => return Err(wrong()),
        };
        if high.is_some() {
            return Err(wrong());
        }
        string.push(character);
        rest = escape.as_str();
    }
    if high.is_some() {
        return Err((inside.len() - rest.len(), rest.chars().take(6).collect()));
    }
    string.push_str(rest);
    Ok(string)
}
