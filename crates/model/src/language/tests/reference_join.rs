//! What several processes of the reference do together: composition, interrupts, messages.

use std::collections::BTreeSet;

use super::reference::{Data, Label, Step, Term};

/// The first goes on until a visible step of the second.
pub(super) fn interrupt(first: &Term, second: &Term, of_first: Vec<Step>, of_second: Vec<Step>) -> Vec<Step> {
    let pair = |a: Term, b: Term| Term::Interrupt(Box::new(a), Box::new(b));
    let mut all = Vec::new();
    for mut step in of_first {
        if step.label != Label::Tick {
            step.next = pair(step.next, second.clone());
        }
        all.push(step);
    }
    for mut step in of_second {
        if step.label == Label::Tau {
            step.next = pair(first.clone(), step.next);
        }
        all.push(step);
    }
    all
}

pub(super) fn message(channel: &str, joint: &str, values: &[i32]) -> String {
    let values: Vec<String> = values.iter().map(i32::to_string).collect();
    format!("{channel}{joint}{}", values.join("."))
}

/// Interleaving and parallel composition.
pub(super) fn together(parts: &[Term], alphabets: &[BTreeSet<String>], lists: &[Vec<Step>], data: &Data) -> Vec<Step> {
    let with = |changes: &[(usize, &Term)]| {
        let mut parts = parts.to_vec();
        for (at, term) in changes {
            parts[*at] = (*term).clone();
        }
        Term::Together(parts, alphabets.to_vec())
    };
    let mut all = Vec::new();
    for (at, list) in lists.iter().enumerate() {
        for step in list {
            let others = |name: &String| (0..parts.len()).any(|other| other != at && alphabets[other].contains(name));
            let waits = match &step.label {
                Label::Tick => true,
                Label::Seen(name) => step.shared && alphabets[at].contains(name) && others(name),
                _ => false,
            };
            if !waits {
                all.push(Step { next: with(&[(at, &step.next)]), ..step.clone() });
            }
        }
    }
    let labels: BTreeSet<&String> = alphabets.iter().flatten().collect();
    for name in labels {
        let who: Vec<usize> = (0..parts.len()).filter(|&at| alphabets[at].contains(name)).collect();
        if who.len() < 2 {
            continue;
        }
        let mut rows: Vec<Vec<(usize, &Step)>> = vec![Vec::new()];
        for at in who {
            let fitting: Vec<&Step> =
                lists[at].iter().filter(|s| s.shared && s.label == Label::Seen(name.clone())).collect();
            rows = rows
                .iter()
                .flat_map(|row| {
                    fitting.iter().map(move |step| row.iter().copied().chain([(at, *step)]).collect::<Vec<_>>())
                })
                .collect();
        }
        for row in rows {
            let changes: Vec<(usize, &Term)> = row.iter().map(|(at, step)| (*at, &step.next)).collect();
            let atomic = row.iter().any(|(_, step)| step.atomic);
            let label = Label::Seen(name.clone());
            all.push(Step { label, next: with(&changes), data: data.clone(), shared: true, atomic });
        }
    }
    for (i, senders) in lists.iter().enumerate() {
        for (j, receivers) in lists.iter().enumerate().filter(|(j, _)| *j != i) {
            for sender in senders {
                let Label::Send(channel, values) = &sender.label else { continue };
                let wanted = Label::Receive(channel.clone(), values.clone());
                for receiver in receivers.iter().filter(|step| step.label == wanted) {
                    let label = Label::Seen(message(channel, ".", values));
                    // The generator writes no blocks at channels without a buffer.
                    let next = with(&[(i, &sender.next), (j, &receiver.next)]);
                    let atomic = sender.atomic || receiver.atomic;
                    all.push(Step { label, next, data: data.clone(), shared: false, atomic });
                }
            }
        }
    }
    let ends = |list: &Vec<Step>| list.iter().any(|step| step.label == Label::Tick);
    if lists.iter().all(ends) {
        let atomic = lists.iter().flatten().any(|step| step.label == Label::Tick && step.atomic);
        all.push(Step { label: Label::Tick, next: Term::Done, data: data.clone(), shared: false, atomic });
    }
    all
}
