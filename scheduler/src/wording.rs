//! Words of which only is asked whether others are the same.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The hash of a text. A message may have kilobytes, and each of a hundred thousand pods that wait has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wording(u64);

impl Wording {
    /// That of a text.
    pub fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish())
    }
}
