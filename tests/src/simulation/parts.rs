//! The processes of a simulated cluster: started, killed and started again.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use k8s_openapi::api::coordination::v1::Lease;
use kai_api::names::{component, namespace};
use kai_daemon::clock::{self, Skew};
use kai_sandbox::{
    nodes::{self, Nodes},
    operators::{self, Choice},
};
use kai_sim::generate::Seed;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Happened, Settings, admission, definitions::Definitions, holders::Holders, link::Link,
    meddle::Meddlers, mixed::RACK_NODES, node_faults::NodeFaults, weather::Weather,
};
use crate::live::{Place, create_runtime_class};

/// The schedulers' Lease.
const LEASE: &str = "kai-scheduler";
/// The API server's answers come late, or another takes the schedulers' Lease, once in so many of them.
const SLOW_IN: u64 = 150;
const THIEF_IN: u64 = 200;
/// The API server starts anew once in so many of them, and answers nobody for this long at most.
const RESTART_IN: u64 = 100;
const DOWN_MAX_MILLIS: u64 = 90_000;
/// The clock of a daemon is set once in so many of them, and is wrong by one of these.
const STEP_IN: u64 = 100;
const SKEWS_SECONDS: &[i64] = &[30, -30, 3600, -3600];
/// The longest time for which answers come late.
const SLOW_MAX_MILLIS: u64 = 300_000;
/// Two leaders: their clocks are apart by this much, and answers come late in two minutes of four.
const APART_SECONDS: i64 = 30;
const SLOW_FOR: Duration = Duration::from_mins(2);
const SLOW_EVERY: Duration = Duration::from_mins(4);
/// A definition of a resource is away once in so many of them, between these times.
const AWAY_IN: u64 = 150;
const AWAY_MIN: Duration = Duration::from_secs(10);
const AWAY_MAX_MILLIS: u64 = 120_000;
/// The longest time that a dead daemon stays dead.
const DEAD_MAX_MILLIS: u64 = 30_000;

/// All processes.
pub(super) struct Parts {
    seed: Seed,
    weather: Arc<Weather>,
    has_faults: bool,
    admin: Client,
    users: Client,
    daemons: Vec<Daemon>,
    nodes: NodeFaults,
    definitions: Definitions,
    ended: Vec<String>,
    /// The number of acts so far.
    acts: u64,
    /// Answers come late from this moment on; none: only by chance.
    slow_at: Option<Instant>,
}

/// Program of a daemon.
#[derive(Clone, Copy, Debug)]
enum Program {
    Scheduler,
    Podgrouper,
}

/// Identity of a daemon, through all its lives.
#[derive(Clone, Debug)]
struct Identity {
    program: Program,
    /// A name that none other has.
    name: String,
    starts: u64,
    /// Seconds by which its clock is ahead of the API server's when it starts.
    ahead: i64,
}

/// A daemon, and when it is started again where it is dead.
struct Daemon {
    identity: Identity,
    link: Link,
    skew: Skew,
    stop: CancellationToken,
    /// Gives why it ended, where that was by itself.
    task: JoinHandle<Option<String>>,
    again: Option<Instant>,
}

