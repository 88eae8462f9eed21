//! Resources that pods name: what hearing of a new one costs, in pods that are counted again.

use std::fmt::Write;

use kai_engine::{Lane, LaneKind};

use super::*;

/// Pods of which each is compared once with a selector of topology spread whenever it is taken out and put in again.
fn spread_out(pods: u64) -> World {
    let mut text = String::from(
        "queues: { q: {} }\nnodes: { n: { gpus: 8, labels: { host: n } } }\ngroups:\n",
    );
    for pod in 0..pods {
        let _ = writeln!(text, "  t{pod}: {{ queue: q, labels: {{ app: web }}, on: n }}");
    }
    text += "  wish: { queue: q, labels: { app: web }, spread: [{ key: host, labels: { app: web } }] }\n";
    world(&text)
}

/// The comparisons of hearing of these lanes, and of a plan.
fn compared(lanes: std::ops::Range<u16>) -> u64 {
    let mut world = spread_out(50);
    plan_at(&mut world, 0);
    let before = plan_at(&mut world, 1).steps.compared;
    for number in lanes {
        world.tell(Delta::Lane(Lane::new(number), LaneKind::Mig { gpus: 1 }));
    }
    let plan = plan_at(&mut world, 2);
    assert_eq!(world.cluster.check(), Vec::<String>::new());
    plan.steps.compared - before
}

/// A pod may name thousands of MIG profiles: no pod need be looked at for a lane that none of them has.
#[test]
fn a_lane_that_nobody_named_costs_no_pod() {
    let one = compared(1_000..1_001);
    assert_eq!(compared(1_000..3_000), one);
}
