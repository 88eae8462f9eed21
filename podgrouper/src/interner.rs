//! Equal values, stored once.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// Number of values beyond twice those that were in use last, and bytes of them.
const SLACK: usize = 1_000;
const SLACK_BYTES: usize = 1 << 20;

/// A value of which it is known how much memory it takes.
pub(crate) trait Weigh {
    /// About so many bytes: its own, and those that no other value has part in.
    fn weight(&self) -> usize;
}

impl Weigh for str {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// The values of one type that are in use, each once.
///
/// A value that nobody else holds any more is dropped with the next sweep; sweeps come each time that the number of
/// values has doubled, or their bytes have, so that their cost is spread over what was added. A user may have few pods with
/// large texts, and edit them for ever, among many pods with small ones.
#[derive(Debug)]
pub(crate) struct Interner<T: ?Sized> {
    known: HashSet<Arc<T>>,
    bytes: usize,
    /// Number of values after the last sweep, and their bytes.
    kept: usize,
    kept_bytes: usize,
}

impl<T: ?Sized> Default for Interner<T> {
    fn default() -> Self {
        Self { known: HashSet::new(), bytes: 0, kept: 0, kept_bytes: 0 }
    }
}

impl<T: ?Sized + Eq + Hash + Weigh> Interner<T> {
    /// The value that is equal to this one and was there first.
    pub(crate) fn intern(&mut self, value: Arc<T>) -> Arc<T> {
        if let Some(known) = self.known.get(&*value) {
            return known.clone();
        }
        self.bytes += value.weight();
        if self.known.len() > 2 * self.kept + SLACK
            || self.bytes > 2 * self.kept_bytes + SLACK_BYTES
        {
            self.known.retain(|value| Arc::strong_count(value) > 1);
            self.kept = self.known.len();
            self.kept_bytes = self.known.iter().map(|value| value.weight()).sum();
            self.bytes = self.kept_bytes + value.weight();
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

    #[test]
    fn few_large_values_that_nobody_holds_do_not_stay_for_many_small_ones() {
        let mut interner = Interner::<str>::default();
        let small = |number: usize| -> Arc<str> { number.to_string().into() };
        let kept: Vec<Arc<str>> = (0..5_000).map(|number| interner.intern(small(number))).collect();
        for number in 0..1_500 {
            interner.intern(format!("{number:4096}").into());
        }
        let bytes: usize = interner.known.iter().map(|value| value.len()).sum();
        assert!(bytes < 2 << 20, "{bytes}");
        assert!(Arc::ptr_eq(&kept[7], &interner.intern("7".into())));
    }
}