impl Parts {
    /// Starts them all.
    pub(super) async fn start(
        place: &Place,
        seed: &Seed,
        settings: &Settings,
        holders: Arc<Holders>,
    ) -> Result<Self> {
        let seed_of_all = seed.split(2);
        let calm = |name: &str| Link::new(name, seed_of(&seed_of_all, name), None);
        let admin = place.admin().await?;
        create_runtime_class(admin.clone()).await?;
        let groups = nodes::group::parse(&format!("{}xH100:8", settings.nodes))?;
        let options = nodes::Options {
            specs: nodes::group::expand(&groups, if settings.is_mixed { RACK_NODES } else { 8 }),
            seed: settings.seed,
            is_reachable: false,
            ..nodes::Options::default()
        };
        let only = settings.only.as_deref();
        let meddlers = settings.has_meddlers.then(|| Meddlers::new(admin.clone()));
        let weather = Weather::new(seed, settings.one_fault_in, only, holders, meddlers);
        let weather = Arc::new(weather);
        weather.set_bad(settings.has_faults);
        // Kubelets and operators run until the runtime ends.
        drop(Nodes::new(options).start(calm("kubelets").client(admin.clone())).await?);
        let admitted = admission::client(admin.clone(), seed.split(4), &weather);
        let core = if settings.is_mixed { vec!["core", "storage", "dra"] } else { vec!["core"] };
        let core = Choice::Named(core);
        drop(operators::start(calm("operators").client(admitted), &core, 1).await?);
        let users = calm("users").client(admin.clone());
        let mut programs = vec![Program::Scheduler, Program::Podgrouper];
        // Two of one name, of which one leads at a time.
        let has_standby = settings.has_faults && seed_of(&seed_of_all, "standby").one_in(3);
        if has_standby || settings.has_two_leaders {
            programs.push(Program::Scheduler);
        }
        let slow_at = settings.has_two_leaders.then(|| Instant::now() + SLOW_FOR);
        let (daemons, ended, acts) = Default::default();
        let has_faults = settings.has_faults;
        let nodes = NodeFaults::new(&admin, settings.nodes);
        let definitions = Definitions::new(admin.clone());
        let mut parts = Self {
            seed: seed_of_all,
            weather,
            has_faults,
            admin,
            users,
            daemons,
            nodes,
            definitions,
            ended,
            acts,
            slow_at,
        };
        for (number, program) in programs.into_iter().enumerate() {
            let name = format!("{program:?}-{number}").to_lowercase();
            let is_second = settings.has_two_leaders && number == 2;
            let ahead = if is_second { APART_SECONDS } else { 0 };
            let identity = Identity { program, name, starts: 0, ahead };
            let daemon = parts.begin(place, identity).await?;
            parts.daemons.push(daemon);
        }
        Ok(parts)
    }

    /// The client of users.
    pub(super) fn user_client(&self) -> Client {
        self.users.clone()
    }

    /// Starts a daemon, with a way of its own.
    async fn begin(&mut self, place: &Place, identity: Identity) -> Result<Daemon> {
        let identity = Identity { starts: identity.starts + 1, ..identity };
        let name = format!("{}.{}", identity.name, identity.starts);
        let link = Link::new(&name, seed_of(&self.seed, &name), Some(&self.weather));
        Daemon::start(identity, place, link).await
    }

    /// Starts again what has died a while ago, breaks and mends nodes, and has the API server be slow.
    pub(super) async fn tend(&mut self, place: &Place) -> Result<()> {
        self.acts += 1;
        self.revive(place).await?;
        let now = Some(Instant::now());
        self.nodes.mend(now).await?;
        self.definitions.bring_back(now).await?;
        if self.has_faults {
            self.nodes.break_one(self.draw("node"), self.acts, &self.weather).await?;
            self.remove_a_definition().await?;
            self.slow_down();
            self.restart_server();
            self.step_a_clock();
            self.steal().await?;
        }
        Ok(())
    }

