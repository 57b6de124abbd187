//! Which matrices are tested, and in which order: Check, AutoCheck and RandomCheck (Line-Up figures 5, 6 and 8).
//!
//! Invariant: the order is a function of the options and the calls, and two matrices that differ only in the order of their threads
//! are tested once. Departure from figure 6: the n × n matrices are not only over the first n calls but over the whole list, which
//! still grows, so that a fault that needs the last call shows at 2 × 2. Where no n threads may make calls at the same time (`exclusive`),
//! there are as many threads as may, with n calls each.

use std::collections::HashSet;

use selvedge_explore::Rng;
use selvedge_protocol::{Enumerated, PlanRecord, RandomPlan};

use crate::calls::{CallId, Calls};
use crate::matrix::Matrix;
use crate::options::Options;
use crate::quasi::Roles;

/// Where a matrix comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// From the user.
    Given,
    /// From the enumeration of all, at this size.
    Auto(usize),
    /// Drawn at random.
    Random,
}

/// How many matrices of one size the default tests at most; the list of calls grows no further than that.
const AUTO_MAX: u64 = 2_000;
/// The default size of random matrices.
const RANDOM_SIZE: usize = 3;
/// How many random matrices the default tests.
const SAMPLES: u64 = 100;
/// In vain so many times: there are no more random matrices that are new.
const ATTEMPTS: u32 = 1_000;

/// The matrices to test.
#[derive(Clone, Debug)]
pub struct Plan {
    calls: Calls,
    initial: Vec<CallId>,
    last: Vec<CallId>,
    given: std::vec::IntoIter<Matrix>,
    auto: Option<Auto>,
    random: Option<Draw>,
    /// What matrices that are made up have to be completed with, so that they drain the object.
    drained: Option<Roles>,
    /// Whether random matrices were asked for, and not only what fits into the time.
    pub samples_wanted: bool,
    /// The calls that are in no matrix of the enumeration, for there would be too many.
    pub left_out: usize,
}

impl Plan {
    /// The plan for these options; `seed` where they name none.
    pub fn new(options: &Options, calls: &Calls, seed: u64) -> Self {
        let said = &options.said;
        let asked = said.threads.is_some() || said.ops.is_some() || said.samples.is_some();
        let (auto, random) = match (options.tests.is_empty(), said.auto, asked) {
            (false, _, _) => (None, false),
            (true, Some(size), asked) => (Some((size, u64::MAX)), asked),
            (true, None, true) => (None, true),
            (true, None, false) => (Some((2, AUTO_MAX)), true),
        };
        let auto = auto.map(|(size, most)| Auto::new(size, calls.len(), most, width(calls, size)));
        let random = random.then(|| Draw {
            threads: said.threads.unwrap_or(RANDOM_SIZE),
            ops: said.ops.unwrap_or(RANDOM_SIZE),
            seed: said.seed.unwrap_or(seed),
            left: said.samples.unwrap_or(SAMPLES),
            next: 0,
            seen: HashSet::new(),
        });
        Plan {
            calls: calls.clone(),
            initial: options.initial.clone(),
            last: options.last.clone(),
            given: options.tests.clone().into_iter(),
            left_out: auto.as_ref().map_or(0, |auto: &Auto| calls.len() - auto.calls_max),
            auto,
            random,
            drained: None,
            samples_wanted: asked,
        }
    }

    /// From now on matrices that are made up drain the object.
    pub fn drain(&mut self, roles: Roles) {
        self.drained = Some(roles);
    }

    /// How many matrices the enumeration has. Those that are left out are counted by going through all, if they are few enough.
    fn enumerated(&self, auto: &Auto) -> u64 {
        const COUNTED: u64 = 100_000;
        if self.calls.exclusive.is_empty() || auto.total() > COUNTED {
            return auto.total();
        }
        let mut auto = auto.clone();
        let all = std::iter::from_fn(|| auto.next_columns());
        all.filter(|columns| self.allows(&self.framed(columns.clone()))).count() as u64
    }

    /// How many matrices are left, of those that must be tested.
    pub fn must(&self) -> u64 {
        let auto = self.auto.as_ref().map_or(0, |auto| self.enumerated(auto));
        let random = self.random.as_ref().filter(|_| self.samples_wanted).map_or(0, |random| random.left);
        self.given.len() as u64 + auto.saturating_add(random)
    }

    /// How many random matrices only fill up the time that is left.
    pub fn extra(&self) -> u64 {
        self.random.as_ref().filter(|_| !self.samples_wanted).map_or(0, |random| random.left)
    }

