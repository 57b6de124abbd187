//! Small random systems: processes with a control flow of their own and shared variables.

use selvedge_history::generate;
use selvedge_model::{Action, Fault, Label, TransitionSystem};

/// A generator of numbers: the same everywhere.
#[derive(Clone)]
pub struct Random(generate::Random);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(generate::Random::new(seed))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n
    }
}

/// What a process may do at a place.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// Nothing anybody sees.
    Local,
    /// Adds one to a shared variable.
    Add(usize),
    /// Waits until a shared variable has a value.
    Await(usize, u8),
    /// A visible label.
    Emit(u32),
}

/// Processes, each a list of steps (from, instruction, to), and two shared variables modulo three.
#[derive(Clone, Debug)]
pub struct Program {
    pub processes: Vec<Vec<(u8, Instruction, u8)>>,
}

pub const LABELS: u32 = 2;

impl Program {
    pub fn random(random: &mut Random, processes: usize, places: u64, steps: u64) -> Program {
        let process = |random: &mut Random| {
            let step = |random: &mut Random| {
                let instruction = match random.below(10) {
                    0..3 => Instruction::Local,
                    3 => Instruction::Add(random.below(2) as usize),
                    4 => Instruction::Await(random.below(2) as usize, random.below(3) as u8),
                    _ => Instruction::Emit(2 + random.below(u64::from(LABELS)) as u32),
                };
                (random.below(places) as u8, instruction, random.below(places) as u8)
            };
            (0..1 + random.below(steps)).map(|_| step(random)).collect()
        };
        Program { processes: (0..processes).map(|_| process(random)).collect() }
    }

    /// Another one that differs in little.
    pub fn changed(&self, random: &mut Random, places: u64) -> Program {
        let mut program = self.clone();
        for _ in 0..1 + random.below(2) {
            let process = random.below(program.processes.len() as u64) as usize;
            let steps = &mut program.processes[process];
            let at = random.below(steps.len() as u64) as usize;
            match random.below(3) {
                0 => steps[at].2 = random.below(places) as u8,
                1 => steps[at].1 = Instruction::Emit(2 + random.below(u64::from(LABELS)) as u32),
                _ => steps.push((random.below(places) as u8, Instruction::Local, random.below(places) as u8)),
            }
        }
        program
    }
}

impl TransitionSystem for Program {
    type State = Vec<u8>;

    fn initial(&self, out: &mut Vec<Vec<u8>>) -> Result<(), Fault> {
        out.push(vec![0; self.processes.len() + 2]);
        Ok(())
    }

    fn successors(&self, state: &Vec<u8>, out: &mut Vec<(Action, Vec<u8>)>) -> Result<(), Fault> {
        for (actor, steps) in self.processes.iter().enumerate() {
            for (from, instruction, to) in steps {
                if state[2 + actor] != *from {
                    continue;
                }
                let mut next = state.clone();
                next[2 + actor] = *to;
                let mut label = Label::TAU;
                match instruction {
                    Instruction::Local => {}
                    Instruction::Add(variable) => next[*variable] = (next[*variable] + 1) % 3,
                    Instruction::Await(variable, value) if state[*variable] != *value => continue,
                    Instruction::Await(..) => {}
                    Instruction::Emit(name) => label = Label(*name),
                }
                out.push((Action { label, actor: actor as u32 }, next));
            }
        }
        Ok(())
    }

    fn pack(&self, state: &Vec<u8>, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(state);
    }

    fn unpack(&self, bytes: &[u8]) -> Vec<u8> {
        bytes.to_vec()
    }

    fn label_name(&self, label: Label) -> String {
        format!("l{}", label.0)
    }

    fn alone(&self, state: &Vec<u8>, actors: &mut Vec<u32>) {
        for (actor, steps) in self.processes.iter().enumerate() {
            let mut here = steps.iter().filter(|step| step.0 == state[2 + actor]).peekable();
            if here.peek().is_some() && here.all(|step| matches!(step.1, Instruction::Local)) {
                actors.push(actor as u32);
            }
        }
    }
}
