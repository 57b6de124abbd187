//! Who looks at which matrix: this process, or several.
//!
//! Matrices are handed out in the order of the plan, some at a time, and their answers are given back in that order, whoever was
//! first. Invariant: what is reported does not depend on how many work.

use std::collections::VecDeque;

use selvedge_lineup::{Matrix, Plan, Stage};
use selvedge_protocol::{PlainSteps, Shortfall, wire};

use super::examine::{Answer, Examiner, Verdict};
use super::matrix::Numbers;
use crate::worker::{self, PATIENCE, Worker};
use crate::{journal, sys};

/// So many matrices are handed out together; a worker gives back those that it has no time for.
const BATCH: usize = 16;
/// For this part of a slice one process goes on alone: many objects are done by then.
const ALONE: f64 = 0.3;

/// How long matrices may take.
#[derive(Clone, Copy)]
pub struct Times {
    /// When everything ends.
    pub end: f64,
    /// When the enumeration ends, if something comes after it.
    pub enumeration: f64,
    /// When others are called for help.
    pub share: f64,
    /// After so many seconds a worker gives back what it has not begun.
    pub slice: f64,
}

impl Times {
    /// A search that begins now: seconds for everything, the part of them that an enumeration may take, and the slice.
    pub fn new(seconds: Option<f64>, enumeration: f64, slice: f64) -> Self {
        let now = sys::now();
        let until = |part: f64| seconds.map_or(f64::INFINITY, |seconds| now + seconds * part);
        Times { end: until(1.0), enumeration: until(enumeration), share: now + ALONE * slice, slice }
    }
}

enum State {
    Waiting,
    /// With this worker.
    Out(u64),
    Done(Box<Answer>),
}

struct Task {
    stage: Stage,
    matrix: Matrix,
    state: State,
}

/// A matrix that was looked at.
pub struct Examined {
    /// Where it comes from.
    pub stage: Stage,
    /// The matrix.
    pub matrix: Matrix,
    /// What came of it.
    pub answer: Answer,
}

/// The processes that work, and what they work on.
pub struct Crew {
    /// What is left of the plan.
    pub plan: Plan,
    times: Times,
    jobs: usize,
    tasks: VecDeque<Task>,
    workers: Vec<Worker>,
    next_id: u64,
    /// Processor time of workers that have ended.
    pub cpu_seconds: f64,
}

impl Crew {
    /// A crew of so many processes.
    pub fn new(plan: Plan, times: Times, jobs: usize) -> Self {
        Crew { plan, times, jobs, tasks: VecDeque::new(), workers: Vec::new(), next_id: 0, cpu_seconds: 0.0 }
    }

    /// The next matrix of the plan, with what came of it.
    pub fn next(&mut self, examiner: &mut Examiner<'_>) -> Option<Examined> {
        loop {
            if let Some(Task { state: State::Done(_), .. }) = self.tasks.front() {
                let Some(Task { stage, matrix, state: State::Done(answer) }) = self.tasks.pop_front() else { continue };
                return Some(Examined { stage, matrix, answer: *answer });
            }
            let alone = self.jobs < 2 || sys::now() < self.times.share;
            if alone && self.workers.is_empty() {
                let (stage, matrix) = self.take()?;
                examiner.bench.deadline = self.until(stage);
                let answer = examiner.examine(&matrix);
                return Some(Examined { stage, matrix, answer });
            }
            self.hand_out(examiner);
            if self.workers.is_empty() {
                if self.tasks.is_empty() {
                    return None;
                }
                // The system has no more processes.
                self.jobs = 1;
                continue;
            }
            self.collect(examiner);
        }
    }

    /// Goes on to random matrices: there is no more time for the enumeration.
    pub fn leave_enumeration(&mut self) {
        self.plan.leave_enumeration();
        self.tasks.retain(|task| !matches!((task.stage, &task.state), (Stage::Auto(_), State::Waiting)));
    }

