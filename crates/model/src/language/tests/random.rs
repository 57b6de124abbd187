//! Random small models: the compiled system and the reference must have the same behaviour, state by state.
//!
//! Behaviour is compared up to strong bisimulation that keeps the values of variables: coarsest partition of both graphs
//! together, in which the two beginnings must fall together. `SELVEDGE_MODELS` sets how many models are drawn.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use selvedge_history::generate;

use super::reference::{Data, Label, Reference, Term};
use crate::language::parse;
use crate::system::TransitionSystem;

const STATES_MAX: usize = 1500;

/// A generator of numbers, so that a failure can be had again.
pub(super) struct Random(generate::Random);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(generate::Random::new(seed))
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    pub(super) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

struct Writer {
    random: Random,
    /// Local names in sight.
    locals: Vec<String>,
    fresh: usize,
    /// Within a parallel composition no value of a variable or message may get into an event.
    pure: bool,
}

impl Writer {
    fn model(&mut self) -> String {
        let mut text = String::from("#define K 2;\nvar x:{0..3} = 1;\nvar y;\nvar z[2];\nvar w[2][2];\n");
        text.push_str("channel c 1;\nchannel d 2;\nchannel s 0;\n");
        // Events that are hidden or shared must stand in the text of some process.
        text.push_str("Named() = a -> b.0 -> Stop;\n");
        if self.random.below(3) == 0 {
            text.push_str("#alphabet P0 {a, b.0, i:{0..1}@b.i};\n");
        }
        for number in 0..2 {
            self.locals = vec!["p".to_owned()];
            let body = self.process(3, true, false);
            text.push_str(&format!("P{number}(p) = {body};\n"));
        }
        self.locals = Vec::new();
        text.push_str(&format!("Sys = {};\n", self.process(4, true, false)));
        text
    }

