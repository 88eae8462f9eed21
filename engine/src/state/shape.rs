//! Pod shapes and node kinds: equal pods are one shape, equal nodes one kind, matched once per pair.

mod kinds;
mod label_keys;
pub(crate) mod volume;

use std::collections::BTreeMap;

use kinds::backed_milli;
pub(crate) use kinds::mig_milli;
use label_keys::LabelKeys;

use crate::{
    base::{
        ids::{Column, NodeClassId, ShapeId, Symbol},
        resources::{Charge, GPU_MILLI, Lane, LaneKind, PerLane, QueueLane},
    },
    decided::plan::Misfit,
    state::device,
    told::{
        claim::{Ask, certain_milli, charged_milli},
        node::{Effect, Gpus, Label, MigStrategy, Node, Taint, Worker},
        pod::{GpuRequest, Shape, Toleration},
        requirement::{Holds, Requirement},
    },
};

/// No pod is charged more GPUs, in milli-devices: queues sum what their pods ask for, and the sum over a million fits into 63
/// bits. Instances of one profile do, but a pod may ask for those of thousands.
const CHARGE_MAX: i64 = 1 << 43;
/// No pod asks for more GPU memory, in MiB: the sum over a million pods is multiplied by 1000 where it is turned into GPUs.
const GPU_MIB_MAX: i64 = 1 << 33;

/// A shape as the engine keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShapeRow {
    /// As the adapter told it.
    pub(crate) facts: Shape,
    /// Requests of its claims.
    pub(crate) asks: Vec<Ask>,
    /// GPUs of claims of its own, in milli-devices: they are in `take`, and held device by device. None where what a
    /// node has of GPUs does not bound them.
    pub(crate) own_milli: i64,
    /// GPUs that stand in for extended resources, in milli-devices.
    backed_milli: i64,
    /// GPUs of claims that are not, in milli-devices.
    pub(crate) named_milli: i64,
    /// Amounts that it takes of a node: the request, the pod slot, whole GPUs and MIG instances. Shared parts are not
    /// in it.
    pub(crate) take: Vec<(Lane, i64)>,
    /// Amounts that queues are charged on CPU and memory, and on GPUs unless that depends on the node.
    pub(crate) charge: Charge,
    /// MiB of GPU memory asked for in all, for requests by memory.
    pub(crate) gpu_mib: i64,
    /// True if it asks for no GPU of any form.
    pub(crate) cpu_only: bool,
    /// Number of GPUs that it shares; 0 where it shares none.
    pub(crate) shared: u16,
}

impl ShapeRow {
    /// The row of a shape; `has_backed_resources` where GPUs of claims are not to be compared with those of a node.
    pub(crate) fn new(
        facts: &Shape,
        asks: &[Ask],
        lanes: &[LaneKind],
        has_backed_resources: bool,
    ) -> Self {
        assert!(facts.ports.is_sorted(), "ports are told in order");
        let terms = facts.pod_affinity.iter().chain(&facts.pod_anti_affinity);
        let terms = terms.chain(facts.preferred_pods.iter().map(|(_, term)| term));
        assert!(terms.into_iter().all(|term| term.namespaces.is_sorted()), "namespaces are too");
        let mut take: BTreeMap<Lane, i64> = facts.request.iter().collect();
        take.insert(Lane::PODS, 1);
        let (cpu, memory) = (facts.request.amount(Lane::CPU), facts.request.amount(Lane::MEMORY));
        let (mut gpu_milli, mut gpu_mib, mut shared) = (0, 0, 0);
        match &facts.gpu {
            GpuRequest::None => {}
            GpuRequest::Whole(count) => {
                gpu_milli = i64::from(*count) * GPU_MILLI;
                take.insert(Lane::GPU, gpu_milli);
            }
            GpuRequest::Fraction { devices, .. } => {
                shared = *devices;
                gpu_milli = device::portion_milli(&facts.gpu, 0) * i64::from(*devices);
            }
            GpuRequest::Memory { mib, devices } => {
                shared = *devices;
                gpu_mib = (i64::from(*mib) * i64::from(*devices)).min(GPU_MIB_MAX);
            }
            GpuRequest::Mig(instances) | GpuRequest::LegacyMig(instances) => {
                for (lane, count) in instances {
                    take.insert(*lane, i64::from(*count));
                    gpu_milli += i64::from(*count) * mig_milli(lanes, *lane);
                }
            }
        }
        let (mut own_milli, mut named_milli, mut either_milli) = (0, 0, 0);
        for ask in asks {
            match ask {
                Ask::Own(own) => {
                    let certain = certain_milli(&own.requests);
                    own_milli += certain;
                    either_milli += charged_milli(&own.requests) - certain;
                }
                Ask::Named(_, milli) => named_milli += milli,
            }
        }
        let backed_milli = backed_milli(facts, lanes);
        gpu_milli += own_milli + named_milli + either_milli + backed_milli;
        let cpu_only = matches!(facts.gpu, GpuRequest::None | GpuRequest::Whole(0))
            && own_milli + named_milli + either_milli + backed_milli == 0;
        if has_backed_resources {
            own_milli = 0;
        }
        *take.entry(Lane::GPU).or_default() += own_milli;
        take.retain(|_, amount| *amount != 0);
        Self {
            facts: facts.clone(),
            asks: asks.to_vec(),
            own_milli,
            named_milli,
            backed_milli,
            take: take.into_iter().collect(),
            charge: PerLane([cpu, memory, gpu_milli.min(CHARGE_MAX)]),
            gpu_mib,
            cpu_only,
            shared,
        }
    }

