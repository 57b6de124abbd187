//! The checks against brute force, on models drawn at random.

mod programs;
mod refinement;
