//! The processes of a simulated cluster: started, killed and started again.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use k8s_openapi::api::core::v1::Node;
use kai_api::names::component;
use kai_sandbox::{
    nodes::{self, Nodes, fault::FAULTS},
    operators::{self, Choice},
};
use kai_sim::generate::Seed;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Settings,
    link::{Link, Weather},
};
use crate::live::Place;

/// Something happens to a node once in so many of the users' acts.
const NODE_FAULT_IN: u64 = 15;
/// The longest time that a dead daemon stays dead, and that a node is out of order.
const DEAD_MAX_MILLIS: u64 = 30_000;
const BROKEN_MAX_MILLIS: u64 = 600_000;

/// All processes.
pub(super) struct Parts {
    draw: Seed,
    weather: Arc<Weather>,
    has_faults: bool,
    admin: Client,
    users: Client,
    daemons: Vec<Daemon>,
    nodes: u32,
    broken: Vec<(Instant, String)>,
    /// Nodes that were deleted, as they were.
    gone: BTreeMap<String, Node>,
    ended: Vec<String>,
}

/// Program of a daemon.
#[derive(Clone, Copy, Debug)]
enum Program {
    Scheduler,
    Podgrouper,
}

/// A daemon, and when it is started again where it is dead.
struct Daemon {
    program: Program,
    link: Link,
    stop: CancellationToken,
    /// Gives why it ended, where that was by itself.
    task: JoinHandle<Option<String>>,
    again: Option<Instant>,
}

impl Parts {
    /// Starts them all.
    pub(super) async fn start(place: &Place, seed: &Seed, settings: &Settings) -> Result<Self> {
        let mut draw = seed.split(2);
        let mut calm = || Link::new(Seed::new(draw.number()), None);
        let admin = place.admin().await?;
        let groups = nodes::group::parse(&format!("{}xH100:8", settings.nodes))?;
        let options = nodes::Options {
            specs: nodes::group::expand(&groups, 8),
            seed: settings.seed,
            is_reachable: false,
            ..nodes::Options::default()
        };
        // Kubelets and operators run until the runtime ends.
        drop(Nodes::new(options).start(calm().client(admin.clone())).await?);
        let core = Choice::Named(vec!["core"]);
        drop(operators::start(calm().client(admin.clone()), &core, 1).await?);
        let users = calm().client(admin.clone());
        let weather = Arc::new(Weather::default());
        weather.set_bad(settings.has_faults);
        let mut programs = vec![Program::Scheduler, Program::Podgrouper];
        // Two of one name, of which one leads at a time.
        if settings.has_faults && draw.one_in(3) {
            programs.push(Program::Scheduler);
        }
        let mut daemons = Vec::new();
        for program in programs {
            let link = Link::new(Seed::new(draw.number()), Some(&weather));
            daemons.push(Daemon::start(program, place, link).await?);
        }
        let (has_faults, nodes) = (settings.has_faults, settings.nodes);
        let (broken, gone, ended) = Default::default();
        Ok(Self { draw, weather, has_faults, admin, users, daemons, nodes, broken, gone, ended })
    }

    /// The client of users.
    pub(super) fn user_client(&self) -> Client {
        self.users.clone()
    }

    /// Starts again what has died a while ago, and breaks and mends nodes.
    pub(super) async fn tend(&mut self, place: &Place) -> Result<()> {
        let now = Instant::now();
        for daemon in &mut self.daemons {
            match daemon.again {
                None if daemon.link.is_cut() || daemon.task.is_finished() => {
                    self.ended.extend(daemon.why().await);
                    daemon.end();
                    let millis = self.draw.below(DEAD_MAX_MILLIS);
                    daemon.again = Some(now + Duration::from_millis(millis));
                }
                Some(again) if again <= now => {
                    let link = Link::new(Seed::new(self.draw.number()), Some(&self.weather));
                    *daemon = Daemon::start(daemon.program, place, link).await?;
                }
                Some(_) | None => {}
            }
        }
        let (due, rest) =
            std::mem::take(&mut self.broken).into_iter().partition(|(at, _)| *at <= now);
        self.broken = rest;
        let due: Vec<(Instant, String)> = due;
        for (_, node) in due {
            self.set_fault(&node, None).await?;
        }
        if self.has_faults && self.draw.one_in(NODE_FAULT_IN) {
            let node = format!("node-{}", 1 + self.draw.below(u64::from(self.nodes)));
            let faults = ["dead", "reject", "lost=0", "lost=1,lost=2", "cordon", "gone"];
            let fault = *self.draw.pick(&faults);
            if self.broken.iter().all(|(_, broken)| *broken != node) {
                self.set_fault(&node, Some(fault)).await?;
                self.weather.count();
                let millis = self.draw.below(BROKEN_MAX_MILLIS);
                self.broken.push((now + Duration::from_millis(millis), node));
            }
        }
        Ok(())
    }

