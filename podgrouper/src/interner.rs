//! Equal values, stored once.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// Number of values beyond twice those that were in use last.
const SLACK: usize = 1_000;

/// The values of one type that are in use, each once.
///
/// A value that nobody else holds any more is dropped with the next sweep; sweeps come each time that the number of
/// values has doubled, so that their cost is spread over what was added.
#[derive(Debug)]
pub(crate) struct Interner<T: ?Sized> {
    known: HashSet<Arc<T>>,
    /// Number of values after the last sweep.
    kept: usize,
}

impl<T: ?Sized> Default for Interner<T> {
    fn default() -> Self {
        Self { known: HashSet::new(), kept: 0 }
    }
}

impl<T: ?Sized + Eq + Hash> Interner<T> {
    /// The value that is equal to this one and was there first.
    pub(crate) fn intern(&mut self, value: Arc<T>) -> Arc<T> {
        if let Some(known) = self.known.get(&*value) {
            return known.clone();
        }
        if self.known.len() > 2 * self.kept + SLACK {
            self.known.retain(|value| Arc::strong_count(value) > 1);
            self.kept = self.known.len();
            self.known.shrink_to(2 * self.kept);
        }
        self.known.insert(value.clone());
        value
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Interner;

    #[test]
    fn equal_values_are_one_and_unused_ones_go() {
        let mut interner = Interner::<str>::default();
        let kept = interner.intern("kept".into());
        assert!(Arc::ptr_eq(&kept, &interner.intern("kept".into())));
        for number in 0..10_000 {
            interner.intern(number.to_string().into());
        }
        assert!(interner.len() < 1_100, "{}", interner.len());
        assert!(Arc::ptr_eq(&kept, &interner.intern("kept".into())));
    }
}
