//! What is done to a grammar once it is read: rules that only name operations are put in place, and the language is closed
//! under prefixes (an object's executions are those of a transition system, section 3).

use super::grammar::{Grammar, Production, Symbol};

/// Alternatives that a rule may have to be put in place of its name.
const INLINED_MAX: usize = 6;
/// Alternatives that one may become by that.
const VARIANTS_MAX: usize = 64;

/// The first rule that has no finite word.
pub(super) fn barren_rule(grammar: &Grammar) -> Option<usize> {
    let mut fruitful = vec![false; grammar.rules.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for production in &grammar.productions {
            let ends = production.symbols.iter().all(|symbol| match *symbol {
                Symbol::Letter(_) => true,
                Symbol::Rule(rule) => fruitful[rule],
            });
            if ends && !std::mem::replace(&mut fruitful[production.rule], true) {
                changed = true;
            }
        }
    }
    fruitful.iter().position(|fruitful| !fruitful)
}

/// Puts rules whose alternatives are one operation each in place of their names.
pub(super) fn inline(grammar: &mut Grammar) {
    let single = |rule: usize| {
        let own = grammar.productions.iter().filter(|production| production.rule == rule);
        let letters: Vec<Symbol> = own
            .clone()
            .filter(|production| production.symbols.len() == 1)
            .map(|production| production.symbols[0])
            .collect();
        let all = letters.len() == own.count() && letters.iter().all(|symbol| matches!(symbol, Symbol::Letter(_)));
        (all && rule != grammar.start && letters.len() <= INLINED_MAX).then_some(letters)
    };
    let singles: Vec<Option<Vec<Symbol>>> = (0..grammar.rules.len()).map(single).collect();
    let mut productions = Vec::new();
    for production in &grammar.productions {
        let choices = |symbol: &Symbol| match *symbol {
            Symbol::Rule(rule) => singles[rule].clone().unwrap_or_else(|| vec![*symbol]),
            letter => vec![letter],
        };
        let choices: Vec<Vec<Symbol>> = production.symbols.iter().map(choices).collect();
        let variants = choices.iter().fold(1usize, |product, choices| product.saturating_mul(choices.len()));
        if variants > VARIANTS_MAX {
            productions.push(production.clone());
            continue;
        }
        let mut variants: Vec<Vec<Symbol>> = vec![Vec::new()];
        for choices in &choices {
            let with =
                |variant: &Vec<Symbol>| choices.iter().map(|&c| [&variant[..], &[c]].concat()).collect::<Vec<_>>();
            variants = variants.iter().flat_map(with).collect();
        }
        productions.extend(variants.into_iter().map(|symbols| Production { rule: production.rule, symbols }));
    }
    grammar.productions = productions;
    drop_unreachable(grammar);
}

/// Leaves out the alternatives of rules that no execution uses.
fn drop_unreachable(grammar: &mut Grammar) {
    let mut reached = vec![false; grammar.rules.len()];
    reached[grammar.start] = true;
    let mut changed = true;
    while changed {
        changed = false;
        for production in &grammar.productions {
            let symbols = if reached[production.rule] { &production.symbols[..] } else { &[] };
            for symbol in symbols {
                if let Symbol::Rule(rule) = *symbol {
                    changed |= !std::mem::replace(&mut reached[rule], true);
                }
            }
        }
    }
    grammar.productions.retain(|production| reached[production.rule]);
}

/// Closes the language under prefixes: beside each rule A a rule A' of the beginnings of A's words.
pub(super) fn close(grammar: &mut Grammar) {
    if is_closed(grammar) {
        return;
    }
    let rules = grammar.rules.len();
    let beginnings: Vec<String> = grammar.rules.iter().map(|rule| format!("{rule}'")).collect();
    grammar.rules.extend(beginnings);
    let mut productions: Vec<Production> =
        (0..rules).map(|rule| Production { rule: rules + rule, symbols: Vec::new() }).collect();
    for production in &grammar.productions {
        for (i, &last) in production.symbols.iter().enumerate() {
            let mut symbols = production.symbols[..i].to_vec();
            symbols.push(match last {
                Symbol::Letter(_) => last,
                Symbol::Rule(rule) => Symbol::Rule(rules + rule),
            });
            productions.push(Production { rule: rules + production.rule, symbols });
        }
    }
    grammar.productions.extend(productions);
    let mut seen = std::collections::HashSet::new();
    grammar.productions.retain(|production| seen.insert(production.clone()));
    grammar.start += rules;
}

/// Whether it is a finite automaton all of whose states may end.
fn is_closed(grammar: &Grammar) -> bool {
    let simple = grammar
        .productions
        .iter()
        .all(|production| matches!(production.symbols[..], [] | [_] | [Symbol::Letter(_), Symbol::Rule(_)]));
    let may_end = |rule: usize| {
        grammar.productions.iter().any(|production| production.rule == rule && production.symbols.is_empty())
    };
    let used = |rule: usize| grammar.productions.iter().any(|production| production.rule == rule);
    simple && (0..grammar.rules.len()).all(|rule| !used(rule) || may_end(rule))
}
