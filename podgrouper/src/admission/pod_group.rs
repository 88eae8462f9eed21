//! `PodGroup`s that are refused: sub-groups that make no tree, and minimums that can't be counted.

use std::collections::{BTreeMap, BTreeSet};

use kai_api::pod_group::{CONSTRAINED_SUB_GROUPS_MAX, SUB_GROUP_DEPTH_MAX, SUB_GROUPS_MAX};
use serde_json::Value;

use super::{Denial, Judgement};

/// Number of errors that a message carries; a group may have as many sub-groups as an object holds.
const ERRORS_MAX: usize = 10;

/// A sub-group as its tree is checked.
struct Part<'a> {
    name: &'a str,
    parent: Option<&'a str>,
    has_min_member: bool,
    min_sub_group: Option<i64>,
    is_constrained: bool,
}

/// Judges a `PodGroup`. One that is there already (`is_update`) may keep a minimum of pods on a sub-group with children,
/// which gives a warning.
///
/// # Source
/// docs/contract.md 3.8. The tree is checked before the minimums, sub-groups are in name order, and all wrong minimums are
/// in one message.
pub(super) fn validate(group: &Value, is_update: bool) -> Judgement {
    let spec = &group["spec"];
    let rows = spec["subGroups"].as_array().map_or(&[][..], Vec::as_slice);
    let parts: Vec<Part<'_>> = rows.iter().map(part).collect();
    let wrong = match tree(&parts) {
        Ok(children) => {
            let mut minimums = Minimums { is_update, warnings: Vec::new(), errors: Vec::new() };
            minimums.check(spec, &parts, &children);
            if minimums.errors.is_empty() {
                return Judgement { warnings: minimums.warnings, denial: None };
            }
            let more = minimums.errors.len().saturating_sub(ERRORS_MAX);
            minimums.errors.truncate(ERRORS_MAX);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            format!("{}{more}", minimums.errors.join("; "))
        }
        Err(wrong) => wrong,
    };
    let name = group["metadata"]["name"].as_str().unwrap_or_default();
    Judgement { warnings: Vec::new(), denial: Some(Denial(format!("PodGroup {name}: {wrong}"))) }
}

fn part(row: &Value) -> Part<'_> {
    Part {
        name: row["name"].as_str().unwrap_or_default(),
        parent: row["parent"].as_str().filter(|parent| !parent.is_empty()),
        has_min_member: !row["minMember"].is_null(),
        min_sub_group: row["minSubGroup"].as_i64(),
        is_constrained: row["topologyConstraint"]["topology"]
            .as_str()
            .is_some_and(|name| !name.is_empty()),
    }
}

/// Counts the children of each sub-group; those directly below the group are counted under the empty name.
fn tree<'a>(parts: &[Part<'a>]) -> Result<BTreeMap<&'a str, i64>, String> {
    if parts.len() > SUB_GROUPS_MAX {
        return Err(format!(
            "{} subgroups are more than a PodGroup may have: {SUB_GROUPS_MAX}",
            parts.len()
        ));
    }
    let constrained = parts.iter().filter(|part| part.is_constrained).count();
    if constrained > CONSTRAINED_SUB_GROUPS_MAX {
        return Err(format!(
            "{constrained} subgroups with a topology constraint are more than a PodGroup may have: \
             {CONSTRAINED_SUB_GROUPS_MAX}; put the constraint on a subgroup above them, or on the PodGroup"
        ));
    }
    let mut parents: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for part in parts {
        if parents.insert(part.name, part.parent).is_some() {
            twice.insert(part.name);
        }
    }
    if let Some(name) = twice.first() {
        return Err(format!("duplicate subgroup name {name}: names must be unique in a PodGroup"));
    }
    let mut children: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, parent) in &parents {
        if let Some(parent) = parent.filter(|parent| !parents.contains_key(parent)) {
            return Err(format!(
                "parent {parent} of {name} was not found: add a subgroup of that name, or correct it"
            ));
        }
        *children.entry(parent.unwrap_or_default()).or_default() += 1;
    }
    // From each sub-group up to the group; what was walked once need not be walked again.
    let mut rooted = BTreeSet::new();
    for name in parents.keys() {
        let mut way = BTreeSet::new();
        let mut at = Some(*name);
        while let Some(name) = at.filter(|name| !rooted.contains(name)) {
            if !way.insert(name) {
                return Err(format!(
                    "cycle detected in subgroups: {name} is above itself; one of them must have no parent"
                ));
            }
            at = parents.get(name).copied().flatten();
        }
        rooted.extend(way);
    }
    for name in parents.keys() {
        let above = |name: &&str| parents.get(name).copied().flatten();
        let mut way = std::iter::successors(Some(*name), above);
        if way.nth(SUB_GROUP_DEPTH_MAX).is_some() {
            return Err(format!(
                "subgroup {name} is below more than {SUB_GROUP_DEPTH_MAX} subgroups with itself: put it \
                 below fewer"
            ));
        }
    }
    Ok(children)
}

/// Findings on the minimums.
struct Minimums {
    is_update: bool,
    warnings: Vec<String>,
    errors: Vec<String>,
}

impl Minimums {
    fn check(&mut self, spec: &Value, parts: &[Part<'_>], children: &BTreeMap<&str, i64>) {
        let count = |name: &str| children.get(name).copied().unwrap_or_default();
        if !spec["minMember"].is_null() && !spec["minSubGroup"].is_null() {
            self.errors.push(
                "minMember and minSubGroup are mutually exclusive: set minSubGroup where there are subgroups, else \
                 minMember"
                    .to_owned(),
            );
        }
        self.compare("", spec["minSubGroup"].as_i64(), count(""));
        let mut sorted: Vec<&Part<'_>> = parts.iter().collect();
        sorted.sort_by_key(|part| part.name);
        for part in sorted {
            self.check_part(part, count(part.name));
        }
    }

    fn check_part(&mut self, part: &Part<'_>, children: i64) {
        let name = part.name;
        let (has_pods, has_groups) = (part.has_min_member, part.min_sub_group.is_some());
        if has_pods && has_groups {
            self.errors
                .push(format!("subgroup {name}: minMember and minSubGroup are mutually exclusive"));
        } else if children == 0 && has_groups {
            self.errors.push(format!(
                "subgroup {name}: minSubGroup is only for subgroups with children; set minMember"
            ));
        } else if children == 0 && !has_pods {
            self.errors.push(format!("subgroup {name}: minMember is required"));
        } else if children > 0 && has_pods {
            let what = format!(
                "subgroup {name}: minMember has no meaning on a subgroup with children; set minSubGroup"
            );
            if self.is_update { self.warnings.push(what) } else { self.errors.push(what) }
        }
        self.compare(&format!("subgroup {name}: "), part.min_sub_group, children);
    }

    /// Warns where more children are wanted than there are.
    fn compare(&mut self, place: &str, min: Option<i64>, children: i64) {
        if let Some(min) = min.filter(|min| *min > children) {
            self.warnings.push(format!(
                "{place}minSubGroup ({min}) exceeds the number of direct child SubGroups ({children})"
            ));
        }
    }
}