    /// A number, small most of the time.
    fn number(&mut self) -> String {
        match self.random.below(if self.pure { 4 } else { 8 }) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 | 3 if !self.locals.is_empty() => {
                let at = self.random.below(self.locals.len());
                self.locals[at].clone()
            }
            2 => "K".to_owned(),
            3 => "2".to_owned(),
            4 => "x".to_owned(),
            5 => "y".to_owned(),
            6 => format!("z[{}]", self.index()),
            _ => format!("w[{}][{}]", self.index(), self.index()),
        }
    }

    /// An index of an array, rarely outside of it.
    fn index(&mut self) -> String {
        match self.random.below(12) {
            0 if !self.locals.is_empty() => self.locals[0].clone(),
            1 => "x".to_owned(),
            n => (n % 2).to_string(),
        }
    }

    fn small(&mut self) -> String {
        let (a, b) = (self.number(), self.number());
        match self.random.below(4) {
            0 => format!("({a}+{b})%2"),
            1 => format!("({a}-{b})%3"),
            _ => format!("({a}%3)"),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.number(), self.number());
        let op = self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let simple = format!("{a} {op} {b}");
        match self.random.below(5) {
            0 => format!("{simple} && !({b} == 1)"),
            1 => format!("({simple} || {a} == 2)"),
            _ => simple,
        }
    }

    fn event(&mut self) -> String {
        match self.random.below(4) {
            0 => "a".to_owned(),
            1 => "e".to_owned(),
            _ => format!("b.{}", self.small()),
        }
    }

    fn block(&mut self) -> String {
        let mut text = String::from("{");
        for _ in 0..1 + self.random.below(2) {
            let value = self.small();
            text.push_str(&match self.random.below(7) {
                0 => format!("x = {value};"),
                1 => format!("y = {value};"),
                2 => format!("z[{}] = {value};", self.index()),
                3 => format!("w[{}][{}] = {value};", self.index(), self.index()),
                4 => format!("if ({}) {{ y = {value}; }} else {{ x = 0; }}", self.condition()),
                5 => format!("var t = {value}; while (t > 0) {{ t = t - 1; y = (y+1)%2; }}"),
                _ => "x++;".to_owned(),
            });
        }
        text.push('}');
        text
    }

    /// A step with its arrow; what it receives is in sight after it.
    fn step(&mut self) -> String {
        match self.random.below(12) {
            0..=3 => format!("{} -> ", self.event()),
            4 | 5 => format!("{}{} -> ", self.event(), self.block()),
            6 => format!("tau{} -> ", self.block()),
            7 => "tau -> ".to_owned(),
            8 => {
                let channel = self.random.pick(&["c", "d", "s"]);
                format!("{channel}!{} -> ", self.small())
            }
            9 => format!("d!{}.{} -> ", self.small(), self.small()),
            n => {
                let channel = self.random.pick(&["c", "d", "s"]);
                let name = format!("v{}", self.fresh);
                self.fresh += 1;
                let guard = if self.random.below(3) == 0 { format!("[{name} < 2]") } else { String::new() };
                let pattern = match n {
                    10 => format!("{guard}{name}"),
                    _ if self.random.below(2) == 0 => "1".to_owned(),
                    _ => format!("{guard}{name}.{}", self.random.below(2)),
                };
                if pattern.contains(&name) && !self.pure {
                    self.locals.push(name);
                }
                format!("{channel}?{pattern} -> ")
            }
        }
    }

    /// A process. Calls stand only at the end of steps, so that nothing grows.
    fn process(&mut self, depth: usize, tail: bool, guarded: bool) -> String {
        let locals = self.locals.len();
        let text = self.any_process(depth, tail, guarded);
        self.locals.truncate(locals);
        text
    }

    fn any_process(&mut self, depth: usize, tail: bool, guarded: bool) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => "Stop".to_owned(),
                _ if tail && guarded => format!("P{}({})", self.random.below(2), self.argument()),
                _ => "Skip".to_owned(),
            };
        }
        match self.random.below(19) {
            0..=4 => {
                let mut text = String::new();
                for _ in 0..1 + self.random.below(2) {
                    text.push_str(&self.step());
                }
                let rest = self.process(depth - 1, tail, true);
                format!("{text}({rest})")
            }
            5 | 6 => self.several(" [] ", depth, tail, guarded),
            7 => self.several(" [*] ", depth, tail, guarded),
            8 => self.several(" <> ", depth, tail, true),
            9 => self.several(" ||| ", depth, false, guarded),
            10 => {
                let pure = std::mem::replace(&mut self.pure, true);
                let text = self.several(" || ", depth, false, guarded);
                self.pure = pure;
                text
            }
            11 => {
                let (first, second) = (self.process(depth - 1, false, guarded), self.process(depth - 1, tail, true));
                format!("({first}); ({second})")
            }
            12 => {
                let (first, second) =
                    (self.process(depth - 1, false, guarded), self.process(depth - 1, false, guarded));
                format!("(({first}) interrupt ({second}))")
            }
            13 => format!("[{}] ({})", self.condition(), self.process(depth - 1, tail, guarded)),
            14 => {
                let word = self.random.pick(&["if", "ifa", "ifb"]);
                let guarded = guarded || word != "ifa";
                let then = self.process(depth - 1, tail, guarded);
                let other = match word {
                    "ifb" => String::new(),
                    _ if self.random.below(3) == 0 => String::new(),
                    _ => format!(" else {{ {} }}", self.process(depth - 1, tail, guarded)),
                };
                format!("{word} ({}) {{ {then} }}{other}", self.condition())
            }
            15 => {
                let (a, b) = (self.process(depth - 1, tail, true), self.process(depth - 1, tail, true));
                format!("case {{ {}: ({a}) {}: ({b}) default: Skip }}", self.condition(), self.condition())
            }
            16 => format!("atomic {{ {} }}", self.process(depth - 1, false, guarded)),
            17 => format!("(({}) \\ {{a, i:{{0..1}}@b.i}})", self.process(depth - 1, false, guarded)),
            _ => {
                let join = self.random.pick(&["[]", "<>", "|||", "[*]"]);
                let name = format!("i{}", self.fresh);
                self.fresh += 1;
                self.locals.push(name.clone());
                let choice = matches!(join, "[]" | "<>");
                let body = self.process(depth - 1, tail && choice, guarded);
                format!("({join} {name}:{{0..1}}@({body}))")
            }
        }
    }

    fn argument(&mut self) -> String {
        if self.random.below(4) == 0 && !self.pure { "x".to_owned() } else { self.small() }
    }

    fn several(&mut self, join: &str, depth: usize, tail: bool, guarded: bool) -> String {
        let tail = tail && join != " [*] ";
        let parts: Vec<String> = (0..2).map(|_| format!("({})", self.process(depth - 1, tail, guarded))).collect();
        format!("({})", parts.join(join))
    }
}

/// A graph whose states have colours: what their variables hold.
struct Coloured {
    steps: Vec<Vec<(String, usize)>>,
    colours: Vec<String>,
}

enum Explored {
    Graph(Coloured),
    Fault,
    Large,
}

fn by_reference(text: &str) -> Explored {
    let ast = parse::parse(text).expect("the generator writes what parses");
    let (reference, data) = Reference::new(&ast);
    let mut numbers: HashMap<(Term, Data), usize> = HashMap::new();
    let mut queue = VecDeque::new();
    let start = (reference.start("Sys"), data);
    numbers.insert(start.clone(), 0);
    queue.push_back(start);
    let mut graph = Coloured { steps: Vec::new(), colours: Vec::new() };
    while let Some((term, data)) = queue.pop_front() {
        let vars: Vec<i32> = data.vars.values().flatten().copied().collect();
        graph.colours.push(format!("{vars:?}"));
        let Ok(steps) = reference.steps(&term, &data) else { return Explored::Fault };
        let mut row = Vec::new();
        for step in steps {
            let label = match step.label {
                Label::Tau => "τ".to_owned(),
                Label::Tick => "✓".to_owned(),
                Label::Seen(name) => name,
                other => panic!("{other:?} is no step of a whole system"),
            };
            let fresh = numbers.len();
            let number = *numbers.entry((step.next.clone(), step.data.clone())).or_insert(fresh);
            if number == fresh {
                queue.push_back((step.next, step.data));
            }
            row.push((label, number));
        }
        graph.steps.push(row);
        if numbers.len() > STATES_MAX {
            return Explored::Large;
        }
    }
    Explored::Graph(graph)
}

