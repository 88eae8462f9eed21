//! Scenarios on a live API server: objects in, and what is then bound, evicted and said.
//!
//! One file tells one story. It runs on the embedded API server everywhere, and on a real kube-apiserver where
//! `KUBEBUILDER_ASSETS` names one. The scheduler runs with the rights of its own account; nodes are simulated.

mod admission;
mod attack;
mod daemons;
mod devices;
mod judge;
mod ledger;
mod object;
mod place;
mod tenant;

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use kai_sandbox::{
    nodes::{self, Nodes},
    operators::{self, Choice},
};
use kube::Client;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::break_point::BreakPoint;
use daemons::Daemon;

pub use admission::create_runtime_class;
pub use admission::{Admission, start_admission};
pub use attack::Move;
pub use daemons::Program;
pub use devices::{Told, told};
pub use place::Place;
pub use tenant::{TENANT, tenant};

/// Time that an expectation may take to come true.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Between two looks at what is to come true; the longer one where nobody waits for it, under a paused clock.
const LOOK: Duration = Duration::from_millis(50);
const LOOK_SELDOM: Duration = Duration::from_millis(250);
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
    /// It needs controllers of Kubernetes: beside the embedded server those of the sandbox stand in for them.
    #[serde(default)]
    needs_controllers: bool,
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
    /// Moves with the token of a daemon, by the name of its account.
    taken: BTreeMap<String, Vec<Move>>,
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
    ledger: Option<ledger::Ledger>,
    scheduler: &'p Daemon,
    /// One of the daemons dies on the way: what is only said in passing may be lost with it.
    is_deadly: bool,
}

/// Points at which the daemons of a story die.
#[derive(Clone, Debug)]
pub struct Deaths {
    /// That of the scheduler.
    pub scheduler: BreakPoint,
    /// That of the podgrouper, which does not run in a story without deaths.
    pub podgrouper: BreakPoint,
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
    let scheduler = daemon(scenario, place, Program::Scheduler, BreakPoint::nowhere()).await?;
    let daemons = [scheduler];
    tell(scenario, place, &daemons).await
}

/// Tells the story with both daemons, of which some die on the way and start anew; nothing else may come of that.
///
/// # Errors
/// What did not come true, with what was seen instead.
pub async fn run_with(scenario: &Scenario, place: &Place, deaths: &Deaths) -> Result<()> {
    let daemons = [
        daemon(scenario, place, Program::Scheduler, deaths.scheduler.clone()).await?,
        daemon(scenario, place, Program::Podgrouper, deaths.podgrouper.clone()).await?,
    ];
    let [first, second] = &daemons;
    tokio::select! {
        told = tell(scenario, place, &daemons) => told,
        failed = first.die() => failed,
        failed = second.die() => failed,
    }
}

async fn daemon(
    scenario: &Scenario,
    place: &Place,
    program: Program,
    point: BreakPoint,
) -> Result<Daemon> {
    let flags = if program == Program::Scheduler { &scenario.flags[..] } else { &[] };
    Daemon::new(program, flags, place, point).await
}

/// Tells the story with these daemons, the scheduler first.
async fn tell(scenario: &Scenario, place: &Place, daemons: &[Daemon]) -> Result<()> {
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
    let is_deadly = daemons.len() > 1;
    let admission = match scenario.admission {
        true if is_deadly => Some(admission::start_beside(place).await?),
        true => Some(start_admission(place).await?),
        false => None,
    };
    let controllers = match place {
        Place::Embedded(_) if scenario.needs_controllers => {
            Some(controllers(client.clone()).await?)
        }
        Place::Embedded(_) | Place::Real(_) => None,
    };
    for daemon in daemons {
        daemon.start()?;
    }
    let mut stage = Stage { place, client, ledger, scheduler: &daemons[0], is_deadly };
    let result = stage.play(scenario).await;
    for daemon in daemons {
        daemon.stop().await?;
    }
    if let Some(admission) = admission {
        admission.stop(place).await?;
    }
    if let Some(controllers) = controllers {
        controllers.stop().await;
    }
    running.remove().await;
    let unguarded: Vec<String> = daemons.iter().flat_map(Daemon::unguarded).collect();
    ensure!(unguarded.is_empty(), "writes without a guard:\n  {}", unguarded.join("\n  "));
    result
}

/// Stand-ins for the controllers of Kubernetes itself that the embedded server does not have.
async fn controllers(client: Client) -> Result<operators::Running> {
    let choice = Choice::Named(vec!["core", "storage"]);
    Ok(operators::start(client, &choice, 1).await?)
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
        for (account, moves) in &step.taken {
            let client = self.place.account(account).await?;
            for one in moves {
                one.make(&client).await.with_context(|| format!("a move as {account}"))?;
            }
        }
        match step.scheduler {
            Some(Switch::Start) => self.scheduler.start()?,
            Some(Switch::Stop) => self.scheduler.stop().await?,
            None => {}
        }
        if let Some(seconds) = step.wait_seconds {
            sleep(Duration::from_secs(seconds)).await;
        }
        match &step.expect {
            Some(expect) => {
                sleep(pause("KAI_LIVE_STEP_PAUSE")).await;
                if self.is_deadly {
                    return self.expect(&expect.without_passing()).await;
                }
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
            sleep(if self.is_deadly { LOOK_SELDOM } else { LOOK }).await;
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
            let told = judge::told_gpus(&self.client, TENANT).await?;
            if told_micro(told.as_ref()) != micro {
                misses.push(format!(
                    "tenant: {pods:?} hold {micro} millionths of GPUs, their queue says {told:?}"
                ));
            }
        }
        Ok(misses)
    }
}

/// Millionths of a quantity; none is zero.
fn told_micro(quantity: Option<&Value>) -> u64 {
    let text = quantity.and_then(Value::as_str).unwrap_or("0");
    let nano = text.parse::<kai_api::quantity::Quantity>().map_or(-1, |quantity| quantity.nano());
    u64::try_from(nano / 1_000).unwrap_or(u64::MAX)
}