    /// Notes the death of daemons, and starts those again that were dead for long enough.
    pub(super) async fn revive(&mut self, place: &Place) -> Result<()> {
        let now = Instant::now();
        for index in 0..self.daemons.len() {
            let daemon = &mut self.daemons[index];
            match daemon.again {
                None if daemon.link.is_cut() || daemon.task.is_finished() => {
                    self.ended.extend(daemon.why().await);
                    daemon.end();
                    let Identity { name, starts, .. } = &daemon.identity;
                    let mut draw = seed_of(&self.seed, &format!("{name}.{starts} is dead"));
                    let millis = draw.below(DEAD_MAX_MILLIS);
                    daemon.again = Some(now + Duration::from_millis(millis));
                }
                Some(again) if again <= now => {
                    let mut identity = daemon.identity.clone();
                    identity.ahead = self.clock(&identity);
                    self.daemons[index] = self.begin(place, identity).await?;
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// Draws the clock that a daemon has from its next start on: right, or wrong by half a minute or an hour.
    fn clock(&self, identity: &Identity) -> i64 {
        let at = format!("{}/clock/{}", identity.name, identity.starts);
        let mut draw = seed_of(&self.seed, &at);
        let seconds = *draw.pick(SKEWS_SECONDS);
        let is_drawn = draw.one_in(4);
        let is_pinned = self.slow_at.is_some();
        if !is_pinned && self.has_faults && self.weather.has(&at, is_drawn, "clock") {
            return seconds;
        }
        if is_pinned { identity.ahead } else { 0 }
    }

    /// Sets the clock of a daemon that runs: wrong, or right again. Those of two leaders stay as they are.
    fn step_a_clock(&self) {
        if self.slow_at.is_some() {
            return;
        }
        for Daemon { identity, skew, .. } in &self.daemons {
            let at = format!("{}/step/{}", identity.name, self.acts);
            let mut draw = seed_of(&self.seed, &at);
            let seconds = *draw.pick(SKEWS_SECONDS);
            let is_drawn = draw.one_in(STEP_IN);
            if self.weather.has(&at, is_drawn, "step") {
                skew.set(if skew.get() == 0 { seconds } else { 0 });
            }
        }
    }

    /// Gives luck for one purpose in this act, whatever happened before.
    fn draw(&self, purpose: &str) -> Seed {
        seed_of(&self.seed, &format!("{purpose} {}", self.acts))
    }

    /// Takes the definition of a resource away for a while.
    async fn remove_a_definition(&mut self) -> Result<()> {
        let mut draw = self.draw("definition");
        let is_drawn = draw.one_in(AWAY_IN);
        let number = usize::try_from(draw.below(Definitions::COUNT))?;
        let until = Instant::now() + AWAY_MIN + Duration::from_millis(draw.below(AWAY_MAX_MILLIS));
        let at = format!("server/{}", self.acts);
        if !self.definitions.is_one_away() && self.weather.has(&at, is_drawn, "no-definition") {
            self.definitions.remove(number, until).await?;
        }
        Ok(())
    }

    /// Has the API server answer late for some minutes.
    fn slow_down(&mut self) {
        let now = Instant::now();
        let mut draw = self.draw("slow");
        let (is_drawn, with_leases) = (draw.one_in(SLOW_IN), draw.one_in(2));
        let millis = draw.below(SLOW_MAX_MILLIS);
        if let Some(at) = self.slow_at.filter(|at| *at <= now) {
            self.slow_at = Some(at + SLOW_EVERY);
            self.weather.slow_down(now + SLOW_FOR, with_leases);
        } else if self.weather.has(&format!("server/{}", self.acts), is_drawn, "slow") {
            self.weather.slow_down(now + Duration::from_millis(millis), with_leases);
        }
    }

    /// Has the API server start anew.
    fn restart_server(&mut self) {
        let mut draw = self.draw("restart");
        let is_drawn = draw.one_in(RESTART_IN);
        let millis = draw.below(DOWN_MAX_MILLIS);
        if self.weather.has(&format!("server/{}", self.acts), is_drawn, "restart") {
            self.weather.restart(Instant::now() + Duration::from_millis(millis));
        }
    }

    /// Gives the schedulers' Lease to another process, which never renews it.
    async fn steal(&mut self) -> Result<()> {
        let is_drawn = self.draw("thief").one_in(THIEF_IN);
        if !self.weather.has(&format!("thief/{}", self.acts), is_drawn, "thief") {
            return Ok(());
        }
        let leases: Api<Lease> = Api::namespaced(self.admin.clone(), namespace::SYSTEM);
        let patch = json!({
            "metadata": {"annotations": null},
            "spec": {"holderIdentity": "thief", "leaseDurationSeconds": 15},
        });
        let stolen = leases.patch(LEASE, &PatchParams::default(), &Patch::Merge(&patch)).await;
        match stolen {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            stolen => Ok(stolen.map(drop)?),
        }
    }

    /// Mends all, and lets nothing go wrong from now on.
    pub(super) async fn heal(&mut self, place: &Place) -> Result<()> {
        self.has_faults = false;
        self.weather.set_bad(false);
        self.nodes.mend(None).await?;
        self.definitions.bring_back(None).await?;
        for daemon in &mut self.daemons {
            daemon.skew.set(0);
            if daemon.link.is_cut() || daemon.task.is_finished() || daemon.again.is_some() {
                daemon.end();
                daemon.again = Some(Instant::now());
            }
        }
        self.revive(place).await
    }

    /// Kills all daemons and starts them again.
    pub(super) async fn restart(&mut self, place: &Place) -> Result<()> {
        for daemon in &mut self.daemons {
            daemon.end();
            daemon.again = Some(Instant::now());
        }
        self.revive(place).await
    }

    /// Gives why daemons ended by themselves: none ever should.
    pub(super) fn ended(&self) -> &[String] {
        &self.ended
    }

    /// Tells whether no daemon ended by itself, or did what none may do.
    pub(super) fn is_well(&self) -> bool {
        self.ended.is_empty() && self.findings().is_empty()
    }

    /// Promises that were seen broken on the ways of daemons.
    pub(super) fn findings(&self) -> Vec<String> {
        self.weather.findings()
    }

    /// All that went wrong.
    pub(super) fn happened(&self) -> Vec<Happened> {
        self.weather.happened()
    }

    /// The schedulers that bound something.
    pub(super) fn binders(&self) -> BTreeSet<String> {
        self.weather.binders()
    }
}

/// Gives luck for one purpose, whatever else is drawn.
fn seed_of(seed: &Seed, purpose: &str) -> Seed {
    let mut hasher = DefaultHasher::new();
    purpose.hash(&mut hasher);
    seed.split(hasher.finish())
}

impl Daemon {
    async fn start(identity: Identity, place: &Place, link: Link) -> Result<Self> {
        let stop = CancellationToken::new();
        let skew = Skew::seconds(identity.ahead);
        let task = match identity.program {
            Program::Scheduler => scheduler(place, &link, stop.clone(), skew.clone()).await?,
            Program::Podgrouper => podgrouper(place, &link, stop.clone(), skew.clone()).await?,
        };
        Ok(Self { identity, link, skew, stop, task, again: None })
    }

    /// Gives why it ended by itself.
    async fn why(&mut self) -> Option<String> {
        if self.link.is_cut() || !self.task.is_finished() {
            return None;
        }
        let why = (&mut self.task).await.unwrap_or_else(|error| Some(error.to_string()));
        // Who is not known any more ends, and reads its token anew.
        if why.as_ref().is_some_and(|why| why.contains("(401)")) {
            return None;
        }
        Some(format!("{:?} ended: {}", self.identity.program, why.unwrap_or_default()))
    }

    /// Ends it as kill -9 does.
    fn end(&self) {
        self.link.cut();
        self.stop.cancel();
        self.task.abort();
    }
}

async fn scheduler(
    place: &Place,
    link: &Link,
    stop: CancellationToken,
    skew: Skew,
) -> Result<JoinHandle<Option<String>>> {
    let words = [
        "kai-scheduler",
        "--listen-address=127.0.0.1:0",
        "--resource-reservation-pod-image=kai-scheduler",
        "--schedule-period=10s",
        "--update-pod-eviction-condition",
    ];
    let args = kai_scheduler::Args::from_command_line(words.map(|word| String::from(word).into()))?;
    let client = link.client(place.account(component::SCHEDULER).await?);
    Ok(tokio::spawn(async move {
        let run = Box::pin(kai_scheduler::run(args, client, stop));
        let ended = clock::skewed(skew, run).await;
        ended.err().map(|error| error.to_string())
    }))
}

async fn podgrouper(
    place: &Place,
    link: &Link,
    stop: CancellationToken,
    skew: Skew,
) -> Result<JoinHandle<Option<String>>> {
    let words = [
        "kai-podgrouper",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        "--namespace=kai-scheduler",
    ];
    let args = kai_podgrouper::Args::try_from_words(words.map(String::from))?;
    let client = link.client(place.account(component::PODGROUPER).await?);
    Ok(tokio::spawn(async move {
        let run = Box::pin(kai_podgrouper::run(args, client, stop));
        let ended = clock::skewed(skew, run).await;
        ended.err().map(|error| error.to_string())
    }))
}
