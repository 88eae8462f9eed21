//! More work than there is room for, so that others always have to go, on nodes that not all may use; and administrators who
//! change queues in the middle of it, or delete them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use k8s_openapi::api::core::v1::Node;
use kai_api::names::annotation;
use kai_sim::generate::Seed;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::mixed::Size;

/// About so many hundredths of all GPUs are asked for at a time.
pub(super) const DEMAND_PERCENT: u64 = 250;
/// One Job of single GPUs in so many shares them.
pub(super) const SHARED_IN: u64 = 2;
/// One of the Jobs that users would submit in so many is a change of a queue instead.
pub(super) const CHANGE_IN: u64 = 8;

/// One Job in so many may go to the node that others may not, avoids a node, or has parts of two GPUs.
const BEARS_IN: u64 = 3;
const AVOIDS_IN: u64 = 4;
const TWO_IN: u64 = 3;
/// One Job in so many evicts nobody for a while, in its first minutes or after it was evicted.
const DELAYED_IN: u64 = 3;
const DELAY: &str = "2m";
/// The taint of the first node.
const TAINT: &str = "example.com/kept";
/// The number of different changes of a queue.
const CHANGES: u64 = 7;

/// Queues that administrators change.
#[derive(Debug)]
pub(super) struct Crowd {
    /// GPUs of the cluster.
    gpus: u64,
    /// Each as it was at first.
    queues: BTreeMap<String, Value>,
    /// Those that were deleted.
    gone: BTreeSet<String>,
}

impl Crowd {
    /// A crowd on so many GPUs.
    pub(super) fn new(gpus: u64) -> Self {
        Self { gpus, queues: BTreeMap::new(), gone: BTreeSet::new() }
    }

    /// Keeps the first node for those who tolerate its taint.
    pub(super) async fn prepare(client: &Client) -> Result<()> {
        let taints = json!([{"key": TAINT, "value": "crowd", "effect": "NoSchedule"}]);
        let patch = Patch::Merge(json!({"spec": {"taints": taints}}));
        let nodes: Api<Node> = Api::all(client.clone());
        nodes.patch("node-1", &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// GPUs that all below a queue have at most, and those that are never evicted.
    fn most(&self, upper: &str) -> (u64, u64) {
        let narrow = self.gpus * 3 / 4;
        match upper {
            "upper-0" => (narrow, self.gpus / 2),
            "upper-1" => (self.gpus, self.gpus * 3 / 8),
            _ => (self.gpus, self.gpus),
        }
    }

    /// GPUs that work of an upper queue has at most, for good or while nobody else is entitled to them.
    pub(super) fn most_of(&self, upper: &str, is_for_good: bool) -> u64 {
        let (most, for_good) = self.most(upper);
        if is_for_good { most.min(for_good) } else { most }
    }

    /// Takes a queue that is about to be made: an upper one has a limit, or a lower quota than those below it together.
    pub(super) fn narrow(&mut self, queue: &mut Value) {
        let name = queue["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if name.starts_with("upper") {
            let (limit, quota) = self.most(&name);
            let gpu = &mut queue["spec"]["resources"]["gpu"];
            gpu["quota"] = json!(quota);
            gpu["limit"] = json!(limit);
        }
        self.queues.insert(name, queue.clone());
    }

    /// Changes a queue, or deletes it until the next change.
    pub(super) async fn change(&mut self, api: &Api<DynamicObject>, draw: &mut Seed) -> Result<()> {
        self.bring_back(api).await?;
        let names: Vec<&String> = self.queues.keys().collect();
        if names.is_empty() {
            return Ok(());
        }
        let name = (*draw.pick(&names)).clone();
        let gpus = draw.below(self.gpus + 1);
        let spec = match draw.below(CHANGES) {
            0 => json!({"resources": {"gpu": {"limit": gpus}}}),
            1 => json!({"resources": {"gpu": {"limit": -1}}}),
            2 => json!({"resources": {"gpu": {"quota": gpus / 2}}}),
            3 => json!({"resources": {"gpu": {"overQuotaWeight": gpus % 4}}}),
            4 => json!({"priority": 50 + gpus}),
            5 if name.starts_with("team") => json!({"parentQueue": format!("upper-{}", gpus % 2)}),
            _ => {
                let done = api.delete(&name, &DeleteParams::default()).await;
                ignore(done.map(drop))?;
                self.gone.insert(name);
                return Ok(());
            }
        };
        let patch = Patch::Merge(json!({"spec": spec}));
        ignore(api.patch(&name, &PatchParams::default(), &patch).await.map(drop))
    }

    /// Makes the queues that were deleted again, as they were at first.
    async fn bring_back(&mut self, api: &Api<DynamicObject>) -> Result<()> {
        while let Some(name) = self.gone.pop_first() {
            let Some(queue) = self.queues.get(&name) else { continue };
            let queue: DynamicObject = serde_json::from_value(queue.clone())?;
            ignore(api.create(&PostParams::default(), &queue).await.map(drop))?;
        }
        Ok(())
    }

    /// Gives all queues what they had at first.
    pub(super) async fn settle(&mut self, api: &Api<DynamicObject>) -> Result<()> {
        self.bring_back(api).await?;
        for (name, queue) in &self.queues {
            let mut spec = queue["spec"].clone();
            spec["priority"] = Value::Null;
            // One that could not be made again while its definition was away is made now.
            let made: DynamicObject = serde_json::from_value(queue.clone())?;
            ignore(api.create(&PostParams::default(), &made).await.map(drop))?;
            let patch = Patch::Merge(json!({"spec": spec}));
            api.patch(name, &PatchParams::default(), &patch).await?;
        }
        Ok(())
    }
}

/// Gives a Job a part of two GPUs, a node to avoid, or the right to the node that is kept; tells whether an empty cluster has
/// room for it where it may have so many GPUs, and its size, with the nodes that it is sure of whatever else it wants.
pub(super) fn mix(job: &mut Value, draw: &mut Seed, size: Size, most: u64) -> (bool, Size) {
    if draw.one_in(DELAYED_IN) {
        job["metadata"]["annotations"][annotation::PREEMPTION_DELAY] = json!(DELAY);
    }
    let template = &mut job["spec"]["template"];
    let mut gpus = size.gpus;
    if !template["metadata"]["annotations"]["gpu-fraction"].is_null() && draw.one_in(TWO_IN) {
        template["metadata"]["annotations"][annotation::GPU_FRACTION_DEVICES] = json!("2");
        gpus = 2;
    }
    let mut nodes = size.nodes;
    let spec = &mut template["spec"];
    if draw.one_in(BEARS_IN) {
        spec["tolerations"] = json!([{"key": TAINT, "operator": "Exists", "effect": "NoSchedule"}]);
    } else {
        nodes -= 1;
    }
    if draw.one_in(AVOIDS_IN) {
        let node = format!("node-{}", 1 + draw.below(size.nodes));
        spec["affinity"]["nodeAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [node]},
        ]}]}});
        nodes = nodes.saturating_sub(1);
    }
    let is_pinned = !spec["nodeSelector"].is_null();
    let is_free = nodes == size.nodes;
    let size = Size { gpus, ..size };
    let has_room = size.fits(nodes) && nodes > 0;
    let fits = has_room && size.pods * gpus <= most && (is_free || !is_pinned);
    (fits, Size { nodes: if is_free { nodes } else { nodes.min(1) }, ..size })
}

/// Takes it well that something is gone, or there, already.
fn ignore(done: kube::Result<()>) -> Result<()> {
    match done {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        done => Ok(done?),
    }
}
