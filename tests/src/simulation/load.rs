//! Users and their moves: queues at first, then Jobs that come, run, end and are deleted.

use std::{collections::BTreeSet, time::Duration};

use anyhow::Result;
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use kai_sim::generate::Seed;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::json;
use tokio::time::sleep;

use super::Settings;

/// Time that work runs on average.
const RUN_SECONDS: u64 = 600;
/// Pods of a Job on average.
const PODS_OF_JOB: u64 = 3;
/// Leaf queues, each with the same part of the GPUs.
const QUEUES: u32 = 4;
/// GPUs of each node.
const GPUS_OF_NODE: u32 = 8;

/// All users.
pub(super) struct Users {
    client: Client,
    draw: Seed,
    nodes: u32,
    pods: u64,
    jobs: u64,
    /// Jobs for which an empty cluster has room.
    fitting: BTreeSet<String>,
}

impl Users {
    /// Users of `client` who do what `draw` says.
    pub(super) fn new(client: Client, draw: Seed, settings: &Settings) -> Self {
        Self {
            client,
            draw,
            nodes: settings.nodes,
            pods: settings.pods,
            jobs: 0,
            fitting: BTreeSet::new(),
        }
    }

    /// Makes the queues.
    pub(super) async fn prepare(&mut self) -> Result<()> {
        let kind = GroupVersionKind::gvk("scheduling.run.ai", "v2", "Queue");
        let api: Api<DynamicObject> =
            Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind));
        for number in 0..QUEUES {
            let quota = self.quota();
            let limit = if number == 0 { i64::try_from(self.limit())? } else { -1 };
            let none = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
            let queue = serde_json::from_value(json!({
                "apiVersion": "scheduling.run.ai/v2",
                "kind": "Queue",
                "metadata": {"name": format!("team-{number}")},
                "spec": {"resources": {
                    "gpu": {"quota": quota, "limit": limit, "overQuotaWeight": 1},
                    "cpu": none, "memory": none,
                }},
            }))?;
            api.create(&PostParams::default(), &queue).await?;
        }
        Ok(())
    }

    /// Does the next thing, after a while.
    pub(super) async fn act(&mut self) -> Result<()> {
        // As many Jobs come as end where about so many pods are to be there.
        let pause_millis = RUN_SECONDS * 1000 * PODS_OF_JOB / self.pods.max(1);
        let pause = self.draw.below(2 * pause_millis + 1);
        sleep(Duration::from_millis(pause)).await;
        match self.draw.below(10) {
            0 => self.clean().await,
            1 => self.delete().await,
            _ => self.submit().await,
        }
    }

    /// GPUs that each queue is entitled to.
    fn quota(&self) -> u64 {
        u64::from(self.nodes * GPUS_OF_NODE / QUEUES)
    }

    /// GPUs that the first queue has at most.
    fn limit(&self) -> u64 {
        self.quota() * 3 / 2
    }

    /// Jobs that have not ended although there would be room for them in an empty cluster.
    pub(super) async fn stuck(&self) -> Result<Vec<String>> {
        let jobs = self.jobs().list(&ListParams::default()).await?;
        let open = jobs.into_iter().filter(|job| !has_ended(job)).map(|job| job.name_any());
        Ok(open.filter(|name| self.fitting.contains(name)).collect())
    }

    fn jobs(&self) -> Api<Job> {
        Api::default_namespaced(self.client.clone())
    }

    async fn submit(&mut self) -> Result<()> {
        let number = self.jobs;
        self.jobs += 1;
        let pods = 1 + self.draw.below(2 * PODS_OF_JOB - 1);
        let gpus: u64 = *self.draw.pick(&[1, 1, 1, 2, 4, 8]);
        let queue = self.draw.below(u64::from(QUEUES));
        let seconds = 1 + self.draw.below(2 * RUN_SECONDS);
        let class = *self.draw.pick(&["train", "train", "build", "inference"]);
        let most = match (class, queue) {
            ("train", 0) => self.limit(),
            ("train", _) => u64::MAX,
            // Nobody takes more for good than it is entitled to.
            _ => self.quota(),
        };
        let room = u64::from(self.nodes) * (u64::from(GPUS_OF_NODE) / gpus);
        if pods * gpus <= most && pods <= room {
            self.fitting.insert(format!("job-{number}"));
        }
        let job = serde_json::from_value(json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": format!("job-{number}"),
                "labels": {"kai.scheduler/queue": format!("team-{queue}"), "priorityClassName": class},
                "annotations": {"kai.scheduler/batch-min-member": pods.to_string()},
            },
            "spec": {
                "parallelism": pods, "completions": pods, "backoffLimit": 1_000_000,
                "template": {
                    "metadata": {
                        "annotations": {"sandbox.kai.scheduler/run-seconds": seconds.to_string()},
                    },
                    "spec": {
                        "schedulerName": "kai-scheduler",
                        "restartPolicy": "Never",
                        "containers": [{
                            "name": "main", "image": "busybox",
                            "resources": {"limits": {"nvidia.com/gpu": gpus.to_string()}},
                        }],
                    },
                },
            },
        }))?;
        self.jobs().create(&PostParams::default(), &job).await?;
        Ok(())
    }

    /// Deletes the Jobs that have ended.
    async fn clean(&mut self) -> Result<()> {
        for job in self.jobs().list(&ListParams::default()).await? {
            if has_ended(&job) {
                self.jobs().delete(&job.name_any(), &DeleteParams::background()).await?;
            }
        }
        Ok(())
    }

    /// Deletes one of the Jobs of late, wherever it is.
    async fn delete(&mut self) -> Result<()> {
        let back = 1 + self.draw.below(20);
        let Some(number) = self.jobs.checked_sub(back) else { return Ok(()) };
        let name = format!("job-{number}");
        match self.jobs().delete(&name, &DeleteParams::background()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            done => Ok(done.map(drop)?),
        }
    }
}

fn has_ended(job: &Job) -> bool {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ends = |one: &JobCondition| {
        matches!(one.type_.as_str(), "Complete" | "Failed") && one.status == "True"
    };
    conditions.into_iter().flatten().any(ends)
}
