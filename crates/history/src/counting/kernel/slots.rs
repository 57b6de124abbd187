//! A kernel's words cut into slots: the grammar of words whose letters carry a slot from 0 to k that never goes down.
//!
//! Rule (A, p, q) derives the words of A whose slots lie from p to q (not all need occur). A letter in slot s may stand for
//! any operation whose interval holds s, so a history of length at most k is in the library exactly when some such
//! word has a letter for each of its operations. Only what can be reached from (start, 0, k) is made; for a finite automaton that is one copy
//! of each state per slot.

use std::collections::HashMap;

use super::grammar::{Grammar, Production, Symbol};

/// A rule with the slots that its words may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SlotRule {
    pub rule: usize,
    pub first: usize,
    pub last: usize,
}

/// An alternative of such a rule. Its order is forgotten: only numbers matter from here on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SlotProduction {
    /// Whose alternative it is, by its number among the slot rules.
    pub rule: usize,
    /// The slot rules it uses, sorted.
    pub uses: Vec<usize>,
    /// Its letters with their slots, sorted.
    pub letters: Vec<(usize, usize)>,
}

/// The grammar of words with slots. The first rule is the start.
#[derive(Clone, Debug)]
pub(super) struct Slotted {
    pub rules: Vec<SlotRule>,
    pub productions: Vec<SlotProduction>,
}

/// More alternatives than this are not made.
pub(super) const PRODUCTIONS_MAX: usize = 20_000;

/// Cuts the words of the grammar into slots 0 to k; `None` when there would be too many alternatives.
pub(super) fn slotted(grammar: &Grammar, k: usize) -> Option<Slotted> {
    let start = SlotRule { rule: grammar.start, first: 0, last: k };
    let mut maker = Maker { numbers: HashMap::from_iter([(start, 0)]), rules: vec![start] };
    let mut productions = Vec::new();
    let mut next = 0;
    while let Some(&rule) = maker.rules.get(next) {
        let mut seen = std::collections::HashSet::new();
        for production in grammar.productions.iter().filter(|production| production.rule == rule.rule) {
            let mut cuts = Vec::new();
            cut(production, rule.last, 0, Draft { slot: rule.first, ..Draft::default() }, &mut cuts);
            for draft in cuts {
                let mut uses: Vec<usize> = draft.uses.iter().map(|&used| maker.number(used)).collect();
                uses.sort_unstable();
                let mut letters = draft.letters;
                letters.sort_unstable();
                let production = SlotProduction { rule: next, uses, letters };
                if seen.insert(production.clone()) {
                    productions.push(production);
                }
            }
            if productions.len() > PRODUCTIONS_MAX {
                return None;
            }
        }
        next += 1;
    }
    Some(Slotted { rules: maker.rules, productions })
}

struct Maker {
    numbers: HashMap<SlotRule, usize>,
    rules: Vec<SlotRule>,
}

impl Maker {
    fn number(&mut self, rule: SlotRule) -> usize {
        *self.numbers.entry(rule).or_insert_with(|| {
            self.rules.push(rule);
            self.rules.len() - 1
        })
    }
}

#[derive(Clone, Default)]
struct Draft {
    /// The first slot that what comes next may use.
    slot: usize,
    /// Whether what comes next, a letter, must use exactly that slot.
    fixed: bool,
    uses: Vec<SlotRule>,
    letters: Vec<(usize, usize)>,
}

/// Every way to give slots to the symbols from `at` on. A rule before a letter ends in the letter's slot, the last one in the
/// last slot there is: what could end earlier is contained in what ends there. At most 20 symbols, so the depth is bounded.
fn cut(production: &Production, last: usize, at: usize, draft: Draft, out: &mut Vec<Draft>) {
    if out.len() > PRODUCTIONS_MAX {
        return;
    }
    let Some(&symbol) = production.symbols.get(at) else {
        out.push(draft);
        return;
    };
    let is_last = at + 1 == production.symbols.len();
    match symbol {
        Symbol::Letter(label) => {
            let choices = if draft.fixed { draft.slot..=draft.slot } else { draft.slot..=last };
            for slot in choices {
                let mut with = Draft { slot, fixed: false, ..draft.clone() };
                with.letters.push((label, slot));
                cut(production, last, at + 1, with, out);
            }
        }
        Symbol::Rule(rule) => {
            let choices = if is_last { last..=last } else { draft.slot..=last };
            for slot in choices {
                let fixed = matches!(production.symbols.get(at + 1), Some(Symbol::Letter(_)));
                let mut with = Draft { slot, fixed, ..draft.clone() };
                with.uses.push(SlotRule { rule, first: draft.slot, last: slot });
                cut(production, last, at + 1, with, out);
            }
        }
    }
}
