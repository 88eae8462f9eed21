//! Patience with searches for victims that are cut off, so that each comes to its end and none takes the cycles of others.
//!
//! A search that is cut off goes on where it stopped. Where actions are bounded it does so over news as well: it takes no more
//! steps in a cycle than its action has, and ends however often something changes. That it found nothing then proves
//! nothing, so that it begins anew, and passes over a few turns before that. Where nothing bounds actions it begins anew after each
//! change, with twice as many steps each time.

use crate::{
    base::ids::{ClassId, QueueId},
    decided::proof::EvictionKind,
    pending::Pending,
};

/// So many doublings are more than any cycle has steps for.
const DOUBLINGS_MAX: u32 = 16;
/// So many turns are passed over at most before a search begins anew.
const RESTS_MAX: u32 = 3;

/// Searches of a class queue that were cut off since one last came to an end that proves something.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Patience {
    /// Number of those that had begun anew, with all the steps that they may take.
    cut_off: u32,
    /// Number of those that went on over news and found nothing, as far as it counts.
    unsure: u32,
    /// Number of turns that are passed over before the next one begins anew.
    rests: u32,
}

impl Pending {
    /// Counts how often the search for victims of a class queue began anew and ran out of steps since it last came to
    /// an end.
    pub(crate) fn patience(&self, queue: QueueId, class: ClassId, kind: EvictionKind) -> u32 {
        self.patience.get(&(queue, class, kind)).map_or(0, |patience| patience.cut_off)
    }

    /// Tells whether the last search of a class queue that came to an end went on over news and found nothing.
    pub(crate) fn is_unsure(&self, queue: QueueId, class: ClassId, kind: EvictionKind) -> bool {
        self.patience.get(&(queue, class, kind)).is_some_and(|patience| patience.unsure > 0)
    }

    /// Notes that the search of a class queue came to its end.
    pub(crate) fn end_patience(&mut self, queue: QueueId, class: ClassId, kind: EvictionKind) {
        self.patience.remove(&(queue, class, kind));
    }

    /// Notes that the search of a class queue, which had begun anew, ran out of steps: of all that it may take, where it had
    /// them.
    pub(crate) fn note_cut_off(
        &mut self,
        queue: QueueId,
        class: ClassId,
        kind: EvictionKind,
        had_all: bool,
    ) {
        let patience = self.patience.entry((queue, class, kind)).or_default();
        patience.cut_off = (patience.cut_off + u32::from(had_all)).min(DOUBLINGS_MAX);
    }

    /// Notes that the search of a class queue went on over news and found nothing: it passes over turns before it begins anew.
    pub(crate) fn note_unsure(&mut self, queue: QueueId, class: ClassId, kind: EvictionKind) {
        let patience = self.patience.entry((queue, class, kind)).or_default();
        patience.unsure = (patience.unsure + 1).min(RESTS_MAX);
        patience.rests = patience.unsure;
    }

    /// Tells whether a class queue passes over this turn, since its last search came to no end that proves anything.
    pub(crate) fn rests(&mut self, queue: QueueId, class: ClassId, kind: EvictionKind) -> bool {
        let patience = self.patience.get_mut(&(queue, class, kind));
        let Some(patience) = patience.filter(|patience| patience.rests > 0) else { return false };
        patience.rests -= 1;
        true
    }
}
