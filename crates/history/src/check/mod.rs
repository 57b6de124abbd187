//! The front door of the checkers, and the algorithms behind it.
