//! A map that is of one key most of the time, and then needs no memory of its own.

use std::collections::BTreeMap;

/// Values by key, in order.
#[derive(Clone, Debug)]
pub(crate) struct FewMap<K, V> {
    /// The only key with its value; none where there are more.
    one: Option<(K, V)>,
    many: BTreeMap<K, V>,
}

impl<K, V> Default for FewMap<K, V> {
    fn default() -> Self {
        Self { one: None, many: BTreeMap::new() }
    }
}

impl<K: Copy + Ord, V> FewMap<K, V> {
    /// The value of a key.
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        match &self.one {
            Some((only, value)) => (*only == key).then_some(value),
            None => self.many.get(&key),
        }
    }

    /// The value of a key, to be changed.
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match &mut self.one {
            Some((only, value)) => (*only == key).then_some(value),
            None => self.many.get_mut(&key),
        }
    }

    /// The value of a key, a new one where there is none.
    pub(crate) fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if let Some((only, value)) = self.one.take_if(|(only, _)| *only != key) {
            self.many.insert(only, value);
        }
        if self.many.is_empty() {
            &mut self.one.get_or_insert_with(|| (key, make())).1
        } else {
            self.many.entry(key).or_insert_with(make)
        }
    }

    /// The value of a key, an empty one where there was none.
    pub(crate) fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert_with(key, V::default)
    }

    /// Every key with its value, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let one = self.one.iter().map(|(key, value)| (*key, value));
        one.chain(self.many.iter().map(|(key, value)| (*key, value)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::FewMap;

    /// Amounts that are added to keys; what must be there is asked of a plain map.
    fn check(steps: &[(u32, u32)]) {
        let (mut few, mut plain) = (FewMap::default(), BTreeMap::<u32, u32>::new());
        for (key, amount) in steps {
            *few.or_default(*key) += amount;
            *plain.entry(*key).or_default() += amount;
            assert!(few.iter().eq(plain.iter().map(|(key, value)| (*key, value))), "{few:?}");
            for key in 0..5 {
                assert_eq!(few.get(key), plain.get(&key));
                assert_eq!(few.get_mut(key), plain.get_mut(&key));
            }
        }
    }

    #[test]
    fn agrees_with_a_plain_map() {
        check(&[]);
        check(&[(2, 1), (2, 5)]);
        check(&[(3, 1), (1, 2), (3, 4), (2, 7), (1, 1)]);
    }
}
