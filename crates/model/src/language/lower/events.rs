//! Which events a model can have. An event that a formula asks about, that is hidden or that an alphabet shares must be one of
//! them: a name that was misspelt would be an event that never happens, and much can be proved of that.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ast::{Action, Event, Model, Proc, ProcId};
use super::super::diagnostic::{Code, Diagnostic, Span, nearest};
use super::{Lowered, Lowering};

/// Names with how many values they come with.
type Names<'a> = BTreeMap<&'a str, BTreeSet<usize>>;

/// What the processes of a model do, by their text.
#[derive(Default)]
pub(super) struct Doings<'a> {
    events: Names<'a>,
    /// Messages, by channel.
    messages: Names<'a>,
    /// The processes that are called.
    calls: Vec<&'a str>,
}

impl<'a> Doings<'a> {
    /// Of all processes.
    pub fn of_all(model: &'a Model) -> Self {
        let mut doings = Doings::default();
        model.definitions.iter().for_each(|definition| doings.add(model, definition.body));
        doings
    }

    /// Of one process and those that it calls.
    pub fn of_one(model: &'a Model, definition: usize) -> Self {
        let mut doings = Doings::default();
        let mut seen = BTreeSet::from([model.definitions[definition].name.text.as_str()]);
        doings.add(model, model.definitions[definition].body);
        while let Some(name) = doings.calls.pop() {
            let called = model.definitions.iter().find(|other| other.name.text == name);
            if let Some(called) = called.filter(|_| seen.insert(name)) {
                doings.add(model, called.body);
            }
        }
        doings
    }

    fn add(&mut self, model: &'a Model, body: ProcId) {
        let mut todo = vec![body];
        while let Some(id) = todo.pop() {
            match model.proc(id) {
                Proc::Stop | Proc::Skip | Proc::Assert(_) => {}
                Proc::Call(name, _) => self.calls.push(&name.text),
                Proc::Prefix(steps, next) => {
                    steps.iter().for_each(|step| self.act(&step.action));
                    todo.push(*next);
                }
                Proc::Join(_, list) => todo.extend(list),
                Proc::Indexed(_, _, p) | Proc::Replicated(_, _, p) | Proc::Guard(_, p) => todo.push(*p),
                Proc::Atomic(p) | Proc::Hide(p, _) => todo.push(*p),
                Proc::If(_, _, p, q) => todo.extend([*p].into_iter().chain(*q)),
                Proc::Case(cases, default) => todo.extend(cases.iter().map(|(_, p)| *p).chain(*default)),
            }
        }
    }

    fn act(&mut self, action: &'a Action) {
        let (names, name, values) = match action {
            Action::Tau => return,
            Action::Event(event) => (&mut self.events, &event.name, event.args.len()),
            Action::Send { channel, args, .. } | Action::Receive { channel, args, .. } => {
                (&mut self.messages, channel, args.len())
            }
        };
        names.entry(&name.text).or_default().insert(values);
    }

    /// Whether there is an event of the name, whatever its values are.
    pub fn has(&self, name: &str) -> bool {
        self.events.contains_key(name)
    }
}

impl Lowering<'_> {
    /// Refuses an event that no process of the model has.
    pub(super) fn known_event(&self, event: &Event) -> Lowered<()> {
        self.happens(&event.name.text, event.args.len(), event.name.span)
    }

    fn happens(&self, name: &str, values: usize, span: Span) -> Lowered<()> {
        // A message without a buffer is written like an event.
        let meets = self.channels.get(name).is_some_and(|&(base, _)| self.infos[base as usize].segment.is_none());
        let meets = meets.then(|| self.doings.messages.get(name)).flatten();
        let known = self.doings.events.get(name).or(meets);
        if known.is_some_and(|known| known.contains(&values)) {
            return Ok(());
        }
        let with = |values: usize| match values {
            0 => "without values".to_owned(),
            1 => "with 1 value".to_owned(),
            _ => format!("with {values} values"),
        };
        let error = |message: String| Diagnostic::new(Code::Unknown, span, message);
        Err(Box::new(match known {
            Some(known) => {
                let others: Vec<String> = known.iter().map(|&values| with(values)).collect();
                error(format!("no process has an event `{name}` {}", with(values)))
                    .help(format!("there is `{name}` {}", others.join(" and ")))
            }
            None => {
                let error = error(format!("no process has an event `{name}`"));
                let conditions = self.defines.keys().chain(self.variables.keys()).copied();
                match nearest(name, self.doings.events.keys().copied().chain(conditions)) {
                    Some(other) => error.help(format!("did you mean `{other}`?")),
                    None => error.help("only events that stand in the text of a process can happen"),
                }
            }
        }))
    }

    /// Refuses an event, as it is printed, that no process of the model has.
    pub(super) fn known_label(&self, text: &str, span: Span) -> Lowered<()> {
        if text == "τ" || text == "✓" {
            return Ok(());
        }
        let Some(at) = text.find(['.', '!', '?']) else { return self.happens(text, 0, span) };
        let (name, rest) = (&text[..at], &text[at + 1..]);
        let values = if rest.is_empty() { 0 } else { rest.split('.').count() };
        let channel = name.split('[').next().unwrap_or(name);
        let Some(&(base, _)) = self.channels.get(channel) else { return self.happens(name, values, span) };
        let (buffered, dot) = (self.infos[base as usize].segment.is_some(), text[at..].starts_with('.'));
        if buffered == dot {
            let printed = if buffered { format!("`{channel}!` and `{channel}?`") } else { format!("`{channel}.`") };
            return Err(Box::new(
                Diagnostic::new(Code::Unknown, span, format!("no event is printed as `{text}`"))
                    .help(format!("messages of this channel begin with {printed}")),
            ));
        }
        if self.doings.messages.get(channel).is_some_and(|known| known.contains(&values)) {
            return Ok(());
        }
        self.error(Code::Unknown, span, format!("no process sends or receives a message like `{text}`"))
    }
}
