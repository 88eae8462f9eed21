//! Dense row numbers and the tables they index.
//!
//! An id is a row of a column of [`Cluster`](crate::Cluster). The adapter picks it: one small integer per
//! live object, reused after the object is gone. Ids never leave the process and never decide anything:
//! no order in a plan depends on them.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Index, IndexMut},
};

/// A row number of one kind of thing.
pub trait Id: Copy {
    /// The row as an index into a column.
    fn row(self) -> usize;

    /// The id of a row. Panics above `u32::MAX`.
    fn of_row(row: usize) -> Self;
}

macro_rules! id {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => { $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(u32);

        impl $name {
            /// The id of a row.
            pub const fn new(row: u32) -> Self {
                Self(row)
            }
        }

        impl Id for $name {
            fn row(self) -> usize {
                self.0 as usize
            }

            fn of_row(row: usize) -> Self {
                Self(u32::try_from(row).expect("a table has at most u32::MAX rows"))
            }
        }
    )* };
}

id! {
    /// A node.
    NodeId;
    /// A pod, of whatever scheduler, that waits or holds something.
    PodId;
    /// A pod group, placed whole or not at all.
    GroupId;
    /// A queue; queues form a tree.
    QueueId;
    /// A topology: levels of node labels.
    TopologyId;
    /// A budget of disruptions.
    BudgetId;
    /// A selector of namespaces by their labels.
    NamespaceSelectorId;
    /// A resource claim.
    ClaimId;
    /// A selection of devices by a request: a device class with the selectors of the request.
    DeviceClassId;
    /// A device that a resource slice publishes.
    SliceDeviceId;
    /// Devices that the same nodes reach.
    ReachId;
    /// A counter that devices of a pool draw from.
    CounterId;
    /// A pod shape: every pod with equal requests and constraints shares one.
    ShapeId;
    /// A node kind: every node that answers all selectors in use alike shares one.
    NodeClassId;
    /// A group class: every pending group that can stand in for another shares one.
    ClassId;
    /// A queue with a class of which groups wait in it.
    ClassQueueId;
    /// A group that was listed and is not yet in order among those of its pair.
    FreshId;
    /// A position in the order of node names, 0 the smallest.
    Rank;
    /// A topology domain, for example one rack.
    DomainId;
}

/// One physical GPU that is shared: what the contract calls a GPU group.
///
/// The adapter interns group names from 0 upwards. A device that a plan opens has the top bit set; the adapter
/// gives it a name and uses the same id for it from then on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeviceId(u32);

impl DeviceId {
    const OPENED: u32 = 1 << 31;

    /// The id of a group name that the adapter met, below 2³¹.
    pub const fn new(row: u32) -> Self {
        assert!(row < Self::OPENED, "device ids of the adapter are below 2^31");
        Self(row)
    }

    /// The id of the `n`th device that the engine opened.
    pub(crate) const fn opened(n: u32) -> Self {
        assert!(n < Self::OPENED, "the engine opens fewer than 2^31 devices");
        Self(n | Self::OPENED)
    }

    /// Tells whether a plan opened this device, so that the adapter has to name it.
    pub const fn is_opened(self) -> bool {
        self.0 & Self::OPENED != 0
    }

    /// The row the adapter gave, or the count of the engine.
    pub const fn number(self) -> u32 {
        self.0 & !Self::OPENED
    }
}

/// An interned string: a label key or value, a taint, a namespace, a sub-group name.
///
/// The adapter keeps one table of them. Symbols are equal or not; their order means nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Symbol(u32);

impl Symbol {
    /// The empty string; also the sub-group of a pod that names none.
    pub const EMPTY: Self = Self(0);

    /// A symbol by its number in the adapter's table; number 0 is the empty string.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number in the adapter's table.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// A column: a vector that only its own kind of id can index.
#[derive(Clone, PartialEq, Eq)]
pub struct Column<I, T> {
    rows: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I, T: fmt::Debug> fmt::Debug for Column<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

impl<I, T> Default for Column<I, T> {
    fn default() -> Self {
        Self { rows: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Column<I, T> {
    /// The row of `id`, or nothing where the column is shorter.
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.row())
    }

    /// The row of `id` to be changed, or nothing where the column is shorter.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.rows.get_mut(id.row())
    }

    /// Counts the rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Tells whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every id of the column, ascending.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.rows.len()).map(I::of_row)
    }

    /// Every row with its id, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(row, value)| (I::of_row(row), value))
    }

    /// Adds a row and gives its id.
    pub fn push(&mut self, value: T) -> I {
        self.rows.push(value);
        I::of_row(self.rows.len() - 1)
    }

    /// Makes room for so many rows more.
    pub fn reserve(&mut self, more: usize) {
        self.rows.reserve(more);
    }

    /// Removes every row.
    pub fn clear(&mut self) {
        self.rows.clear();
    }
}

impl<I: Id, T: Default> Column<I, T> {
    /// The row of `id`; the column grows to hold it.
    pub fn slot(&mut self, id: I) -> &mut T {
        if id.row() >= self.rows.len() {
            self.rows.resize_with(id.row() + 1, T::default);
        }
        &mut self.rows[id.row()]
    }
}

impl<I: Id, T: Default> Column<I, T> {
    /// As [`slot`](Self::slot), and where the column has to grow it grows to `rows` at once.
    pub(crate) fn slot_of(&mut self, id: I, rows: usize) -> &mut T {
        if id.row() >= self.rows.len() {
            self.rows.resize_with(rows.max(id.row() + 1), T::default);
        }
        &mut self.rows[id.row()]
    }
}

impl<I: Id, T> FromIterator<T> for Column<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(rows: A) -> Self {
        Self { rows: rows.into_iter().collect(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Column<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.rows[id.row()]
    }
}

impl<I: Id, T> IndexMut<I> for Column<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.row()]
    }
}
