//! The bytes that classes are to have instead of their own.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

use parking_lot::Mutex;

/// Replacements by class name, each for one version of the class.
pub(crate) struct Replacements(Mutex<BTreeMap<CString, Replacement>>);

struct Replacement {
    original: Vec<u8>,
    bytes: Vec<u8>,
}

impl Replacements {
    /// None yet.
    pub(crate) const fn new() -> Self {
        Replacements(Mutex::new(BTreeMap::new()))
    }

    /// Adds or changes one, for a class with these bytes.
    pub(crate) fn put(&self, name: &CStr, original: Vec<u8>, bytes: Vec<u8>) {
        self.0.lock().insert(name.to_owned(), Replacement { original, bytes });
    }

    /// What a class is to be replaced by, once. A class of another build, or one that another agent has changed, is not
    /// what was rewritten: it stays, and a warning says so.
    pub(crate) fn take(&self, name: &CStr, original: &[u8]) -> Option<Vec<u8>> {
        let found = self.0.lock().remove(name)?;
        if found.original != original {
            log::warn!(
                "{} is not as its class file says, so its exact losses are not available",
                name.to_string_lossy()
            );
            return None;
        }
        Some(found.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_replaced_once() {
        let replacements = Replacements::new();
        replacements.put(c"a/B", vec![1], vec![2, 3]);
        assert_eq!(replacements.take(c"a/C", &[1]), None);
        assert_eq!(replacements.take(c"a/B", &[1]), Some(vec![2, 3]));
        assert_eq!(replacements.take(c"a/B", &[1]), None);
    }

    #[test]
    fn another_version_of_a_class_stays() {
        let replacements = Replacements::new();
        replacements.put(c"a/B", vec![1], vec![2, 3]);
        assert_eq!(replacements.take(c"a/B", &[1, 1]), None);
    }
}
