//! What is decided once nothing that is open can change it: lost values, values from below others, and empty answers.

use super::lifo::{FromBelow, Left, Stuck};
use super::*;

impl<V: Clone + Eq + Hash + Ord> Collection<V> {
    /// Decides what waited for removals that have returned.
    pub(super) fn decide(&mut self, alarms: &mut Vec<Alarm<V>>) {
        if self.order == Order::Fifo {
            self.find_lost(alarms);
        }
        let oldest = self.removing.keys().next().copied().unwrap_or(u64::MAX);
        while self.waiting.front().is_some_and(|answer| answer.remove.ret < oldest) {
            let answer = self.waiting.pop_front().expect("there is one");
            self.decide_answer(&answer, alarms);
        }
        self.tell_from_below(alarms);
        if oldest == u64::MAX && self.waiting.is_empty() {
            self.ended.clear();
        }
    }

    /// Values that no removal can take out in time any more.
    fn find_lost(&mut self, alarms: &mut Vec<Alarm<V>>) {
        let by = match self.removing.first_key_value() {
            Some((_, latest)) => latest,
            None => &self.latest,
        };
        let Some(by) = by else { return };
        let inserted = by.insert.call;
        let mut by = None;
        while let Some(&(ret, place)) = self.settled.front().filter(|(ret, _)| *ret < inserted) {
            self.settled.pop_front();
            if !is_settled(&self.stays[place as usize], ret) {
                continue;
            }
            if by.is_none() {
                let open = self.removing.first_key_value();
                by = open.map_or(self.latest.clone(), |(_, latest)| latest.clone());
            }
            self.settled_now -= 1;
            let is_excused = self.excused < self.unknown();
            let stay = &mut self.stays[place as usize];
            stay.standing = if is_excused { Standing::Excused } else { Standing::Reported };
            let (value, insert) = (stay.value.clone(), stay.insert);
            self.reported.push_back(place);
            if self.reported.len() > REPORTED_MAX {
                let oldest = self.reported.pop_front().expect("there are many");
                self.drop_stay(oldest);
            }
            // Removals of unknown outcome may have taken as many.
            if is_excused {
                self.excused += 1;
            } else if let Some(by) = &by {
                alarms.push(overtaken(value, insert, None, by.clone()));
            }
        }
    }

    /// Tells of values that came out of a stack from below others.
    fn tell_from_below(&mut self, alarms: &mut Vec<Alarm<V>>) {
        let Some(lifo) = &mut self.lifo else { return };
        for FromBelow { below, stuck } in lifo.found() {
            let mut operations = Vec::new();
            for Left { value, insert, remove } in below {
                operations.push(Shown::insert(value.clone(), insert));
                operations.push(Shown::remove(value, remove));
            }
            for Stuck { place, push, left } in stuck {
                match left {
                    Some(left) => {
                        operations.push(Shown::insert(left.value.clone(), left.insert));
                        operations.push(Shown::remove(left.value, left.remove));
                    }
                    None => {
                        let stay = Some(&self.stays[place as usize]).filter(|stay| stay.insert.call == push);
                        operations.extend(stay.map(|stay| Shown::insert(stay.value.clone(), stay.insert)));
                    }
                }
            }
            alarms.push(Alarm { rule: Rule::FromBelow, operations });
        }
    }

    fn decide_answer(&mut self, answer: &Answer<V>, alarms: &mut Vec<Alarm<V>>) {
        let Some(cover) = self.cover(answer) else {
            // Among more than that, one that came in earlier may have been missed.
            let many = answer.value.as_ref().is_some_and(|value| self.above(value).count() >= RANKED_MAX);
            self.unchecked += u64::from(many);
            return;
        };
        // Removals of unknown outcome may have taken values that are counted as inside.
        let unknown = self.unknown();
        if unknown > 0 && cover.iter().any(|shown| shown.1) && self.lasting(answer) as u64 <= unknown {
            self.unchecked += 1;
            return;
        }
        let own = match &answer.value {
            None => Shown::empty(answer.remove),
            Some(value) => Shown::remove(value.clone(), answer.remove),
        };
        let rule = if answer.value.is_none() { Rule::NotEmpty } else { Rule::NotFirst };
        let mut operations = vec![own];
        operations.extend(cover.into_iter().flat_map(|(shown, _)| shown));
        alarms.push(Alarm { rule, operations });
    }

    /// How many values inside cover the whole answer.
    fn lasting(&self, answer: &Answer<V>) -> usize {
        let inside = |stay: &&Stay<V>| stay.standing == Standing::Settled && stay.insert.ret < answer.from;
        match &answer.value {
            Some(value) => self.above(value).filter(inside).count(),
            None => self
                .settled
                .iter()
                .take_while(|(ret, _)| *ret < answer.from)
                .filter(|&&(ret, place)| is_settled(&self.stays[place as usize], ret))
                .count(),
        }
    }

    /// Values that together were certainly inside at each moment of the answer, if there are such; and which of them are inside still.
    #[allow(clippy::type_complexity, reason = "used once")]
    fn cover(&self, answer: &Answer<V>) -> Option<Vec<(Vec<Shown<V>>, bool)>> {
        let (from, to) = (answer.from, answer.remove.ret);
        let earliest = match &answer.value {
            Some(value) => self.above(value).min_by_key(|stay| stay.insert.ret),
            None => self
                .settled
                .iter()
                .find(|&&(ret, place)| is_settled(&self.stays[place as usize], ret))
                .map(|&(_, place)| &self.stays[place as usize]),
        };
        let than = answer.value.as_ref();
        let meets = |presence: &&Presence<V>| {
            presence.from < to && presence.to > from && self.comes_before(&presence.value, than)
        };
        let mut spans: Vec<&Presence<V>> = self.ended.iter().filter(meets).collect();
        spans.sort_unstable_by_key(|presence| presence.from);
        let still = earliest.map_or(u64::MAX, |stay| stay.insert.ret);
        let mut shown = Vec::new();
        let mut reach = from;
        let mut next = 0;
        while still > reach {
            let mut best: Option<&Presence<V>> = None;
            while next < spans.len() && spans[next].from <= reach {
                if best.is_none_or(|best| best.to < spans[next].to) {
                    best = Some(spans[next]);
                }
                next += 1;
            }
            let best = best.filter(|best| best.to > reach)?;
            reach = best.to;
            let value = &best.value;
            shown.push((
                vec![Shown::insert(value.clone(), best.insert), Shown::remove(value.clone(), best.remove)],
                false,
            ));
            if reach > to {
                return Some(shown);
            }
        }
        let stay = earliest?;
        shown.push((vec![Shown::insert(stay.value.clone(), stay.insert)], true));
        Some(shown)
    }
}
