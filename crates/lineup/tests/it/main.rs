//! The checker against a second one that tries every order, and files there and back.

mod brute;
mod files;
mod observation_property;
mod sentences;
