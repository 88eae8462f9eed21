//! Takes in what the outside tells of pods: the difference to what is known, and the pod out of its tables and in
//! again.

use crate::{
    base::ids::{GroupId, NodeId, PodId},
    state::{
        State,
        booking::Sign,
        changes::PodProgress,
        rows::{PodExtras, PodFacts, PodRest, PodStatus, Told},
    },
    told::pod::{Owner, Pod},
};

/// A pod as it was before something was told of it.
struct Before {
    progress: PodProgress,
    was_somewhere: bool,
    /// All of it, where claims or zones are held by it: what a plan gave them stays theirs.
    status: Option<PodStatus>,
}

impl State {
    /// Takes in a pod.
    pub(super) fn take_pod(&mut self, id: PodId, pod: Pod) {
        let Some(facts) = self.news_of(id, pod) else { return };
        let owner = facts.owner;
        let status = self.believed(id, &facts);
        let before = self.before(id, facts.has_claims);
        let left = self.detach(id);
        let entered = self.attach(id, facts, status, before.status);
        for node in [left.filter(|left| entered != Some(*left)), entered].into_iter().flatten() {
            self.share_out(node);
        }
        self.note_news(id, owner, before.progress, before.was_somewhere);
    }

    /// Takes in that a pod is gone.
    pub(super) fn pod_gone(&mut self, id: PodId) {
        let Some(Some(facts)) = self.pods.facts.get(id) else { return };
        let owner = facts.owner;
        let before = self.before(id, false);
        let left = self.detach(id);
        self.pods.status[id] = PodStatus::default();
        if let Some(node) = left {
            self.share_out(node);
        }
        // Its number may soon be another's.
        self.nominations.forget_pod(id);
        self.budgets.forget(id);
        self.note_news(id, owner, before.progress, before.was_somewhere);
    }

    /// The facts of a pod, unless all of it is known.
    fn news_of(&mut self, id: PodId, pod: Pod) -> Option<PodFacts> {
        let told = Told::of(pod.state);
        let asks = if pod.claims.is_empty() {
            Vec::new()
        } else {
            self.claims.asks(&pod.claims, told.phase)
        };
        let shape = self.shapes.intern(&pod.shape, asks, &self.lanes);
        self.start_counting(shape);
        let extras = PodExtras {
            nominated: pod.nominated,
            claims: pod.claims,
            labels: pod.labels,
            rank: pod.rank,
        };
        let rest = PodRest {
            sub_group: pod.sub_group,
            namespace: pod.namespace,
            uid: pod.uid,
            created: pod.created,
            told,
            extras: extras.kept(),
        };
        let mut facts = PodFacts::new(pod.owner, shape, rest);
        facts.is_unplanned = pod.unplanned && facts.told.is_placed();
        self.pods.status.slot(id);
        if let Some(old) = self.pods.facts.slot(id) {
            facts.leaf = old.leaf;
            if facts == *old {
                self.shapes.release(shape);
                return None;
            }
            facts.leaf = None;
        }
        Some(facts)
    }

    /// Decides what to believe of a pod of which this is told: a plan that was made stands until news go further.
    fn believed(&self, id: PodId, facts: &PodFacts) -> PodStatus {
        let Some(old) = &self.pods.facts[id] else { return facts.told.status() };
        let status = self.pods.status[id].clone();
        if old.told == facts.told { status } else { status.advance(&facts.told) }
    }

    fn before(&self, id: PodId, has_claims: bool) -> Before {
        let status = &self.pods.status[id];
        let group = self.pods.facts[id].as_ref().and_then(PodFacts::group);
        Before {
            progress: PodProgress { phase: status.phase, group },
            was_somewhere: status.is_somewhere(),
            status: (has_claims || status.reserves()).then(|| status.clone()),
        }
    }

