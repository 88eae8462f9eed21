//! The place of a group in its queue, as one number.

use crate::{base::ids::GroupId, state::State, told::group::Group};

/// A group's place in its queue. Smaller goes first.
///
/// # Source
/// docs/behaviour.md 1.9, job order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(C, packed(4))]
pub(crate) struct GroupKey {
    /// The priority reversed, then the fill, then the age, packed so that one comparison orders them.
    place: u128,
    uid: u128,
    /// Says which group it is; the keys of two groups differ before.
    pub(crate) group: GroupId,
}

/// Position of the fill in a packed place: above the 64 bits of the age.
const FILL_SHIFT: u32 = 64;

impl GroupKey {
    /// Before every group.
    pub(crate) const FIRST: Self = Self { place: 0, uid: 0, group: GroupId::new(0) };
    /// After every group.
    pub(crate) const LAST: Self =
        Self { place: u128::MAX, uid: u128::MAX, group: GroupId::new(u32::MAX) };

    /// After every group of this priority, before those of lower ones.
    pub(crate) fn last_of(priority: i32) -> Self {
        let below = (u128::from(reversed(priority)) + 1) << (FILL_SHIFT + 8);
        Self { place: below, ..Self::FIRST }
    }

    /// The key of a live group, with its pods as they are.
    pub(crate) fn of(state: &State, group: GroupId) -> Option<Self> {
        let row = &state.groups[group];
        Some(row.facts.as_ref()?.key(row.tree.fill()))
    }

    /// The key of a group of which nothing runs.
    pub(crate) fn new(group: GroupId, facts: &Group) -> Self {
        let priority = u128::from(reversed(facts.priority));
        let age = u128::from(facts.created.0.cast_unsigned() ^ (1 << 63));
        let place = priority << (FILL_SHIFT + 8) | age;
        Self { place, uid: facts.uid, group }
    }

    /// The key of the same group when it is filled differently.
    pub(crate) fn refilled(self, fill: u8) -> Self {
        let cleared = self.place & !(u128::from(u8::MAX) << FILL_SHIFT);
        Self { place: cleared | u128::from(fill) << FILL_SHIFT, ..self }
    }
}

/// A priority as a number that is smaller the higher it is.
pub(crate) fn reversed(priority: i32) -> u32 {
    (!priority).cast_unsigned() ^ (1 << 31)
}
