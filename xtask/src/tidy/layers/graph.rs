//! The members of one folder and the arrows between them.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Modules, Path};

/// An import that leads from one member of a folder to another.
#[derive(Clone)]
pub(super) struct Arrow {
    pub(super) from: String,
    pub(super) to: String,
    /// The first place where it stands, `file:line`.
    pub(super) at: String,
}

/// The members of a folder: its files, and its folders with all that is in them.
pub(super) struct Graph {
    members: BTreeSet<String>,
    arrows: BTreeMap<(String, String), Arrow>,
}

impl Graph {
    /// The graph of a folder of a crate.
    pub(super) fn of(folder: &Path, modules: &Modules) -> Self {
        let member = |path: &Path| {
            path.strip_prefix(folder.as_slice()).and_then(|below| below.first()).cloned()
        };
        let members: BTreeSet<String> = modules.paths().filter_map(member).collect();
        let mut arrows = BTreeMap::new();
        for edge in modules.edges() {
            let (Some(from), Some(to)) = (member(edge.from), member(&edge.to)) else { continue };
            if from != to {
                let arrow = Arrow { from: from.clone(), to: to.clone(), at: edge.at };
                arrows.entry((from, to)).or_insert(arrow);
            }
        }
        Self { members, arrows }
    }

    /// The names of the members, sorted.
    pub(super) fn members(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(String::as_str)
    }

    /// The arrows, sorted by their ends.
    pub(super) fn arrows(&self) -> impl Iterator<Item = &Arrow> {
        self.arrows.values()
    }

    /// A shortest circle as a text, with the place of each arrow; `None` where there is none.
    pub(super) fn circle(&self) -> Option<String> {
        let circles = self.members().filter_map(|start| self.way_back(start));
        let shortest = circles.min_by_key(Vec::len)?;
        let start = shortest.first()?.from.as_str();
        let steps = shortest.iter().map(|arrow| format!(" -> {} ({})", arrow.to, arrow.at));
        Some(std::iter::once(start.to_owned()).chain(steps).collect())
    }

    /// The fewest arrows that lead from a member to itself, by a search in width.
    fn way_back(&self, start: &str) -> Option<Vec<&Arrow>> {
        let mut reached = BTreeSet::new();
        let mut ways: Vec<Vec<&Arrow>> = vec![Vec::new()];
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in &ways {
                let at = way.last().map_or(start, |arrow| arrow.to.as_str());
                for arrow in self.arrows().filter(|arrow| arrow.from == at) {
                    let next = [way.as_slice(), &[arrow]].concat();
                    if arrow.to == start {
                        return Some(next);
                    }
                    if reached.insert(arrow.to.as_str()) {
                        longer.push(next);
                    }
                }
            }
            ways = longer;
        }
        None
    }
}