fn by_machine(text: &str) -> Explored {
    let model = super::model(text);
    let system = model.process("Sys", &[]).expect("there is a Sys");
    let (mut numbers, mut queue, mut initial) = (HashMap::new(), VecDeque::new(), Vec::new());
    if system.initial(&mut initial).is_err() {
        return Explored::Fault;
    }
    numbers.insert(initial[0].clone(), 0);
    queue.push_back(initial[0].clone());
    let mut graph = Coloured { steps: Vec::new(), colours: Vec::new() };
    // The reference lists variables by name.
    let mut globals: Vec<_> = system.program.globals.iter().collect();
    globals.sort_by(|a, b| a.name.cmp(&b.name));
    while let Some(state) = queue.pop_front() {
        let vars: Vec<i32> =
            globals.iter().flat_map(|g| state.0[g.at as usize..(g.at + g.len) as usize].iter().copied()).collect();
        graph.colours.push(format!("{vars:?}"));
        let mut bytes = Vec::new();
        system.pack(&state, &mut bytes);
        assert_eq!(system.unpack(&bytes), state);
        let mut next = Vec::new();
        if system.successors(&state, &mut next).is_err() {
            return Explored::Fault;
        }
        let mut row = Vec::new();
        for (action, state) in next {
            let fresh = numbers.len();
            let number = *numbers.entry(state.clone()).or_insert(fresh);
            if number == fresh {
                queue.push_back(state);
            }
            row.push((system.label_name(action.label), number));
        }
        graph.steps.push(row);
        if numbers.len() > STATES_MAX {
            return Explored::Large;
        }
    }
    Explored::Graph(graph)
}

/// Labels with the classes that they lead to.
type Signature<'a> = BTreeSet<(&'a str, usize)>;

/// Whether the beginnings of two graphs are bisimilar.
fn bisimilar(a: &Coloured, b: &Coloured) -> bool {
    let offset = a.steps.len();
    let steps: Vec<Signature<'_>> = a
        .steps
        .iter()
        .map(|row| row.iter().map(|(label, to)| (label.as_str(), *to)).collect())
        .chain(b.steps.iter().map(|row| row.iter().map(|(label, to)| (label.as_str(), *to + offset)).collect()))
        .collect();
    let colours: Vec<&String> = a.colours.iter().chain(&b.colours).collect();
    let mut names: BTreeMap<&String, usize> = BTreeMap::new();
    let mut classes: Vec<usize> = colours
        .iter()
        .map(|colour| {
            let fresh = names.len();
            *names.entry(colour).or_insert(fresh)
        })
        .collect();
    let mut count = names.len();
    loop {
        let mut fresh: HashMap<(usize, Signature<'_>), usize> = HashMap::new();
        let next: Vec<usize> = (0..steps.len())
            .map(|state| {
                let to = steps[state].iter().map(|&(label, to)| (label, classes[to])).collect();
                let number = fresh.len();
                *fresh.entry((classes[state], to)).or_insert(number)
            })
            .collect();
        classes = next;
        if fresh.len() == count {
            return classes[0] == classes[offset];
        }
        count = fresh.len();
    }
}

#[test]
fn the_compiled_system_behaves_as_the_rules_say() {
    let wanted = std::env::var("SELVEDGE_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let first: u64 = std::env::var("SELVEDGE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut compared, mut faults, mut states) = (0, 0, 0);
    for seed in first..first + wanted {
        let random = Random::new(seed);
        let text = Writer { random, locals: Vec::new(), fresh: 0, pure: false }.model();
        match (by_reference(&text), by_machine(&text)) {
            (Explored::Graph(a), Explored::Graph(b)) => {
                assert!(bisimilar(&a, &b), "seed {seed}: behaviours differ\n{text}");
                assert!(b.steps.len() <= a.steps.len(), "seed {seed}: the compiled one has more states\n{text}");
                compared += 1;
                states += b.steps.len();
            }
            (Explored::Fault, Explored::Fault) => faults += 1,
            (Explored::Large, _) | (_, Explored::Large) => {}
            _ => panic!("seed {seed}: only one of the two has a fault\n{text}"),
        }
    }
    println!("{compared} models compared, {states} states; {faults} with a fault in both");
    assert!(compared > wanted / 3 && faults > 0, "{compared} compared, {faults} faults of {wanted}");
}
