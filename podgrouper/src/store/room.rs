//! Room that the `PodGroup`s of a namespace take, counted as they come and go.

use std::collections::HashMap;
use std::sync::Arc;

/// Groups of so much text share the least room. A pod of a kilobyte may name an owner of which each pod has a group of a
/// megabyte.
pub(super) const BULKY_BYTES_MIN: usize = 16 << 10;

/// Bounds of the groups of one size: all of a namespace have some megabytes together, and more for each of its pods.
#[derive(Debug)]
struct Bounds {
    /// The text of the smallest of them, in bytes.
    smallest: usize,
    /// The text that all of a namespace have together without pods, in bytes.
    base: usize,
    /// The text that they have more for each pod, in bytes.
    per_pod: usize,
}

/// Sizes of groups, the largest first; what is smaller than all of them has room.
const SIZES: [Bounds; 2] = [
    Bounds { smallest: BULKY_BYTES_MIN, base: 16 << 20, per_pod: 1 << 10 },
    Bounds { smallest: 4 << 10, base: 64 << 20, per_pod: 4 << 10 },
];

/// Room that namespaces have taken.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    by_namespace: HashMap<Arc<str>, Taken>,
}

#[derive(Debug, Default, PartialEq)]
struct Taken {
    /// Text of its groups, by their size.
    bytes: [usize; SIZES.len()],
    pods: usize,
}

fn size_class(bytes: usize) -> Option<usize> {
    SIZES.iter().position(|size| bytes >= size.smallest)
}

impl Rooms {
    fn change(&mut self, namespace: &Arc<str>, edit: impl FnOnce(&mut Taken)) {
        let taken = self.by_namespace.entry(namespace.clone()).or_default();
        edit(taken);
        if *taken == Taken::default() {
            self.by_namespace.remove(namespace);
        }
    }

    /// Notes that the text of a group has another length; 0 where there is none.
    pub(super) fn replace(&mut self, namespace: &Arc<str>, before: usize, after: usize) {
        let (before, after) = ((size_class(before), before), (size_class(after), after));
        if before == after || (before.0.is_none() && after.0.is_none()) {
            return;
        }
        self.change(namespace, |taken| {
            if let (Some(size), bytes) = before {
                taken.bytes[size] -= bytes;
            }
            if let (Some(size), bytes) = after {
                taken.bytes[size] += bytes;
            }
        });
    }

    /// Notes that a pod came.
    pub(super) fn add_pod(&mut self, namespace: &Arc<str>) {
        self.change(namespace, |taken| taken.pods += 1);
    }

    /// Notes that a pod went.
    pub(super) fn remove_pod(&mut self, namespace: &Arc<str>) {
        self.change(namespace, |taken| taken.pods -= 1);
    }

    /// Tells whether a group may have a text of so many bytes that has one of `before`.
    pub(super) fn allows(&self, namespace: &Arc<str>, before: usize, bytes: usize) -> bool {
        let Some(size) = size_class(bytes) else { return true };
        let Bounds { base, per_pod, .. } = SIZES[size];
        let (all, pods) = match self.by_namespace.get(namespace) {
            Some(taken) => (taken.bytes[size], taken.pods),
            None => (0, 0),
        };
        let own = if size_class(before) == Some(size) { before } else { 0 };
        all.saturating_sub(own) + bytes <= base + pods * per_pod
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{BULKY_BYTES_MIN, Rooms};

    /// Whoever names ten thousand small groups has them kept as well, and each that is written is to cost no look at all others.
    #[test]
    fn groups_of_every_size_have_room_for_pods_and_some_more() {
        let (one, other): (Arc<str>, Arc<str>) = ("n".into(), "o".into());
        for (bytes, expect, with_pods) in
            [(1 << 20, 16, 17), (BULKY_BYTES_MIN - 1, 4_096, 4_352), (4 << 10, 16_384, 17_408)]
        {
            let mut rooms = Rooms::default();
            let fill = |rooms: &mut Rooms| {
                let mut count = 0;
                while rooms.allows(&one, 0, bytes) {
                    rooms.replace(&one, 0, bytes);
                    count += 1;
                }
                count
            };
            let count = fill(&mut rooms);
            assert_eq!(count, expect, "{bytes} bytes");
            assert!(rooms.allows(&one, bytes, bytes) && rooms.allows(&other, 0, bytes));
            assert!(rooms.allows(&one, 0, 4_095), "what is small has room");
            for _ in 0..1_024 {
                rooms.add_pod(&one);
            }
            assert_eq!(count + fill(&mut rooms), with_pods, "{bytes} bytes");
            for _ in 0..with_pods {
                rooms.replace(&one, bytes, 0);
            }
            for _ in 0..1_024 {
                rooms.remove_pod(&one);
            }
            assert!(rooms.by_namespace.is_empty());
        }
    }
}
