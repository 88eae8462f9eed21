//! Says why no domain of a topology takes a group, in one clause.

use kai_engine::{DomainProblem, NoDomain, Symbol};

use super::{Asked, Reason, gpus, kept, pods, whose};
use crate::message::thousandths;
use crate::names::Number;

/// The reason of a group that no domain takes.
pub(super) fn reason(no_domain: &NoDomain, asked: Asked<'_>) -> Reason {
    let names = asked.names;
    let topology = names.topologies.key(no_domain.topology.number());
    let whose = whose(no_domain.sub_group, names);
    let text = |symbol: Symbol| names.text(symbol);
    let topology_is_wrong = |what: String| Reason::new(1206, "Topology", what).never();
    match &no_domain.problem {
        DomainProblem::NoTopology => {
            topology_is_wrong(format!("{whose} names topology {topology}, which does not exist"))
        }
        DomainProblem::NoLevel { level, .. } => topology_is_wrong(format!(
            "{whose} names level {} of topology {topology}, which has no such level",
            text(*level)
        )),
        DomainProblem::NeitherLevel => topology_is_wrong(format!(
            "{whose} names topology {topology}, and neither a required nor a preferred level of it"
        )),
        DomainProblem::LevelsReversed => topology_is_wrong(format!(
            "{whose} prefers a level of topology {topology} that is wider than the one it requires"
        )),
        DomainProblem::Outside { level } => Reason::new(
            1206,
            "Topology",
            format!("its pods that run are on nodes without the label {}", text(*level)),
        ),
        DomainProblem::NoFit {
            level,
            pods: needed,
            pods_max,
            domains,
            gpu_milli,
            gpu_milli_max,
            ..
        } => {
            let one = level.map_or_else(
                || format!("topology {topology}"),
                |level| format!("one {}", short(text(level))),
            );
            if no_domain.problem.is_beyond_capacity() {
                let most = thousandths(*gpu_milli_max);
                let there = if *domains > 1 { "the largest has" } else { "it has" };
                let what = format!("{whose} needs {} in {one}, {there} {most}", gpus(*gpu_milli));
                return topology_is_wrong(what);
            }
            let most = if *pods_max == 0 { String::from("none") } else { pods_max.to_string() };
            let there = if *domains > 1 { "the roomiest has" } else { "there is" };
            let what = format!(
                "{whose} needs room for {} in {one}, {there} room for {most}",
                pods(*needed)
            );
            match kept(asked) {
                Some(kept) => Reason { sentence: format!("{what}; {}", kept.sentence), ..kept },
                None => Reason::new(1206, "Topology", what),
            }
        }
    }
}

/// The name of a level as people say it: the last part of its label.
fn short(label: &str) -> &str {
    label.rsplit('/').next().unwrap_or(label)
}
