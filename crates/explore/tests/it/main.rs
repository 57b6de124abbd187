//! The strategies on a small machine, against brute force.

mod brute;
mod known;
mod machine;
mod operations;
mod parts;
mod random_programs;
mod strategies;
mod wide;
