//! What ends a command of the simulator: one sentence for the person who typed it.

use std::fmt;

/// A message that names what was given, where, and what would have been allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

/// Result of everything in the simulator that can be wrong because of what the user gave.
pub type Outcome<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }

    /// A file or directory that cannot be used, with the reason.
    pub fn of_path(path: &std::path::Path, reason: impl fmt::Display) -> Failure {
        Failure(format!("{}: {reason}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
