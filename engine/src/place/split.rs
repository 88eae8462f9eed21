//! Splits nodes for pods that have to go together: into domains, the tightest that fits first.
//!
//! A split surveys a topology: which levels the constraint names, how well the pods fit into each domain, and where pods
//! of the group are already. From that follow the sets of nodes to try, or the reason why there are none.
//!
//! # Source
//! docs/behaviour.md 11.

mod fill;

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use crate::{
    base::{
        id_set::IdSet,
        ids::{DomainId, PodId, Rank, Symbol, TopologyId},
        resources::Lane,
    },
    decided::plan::{
        Why,
        domain::{DomainProblem, DomainRoom, NoDomain},
    },
    place::split::fill::{Below, Fills, Load, count},
    state::{State, domains::Domains},
    told::group::Constraint,
};

/// So many domains that are too small are told one by one.
const ROOMS_MAX: usize = 100;

/// Nodes are preferred in so many steps at most.
const TIERS_MAX: usize = 10;

/// So many nodes and domains that are measured cost a step.
const MEASURED_PER_STEP: u64 = 16;

/// Candidate sets of nodes for a constraint.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    topology: TopologyId,
    /// Domains whose nodes are a candidate each. One is enough; the first to be tried first.
    domains: Vec<DomainId>,
    /// The nodes of them that may be used.
    valid: IdSet<Rank>,
    /// Nodes from the most preferred domains to the least, where a level is preferred.
    pub(crate) tiers: Option<Vec<IdSet<Rank>>>,
}

/// A constraint on pods that have to go together.
#[derive(Debug)]
pub(crate) struct Together<'a> {
    pub(crate) sub_group: Symbol,
    pub(crate) constraint: Constraint,
    /// The pods to place.
    pub(crate) pods: &'a [PodId],
    /// Nodes where pods of the same sub-group are already.
    pub(crate) taken: &'a IdSet<Rank>,
}

/// Splits a set of nodes for pods that have to go together.
///
/// # Cost
/// In the nodes and the domains of the topology, a part of which is counted in `steps.nodes`.
///
/// # Source
/// docs/behaviour.md 11.3.
pub(crate) fn split(
    state: &mut State,
    together: &Together<'_>,
    nodes: Option<&IdSet<Rank>>,
) -> Result<Split, Why> {
    for pod in together.pods {
        state.ensure_feasible(state.pods()[*pod].shape);
    }
    let survey = Survey::of(state, together, nodes).map_err(|problem| together.fails(problem))?;
    let measured = survey.valid.len() + survey.order.len();
    let domains = survey.roomy();
    let split = if domains.is_empty() {
        Err(together.fails(survey.problem(state)))
    } else {
        let tiers = survey.levels.preferred.map(|depth| survey.tiers(depth));
        let topology = together.constraint.topology;
        Ok(Split { topology, domains, valid: survey.valid, tiers })
    };
    // A small one counts too: there may be one for each chain of domains.
    state.steps.nodes += (measured as u64 / MEASURED_PER_STEP).max(1);
    split
}

impl Split {
    /// Counts the candidates.
    pub(crate) fn len(&self) -> usize {
        self.domains.len()
    }

    /// The nodes of a candidate, if there are so many.
    pub(crate) fn nodes(&self, state: &State, at: usize) -> Option<IdSet<Rank>> {
        let id = *self.domains.get(at)?;
        let domains = state.nodes().index.domains.get(self.topology)?.as_ref()?;
        let mut nodes = domains.rows[id].nodes.clone();
        nodes.intersect(&self.valid);
        Some(nodes)
    }
}

impl Together<'_> {
    /// Says why no domain will do.
    fn fails(&self, problem: DomainProblem) -> Why {
        let topology = self.constraint.topology;
        let (sub_group, before) = (self.sub_group, Vec::new());
        Why::NoDomain(Box::new(NoDomain { sub_group, topology, problem, before }))
    }
}

/// Levels that a constraint names, as depths in the tree of domains.
#[derive(Clone, Copy, Debug)]
struct Levels {
    required: Option<usize>,
    preferred: Option<usize>,
    /// The deeper of the two.
    narrowest: usize,
}

impl Levels {
    fn of(domains: &Domains, constraint: &Constraint) -> Result<Self, DomainProblem> {
        let depth = |level: Option<crate::Level>, required| {
            level.map(|level| domains.depth(level.0, required)).transpose()
        };
        let required = depth(constraint.required, true)?;
        let preferred = depth(constraint.preferred, false)?;
        if required.zip(preferred).is_some_and(|(required, preferred)| preferred < required) {
            return Err(DomainProblem::LevelsReversed);
        }
        let narrowest = preferred.or(required).ok_or(DomainProblem::NeitherLevel)?;
        Ok(Self { required, preferred, narrowest })
    }

    /// The widest depth that will do: the whole topology where none is required.
    fn widest(self) -> usize {
        self.required.unwrap_or(0)
    }
}

/// The domains that a constraint chooses among, and how well its pods fit into them.
struct Survey<'a> {
    domains: &'a Domains,
    levels: Levels,
    load: Load<'a>,
    /// Nodes that may be used and have all labels of the topology.
    valid: IdSet<Rank>,
    /// The narrowest domain with all valid nodes: the top of those that are looked at.
    start: DomainId,
    fills: Fills,
    /// Domains in tree order, the tightest first among siblings.
    order: Vec<DomainId>,
    /// Domains of the required level where pods of the group are, inside one of which the others have to be; none where
    /// they are free to go anywhere, an empty list where all that are there are on nodes without the labels.
    anchors: Option<Vec<DomainId>>,
}

