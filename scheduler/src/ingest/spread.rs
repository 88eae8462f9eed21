//! Selectors of topology spread: how many different ones the pods of a namespace may have counted.
//!
//! The pods that one means are counted on each node, and each pod that comes or goes is compared with all that may mean it.
//! Equal ones cost nothing more. With one that is new each pod of its namespace that has a place is compared, so that new ones
//! come by turns: so many in a round, which ends with [`Spreads::flush`].

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
};

use kai_engine::{
    Holds, Missing, Owner, Pod, PodId, PodState, Requirement, Shape, Spread, Symbol, Timestamp,
};

use super::Context;

mod line;

use line::{Line, Wanted};

/// So many different selectors may the waiting pods of a namespace have at a time, and so many all others of it.
const OF_NAMESPACE_MAX: usize = 256;

/// So many labels and values may the selectors of either name: four labels each, where there are as many as there may be.
const NAMED_MAX: usize = 2048;

/// So many labels and values may one selector name.
const OF_SELECTOR_MAX: usize = 32;

/// So many labels and values may selectors of a namespace name that are new in a round. Those of any one pod are no more.
const NEW_MAX: usize = 512;

/// So many sets of constraints that were refused are looked at in a round.
const LOOKS_MAX: usize = 64;

/// So many pods that were refused are told anew in a round.
const TOLD_MAX: usize = 256;

/// A selector; it is kept once for all pods that have it.
type Selector = Arc<Vec<Requirement>>;

/// Selectors that are counted.
#[derive(Debug, Default)]
struct Counted {
    /// Each with the number of pods that have it.
    selectors: BTreeMap<Selector, u32>,
    /// Number of labels and values that they name.
    named: usize,
}

/// Everything that is asked for in a namespace.
#[derive(Debug, Default)]
struct Asked {
    /// Selectors of pods that wait for this scheduler.
    waiting: Counted,
    /// Selectors of all others.
    others: Counted,
    /// Pods for which there was no room, or whose turn it was not.
    line: Line,
}

/// A pod that is told anew: that its constraints are counted, or that there is no room where it was told that its turn comes.
type News = (PodId, Option<Arc<Wanted>>);

/// The part of a pod in what its namespace asks for.
#[derive(Debug)]
enum Part {
    Counted { waits: bool, selectors: Box<[Selector]> },
    Refused(Arc<Wanted>),
}

/// Selectors of topology spread, by namespace.
#[derive(Debug, Default)]
pub(super) struct Spreads {
    asked: HashMap<Symbol, Asked>,
    /// Pods that have some, by row: the namespace and the part in it.
    pods: HashMap<u32, (Symbol, Part)>,
    /// Namespaces with refused constraints that are to be looked at.
    due: BTreeSet<Symbol>,
    /// The namespace in which some were looked at last.
    last: Symbol,
    /// Number of labels and values that selectors name which are new in this round, by namespace.
    new: HashMap<Symbol, usize>,
}

impl Counted {
    /// Tells whether one pod more may have these constraints.
    fn has_room(&self, constraints: &[Spread]) -> bool {
        let mut new = different(constraints);
        new.retain(|selector| !self.selectors.contains_key(*selector));
        let more: usize = new.iter().map(|selector| named(selector)).sum();
        let is_short = self.selectors.len() + new.len() <= OF_NAMESPACE_MAX;
        new.is_empty() || (is_short && self.named + more <= NAMED_MAX)
    }

    fn enter(&mut self, constraints: &[Spread]) -> Box<[Selector]> {
        let enter = |selector: &Vec<Requirement>| {
            let known = self.selectors.get_key_value(selector).map(|(known, _)| Arc::clone(known));
            let kept = known.unwrap_or_else(|| {
                self.named += named(selector);
                Arc::new(selector.clone())
            });
            *self.selectors.entry(Arc::clone(&kept)).or_default() += 1;
            kept
        };
        different(constraints).into_iter().map(enter).collect()
    }

    /// Counts a pod less; tells whether that leaves room.
    fn leave(&mut self, selectors: &[Selector]) -> bool {
        let before = self.selectors.len();
        for selector in selectors {
            if let Some(pods) = self.selectors.get_mut(selector) {
                *pods -= 1;
                if *pods == 0 {
                    self.selectors.remove(selector);
                    self.named -= named(selector);
                }
            }
        }
        self.selectors.len() < before
    }
}

impl Asked {
    /// The selectors of pods that wait, or of the others.
    fn part(&mut self, waits: bool) -> &mut Counted {
        if waits { &mut self.waiting } else { &mut self.others }
    }

