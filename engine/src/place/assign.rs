//! Another try for a group whose sub-groups have to be together, each by itself: the hardest to place first, going back
//! to other domains where one gets stuck.
//!
//! One sub-group after the other in the tightest domain that takes it places nearly every group. It may fail though a way
//! exists: two small ones take a domain each, and leave none to a large one that they could have left a whole domain to
//! (docs/behaviour.md 11.3: KAI does not look ahead). The search is bounded by counted steps: in a cycle, after which
//! it goes on in the next one where it stopped as long as nothing changed, and in all.

use std::{cmp::Reverse, rc::Rc};

use crate::{
    base::{
        id_set::IdSet,
        ids::Rank,
        resources::{Charge, QueueLane},
    },
    decided::steps::Progress,
    place::{
        self, Area, Attempt, Mode, Stuck, capacity_bound,
        domain_bound::domain_bound,
        repack::STEPS,
        split::{Split, Together, split},
        within,
    },
    state::{
        State,
        tree::{Member, Tree},
        trial::Trial,
    },
    told::group::Constraint,
};

/// For how many pods a search may look in all, each time counted.
const STEPS_MAX: u64 = 1 << 14;

/// Number of times that it may look for each pod again in a simulation, of which there are many.
const SIMULATED: usize = 4;

/// Progress of a search.
#[derive(Clone, Default, Debug)]
pub(crate) enum Assignment {
    /// There was none.
    #[default]
    Fresh,
    /// It stopped.
    Stopped {
        /// The domain of each member, in the order in which they were placed; the one to try next for the last.
        path: Vec<usize>,
        tries: u64,
    },
    /// It found nothing.
    Over,
}

impl Assignment {
    /// Tells how far it is, where it stopped.
    pub(crate) fn progress(&self) -> Option<Progress> {
        let Self::Stopped { tries, .. } = self else { return None };
        Some(Progress::Packing { tries: *tries, tries_max: STEPS_MAX })
    }
}

/// Outcome of a search.
enum Assigned {
    Found,
    /// There is no way, or none was found in all the steps.
    Nothing,
    Stopped(Assignment),
}

/// Nodes for a member, and those of them that it rather has.
#[derive(Default)]
struct Domain {
    nodes: Option<IdSet<Rank>>,
    tiers: Option<Vec<IdSet<Rank>>>,
}

impl Domain {
    fn area(&self) -> Area<'_> {
        Area { nodes: self.nodes.as_ref(), tiers: self.tiers.as_deref() }
    }
}

/// A member that is to be placed, and those that come after it.
struct Todo {
    member: Member,
    domain: Rc<Domain>,
    /// True if the domain is one that its own constraint leaves.
    is_chosen: bool,
    rest: Option<Rc<Self>>,
}

/// A choice between domains.
struct Fork {
    todo: Rc<Todo>,
    /// Number of pods to place.
    pods: usize,
    split: Split,
    /// The one to try next.
    next: usize,
    /// Place in the log of what was tried before.
    mark: usize,
}

impl Fork {
    /// The member in the next domain, if there is one.
    fn choose(&mut self, state: &State) -> Option<Rc<Todo>> {
        let nodes = self.split.nodes(state, self.next)?;
        self.next += 1;
        let tiers = self.split.tiers.as_deref().or(self.todo.domain.tiers.as_deref());
        let tiers = tiers.map(|tiers| within(tiers, &nodes));
        Some(Rc::new(Todo {
            member: self.todo.member,
            domain: Rc::new(Domain { nodes: Some(nodes), tiers }),
            is_chosen: true,
            rest: self.todo.rest.clone(),
        }))
    }
}