    /// Sums what queues are charged on a node whose GPUs have this much memory each.
    pub(crate) fn charge_on(&self, memory_mib: u32) -> Charge {
        match self.facts.gpu {
            GpuRequest::Memory { devices, .. } => {
                let mut charge = self.charge;
                let all = device::portion_milli(&self.facts.gpu, memory_mib) * i64::from(devices);
                charge[QueueLane::Gpu] = all.min(CHARGE_MAX);
                charge
            }
            GpuRequest::None
            | GpuRequest::Whole(_)
            | GpuRequest::Fraction { .. }
            | GpuRequest::Mig(_)
            | GpuRequest::LegacyMig(_) => self.charge,
        }
    }

    /// Gives the amount of `lane` that it takes of a node.
    pub(crate) fn amount(&self, lane: Lane) -> i64 {
        self.take.iter().find(|(at, _)| *at == lane).map_or(0, |(_, amount)| *amount)
    }

    /// Lists what it asks of device plugins and of the node itself: claims aside.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (Lane, i64)> {
        let claims = |lane| if lane == Lane::GPU { self.own_milli } else { 0 };
        self.take.iter().map(move |(lane, amount)| (*lane, amount - claims(*lane)))
    }

    /// GPUs that all its claims ask for, those that stand in for extended resources included, in milli-devices.
    pub(crate) fn claims_milli(&self) -> i64 {
        self.asks_milli() + self.backed_milli
    }

    /// GPUs that the claims which it names ask for, in milli-devices.
    pub(crate) fn asks_milli(&self) -> i64 {
        let milli = |ask: &Ask| match ask {
            Ask::Own(own) => charged_milli(&own.requests),
            Ask::Named(_, milli) => *milli,
        };
        self.asks.iter().map(milli).sum()
    }

    /// Tells whether it has a claim that is not of its own.
    pub(crate) fn is_named(&self) -> bool {
        self.asks.iter().any(|ask| matches!(ask, Ask::Named(..)))
    }

    /// Tells whether where it may go depends on the pods that are there.
    pub(crate) fn has_pod_affinity(&self) -> bool {
        !self.facts.pod_affinity.is_empty()
            || !self.facts.pod_anti_affinity.is_empty()
            || !self.facts.ports.is_empty()
            || self.facts.spread.iter().any(|spread| spread.required)
    }
}

/// All shapes in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    by_facts: BTreeMap<Shape, ShapeId>,
    /// Those of pods with claims.
    by_asks: BTreeMap<(Shape, Vec<Ask>), ShapeId>,
    rows: Column<ShapeId, Option<Box<ShapeRow>>>,
    uses: Column<ShapeId, u32>,
    free: Vec<ShapeId>,
    /// Label keys that shapes ask nodes for.
    pub(crate) keys: LabelKeys,
    /// True if GPUs of claims are not to be compared with those of a node: several nodes reach some, or claims share
    /// some.
    pub(crate) has_backed_resources: bool,
    /// The last one without claims that was asked for: pods that are alike come one after the other.
    last: Option<ShapeId>,
    /// The last lane that a shape ever asked for.
    last_lane: Option<Lane>,
}

impl PartialEq for Shapes {
    /// Equal shapes under the same ids; which one came last does not count, nor which there were.
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
            && self.uses == other.uses
            && self.free == other.free
            && self.keys == other.keys
            && self.has_backed_resources == other.has_backed_resources
    }
}

