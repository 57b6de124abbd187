//! The checks against brute force, on models drawn at random.

mod programs;
mod quasi;
mod queues;
mod refinement;
mod temporal;
