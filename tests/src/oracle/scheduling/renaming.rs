//! Nodes that only their names tell apart may be exchanged, one way for a whole case; domains as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;

/// Number of exchanges that are tried before a case is judged by the names as they stand.
const TRIES_MAX: usize = 50_000;

/// A bijection from the nodes of a case to its nodes: what an expectation calls `a` is `b` in our result.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    nodes: BTreeMap<String, String>,
    /// Per label, the same for its values.
    labels: BTreeMap<(String, String), String>,
}

impl Renaming {
    /// Our name for the node that an expectation calls `node`.
    pub fn node<'a>(&'a self, node: &'a str) -> &'a str {
        self.nodes.get(node).map_or(node, String::as_str)
    }

    /// Our value of `label` for what an expectation calls `value`.
    pub fn value<'a>(&'a self, label: &str, value: &'a str) -> &'a str {
        self.labels.get(&(label.to_owned(), value.to_owned())).map_or(value, String::as_str)
    }
}

/// The first renaming that `accepts`; the names as they stand come first.
pub fn find(case: &Case, mut accepts: impl FnMut(&Renaming) -> bool) -> Option<Renaming> {
    let identity = Renaming::default();
    if accepts(&identity) {
        return Some(identity);
    }
    let classes = classes(case);
    let members: Vec<&String> = classes.values().flatten().collect();
    let mut search = Search { case, classes: &classes, members: &members, tries: 0 };
    search.extend(&mut Vec::new(), &mut accepts)
}

/// Nodes that a tie of the case calls equal, by the least name among them.
fn classes(case: &Case) -> BTreeMap<String, BTreeSet<String>> {
    let mut root: BTreeMap<&str, &str> =
        case.nodes.iter().map(|node| (node.name.as_str(), node.name.as_str())).collect();
    for tie in &case.classification.ties {
        for pair in tie.equals.windows(2) {
            let (Some(&a), Some(&b)) = (root.get(pair[0].as_str()), root.get(pair[1].as_str()))
            else {
                continue;
            };
            for value in root.values_mut() {
                if *value == a.max(b) {
                    *value = a.min(b);
                }
            }
        }
    }
    let mut classes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (node, root) in root {
        classes.entry(root.to_owned()).or_default().insert(node.to_owned());
    }
    classes.retain(|_, nodes| nodes.len() > 1);
    classes
}

struct Search<'a> {
    case: &'a Case,
    classes: &'a BTreeMap<String, BTreeSet<String>>,
    members: &'a [&'a String],
    tries: usize,
}

impl Search<'_> {
    fn extend(
        &mut self,
        chosen: &mut Vec<String>,
        accepts: &mut impl FnMut(&Renaming) -> bool,
    ) -> Option<Renaming> {
        if self.tries == TRIES_MAX {
            return None;
        }
        let Some(next) = self.members.get(chosen.len()) else {
            self.tries += 1;
            let renaming = self.renaming(chosen)?;
            return accepts(&renaming).then_some(renaming);
        };
        let class = self.classes.values().find(|class| class.contains(*next))?;
        for target in class {
            if !chosen.contains(target) {
                chosen.push(target.clone());
                let found = self.renaming(chosen).and_then(|_| self.extend(chosen, accepts));
                chosen.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// The renaming so far, if it exchanges topology domains as a whole.
    fn renaming(&self, chosen: &[String]) -> Option<Renaming> {
        let mut renaming = Renaming::default();
        for (from, to) in self.members.iter().zip(chosen) {
            renaming.nodes.insert((*from).clone(), to.clone());
        }
        let mut back = BTreeMap::new();
        let levels = self.case.topologies.iter().flat_map(|topology| &topology.levels);
        let labels: BTreeSet<&String> = levels.map(|level| &level.label).collect();
        let fixed = self
            .case
            .nodes
            .iter()
            .map(|node| &node.name)
            .filter(|name| !self.members.contains(name));
        for from in self.members.iter().take(chosen.len()).copied().chain(fixed) {
            for label in &labels {
                let value = |name: &str| {
                    let node = self.case.nodes.iter().find(|node| node.name == name)?;
                    node.labels.get(*label)
                };
                let (Some(old), Some(new)) = (value(from), value(renaming.node(from))) else {
                    continue;
                };
                let key = ((*label).clone(), old.clone());
                if renaming.labels.insert(key, new.clone()).is_some_and(|other| other != *new) {
                    return None;
                }
                if back
                    .insert(((*label).clone(), new.clone()), old.clone())
                    .is_some_and(|other| other != *old)
                {
                    return None;
                }
            }
        }
        Some(renaming)
    }
}
