//! Searches for victims that go on over news: with what is a victim still, as it is by now.

use std::fmt::Write;

use kai_engine::{Actions, Change, Progress, Why};
use kai_sim::generate::Seed;

use super::{
    resumed::{bounded, cluster, gang, idle_node, one},
    *,
};

/// Searches go on over any news where actions are bounded, that of their victims as well: whoever is gone, or may not be evicted
/// any more, is no victim, and the others are.
#[test]
fn searches_go_on_over_news_of_their_victims() {
    let mut evicted = 0;
    for number in 0..100 {
        let mut seed = Seed::new(number);
        let (nodes, gpus) = (2 + seed.below(4), 2 + seed.below(3));
        let mut world = cluster(nodes, gpus, |_| 1);
        gang(&mut world, 1 + seed.below(nodes), 1 + seed.below(gpus));
        bounded(&mut world, 1 + seed.below(10));
        world.config.action_steps_max = Some(2_000);
        let mut left: Vec<u64> = (0..nodes * gpus).collect();
        for cycle in 0..60 {
            let decided = plan_at(&mut world, cycle);
            assert_eq!(world.cluster.check(), Vec::<String>::new(), "seed {number}");
            let is_eviction = |change: &Change| matches!(change, Change::Evict { .. });
            if decided.changes.iter().any(is_eviction) {
                evicted += 1;
                break;
            }
            let at = usize::try_from(seed.below(left.len() as u64)).expect("a few");
            let (one_of, node) = (left[at], left[at] / gpus);
            match seed.below(4) {
                0 if left.len() > 1 => {
                    left.remove(at);
                    gone(&mut world, &[&format!("b{one_of}")]);
                }
                1 => {
                    let safe = format!("gpus: 1, preemptible: false, on: node{node:02}");
                    one(&mut world, &format!("b{one_of}"), &format!("queue: borrower, {safe}"));
                }
                2 => {
                    let new = format!("queue: borrower, gpus: 0, on: node{node:02}");
                    one(&mut world, &format!("new{cycle}"), &new);
                }
                _ => idle_node(&mut world, "node50", cycle.unsigned_abs() % 2),
            }
        }
    }
    assert!(evicted > 10, "{evicted} searches ended with a find");
}

/// A group that grew since a search drew it loses what it can spare, or all: not what was all of it then, which would leave less
/// than its minimum.
#[test]
fn who_grew_meanwhile_is_left_no_part() {
    for grows in 1..12 {
        let mut world = world(
            "queues: { borrower: {}, owner: { quota: 4 } }\n\
             nodes: { node00: { gpus: 2 }, node01: { gpus: 2 }, node02: { gpus: 1 } }\n\
             groups:\n  \
             b0..1: { queue: borrower, gpus: 1, on: node01 }\n  \
             v: { queue: borrower, pods: 2, min: 2, gpus: 1, on: node00*2 }\n",
        );
        gang(&mut world, 2, 2);
        bounded(&mut world, 2);
        world.config.action_steps_max = Some(2_000);
        let evicted = (0..200).find_map(|cycle| {
            if cycle == grows {
                let grown = "queue: borrower, pods: 3, min: 2, gpus: 1, on: node00*2 node02";
                one(&mut world, "v", grown);
            }
            let decided = plan_at(&mut world, cycle);
            let evicted = |change: &Change| match change {
                Change::Evict { pod, .. } => Some(*pod),
                Change::Place { .. } | Change::Nominate { .. } => None,
            };
            let evicted: Vec<PodId> = decided.changes.iter().filter_map(evicted).collect();
            (!evicted.is_empty()).then_some(evicted)
        });
        let evicted = evicted.expect("both nodes are emptied for the gang");
        let lost = ["v-0", "v-1"].iter().filter(|name| evicted.contains(&pod(&world, name)));
        let lost = lost.count() + usize::from(evicted.len() > 4);
        let pods = if world.names.find_pod("v-2").is_some() { 3 } else { 2 };
        assert_eq!(lost, pods, "it grows in cycle {grows}");
    }
}

