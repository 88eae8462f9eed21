//! Scenarios on a live API server: objects in, and what is then bound, evicted and said.
//!
//! One file tells one story. It runs on the embedded API server everywhere, and on a real kube-apiserver where
//! `KUBEBUILDER_ASSETS` names one. The scheduler runs with the rights of its own account; nodes are simulated.

mod admission;
mod attack;
mod devices;
mod judge;
mod ledger;
mod object;
mod place;
mod tenant;

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use kai_sandbox::nodes::{self, Nodes};
use kube::Client;
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

pub use admission::create_runtime_class;
pub use admission::{Admission, start_admission};
pub use attack::Move;
pub use devices::{Told, told};
pub use place::Place;
pub use tenant::{TENANT, tenant};

/// Time that an expectation may take to come true.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Simulated work without a length of its own runs for this long.
const RUN_SECONDS: u64 = 100_000;

/// A file.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// The idea, in one sentence.
    pub about: String,
    /// The nodes, as `kubectl kai sandbox --nodes` takes them.
    nodes: String,
    /// Number of nodes of a rack.
    #[serde(default = "rack_nodes")]
    rack_nodes: u32,
    /// It needs controllers of Kubernetes that the embedded server does not have.
    #[serde(default)]
    pub needs_controllers: bool,
    /// Admission is served: pods that share GPUs are prepared, and what is wrong is refused.
    #[serde(default)]
    admission: bool,
    /// A book is kept of what pods were given: no node may ever give more than it has, and only pods of the tenant may end.
    #[serde(default)]
    ledger: bool,
    /// Flags of the scheduler.
    #[serde(default)]
    flags: Vec<String>,
    steps: Vec<Step>,
}

fn rack_nodes() -> u32 {
    2
}

/// The next step; exactly one of these.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Step {
    queue: Option<object::Queue>,
    gang: Option<object::Gang>,
    /// Whole objects.
    create: Vec<Value>,
    /// A merge patch, by `Kind/name`.
    patch: BTreeMap<String, Value>,
    /// `Kind/name` each.
    delete: Vec<String>,
    /// Moves of a user who has rights in one namespace only.
    tenant: Vec<Move>,
    /// Starts or stops the scheduler.
    scheduler: Option<Switch>,
    wait_seconds: Option<u64>,
    expect: Option<judge::Expect>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Switch {
    Start,
    Stop,
}

/// A story that is being told.
struct Stage<'p> {
    place: &'p Place,
    client: Client,
    flags: Vec<String>,
    ledger: Option<ledger::Ledger>,
    scheduler: Option<(CancellationToken, JoinHandle<Result<(), kai_scheduler::Error>>)>,
}

/// Reads what a slow machine is imitated with: milliseconds, none where the variable is not set.
///
/// A story may not rest on how soon a step follows another: `KAI_LIVE_STEP_PAUSE=6000` waits before each step and
/// before each look, `KAI_LIVE_OBJECT_PAUSE=1100` before each object of a gang.
fn pause(variable: &str) -> Duration {
    let millis = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    Duration::from_millis(millis.unwrap_or_default())
}

/// Tells the story in a place where nothing of another one is left.
///
/// # Errors
/// What did not come true, with what was seen instead.
pub async fn run(scenario: &Scenario, place: &Place) -> Result<()> {
    let client = place.admin().await?;
    let groups = nodes::group::parse(&scenario.nodes)?;
    let options = nodes::Options {
        specs: nodes::group::expand(&groups, scenario.rack_nodes),
        pace: 1,
        run_seconds: RUN_SECONDS,
        ..nodes::Options::default()
    };
    let running = Nodes::new(options).start(client.clone()).await?;
    let ledger =
        if scenario.ledger { Some(ledger::Ledger::start(client.clone()).await?) } else { None };
    let mut stage = Stage { place, client, flags: scenario.flags.clone(), ledger, scheduler: None };
    let admission = if scenario.admission { Some(start_admission(place).await?) } else { None };
    stage.start().await?;
    let result = stage.play(scenario).await;
    stage.stop().await?;
    if let Some(admission) = admission {
        admission.stop(place).await?;
    }
    running.remove().await;
    result
}

