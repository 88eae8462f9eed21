//! Users and their moves: queues at first, then Jobs that come, run, end and are deleted.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::Result;
use k8s_openapi::api::{
    batch::v1::{Job, JobCondition},
    core::v1::Pod,
};
use kai_sim::generate::Seed;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, EvictParams, ListParams, Patch, PatchParams, PostParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::json;
use tokio::time::sleep;

use super::{
    Settings,
    crowd::{self, Crowd},
    mixed::{self, Size},
    nics,
};

/// Half of what users do is to submit a Job.
const MOVES: u64 = 20;
const OTHER_MOVES: u64 = 10;
/// Pods of a Job on average.
const PODS_OF_JOB: u64 = 3;
/// Leaf queues, each with the same part of the GPUs.
const QUEUES: u32 = 4;
/// Leaf queues below each of the upper queues.
const QUEUES_OF_UPPER: u32 = 2;
/// One Job in so many shares GPUs, and one of those of one pod wants a node by its name.
const SHARED_IN: u64 = 4;
const PINNED_IN: u64 = 5;
/// GPUs of each node.
const GPUS_OF_NODE: u32 = 8;
/// GPUs of each pod of a Job that asks for some, each as likely as the others.
const GPUS_OF_POD: &[u64] = &[1, 1, 1, 2, 4, 8];
/// About so many hundredths of all GPUs are asked for at a time, but for the GPUs that shares of them leave free.
const DEMAND_PERCENT: u64 = 110;
/// An annotation that users write on what others own.
pub(super) const NOTE: &str = "example.com/note";

/// All users.
pub(super) struct Users {
    client: Client,
    draw: Seed,
    nodes: u32,
    pods: u64,
    run: Duration,
    is_mixed: bool,
    /// More comes than there is room for, where it is there.
    crowd: Option<Crowd>,
    jobs: u64,
    /// Jobs for which an empty cluster has room.
    fitting: BTreeSet<String>,
    /// Jobs that are suspended.
    suspended: BTreeSet<String>,
}

impl Users {
    /// Users of `client` who do what `draw` says.
    pub(super) fn new(client: Client, draw: Seed, settings: &Settings) -> Self {
        let gpus = u64::from(settings.nodes * GPUS_OF_NODE);
        Self {
            client,
            draw,
            crowd: settings.is_crowded.then(|| Crowd::new(gpus)),
            nodes: settings.nodes,
            pods: settings.pods,
            run: settings.run,
            is_mixed: settings.is_mixed,
            jobs: 0,
            fitting: BTreeSet::new(),
            suspended: BTreeSet::new(),
        }
    }

    /// Makes the queues.
    pub(super) async fn prepare(&mut self) -> Result<()> {
        if self.is_mixed {
            mixed::prepare(&self.client).await?;
        }
        if self.crowd.is_some() {
            Crowd::prepare(&self.client).await?;
        }
        let api = self.queues();
        let uppers = (0..QUEUES / QUEUES_OF_UPPER).map(|number| {
            let quota = self.quota() * u64::from(QUEUES_OF_UPPER);
            (format!("upper-{number}"), None, quota, -1)
        });
        let limit = i64::try_from(self.limit())?;
        let leaves = (0..QUEUES).map(|number| {
            let upper = format!("upper-{}", number / QUEUES_OF_UPPER);
            let limit = if number == 0 { limit } else { -1 };
            (format!("team-{number}"), Some(upper), self.quota(), limit)
        });
        let queues: Vec<_> = (0..).zip(uppers.chain(leaves)).collect();
        for (number, (name, upper, quota, limit)) in queues {
            let none = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
            let mut queue = json!({
                "apiVersion": "scheduling.run.ai/v2",
                "kind": "Queue",
                "metadata": {"name": name},
                "spec": {"parentQueue": upper.unwrap_or_default(), "resources": {
                    "gpu": {"quota": quota, "limit": limit, "overQuotaWeight": 1},
                    "cpu": none, "memory": none,
                }},
            });
            if self.is_mixed {
                mixed::let_run(&mut queue["spec"], number);
            }
            if let Some(crowd) = &mut self.crowd {
                crowd.narrow(&mut queue);
            }
            api.create(&PostParams::default(), &serde_json::from_value(queue)?).await?;
        }
        self.bring_foreign().await
    }

