//! A sorted set that keeps its least member beside the others: a set of one needs no memory of its own, and who is first
//! is known without a search.

use std::{
    collections::{BTreeSet, btree_set},
    ops::Bound::{Excluded, Unbounded},
};

/// More members than this are worth sorting before they are added.
const MANY: usize = 16;

/// Members in order.
#[derive(Clone, Debug)]
pub(crate) struct MinSet<T> {
    least: Option<T>,
    /// None as long as there was never more than one.
    #[expect(clippy::box_collection, reason = "sets lie in rows of tables, which are to be small")]
    rest: Option<Box<BTreeSet<T>>>,
}

impl<T> Default for MinSet<T> {
    fn default() -> Self {
        Self { least: None, rest: None }
    }
}

impl<T: Ord> PartialEq for MinSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.least == other.least && self.rest().eq(other.rest())
    }
}

impl<T: Ord> Eq for MinSet<T> {}

impl<T> MinSet<T> {
    /// The members after the least, ascending.
    fn rest(&self) -> btree_set::Iter<'_, T> {
        self.rest.as_ref().map_or_else(Default::default, |rest| rest.iter())
    }
}

impl<T: Copy + Ord> MinSet<T> {
    /// The least member.
    pub(crate) fn first(&self) -> Option<&T> {
        self.least.as_ref()
    }

    /// Counts the members.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.least.is_some()) + self.rest.as_ref().map_or(0, |rest| rest.len())
    }

    /// Tells whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.least.is_none()
    }

    /// Every member, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.least.iter().chain(self.rest())
    }

    /// Tells whether something is a member.
    pub(crate) fn contains(&self, member: &T) -> bool {
        self.least.as_ref() == Some(member)
            || self.rest.as_ref().is_some_and(|rest| rest.contains(member))
    }

    /// The member that follows one, which need not be one itself.
    pub(crate) fn after(&self, member: &T) -> Option<&T> {
        let least = self.least.as_ref().filter(|least| *least > member);
        least.or_else(|| self.rest.as_ref()?.range((Excluded(member), Unbounded)).next())
    }

    /// The first member that is not less than something, which need not be a member.
    pub(crate) fn from(&self, bound: &T) -> Option<&T> {
        let least = self.least.as_ref().filter(|least| *least >= bound);
        least.or_else(|| self.rest.as_ref()?.range(bound..).next())
    }

    /// Every member that is not less than something, ascending.
    pub(crate) fn since(&self, bound: &T) -> impl DoubleEndedIterator<Item = &T> {
        let least = self.least.iter().filter(move |least| *least >= bound);
        least.chain(self.rest.as_ref().map_or_else(Default::default, |rest| rest.range(bound..)))
    }

    /// Every member from one bound up to another, which is not among them, ascending.
    pub(crate) fn range(&self, from: &T, to: &T) -> impl DoubleEndedIterator<Item = &T> {
        let least = self.least.iter().filter(move |least| *least >= from && *least < to);
        least.chain(self.rest.as_ref().map_or_else(Default::default, |rest| rest.range(from..to)))
    }

    /// Adds a member.
    pub(crate) fn insert(&mut self, member: T) {
        match &mut self.least {
            None => self.least = Some(member),
            Some(least) if member < *least => {
                let least = std::mem::replace(least, member);
                self.rest.get_or_insert_default().insert(least);
            }
            Some(least) if member == *least => {}
            Some(_) => {
                self.rest.get_or_insert_default().insert(member);
            }
        }
    }

    /// Removes a member, where it is one.
    pub(crate) fn remove(&mut self, member: &T) {
        if self.least.as_ref() == Some(member) {
            self.pop_first();
        } else if let Some(rest) = &mut self.rest {
            rest.remove(member);
        }
    }

    /// Takes the least member out.
    #[inline]
    pub(crate) fn pop_first(&mut self) -> Option<T> {
        // The tree is not asked where nothing is in it.
        let rest = self.rest.as_mut().filter(|rest| !rest.is_empty());
        let next = rest.and_then(|rest| rest.pop_first());
        std::mem::replace(&mut self.least, next)
    }

    /// Adds members; many are sorted and merged, which costs less than a search for each.
    pub(crate) fn merge(&mut self, members: impl ExactSizeIterator<Item = T>) {
        if members.len() <= MANY.max(self.len()) {
            return self.extend(members);
        }
        let mut members: BTreeSet<T> = members.chain(self.least.take()).collect();
        let rest = self.rest.get_or_insert_default();
        rest.append(&mut members);
        self.least = rest.pop_first();
    }
}

impl<T: Copy + Ord> FromIterator<T> for MinSet<T> {
    fn from_iter<A: IntoIterator<Item = T>>(members: A) -> Self {
        let mut set = Self::default();
        set.extend(members);
        set
    }
}

impl<T: Copy + Ord> Extend<T> for MinSet<T> {
    fn extend<A: IntoIterator<Item = T>>(&mut self, members: A) {
        for member in members {
            self.insert(member);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::MinSet;

    /// Numbers that go in, or out where they are negative; what must stay is asked of a plain set.
    fn check(steps: &[i32]) {
        let (mut set, mut plain) = (MinSet::default(), BTreeSet::new());
        for step in steps {
            if *step > 0 {
                set.insert(*step);
                plain.insert(*step);
            } else {
                set.remove(&-step);
                plain.remove(&-step);
            }
            assert!(set.iter().eq(&plain), "{set:?}");
            assert_eq!((set.len(), set.is_empty()), (plain.len(), plain.is_empty()));
            assert!(set.range(&2, &5).rev().eq(plain.range(2..5).rev()), "{set:?}");
            for member in 0..10 {
                assert_eq!(set.contains(&member), plain.contains(&member));
                assert_eq!(set.after(&member), plain.range(member + 1..).next());
                assert_eq!(set.from(&member), plain.range(member..).next());
                assert!(set.since(&member).eq(plain.range(member..)), "{set:?}");
            }
        }
        assert_eq!(plain.iter().copied().collect::<MinSet<_>>(), set);
        for more in [3, 40] {
            set.merge((0..more).map(|member| member * 2));
            plain.extend((0..more).map(|member| member * 2));
            assert!(set.iter().eq(&plain), "{set:?}");
        }
        assert!(set.iter().eq(&plain), "{set:?}");
        assert_eq!(set.pop_first(), plain.pop_first());
        assert!(set.iter().eq(&plain), "{set:?}");
    }

    #[test]
    fn agrees_with_a_plain_set() {
        check(&[]);
        check(&[3, 5, 1, 5, 1, -1, -7, -3, 2, -5, -2]);
        check(&[2, 1, -1, -2, 4, 4, -4]);
    }
}
