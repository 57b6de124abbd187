//! A barrier. Nobody passes before everybody came, which no serial execution can show (L).

use std::sync::{Condvar, Mutex};

struct State {
    participants: u32,
    remaining: u32,
    phase: u32,
    cancelled: bool,
}

/// The barrier.
pub struct Barrier {
    state: Mutex<State>,
    passed: Condvar,
}

impl State {
    fn turn(&mut self) {
        self.phase += 1;
        self.remaining = self.participants;
    }
}

impl Barrier {
    /// For so many.
    pub fn new(participants: u32) -> Self {
        let state = State { participants, remaining: participants, phase: 0, cancelled: false };
        Barrier { state: Mutex::new(state), passed: Condvar::new() }
    }

    /// Arrives, and waits for the others.
    pub fn signal_and_wait(&self) -> Result<(), &'static str> {
        let mut state = self.state.lock().unwrap();
        if state.participants == 0 {
            return Err("no participants");
        }
        if state.cancelled {
            return Err("cancelled");
        }
        state.remaining -= 1;
        if state.remaining == 0 {
            state.turn();
            self.passed.notify_all();
            return Ok(());
        }
        let phase = state.phase;
        while state.phase == phase {
            if state.cancelled {
                state.remaining += 1;
                return Err("cancelled");
            }
            state = self.passed.wait(state).unwrap();
        }
        Ok(())
    }

    /// How many have not arrived.
    pub fn participants_remaining(&self) -> u32 {
        self.state.lock().unwrap().remaining
    }

    /// How many there are.
    pub fn participant_count(&self) -> u32 {
        self.state.lock().unwrap().participants
    }

    /// How often everybody has passed.
    pub fn current_phase_number(&self) -> u32 {
        self.state.lock().unwrap().phase
    }

    /// One more; the phase it begins in.
    pub fn add_participant(&self) -> u32 {
        let mut state = self.state.lock().unwrap();
        state.participants += 1;
        state.remaining += 1;
        state.phase
    }

    /// One less.
    pub fn remove_participant(&self) -> Result<(), &'static str> {
        let mut state = self.state.lock().unwrap();
        if state.participants == 0 {
            return Err("no participants");
        }
        state.participants -= 1;
        state.remaining -= 1;
        if state.remaining == 0 {
            state.turn();
            self.passed.notify_all();
        }
        Ok(())
    }

    /// Whoever waits gives up, and whoever comes later.
    pub fn cancel(&self) {
        self.state.lock().unwrap().cancelled = true;
        self.passed.notify_all();
    }
}