    /// Makes a pod of another scheduler, which nobody here may write to.
    async fn bring_foreign(&self) -> Result<()> {
        let pod = serde_json::from_value(json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "foreign", "labels": {"kai.scheduler/queue": "team-0"}},
            "spec": {"schedulerName": "another", "containers": [{"name": "main", "image": "busybox"}]},
        }))?;
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        pods.create(&PostParams::default(), &pod).await?;
        Ok(())
    }

    /// Writes an annotation of its own on a `PodGroup`.
    async fn note(&mut self) -> Result<()> {
        let kind = GroupVersionKind::gvk("scheduling.run.ai", "v2alpha2", "PodGroup");
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> = Api::default_namespaced_with(self.client.clone(), &resource);
        let groups = match api.list(&ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
            groups => groups?,
        };
        let mut names: Vec<String> = groups.iter().map(ResourceExt::name_any).collect();
        names.sort();
        if names.is_empty() {
            return Ok(());
        }
        let patch = Patch::Merge(json!({"metadata": {"annotations": {(NOTE): "mine"}}}));
        let name: &String = self.draw.pick(&names);
        let done = api.patch(name, &PatchParams::default(), &patch).await;
        ignore_missing(done.map(drop))
    }

    /// Does the next thing, after a while.
    pub(super) async fn act(&mut self) -> Result<()> {
        // As many Jobs come as end where about so many pods are to be there.
        let jobs_millis = self.run_seconds() * 1000 * PODS_OF_JOB / self.pods.max(1);
        let pause_millis = jobs_millis * (MOVES - OTHER_MOVES) / MOVES;
        let pause = self.draw.below(2 * pause_millis + 1);
        sleep(Duration::from_millis(pause)).await;
        match self.draw.below(MOVES) {
            0 | 1 => self.clean().await,
            2 | 3 => self.delete().await,
            4 => self.suspend().await,
            5 => self.resume().await,
            6 => self.scale().await,
            7 => self.evict().await,
            8 => self.divide().await,
            9 => self.note().await,
            OTHER_MOVES.. => {
                if self.crowd.is_some() && self.draw.one_in(crowd::CHANGE_IN) {
                    return self.change_a_queue().await;
                }
                self.submit().await
            }
        }
    }

    /// Has an administrator change a queue, where there are such.
    async fn change_a_queue(&mut self) -> Result<()> {
        let queues = self.queues();
        let Some(crowd) = &mut self.crowd else { return Ok(()) };
        crowd.change(&queues, &mut self.draw).await
    }

    /// Draws whether a Job asks for GPUs: if all did, those of many pods would wait ever longer.
    fn wants_gpus(&mut self) -> bool {
        let pods = u64::try_from(GPUS_OF_POD.len()).unwrap_or(1) * self.all_gpus();
        let wanted = self.pods * GPUS_OF_POD.iter().sum::<u64>();
        let percent = if self.crowd.is_some() { crowd::DEMAND_PERCENT } else { DEMAND_PERCENT };
        self.draw.below(100 * wanted.max(1)) < percent * pods
    }

    fn all_gpus(&self) -> u64 {
        u64::from(self.nodes * GPUS_OF_NODE)
    }

    fn run_seconds(&self) -> u64 {
        self.run.as_secs().max(1)
    }

    /// GPUs that each queue is entitled to.
    fn quota(&self) -> u64 {
        self.all_gpus() / u64::from(QUEUES)
    }

    /// GPUs that the first queue has at most.
    fn limit(&self) -> u64 {
        self.quota() * 3 / 2
    }

    /// Jobs that have not ended although there would be room for them in an empty cluster. A gang whose pods ended well and
    /// were deleted, as those of a dead node are, has too few ever after: its Job makes no others in their place.
    pub(super) async fn stuck(&self) -> Result<Vec<String>> {
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        let mut ended: BTreeMap<String, i32> = BTreeMap::new();
        for pod in pods.list(&ListParams::default()).await? {
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            if phase == Some("Succeeded")
                && let Some(job) = pod.labels().get("batch.kubernetes.io/job-name")
            {
                *ended.entry(job.clone()).or_default() += 1;
            }
        }
        let jobs = self.jobs().list(&ListParams::default()).await?;
        let open = jobs.into_iter().filter(|job| !has_ended(job));
        let is_whole = |job: &Job| {
            let succeeded = job.status.as_ref().and_then(|status| status.succeeded).unwrap_or(0);
            succeeded <= ended.get(&job.name_any()).copied().unwrap_or(0)
        };
        let open = open.filter(is_whole).map(|job| job.name_any());
        Ok(open.filter(|name| self.fitting.contains(name)).collect())
    }

    fn jobs(&self) -> Api<Job> {
        Api::default_namespaced(self.client.clone())
    }

    /// GPUs that a Job of a class and of the leaf queue of a number may have in an empty cluster.
    fn most(&self, class: &str, queue: u64) -> u64 {
        let is_for_good = class != "train";
        let most = match queue {
            // Nobody takes more for good than it is entitled to.
            _ if is_for_good => self.quota(),
            0 => self.limit(),
            _ => u64::MAX,
        };
        let upper = format!("upper-{}", queue / u64::from(QUEUES_OF_UPPER));
        let of_upper = self.crowd.as_ref().map(|crowd| crowd.most_of(&upper, is_for_good));
        of_upper.map_or(most, |of_upper| most.min(of_upper))
    }

    async fn submit(&mut self) -> Result<()> {
        let number = self.jobs;
        self.jobs += 1;
        let pods = 1 + self.draw.below(2 * PODS_OF_JOB - 1);
        let gpus: u64 = if self.wants_gpus() { *self.draw.pick(GPUS_OF_POD) } else { 0 };
        let queue = self.draw.below(u64::from(QUEUES));
        let seconds = 1 + self.draw.below(2 * self.run_seconds());
        let class = *self.draw.pick(&["train", "train", "build", "inference"]);
        let most = self.most(class, queue);
        let of_node = u64::from(GPUS_OF_NODE).checked_div(gpus);
        let room = of_node.map_or(u64::MAX, |pods| u64::from(self.nodes) * pods);
        if pods * gpus <= most && pods <= room {
            self.fitting.insert(format!("job-{number}"));
        }
        let mut job = json!({
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
        });
        if gpus == 0 {
            job["spec"]["template"]["spec"]["containers"][0]["resources"] =
                json!({"requests": {"cpu": "1"}});
        }
        let shared_in = if self.crowd.is_some() { crowd::SHARED_IN } else { SHARED_IN };
        if gpus == 1 && self.draw.one_in(shared_in) {
            let template = &mut job["spec"]["template"];
            let share = *self.draw.pick(&["0.25", "0.5", "0.75"]);
            template["metadata"]["annotations"]["gpu-fraction"] = json!(share);
            template["spec"]["containers"][0]["resources"] = json!({});
        }
        if pods == 1 && self.draw.one_in(PINNED_IN) {
            let node = format!("node-{}", 1 + self.draw.below(u64::from(self.nodes)));
            job["spec"]["template"]["spec"]["nodeSelector"] =
                json!({"kubernetes.io/hostname": node});
        }
        let (nodes, gpus_of_node) = (u64::from(self.nodes), u64::from(GPUS_OF_NODE));
        if !self.mix(&mut job, Size { pods, gpus, nics: 0, nodes, gpus_of_node }, most) {
            self.fitting.remove(&format!("job-{number}"));
        }
        let job = serde_json::from_value(job)?;
        let job = self.jobs().create(&PostParams::default(), &job).await?;
        nics::share(&self.client, &job).await
    }

    /// Makes a Job one of more kinds, where there are such; tells whether an empty cluster has room for it then.
    fn mix(&mut self, job: &mut serde_json::Value, mut size: Size, most: u64) -> bool {
        let mut fits = true;
        if self.crowd.is_some() {
            (fits, size) = crowd::mix(job, &mut self.draw, size, most);
        }
        if self.is_mixed {
            fits &= mixed::mix(job, &mut self.draw, size);
        }
        fits
    }

    /// Gives a queue another quota for a while, as an administrator does at the worst moment.
    async fn divide(&mut self) -> Result<()> {
        let queue = format!("team-{}", self.draw.below(u64::from(QUEUES)));
        let quota = self.draw.below(self.quota() + 1);
        self.set_quota(&queue, quota).await
    }

    async fn set_quota(&self, queue: &str, quota: u64) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"resources": {"gpu": {"quota": quota}}}}));
        let done = self.queues().patch(queue, &PatchParams::default(), &patch).await;
        ignore_missing(done.map(drop))
    }

    fn queues(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("scheduling.run.ai", "v2", "Queue");
        Api::all_with(self.client.clone(), &ApiResource::from_gvk(&kind))
    }

    /// The name of one of the Jobs of late, wherever it is.
    fn recent(&mut self) -> Option<String> {
        let back = 1 + self.draw.below(20);
        self.jobs.checked_sub(back).map(|number| format!("job-{number}"))
    }

    async fn suspend(&mut self) -> Result<()> {
        let Some(name) = self.recent() else { return Ok(()) };
        self.suspended.insert(name.clone());
        self.change(&name, &json!({"spec": {"suspend": true}})).await
    }

    async fn resume(&mut self) -> Result<()> {
        let Some(name) = self.suspended.pop_first() else { return Ok(()) };
        self.change(&name, &json!({"spec": {"suspend": false}})).await
    }

    /// Resumes all that is suspended, and gives the queues what they had.
    pub(super) async fn settle(&mut self) -> Result<()> {
        for number in 0..QUEUES {
            self.set_quota(&format!("team-{number}"), self.quota()).await?;
        }
        let queues = self.queues();
        if let Some(crowd) = &mut self.crowd {
            crowd.settle(&queues).await?;
        }
        while !self.suspended.is_empty() {
            self.resume().await?;
        }
        Ok(())
    }

    /// Lets a Job have another number of pods at a time, which may be too few for its gang.
    async fn scale(&mut self) -> Result<()> {
        let Some(name) = self.recent() else { return Ok(()) };
        self.fitting.remove(&name);
        let pods = 1 + self.draw.below(2 * PODS_OF_JOB);
        self.change(&name, &json!({"spec": {"parallelism": pods}})).await
    }

    async fn change(&self, name: &str, patch: &serde_json::Value) -> Result<()> {
        let done = self.jobs().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        ignore_missing(done.map(drop))
    }

    /// Evicts a pod of a Job, as a drain does, or deletes it.
    async fn evict(&mut self) -> Result<()> {
        let pods: Api<Pod> = Api::default_namespaced(self.client.clone());
        let mut names: Vec<String> =
            pods.list(&ListParams::default()).await?.iter().map(ResourceExt::name_any).collect();
        names.sort();
        if names.is_empty() {
            return Ok(());
        }
        let name = self.draw.pick(&names);
        if self.draw.one_in(2) {
            return ignore_missing(pods.evict(name, &EvictParams::default()).await.map(drop));
        }
        // In the foreground a pod goes after its claims.
        let is_last = self.is_mixed && self.draw.one_in(2);
        let params = if is_last { DeleteParams::foreground() } else { DeleteParams::default() };
        ignore_missing(pods.delete(name, &params).await.map(drop))
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
        let Some(name) = self.recent() else { return Ok(()) };
        ignore_missing(self.jobs().delete(&name, &DeleteParams::background()).await.map(drop))
    }
}

/// Takes it well that something is gone already.
fn ignore_missing(done: kube::Result<()>) -> Result<()> {
    match done {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        done => Ok(done?),
    }
}

fn has_ended(job: &Job) -> bool {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ends = |one: &JobCondition| {
        matches!(one.type_.as_str(), "Complete" | "Failed") && one.status == "True"
    };
    conditions.into_iter().flatten().any(ends)
}