impl Shapes {
    /// The id of a shape, one use more.
    pub(crate) fn intern(&mut self, facts: &Shape, asks: Vec<Ask>, lanes: &[LaneKind]) -> ShapeId {
        let known = if asks.is_empty() {
            let is_it = |id: &ShapeId| {
                let row = self.rows[*id].as_ref();
                row.is_some_and(|row| row.asks.is_empty() && row.facts == *facts)
            };
            self.last.filter(is_it).or_else(|| self.by_facts.get(facts).copied())
        } else {
            self.by_asks.get(&(facts.clone(), asks.clone())).copied()
        };
        if let Some(id) = known {
            self.uses[id] += 1;
            self.last = Some(id);
            return id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.uses.push(0);
            self.rows.push(None)
        });
        let row = ShapeRow::new(facts, &asks, lanes, self.has_backed_resources);
        self.last_lane = self.last_lane.max(row.take.last().map(|(lane, _)| *lane));
        self.rows[id] = Some(Box::new(row));
        self.uses[id] = 1;
        if asks.is_empty() {
            self.by_facts.insert(facts.clone(), id);
        } else {
            self.by_asks.insert((facts.clone(), asks), id);
        }
        self.keys.ask(facts);
        id
    }

    /// All shapes in use, and how many uses each has: its pods, and the classes of groups that wait for such.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (ShapeId, &ShapeRow, u32)> {
        let rows = self.rows.iter().zip(self.uses.iter());
        rows.filter_map(|((id, row), (_, uses))| Some((id, row.as_deref()?, *uses)))
    }

    /// One use more of a shape in use.
    pub(crate) fn retain(&mut self, id: ShapeId) {
        self.uses[id] += 1;
    }

    /// One use less; says whether the shape is gone with it.
    pub(crate) fn release(&mut self, id: ShapeId) -> bool {
        self.uses[id] -= 1;
        let gone = self.uses[id] == 0;
        if gone {
            let row = self.rows[id].take().expect("a shape in use has a row");
            self.keys.ask_no_more(&row.facts);
            if row.asks.is_empty() {
                self.by_facts.remove(&row.facts);
            } else {
                self.by_asks.remove(&(row.facts, row.asks));
            }
            self.free.push(id);
        }
        gone
    }
}

impl std::ops::Index<ShapeId> for Shapes {
    type Output = ShapeRow;

    fn index(&self, id: ShapeId) -> &ShapeRow {
        self.rows[id].as_ref().expect("a shape in use has a row")
    }
}

/// Facts of a node that decide whether a shape may ever go there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct NodeClass {
    /// Labels that some shape asks for, sorted.
    labels: Vec<Label>,
    /// Taints that keep pods away, sorted.
    taints: Vec<Taint>,
    blocked: Option<crate::told::node::Blocked>,
    mig: crate::told::node::Mig,
    worker: Worker,
    pub(crate) gpus: Gpus,
}

impl NodeClass {
    /// The kind of a node, with the label keys that shapes ask for.
    pub(crate) fn of(node: &Node, keys: &LabelKeys) -> Self {
        let mut labels: Vec<Label> =
            node.labels.iter().filter(|label| keys.tell_apart(label.key)).copied().collect();
        labels.sort_unstable();
        let mut taints: Vec<Taint> = node
            .taints
            .iter()
            .filter(|taint| taint.effect != Effect::PreferNoSchedule)
            .copied()
            .collect();
        taints.sort_unstable();
        let gpus = Gpus { count: 0, ..node.gpus };
        Self { labels, taints, blocked: node.blocked, mig: node.mig, worker: node.worker, gpus }
    }

    /// Tells whether pods of `shape` may ever go to nodes of this kind.
    ///
    /// # Source
    /// docs/behaviour.md 10.2, the checks that do not depend on other pods, in that order.
    pub(crate) fn admits(&self, shape: &ShapeRow, restrict: bool) -> Result<(), Misfit> {
        self.admits_but(shape, restrict, None)
    }

    /// [`admits`](Self::admits) as if one reason were none.
    pub(crate) fn admits_but(
        &self,
        shape: &ShapeRow,
        restrict: bool,
        lifted: Option<Misfit>,
    ) -> Result<(), Misfit> {
        let stands = |misfit: Misfit| if lifted == Some(misfit) { Ok(()) } else { Err(misfit) };
        if let Some(missing) = shape.facts.missing.first() {
            stands(Misfit::Missing(*missing))?;
        }
        self.admits_gpu(shape).or_else(stands)?;
        if let Some(blocked) = self.blocked {
            stands(Misfit::Blocked(blocked))?;
        }
        for taint in self.repelling(shape) {
            stands(Misfit::Taint(taint))?;
        }
        if !self.is_selected(&shape.facts) {
            stands(Misfit::Selector)?;
        }
        for volume in shape.facts.volumes.iter() {
            self.reaches(volume).or_else(stands)?;
        }
        if restrict && !self.works(shape) {
            stands(Misfit::Worker)?;
        }
        Ok(())
    }

    /// The part of [`admits`](Self::admits) that is not about labels.
    pub(crate) fn admits_unlabelled(&self, shape: &ShapeRow, restrict: bool) -> bool {
        self.admits_gpu(shape).is_ok()
            && self.blocked.is_none()
            && self.repelling(shape).next().is_none()
            && (!restrict || self.works(shape))
    }

