//! Counts the pods that a `PodGroup` starts with, and those that it has when all its subgroups are there. Pure.

use std::collections::BTreeMap;

use kai_api::pod_group::SUB_GROUP_DEPTH_MAX;
use serde_json::Value;

use crate::cluster::json::text;

/// Returns how many pods a group needs when all its subgroups are there; those that count subgroups say it in their leaves.
pub(super) fn all(group: &Value) -> u64 {
    let leaves = subgroups(group).iter().filter_map(|row| row["minMember"].as_u64());
    let own = group["spec"]["minMember"].as_u64();
    own.unwrap_or_else(|| leaves.fold(0, u64::saturating_add))
}

/// Returns how many pods of a group start together at the least: those of as many of its subgroups as it needs, of which
/// the smallest are taken.
///
/// Cost: linear in the subgroups, whatever stands there.
///
/// # Source
/// docs/contract.md 1.3.
pub(super) fn least(group: &Value) -> u64 {
    let spec = &group["spec"];
    let rows = subgroups(group);
    if rows.is_empty() {
        return spec["minMember"].as_u64().unwrap_or(1);
    }
    let mut tree = Tree { children: BTreeMap::new() };
    for row in rows {
        tree.children.entry(text(&row["parent"])).or_default().push(row);
    }
    tree.least("", &spec["minSubGroup"], SUB_GROUP_DEPTH_MAX)
}

fn subgroups(group: &Value) -> &[Value] {
    group["spec"]["subGroups"].as_array().map_or(&[], Vec::as_slice)
}

/// Subgroups by the name of the one above them; what is directly below the group has an empty one.
struct Tree<'g> {
    children: BTreeMap<&'g str, Vec<&'g Value>>,
}

impl Tree<'_> {
    /// Counts below a subgroup. Its children are taken, so that names that stand there twice, or in a circle, count once.
    fn least(&mut self, name: &str, min: &Value, depth_left: usize) -> u64 {
        let Some(depth_left) = depth_left.checked_sub(1) else { return 0 };
        let rows = self.children.remove(name).unwrap_or_default();
        let mut each: Vec<u64> = Vec::with_capacity(rows.len());
        for row in rows {
            each.push(match row["minMember"].as_u64() {
                Some(pods) => pods,
                None => self.least(text(&row["name"]), &row["minSubGroup"], depth_left),
            });
        }
        each.sort_unstable();
        let needed = min.as_u64().and_then(|min| usize::try_from(min).ok());
        each.into_iter().take(needed.unwrap_or(usize::MAX)).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says how many pods a group has when all is there, and how many it starts with.
    fn check(spec: &str, expect: [u64; 2]) {
        let group: Value = serde_saphyr::from_str(&format!("spec: {{{spec}}}")).expect("YAML");
        assert_eq!([all(&group), least(&group)], expect, "{spec}");
    }

    #[test]
    fn a_group_starts_with_as_many_subgroups_as_it_needs() {
        check("", [0, 1]);
        check("minMember: 4", [4, 4]);
        check(
            "minMember: 9, subGroups: [{name: a, minMember: 1}, {name: b, minMember: 3}]",
            [9, 4],
        );
        let jobs = "subGroups: [{name: a, minSubGroup: 2}, {name: a-0, parent: a, minMember: 3}, {name: a-1, parent: a, minMember: 3}, {name: b}, {name: b-0, parent: b, minMember: 1}]";
        check(jobs, [7, 7]);
        check(&format!("minSubGroup: 2, {jobs}"), [7, 7]);
        check(&format!("minSubGroup: 1, {jobs}"), [7, 1]);
        check(&format!("minSubGroup: 9, {jobs}"), [7, 7]);
    }

    #[test]
    fn what_makes_no_tree_ends() {
        check("subGroups: [{name: a, parent: b}, {name: b, parent: a}]", [0, 0]);
        check("subGroups: [{name: ''}, {name: ''}]", [0, 0]);
        let chain = |at: usize| format!("{{name: s{}, parent: s{at}}}", at + 1);
        let chain: Vec<String> = (0..1000).map(chain).collect();
        let more = "{name: s0}, {name: s1000-0, parent: s1000, minMember: 1}";
        check(&format!("subGroups: [{more}, {}]", chain.join(", ")), [1, 0]);
    }
}
