//! Commands that would help work that waits, made of what was read here alone.
//!
//! The annotation on its `PodGroup` has commands of the scheduler too. Whoever may write the group chooses what stands there,
//! and an administrator would run it.

use super::known::Known;
use crate::cluster::gpu::{self, Total};
use crate::cluster::object_name;
use crate::cluster::queue::{Amount, Queue, Queues};
use crate::workload::{Workload, is_bound, is_over};

/// A bound of queues.
struct Bound {
    /// The flag that sets it.
    flag: &'static str,
    most: fn(&Queue) -> Amount,
    /// The field of a queue's status that may not pass it.
    held: &'static str,
}

const LIMIT: Bound =
    Bound { flag: "--gpu-limit", most: |queue| queue.gpu.limit, held: "allocated" };
const QUOTA: Bound =
    Bound { flag: "--gpu-quota", most: |queue| queue.gpu.quota, held: "allocatedNonPreemptible" };

/// Returns what an administrator runs where work waits for the reason of a number; none where what was read does not show
/// that it would help.
pub(super) fn of(code: &str, known: &Known) -> Option<String> {
    let queues = known.queues.as_ref()?;
    match code {
        "KAI1201" => create(&known.workload.queue, queues),
        "KAI1202" => raise(&LIMIT, &known.workload, queues),
        "KAI1204" => raise(&QUOTA, &known.workload, queues),
        _ => None,
    }
}

/// The command that creates a queue, where there is none and it can be called so.
fn create(name: &str, queues: &Queues) -> Option<String> {
    let can_be = object_name::check(name, None).is_ok();
    (can_be && !queues.0.contains_key(name)).then(|| format!("kubectl kai queues create {name}"))
}

/// The command that has the first queue take the work that may not, its own or one above it.
fn raise(bound: &Bound, workload: &Workload, queues: &Queues) -> Option<String> {
    let asked = asked(workload);
    queues.up(&workload.queue).find_map(|queue| {
        let held = gpu::status_milli(&queue.object["status"][bound.held]).unwrap_or(0);
        let wanted = held.saturating_add(asked);
        let is_short = asked > 0 && (bound.most)(queue).milli().is_some_and(|most| wanted > most);
        let (name, flag, amount) = (&queue.name, bound.flag, gpu::devices(wanted));
        is_short.then(|| format!("kubectl kai queues set {name} {flag} {amount}"))
    })
}

/// GPUs of the pods that start together and have no node yet, in thousandths; of more pods those that ask for least.
fn asked(workload: &Workload) -> u64 {
    let waiting = workload.pods.iter().filter(|pod| !is_over(pod) && !is_bound(pod));
    let mut each: Vec<u64> = waiting.map(|pod| Total::of_pod(pod).milli).collect();
    each.sort_unstable();
    each.into_iter().take(workload.together()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A pod that asks for so many GPUs.
    fn pod(gpus: u8, node: &str, phase: &str) -> Value {
        let limits = json!({"limits": {"nvidia.com/gpu": gpus.to_string()}});
        json!({"spec": {"nodeName": node, "containers": [{"resources": limits}]},
            "status": {"phase": phase}})
    }

    /// A queue that has room for it is not in the way, and pods that have a node are among what the queues hold already.
    #[test]
    fn the_queue_that_is_short_gets_room_for_pods_without_a_node() {
        let queue = |name: &str, parent: &str, limit: u8| {
            json!({"metadata": {"name": name},
                "spec": {"parentQueue": parent, "resources": {"gpu": {"limit": limit}}},
                "status": {"allocated": {"nvidia.com/gpu": "3"}}})
        };
        let queues = Queues::read(vec![queue("team", "org", 8), queue("org", "", 7)]);
        let mut workload = Workload::default();
        workload.queue = "team".to_owned();
        workload.groups = vec![json!({"spec": {"minMember": 2}})];
        workload.pods = vec![
            pod(1, "n", "Running"),
            pod(1, "", "Failed"),
            pod(4, "", "Pending"),
            pod(2, "", "Pending"),
            pod(3, "", "Pending"),
        ];
        let command = raise(&LIMIT, &workload, &queues);
        assert_eq!(command.as_deref(), Some("kubectl kai queues set org --gpu-limit 8"));
    }
}
