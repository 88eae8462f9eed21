//! Selectors of topology spread: how many different ones the pods of a namespace may have counted.
//!
//! The pods that one means are counted on each node, and each pod that comes or goes is compared with all that may mean it.
//! Equal ones cost nothing more.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use kai_engine::{Missing, Owner, Pod, PodId, PodState, Requirement, Spread, Symbol};

use super::Context;

/// So many different selectors may the waiting pods of a namespace have at a time, and so many all others of it.
const OF_NAMESPACE_MAX: usize = 256;

/// A selector; it is kept once for all pods that have it.
type Selector = Arc<Vec<Requirement>>;

/// The constraints of a pod that was refused; those of a gang share them.
type Constraints = Arc<Vec<Spread>>;

/// Selectors, each with the number of pods that have it.
#[derive(Debug, Default)]
struct Counted(BTreeMap<Selector, u32>);

/// Everything that is asked for in a namespace.
#[derive(Debug, Default)]
struct Asked {
    /// Selectors of pods that wait for this scheduler.
    waiting: Counted,
    /// Selectors of all others.
    others: Counted,
    /// Waiting pods for which there was no room, by their constraints.
    refused: BTreeMap<Constraints, BTreeSet<u32>>,
}

/// The part of a pod in what its namespace asks for.
#[derive(Debug)]
enum Part {
    Waits(Box<[Selector]>),
    Other(Box<[Selector]>),
    Refused(Constraints),
}

/// Selectors of topology spread, by namespace.
#[derive(Debug, Default)]
pub(super) struct Spreads {
    asked: HashMap<Symbol, Asked>,
    /// Pods that have some, by row: the namespace and the part in it.
    pods: HashMap<u32, (Symbol, Part)>,
    /// Namespaces with refused pods for which there may be room by now.
    due: BTreeSet<Symbol>,
}

impl Counted {
    /// Tells whether one pod more may have these constraints.
    fn has_room(&self, constraints: &[Spread]) -> bool {
        let mut new = different(constraints);
        new.retain(|selector| !self.0.contains_key(*selector));
        new.is_empty() || self.0.len() + new.len() <= OF_NAMESPACE_MAX
    }

    fn enter(&mut self, constraints: &[Spread]) -> Box<[Selector]> {
        let enter = |selector: &Vec<Requirement>| {
            let known = self.0.get_key_value(selector).map(|(known, _)| Arc::clone(known));
            let kept = known.unwrap_or_else(|| Arc::new(selector.clone()));
            *self.0.entry(Arc::clone(&kept)).or_default() += 1;
            kept
        };
        different(constraints).into_iter().map(enter).collect()
    }

    fn leave(&mut self, selectors: &[Selector]) {
        for selector in selectors {
            if let Some(pods) = self.0.get_mut(selector) {
                *pods -= 1;
                if *pods == 0 {
                    self.0.remove(selector);
                }
            }
        }
    }
}

impl Asked {
    /// Notes that there is no room for a pod; gives its constraints, as they are kept once.
    fn refuse(&mut self, row: u32, constraints: Vec<Spread>) -> Constraints {
        let known = self.refused.get_key_value(&constraints).map(|(known, _)| Arc::clone(known));
        let kept = known.unwrap_or_else(|| Arc::new(constraints));
        self.refused.entry(Arc::clone(&kept)).or_default().insert(row);
        kept
    }