impl Stage<'_> {
    async fn play(&mut self, scenario: &Scenario) -> Result<()> {
        for (number, step) in scenario.steps.iter().enumerate() {
            self.step(step).await.with_context(|| format!("step {}", number + 1))?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Result<()> {
        sleep(pause("KAI_LIVE_STEP_PAUSE")).await;
        for object in &step.create {
            object::create(&self.client, object.clone()).await?;
        }
        if let Some(queue) = &step.queue {
            object::create(&self.client, queue.object()).await?;
        }
        if let Some(gang) = &step.gang {
            for object in gang.objects(&self.client).await? {
                sleep(pause("KAI_LIVE_OBJECT_PAUSE")).await;
                object::create(&self.client, object).await?;
            }
        }
        for (name, patch) in &step.patch {
            object::patch(&self.client, name, patch).await?;
        }
        for name in &step.delete {
            object::delete(&self.client, name).await?;
        }
        if !step.tenant.is_empty() {
            let client = tenant(self.place).await?;
            for one in &step.tenant {
                one.make(&client).await.context("a move of the tenant")?;
            }
        }
        match step.scheduler {
            Some(Switch::Start) => self.start().await?,
            Some(Switch::Stop) => self.stop().await?,
            None => {}
        }
        if let Some(seconds) = step.wait_seconds {
            sleep(Duration::from_secs(seconds)).await;
        }
        match &step.expect {
            Some(expect) => {
                sleep(pause("KAI_LIVE_STEP_PAUSE")).await;
                self.expect(expect).await
            }
            None => Ok(()),
        }
    }

    /// Waits until all of it is true, and then for as long as it has to stay true.
    async fn expect(&self, expect: &judge::Expect) -> Result<()> {
        let (started, end) = (Instant::now(), Instant::now() + TIMEOUT);
        loop {
            let mut misses = judge::misses(expect, &self.client).await?;
            misses.extend(self.booked(expect).await?);
            if misses.is_empty() {
                tracing::info!(after = ?started.elapsed(), "came true");
                break;
            }
            if Instant::now() > end {
                bail!("not within {TIMEOUT:?}:\n  {}", misses.join("\n  "));
            }
            sleep(Duration::from_millis(50)).await;
        }
        let end = Instant::now() + Duration::from_secs(expect.still_seconds);
        let versions = judge::versions(expect, &self.client).await?;
        while Instant::now() < end {
            sleep(Duration::from_millis(200)).await;
            let mut misses = judge::misses(expect, &self.client).await?;
            misses.extend(self.booked(expect).await?);
            let now = judge::versions(expect, &self.client).await?;
            if now != versions {
                misses.push(format!("{:?} at {versions:?} was written", expect.unchanged));
            }
            if !misses.is_empty() {
                bail!("true at first, then not:\n  {}", misses.join("\n  "));
            }
        }
        Ok(())
    }

    /// Compares with the book.
    async fn booked(&self, expect: &judge::Expect) -> Result<Vec<String>> {
        let Some(ledger) = &self.ledger else { return Ok(Vec::new()) };
        let faults = ledger.faults();
        ensure!(faults.is_empty(), "what must never be was seen:\n  {}", faults.join("\n  "));
        let mut misses = Vec::new();
        if let Some(most) = expect.tenant_holds_at_most {
            let (micro, pods) = ledger.of_tenant();
            if micro > u64::from(most) * 1_000_000 {
                misses.push(format!("tenant: {pods:?} hold {micro} millionths of GPUs, of {most}"));
            }
            let queue = object::find(&self.client, "Queue", TENANT).await?;
            let told =
                queue.map(|queue| queue.data["status"]["allocated"]["nvidia.com/gpu"].clone());
            if told_micro(told.as_ref()) != micro {
                misses.push(format!(
                    "tenant: {pods:?} hold {micro} millionths of GPUs, their queue says {told:?}"
                ));
            }
        }
        Ok(misses)
    }

    async fn start(&mut self) -> Result<()> {
        let image = "--resource-reservation-pod-image=kai-scheduler";
        let words = ["kai-scheduler", "--listen-address=127.0.0.1:0", image].map(String::from);
        let words = words.into_iter().chain(self.flags.iter().cloned());
        let args = kai_scheduler::Args::from_command_line(words.map(Into::into))?;
        let client = self.place.account(kai_api::names::component::SCHEDULER).await?;
        let stop = CancellationToken::new();
        let task = tokio::spawn(kai_scheduler::run(args, client, stop.clone()));
        self.scheduler = Some((stop, task));
        Ok(())
    }

    async fn stop(&mut self) -> Result<()> {
        if let Some((stop, task)) = self.scheduler.take() {
            stop.cancel();
            task.await??;
        }
        Ok(())
    }
}

/// Millionths of a quantity; none is zero.
fn told_micro(quantity: Option<&Value>) -> u64 {
    let text = quantity.and_then(Value::as_str).unwrap_or("0");
    let nano = text.parse::<kai_api::quantity::Quantity>().map_or(-1, |quantity| quantity.nano());
    u64::try_from(nano / 1_000).unwrap_or(u64::MAX)
}
