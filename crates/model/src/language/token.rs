//! The words of a model's text.
//!
//! Invariant: tokens are in the order of the text, their spans do not overlap, and the last one is `End`.

use super::diagnostic::{Code, Diagnostic, Span};

/// The largest text that is read. Offsets are kept in 32 bits.
const TEXT_MAX: usize = 256 << 20;

/// What a token is. Names and numbers are found in the text by their span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Name,
    Number(i32),
    Text,
    /// `#define` and the like, with the `#`.
    Directive,
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// Signs, longest first: the first that fits is taken.
const SIGNS: [&str; 47] = [
    "|||", "[*]", "<->", "->", "||", "[]", "<>", "..", "==", "!=", "<=", ">=", "&&", "++", "--", "+=", "-=", "*=",
    "/=", "|=", "=>", "<<", ">>", "[", "]", "{", "}", "(", ")", ";", ",", ".", ":", "@", "!", "?", "\\", "=", "<", ">",
    "+", "-", "*", "/", "%", "|", "&",
];

/// Cuts the text into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Diagnostic> {
    if text.len() > TEXT_MAX {
        return Err(Diagnostic::new(Code::TooLarge, Span::default(), "the text is longer than 256 MiB"));
    }
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, tokens: Vec::new() };
    // A byte order mark is no part of the model.
    if text.starts_with('\u{feff}') {
        lexer.at = 3;
    }
    while lexer.next()? {}
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    lexer.tokens.push(Token { kind: Kind::End, span: end });
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    /// Reads one token; false at the end.
    fn next(&mut self) -> Result<bool, Diagnostic> {
        self.skip_blank()?;
        let start = self.at;
        let Some(&byte) = self.bytes.get(start) else { return Ok(false) };
        let kind = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.take_while(is_name);
                Kind::Name
            }
            b'0'..=b'9' => {
                self.take_while(|byte| byte.is_ascii_digit());
                self.number(start)?
            }
            b'#' => {
                self.at += 1;
                self.take_while(is_name);
                Kind::Directive
            }
            b'"' => self.quoted(start)?,
            _ => self.sign(start)?,
        };
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
        Ok(true)
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&byte| wanted(byte)) {
            self.at += 1;
        }
    }

    fn number(&self, start: usize) -> Result<Kind, Diagnostic> {
        self.text[start..self.at].parse().map(Kind::Number).map_err(|_| {
            Diagnostic::new(Code::Range, self.span(start), "this number is larger than 2147483647")
                .help("integers have 32 bits")
        })
    }

    fn quoted(&mut self, start: usize) -> Result<Kind, Diagnostic> {
        self.at += 1;
        self.take_while(|byte| byte != b'"' && byte != b'\n');
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(Diagnostic::new(Code::Syntax, self.span(start), "this text has no closing quote"));
        }
        self.at += 1;
        Ok(Kind::Text)
    }

    fn sign(&mut self, start: usize) -> Result<Kind, Diagnostic> {
        let rest = &self.bytes[start..];
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) {
            self.at += sign.len();
            return Ok(Kind::Sign(sign));
        }
        if rest[0] == b'^' {
            self.at += 1;
            return Ok(Kind::Sign("^"));
        }
        let found = self.text[start..].chars().next().unwrap_or('?');
        self.at += found.len_utf8();
        let message = format!("the character {found:?} has no meaning here");
        Err(Diagnostic::new(Code::Syntax, self.span(start), message))
    }

    /// Skips blanks and comments.
    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.take_while(|byte| byte.is_ascii_whitespace());
            if self.bytes[self.at..].starts_with(b"//") {
                self.take_while(|byte| byte != b'\n');
            } else if self.bytes[self.at..].starts_with(b"/*") {
                let start = self.at;
                let Some(length) = self.text[start + 2..].find("*/") else {
                    self.at = start + 2;
                    return Err(Diagnostic::new(Code::Syntax, self.span(start), "this comment has no end")
                        .help("close it with */"));
                };
                self.at = start + 2 + length + 2;
            } else {
                return Ok(());
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
