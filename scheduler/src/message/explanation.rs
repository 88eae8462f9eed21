//! What is known of a group that waits beyond the words of the contract.

use kai_engine::{EvictionKind, Shortage, TopologyId, Why};
use kai_sim::render;

use crate::names::{Names, Number};

/// The number of the reason, then a line for each kind of eviction that cannot help, and how far a search is. None where
/// there is no such line.
pub fn explanation(
    why: &Why,
    proofs: impl Iterator<Item = (EvictionKind, Shortage)>,
    names: &Names,
) -> Option<String> {
    let code = why.code()?;
    let symbol = |symbol| names.text(symbol);
    let topology = |topology: TopologyId| &**names.topologies.key(topology.number());
    let mut lines: Vec<String> =
        proofs.map(|(kind, proof)| render::proof(kind, &proof, symbol, topology)).collect();
    if let Why::Undecided { progress, .. } = why {
        lines.push(render::search(progress));
    }
    if let Why::Behind { depth } = why {
        lines.push(format!("the first {depth} of its queue have their turn before it"));
    }
    (!lines.is_empty()).then(|| format!("KAI{code}\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use kai_engine::{Progress, Symbol};

    use super::*;

    fn check(why: &Why, proofs: &[(EvictionKind, Shortage)], expect: Option<&str>) {
        let mut names = Names::new();
        assert_eq!(names.symbol("rack"), Symbol::new(1), "the first after the empty one");
        names.topology("zones");
        let text = explanation(why, proofs.iter().copied(), &names);
        assert_eq!(text.as_deref(), expect);
    }

    #[test]
    fn what_no_eviction_gives_is_said_with_the_count() {
        let gpus = Shortage::Gpus { needed_milli: 8000, most_milli: 7500 };
        let (rack, topology) = (Symbol::new(1), TopologyId::new(0));
        check(
            &Why::QueueMissing,
            &[(EvictionKind::Consolidate, gpus), (EvictionKind::Reclaim, gpus)],
            Some(
                "KAI1201\nconsolidation does not help: it needs 8 GPUs, 7.5 are free\n\
                 reclaim does not help: it needs 8 GPUs, 7.5 are free or may be given up",
            ),
        );
        check(
            &Why::Held,
            &[(EvictionKind::Preempt, Shortage::Apart { key: rack, needed: 4, most: 3 })],
            Some(
                "KAI1208\npreempt does not help: it needs 4 domains of rack of its own, 3 would have \
                 room if emptied",
            ),
        );
        let together = Shortage::Together { topology, level: rack, needed: 3, most: 2 };
        check(
            &Why::Held,
            &[(EvictionKind::Reclaim, together)],
            Some(
                "KAI1208\nreclaim does not help: it needs room for 3 pods in one rack of zones, the \
                 roomiest would hold 2 if emptied",
            ),
        );
        let domains = Shortage::Domains { topology, level: rack, pods: 4, needed: 3, most: 2 };
        check(
            &Why::Held,
            &[(EvictionKind::Preempt, domains)],
            Some(
                "KAI1208\npreempt does not help: it needs room for 3 sub-groups of 4 pods or more, each in one rack of \
                 zones: these would take 2 if emptied",
            ),
        );
        check(
            &Why::Held,
            &[(EvictionKind::Reclaim, Shortage::Others { barred: 1 })],
            Some(
                "KAI1208\nreclaim does not help: it took the places of 1 group before and lost them again; so that \
                 they do not go round for ever it takes them no more until something else changes in the cluster",
            ),
        );
    }

    #[test]
    fn a_search_says_how_far_it_is_and_nothing_more_says_nothing() {
        let progress = Progress::Eviction {
            kind: EvictionKind::Reclaim,
            groups: 3,
            candidates: 16,
            pods: 2,
            pods_all: 4,
            sets: 1,
        };
        check(
            &Why::Undecided { progress: Box::new(progress), before: None },
            &[],
            Some(
                "KAI1219\nsearch not finished, goes on: reclaim, 3 of 16 groups looked at, 1 set tried, \
                 victims found for 2 of 4 pods",
            ),
        );
        check(
            &Why::Behind { depth: 5 },
            &[],
            Some("KAI1218\nthe first 5 of its queue have their turn before it"),
        );
        check(&Why::Held, &[], None);
    }
}
