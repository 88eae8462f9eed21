//! A table of rows with a key and a dense number each; numbers of removed rows are given again.

use std::{
    collections::HashMap,
    ops::{Index, IndexMut},
    sync::Arc,
};

/// Rows by key and by number.
#[derive(Debug)]
pub struct Table<R> {
    numbers: HashMap<Arc<str>, u32>,
    rows: Vec<Option<(Arc<str>, R)>>,
    free: Vec<u32>,
    /// Bytes of all keys.
    bytes: usize,
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), rows: Vec::new(), free: Vec::new(), bytes: 0 }
    }
}

impl<R: Default> Table<R> {
    /// The number of `key`; a new key gets a default row.
    pub fn intern(&mut self, key: &str) -> u32 {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let key: Arc<str> = Arc::from(key);
        let number = self.free.pop().unwrap_or_else(|| {
            self.rows.push(None);
            u32::try_from(self.rows.len() - 1).expect("a cluster has fewer than 2^32 objects")
        });
        self.rows[number as usize] = Some((Arc::clone(&key), R::default()));
        self.bytes += key.len();
        self.numbers.insert(key, number);
        number
    }
}

impl<R> Table<R> {
    /// The number of `key`, where it has one.
    pub fn find(&self, key: &str) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// The row of a number, where it is in use.
    pub fn row(&self, number: u32) -> Option<&R> {
        self.rows.get(number as usize)?.as_ref().map(|(_, row)| row)
    }

    /// The key of a number that is in use.
    pub fn key(&self, number: u32) -> &Arc<str> {
        let row = self.rows[number as usize].as_ref();
        &row.expect("the number is in use").0
    }

    /// Frees a number.
    pub fn remove(&mut self, number: u32) -> Option<R> {
        let (key, row) = self.rows.get_mut(number as usize)?.take()?;
        self.numbers.remove(&key);
        self.bytes -= key.len();
        self.free.push(number);
        Some(row)
    }

    /// Counts the numbers in use.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Counts the bytes of the keys in use.
    pub fn key_bytes(&self) -> usize {
        self.bytes
    }

    /// Tells whether no number is in use.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Every number in use with its row, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &R)> {
        (0..).zip(&self.rows).filter_map(|(number, slot)| Some((number, &slot.as_ref()?.1)))
    }
}

impl<R> Index<u32> for Table<R> {
    type Output = R;

    fn index(&self, number: u32) -> &R {
        self.row(number).expect("the number is in use")
    }
}

impl<R> IndexMut<u32> for Table<R> {
    fn index_mut(&mut self, number: u32) -> &mut R {
        let slot = self.rows[number as usize].as_mut();
        &mut slot.expect("the number is in use").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dense_and_reused() {
        let mut table = Table::<u8>::default();
        assert_eq!((table.intern("a"), table.intern("b"), table.intern("a")), (0, 1, 0));
        table[1] = 7;
        assert_eq!(table.remove(0), Some(0));
        assert_eq!(table.find("a"), None);
        assert_eq!(table.intern("c"), 0);
        assert_eq!(&**table.key(0), "c");
        table.intern("long");
        assert_eq!(table.key_bytes(), 6);
        table.remove(2);
        assert_eq!(
            table.iter().map(|(number, row)| (number, *row)).collect::<Vec<_>>(),
            [(0, 0), (1, 7)]
        );
        assert_eq!(table.key_bytes(), 2);
    }
}