impl<'a> Survey<'a> {
    fn of(
        state: &'a State,
        together: &Together<'a>,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<Self, DomainProblem> {
        let constraint = &together.constraint;
        let domains = state.nodes().index.domains.get(constraint.topology);
        let domains = domains.and_then(Option::as_ref).ok_or(DomainProblem::NoTopology)?;
        let levels = Levels::of(domains, constraint)?;
        let mut valid = domains.rows[DomainId::new(0)].nodes.clone();
        if let Some(nodes) = nodes {
            valid.intersect(nodes);
        }
        let start = domains.around(&valid, levels.narrowest);
        let load = Load::of(state, together.pods);
        let fills =
            Below { domains, start, depth: levels.narrowest, valid: &valid }.fills(state, &load);
        let order = sorted(domains, start, levels.narrowest, &fills);
        let bound = levels.required.filter(|_| !together.taken.is_empty());
        let anchors = bound.map(|depth| domains.around_each(together.taken, depth));
        Ok(Self { domains, levels, load, valid, start, fills, order, anchors })
    }

    /// The domains to try: those with room for the pods, from the narrowest level to the widest.
    fn roomy(&self) -> Vec<DomainId> {
        let depths = (self.levels.widest()..=self.levels.narrowest).rev();
        let domains = depths.flat_map(|depth| self.admitted(depth));
        domains.filter(|id| self.fills[*id].fits(&self.load)).collect()
    }

    /// The domains of a level that pods of the group which are placed leave to the others.
    fn admitted(&self, depth: usize) -> impl Iterator<Item = DomainId> {
        let level = self.order.iter().filter(move |id| self.domains.rows[**id].depth == depth);
        level.copied().filter(|id| self.is_admitted(*id))
    }

    fn is_admitted(&self, id: DomainId) -> bool {
        let Some(anchors) = &self.anchors else { return true };
        let nodes = &self.domains.rows[id].nodes;
        let holds =
            |anchor: &DomainId| nodes.common_len(&self.domains.rows[*anchor].nodes) == nodes.len();
        anchors.iter().any(holds)
    }

    /// Says what is wrong where there is no set of nodes to try.
    fn problem(&self, state: &State) -> DomainProblem {
        let level = self.levels.required.map(|depth| self.domains.levels[depth - 1]);
        let is_outside = self.anchors.as_ref().is_some_and(Vec::is_empty);
        let whole = Some(self.start).filter(|start| !self.fills[*start].fits(&self.load));
        if let Some(level) = level.filter(|_| is_outside && whole.is_none()) {
            return DomainProblem::Outside { level };
        }
        let widest: Vec<DomainId> = self.admitted(self.levels.widest()).collect();
        let most = widest.iter().filter_map(|id| self.fills[*id].pods).max().unwrap_or(0);
        DomainProblem::NoFit {
            level,
            whole: whole.map(|start| self.domains.path(start)),
            rooms: widest.iter().take(ROOMS_MAX).map(|id| self.room(*id)).collect(),
            domains: count(widest.len()),
            pods_max: count(most),
            pods: count(self.load.pods.len()),
            gpu_milli: self.load.gpus_milli,
            gpu_milli_max: self.gpu_milli_max(state, &widest),
        }
    }

    /// The most GPUs that one of some domains has, whoever has them; of all nodes that may be used where there are none.
    fn gpu_milli_max(&self, state: &State, among: &[DomainId]) -> i64 {
        let nodes = &state.nodes();
        let gpu_milli = |rank: Rank| {
            let node = nodes.index.node(rank);
            let facts = nodes.facts[node].as_ref();
            facts.map_or(0, |facts| facts.allocatable.amount(Lane::GPU) + nodes.slice_gpus(node))
        };
        let of = |id: &DomainId| -> i64 {
            self.domains.rows[*id].nodes.common(&self.valid).map(gpu_milli).sum()
        };
        among.iter().map(of).max().unwrap_or_else(|| of(&self.start))
    }

    fn room(&self, id: DomainId) -> DomainRoom {
        DomainRoom { path: self.domains.path(id), room: self.fills[id].room(&self.load) }
    }

    /// The valid nodes by how much their domain is preferred: later domains in tree order, the roomier ones, first.
    fn tiers(&self, depth: usize) -> Vec<IdSet<Rank>> {
        let level: Vec<DomainId> =
            self.order.iter().copied().filter(|id| self.domains.rows[*id].depth == depth).collect();
        let mut tiers: BTreeMap<Reverse<usize>, IdSet<Rank>> = BTreeMap::new();
        for (at, id) in level.iter().enumerate() {
            let step = (at + 1) * TIERS_MAX / level.len();
            let nodes = self.domains.rows[*id].nodes.common(&self.valid);
            tiers.entry(Reverse(step)).or_default().extend(nodes);
        }
        let mut rest = self.valid.clone();
        let mut all: Vec<IdSet<Rank>> = tiers.into_values().collect();
        for tier in &all {
            for rank in tier.iter() {
                rest.remove(rank);
            }
        }
        if !rest.is_empty() {
            all.push(rest);
        }
        all
    }
}

/// The domains below `start` in tree order, the tightest first among siblings, down to the level below `depth`.
fn sorted(domains: &Domains, start: DomainId, depth: usize, fills: &Fills) -> Vec<DomainId> {
    let by_room = |left: &DomainId, right: &DomainId| -> Ordering {
        fills[*left].order.tighter(&fills[*right].order)
    };
    let mut order = vec![start];
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        if id != start {
            order.push(id);
        }
        if domains.rows[id].depth < depth {
            let mut children = domains.rows[id].children.clone();
            children.sort_by(by_room);
            open.extend(children.into_iter().rev());
        }
    }
    order
}