    /// Whether random matrices follow that only fill the time that is left.
    pub fn fills_up(&self) -> bool {
        self.random.is_some() && !self.samples_wanted
    }

    /// Goes on to random matrices: there is no more time for the enumeration.
    pub fn leave_enumeration(&mut self) {
        self.auto = None;
    }

    /// What is tested.
    pub fn record(&self) -> PlanRecord {
        PlanRecord {
            given: self.given.len() as u64,
            enumerated: self.auto.as_ref().map(|auto| Enumerated {
                count: self.enumerated(auto),
                threads: auto.threads_at(auto.size_max),
                ops: auto.size_max,
                first_calls: (self.left_out > 0).then_some(auto.calls_max),
            }),
            random: self.random.as_ref().map(|random| RandomPlan {
                count: random.left,
                wanted: self.samples_wanted,
                threads: width(&self.calls, random.threads),
                ops: random.ops,
                seed: random.seed,
            }),
        }
    }

    /// The next matrix.
    pub fn next_matrix(&mut self) -> Option<(Stage, Matrix)> {
        if let Some(mut matrix) = self.given.next() {
            if matrix.initial.is_empty() && matrix.last.is_empty() {
                matrix.initial.clone_from(&self.initial);
                matrix.last.clone_from(&self.last);
            }
            return Some((Stage::Given, matrix));
        }
        while let Some(auto) = &mut self.auto {
            match auto.next_columns() {
                Some(columns) => {
                    let size = columns[0].len();
                    let matrix = self.framed(columns);
                    if self.allows(&matrix) {
                        return Some((Stage::Auto(size), matrix));
                    }
                }
                None => self.auto = None,
            }
        }
        let mut random = self.random.take()?;
        let matrix = self.draw(&mut random);
        self.random = matrix.is_some().then_some(random);
        matrix.map(|matrix| (Stage::Random, matrix))
    }

    fn framed(&self, columns: Vec<Vec<CallId>>) -> Matrix {
        let matrix = Matrix { initial: self.initial.clone(), columns, last: self.last.clone() };
        match &self.drained {
            Some(roles) => roles.complete(matrix),
            None => matrix,
        }
    }

    fn allows(&self, matrix: &Matrix) -> bool {
        self.calls.exclusive.iter().all(|group| matrix.respects(group))
    }

    fn draw(&self, random: &mut Draw) -> Option<Matrix> {
        if random.left == 0 {
            return None;
        }
        for _ in 0..ATTEMPTS {
            let matrix = self.framed(random.columns(self.calls.len()));
            if self.allows(&matrix) && random.seen.insert(matrix.clone().canonical()) {
                random.left -= 1;
                return Some(matrix);
            }
        }
        // Hardly any matrix respects the exclusive calls by chance: those that do are drawn.
        for _ in 0..if self.calls.exclusive.is_empty() { 0 } else { ATTEMPTS } {
            let matrix = self.framed(random.fitting(&self.calls));
            if self.allows(&matrix) && random.seen.insert(matrix.clone().canonical()) {
                random.left -= 1;
                return Some(matrix);
            }
        }
        None
    }
}

/// How many of so many threads may make calls at the same time: each needs one that no other may make.
fn width(calls: &Calls, threads: usize) -> usize {
    let shared =
        |one: CallId, other: CallId| calls.exclusive.iter().any(|group| group.contains(&one) && group.contains(&other));
    let free = |call: CallId| !calls.exclusive.iter().any(|group| group.contains(&call));
    if calls.ids().any(free) {
        return threads;
    }
    // A call of each thread, no two in one group; the calls are tried in turn, as deep as there are threads.
    fn most(
        from: u16,
        chosen: &mut Vec<CallId>,
        count: u16,
        threads: usize,
        shared: &dyn Fn(CallId, CallId) -> bool,
    ) -> usize {
        let mut best = chosen.len();
        for call in (from..count).map(CallId) {
            if best >= threads {
                break;
            }
            if !chosen.iter().any(|&other| shared(call, other)) {
                chosen.push(call);
                best = best.max(most(call.0 + 1, chosen, count, threads, shared));
                chosen.pop();
            }
        }
        best
    }
    most(0, &mut Vec::new(), calls.len() as u16, threads, &shared)
}

/// Random matrices: every entry is drawn alone, each call as likely as any other.
#[derive(Clone, Debug)]
struct Draw {
    threads: usize,
    ops: usize,
    seed: u64,
    left: u64,
    next: u64,
    seen: HashSet<Matrix>,
}

