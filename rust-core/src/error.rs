//! The crate's one error type.

use std::fmt;

/// Result of the crate's fallible operations.
pub type Result<T> = std::result::Result<T, Error>;

/// What a caller can do wrong. Every message names the value and what is allowed.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A configuration key is unknown or its value is not allowed.
    Config {
        /// The key as given.
        key: String,
        /// The value as given.
        value: String,
        /// What would have been accepted.
        allowed: String,
    },
    /// A field of a run's description is missing or not allowed.
    Spec(String),
    /// The run was never started, or has finished.
    UnknownRun(i64),
    /// A run of this id is already active.
    AlreadyStarted(i64),
    /// A file could not be read, written or understood.
    File {
        /// The path as configured.
        path: String,
        /// What went wrong.
        reason: String,
    },
}

impl Error {
    pub(crate) fn config(key: &str, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Error::Config { key: key.to_owned(), value: value.to_string(), allowed: allowed.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Config { key, value, allowed } => write!(f, "{key} = {value}: allowed is {allowed}"),
            Error::Spec(reason) => write!(f, "run description: {reason}"),
            Error::UnknownRun(run) => write!(f, "run {run} is not active: start it first"),
            Error::AlreadyStarted(run) => write!(f, "run {run} is already active: finish it first"),
            Error::File { path, reason } => write!(f, "{path}: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
