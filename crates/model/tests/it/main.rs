//! The checks against brute force, on models drawn at random.

mod agreement;
mod corpus;
mod programs;
mod quasi;
mod queues;
mod refinement;
mod temporal;
