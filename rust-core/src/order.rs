//! Numbers in the order of [`f64::total_cmp`], so that what is queued by one can derive its order.

use std::cmp::Ordering;

/// A number that compares with all others, NaN included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Total(pub f64);

impl PartialEq for Total {
    fn eq(&self, other: &Total) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Total {}
impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Total) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Total {
    fn cmp(&self, other: &Total) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
