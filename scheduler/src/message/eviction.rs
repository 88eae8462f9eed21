//! Says why a pod is evicted.

use kai_engine::{Eviction, QueueLane, QueueState, Symbol};

use super::{amount_text, limit_text};
use crate::names::{Names, Number};

/// Says it in the words of the event.
pub fn eviction(reason: &Eviction, pod: &str, names: &Names) -> String {
    let group = |number: u32| names.groups.key(number).to_string();
    match reason {
        Eviction::Preempt { for_group } => format!(
            "Pod {pod} was preempted by higher priority workload {}",
            group(for_group.number())
        ),
        Eviction::Reclaim { for_group, from, to } => format!(
            "Pod {pod} was preempted by workload {}.\n{}\n{}",
            group(for_group.number()),
            queue(from, names),
            queue(to, names)
        ),
        Eviction::Consolidate { .. } => format!(
            "Pod {pod} was preempted and rescheduled due to bin packing (resource consolidation) \
             procedure"
        ),
        Eviction::Stale { sub_group, min } => {
            let of = if *sub_group == Symbol::EMPTY {
                String::new()
            } else {
                format!(" in sub-group {}", names.text(*sub_group))
            };
            format!(
                "Workload doesn't meet the minimum required number of pods ({min}){of}, evicting \
                 remaining pod: {pod}"
            )
        }
    }
}

fn queue(state: &QueueState, names: &Names) -> String {
    let amounts = |of: &dyn Fn(QueueLane) -> String| {
        let [gpu, cpu, memory] = [QueueLane::Gpu, QueueLane::Cpu, QueueLane::Memory].map(of);
        format!("(GPU: {gpu}, CPU: {cpu} (cores), memory: {memory} (GB))")
    };
    format!(
        "{} uses {} with a quota of {}, fair-share of {} and queue priority of {}.",
        names.queue_name(state.queue.number()),
        amounts(&|lane| amount_text(lane, state.allocated[lane])),
        amounts(&|lane| limit_text(lane, state.quota[lane])),
        amounts(&|lane| amount_text(lane, state.fair_share[lane])),
        state.priority
    )
}