    fn until(&self, stage: Stage) -> f64 {
        let share = matches!(stage, Stage::Auto(_)) && self.plan.fills_up();
        if share { self.times.enumeration } else { self.times.end }
    }

    /// The next matrix that nobody looks at.
    fn take(&mut self) -> Option<(Stage, Matrix)> {
        match self.tasks.pop_front() {
            Some(task) => Some((task.stage, task.matrix)),
            None => self.plan.next_matrix(),
        }
    }

    fn hand_out(&mut self, examiner: &mut Examiner<'_>) {
        while self.workers.len() < self.jobs {
            let waiting = self.prepare();
            self.next_id += 1;
            let id = self.next_id;
            let mut batch = Vec::new();
            // The last ones are shared out, so that nobody is left without.
            let count = BATCH.min(waiting.div_ceil(self.jobs - self.workers.len()));
            let until: [f64; 2] = [self.until(Stage::Random), self.until(Stage::Auto(1))];
            for task in self.tasks.iter_mut().filter(|task| matches!(task.state, State::Waiting)).take(count) {
                task.state = State::Out(id);
                batch.push((until[usize::from(matches!(task.stage, Stage::Auto(_)))], task.matrix.clone()));
            }
            if batch.is_empty() {
                return;
            }
            let slice = self.times.slice;
            match Worker::start(id, || work(examiner, &batch, slice)) {
                Some(worker) => self.workers.push(worker),
                None => return self.give_back(id),
            }
        }
    }

    /// Takes some from the plan; how many nobody looks at.
    fn prepare(&mut self) -> usize {
        let mut waiting = self.tasks.iter().filter(|task| matches!(task.state, State::Waiting)).count();
        while waiting < BATCH * self.jobs
            && let Some((stage, matrix)) = self.plan.next_matrix()
        {
            self.tasks.push_back(Task { stage, matrix, state: State::Waiting });
            waiting += 1;
        }
        waiting
    }

    fn give_back(&mut self, id: u64) {
        for task in self.tasks.iter_mut().filter(|task| matches!(task.state, State::Out(other) if other == id)) {
            task.state = State::Waiting;
        }
    }

    /// Waits for a worker, and notes its answers.
    fn collect(&mut self, examiner: &mut Examiner<'_>) {
        worker::wait(&self.workers, PATIENCE);
        journal::tick();
        for at in (0..self.workers.len()).rev() {
            let worker = &mut self.workers[at];
            if !worker.listen() || !worker.has_answered() && !worker.has_ended() {
                continue;
            }
            let worker = self.workers.swap_remove(at);
            let id = worker.id();
            let done = worker.dismiss();
            let said = done.answer().and_then(|text| wire::decode_bytes::<(Vec<Answer>, f64)>(text).ok());
            let lost = || {
                let verdict = Verdict::Unknown(Shortfall::Died(done.death));
                (vec![Answer { verdict, numbers: Numbers::default(), plain_steps: PlainSteps::default() }], 0.0)
            };
            let (answers, cpu) = said.unwrap_or_else(lost);
            self.cpu_seconds += cpu;
            let mine = self.tasks.iter_mut().filter(|task| matches!(task.state, State::Out(other) if other == id));
            for (task, answer) in mine.zip(answers) {
                task.state = State::Done(Box::new(answer));
            }
            self.give_back(id);
        }
        examiner.bench.deadline = self.times.end;
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in self.workers.drain(..) {
            let _ = worker.dismiss();
        }
    }
}

/// What a worker does: one matrix after the other, until its time is up or something fails.
fn work(examiner: &mut Examiner<'_>, batch: &[(f64, Matrix)], slice: f64) -> String {
    let began = sys::now();
    let mut answers = Vec::new();
    for (until, matrix) in batch {
        examiner.bench.deadline = *until;
        journal::expect_end(*until);
        answers.push(examiner.examine(matrix));
        if sys::now() > began + slice {
            break;
        }
    }
    wire::encode(&(answers, sys::cpu()))
}