    async fn set_fault(&mut self, node: &str, fault: Option<&str>) -> Result<()> {
        let nodes: Api<Node> = Api::all(self.admin.clone());
        if fault == Some("gone") {
            self.gone.insert(node.to_owned(), nodes.get(node).await?);
            nodes.delete(node, &DeleteParams::default()).await?;
            return Ok(());
        }
        if let Some(mut gone) = self.gone.remove(node) {
            let status = json!({"status": gone.status});
            gone.metadata.resource_version = None;
            gone.metadata.uid = None;
            gone.metadata.managed_fields = None;
            nodes.create(&PostParams::default(), &gone).await?;
            nodes.patch_status(node, &PatchParams::default(), &Patch::Merge(status)).await?;
            return Ok(());
        }
        let annotation = fault.filter(|fault| *fault != "cordon");
        let is_cordoned = (fault == Some("cordon")).then_some(true);
        let patch = json!({
            "metadata": {"annotations": {(FAULTS): annotation}},
            "spec": {"unschedulable": is_cordoned},
        });
        nodes.patch(node, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }

    /// Mends all, and lets nothing go wrong from now on.
    pub(super) async fn heal(&mut self, place: &Place) -> Result<()> {
        self.has_faults = false;
        self.weather.set_bad(false);
        for (_, node) in std::mem::take(&mut self.broken) {
            self.set_fault(&node, None).await?;
        }
        for daemon in &mut self.daemons {
            if daemon.link.is_cut() || daemon.task.is_finished() || daemon.again.is_some() {
                daemon.end();
                daemon.again = Some(Instant::now());
            }
        }
        self.tend(place).await
    }

    /// Gives why daemons ended by themselves: none ever should.
    pub(super) fn ended(&self) -> &[String] {
        &self.ended
    }

    /// The number of things that went wrong.
    pub(super) fn faults(&self) -> u64 {
        self.weather.faults()
    }
}

impl Daemon {
    async fn start(program: Program, place: &Place, link: Link) -> Result<Self> {
        let stop = CancellationToken::new();
        let task = match program {
            Program::Scheduler => scheduler(place, &link, stop.clone()).await?,
            Program::Podgrouper => podgrouper(place, &link, stop.clone()).await?,
        };
        Ok(Self { program, link, stop, task, again: None })
    }

    /// Gives why it ended by itself.
    async fn why(&mut self) -> Option<String> {
        if self.link.is_cut() || !self.task.is_finished() {
            return None;
        }
        let why = (&mut self.task).await.unwrap_or_else(|error| Some(error.to_string()));
        Some(format!("{:?} ended: {}", self.program, why.unwrap_or_default()))
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
) -> Result<JoinHandle<Option<String>>> {
    let words = [
        "kai-scheduler",
        "--listen-address=127.0.0.1:0",
        "--resource-reservation-pod-image=kai-scheduler",
        "--schedule-period=10s",
    ];
    let args = kai_scheduler::Args::from_command_line(words.map(|word| String::from(word).into()))?;
    let client = link.client(place.account(component::SCHEDULER).await?);
    Ok(tokio::spawn(async move {
        let ended = Box::pin(kai_scheduler::run(args, client, stop)).await;
        ended.err().map(|error| error.to_string())
    }))
}

async fn podgrouper(
    place: &Place,
    link: &Link,
    stop: CancellationToken,
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
        let ended = kai_podgrouper::run(args, client, stop).await;
        ended.err().map(|error| error.to_string())
    }))
}