impl Draw {
    fn columns(&mut self, calls: usize) -> Vec<Vec<CallId>> {
        let mut rng = Rng::for_run(self.seed, self.next);
        self.next += 1;
        let mut call = || CallId(rng.below(calls as u64) as u16);
        (0..self.threads).map(|_| (0..self.ops).map(|_| call()).collect()).collect()
    }

    /// The same, but each exclusive group belongs to a thread, and a thread without a call is left out.
    fn fitting(&mut self, calls: &Calls) -> Vec<Vec<CallId>> {
        let mut rng = Rng::for_run(self.seed, self.next);
        self.next += 1;
        let owners: Vec<u64> = calls.exclusive.iter().map(|_| rng.below(self.threads as u64)).collect();
        let may = |thread: u64, call: CallId| {
            calls.exclusive.iter().zip(&owners).all(|(group, &owner)| owner == thread || !group.contains(&call))
        };
        let mut columns = Vec::new();
        for thread in 0..self.threads as u64 {
            let own: Vec<CallId> = calls.ids().filter(|&call| may(thread, call)).collect();
            if !own.is_empty() {
                columns.push((0..self.ops).map(|_| own[rng.below(own.len() as u64) as usize]).collect());
            }
        }
        columns
    }
}

/// All matrices of n threads with n calls each, n growing, over the first 1, 2, ... calls; of fewer threads where no n may make calls.
#[derive(Clone, Debug)]
struct Auto {
    size: usize,
    size_max: usize,
    /// How many threads may make calls at the same time.
    width: usize,
    /// How many calls the list has grown to; the newest is in every matrix of this round.
    calls: usize,
    calls_max: usize,
    /// The columns of the next matrix as numbers in base `calls`, never falling: one order of the threads stands for all.
    columns: Option<Vec<u64>>,
}

impl Auto {
    fn new(size_max: usize, calls: usize, most: u64, width: usize) -> Self {
        let width = width.max(1);
        let fits = |calls: &usize| (1..=size_max).all(|size| multisets(*calls, size, size.min(width)) <= most);
        let calls_max = (1..=calls).rev().find(fits).unwrap_or(1);
        Auto { size: 1, size_max, width, calls: 1, calls_max, columns: Some(vec![0]) }
    }

    /// How many threads the matrices have whose threads make so many calls.
    fn threads_at(&self, size: usize) -> usize {
        size.min(self.width)
    }

    /// How many there are, all together.
    fn total(&self) -> u64 {
        let of = |size| multisets(self.calls_max, size, self.threads_at(size));
        (1..=self.size_max).fold(0, |sum: u64, size| sum.saturating_add(of(size)))
    }

    fn next_columns(&mut self) -> Option<Vec<Vec<CallId>>> {
        loop {
            let columns = self.columns.take()?;
            let newest = self.calls - 1;
            let matrix: Vec<Vec<CallId>> = columns.iter().map(|&number| self.digits(number)).collect();
            self.advance(columns);
            // Without the newest call it was in an earlier round.
            if newest_call(&matrix) == newest {
                return Some(matrix);
            }
        }
    }

    fn digits(&self, mut number: u64) -> Vec<CallId> {
        let base = self.calls as u64;
        let mut column: Vec<CallId> = (0..self.size)
            .map(|_| {
                let digit = number % base;
                number /= base;
                CallId(digit as u16)
            })
            .collect();
        column.reverse();
        column
    }

    fn advance(&mut self, mut columns: Vec<u64>) {
        let most = (self.calls as u64).saturating_pow(self.size as u32) - 1;
        match columns.iter().rposition(|&column| column < most) {
            Some(at) => {
                let next = columns[at] + 1;
                columns[at..].fill(next);
                self.columns = Some(columns);
            }
            None if self.calls < self.calls_max => {
                self.calls += 1;
                self.columns = Some(vec![0; self.threads_at(self.size)]);
            }
            None if self.size < self.size_max => {
                self.size += 1;
                self.calls = 1;
                self.columns = Some(vec![0; self.threads_at(self.size)]);
            }
            None => {}
        }
    }
}

fn newest_call(matrix: &[Vec<CallId>]) -> usize {
    matrix.iter().flatten().map(|call| call.index()).max().unwrap_or(0)
}

/// How many matrices there are over so many calls, of threads with `size` calls each, threads in any order.
fn multisets(calls: usize, size: usize, threads: usize) -> u64 {
    let columns = (calls as u128).saturating_pow(size as u32);
    let mut count: u128 = 1;
    for at in 0..threads as u128 {
        count = count.saturating_mul(columns.saturating_add(at)) / (at + 1);
    }
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
