//! Cases of queue accounting: plain numbers in, one answer out, no cluster.

use std::collections::BTreeMap;

use kai_engine::{
    Charge, Limit, PerLane, QueueId, QueueLane, Timestamp,
    entitlement::{self, Holding},
    order::{self, QueueDemand, Sibling},
    share::{Participant, divide, divide_over_quota},
};
use serde::Deserialize;

use super::{
    Verdict,
    bound::{Bound, milli, whole},
};

/// Runs a case.
///
/// # Errors
///
/// Names what of the case cannot be read.
pub fn judge(case: serde_json::Value) -> anyhow::Result<Verdict> {
    let case: Case = serde_json::from_value(case)?;
    let differences = match case.operation.as_str() {
        "divide" | "divide-over-quota" | "divide-all" | "divide-hierarchy" => case.division(),
        "queue-order" => case.order()?,
        _ => case.answer()?,
    };
    Ok(Verdict { level: "must".to_owned(), features: vec![case.operation], differences })
}

/// One case; which fields it has depends on the operation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Case {
    operation: String,
    resource: String,
    amount: f64,
    amounts: Amounts,
    usage_factor: f64,
    saturation_multiplier: f64,
    queues: Vec<Queue>,
    reclaimer: Option<Reclaimer>,
    victims_by_queue: serde_json::Map<String, serde_json::Value>,
    victim_queue: String,
    job: Option<Job>,
    task: String,
    #[serde(rename = "largestGpuMemoryMiB")]
    largest_gpu_memory_mib: Option<f64>,
    #[serde(rename = "smallestGpuMemoryMiB")]
    smallest_gpu_memory_mib: Option<f64>,
    left: Option<Queue>,
    right: Option<Queue>,
    left_job: Option<Job>,
    right_job: Option<Job>,
    cluster_total: Amounts,
    expect: Expect,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Expect {
    remaining: Option<f64>,
    fair_share: BTreeMap<String, BTreeMap<String, f64>>,
    result: Option<bool>,
    allowed: Option<bool>,
    order: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Amounts {
    gpu: f64,
    cpu_milli: f64,
    memory: f64,
}

impl Amounts {
    fn charge(self) -> Charge {
        PerLane([whole(self.cpu_milli), whole(self.memory), milli(self.gpu)])
    }

    fn of(self, resource: &str) -> f64 {
        match resource {
            "gpu" => self.gpu,
            "cpuMilli" => self.cpu_milli,
            _ => self.memory,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Queue {
    key: String,
    uid: String,
    parent: String,
    priority: i32,
    created_order: i64,
    gpu: Account,
    cpu_milli: Account,
    memory: Account,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Account {
    deserved: Bound,
    limit: Bound,
    over_quota_weight: f64,
    requested: f64,
    allocated: f64,
    allocated_non_preemptible: f64,
    fair_share: f64,
    past_usage: f64,
}

#[derive(Debug, Deserialize)]
struct Reclaimer {
    queue: String,
    preemptible: bool,
    request: Amounts,
}

#[derive(Debug, Deserialize)]
struct Job {
    queue: String,
    preemptible: Option<bool>,
    pods: Vec<Pod>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pod {
    name: String,
    request: Amounts,
    gpu_share_request: Option<GpuShare>,
}

#[derive(Debug, Deserialize)]
struct GpuShare {
    devices: f64,
    #[serde(rename = "memoryMiB")]
    memory_mib: f64,
}

/// Resources as the cases name them, in the order of our lanes.
const RESOURCES: [&str; 3] = ["cpuMilli", "memory", "gpu"];

impl Queue {
    fn account(&self, resource: &str) -> Account {
        match resource {
            "gpu" => self.gpu,
            "cpuMilli" => self.cpu_milli,
            _ => self.memory,
        }
    }
}

impl Case {
    /// Queues by their place in the order of UIDs, which breaks ties.
    fn uid(&self, queue: &Queue) -> u128 {
        let before = self.queues.iter().filter(|other| other.uid < queue.uid).count();
        u128::try_from(before).unwrap_or(0)
    }

    /// Amounts are divided in thousandths, so that half a unit is exact.
    fn participant(&self, queue: &Queue, resource: &str) -> Participant {
        let account = queue.account(resource);
        let limit = |bound: Bound| bound.milli().map_or(Limit::UNLIMITED, Limit::of);
        Participant {
            quota: limit(account.deserved),
            limit: limit(account.limit),
            weight: u64::try_from(milli(account.over_quota_weight)).unwrap_or(0),
            usage_micro: u64::try_from(milli(account.past_usage * 1000.0)).unwrap_or(0),
            requested: milli(account.requested),
            priority: queue.priority,
            created: Timestamp(queue.created_order),
            uid: self.uid(queue),
        }
    }

    fn division(&self) -> Vec<String> {
        let factor = u64::try_from(milli(self.usage_factor)).unwrap_or(0);
        let mut shares: BTreeMap<(String, &str), i64> = BTreeMap::new();
        let mut remaining = None;
        if self.operation.starts_with("divide-hierarchy") || self.operation == "divide-all" {
            for resource in RESOURCES {
                self.divide_below("", resource, milli(self.amounts.of(resource)), &mut shares);
            }
        } else {
            let resource =
                RESOURCES.into_iter().find(|name| *name == self.resource).unwrap_or("memory");
            let participants: Vec<Participant> =
                self.queues.iter().map(|queue| self.participant(queue, resource)).collect();
            let (given, left) = if self.operation == "divide" {
                divide(milli(self.amount), 1000, factor, &participants)
            } else {
                let account = |queue: &Queue| milli(queue.account(resource).fair_share);
                let mut given: Vec<i64> = self.queues.iter().map(account).collect();
                let left =
                    divide_over_quota(milli(self.amount), 1000, factor, &participants, &mut given);
                (given, left)
            };
            // Quotas beyond what there is leave nothing, not a debt.
            remaining = Some(left.max(0));
            for (queue, share) in self.queues.iter().zip(given) {
                shares.insert((queue.key.clone(), resource), share);
            }
        }
        self.compare_shares(&shares, remaining)
    }

    fn divide_below<'r>(
        &self,
        parent: &str,
        resource: &'r str,
        amount: i64,
        shares: &mut BTreeMap<(String, &'r str), i64>,
    ) {
        let factor = u64::try_from(milli(self.usage_factor)).unwrap_or(0);
        let known = |name: &str| self.queues.iter().any(|queue| queue.key == name);
        let below: Vec<&Queue> = self
            .queues
            .iter()
            .filter(|queue| queue.parent == parent || parent.is_empty() && !known(&queue.parent))
            .collect();
        let participants: Vec<Participant> =
            below.iter().map(|queue| self.participant(queue, resource)).collect();
        let (given, _) = divide(amount, 1000, factor, &participants);
        for (queue, share) in below.into_iter().zip(given) {
            shares.insert((queue.key.clone(), resource), share);
            self.divide_below(&queue.key, resource, share, shares);
        }
    }

    fn compare_shares(
        &self,
        shares: &BTreeMap<(String, &str), i64>,
        remaining: Option<i64>,
    ) -> Vec<String> {
        let mut differences = Vec::new();
        if let (Some(want), Some(have)) = (self.expect.remaining, remaining)
            && milli(want) != have
        {
            differences.push(format!("{have} thousandths remain, expected {want}"));
        }
        for (queue, expected) in &self.expect.fair_share {
            for (resource, want) in expected {
                let resource =
                    RESOURCES.into_iter().find(|name| name == resource).unwrap_or("memory");
                let have = shares.get(&(queue.clone(), resource)).copied();
                if have != Some(milli(*want)) {
                    let have = have.map_or("nothing".to_owned(), |have| have.to_string());
                    differences.push(format!(
                        "queue {queue} gets {have} thousandths of {resource}, expected {want}"
                    ));
                }
            }
        }
        differences
    }

    fn id(&self, key: &str) -> Option<QueueId> {
        let row = self.queues.iter().position(|queue| queue.key == key)?;
        u32::try_from(row).ok().map(QueueId::new)
    }

    fn holding(&self, queue: &Queue) -> Holding {
        let accounts = [queue.cpu_milli, queue.memory, queue.gpu];
        let scale =
            |lane: usize, amount: f64| if lane == 2 { milli(amount) } else { whole(amount) };
        let limit = |lane: usize, bound: Bound| {
            let units = if lane == 2 { bound.milli() } else { bound.whole() };
            units.map_or(Limit::UNLIMITED, Limit::of)
        };
        let lanes = |pick: fn(&Account) -> f64| {
            PerLane([0, 1, 2].map(|lane| scale(lane, pick(&accounts[lane]))))
        };
        Holding {
            parent: self.id(&queue.parent),
            quota: PerLane([0, 1, 2].map(|lane| limit(lane, accounts[lane].deserved))),
            limit: PerLane([0, 1, 2].map(|lane| limit(lane, accounts[lane].limit))),
            share: lanes(|account| account.fair_share),
            allocated: lanes(|account| account.allocated),
            protected: lanes(|account| account.allocated_non_preemptible),
            leaving: Charge::default(),
            leaving_protected: Charge::default(),
            priority: queue.priority,
            created: Timestamp(queue.created_order),
            uid: self.uid(queue),
        }
    }

    fn answer(&self) -> anyhow::Result<Vec<String>> {
        let rows: Vec<Holding> = self.queues.iter().map(|queue| self.holding(queue)).collect();
        let row = |queue: QueueId| rows[kai_engine::ids::Id::row(queue)];
        let (have, want) = match self.operation.as_str() {
            "may-reclaim" => (entitlement::entitled(&row, &self.claim()?), self.expect.result),
            "victim-queue-eligible" => {
                let victim = self.known(&self.victim_queue)?;
                (entitlement::may_give(&row, &self.claim()?, victim), self.expect.result)
            }
            "reclaim-scenario" => {
                let multiplier = u64::try_from(milli(self.saturation_multiplier)).unwrap_or(1000);
                let victims = self.victims()?;
                (
                    entitlement::may_take(&row, &self.claim()?, &victims, multiplier),
                    self.expect.result,
                )
            }
            "job-within-limits-and-quota" | "task-on-node-within-limits-and-quota" => {
                (entitlement::exceeded(&row, &self.job_claim()?).is_none(), self.expect.allowed)
            }
            "nonpreemptible-job-within-quota" => {
                let boundless = |queue: QueueId| Holding {
                    limit: PerLane::splat(Limit::UNLIMITED),
                    ..row(queue)
                };
                let claim = self.job_claim()?;
                (entitlement::exceeded(&boundless, &claim).is_none(), self.expect.allowed)
            }
            other => anyhow::bail!("unknown operation `{other}`"),
        };
        Ok((Some(have) != want).then(|| format!("{have}, expected {want:?}")).into_iter().collect())
    }

    fn known(&self, key: &str) -> anyhow::Result<QueueId> {
        self.id(key).ok_or_else(|| anyhow::anyhow!("there is no queue `{key}`"))
    }

    fn claim(&self) -> anyhow::Result<entitlement::Reclaimer> {
        let reclaimer =
            self.reclaimer.as_ref().ok_or_else(|| anyhow::anyhow!("there is no reclaimer"))?;
        Ok(entitlement::Reclaimer {
            queue: self.known(&reclaimer.queue)?,
            request: reclaimer.request.charge(),
            preemptible: reclaimer.preemptible,
            mig: false,
        })
    }

    fn victims(&self) -> anyhow::Result<Vec<(QueueId, Vec<Charge>)>> {
        self.victims_by_queue
            .iter()
            .map(|(queue, blocks)| {
                let blocks: Vec<Amounts> = serde_json::from_value(blocks.clone())?;
                Ok((self.known(queue)?, blocks.into_iter().map(Amounts::charge).collect()))
            })
            .collect()
    }

    fn job_claim(&self) -> anyhow::Result<entitlement::Reclaimer> {
        let job = self.job.as_ref().ok_or_else(|| anyhow::anyhow!("there is no job"))?;
        // The operation names what a job is where the job does not.
        let unsaid = self.operation != "nonpreemptible-job-within-quota";
        let pods = job.pods.iter().filter(|pod| self.task.is_empty() || pod.name == self.task);
        Ok(entitlement::Reclaimer {
            queue: self.known(&job.queue)?,
            request: request(pods, self.largest_gpu_memory_mib),
            preemptible: job.preemptible.unwrap_or(unsaid),
            mig: false,
        })
    }

    fn order(&self) -> anyhow::Result<Vec<String>> {
        let (Some(left), Some(right)) = (&self.left, &self.right) else {
            anyhow::bail!("there are not two queues")
        };
        let demand = |job: &Option<Job>| QueueDemand {
            ask: request(job.iter().flat_map(|job| &job.pods), self.smallest_gpu_memory_mib),
            taken: Charge::default(),
        };
        let (left, right) = (self.holding(left), self.holding(right));
        let left = Sibling { holding: &left, demand: demand(&self.left_job) };
        let right = Sibling { holding: &right, demand: demand(&self.right_job) };
        let have = match order::compare(&left, &right, self.cluster_total.charge()) {
            std::cmp::Ordering::Less => "left",
            std::cmp::Ordering::Greater => "right",
            std::cmp::Ordering::Equal => "equal",
        };
        let want = &self.expect.order;
        Ok((have != want)
            .then(|| format!("{have} goes first, expected {want}"))
            .into_iter()
            .collect())
    }
}

/// Sums what pods ask for; GPU memory counts as a part of a device of this size.
fn request<'a>(pods: impl Iterator<Item = &'a Pod>, memory_mib: Option<f64>) -> Charge {
    let mut sum = Charge::default();
    for pod in pods {
        sum += pod.request.charge();
        if let (Some(share), Some(memory_mib)) = (&pod.gpu_share_request, memory_mib)
            && share.memory_mib > 0.0
        {
            sum[QueueLane::Gpu] += milli(share.devices * share.memory_mib / memory_mib);
        }
    }
    sum
}
