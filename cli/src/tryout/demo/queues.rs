//! The queues of the story.

use kai_api::queue::{Queue, QueueResource, QueueResources, QueueSpec};
use kube::api::{Api, ObjectMeta, PostParams};

use super::screen::Row;
use crate::print::error::{Error, Exit, Problem, number, sentence};

/// The queues of the story: name, parent, GPU quota.
pub(super) const QUEUES: [Row; 4] = [
    Row { name: "research", parent: None, quota: 16 },
    Row { name: "team-a", parent: Some("research"), quota: 8 },
    Row { name: "team-b", parent: Some("research"), quota: 8 },
    Row { name: "prod", parent: None, quota: 16 },
];

/// Creates one; CPU and memory are unlimited.
pub(super) async fn create(client: &kube::Client, row: &Row) -> Result<(), Error> {
    let amount = |quota: Option<f64>| {
        Some(QueueResource { quota, limit: Some(-1.0), over_quota_weight: Some(1.0) })
    };
    let queue = Queue {
        metadata: ObjectMeta { name: Some(row.name.to_owned()), ..ObjectMeta::default() },
        spec: QueueSpec {
            parent_queue: row.parent.map(ToOwned::to_owned),
            resources: Some(QueueResources {
                gpu: amount(Some(f64::from(row.quota))),
                cpu: amount(Some(-1.0)),
                memory: amount(Some(-1.0)),
            }),
            ..QueueSpec::default()
        },
        ..Queue::default()
    };
    let queues: Api<Queue> = Api::all(client.clone());
    queues.create(&PostParams::default(), &queue).await.map(drop).map_err(|error| {
        let what = format!("failed to create the queue {}: {}", row.name, sentence(&error));
        Problem::new(number::OTHER, Exit::Failure, what).into()
    })
}
