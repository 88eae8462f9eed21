//! A scene: steps in a file, played on a [`Stage`].
//!
//! ```yaml
//! what: one sentence
//! flags: [--max-concurrent-reconciles=1]
//! steps:
//!   - create: {apiVersion: v1, kind: Pod, ...}      # $(Kind/name) stands for the UID of what was created
//!   - fault: {on: PATCH /api/v1/namespaces/default/pods/a, status: 403, message: denied}
//!   - wait: 30s
//!   - expect:
//!       groups: {"pg-j-$(Job/j)": {spec: {minMember: 2}}, other: null}
//!       marks: {a: "pg-j-$(Job/j)", b: null}
//!       events: [part of a message]
//!       writes: 3
//! ```

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use kai_api::{duration::GoDuration, names};
use kube::api::{DeleteParams, Patch, PatchParams};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{Call, Fault, Stage};
use crate::matching::differences;

/// How long what is expected may take to come, by the paused clock.
const COME_MAX: Duration = Duration::from_secs(20);
/// How long it must then stay as it is.
const STAY: Duration = Duration::from_secs(3);

/// A scene.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What it shows, in one sentence.
    pub what: String,
    /// Flags of the podgrouper.
    #[serde(default)]
    flags: Vec<String>,
    /// What happens, in order.
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Step {
    /// Creates an object.
    Create(Value),
    /// Creates several copies of an object, whose name and labels may hold `#`, the copy's number.
    Copies {
        of: Value,
        count: usize,
    },
    /// A merge patch of the object that it names.
    Patch(Value),
    /// The same for its status.
    Status(Value),
    Delete(Value),
    Fault(Fault),
    /// Takes all faults away.
    Heal,
    Wait(String),
    /// Starts the podgrouper again; it runs from the start of the scene.
    Start,
    Stop,
    Kill,
    /// Forgets the requests so far.
    Forget,
    Expect(Expect),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Expect {
    /// Parts of `PodGroup`s by name; null: there is none.
    groups: BTreeMap<String, Value>,
    /// The `PodGroup` that each pod is marked with; null: none.
    marks: BTreeMap<String, Option<String>>,
    /// The subgroup that each pod is marked with; null: none.
    subgroups: BTreeMap<String, Option<String>>,
    /// Parts of the messages of all warnings; each must be there once, and no other.
    events: Option<Vec<String>>,
    /// Conditions of a queue, parts, by the queue's name.
    queues: BTreeMap<String, Value>,
    /// How many requests of each kind there were since the last `expect` or `forget`.
    calls: BTreeMap<String, usize>,
    /// How many writes there were, but for events and statuses.
    writes: Option<usize>,
}

impl Scene {
    /// Plays the scene.
    ///
    /// # Errors
    ///
    /// When a step fails or what it expects does not come; the message says which.
    pub async fn play(&self) -> Result<()> {
        let mut stage = Stage::start(&self.flags).await?;
        stage.start_podgrouper()?;
        sleep(Duration::from_secs(1)).await;
        for (index, step) in self.steps.iter().enumerate() {
            step.play(&mut stage).await.with_context(|| format!("step {}", index + 1))?;
        }
        stage.tape.clear_faults();
        stage.end().await
    }
}

impl Step {
    async fn play(&self, stage: &mut Stage) -> Result<()> {
        match self {
            Self::Create(object) => stage.create(object).await?,
            Self::Copies { of, count } => {
                for number in 0..*count {
                    let text = of.to_string().replace('#', &number.to_string());
                    stage.create(&serde_json::from_str(&text)?).await?;
                }
            }
            Self::Patch(body) | Self::Status(body) => {
                let body = stage.resolve(body)?;
                let api = stage.api(&body).await?;
                let name = body["metadata"]["name"].as_str().context("a patch needs a name")?;
                let (params, patch) = (PatchParams::default(), Patch::Merge(&body));
                if matches!(self, Self::Status(_)) {
                    api.patch_status(name, &params, &patch).await?;
                } else {
                    api.patch(name, &params, &patch).await?;
                }
            }
            Self::Delete(object) => {
                let object = stage.resolve(object)?;
                let name = object["metadata"]["name"].as_str().context("what to delete?")?;
                let now = DeleteParams::default().grace_period(0);
                stage.api(&object).await?.delete(name, &now).await?;
            }
            Self::Fault(fault) => stage.tape.add(fault.clone()),
            Self::Heal => stage.tape.clear_faults(),
            Self::Wait(text) => {
                let length: GoDuration =
                    text.parse().map_err(|_| anyhow::anyhow!("{text:?} is no duration"))?;
                let nanos = u64::try_from(length.nanos())?;
                sleep(Duration::from_nanos(nanos)).await;
            }
            Self::Start => stage.start_podgrouper()?,
            Self::Stop => stage.stop_podgrouper().await,
            Self::Kill => stage.kill_podgrouper().await,
            Self::Forget => {
                stage.tape.take();
            }
            Self::Expect(expect) => expect.play(stage).await?,
        }
        Ok(())
    }
}

impl Expect {
    async fn play(&self, stage: &Stage) -> Result<()> {
        let end = Instant::now() + COME_MAX;
        loop {
            let findings = self.findings(stage).await?;
            if findings.is_empty() {
                break;
            }
            if Instant::now() > end {
                bail!("{}", findings.join("\n"));
            }
            sleep(Duration::from_millis(100)).await;
        }
        sleep(STAY).await;
        let mut findings = self.findings(stage).await?;
        findings.extend(self.count(stage, &stage.tape.take())?);
        if !findings.is_empty() {
            bail!("{}", findings.join("\n"));
        }
        Ok(())
    }

    async fn findings(&self, stage: &Stage) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        let groups = by_name(stage.list("scheduling.run.ai/v2alpha2", "PodGroup").await?);
        for (name, want) in &self.groups {
            let name = resolved(stage, name)?;
            let found = groups.get(&name).unwrap_or(&Value::Null);
            for finding in differences(&stage.resolve(want)?, found) {
                findings.push(format!("PodGroup {name}: {finding}; there are {:?}", groups.keys()));
            }
        }
        let pods = by_name(stage.list("v1", "Pod").await?);
        let marks = [
            (&self.marks, "annotations", names::annotation::POD_GROUP),
            (&self.subgroups, "labels", names::label::SUBGROUP),
        ];
        for (wanted, table, key) in marks {
            for (pod, want) in wanted {
                let found = pods.get(pod).and_then(|pod| pod["metadata"][table][key].as_str());
                let want = want.as_deref().map(|name| resolved(stage, name)).transpose()?;
                if found != want.as_deref() {
                    findings.push(format!("pod {pod}: {key} is {found:?}, want {want:?}"));
                }
            }
        }
        if !self.queues.is_empty() {
            let queues = by_name(stage.list("scheduling.run.ai/v2", "Queue").await?);
            for (name, want) in &self.queues {
                let found = queues.get(name).map_or(&Value::Null, |queue| &queue["status"]);
                for finding in differences(want, found) {
                    findings.push(format!("queue {name}: {finding}"));
                }
            }
        }
        if let Some(wanted) = &self.events {
            findings.extend(events(stage, wanted).await?);
        }
        Ok(findings)
    }

    fn count(&self, stage: &Stage, calls: &[Call]) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        for (call, want) in &self.calls {
            let call = resolved(stage, call)?;
            let found = calls.iter().filter(|seen| seen.to_string() == call).count();
            if found != *want {
                findings.push(format!("{found} of {call}, want {want}"));
            }
        }
        if let Some(want) = self.writes {
            let writes: Vec<String> =
                calls.iter().filter(|call| is_write(call)).map(ToString::to_string).collect();
            if writes.len() != want {
                findings.push(format!("{} writes, want {want}: {writes:?}", writes.len()));
            }
        }
        Ok(findings)
    }
}

