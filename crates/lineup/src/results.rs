//! Results of operations as small numbers, so that histories are cheap to record and to compare.

use std::collections::HashMap;

/// A result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultId(pub u32);

/// All results seen so far, as texts.
#[derive(Clone, Debug)]
pub struct Results {
    texts: Vec<String>,
    ids: HashMap<String, ResultId>,
}

impl Default for Results {
    fn default() -> Self {
        Self::new("void")
    }
}

impl Results {
    /// The result that says nothing.
    pub const VOID: ResultId = ResultId(0);

    /// No results but the one that says nothing, which is written so.
    pub fn new(void: &str) -> Self {
        Results { texts: vec![void.to_owned()], ids: HashMap::from([(void.to_owned(), Self::VOID)]) }
    }

    /// The number of a text.
    pub fn intern(&mut self, text: &str) -> ResultId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = ResultId(self.texts.len() as u32);
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// The number of a text that was seen before.
    pub fn find(&self, text: &str) -> Option<ResultId> {
        self.ids.get(text).copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never: the result that says nothing is always there.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text of a number.
    pub fn text(&self, id: ResultId) -> &str {
        self.texts.get(id.0 as usize).map_or("?", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers() {
        let mut results = Results::new("void");
        let one = results.intern("1");
        assert_eq!(results.intern("void"), Results::VOID);
        assert_eq!(results.intern("1"), one);
        assert_eq!((results.text(one), results.text(Results::VOID), results.text(ResultId(9))), ("1", "void", "?"));
        assert_eq!(results.find("2"), None);
    }
}