    /// Forgets that there was no room for a pod.
    fn forget(&mut self, row: u32, constraints: &Constraints) {
        if let Some(pods) = self.refused.get_mut(constraints) {
            pods.remove(&row);
            if pods.is_empty() {
                self.refused.remove(constraints);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.waiting.0.is_empty() && self.others.0.is_empty() && self.refused.is_empty()
    }
}

impl Spreads {
    /// Takes in the constraints of a pod that was read, instead of those that it had. A pod that waits and for which there is no
    /// room is told so, and has none of them counted; another one has them left out, as it has its place.
    pub(super) fn keep(&mut self, context: &mut Context, row: u32, facts: &mut Pod) {
        self.forget(row);
        let constraints = &mut facts.shape.spread;
        if constraints.is_empty() {
            return;
        }
        let waits = matches!(facts.state, PodState::Gated | PodState::Pending)
            && matches!(facts.owner, Owner::Group(_));
        let namespace = facts.namespace;
        let asked = self.asked.entry(namespace).or_default();
        let part = if waits && asked.waiting.has_room(constraints) {
            // Refused pods may have the same.
            if !asked.refused.is_empty() {
                self.due.insert(namespace);
            }
            Part::Waits(asked.waiting.enter(constraints))
        } else if waits {
            let missing = &mut facts.shape.missing;
            if !missing.iter().any(|one| matches!(one, Missing::Request(_))) {
                missing.push(no_room(context));
            }
            Part::Refused(asked.refuse(row, std::mem::take(constraints)))
        } else if asked.others.has_room(constraints) {
            Part::Other(asked.others.enter(constraints))
        } else {
            constraints.clear();
            return;
        };
        self.pods.insert(row, (namespace, part));
    }

    /// Forgets a pod that is gone.
    pub(super) fn forget(&mut self, row: u32) {
        let Some((namespace, part)) = self.pods.remove(&row) else { return };
        let Some(asked) = self.asked.get_mut(&namespace) else { return };
        match part {
            Part::Waits(selectors) => asked.waiting.leave(&selectors),
            Part::Other(selectors) => asked.others.leave(&selectors),
            Part::Refused(constraints) => asked.forget(row, &constraints),
        }
        if !asked.refused.is_empty() {
            self.due.insert(namespace);
        }
        if asked.is_empty() {
            self.asked.remove(&namespace);
        }
    }

    /// Gives the refused pods for which there is room by now, as they are to be told: `told` has how they were.
    ///
    /// # Cost
    /// In the refused pods of the namespaces that ask for other selectors than before.
    pub(super) fn flush(
        &mut self,
        context: &mut Context,
        told: &dyn Fn(PodId) -> Option<Pod>,
    ) -> BTreeMap<PodId, Pod> {
        let mut admitted = Vec::new();
        for namespace in std::mem::take(&mut self.due) {
            let Some(asked) = self.asked.get(&namespace) else { continue };
            let refused: Vec<Constraints> = asked.refused.keys().cloned().collect();
            for constraints in refused {
                admitted.extend(self.admit(namespace, &constraints));
            }
        }
        if admitted.is_empty() {
            return BTreeMap::new();
        }
        let was_told = no_room(context);
        let anew = admitted.into_iter().filter_map(|(pod, constraints)| {
            let mut facts = told(pod)?;
            facts.shape.spread = constraints.to_vec();
            facts.shape.missing.retain(|one| *one != was_told);
            Some((pod, facts))
        });
        anew.collect()
    }

    /// Has the constraints of the refused pods counted that have these, where there is room for them by now; gives the pods.
    fn admit(&mut self, namespace: Symbol, constraints: &Constraints) -> Vec<(PodId, Constraints)> {
        let asked = self.asked.get_mut(&namespace);
        let Some(asked) = asked.filter(|asked| asked.waiting.has_room(constraints)) else {
            return Vec::new();
        };
        let pods = asked.refused.remove(constraints).unwrap_or_default();
        let admit = |row: u32| {
            let selectors = asked.waiting.enter(constraints);
            self.pods.insert(row, (namespace, Part::Waits(selectors)));
            (PodId::new(row), Arc::clone(constraints))
        };
        pods.into_iter().map(admit).collect()
    }
}

/// Different selectors of constraints.
fn different(constraints: &[Spread]) -> BTreeSet<&Vec<Requirement>> {
    constraints.iter().map(|one| &one.selector).collect()
}

/// The reason why a pod waits for which there is no room.
fn no_room(context: &mut Context) -> Missing {
    let why = format!(
        "topology spread constraints of waiting pods of its namespace have {OF_NAMESPACE_MAX} different selectors, and no more \
         are counted at a time: have them select alike, or wait until others have started or are gone"
    );
    Missing::Request(context.names.symbol(&why))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, ops::Range};

    use kai_engine::{Delta, Missing, Pod, PodId, Timestamp};
    use serde_json::{Value, json};

    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
    };

    /// Pods as the engine was told of them.
    struct Cluster {
        ingest: Ingest,
        pods: BTreeMap<PodId, Pod>,
    }

    /// A pod of a group with a constraint for each of some selectors, on a node or waiting.
    fn pod(namespace: &str, name: usize, selectors: Range<usize>, is_placed: bool) -> Value {
        let constraint = |at: usize| {
            let expression =
                json!({ "key": "app", "operator": "NotIn", "values": [at.to_string()] });
            json!({ "topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": { "matchExpressions": [expression] } })
        };
        let constraints: Vec<Value> = selectors.map(constraint).collect();
        let annotations = json!({ "pod-group-name": "g" });
        let phase = if is_placed { "Running" } else { "Pending" };
        json!({
            "metadata": { "name": name.to_string(), "namespace": namespace, "uid": format!("{namespace}/{name}"),
                "annotations": annotations },
            "spec": { "schedulerName": "kai-scheduler", "topologySpreadConstraints": constraints,
                "nodeName": if is_placed { "node" } else { "" } },
            "status": { "phase": phase },
        })
    }

