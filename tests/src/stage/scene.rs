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
//!       said: [part of a line of the log]
//!       writes: 3
//! ```

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use kai_api::{duration::GoDuration, names};
use kube::api::{DeleteParams, Patch, PatchParams};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{Call, Fault, Log, Stage};
use crate::{live::Place, matching::differences};

/// Time that what is expected may take to come, by the paused clock.
const COME_MAX: Duration = Duration::from_secs(20);
/// The same on a real API server, which shares its machine.
const COME_MAX_REAL: Duration = Duration::from_secs(90);
/// Time for which it must then stay as it is.
const STAY: Duration = Duration::from_secs(3);

/// A scene.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Statement that it shows, in one sentence.
    pub what: String,
    /// The reason why it cannot be played on a real API server, where it cannot.
    #[serde(default)]
    embedded: Option<String>,
    /// Flags of the podgrouper.
    #[serde(default)]
    flags: Vec<String>,
    /// Events, in order.
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
    /// Deletes an object; a definition is waited for until it is gone.
    Delete(Value),
    /// Installs one of the product's definitions, by its name.
    Define(String),
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
    /// Parts of statuses of queues, by the queue's name.
    queues: BTreeMap<String, Value>,
    /// Parts of warnings in the podgrouper's log since the scene began, each of exactly one line.
    said: Vec<String>,
    /// Number of requests of each kind since the last `expect` or `forget`.
    calls: BTreeMap<String, usize>,
    /// The same of writes, but for events and statuses.
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
        self.act(&mut stage).await?;
        stage.end().await
    }

    /// Plays the scene at an API server that is there already, and takes away what it made.
    ///
    /// # Errors
    ///
    /// As [`Scene::play`]; outside, when the API server cannot be brought back to where it was.
    pub async fn play_at(&self, place: Place) -> Result<(Place, Result<()>)> {
        let mut stage = Stage::at(place, &self.flags).await?;
        let result = self.act(&mut stage).await;
        Ok((stage.leave().await?, result))
    }

    /// Plays the steps on a stage where the podgrouper does not run yet.
    ///
    /// # Errors
    ///
    /// As [`Scene::play`].
    pub async fn act(&self, stage: &mut Stage) -> Result<()> {
        let log = Log::default();
        // Everything runs on this thread.
        let _heard = log.listen();
        stage.start_podgrouper().await?;
        sleep(Duration::from_secs(1)).await;
        for (index, step) in self.steps.iter().enumerate() {
            step.play(stage, &log).await.with_context(|| format!("step {}", index + 1))?;
        }
        stage.tape.clear_faults();
        Ok(())
    }

    /// Says why the scene cannot be played on a real API server, where it cannot.
    pub fn is_embedded_only(&self) -> Option<&str> {
        self.embedded.as_deref()
    }

    /// Sums how long the scene waits by its own words.
    ///
    /// # Errors
    ///
    /// When one of its waits is no duration.
    pub fn wait(&self) -> Result<Duration> {
        let mut sum = Duration::ZERO;
        for step in &self.steps {
            if let Step::Wait(text) = step {
                sum += duration(text)?;
            }
        }
        Ok(sum)
    }
}

fn duration(text: &str) -> Result<Duration> {
    let length: GoDuration =
        text.parse().map_err(|_| anyhow::anyhow!("{text:?} is no duration"))?;
    Ok(Duration::from_nanos(u64::try_from(length.nanos())?))
}

impl Step {
    async fn play(&self, stage: &mut Stage, log: &Log) -> Result<()> {
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
                if object["kind"] == "CustomResourceDefinition" {
                    return stage.undefine(name).await;
                }
                let now = DeleteParams::default().grace_period(0);
                stage.api(&object).await?.delete(name, &now).await?;
            }
            Self::Fault(fault) => stage.tape.add(fault.clone()),
            Self::Heal => stage.tape.clear_faults(),
            Self::Define(name) => stage.define(name).await?,
            Self::Wait(text) => sleep(duration(text)?).await,
            Self::Start => stage.start_podgrouper().await?,
            Self::Stop => stage.stop_podgrouper().await,
            Self::Kill => stage.kill_podgrouper().await,
            Self::Forget => {
                stage.tape.take();
            }
            Self::Expect(expect) => expect.play(stage, log).await?,
        }
        Ok(())
    }
}

impl Expect {
    async fn play(&self, stage: &Stage, log: &Log) -> Result<()> {
        let end = Instant::now() + if stage.is_real() { COME_MAX_REAL } else { COME_MAX };
        loop {
            let mut findings = self.findings(stage, log).await?;
            if stage.is_real() {
                // Requests may still be on their way.
                findings.extend(self.count(stage, &stage.tape.calls())?);
            }
            if findings.is_empty() {
                break;
            }
            if Instant::now() > end {
                bail!("{}", findings.join("\n"));
            }
            sleep(Duration::from_millis(100)).await;
        }
        sleep(STAY).await;
        let mut findings = self.findings(stage, log).await?;
        findings.extend(self.count(stage, &stage.tape.take())?);
        if !findings.is_empty() {
            bail!("{}", findings.join("\n"));
        }
        Ok(())
    }

    async fn findings(&self, stage: &Stage, log: &Log) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        for part in &self.said {
            let found = log.count(part);
            if found != 1 {
                findings.push(format!("{part:?} is in {found} lines of the log:\n{}", log.text()));
            }
        }
        let groups = if self.groups.is_empty() {
            BTreeMap::new()
        } else {
            by_name(stage.list("scheduling.run.ai/v2alpha2", "PodGroup").await?)
        };
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

/// Tells whether a call changes what is decided: not one of an event, a status or the record of a day.
pub fn is_write(call: &Call) -> bool {
    !matches!(call.verb.as_str(), "GET" | "WATCH")
        && !call.path.contains("/events")
        && !call.path.ends_with("/status")
        && !call.path.contains("/dailyrecords")
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
