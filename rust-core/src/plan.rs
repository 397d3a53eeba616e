//! A plan: the cores of every run for one epoch, each with its reason.

use std::fmt;

/// Shares of all active runs for one epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Counts the plans of an engine, from 1.
    pub epoch: u64,
    /// One entry a run, by rising id.
    pub shares: Vec<Share>,
}

/// What one run gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The run's id.
    pub run: i64,
    /// Cores planned; 0 only while runs take turns.
    pub cores: u32,
    /// Why.
    pub reason: Reason,
    /// Expected normalised loss reduction with these cores over the horizon.
    pub gain: f64,
}

/// Why a run gets what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It reports no loss: its fair share.
    NoLoss,
    /// Before its first loss: at least its fair share, more when its kind usually gains more.
    Starting,
    /// Too few losses for a forecast: the typical curve of its algorithm decides.
    Prior,
    /// Its forecast promises the most per core.
    Gain,
    /// Others gain more: the floor.
    Floor,
    /// Runs outnumber cores: its turn.
    Turn,
    /// Runs outnumber cores: waits for its turn.
    Waiting,
    /// It waited as long as is allowed.
    Overdue,
    /// It can use no more.
    Ceiling,
    /// The policy does not look at losses.
    Policy,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NoLoss => "reports no loss: keeps its fair share",
            Reason::Starting => "before its first loss: at least its fair share",
            Reason::Prior => "few losses yet: expected to fall like others of its algorithm",
            Reason::Gain => "its loss is expected to fall most per core",
            Reason::Floor => "other runs are expected to gain more: the floor",
            Reason::Turn => "more runs than cores: has its turn",
            Reason::Waiting => "more runs than cores: waits for its turn",
            Reason::Overdue => "more runs than cores: waited as long as is allowed",
            Reason::Ceiling => "can use no more cores",
            Reason::Policy => "the configured policy's share",
        })
    }
}