    /// Takes a pod that is known out of all tables; its status stays. Where no plan placed it, others may have more of its node,
    /// which it gives.
    fn detach(&mut self, id: PodId) -> Option<NodeId> {
        let old = self.pods.facts[id].as_ref()?;
        let shape = old.shape;
        let terms = &self.shapes[shape].facts.pod_anti_affinity;
        self.anti_affinity.count(terms, Sign::Minus);
        self.give(id);
        let node = self.pods.unlist_unplanned(id);
        self.unseat(id);
        self.pods.facts[id] = None;
        self.release(shape);
        node
    }

    /// Puts a pod that is in no table into all of them. Where no plan placed it, it holds nothing of its node yet, which it
    /// gives.
    fn attach(
        &mut self,
        id: PodId,
        facts: PodFacts,
        status: PodStatus,
        was: Option<PodStatus>,
    ) -> Option<NodeId> {
        assert!(self.pods.facts[id].is_none(), "a pod is taken out before it is put in");
        let group = facts.group();
        self.nodes.index.stale |= self.shapes.keys.take_news();
        let terms = &self.shapes[facts.shape].facts.pod_anti_affinity;
        self.anti_affinity.count(terms, Sign::Plus);
        self.pods.facts[id] = Some(facts);
        let status = self.join_claims(id, status, was);
        self.pods.status[id] = status;
        if let Some(group) = group {
            self.groups.slot(group).pods.insert(id);
            self.seat(id, group);
        }
        let node = self.pods.list_unplanned(id);
        self.take(id);
        node
    }

    /// Writes down what a pod came to. Reservations follow the pods that the scheduler placed and evicted: no news.
    fn note_news(&mut self, id: PodId, owner: Owner, before: PodProgress, was_somewhere: bool) {
        let status = &self.pods.status[id];
        let group = self.pods.facts[id].as_ref().and_then(PodFacts::group);
        let now = PodProgress { phase: status.phase, group };
        if was_somewhere || status.is_somewhere() {
            self.changes.grow_room();
        }
        if owner != Owner::Reservation {
            self.changes.progress(before, now);
        }
        if let Some(group) = group {
            self.changes.touch(group);
        }
        self.changes.tell();
        self.queues.moved = true;
    }

    /// Puts a pod into its leaf of its group's tree.
    pub(crate) fn seat(&mut self, pod: PodId, group: GroupId) {
        let tree = &mut self.groups[group].tree;
        let facts = self.pods.facts[pod].as_mut().expect("a pod of a group was told");
        // What holds a place counts, and what runs can be evicted, wherever its user says by now that it belongs.
        let is_placed = facts.told.is_placed();
        let named = tree.leaf_of(facts.sub_group, &mut self.steps.compared);
        facts.leaf = named.or((is_placed && !tree.leaves.is_empty()).then_some(0));
        if let Some(leaf) = facts.leaf {
            let turn = facts.turn();
            let pods = &self.pods;
            tree.seat_in(leaf, |seats| {
                let at = seats.partition_point(|other| pods[*other].turn() < turn);
                seats.insert(at, pod);
            });
        }
    }

    /// Takes a pod out of its claims and its group.
    fn unseat(&mut self, pod: PodId) {
        for claim in &self.pods[pod].claims {
            self.claims.rows[*claim].pods.remove(&pod);
        }
        let Some(group) = self.pods[pod].group() else { return };
        let row = &mut self.groups[group];
        row.pods.remove(&pod);
        if let Some(leaf) = self.pods[pod].leaf {
            // Those of a large gang may all be told again, so that looking through all of them would be a square.
            let (pods, turn) = (&self.pods, self.pods[pod].turn());
            row.tree.seat_in(leaf, |seats| {
                let first = seats.partition_point(|other| pods[*other].turn() < turn);
                let at = seats[first..].iter().position(|other| *other == pod);
                seats.remove(first + at.expect("a pod with a leaf is seated there"));
            });
        }
        self.changes.touch(group);
    }
}