    /// Counts the labels and values that those of these selectors name which no pod of the namespace has.
    fn count_new(&self, constraints: &[Spread]) -> usize {
        let mut new = different(constraints);
        new.retain(|selector| !self.waiting.selectors.contains_key(*selector));
        new.retain(|selector| !self.others.selectors.contains_key(*selector));
        new.iter().map(|selector| named(selector)).sum()
    }

    /// Has the constraints of a pod counted. Refused ones of pods that wait may have what is new among them.
    fn enter(&mut self, waits: bool, constraints: &[Spread]) -> Box<[Selector]> {
        let part = self.part(waits);
        let before = part.selectors.len();
        let selectors = part.enter(constraints);
        let is_more = part.selectors.len() > before;
        if waits && is_more {
            self.line.look_again();
        }
        selectors
    }

    /// Tells whether the constraints that are to be looked at next have room: nothing else that is new goes before them.
    fn is_behind(&mut self) -> bool {
        let next = self.line.first_due();
        next.is_some_and(|wanted| self.part(wanted.waits).has_room(&wanted.constraints))
    }

    fn is_empty(&self) -> bool {
        self.waiting.selectors.is_empty()
            && self.others.selectors.is_empty()
            && self.line.is_empty()
    }
}

impl Part {
    /// Tells whether a pod with these constraints, which waits or does not, has this part.
    fn is_of(&self, waits: bool, constraints: &[Spread]) -> bool {
        match self {
            Self::Counted { waits: waited, selectors } => {
                *waited == waits && selectors.iter().map(|one| &**one).eq(different(constraints))
            }
            Self::Refused(wanted) => wanted.waits == waits && wanted.constraints == constraints,
        }
    }
}

impl Spreads {
    /// Takes in the constraints of a pod that was read, instead of those that it had. A pod that waits and for which there is no
    /// room, or whose turn it is not, is told so, and has none of them counted; another one has them left out, as it has its
    /// place.
    pub(super) fn keep(&mut self, context: &mut Context, row: u32, facts: &mut Pod) {
        let waits = matches!(facts.state, PodState::Gated | PodState::Pending)
            && matches!(facts.owner, Owner::Group(_));
        let (namespace, shape) = (facts.namespace, &mut facts.shape);
        let longest = shape.spread.iter().map(|one| named(&one.selector)).max();
        if let Some(longest) = longest.filter(|longest| *longest > OF_SELECTOR_MAX) {
            shape.spread.clear();
            if waits {
                refuse(shape, too_long(context, longest));
            }
        }
        if shape.spread.is_empty() {
            self.forget(row);
            return;
        }
        let is_as_before = |(known, part): &(Symbol, Part)| {
            *known == namespace && part.is_of(waits, &shape.spread)
        };
        if !self.pods.get(&row).is_some_and(is_as_before) {
            self.replace(row, namespace, waits, &shape.spread);
        }
        if let Some((_, Part::Counted { .. })) = self.pods.get(&row) {
            return;
        }
        shape.spread.clear();
        if waits {
            let why = if self.is_early(row) { Missing::Turn } else { no_room(context) };
            refuse(shape, why);
        }
    }

    /// Tells whether a pod waits for its turn alone.
    fn is_early(&self, row: u32) -> bool {
        let Some((namespace, Part::Refused(wanted))) = self.pods.get(&row) else { return false };
        self.asked.get(namespace).is_some_and(|asked| asked.line.is_early(row, wanted))
    }

    /// Takes in other constraints of a pod: they are counted, refused, or left out.
    fn replace(&mut self, row: u32, namespace: Symbol, waits: bool, constraints: &[Spread]) {
        // Of those that it had none is new, though nobody else has it, and the room that they leave is its own.
        let asked = self.asked.entry(namespace).or_default();
        let is_behind = asked.is_behind();
        let new = asked.count_new(constraints);
        self.forget(row);
        let asked = self.asked.entry(namespace).or_default();
        let used = self.new.entry(namespace).or_default();
        let has_room = asked.part(waits).has_room(constraints);
        let left = if is_behind { 0 } else { NEW_MAX.saturating_sub(*used) };
        if has_room && new <= left {
            *used += new;
            let selectors = asked.enter(waits, constraints);
            self.pods.insert(row, (namespace, Part::Counted { waits, selectors }));
        } else if waits || has_room {
            let wanted = Wanted { waits, constraints: constraints.to_vec() };
            let wanted = asked.line.refuse(row, wanted, has_room);
            self.pods.insert(row, (namespace, Part::Refused(wanted)));
        }
        self.tidy(namespace);
    }