    /// Tells whether the labels are those that a shape selects, by selector and by required affinity.
    pub(crate) fn is_selected(&self, shape: &Shape) -> bool {
        let selector = &mut shape.node_selector.iter();
        let terms = &shape.node_affinity;
        selector.all(|(key, value)| self.label(*key).is_some_and(|label| label.value == *value))
            && (terms.is_empty() || terms.iter().any(|term| self.satisfies(term)))
    }

    /// The taints that keep the pods of a shape away.
    pub(crate) fn repelling(&self, shape: &ShapeRow) -> impl Iterator<Item = Taint> {
        let tolerations = &shape.facts.tolerations;
        let tolerated = |taint: &Taint| tolerations.iter().any(|one| tolerates(one, taint));
        self.taints.iter().filter(move |taint| !tolerated(taint)).copied()
    }

    fn works(&self, shape: &ShapeRow) -> bool {
        if shape.cpu_only { self.worker.cpu } else { self.worker.gpu }
    }

    /// Its labels, of those that shapes ask for.
    pub(crate) fn labels(&self) -> &[Label] {
        &self.labels
    }

    fn admits_gpu(&self, shape: &ShapeRow) -> Result<(), Misfit> {
        let misfit = match &shape.facts.gpu {
            GpuRequest::LegacyMig(_) => Some(Misfit::LegacyMig),
            GpuRequest::Mig(_) if !self.mig.enabled => Some(Misfit::NotMig),
            GpuRequest::Mig(_) | GpuRequest::Fraction { .. } | GpuRequest::Memory { .. }
                if self.mig.strategy == MigStrategy::Single =>
            {
                Some(Misfit::MigSingle)
            }
            GpuRequest::Whole(1..) | GpuRequest::Fraction { .. } | GpuRequest::Memory { .. }
                if self.mig.strategy == MigStrategy::Mixed =>
            {
                Some(Misfit::MigMixed)
            }
            GpuRequest::Memory { .. } if !self.gpus.memory_known => Some(Misfit::GpuMemoryUnknown),
            GpuRequest::Memory { mib, .. } if *mib > self.gpus.memory_mib => {
                Some(Misfit::GpuTooSmall)
            }
            GpuRequest::None
            | GpuRequest::Whole(_)
            | GpuRequest::Fraction { .. }
            | GpuRequest::Memory { .. }
            | GpuRequest::Mig(_) => None,
        };
        misfit.map_or(Ok(()), Err)
    }

    pub(crate) fn label(&self, key: Symbol) -> Option<&Label> {
        self.labels.iter().find(|label| label.key == key)
    }

    fn satisfies(&self, term: &[Requirement]) -> bool {
        labels_meet(&self.labels, term)
    }
}

/// Tells whether a term holds for the labels of a node; one without requirements selects no node, as in the API.
pub(crate) fn labels_meet(labels: &[Label], term: &[Requirement]) -> bool {
    !term.is_empty()
        && term.iter().all(|requirement| {
            let label = labels.iter().find(|label| label.key == requirement.key);
            let number = label.and_then(|label| label.number);
            holds(&requirement.holds, label.map(|label| label.value), number)
        })
}

/// Tells whether a requirement holds for a label.
pub(crate) fn holds(holds: &Holds, value: Option<Symbol>, number: Option<i64>) -> bool {
    match holds {
        Holds::In(values) => value.is_some_and(|value| values.contains(&value)),
        Holds::NotIn(values) => value.is_none_or(|value| !values.contains(&value)),
        Holds::Exists => value.is_some(),
        Holds::Absent => value.is_none(),
        Holds::Above(bound) => number.is_some_and(|number| number > *bound),
        Holds::Below(bound) => number.is_some_and(|number| number < *bound),
    }
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    toleration.key.is_none_or(|key| key == taint.key)
        && toleration.value.is_none_or(|value| value == taint.value)
        && toleration.effect.is_none_or(|effect| effect == taint.effect)
}

/// All node kinds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NodeClasses {
    by_facts: BTreeMap<NodeClass, NodeClassId>,
    rows: Column<NodeClassId, NodeClass>,
}

impl NodeClasses {
    /// The id of a kind.
    pub(crate) fn intern(&mut self, kind: NodeClass) -> NodeClassId {
        if let Some(&id) = self.by_facts.get(&kind) {
            return id;
        }
        let id = self.rows.push(kind.clone());
        self.by_facts.insert(kind, id);
        id
    }

    /// Forgets all kinds.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl std::ops::Index<NodeClassId> for NodeClasses {
    type Output = NodeClass;

    fn index(&self, id: NodeClassId) -> &NodeClass {
        &self.rows[id]
    }
}
