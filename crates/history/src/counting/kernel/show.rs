//! The formula of a kernel as text, in the terms of figure 4: `total(label, i, j)` is how many operations lie in slots i to j.

use std::fmt;

use super::formula::Formula;
use super::grammar::Symbol;

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let k = self.k();
        let rules = self.slotted.rules.len();
        writeln!(
            f,
            "// Histories of length at most {k}. They are executions of the kernel exactly when numbers n1, n2 ... from 0"
        )?;
        writeln!(f, "// up exist such that all of this holds. {} unknowns, {rules} rules with slots.", self.size())?;
        writeln!(
            f,
            "\n// How often each alternative is used. A rule [p..q] derives words in slots p to q; @s is a slot."
        )?;
        for (i, production) in self.slotted.productions.iter().enumerate() {
            write!(f, "exists n{} // {} =", i + 1, self.slot_rule(production.rule))?;
            let letters = production.letters.iter().map(|&(label, slot)| format!("\"{}\"@{slot}", self.label(label)));
            let uses = production.uses.iter().map(|&rule| self.slot_rule(rule));
            let parts: Vec<String> = letters.chain(uses).collect();
            writeln!(f, " {}", if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") })?;
        }
        self.pending(f)?;
        writeln!(f, "\n// Each rule is expanded as often as it is used; the first is used once more.")?;
        for rule in 0..rules {
            let expanded = self.sum(|production| usize::from(production.rule == rule));
            let used = self.sum(|production| production.uses.iter().filter(|&&used| used == rule).count());
            let once = if rule == 0 { if used == "0" { "1".to_owned() } else { format!("1 + {used}") } } else { used };
            writeln!(f, "{expanded} = {once} // {}", self.slot_rule(rule))?;
        }
        writeln!(
            f,
            "\n// Connected: every rule that is expanded is reached from the first through alternatives that are used."
        )?;
        writeln!(f, "connected({})", self.slot_rule(0))?;
        writeln!(f, "\n// Letters serve as the operations that may take effect in their slots.")?;
        for label in 0..self.grammar.labels.len() {
            self.demands(f, label)?;
        }
        Ok(())
    }
}

impl Formula {
    fn slot_rule(&self, rule: usize) -> String {
        let rule = self.slotted.rules[rule];
        format!("{}[{}..{}]", self.grammar.rules[rule.rule], rule.first, rule.last)
    }

    /// A sum of unknowns, each as often as `times` says.
    fn sum(&self, times: impl Fn(&super::slots::SlotProduction) -> usize) -> String {
        let mut terms = Vec::new();
        for (i, production) in self.slotted.productions.iter().enumerate() {
            match times(production) {
                0 => {}
                1 => terms.push(format!("n{}", i + 1)),
                more => terms.push(format!("{more} n{}", i + 1)),
            }
        }
        if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
    }

    fn pending(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n// How many pending calls that began in slot i became which label; the rest took no effect.")?;
        for (call, labels) in self.calls.iter().enumerate() {
            for first in 0..=self.k() {
                let became: Vec<String> =
                    labels.iter().map(|&label| format!("became(\"{}\", {first})", self.label(label))).collect();
                let pending = self.call(call);
                writeln!(f, "{} <= #(\"{pending}\", {first}, {})", became.join(" + "), self.k())?;
            }
        }
        Ok(())
    }

    fn demands(&self, f: &mut fmt::Formatter<'_>, label: usize) -> fmt::Result {
        let k = self.k();
        let name = self.label(label);
        for first in 0..=k {
            for last in first..=k {
                let letters = self.sum(|production| {
                    production.letters.iter().filter(|&&(l, s)| l == label && s >= first && s <= last).count()
                });
                let late: String =
                    (first..=k).filter(|_| last == k).map(|slot| format!(" + became(\"{name}\", {slot})")).collect();
                let relation = if first == 0 && last == k { "=" } else { ">=" };
                writeln!(f, "{letters} {relation} total(\"{name}\", {first}, {last}){late}")?;
            }
        }
        Ok(())
    }
}

impl super::Grammar {
    /// Whether it is a finite automaton: every alternative is an operation and then at most one rule.
    pub fn is_regular(&self) -> bool {
        self.productions.iter().all(|production| {
            let rules = production.symbols.iter().filter(|symbol| matches!(symbol, Symbol::Rule(_))).count();
            rules == 0 || (rules == 1 && matches!(production.symbols.last(), Some(Symbol::Rule(_))))
        })
    }
}