    impl Cluster {
        fn new() -> Self {
            let args =
                Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
            Self { ingest: Ingest::new(Rules::new(&args)), pods: BTreeMap::new() }
        }

        fn add(&mut self, pod: &Value) {
            self.ingest.applied(Kind::Pod, pod.to_string().as_bytes()).expect("it can be read");
        }

        fn remove(&mut self, pod: &Value) {
            self.ingest.deleted(Kind::Pod, pod.to_string().as_bytes()).expect("it can be read");
        }

        /// Goes round; gives the number of pods whose constraints are told, and of those that are told why not.
        fn round(&mut self) -> (usize, usize) {
            self.take();
            self.ingest.advance(Timestamp(0));
            self.ingest.tell_again(&|pod| self.pods.get(&pod).cloned());
            self.take();
            let spread = |pod: &&Pod| !pod.shape.spread.is_empty();
            let names = &self.ingest.context.names;
            let is_told = |one: &Missing| matches!(one, Missing::Request(why) if names.text(*why).contains("256 different"));
            let refused = |pod: &&Pod| pod.shape.missing.iter().any(is_told);
            (self.pods.values().filter(spread).count(), self.pods.values().filter(refused).count())
        }

        fn take(&mut self) {
            for delta in self.ingest.context.deltas.drain(..) {
                if let Delta::Pod(id, pod) = delta {
                    self.pods.insert(id, *pod);
                } else if let Delta::PodGone(id) = delta {
                    self.pods.remove(&id);
                }
            }
        }
    }

    /// Sixteen selectors that only pods of this number have.
    fn own(number: usize) -> Range<usize> {
        16 * number..16 * number + 16
    }

    #[test]
    fn waiting_pods_of_a_namespace_have_so_many_selectors_counted_and_no_more() {
        let mut cluster = Cluster::new();
        (0..16).for_each(|name| cluster.add(&pod("ml", name, own(name), false)));
        assert_eq!(cluster.round(), (16, 0));
        for name in [16, 17] {
            cluster.add(&pod("ml", name, own(16), false));
        }
        assert_eq!(cluster.round(), (16, 2), "more are refused");
        cluster.add(&pod("ml", 18, own(0), false));
        cluster.add(&pod("web", 0, own(16), false));
        assert_eq!(
            cluster.round(),
            (18, 2),
            "equal ones, and those of another namespace, have room"
        );
        cluster.add(&pod("ml", 16, own(16), false));
        cluster.add(&pod("ml", 2, own(2), false));
        assert_eq!(cluster.round(), (18, 2), "the same as before");
        cluster.add(&pod("ml", 1, own(1), true));
        assert_eq!(cluster.round(), (20, 0), "one that was placed leaves room, and keeps its own");
        cluster.add(&pod("ml", 19, own(17), false));
        assert_eq!(cluster.round(), (20, 1));
        cluster.remove(&pod("ml", 16, own(16), false));
        assert_eq!(cluster.round(), (19, 1), "another one has the same");
        cluster.remove(&pod("ml", 17, own(16), false));
        assert_eq!(cluster.round(), (19, 0), "there is room for one");
    }

    /// Those are counted for as long as the pods run, of which there may be very many.
    #[test]
    fn placed_pods_are_not_refused_and_count_for_so_many_selectors() {
        let mut cluster = Cluster::new();
        (0..20).for_each(|name| cluster.add(&pod("ml", name, own(name), true)));
        assert_eq!(cluster.round(), (16, 0));
        cluster.add(&pod("ml", 20, own(20), false));
        assert_eq!(cluster.round(), (17, 0), "they take no room from pods that wait");
        let mut ended = pod("ml", 20, own(20), true);
        ended["status"]["phase"] = json!("Succeeded");
        cluster.add(&ended);
        assert_eq!(cluster.round(), (16, 0), "none is counted for a pod that has ended");
        (0..21).for_each(|name| cluster.remove(&pod("ml", name, own(name), true)));
        assert_eq!(cluster.round(), (0, 0));
        let spreads = &cluster.ingest.spreads;
        assert!(
            spreads.asked.is_empty() && spreads.pods.is_empty(),
            "nothing is kept: {spreads:?}"
        );
    }
}
