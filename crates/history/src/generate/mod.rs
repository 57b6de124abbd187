//! Histories made up: linearizable by construction, or with one violation that is certain.
mod random;
pub(crate) use random::Random;