/// A group that loses what it can spare after a search drew that stands where the rest of it was to come: it comes up once, and is
/// evicted once, in sets that are tried in vain.
#[test]
fn who_lost_a_pod_meanwhile_comes_up_once() {
    for loses in 1..15 {
        let mut world = world(
            "queues: { borrower: {}, owner: { quota: 7 } }\n\
             nodes: { node0: { gpus: 3 }, node1: { gpus: 4 } }\n\
             groups:\n  \
             o0: { queue: owner, ports: [80], on: node0 }\n  \
             o1: { queue: owner, ports: [80], on: node1 }\n  \
             v: { queue: borrower, pods: 3, min: 2, gpus: 1, age: 1h, on: node0*3 }\n  \
             b0..3: { queue: borrower, gpus: 1, on: node1 }\n  \
             gang: { queue: owner, pods: 2, gpus: 1, ports: [80] }\n",
        );
        world.config.actions = Actions { reclaim: true, ..Actions::NONE };
        bounded(&mut world, 1);
        world.config.action_steps_max = Some(2_000);
        let is_over = (0..1_000).any(|cycle| {
            if cycle == loses {
                gone(&mut world, &["v-2"]);
            }
            let decided = plan_at(&mut world, cycle);
            assert_eq!(decided.changes, [], "no port comes free");
            cycle > loses && !decided.steps.spent
        });
        assert!(is_over, "it comes to no end after news in cycle {loses}");
    }
}

/// Each group that was drawn is looked at again where its search goes on over news, and that counts as passing it over does.
#[test]
fn looking_at_victims_again_counts() {
    let mut world = cluster(10, 4, |_| 1);
    gang(&mut world, 2, 4);
    world.config.actions = Actions { reclaim: true, ..Actions::NONE };
    bounded(&mut world, 1);
    world.config.action_steps_max = Some(2_000);
    let mut most = 0;
    for cycle in 0..200 {
        let why = world.cluster.verdict(group(&world, "gang"));
        let drawn = if let Some(Why::Undecided { progress, .. }) = why
            && let Progress::Eviction { groups, .. } = **progress
        {
            u64::from(groups)
        } else {
            0
        };
        let decided = plan_at(&mut world, cycle);
        let steps = decided.steps;
        assert!(steps.compared >= 4 * drawn, "{steps:?} with {drawn} groups in cycle {cycle}");
        most = most.max(drawn);
        if !decided.changes.is_empty() {
            break;
        }
        idle_node(&mut world, "node50", 1 + cycle.unsigned_abs() % 2);
    }
    assert!(most >= 5, "{most} groups were drawn");
}

/// No more groups are moved than may be, though one came between those that a search drew and those that were to come.
#[test]
fn no_more_are_moved_than_may_be() {
    let mut moved = 0;
    for comes in 1..10 {
        let mut text = String::from(
            "queues: { q: {} }\nnodes: { node0..4: { gpus: 4 }, node5: { gpus: 2 } }\ngroups:\n",
        );
        for node in 1..5 {
            let _ = writeln!(
                text,
                "  f{node}: {{ queue: q, gpus: 3, preemptible: false, on: node{node} }}"
            );
        }
        for group in 1..4 {
            let _ =
                writeln!(text, "  g{group}: {{ queue: q, gpus: 1, age: {group}0m, on: node0 }}");
        }
        text += "  old: { queue: q, pods: 2, gpus: 1, age: 2h, on: node5*2 }\n";
        text += "  waits: { queue: q, priority: 75, gpus: 4 }\n";
        let mut world = world(&text);
        world.config.actions = Actions { consolidate: true, ..Actions::NONE };
        world.config.consolidation_victims_max = Some(3);
        bounded(&mut world, 1);
        world.config.action_steps_max = Some(2_000);
        for cycle in 0..100 {
            if cycle == comes {
                one(&mut world, "x", "queue: q, gpus: 1, age: 25m, on: node0");
            }
            let decided = plan_at(&mut world, cycle);
            let is_eviction = |change: &&Change| matches!(change, Change::Evict { .. });
            let evicted = decided.changes.iter().filter(is_eviction).count();
            assert!(evicted <= 3, "{evicted} groups, with one that comes in cycle {comes}");
            if evicted > 0 {
                moved += 1;
                break;
            }
        }
    }
    assert!(moved > 0, "three groups are moved where no other comes before");
}