impl Attempt<'_> {
    /// Places all pods, each member in any of the domains that its constraint leaves; says whether it did.
    ///
    /// # Cost
    /// At most 256 pods more than there are, five times as many as there are in a simulation; a choice costs the nodes of
    /// the topology.
    pub(super) fn assign(&mut self, trial: &mut Trial<'_>, nodes: Option<&IdSet<Rank>>) -> bool {
        if !self.is_worth_assigning(trial) || self.is_hopeless(trial) {
            return false;
        }
        let others = self.others.get_or_insert_default();
        let (path, tries) = match std::mem::replace(&mut others.assignment, Assignment::Over) {
            Assignment::Fresh => (Vec::new(), 0),
            Assignment::Stopped { path, tries } => (path, tries),
            Assignment::Over => return false,
        };
        let mut nested = trial.nested();
        match self.search_domains(&mut nested, nodes, path, tries) {
            Assigned::Found => {
                nested.keep();
                true
            }
            Assigned::Nothing => false,
            Assigned::Stopped(assignment) => {
                self.others.get_or_insert_default().assignment = assignment;
                false
            }
        }
    }

    /// Tells whether one member may be in the way of another.
    fn is_worth_assigning(&self, trial: &Trial<'_>) -> bool {
        let tree = &trial.groups()[self.group].tree;
        let mut leaves = self.pods.iter().map(|pod| trial.pods()[*pod].leaf);
        let first = leaves.next();
        leaves.any(|leaf| Some(leaf) != first) && !tree.is_free_below(Member::Set(0))
    }

    /// Tells whether counting shows that there is no way.
    fn is_hopeless(&self, trial: &mut Trial<'_>) -> bool {
        if capacity_bound::gpu_gap(trial, self.pods).is_some() {
            return true;
        }
        for pod in self.pods {
            let shape = trial.pods()[*pod].shape;
            trial.state().ensure_feasible(shape);
        }
        let index = &trial.nodes().index;
        let room = |shape, rank| capacity_bound::room_now(trial, shape, index.node(rank));
        domain_bound(trial, self.group, self.pods, room).is_some()
    }

    fn search_domains(
        &mut self,
        trial: &mut Trial<'_>,
        nodes: Option<&IdSet<Rank>>,
        path: Vec<usize>,
        mut tries: u64,
    ) -> Assigned {
        let mut path = path.into_iter();
        let mut forks: Vec<Fork> = Vec::new();
        let more = if self.mode == Mode::Real { STEPS } else { SIMULATED * self.pods.len() };
        let mut steps = self.pods.len() + more;
        let domain = Rc::new(Domain { nodes: nodes.cloned(), tiers: None });
        let root = Todo { member: Member::Set(0), domain, is_chosen: false, rest: None };
        let mut todo = Some(Rc::new(root));
        loop {
            match self.advance(trial, todo.take()) {
                Ok(None) => return Assigned::Found,
                Ok(Some(fork)) => forks.push(Fork { next: path.next().unwrap_or(0), ..fork }),
                Err(_) => path = Vec::new().into_iter(),
            }
            while todo.is_none() {
                let Some(fork) = forks.last_mut() else { return Assigned::Nothing };
                trial.rewind(fork.mark);
                if tries >= STEPS_MAX {
                    return Assigned::Nothing;
                }
                if steps == 0 {
                    return Assigned::Stopped(Assignment::Stopped { path: taken(&forks), tries });
                }
                let cost = fork.pods.max(1);
                todo = fork.choose(trial);
                if todo.is_none() {
                    forks.pop();
                } else {
                    steps = steps.saturating_sub(cost);
                    tries += cost as u64;
                }
            }
        }
    }

    /// Places members up to the next one that has a choice; none where all are placed.
    fn advance(
        &mut self,
        trial: &mut Trial<'_>,
        mut todo: Option<Rc<Todo>>,
    ) -> Result<Option<Fork>, Stuck> {
        while let Some(next) = todo {
            let tree = &trial.groups()[self.group].tree;
            let (sub_group, constraint) = tree.constraint(next.member);
            if let Some(constraint) = constraint.filter(|_| !next.is_chosen) {
                let leaves = tree.leaves_below(next.member);
                let taken = place::ranks_of(trial, self.group, &leaves);
                let pods = self.pods_of(&leaves);
                let together = Together { sub_group, constraint, pods: &pods, taken: &taken };
                let split = split(trial.state(), &together, next.domain.nodes.as_ref());
                let split = split.map_err(Stuck::Why)?;
                let mark = trial.mark();
                return Ok(Some(Fork { todo: next, pods: pods.len(), split, next: 0, mark }));
            }
            todo = match next.member {
                Member::Leaf(leaf) => {
                    self.seat(trial, leaf, &next.domain.area())?;
                    next.rest.clone()
                }
                Member::Set(set) => self.below(trial, set, &next),
            };
        }
        Ok(None)
    }

    /// The members of a set that have something to place, the hardest first, before what comes after the set.
    ///
    /// Sets that need not be together are passed through. Those that need a narrower level come first, as they have the
    /// least choice of what others leave; members that may be anywhere come last.
    fn below(&self, trial: &Trial<'_>, set: u16, todo: &Todo) -> Option<Rc<Todo>> {
        let tree = &trial.groups()[self.group].tree;
        let mut members = Vec::new();
        parts(tree, set, &mut members);
        let mut parts: Vec<(Member, Charge)> = Vec::new();
        for member in members {
            let pods = self.pods_of(&tree.leaves_below(member));
            if !pods.is_empty() {
                let ask =
                    pods.iter().fold(Charge::default(), |sum, pod| sum + trial.ask(*pod, None));
                parts.push((member, ask));
            }
        }
        parts.sort_by_key(|(member, ask)| {
            let size = (ask[QueueLane::Gpu], ask[QueueLane::Cpu]);
            (Reverse(narrowest(trial, tree, *member)), Reverse(size))
        });
        parts.into_iter().rev().fold(todo.rest.clone(), |rest, (member, _)| {
            let domain = Rc::clone(&todo.domain);
            Some(Rc::new(Todo { member, domain, is_chosen: false, rest }))
        })
    }
}

/// Lists the domain of each member, and the one to try next for the last.
fn taken(forks: &[Fork]) -> Vec<usize> {
    let last = forks.len().saturating_sub(1);
    (0..).zip(forks).map(|(at, fork)| fork.next - usize::from(at < last)).collect()
}

/// Counts the levels down to the narrowest one that a member or something below it has to be together in; 0 where it
/// may be anywhere.
fn narrowest(trial: &Trial<'_>, tree: &Tree, member: Member) -> usize {
    let depth = |Constraint { topology, required, .. }: Constraint| {
        let domains = trial.nodes().index.domains.get(topology)?.as_ref()?;
        domains.depth(required?.0, true).ok()
    };
    let own = tree.constraint(member).1.and_then(depth).unwrap_or(0);
    let members = match member {
        Member::Leaf(_) => &[],
        Member::Set(set) => &*tree.sets[usize::from(set)].members,
    };
    members.iter().map(|member| narrowest(trial, tree, *member)).fold(own, usize::max)
}

/// The leaves with pods, and the sets with pods that have to be together, below a set and no other such set.
fn parts(tree: &Tree, set: u16, found: &mut Vec<Member>) {
    for member in tree.walked(set) {
        match *member {
            Member::Set(inner) if tree.sets[usize::from(inner)].topology.is_none() => {
                parts(tree, inner, found);
            }
            Member::Set(_) | Member::Leaf(_) => found.push(*member),
        }
    }
}
