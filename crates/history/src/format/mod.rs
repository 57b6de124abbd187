//! File formats: every importer turns bytes into a [`Log`](crate::Log).
