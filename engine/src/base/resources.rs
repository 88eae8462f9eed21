//! Amounts of resources: integers, one lane per kind of resource.

use std::ops::{AddAssign, Index, IndexMut, SubAssign};

/// One kind of resource. The adapter numbers extended resources from [`Lane::FIRST_EXTENDED`] on.
///
/// # Units
/// CPU in milli-cores, memory and storage in bytes, GPU in milli-devices (1000 is one whole GPU), pods, MIG
/// instances and other extended resources in counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lane(u16);

impl Lane {
    /// Milli-cores.
    pub const CPU: Self = Self(0);
    /// Bytes.
    pub const MEMORY: Self = Self(1);
    /// Milli-devices.
    pub const GPU: Self = Self(2);
    /// Count of pods.
    pub const PODS: Self = Self(3);
    /// The first lane that the adapter may give to an extended resource.
    pub const FIRST_EXTENDED: u16 = 4;

    /// The lane of a number.
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The number of the lane.
    pub const fn number(self) -> u16 {
        self.0
    }

    pub(crate) const fn row(self) -> usize {
        self.0 as usize
    }
}

/// One whole GPU on [`Lane::GPU`].
pub const GPU_MILLI: i64 = 1000;

/// Meaning of an extended lane, where that matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneKind {
    /// Counted on nodes, not by queues.
    #[default]
    Plain,
    /// Instances of a MIG profile `<gpus>g.<memory>gb`: a queue is charged `gpus` GPUs for each.
    ///
    /// # Source
    /// docs/behaviour.md 2.1, `TotalGPUs`.
    Mig {
        /// The number before the `g`.
        gpus: u16,
    },
    /// An extended resource that devices of a class of GPUs stand in for: a queue is charged a GPU for each.
    ///
    /// # Source
    /// docs/behaviour.md 13.1, extended resources.
    Gpu,
}

/// Lanes that are looked through one after the other, which is the fastest way where they are few.
const SCANNED_MAX: usize = 8;

/// Amounts on a few lanes: a list sorted by lane, without zeros.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Resources(Vec<(Lane, i64)>);

impl Resources {
    /// The amount on `lane`, 0 where none is given.
    pub fn amount(&self, lane: Lane) -> i64 {
        if self.0.len() > SCANNED_MAX {
            return self.0.binary_search_by_key(&lane, |(at, _)| *at).map_or(0, |at| self.0[at].1);
        }
        self.0.iter().find(|(at, _)| *at == lane).map_or(0, |(_, amount)| *amount)
    }

    /// Adds to the amount on `lane`.
    pub fn add(&mut self, lane: Lane, amount: i64) {
        match self.0.binary_search_by_key(&lane, |(at, _)| *at) {
            Ok(at) => {
                self.0[at].1 += amount;
                if self.0[at].1 == 0 {
                    self.0.remove(at);
                }
            }
            Err(_) if amount == 0 => {}
            Err(at) => self.0.insert(at, (lane, amount)),
        }
    }

    /// Every lane with an amount, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Lane, i64)> {
        self.0.iter().copied()
    }
}

impl FromIterator<(Lane, i64)> for Resources {
    /// Sums amounts of the same lane.
    fn from_iter<A: IntoIterator<Item = (Lane, i64)>>(amounts: A) -> Self {
        let mut all = Self::default();
        for (lane, amount) in amounts {
            all.add(lane, amount);
        }
        all
    }
}

/// A resource that queues count and share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QueueLane {
    /// Milli-cores.
    Cpu,
    /// Bytes.
    Memory,
    /// Milli-devices, MIG instances included.
    Gpu,
}

impl QueueLane {
    /// All of them, in the order in which limits are checked.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Memory, Self::Gpu];
}

/// One value for each resource that queues count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PerLane<T>(pub [T; 3]);

impl<T: Copy> PerLane<T> {
    /// The same value for all three.
    pub fn splat(value: T) -> Self {
        Self([value; 3])
    }

    /// Each value with its lane.
    pub fn iter(&self) -> impl Iterator<Item = (QueueLane, T)> {
        QueueLane::ALL.iter().zip(&self.0).map(|(lane, value)| (*lane, *value))
    }
}

impl<T> Index<QueueLane> for PerLane<T> {
    type Output = T;

    fn index(&self, lane: QueueLane) -> &T {
        &self.0[lane as usize]
    }
}

impl<T> IndexMut<QueueLane> for PerLane<T> {
    fn index_mut(&mut self, lane: QueueLane) -> &mut T {
        &mut self.0[lane as usize]
    }
}

/// Amounts that queues count.
pub type Charge = PerLane<i64>;

impl Charge {
    /// Tells whether each amount is at most its limit.
    pub fn within(&self, limit: &PerLane<Limit>) -> bool {
        self.0.iter().zip(&limit.0).all(|(amount, limit)| limit.admits(*amount))
    }

    /// Tells whether some amount is above its limit.
    pub fn exceeds(&self, limit: &PerLane<Limit>) -> bool {
        !self.within(limit)
    }

    /// Tells whether all amounts are 0.
    pub fn is_zero(&self) -> bool {
        self.0 == [0; 3]
    }
}

impl std::ops::Add for Charge {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::ops::Sub for Charge {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl AddAssign for Charge {
    fn add_assign(&mut self, other: Self) {
        for (amount, other) in self.0.iter_mut().zip(&other.0) {
            *amount += other;
        }
    }
}

impl SubAssign for Charge {
    fn sub_assign(&mut self, other: Self) {
        for (amount, other) in self.0.iter_mut().zip(&other.0) {
            *amount -= other;
        }
    }
}

/// An upper bound that may be absent. Unlimited is above every amount.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Limit(i64);

impl Limit {
    /// No bound: the contract's -1.
    pub const UNLIMITED: Self = Self(i64::MAX);

    /// At most this much.
    pub const fn of(amount: i64) -> Self {
        Self(amount)
    }

    /// The bound, or nothing where there is none.
    pub fn amount(self) -> Option<i64> {
        (self != Self::UNLIMITED).then_some(self.0)
    }

    /// Tells whether `amount` stays within the bound.
    pub fn admits(self, amount: i64) -> bool {
        amount <= self.0
    }
}

impl Default for Limit {
    /// Nothing may be taken, as in a queue that leaves the field out.
    fn default() -> Self {
        Self::of(0)
    }
}

impl Charge {
    /// Sums that stay at the most that a number holds, where they are compared and never taken apart again.
    pub(crate) fn saturating_add(self, other: Self) -> Self {
        let [cpu, memory, gpu] = self.0;
        let [more_cpu, more_memory, more_gpu] = other.0;
        Self([
            cpu.saturating_add(more_cpu),
            memory.saturating_add(more_memory),
            gpu.saturating_add(more_gpu),
        ])
    }

    /// Multiplies every amount.
    pub(crate) fn scaled(self, sign: i64) -> Self {
        Self(self.0.map(|amount| amount * sign))
    }
}
