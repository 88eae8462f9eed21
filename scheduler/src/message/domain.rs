//! Says why no domain of a topology takes a group.

use kai_engine::{DomainProblem, DomainRoom, NoDomain, Room};

use super::{Error, misfit};
use crate::names::{Names, Number};

/// An error for each domain that was looked at, and one for the constraint.
///
/// # Source
/// docs/behaviour.md 11.3, steps 1, 5, 9 and 10. A job is named in angle brackets, as KAI's tables show it.
pub(super) fn errors(no_domain: &NoDomain, group: u32, names: &Names) -> Vec<Error> {
    let topology = names.topologies.key(no_domain.topology.number());
    let sub_group = names.text(no_domain.sub_group);
    let whose = match sub_group {
        "" => String::from("workload"),
        sub_group => format!("sub-group {sub_group}"),
    };
    let error = |message| Error::scheduling(message).of(sub_group);
    let only = |message| vec![error(message)];
    let of = if sub_group.is_empty() { String::new() } else { format!(", subgroup {sub_group}") };
    let job = names.groups.key(group);
    let unmet = |level| {
        format!(
            "topology {topology}, requirement {level} couldn't be satisfied for job <{job}>{of}"
        )
    };
    let (level, whole, rooms, domains, pods) = match &no_domain.problem {
        DomainProblem::NoTopology => {
            return only(format!("Requested topology {topology} does not exist"));
        }
        DomainProblem::NoLevel { level, required } => {
            let kind = if *required { "required" } else { "preferred" };
            let level = names.text(*level);
            return only(format!(
                "topology constraint error: {whose} specified '{level}' as the {kind} topology \
                 constraint level, but the topology tree '{topology}' does not contain a level with \
                 this name"
            ));
        }
        DomainProblem::NeitherLevel => {
            return only(format!(
                "topology constraint error: {whose} specified topology '{topology}' and neither a \
                 required nor a preferred level of it"
            ));
        }
        DomainProblem::LevelsReversed => {
            return only(format!(
                "topology constraint error: {whose} specified a preferred level of topology \
                 '{topology}' that is wider than the required one"
            ));
        }
        DomainProblem::Outside { level } => {
            // Growth stays with what runs: nothing else was looked at.
            let unmet = unmet(names.text(*level));
            return only(format!("{unmet}: its pods that run are in no node-group of this level"));
        }
        DomainProblem::NoFit { level, whole, rooms, domains, pods, .. } => {
            (level, whole, rooms, *domains as usize, *pods)
        }
    };
    let unmet = unmet(level.map_or("", |level| names.text(level)));
    if let Some(whole) = whole {
        let place = if whole.is_empty() { String::from("the cluster") } else { id(whole, names) };
        return only(format!("{unmet}: not enough resources in {place} to allocate the job"));
    }
    let of_domain = |room| {
        let (id, message) = short(room, pods, names);
        Error { label: format!("<{id}>: "), ..Error::scheduling(message) }.of(sub_group)
    };
    let mut errors: Vec<Error> = rooms.iter().map(of_domain).collect();
    let more = domains.saturating_sub(rooms.len());
    if more > 0 {
        errors.push(error(format!("{more} node-groups more have too little as well")));
    }
    errors.push(error(unmet));
    errors
}

/// The id of a domain: the labels of its nodes from the widest level down.
fn id(path: &[kai_engine::Symbol], names: &Names) -> String {
    let parts: Vec<&str> = path.iter().map(|label| names.text(*label)).collect();
    parts.join(".")
}

/// A domain's id, and what it lacks.
fn short(domain: &DomainRoom, pods: u32, names: &Names) -> (String, String) {
    let id = id(&domain.path, names);
    let message = match domain.room {
        Room::Pods(room) => {
            format!("node-group {id} can allocate only {room} of {pods} required pods")
        }
        Room::Short(lane) => {
            let words = misfit::short(lane, names);
            match words.strip_prefix("node(s)") {
                Some(what) => format!("node-group {id}{what}"),
                None => format!("node-group {id}: {words}"),
            }
        }
    };
    (id, message)
}
