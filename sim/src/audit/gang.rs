//! S4: a gang is bound as a whole or not at all; S11: in the domain that it requires.

use std::collections::BTreeSet;

use kai_engine::{
    Change, Constraint, GroupId, Min, Owner, Plan, Pod, PodId, PodState, Structure, Symbol,
};

use super::After;

pub(super) fn audit(after: &After<'_>, plan: &Plan) -> Vec<String> {
    let mut groups = BTreeSet::new();
    for change in &plan.changes {
        if let Change::Place { pod, .. } = change
            && let Some(pod) = after.facts.pods.get(pod)
            && let Owner::Group(group) = pod.owner
        {
            groups.insert(group);
        }
    }
    let mut findings = Vec::new();
    for group in groups {
        let name = after.names.of_group(group);
        // A pod that is moved by the same plan is promised a place, and back in the next.
        let moved = plan.changes.iter().any(|change| match change {
            Change::Evict { pod, .. } => after.pod(*pod).owner == Owner::Group(group),
            Change::Place { .. } | Change::Nominate { .. } => false,
        });
        if !satisfied(after, group, moved) {
            findings.push(format!("S4: {name} is bound below its minimum"));
        }
        findings.extend(domains(after, group));
    }
    findings
}

/// Tells whether enough pods of `group` are there to stay.
pub(super) fn satisfied(after: &After<'_>, group: GroupId, promised: bool) -> bool {
    let Some(facts) = after.facts.groups.get(&group) else { return false };
    let staying = after.staying(group, promised);
    // What has ended well did its part: a gang that completes needs the others only.
    let ended =
        after.facts.pods.iter().filter(|(_, pod)| {
            pod.owner == Owner::Group(group) && pod.state == PodState::Succeeded
        });
    let members: Vec<_> =
        staying.iter().map(|(pod, _)| *pod).chain(ended.map(|(pod, _)| *pod)).collect();
    let count = |sub_group: Option<Symbol>| {
        let belongs = |pod| sub_group.is_none_or(|name| after.pod(pod).sub_group == name);
        members.iter().filter(|pod| belongs(**pod)).count()
    };
    match &facts.structure {
        Structure::Malformed => false,
        Structure::Flat { min, .. } => count(None) >= *min as usize,
        Structure::Tree { min, sub_groups, .. } => {
            let mut fine = vec![None; sub_groups.len()];
            // A parent may come before or after its members; as many passes as there are levels settle all.
            for _ in 0..sub_groups.len() {
                for (row, sub_group) in sub_groups.iter().enumerate() {
                    fine[row] = match sub_group.min {
                        Min::Pods(min) => Some(count(Some(sub_group.name)) >= min as usize),
                        Min::Members(needed) => enough(sub_groups, &fine, Some(row), needed),
                    };
                }
            }
            enough(sub_groups, &fine, None, *min).unwrap_or(false)
        }
    }
}

/// Tells whether a part of `group` was below its minimum before the plan because pods of it ended well while others went
/// on, and the plan does not place others.
pub(super) fn was_completing(after: &After<'_>, group: GroupId) -> bool {
    let below = |name: Option<Symbol>, min: u32| {
        let of = |(_, pod): &(&PodId, &Pod)| {
            pod.owner == Owner::Group(group) && name.is_none_or(|name| pod.sub_group == name)
        };
        let holds =
            |(id, pod): &(&PodId, &Pod)| pod.state.place().is_some() || after.placed.contains(id);
        let there = after.facts.pods.iter().filter(of).filter(holds).count();
        let mut pods = after.facts.pods.iter().filter(of);
        pods.any(|(_, pod)| pod.state == PodState::Succeeded) && (1..min as usize).contains(&there)
    };
    match &after.facts.groups[&group].structure {
        Structure::Flat { min, .. } => below(None, *min),
        Structure::Tree { sub_groups, .. } => sub_groups.iter().any(|one| match one.min {
            Min::Pods(min) => below(Some(one.name), min),
            Min::Members(_) => false,
        }),
        Structure::Malformed => false,
    }
}

/// Tells whether enough of what lies right below `parent` is satisfied; none while that is not known.
fn enough(
    sub_groups: &[kai_engine::SubGroup],
    fine: &[Option<bool>],
    parent: Option<usize>,
    needed: Option<u32>,
) -> Option<bool> {
    let below: Vec<Option<bool>> = sub_groups
        .iter()
        .zip(fine)
        .filter(|(sub_group, _)| sub_group.parent.map(usize::from) == parent)
        .map(|(_, fine)| *fine)
        .collect();
    let known: Vec<bool> = below.iter().copied().collect::<Option<_>>()?;
    let satisfied = known.iter().filter(|fine| **fine).count();
    Some(satisfied >= needed.map_or(known.len(), |needed| needed as usize))
}

/// S11: pods of a set that requires a level sit in one domain of it, those that ran before left aside.
fn domains(after: &After<'_>, group: GroupId) -> Vec<String> {
    let facts = &after.facts.groups[&group];
    let mut findings = Vec::new();
    let mut check = |constraint: &Option<Constraint>, sub_group: Option<Symbol>| {
        let Some(level) = constraint.and_then(|constraint| constraint.required) else { return };
        let values: BTreeSet<_> = after
            .staying(group, false)
            .into_iter()
            .filter(|(pod, _)| after.placed.contains(pod))
            .filter(|(pod, _)| sub_group.is_none_or(|name| after.pod(*pod).sub_group == name))
            .map(|(_, spot)| {
                let labels = &after.facts.nodes[&spot.node].labels;
                labels.iter().find(|label| label.key == level.0).map(|label| label.value)
            })
            .collect();
        if values.len() > 1 || values.contains(&None) {
            findings.push(format!("S11: {} is spread over domains", after.names.of_group(group)));
        }
    };
    match &facts.structure {
        Structure::Flat { topology, .. } => check(topology, None),
        Structure::Tree { topology, sub_groups, .. } => {
            check(topology, None);
            for sub_group in sub_groups {
                if matches!(sub_group.min, Min::Pods(_)) {
                    check(&sub_group.topology, Some(sub_group.name));
                }
            }
        }
        Structure::Malformed => {}
    }
    findings
}
