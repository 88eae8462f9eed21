//! A list that is of one member most of the time, and then needs no memory of its own.

use std::{
    cmp::Ordering,
    ops::{Deref, DerefMut},
};

/// Members in a row.
#[derive(Clone, Debug)]
pub(crate) enum Few<T> {
    One([T; 1]),
    /// None, or more than one; one, where it was made from a vector.
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// Puts a member at a place, the others behind it.
    pub(crate) fn insert(&mut self, at: usize, member: T) {
        match self {
            Self::Many(many) if !many.is_empty() => many.insert(at, member),
            Self::Many(_) => *self = Self::One([member]),
            Self::One(_) => {
                let mut many: Vec<T> = std::mem::take(self).into_iter().collect();
                many.insert(at, member);
                *self = Self::Many(many);
            }
        }
    }

    /// Adds a member at the end.
    pub(crate) fn push(&mut self, member: T) {
        self.insert(self.len(), member);
    }

    /// Takes the last member away.
    pub(crate) fn pop(&mut self) -> Option<T> {
        match self {
            Self::Many(many) => many.pop(),
            Self::One(_) => std::mem::take(self).into_iter().next(),
        }
    }

    /// Takes the member at a place away; those behind it move up.
    pub(crate) fn remove(&mut self, at: usize) {
        match self {
            Self::Many(many) => drop(many.remove(at)),
            Self::One(_) => *self = Self::default(),
        }
    }

    /// The members in order, each once.
    pub(crate) fn in_order(mut self) -> Self
    where
        T: Ord,
    {
        if let Self::Many(many) = &mut self {
            many.sort_unstable();
            many.dedup();
        }
        self
    }

    /// Keeps the members for which something holds.
    pub(crate) fn retain(&mut self, holds: impl Fn(&T) -> bool) {
        match self {
            Self::Many(many) => many.retain(holds),
            Self::One([one]) => {
                if !holds(one) {
                    *self = Self::default();
                }
            }
        }
    }

    /// Removes every member, and keeps what memory there is.
    pub(crate) fn clear(&mut self) {
        self.retain(|_| false);
    }
}

/// The members, given away.
pub(crate) type IntoFew<T> = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = IntoFew<T>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Self::One([one]) => (Some(one), Vec::new()),
            Self::Many(many) => (None, many),
        };
        one.into_iter().chain(many)
    }
}

impl<T> Extend<T> for Few<T> {
    fn extend<A: IntoIterator<Item = T>>(&mut self, members: A) {
        for member in members {
            self.push(member);
        }
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T: PartialOrd> PartialOrd for Few<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord> Ord for Few<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(many: Vec<T>) -> Self {
        Self::Many(many)
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<A: IntoIterator<Item = T>>(members: A) -> Self {
        let mut members = members.into_iter();
        let Some(first) = members.next() else { return Self::default() };
        match members.next() {
            None => Self::One([first]),
            Some(second) => Self::Many([first, second].into_iter().chain(members).collect()),
        }
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Few;

    /// Members that go in at a place, or out where the place is negative; what must stay is asked of a vector.
    fn check(steps: &[(isize, u32)]) {
        let (mut few, mut plain) = (Few::default(), Vec::new());
        for (at, member) in steps {
            if let Ok(at) = usize::try_from(*at) {
                few.insert(at, *member);
                plain.insert(at, *member);
            } else {
                few.retain(|one| one != member);
                plain.retain(|one| one != member);
            }
            assert_eq!(few[..], plain[..]);
            assert_eq!(few, plain.iter().copied().collect());
            assert_eq!(few.clone().into_iter().collect::<Vec<_>>(), plain);
            let ordered: BTreeSet<u32> = plain.iter().copied().collect();
            assert!(few.clone().in_order().iter().eq(&ordered), "{few:?}");
        }
        few.extend([9, 8]);
        assert_eq!((few.pop(), few.last()), (Some(8), Some(&9)));
        few.clear();
        assert_eq!(few.pop(), None);
        few.push(1);
        assert_eq!((few.pop(), few.pop()), (Some(1), None));
        assert_eq!(few, Few::from(Vec::new()));
    }

    #[test]
    fn agrees_with_a_vector() {
        check(&[(0, 1), (-1, 1), (0, 2)]);
        check(&[(0, 1), (0, 2), (2, 3), (1, 4), (-1, 2), (-1, 3), (-1, 5), (-1, 1), (0, 6)]);
        check(&[(0, 1), (1, 2), (1, 2), (-1, 1), (-1, 2)]);
    }
}
