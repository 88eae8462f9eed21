//! Sub-groups of a `PodGroup`, as a tree.

use std::collections::HashMap;

use kai_api::{
    names::value,
    pod_group::{
        CONSTRAINED_SUB_GROUPS_MAX, LABEL_KEY_BYTES_MAX, OBJECT_NAME_BYTES_MAX,
        SUB_GROUP_DEPTH_MAX, SUB_GROUP_NAME_BYTES_MAX, SUB_GROUPS_MAX,
    },
};
use kai_engine::{Constraint, Min, Structure, SubGroup, Symbol};

use super::{Levels, Spec, WireSubGroup};
use crate::{ingest::Context, names::Names};

fn constraint(context: &mut Context, levels: Option<&Levels<'_>>) -> Option<Constraint> {
    let levels = levels.filter(|levels| !levels.topology.is_empty())?;
    let wanted = [&*levels.required_topology_level, &*levels.preferred_topology_level];
    Some(context.names.constraint(&levels.topology, wanted))
}

/// The symbol of a sub-group of this name that holds pods. The one that pods belong to which name none, or this one, is told
/// without a name, as the only one of a group without sub-groups is.
pub(in crate::ingest) fn sub_group(names: &mut Names, name: &str) -> Symbol {
    if name == value::DEFAULT_SUBGROUP { Symbol::EMPTY } else { names.symbol(name) }
}

/// Tells whether a name could be none of an object or a label: it would only take memory.
fn is_too_long(levels: Option<&Levels<'_>>) -> bool {
    levels.is_some_and(|levels| {
        let keys = [&levels.required_topology_level, &levels.preferred_topology_level];
        levels.topology.len() > OBJECT_NAME_BYTES_MAX
            || keys.iter().any(|key| key.len() > LABEL_KEY_BYTES_MAX)
    })
}

/// Source: docs/behaviour.md 1.6; a broken tree is told as such, not replaced (Q3).
pub(super) fn structure(context: &mut Context, spec: &Spec<'_>) -> Structure {
    let sub_groups = || spec.sub_groups.iter();
    if is_too_long(spec.topology_constraint.as_ref())
        || sub_groups().any(|one| is_too_long(one.topology_constraint.as_ref()))
        || sub_groups().any(|one| one.name.len() > SUB_GROUP_NAME_BYTES_MAX)
    {
        return Structure::Malformed;
    }
    let topology = constraint(context, spec.topology_constraint.as_ref());
    if spec.sub_groups.is_empty() {
        // The one set of pods there is can't be two: KAI waits for ever (Q45).
        if spec.min_sub_group.is_some_and(|min| min > 1) {
            return Structure::Malformed;
        }
        return Structure::Flat { min: spec.min_member.map_or(1, count), topology };
    }
    let levels = sub_groups().filter_map(|one| one.topology_constraint.as_ref());
    let together = levels.filter(|levels| !levels.topology.is_empty()).count();
    if spec.sub_groups.len() > SUB_GROUPS_MAX || together > CONSTRAINED_SUB_GROUPS_MAX {
        return Structure::Malformed;
    }
    let mut sorted: Vec<&WireSubGroup<'_>> = spec.sub_groups.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let mut places: HashMap<String, u16> = HashMap::with_capacity(sorted.len());
    for (place, wire) in (0_u16..).zip(&sorted) {
        if places.insert(wire.name.to_string(), place).is_some() {
            return Structure::Malformed;
        }
    }
    let Some(parents) = parents(&sorted, &places) else { return Structure::Malformed };
    let mut is_inner = vec![false; sorted.len()];
    for parent in parents.iter().flatten() {
        is_inner[usize::from(*parent)] = true;
    }
    let mut sub_groups = Vec::with_capacity(sorted.len());
    for (place, wire) in (0_u16..).zip(&sorted) {
        let is_inner = is_inner[usize::from(place)];
        sub_groups.push(SubGroup {
            name: if is_inner {
                context.names.symbol(&wire.name)
            } else {
                sub_group(&mut context.names, &wire.name)
            },
            parent: parents[usize::from(place)],
            min: if is_inner {
                Min::Members(wire.min_sub_group.map(count))
            } else {
                Min::Pods(wire.min_member.map_or(0, count))
            },
            topology: constraint(context, wire.topology_constraint.as_ref()),
        });
    }
    Structure::Tree { min: spec.min_sub_group.map(count), topology, sub_groups }
}

/// The place of each sub-group's parent; none where a parent is unknown, parents form a ring, or are too many above each
/// other.
fn parents(
    sorted: &[&WireSubGroup<'_>],
    places: &HashMap<String, u16>,
) -> Option<Vec<Option<u16>>> {
    let mut parents = Vec::with_capacity(sorted.len());
    for wire in sorted {
        match wire.parent.as_ref().filter(|parent| !parent.is_empty()) {
            None => parents.push(None),
            // KAI lowers the case of the reference, and of it only.
            Some(parent) => parents.push(Some(*places.get(&parent.to_lowercase())?)),
        }
    }
    for place in 0..parents.len() {
        let above = |at: &usize| parents[*at].map(usize::from);
        let mut walk = std::iter::successors(Some(place), above);
        if walk.nth(SUB_GROUP_DEPTH_MAX).is_some() {
            return None;
        }
    }
    Some(parents)
}

fn count(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}
