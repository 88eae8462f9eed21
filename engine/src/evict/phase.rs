//! Progress of a search: which sets of victims it picks, and for how many pods it looks.
//!
//! ```text
//!   OneNode: 1, 2, 4 .. pods, then between the last that went and the first that did not, then all of them
//!      | in vain
//!      v
//!   ManyNodes: the same with sets that reach over several nodes
//! ```

use crate::evict::VictimSet;

/// The sets that are picked, with how many pods they are tried for.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// All candidates that share a node with the latest one.
    OneNode(Bisection),
    /// The nodes that are cheapest to empty.
    ManyNodes(Bisection),
}

/// Looks for how many pods there are victims, of so many.
#[derive(Clone, Debug)]
pub(super) struct Bisection {
    /// All that are to be placed.
    all: usize,
    /// For so many victims are known.
    good: usize,
    /// For so many there are none; one more than all where that is not known of any number.
    bad: usize,
    /// So many are looked at now.
    count: usize,
    /// True if this is the last try, for all of them.
    is_last: bool,
    /// The victims for the pods for which they are known.
    found: VictimSet,
}

impl Phase {
    /// Begins with sets of one node, for one of so many pods.
    pub(super) fn new(all: usize) -> Self {
        Self::OneNode(Bisection::new(all))
    }

    /// Tells how many of the pods are looked at now.
    pub(super) fn count(&self) -> usize {
        self.bisection().count
    }

    /// Tells for how many of the pods victims are known.
    pub(super) fn good(&self) -> usize {
        self.bisection().good
    }

    /// Tells whether all of the pods are looked at now.
    pub(super) fn looks_at_all(&self) -> bool {
        let Bisection { all, count, .. } = self.bisection();
        count == all
    }

    /// Tells whether sets are picked node by node.
    pub(super) fn is_of_one_node(&self) -> bool {
        matches!(self, Self::OneNode(_))
    }

    /// Lists the victims for the pods for which they are known.
    pub(super) fn found(&self) -> &VictimSet {
        &self.bisection().found
    }

    /// Goes on after these were found for the pods that were looked at, or none; says whether there is more to try.
    pub(super) fn advance(&mut self, found: Option<VictimSet>) -> bool {
        let (Self::OneNode(bisection) | Self::ManyNodes(bisection)) = self;
        match found {
            Some(victims) => (bisection.found, bisection.good) = (victims, bisection.count),
            None => bisection.bad = bisection.count,
        }
        if bisection.widen() {
            return true;
        }
        match self {
            // The victims that were drawn stay drawn.
            Self::OneNode(Bisection { all, .. }) => *self = Self::ManyNodes(Bisection::new(*all)),
            Self::ManyNodes(_) => return false,
        }
        true
    }

    /// Forgets victims that are none any more.
    pub(super) fn retain(&mut self, stands: impl Fn(&usize) -> bool) {
        let (Self::OneNode(bisection) | Self::ManyNodes(bisection)) = self;
        bisection.found.retain(stands);
    }

    fn bisection(&self) -> &Bisection {
        match self {
            Self::OneNode(bisection) | Self::ManyNodes(bisection) => bisection,
        }
    }
}

impl Bisection {
    fn new(all: usize) -> Self {
        Self { all, good: 0, bad: all + 1, count: 1, is_last: false, found: VictimSet::default() }
    }

    /// Sets how many pods to look at next; says whether that can lead to all of them.
    fn widen(&mut self) -> bool {
        assert!(self.good < self.bad, "victims for more pods are victims for fewer");
        if self.is_last || (self.good == 0 && self.bad <= self.all) {
            return false;
        }
        if self.good < self.bad - 1 {
            let next = if self.bad > self.all {
                self.good * 2
            } else {
                usize::midpoint(self.good, self.bad)
            };
            self.count = next.min(self.all);
        } else {
            // All that fit one by one are known; their victims may do for the rest as well.
            (self.count, self.is_last) = (self.all, true);
        }
        true
    }
}