/// Whether a call changes what is decided: not one of an event or a status.
pub fn is_write(call: &Call) -> bool {
    !matches!(call.verb.as_str(), "GET" | "WATCH")
        && !call.path.contains("/events")
        && !call.path.ends_with("/status")
}

/// The documents of a YAML file.
///
/// # Errors
///
/// When it cannot be read.
pub fn documents(path: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("failed to read {}", path.display()))?;
    Ok(serde_saphyr::from_multiple(&text)?)
}

async fn events(stage: &Stage, wanted: &[String]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let events = stage.list("v1", "Event").await?;
    let mut left: Vec<&str> = events
        .iter()
        .filter(|event| event["reason"] == names::event::POD_GROUPER_WARNING)
        .filter_map(|event| event["message"].as_str())
        .collect();
    for want in wanted {
        let want = resolved(stage, want)?;
        match left.iter().position(|message| message.contains(&want)) {
            Some(at) => {
                left.remove(at);
            }
            None => findings.push(format!("no event with {want:?}; there are {left:?}")),
        }
    }
    findings
        .extend(left.iter().map(|message| format!("an event that was not expected: {message}")));
    Ok(findings)
}

fn resolved(stage: &Stage, text: &str) -> Result<String> {
    let value = stage.resolve(&Value::String(text.to_owned()))?;
    Ok(value.as_str().unwrap_or_default().to_owned())
}

fn by_name(items: Vec<Value>) -> BTreeMap<String, Value> {
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    items.into_iter().map(|item| (name(&item), item)).collect()
}
