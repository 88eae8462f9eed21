//! Values beside the rows of a table.

/// Values by the numbers of rows of a [`super::Table`], of which most have one.
#[derive(Debug)]
pub struct Column<T>(Vec<Option<T>>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Column<T> {
    /// Looks a value up.
    pub fn get(&self, number: u32) -> Option<&T> {
        self.0.get(number as usize)?.as_ref()
    }

    /// Looks a value up to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(number as usize)?.as_mut()
    }

    /// Puts a value in the place of what was there.
    pub fn insert(&mut self, number: u32, value: T) {
        let place = number as usize;
        if place >= self.0.len() {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = Some(value);
    }

    /// Takes a value out.
    pub fn remove(&mut self, number: u32) -> Option<T> {
        self.0.get_mut(number as usize)?.take()
    }

    /// Lists the values with their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.0).filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// Lists the values with their numbers, ascending, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        (0..).zip(&mut self.0).filter_map(|(number, slot)| Some((number, slot.as_mut()?)))
    }
}
