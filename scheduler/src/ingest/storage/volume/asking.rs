//! Counts how many different volumes the claims of each namespace ask for, and says how many there may be: each is compared
//! with every free volume of its class, and kept with those that will do.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::open::Wish;
use crate::names::VOLUME_REQUESTS_MAX;

/// Holds what the claims of a namespace ask for.
#[derive(Debug, Default)]
struct Asked {
    /// Each with the number of its claims.
    wishes: BTreeMap<Wish, u32>,
    /// Claims for which there was no room, by what they ask for; none asks for one of the others.
    refused: BTreeMap<Wish, BTreeSet<Box<str>>>,
}

impl Asked {
    fn has_room(&self) -> bool {
        self.wishes.len() < VOLUME_REQUESTS_MAX
    }
}

/// Everything that is asked for, by namespace.
#[derive(Debug, Default)]
pub(super) struct Asking {
    asked: HashMap<Box<str>, Asked>,
}

/// The namespace of a claim.
pub(super) fn namespace_of(key: &str) -> &str {
    key.split_once('/').map_or("", |(namespace, _)| namespace)
}

impl Asking {
    /// Tells whether one claim more of a namespace may ask for this.
    pub(super) fn has_room(&self, namespace: &str, wish: &Wish) -> bool {
        let has_room = |asked: &Asked| asked.has_room() || asked.wishes.contains_key(wish);
        self.asked.get(namespace).is_none_or(has_room)
    }

    /// Counts what a claim asks for; gives the claims that were refused and ask for the same.
    pub(super) fn enter(&mut self, namespace: &str, wish: &Wish) -> BTreeSet<Box<str>> {
        let asked = self.asked.entry(Box::from(namespace)).or_default();
        *asked.wishes.entry(wish.clone()).or_default() += 1;
        asked.refused.remove(wish).unwrap_or_default()
    }

    /// Counts what a claim does not ask for any more.
    pub(super) fn leave(&mut self, namespace: &str, wish: &Wish) {
        let Some(asked) = self.asked.get_mut(namespace) else { return };
        if let Some(claims) = asked.wishes.get_mut(wish) {
            *claims -= 1;
            if *claims == 0 {
                asked.wishes.remove(wish);
            }
        }
        self.tidy(namespace);
    }

    /// Notes that there is no room for a claim.
    pub(super) fn refuse(&mut self, key: &str, wish: &Wish) {
        let asked = self.asked.entry(Box::from(namespace_of(key))).or_default();
        asked.refused.entry(wish.clone()).or_default().insert(Box::from(key));
    }

    /// Forgets that there was no room for a claim.
    pub(super) fn forget(&mut self, key: &str, wish: &Wish) {
        let namespace = namespace_of(key);
        let Some(asked) = self.asked.get_mut(namespace) else { return };
        if let Some(claims) = asked.refused.get_mut(wish) {
            claims.remove(key);
            if claims.is_empty() {
                asked.refused.remove(wish);
            }
        }
        self.tidy(namespace);
    }

    /// The next claim of a namespace that was refused and for which there is room by now.
    pub(super) fn next(&self, namespace: &str) -> Option<Box<str>> {
        let asked = self.asked.get(namespace).filter(|asked| asked.has_room())?;
        asked.refused.values().next()?.first().cloned()
    }

    fn tidy(&mut self, namespace: &str) {
        let is_empty = |asked: &Asked| asked.wishes.is_empty() && asked.refused.is_empty();
        if self.asked.get(namespace).is_some_and(is_empty) {
            self.asked.remove(namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kai_engine::{ClaimId, Delta, Pod, PodId, Timestamp, Unsupported};
    use serde_json::{Value, json};

    use super::VOLUME_REQUESTS_MAX;
    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
    };

    /// A cluster in which pods have a claim of a size each.
    struct Cluster {
        ingest: Ingest,
        pods: BTreeMap<PodId, Pod>,
        claims: BTreeMap<ClaimId, Option<Unsupported>>,
    }

    fn objects(namespace: &str, size: usize) -> [(Kind, Value); 2] {
        let name = format!("c{size}");
        let claim = json!({
            "metadata": { "name": name, "namespace": namespace, "uid": format!("{namespace}/{name}") },
            "spec": { "storageClassName": "local", "resources": { "requests": { "storage": size.to_string() } } },
        });
        let pod = json!({
            "metadata": { "name": name, "namespace": namespace, "uid": format!("{namespace}/{name}") },
            "spec": { "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": name } }] },
            "status": { "phase": "Pending" },
        });
        [(Kind::PersistentVolumeClaim, claim), (Kind::Pod, pod)]
    }

    impl Cluster {
        fn new() -> Self {
            let args =
                Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
            let mut ingest = Ingest::new(Rules::new(&args));
            let class = json!({
                "metadata": { "name": "local" },
                "provisioner": "kubernetes.io/no-provisioner",
                "volumeBindingMode": "WaitForFirstConsumer",
            });
            ingest.applied(Kind::StorageClass, class.to_string().as_bytes()).expect("a class");
            Self { ingest, pods: BTreeMap::new(), claims: BTreeMap::new() }
        }

        fn add(&mut self, namespace: &str, size: usize) {
            for (kind, object) in objects(namespace, size) {
                self.ingest.applied(kind, object.to_string().as_bytes()).expect("it can be read");
            }
        }

        fn remove(&mut self, namespace: &str, size: usize) {
            for (kind, object) in objects(namespace, size) {
                self.ingest.deleted(kind, object.to_string().as_bytes()).expect("it can be read");
            }
        }

        /// Goes round; gives the number of claims that are told, and of those that are refused.
        fn round(&mut self) -> (usize, usize) {
            self.take();
            self.ingest.advance(Timestamp(0));
            self.ingest.tell_again(&|pod| self.pods.get(&pod).cloned());
            self.take();
            let refused = |what: &&Option<Unsupported>| **what == Some(Unsupported::TooManyVolumes);
            (self.claims.len(), self.claims.values().filter(refused).count())
        }

        fn take(&mut self) {
            for delta in self.ingest.context.deltas.drain(..) {
                if let Delta::Pod(id, pod) = delta {
                    self.pods.insert(id, *pod);
                } else if let Delta::Claim(id, claim) = delta {
                    self.claims.insert(id, claim.unsupported);
                } else if let Delta::ClaimGone(id) = delta {
                    self.claims.remove(&id);
                }
            }
        }
    }

    #[test]
    fn the_claims_of_a_namespace_ask_for_so_many_different_volumes_and_no_more() {
        let mut cluster = Cluster::new();
        let all = VOLUME_REQUESTS_MAX;
        (1..=all).for_each(|size| cluster.add("ml", size));
        assert_eq!(cluster.round(), (all, 0));
        (all + 1..=all + 3).for_each(|size| cluster.add("ml", size));
        assert_eq!(cluster.round(), (all + 3, 3), "more are refused");
        cluster.add("others", all + 1);
        assert_eq!(cluster.round(), (all + 4, 3), "another namespace has room of its own");
        cluster.remove("ml", 1);
        cluster.remove("ml", 2);
        assert_eq!(cluster.round(), (all + 2, 1), "two have left room for two");
        cluster.remove("ml", all + 3);
        assert_eq!(cluster.round(), (all + 1, 0), "one that was refused goes");
        (3..=all + 2).for_each(|size| cluster.remove("ml", size));
        assert_eq!(cluster.round(), (1, 0));
        assert_eq!(
            cluster.ingest.needs.counted.asking.asked.len(),
            1,
            "nothing is kept of what is gone"
        );
    }
}
