//! Checks a certificate against a log with small code of its own.