    /// Forgets a pod that is gone.
    pub(super) fn forget(&mut self, row: u32) {
        let Some((namespace, part)) = self.pods.remove(&row) else { return };
        let Some(asked) = self.asked.get_mut(&namespace) else { return };
        match part {
            Part::Counted { waits, selectors } => {
                let has_left_room = asked.part(waits).leave(&selectors);
                if waits && has_left_room {
                    asked.line.look_again();
                }
            }
            Part::Refused(wanted) => asked.line.forget(row, &wanted),
        }
        self.tidy(namespace);
    }

    /// Notes whether there is something to look at in a namespace, and forgets one in which nothing is asked for.
    fn tidy(&mut self, namespace: Symbol) {
        let Some(asked) = self.asked.get(&namespace) else { return };
        if asked.line.is_due() {
            self.due.insert(namespace);
        } else {
            self.due.remove(&namespace);
        }
        if asked.is_empty() {
            self.asked.remove(&namespace);
        }
    }

    /// Says when a round is due that nothing else begins: at once, while refused constraints are to be looked at.
    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        (!self.due.is_empty()).then_some(now)
    }

    /// Gives the refused pods for which there is room by now, and those that waited for their turn and find none, as they are to
    /// be told: `told` has how they were. This ends a round: other selectors may be new in the next.
    ///
    /// # Cost
    /// In 64 sets of constraints, namespaces in turns, and 256 pods, however many were refused: the others are looked at in the
    /// next rounds.
    pub(super) fn flush(
        &mut self,
        context: &mut Context,
        told: &dyn Fn(PodId) -> Option<Pod>,
    ) -> BTreeMap<PodId, Pod> {
        let mut news = Vec::new();
        let mut due = std::mem::take(&mut self.due);
        for _ in 0..LOOKS_MAX {
            let behind = due.range((Bound::Excluded(self.last), Bound::Unbounded)).next();
            let Some(namespace) = behind.or_else(|| due.first()).copied() else { break };
            self.last = namespace;
            if !self.look(namespace, &mut news) {
                due.remove(&namespace);
            }
            if news.len() >= TOLD_MAX {
                break;
            }
        }
        self.due.append(&mut due);
        self.new.clear();
        if news.is_empty() {
            return BTreeMap::new();
        }
        let full = no_room(context);
        let anew = news.into_iter().filter_map(|(pod, wanted)| {
            let mut facts = told(pod)?;
            let Shape { spread, missing, .. } = &mut facts.shape;
            if let Some(wanted) = wanted {
                spread.clone_from(&wanted.constraints);
                missing.retain(|one| *one != Missing::Turn && *one != full);
            } else {
                for one in missing.iter_mut().filter(|one| **one == Missing::Turn) {
                    *one = full;
                }
            }
            Some((pod, facts))
        });
        anew.collect()
    }

    /// Looks at the next refused constraints of a namespace; tells whether more of them may be looked at in this round.
    fn look(&mut self, namespace: Symbol, news: &mut Vec<News>) -> bool {
        let Some(asked) = self.asked.get_mut(&namespace) else { return false };
        let Some(wanted) = asked.line.first_due() else { return false };
        let used = self.new.entry(namespace).or_default();
        let new = asked.count_new(&wanted.constraints);
        let has_room = asked.part(wanted.waits).has_room(&wanted.constraints);
        if has_room && *used + new > NEW_MAX {
            // They are the first of the next round.
            self.due.insert(namespace);
            return false;
        }
        if has_room {
            *used += new;
            self.admit(namespace, &wanted, news);
        } else if wanted.waits {
            let most = TOLD_MAX.saturating_sub(news.len());
            let told = asked.line.pass(wanted, most).into_iter();
            news.extend(told.map(|row| (PodId::new(row), None)));
        } else {
            // They are left out, as those that come now: their pods have their places.
            for row in asked.line.take(&wanted, usize::MAX) {
                self.pods.remove(&row);
            }
        }
        self.tidy(namespace);
        self.due.contains(&namespace)
    }

    /// Has refused constraints counted, of as many of their pods as may be told in this round.
    fn admit(&mut self, namespace: Symbol, wanted: &Arc<Wanted>, news: &mut Vec<News>) {
        let Some(asked) = self.asked.get_mut(&namespace) else { return };
        let waits = wanted.waits;
        let most = TOLD_MAX.saturating_sub(news.len());
        for row in asked.line.take(wanted, most) {
            let selectors = asked.enter(waits, &wanted.constraints);
            self.pods.insert(row, (namespace, Part::Counted { waits, selectors }));
            news.push((PodId::new(row), Some(Arc::clone(wanted))));
        }
    }
}

