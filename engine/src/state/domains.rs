//! Topology domains: where a gang fits together.
//!
//! The nodes that carry all labels of a topology hang in a tree of domains, one level per label. `place::split`
//! chooses among them.
//!
//! # Source
//! docs/behaviour.md 11.

use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{Column, DomainId, Rank, Symbol},
    },
    decided::plan::domain::DomainProblem,
};

/// The domains of one topology. Row 0 is the whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Domains {
    pub(crate) levels: Vec<Symbol>,
    pub(crate) rows: Column<DomainId, Domain>,
}

/// One domain, for example a rack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Domain {
    /// Number of levels above it, 0 for the whole.
    pub(crate) depth: usize,
    /// The label of its nodes at its level, and the domain above; neither for the whole.
    pub(crate) label: Symbol,
    pub(crate) up: Option<DomainId>,
    pub(crate) nodes: IdSet<Rank>,
    /// By how their labels are written, then by the name of their first node.
    pub(crate) children: Vec<DomainId>,
}

impl Domains {
    /// Hangs the nodes of a topology, by name, into a tree.
    ///
    /// Siblings have the same labels above them, so that their own order them as the whole path would.
    pub(crate) fn new(
        levels: &[Symbol],
        nodes: impl Iterator<Item = (Rank, Vec<Option<Symbol>>)>,
        spellings: &BTreeMap<Symbol, Box<[u8]>>,
    ) -> Self {
        let whole = Domain {
            depth: 0,
            label: Symbol::EMPTY,
            up: None,
            nodes: IdSet::default(),
            children: Vec::new(),
        };
        let mut domains = Self { levels: levels.to_vec(), rows: [whole].into_iter().collect() };
        let mut by_path: BTreeMap<Vec<Symbol>, DomainId> = BTreeMap::new();
        for (rank, labels) in nodes {
            let Some(path) = labels.into_iter().collect::<Option<Vec<Symbol>>>() else { continue };
            let mut at = DomainId::new(0);
            domains.rows[at].nodes.insert(rank);
            for depth in 1..=path.len() {
                at = *by_path.entry(path[..depth].to_vec()).or_insert_with(|| {
                    let id = domains.rows.push(Domain {
                        depth,
                        label: path[depth - 1],
                        up: Some(at),
                        nodes: IdSet::default(),
                        children: Vec::new(),
                    });
                    domains.rows[at].children.push(id);
                    id
                });
                domains.rows[at].nodes.insert(rank);
            }
        }
        for id in domains.rows.ids() {
            let mut children = std::mem::take(&mut domains.rows[id].children);
            children.sort_by_key(|child| spellings.get(&domains.rows[*child].label));
            domains.rows[id].children = children;
        }
        domains
    }

    /// The nodes of every domain of a level; nothing where there is no such level.
    pub(crate) fn of_level(&self, level: Symbol) -> Option<impl Iterator<Item = &IdSet<Rank>>> {
        let depth = self.depth(level, true).ok()?;
        let rows = self.rows.iter().filter(move |(_, domain)| domain.depth == depth);
        Some(rows.map(|(_, domain)| &domain.nodes))
    }

    /// The labels of a domain from the widest level down; none for the whole.
    pub(crate) fn path(&self, id: DomainId) -> Box<[Symbol]> {
        let mut path = Vec::with_capacity(self.rows[id].depth);
        let mut at = Some(id);
        while let Some(domain) = at.map(|at| &self.rows[at]).filter(|domain| domain.depth > 0) {
            path.push(domain.label);
            at = domain.up;
        }
        path.reverse();
        path.into()
    }

    /// Counts the levels down to one, the widest being 1.
    pub(crate) fn depth(&self, level: Symbol, required: bool) -> Result<usize, DomainProblem> {
        let at = self.levels.iter().position(|other| *other == level);
        at.map(|at| at + 1).ok_or(DomainProblem::NoLevel { level, required })
    }

    /// The deepest domain that holds all of these nodes, not deeper than `depth`.
    pub(crate) fn around(&self, nodes: &IdSet<Rank>, depth: usize) -> DomainId {
        let mut at = DomainId::new(0);
        while self.rows[at].depth < depth {
            let holds = |id: &&DomainId| self.rows[**id].nodes.common_len(nodes) == nodes.len();
            match self.rows[at].children.iter().find(holds) {
                Some(child) => at = *child,
                None => break,
            }
        }
        at
    }

    /// The domains of a depth that hold some of these nodes.
    pub(crate) fn around_each(&self, nodes: &IdSet<Rank>, depth: usize) -> Vec<DomainId> {
        let holds = |id: &DomainId| self.rows[*id].nodes.common(nodes).next().is_some();
        self.rows.ids().filter(|id| self.rows[*id].depth == depth).filter(holds).collect()
    }
}
