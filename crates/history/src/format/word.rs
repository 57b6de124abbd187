//! Words of a line, and the values they stand for.

use super::Reason;
use crate::Value;

/// The words of a line with their offsets.
pub(super) fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = line.as_ptr() as usize;
    line.split_ascii_whitespace().map(move |word| (word.as_ptr() as usize - base, word))
}

/// Whether the word is written as an integer, whatever its size.
pub(super) fn is_integer(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The value of a word: an integer, a truth value, nil, or else a text.
pub(super) fn value(word: &str) -> Result<Value, Reason> {
    if is_integer(word) {
        return integer(word).map(Value::Int);
    }
    Ok(match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "nil" | "null" => Value::Nil,
        _ => Value::text(word),
    })
}

/// The value of a word that names something, such as a thread: an integer or a text.
pub(super) fn name(word: &str) -> Result<Value, Reason> {
    if is_integer(word) { integer(word).map(Value::Int) } else { Ok(Value::text(word)) }
}

/// The integer that a word is written as.
pub(super) fn integer(word: &str) -> Result<i64, Reason> {
    word.parse().map_err(|_| {
        if is_integer(word) {
            Reason::OutOfRange(super::error::excerpt(word))
        } else {
            Reason::syntax("an integer", word)
        }
    })
}