/// Different selectors of constraints.
fn different(constraints: &[Spread]) -> BTreeSet<&Vec<Requirement>> {
    constraints.iter().map(|one| &one.selector).collect()
}

/// Number of labels and values that a selector names.
fn named(selector: &[Requirement]) -> usize {
    let named = selector.iter().map(|requirement| match &requirement.holds {
        Holds::In(values) | Holds::NotIn(values) => 1 + values.len(),
        Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => 1,
    });
    named.sum()
}

/// Has a pod wait for a reason, unless it has one of its own.
fn refuse(shape: &mut Shape, why: Missing) {
    if !shape.missing.iter().any(|one| matches!(one, Missing::Request(_))) {
        shape.missing.push(why);
    }
}

/// The reason why a pod waits for which there is no room.
fn no_room(context: &mut Context) -> Missing {
    let why = format!(
        "topology spread constraints of waiting pods of its namespace have {OF_NAMESPACE_MAX} different selectors, or such that \
         name {NAMED_MAX} labels and values, and no more are counted at a time: have them select alike, or wait until others \
         have started or are gone"
    );
    Missing::Request(context.names.symbol(&why))
}

/// The reason why a pod waits with a selector that names too much.
fn too_long(context: &mut Context, named: usize) -> Missing {
    let why = format!(
        "a selector of its topology spread constraints has {named} labels and values, and no more than {OF_SELECTOR_MAX} are \
         compared: give it fewer"
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
            let counted = self.pods.values().filter(spread).count();
            (counted, self.refused().iter().sum())
        }

        /// Counts the pods that are told that their turn comes, and those that are told that there is no room.
        fn refused(&self) -> [usize; 2] {
            let names = &self.ingest.context.names;
            let is_full = |one: &Missing| matches!(one, Missing::Request(why) if names.text(*why).contains("256 different"));
            let early = self.pods.values().filter(|pod| pod.shape.missing.contains(&Missing::Turn));
            let full = self.pods.values().filter(|pod| pod.shape.missing.iter().any(is_full));
            [early.count(), full.count()]
        }

        /// Tells whether something is to be looked at though nothing changes.
        fn is_due(&self) -> bool {
            self.ingest.next_wake().is_some()
        }

        /// Tells whether the constraints of a pod were told.
        fn is_counted(&self, uid: &str) -> bool {
            let row = self.ingest.context.names.pods.find(uid).expect("it is known");
            !self.pods[&PodId::new(row)].shape.spread.is_empty()
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

    /// A waiting pod with a constraint whose selector names so many labels and values, and which no other has.
    fn naming(name: usize, named: usize) -> Value {
        let values: Vec<String> = (1..named).map(|value| format!("{name}-{value}")).collect();
        let mut pod = pod("ml", name, 0..1, false);
        let selector = &mut pod["spec"]["topologySpreadConstraints"][0]["labelSelector"];
        selector["matchExpressions"][0]["values"] = json!(values);
        pod
    }

    /// The same pod, on a node.
    fn placed(name: usize) -> Value {
        let mut pod = naming(name, 32);
        pod["spec"]["nodeName"] = json!("node");
        pod["status"]["phase"] = json!("Running");
        pod
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

    /// With each selector that is new all placed pods of the namespace are compared, by all that it names.
    #[test]
    fn new_selectors_are_counted_by_turns_and_name_so_much_and_no_more() {
        let mut cluster = Cluster::new();
        (0..65).for_each(|name| cluster.add(&naming(name, 32)));
        for expect in [(16, 49), (32, 33), (48, 17)] {
            assert_eq!(cluster.round(), expect);
            assert_eq!(cluster.refused(), [expect.1, 0], "nothing is wrong with them");
            assert!(cluster.is_due(), "the others come in the next round, though nothing changes");
            cluster.add(&naming(64, 32));
        }
        assert_eq!(cluster.round(), (64, 1));
        assert_eq!(cluster.refused(), [0, 1], "there is no room for one");
        assert!(!cluster.is_due());
        cluster.remove(&naming(0, 32));
        assert_eq!(cluster.round(), (64, 0));
        cluster.add(&naming(65, 33));
        assert_eq!(cluster.round(), (64, 0));
        let names = &cluster.ingest.context.names;
        let is_told = |one: &Missing| matches!(one, Missing::Request(why) if names.text(*why).contains("33 labels and values"));
        let refused = |pod: &&Pod| pod.shape.missing.iter().any(is_told);
        assert_eq!(cluster.pods.values().filter(refused).count(), 1, "one names too much");
    }

    /// Its needs are filled in behind.
    #[test]
    fn a_pod_that_lacks_a_config_map_waits_for_its_turn_as_well() {
        let mut cluster = Cluster::new();
        (0..16).for_each(|name| cluster.add(&naming(name, 32)));
        let mut reader = naming(16, 32);
        let reads = json!([{ "configMapRef": { "name": "settings" } }]);
        reader["spec"]["containers"] = json!([{ "envFrom": reads }]);
        cluster.add(&reader);
        assert_eq!(cluster.round(), (16, 1));
        assert_eq!(cluster.refused(), [1, 0]);
    }

    /// All pods of a large gang may wait for the same, and others of the namespace may have what there is by then.
    #[test]
    fn so_many_pods_are_told_in_a_round_that_the_room_is_gone() {
        let mut cluster = Cluster::new();
        (0..64).for_each(|name| cluster.add(&naming(name, 32)));
        (100..400).for_each(|name| cluster.add(&pod("ml", name, own(1000), false)));
        for counted in [16, 32, 48] {
            assert_eq!(cluster.round(), (counted, 364 - counted));
            assert_eq!(cluster.refused(), [364 - counted, 0]);
        }
        for refused in [[60, 240], [0, 300]] {
            assert_eq!(cluster.round(), (64, 300));
            assert_eq!(cluster.refused(), refused);
        }
        assert!(!cluster.is_due());
    }

    /// A selector may go by a label of its pod, which may be edited any number of times.
    #[test]
    fn edits_of_a_pod_bring_no_more_that_is_new_than_a_round_takes() {
        let mut cluster = Cluster::new();
        (0..40).for_each(|edit| cluster.add(&pod("ml", 0, own(edit), false)));
        let told =
            cluster.ingest.context.deltas.iter().map(|delta| {
                if let Delta::Pod(_, pod) = delta { pod.shape.spread.len() } else { 0 }
            });
        assert_eq!(told.sum::<usize>(), 16 * 16);
        assert_eq!(cluster.round(), (0, 1));
        assert_eq!(cluster.round(), (1, 0), "it has its turn");
        assert!(!cluster.is_due());
    }

    /// Whoever makes ever new pods keeps nobody from the turn that is due.
    #[test]
    fn a_pod_that_was_refused_goes_before_those_that_come_later() {
        let mut cluster = Cluster::new();
        (0..17).for_each(|name| cluster.add(&naming(name, 32)));
        assert_eq!(cluster.round(), (16, 1));
        (0..16).for_each(|name| cluster.remove(&naming(name, 32)));
        (100..116).for_each(|name| cluster.add(&naming(name, 32)));
        assert_eq!(cluster.round(), (16, 1));
        assert!(cluster.is_counted("ml/16"));
        assert_eq!(cluster.round(), (17, 0));
    }

    /// Pods with a place are not refused, but counted later.
    #[test]
    fn selectors_of_placed_pods_come_by_turns() {
        let mut cluster = Cluster::new();
        (0..65).for_each(|name| cluster.add(&placed(name)));
        for counted in [16, 32, 48, 64] {
            assert_eq!(cluster.round(), (counted, 0));
        }
        assert!(!cluster.is_due(), "those of the last are left out");
        (0..65).for_each(|name| cluster.remove(&placed(name)));
        assert_eq!(cluster.round(), (0, 0));
        let spreads = &cluster.ingest.spreads;
        assert!(spreads.asked.is_empty() && spreads.pods.is_empty() && spreads.new.is_empty());
    }

    /// Constraints of a pod that has its place matter only where it would be moved.
    #[test]
    fn pods_that_wait_have_their_turn_before_placed_ones() {
        let mut cluster = Cluster::new();
        (0..48).for_each(|name| cluster.add(&placed(name)));
        (100..116).for_each(|name| cluster.add(&naming(name, 32)));
        assert_eq!(cluster.round(), (16, 16));
        assert_eq!(cluster.round(), (32, 0));
        assert!(cluster.is_due(), "placed ones are next");
        assert_eq!(cluster.round(), (48, 0));
        assert_eq!(cluster.round(), (64, 0));
        assert!(!cluster.is_due());
    }

    /// A namespace whose waiting pods have as many selectors as they may, and refused ones of a selector each.
    fn crowd(cluster: &mut Cluster, namespace: &str, refused: usize) {
        (0..16).for_each(|name| cluster.add(&pod(namespace, name, own(name), false)));
        for name in 1000..1000 + refused {
            cluster.add(&pod(namespace, name, name..name + 1, false));
        }
    }

    /// That a pod waits is written on it, which is an event of each.
    #[test]
    fn refused_constraints_are_looked_at_once_there_may_be_room() {
        let mut cluster = Cluster::new();
        crowd(&mut cluster, "ml", 200);
        assert_eq!(cluster.round(), (16, 200));
        for mut edited in [pod("ml", 3, own(3), false), pod("ml", 1003, 1003..1004, false)] {
            edited["metadata"]["labels"] = json!({ "plain": "other" });
            cluster.add(&edited);
            assert!(!cluster.is_due(), "it asks for what it asked for");
        }
        assert_eq!(cluster.round(), (16, 200));
        cluster.remove(&pod("ml", 0, own(0), false));
        // Sixteen have room, and 64 are looked at in a round.
        for left in [136, 72, 8] {
            assert_eq!(cluster.round(), (31, 184));
            let asked: Vec<usize> =
                cluster.ingest.spreads.asked.values().map(|asked| asked.line.left).collect();
            assert_eq!((asked, cluster.is_due()), (vec![left], true));
        }
        assert_eq!(cluster.round(), (31, 184));
        assert!(!cluster.is_due(), "all were looked at");
        cluster.remove(&pod("ml", 1, own(1), false));
        assert_eq!(cluster.round(), (46, 168));
    }

    #[test]
    fn namespaces_have_their_refused_constraints_looked_at_in_turns() {
        let mut cluster = Cluster::new();
        crowd(&mut cluster, "ml", 200);
        crowd(&mut cluster, "web", 1);
        assert_eq!(cluster.round(), (32, 201));
        for namespace in ["ml", "web"] {
            cluster.remove(&pod(namespace, 0, own(0), false));
        }
        assert_eq!(cluster.round(), (30 + 16 + 1, 184));
        assert!(cluster.is_counted("web/1000"));
    }

    /// The room that the first one needs may not be there for hours.
    #[test]
    fn one_that_has_no_room_keeps_none_behind_it() {
        let mut cluster = Cluster::new();
        (0..15).for_each(|name| cluster.add(&pod("ml", name, own(name), false)));
        (240..256).for_each(|name| cluster.add(&pod("ml", name, name..name + 1, false)));
        cluster.add(&pod("ml", 1000, own(100), false));
        cluster.add(&pod("ml", 1001, 2000..2001, false));
        assert_eq!(cluster.round(), (31, 2));
        cluster.remove(&pod("ml", 240, 240..241, false));
        assert_eq!(cluster.round(), (31, 1));
        assert!(cluster.is_counted("ml/1001"));
        assert!(!cluster.is_due());
    }

    /// The round has room for looks at those alone that ask for more than there is by then.
    #[test]
    fn what_comes_free_is_not_for_pods_that_come_before_all_were_looked_at() {
        let mut cluster = Cluster::new();
        (0..15).for_each(|name| cluster.add(&pod("ml", name, own(name), false)));
        (240..256).for_each(|name| cluster.add(&pod("ml", name, name..name + 1, false)));
        (1000..1064).for_each(|name| cluster.add(&pod("ml", name, own(name), false)));
        cluster.add(&pod("ml", 2000, 2000..2001, false));
        assert_eq!(cluster.round(), (31, 65));
        cluster.remove(&pod("ml", 240, 240..241, false));
        assert_eq!(cluster.round(), (30, 65), "64 are looked at");
        cluster.add(&pod("ml", 3000, 3000..3001, false));
        assert_eq!(cluster.round(), (31, 65));
        assert!(cluster.is_counted("ml/2000"), "it came first");
    }

    #[test]
    fn so_many_pods_are_told_in_a_round() {
        let mut cluster = Cluster::new();
        crowd(&mut cluster, "ml", 0);
        (100..400).for_each(|name| cluster.add(&pod("ml", name, own(16), false)));
        assert_eq!(cluster.round(), (16, 300));
        cluster.remove(&pod("ml", 0, own(0), false));
        assert_eq!(cluster.round(), (15 + 256, 44));
        assert!(cluster.is_due());
        assert_eq!(cluster.round(), (15 + 300, 0));
        assert!(!cluster.is_due());
    }
}
