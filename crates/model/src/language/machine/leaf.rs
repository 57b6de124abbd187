//! The steps of processes that have not begun: events, choices, conditions, calls.

use smallvec::SmallVec;

use super::super::eval::{Evaluated, Reading, Words, fault};
use super::super::labels::{FALSE, TRUE};
use super::super::program::{ChannelRef, Closure, ExId, Node, NodeId, Parts, Pattern, Seen};
use super::{BlockRun, Effect, Env, Half, Move, Range, Splice, Target, Walk, build, env_of};
use crate::system::Label;

impl Walk<'_> {
    /// Collects the steps of a node that stands at `at..end`, or would stand there.
    pub(super) fn leaf(&mut self, id: NodeId, env: &[i32], at: usize, end: usize) -> Evaluated<()> {
        let program = self.program;
        let from = Reading { data: self.data, env, bound: &[] };
        match program.node(id) {
            Node::Stop | Node::Done => Ok(()),
            Node::Skip => {
                self.terminate(at, end);
                Ok(())
            }
            Node::Event { seen, block, next } => {
                let label = match seen {
                    Seen::Tau => Label::TAU,
                    Seen::Event(name, args) if args.is_empty() => program.label(*name, &[]),
                    Seen::Event(name, args) => program.label(*name, &self.values(args, &from)?),
                };
                // Data is never changed by two at once, so that events with blocks are not shared.
                let sync = block.is_none() && label != Label::TAU;
                let block = block.map(|block| self.block(block, env, &[]));
                self.step(label, sync, Effect { channel: None, blocks: [block, None] }, next, env, &[], at, end);
                Ok(())
            }
            Node::Send { channel, args, block, next } => {
                let values = self.values(args, &from)?;
                self.send(channel, &values, *block, next, env, at, end)
            }
            Node::Receive { channel, .. } => self.receive(id, channel, env, at, end),
            Node::General(parts) => self.general(parts, env, at, end),
            Node::Internal(parts) => {
                for (node, env) in build::parts(program, parts, env)? {
                    self.silent(node, &env, at, end);
                }
                Ok(())
            }
            Node::Guard(condition, inner) => match program.holds(*condition, &from)? {
                true => self.closed(inner, env, at, end),
                false => Ok(()),
            },
            Node::If(condition, then, otherwise) => {
                let branch = if program.holds(*condition, &from)? { then } else { otherwise };
                self.silent(branch.node, &env_of(branch, env, &[]), at, end);
                Ok(())
            }
            Node::IfAtomic(condition, then, otherwise) => {
                let branch = if program.holds(*condition, &from)? { then } else { otherwise };
                self.closed(branch, env, at, end)
            }
            Node::IfBlocking(condition, then) => {
                if program.holds(*condition, &from)? {
                    self.silent(then.node, &env_of(then, env, &[]), at, end);
                }
                Ok(())
            }
            Node::Case(cases, default) => self.case(cases, default, env, at, end),
            Node::Assert(condition, place) => {
                if !program.holds(*condition, &from)? {
                    return fault(*place, "the assertion does not hold here");
                }
                self.terminate(at, end);
                Ok(())
            }
            Node::Call { def, args, .. } => {
                let mut values = Env::new();
                for &arg in args {
                    values.push(program.eval(arg, &from)?);
                }
                self.closed(&program.defs[*def as usize].body, &values, at, end)
            }
            _ => self.apart(id, env, at, end),
        }
    }

    fn closed(&mut self, closure: &Closure, env: &[i32], at: usize, end: usize) -> Evaluated<()> {
        let env = env_of(closure, env, &[]);
        self.deeper(|this| this.leaf(closure.node, &env, at, end))
    }

    fn general(&mut self, parts: &Parts, env: &[i32], at: usize, end: usize) -> Evaluated<()> {
        if let Parts::Each(parts) = parts {
            for part in parts {
                self.closed(part, env, at, end)?;
            }
            return Ok(());
        }
        for (node, env) in build::parts(self.program, parts, env)? {
            self.deeper(|this| this.leaf(node, &env, at, end))?;
        }
        Ok(())
    }

    fn case(
        &mut self,
        cases: &[(ExId, Closure)],
        default: &Closure,
        env: &[i32],
        at: usize,
        end: usize,
    ) -> Evaluated<()> {
        let from = Reading { data: self.data, env, bound: &[] };
        let mut chosen = default;
        for (condition, closure) in cases {
            if self.program.holds(*condition, &from)? {
                chosen = closure;
                break;
            }
        }
        self.silent(chosen.node, &env_of(chosen, env, &[]), at, end);
        Ok(())
    }

    /// The steps of a composition that has not begun: it is laid out apart, and its steps put it in place.
    fn apart(&mut self, id: NodeId, env: &[i32], at: usize, end: usize) -> Evaluated<()> {
        let mut words = Words::new();
        build::instantiate(self.program, id, env, &mut words, self.depth)?;
        let (from, half) = (self.scratch.moves.len(), self.scratch.halves.len());
        let mut walk = Walk {
            program: self.program,
            memo: self.memo,
            state: &words,
            data: self.data,
            scratch: self.scratch,
            actor: self.actor,
            level: self.level,
            depth: self.depth + 1,
        };
        walk.deeper(|walk| walk.running(0))?;
        for index in from..self.scratch.moves.len() {
            let splices = self.scratch.moves[index].splices;
            self.scratch.moves[index].splices = self.put_in_place(splices, &words, at, end).0;
        }
        for index in half..self.scratch.halves.len() {
            let half = self.scratch.halves[index];
            let (splices, places) = self.put_in_place(half.splices, &words, at, end);
            self.scratch.halves[index].splices = splices;
            self.scratch.halves[index].main = places[half.main as usize];
        }
        Ok(())
    }

    /// Turns splices of a row of words into splices that put the changed row at `at..end`; answers also where each went.
    fn put_in_place(&mut self, splices: Range, words: &[i32], at: usize, end: usize) -> (Range, SmallVec<[u32; 4]>) {
        let old: SmallVec<[Splice; 4]> = splices.of(&self.scratch.splices).iter().copied().collect();
        let start = self.scratch.splices.len() as u32;
        let mut places = SmallVec::new();
        self.scratch.splice(at, end, Target::Nothing);
        let mut cursor = 0;
        for splice in old {
            let kept = self.scratch.keep(&words[cursor..splice.start as usize]);
            self.scratch.splice(end, end, Target::Words(kept));
            places.push(self.scratch.splices.len() as u32 - start);
            self.scratch.splice(end, end, splice.target);
            cursor = splice.end as usize;
        }
        let kept = self.scratch.keep(&words[cursor..]);
        self.scratch.splice(end, end, Target::Words(kept));
        (Range { start, len: self.scratch.splices.len() as u32 - start }, places)
    }

    fn values(&self, args: &[(ExId, bool)], from: &Reading<'_>) -> Evaluated<Env> {
        let mut values = Env::new();
        for &(arg, boolean) in args {
            let value = self.program.eval(arg, from)?;
            values.push(if !boolean {
                value
            } else if value == 0 {
                FALSE
            } else {
                TRUE
            });
        }
        Ok(values)
    }

    fn block(&mut self, block: u32, env: &[i32], bound: &[i32]) -> BlockRun {
        BlockRun { block, env: self.scratch.keep(env), bound: self.scratch.keep(bound) }
    }

    #[expect(clippy::too_many_arguments, reason = "a step has this many parts, and one caller each")]
    fn step(
        &mut self,
        label: Label,
        sync: bool,
        effect: Effect,
        next: &Closure,
        env: &[i32],
        bound: &[i32],
        at: usize,
        end: usize,
    ) {
        let env = self.scratch.keep(&env_of(next, env, bound));
        let splices = self.scratch.splice(at, end, Target::Node(next.node, env));
        let effect = if effect.channel.is_some() || effect.blocks[0].is_some() {
            self.scratch.effects.push(effect);
            Some(self.scratch.effects.len() as u32 - 1)
        } else {
            None
        };
        self.scratch.moves.push(Move { label, actor: self.actor, sync, atomic: false, effect, splices });
    }

    fn silent(&mut self, node: NodeId, env: &[i32], at: usize, end: usize) {
        let env = self.scratch.keep(env);
        let splices = self.scratch.splice(at, end, Target::Node(node, env));
        let step = Move { label: Label::TAU, actor: self.actor, sync: false, atomic: false, effect: None, splices };
        self.scratch.moves.push(step);
    }

    fn terminate(&mut self, at: usize, end: usize) {
        let splices = self.done(at, end);
        let step = Move { label: Label::TICK, actor: self.actor, sync: false, atomic: false, effect: None, splices };
        self.scratch.moves.push(step);
    }

    fn channel(&self, channel: &ChannelRef, env: &[i32]) -> Evaluated<u32> {
        let Some(index) = channel.index else { return Ok(channel.base) };
        let index = self.program.eval(index, &Reading { data: self.data, env, bound: &[] })?;
        if index < 0 || index as u32 >= channel.count {
            let last = i64::from(channel.count) - 1;
            let message = format!("index {index} is outside of the channels, whose indices are 0 to {last}");
            return fault(channel.place, message);
        }
        Ok(channel.base + index as u32)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a node, taken apart by the one caller")]
    fn send(
        &mut self,
        channel: &ChannelRef,
        values: &[i32],
        block: Option<u32>,
        next: &Closure,
        env: &[i32],
        at: usize,
        end: usize,
    ) -> Evaluated<()> {
        let number = self.channel(channel, env)?;
        let info = &self.program.channels[number as usize];
        let block = block.map(|block| self.block(block, env, &[]));
        let Some(segment) = info.segment else {
            let target = Target::Node(next.node, self.scratch.keep(&env_of(next, env, &[])));
            let half = Half {
                channel: number,
                sent: Some(self.scratch.keep(values)),
                node: next.node,
                env: Range::default(),
                main: 0,
                actor: self.actor,
                atomic: false,
                block,
                splices: self.scratch.splice(at, end, target),
            };
            self.scratch.halves.push(half);
            return Ok(());
        };
        let (start, len) = self.program.locate(segment, self.data);
        if messages(&self.data[start..start + len]) >= info.size {
            return Ok(());
        }
        let label = self.program.label(info.sent, values);
        let plain: Env = values.iter().map(|&value| untyped(value)).collect();
        let sent = self.scratch.keep(&plain);
        let effect = Effect { channel: Some((segment, Some(sent))), blocks: [block, None] };
        self.step(label, false, effect, next, env, &[], at, end);
        Ok(())
    }

    fn receive(&mut self, id: NodeId, channel: &ChannelRef, env: &[i32], at: usize, end: usize) -> Evaluated<()> {
        let number = self.channel(channel, env)?;
        let info = &self.program.channels[number as usize];
        let Node::Receive { block, next, .. } = self.program.node(id) else { return Ok(()) };
        let Some(segment) = info.segment else {
            let half = Half {
                channel: number,
                sent: None,
                node: id,
                env: self.scratch.keep(env),
                main: 0,
                actor: self.actor,
                atomic: false,
                block: None,
                splices: self.scratch.splice(at, end, Target::Nothing),
            };
            self.scratch.halves.push(half);
            return Ok(());
        };
        let (start, len) = self.program.locate(segment, self.data);
        if len == 0 {
            return Ok(());
        }
        let message = &self.data[start + 1..start + 1 + self.data[start] as usize];
        let Some(bound) = self.matched(id, message, env)? else { return Ok(()) };
        let label = self.program.label(info.received, message);
        let block = block.map(|block| self.block(block, env, &bound));
        let effect = Effect { channel: Some((segment, None)), blocks: [block, None] };
        self.step(label, false, effect, next, env, &bound, at, end);
        Ok(())
    }

    /// What a message binds, when it is one that the receiver takes.
    pub(super) fn matched(&self, id: NodeId, message: &[i32], env: &[i32]) -> Evaluated<Option<Env>> {
        let Node::Receive { patterns, guard, .. } = self.program.node(id) else { return Ok(None) };
        if patterns.len() != message.len() {
            return Ok(None);
        }
        let mut bound = Env::new();
        for (pattern, &value) in patterns.iter().zip(message) {
            let value = untyped(value);
            match pattern {
                Pattern::Bind => bound.push(value),
                Pattern::Equal(wanted) => {
                    let from = Reading { data: self.data, env, bound: &[] };
                    if self.program.eval(*wanted, &from)? != value {
                        return Ok(None);
                    }
                }
            }
        }
        if let Some(guard) = guard
            && !self.program.holds(*guard, &Reading { data: self.data, env, bound: &bound })?
        {
            return Ok(None);
        }
        Ok(Some(bound))
    }

    /// The steps in which a sender and a receiver meet, for two halves.
    pub(super) fn meet(&mut self, sender: usize, receiver: usize) -> Evaluated<()> {
        let (sender, receiver) = (self.scratch.halves[sender], self.scratch.halves[receiver]);
        let Some(sent) = sender.sent else { return Ok(()) };
        let message: Env = sent.of(&self.scratch.words).iter().copied().collect();
        let env: Env = receiver.env.of(&self.scratch.words).iter().copied().collect();
        let Some(bound) = self.matched(receiver.node, &message, &env)? else { return Ok(()) };
        let Node::Receive { block, next, .. } = self.program.node(receiver.node) else { return Ok(()) };
        let second = block.map(|block| self.block(block, &env, &bound));
        let target = Target::Node(next.node, self.scratch.keep(&env_of(next, &env, &bound)));
        let mut received: SmallVec<[Splice; 4]> = receiver.splices.of(&self.scratch.splices).iter().copied().collect();
        received[receiver.main as usize].target = target;
        let first_is_left = {
            let left = sender.splices.of(&self.scratch.splices)[0].start;
            left <= received[0].start
        };
        let splices = match first_is_left {
            true => self.scratch.around(sender.splices, &[], &received),
            false => self.scratch.around(sender.splices, &received, &[]),
        };
        let blocks = match (sender.block, second) {
            (None, second) => [second, None],
            (first, second) => [first, second],
        };
        let effect = blocks[0].map(|_| {
            self.scratch.effects.push(Effect { channel: None, blocks });
            self.scratch.effects.len() as u32 - 1
        });
        let label = self.program.label(self.program.channels[sender.channel as usize].both, &message);
        let actor = super::join::together(sender.actor, receiver.actor);
        let atomic = sender.atomic || receiver.atomic;
        self.scratch.moves.push(Move { label, actor, sync: false, atomic, effect, splices });
        Ok(())
    }
}

/// A value as it is stored: truth values are marked in labels only.
fn untyped(value: i32) -> i32 {
    match value {
        FALSE => 0,
        TRUE => 1,
        value => value,
    }
}

/// How many messages the words of a channel hold.
pub(super) fn messages(mut words: &[i32]) -> usize {
    let mut count = 0;
    while let [size, rest @ ..] = words {
        words = &rest[*size as usize..];
        count += 1;
    }
    count
}
