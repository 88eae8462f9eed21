//! Starting and ending: the parts put together, and taken apart again in order.

use std::{sync::Arc, time::Duration};

use kai_daemon::{
    backoff, clock, connect,
    lease::{Guard, Lease, Manner, Mode},
    requests,
    serve::{self, Listener},
};
use kai_engine::Delta;
use kube::{Client, client::ClientBuilder};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    actuate::Actuator,
    bind_requests,
    cel::desk::Desk,
    dispatch::Dispatch,
    ingest::{Kind, Rules, Selector},
    run::{self, Channels, End, Run},
    serve::{health::Health, metrics::Metrics, order},
    server::{OpenWrites, Write},
    settings::{Args, config},
    sharing::{Sharing, cdi, image},
    usage,
    watch::{self, Source},
};

mod devices;

use devices::Devices;

/// Batches of events on their way to the loop; bounds the memory that a slow loop costs.
const BATCHES_MAX: usize = 256;
/// The pause between two attempts to take or to renew the Lease, with election.
const RETRY: Duration = Duration::from_secs(5);

/// Says why the scheduler ended.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The API server is not known.
    #[error(transparent)]
    Connect(#[from] connect::Error),
    /// The client cannot be made.
    #[error("failed to make a client of the API server")]
    Client(#[source] Box<kube::Error>),
    /// The configuration file cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The endpoints cannot be served.
    #[error(transparent)]
    Serve(#[from] serve::Error),
    /// There is no thread for selectors.
    #[error("failed to start a thread for selectors of devices")]
    Thread(#[source] std::io::Error),
    /// A watch cannot go on.
    #[error(transparent)]
    Watch(#[from] watch::Error),
    /// The loop cannot go on.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// `resource.k8s.io` is served another way than when the turn of leading began.
    #[error("resource.k8s.io is served otherwise than before: starting anew")]
    Devices,
    /// Another scheduler leads.
    #[error("lost the lease {0} (--leader-elect)")]
    LeaseLost(String),
}

/// Names this program in requests.
const AGENT: &str = concat!("kai-scheduler/", env!("CARGO_PKG_VERSION"));

/// A client as the command line asks for it. It never retries by itself: what may be sent again is
/// decided where the write is understood.
///
/// # Errors
/// [`Error::Connect`], [`Error::Client`].
pub async fn client(args: &Args) -> Result<Client, Error> {
    let mut config = connect::config(AGENT, args.kubeconfig.as_deref()).await?;
    config.default_retry = false;
    let layer = requests::counted(&config);
    let client = ClientBuilder::try_from(config).map_err(|error| Error::Client(Box::new(error)))?;
    Ok(client.with_layer(&layer).build())
}

/// Schedules until `stop`, then ends what is in flight and gives the Lease back.
///
/// # Errors
/// Where it cannot start, and where only a new start can help.
pub async fn run(args: Args, client: Client, stop: CancellationToken) -> Result<(), Error> {
    let unused = args.accepted.given();
    if !unused.is_empty() {
        tracing::info!(flags = unused.join(", "), "accepted flags that have no effect here");
    }
    let source = config::Source::new(&args)?;
    let health = Health::default();
    let metrics = Metrics::new(&args.metrics_namespace);
    let listener = Listener::bind(&args.listen_address.to_string(), "--listen-address").await?;
    tracing::info!(address = %listener.local, "serving /metrics, /healthz and /readyz");
    let name = lease_name(&args);
    let served = tokio::spawn(listener.serve(router(&health, &metrics, &name), stop.clone()));
    let mode = if args.leader_elect { Mode::Election { retry: RETRY } } else { Mode::Handover };
    let lease = Lease::new(client.clone(), &args.namespace, &name, mode);
    let shared = Shared { args, client, source, health, metrics };
    let result = shared.lead_by_turns(&lease, &stop).await;
    served.abort();
    match result {
        Ok(End::Lost) => Err(Error::LeaseLost(name)),
        Ok(End::Stopped) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Routes what is answered over HTTP.
fn router(health: &Health, metrics: &Metrics, lease: &str) -> axum::Router {
    let (health, metrics, lease) = (health.clone(), metrics.clone(), lease.to_owned());
    let asked = health.clone();
    let problem = move || Some(health.problems().join("\n")).filter(|text| !text.is_empty());
    serve::health(problem).merge(serve::metrics(move || metrics.text(&lease, asked.is_leading())))
}

/// KAI's name, so that both never act at once. Source: docs/contract.md 7.7.
fn lease_name(args: &Args) -> String {
    match &*args.partition_label_value {
        "" => args.scheduler_name.clone(),
        pool => format!("{}-{pool}", args.scheduler_name),
    }
}

/// Holds what outlives a turn of leading.
struct Shared {
    args: Args,
    client: Client,
    source: config::Source,
    health: Health,
    metrics: Metrics,
}

impl Shared {
    /// Leads while the Lease is held. Who loses it stands by with nothing remembered, or ends where an election was asked for;
    /// who remembers too much, or reads devices as they are not served any more, begins anew.
    async fn lead_by_turns(&self, lease: &Lease, stop: &CancellationToken) -> Result<End, Error> {
        let mut manner = Manner::Newest;
        loop {
            let Some(guard) = lease.acquire(manner, stop).await else { return Ok(End::Stopped) };
            manner = Manner::Patient;
            self.health.leads(true);
            let end = Box::pin(self.lead(&guard, stop)).await;
            self.health.leads(false);
            match end {
                Ok(End::Lost) if !self.args.leader_elect => {
                    tracing::warn!("a newer scheduler took the lease over: standing by");
                }
                Ok(End::Lost) => return Ok(End::Lost),
                Ok(End::Stopped) => {
                    guard.release().await;
                    return Ok(End::Stopped);
                }
                // All that was remembered is gone with the turn. A process that ended would be started later each time.
                Err(anew @ (Error::Run(run::Error::Names { .. }) | Error::Devices)) => {
                    guard.release().await;
                    tracing::warn!("{anew}");
                }
                Err(error) => {
                    guard.release().await;
                    return Err(error);
                }
            }
        }
    }

    /// One turn: all parts start, and all have ended when it returns.
    async fn lead(&self, guard: &Guard, stop: &CancellationToken) -> Result<End, Error> {
        let turn = stop.child_token();
        self.settle_leftovers(guard, stop).await;
        let Some(devices) = Devices::ask(&self.client, stop).await else {
            return Ok(End::Stopped);
        };
        let (events_in, events) = mpsc::channel(BATCHES_MAX);
        let (outcomes_in, outcomes) = mpsc::unbounded_channel();
        let (tasks, tasks_out) = mpsc::unbounded_channel();
        let resync: [Arc<Notify>; Kind::COUNT] = Default::default();
        let mut watches = JoinSet::new();
        for source in sources(&self.args, devices.version, &resync) {
            watches.spawn(watch::watch(
                self.client.clone(),
                source,
                events_in.clone(),
                self.health.clone(),
                turn.clone(),
            ));
        }
        drop(events_in);
        let actuator =
            Actuator::new(self.client.clone(), guard.clone(), self.metrics.clone(), outcomes_in);
        let actuator = tokio::spawn(actuator.run(tasks_out, turn.clone()));
        let keeper = tokio::spawn({
            let (guard, turn) = (guard.clone(), turn.clone());
            clock::inherited(async move { guard.keep(&turn).await })
        });
        let home = self.args.namespace.clone();
        let latency = self.metrics.usage_query.clone();
        let (usage, reader) = usage::feed(self.args.usage_prometheus(), home, latency);
        let teller = tokio::spawn(reader.tell(self.write(guard, &turn), turn.clone()));
        let reader = tokio::spawn(reader.keep(turn.clone()));
        let (order, endpoint) = order::desk(self.args.plugin_server_port);
        let endpoint = tokio::spawn(endpoint.keep(turn.clone()));
        let selecting = Desk::open().map_err(Error::Thread)?;
        let channels = Channels { events, outcomes, tasks, resync, usage, selecting, order };
        let (client, set) = (self.client.clone(), self.args.sharing.cdi());
        let (says_cdi, has_cdi) = tokio::sync::watch::channel(cdi::ask(&client, set, &turn).await);
        let policy = tokio::spawn(cdi::follow(client, set, says_cdi, turn.clone()));
        let sharing = &self.args.sharing;
        let image = if sharing.resource_reservation_pod_image.is_empty() {
            image::own_image(&self.client, &self.args.namespace, &turn).await
        } else {
            None
        };
        // All of the state is in this future.
        let state = self.state(devices, image, has_cdi);
        let looped = Box::pin(state.run(channels, guard, &turn));
        let result = tokio::select! {
            biased;
            end = looped => end.map_err(Error::from),
            Some(Ok(Err(error))) = watches.join_next() => Err(Error::from(error)),
            () = devices.served_otherwise(&self.client) => Err(Error::Devices),
        };
        turn.cancel();
        watches.shutdown().await;
        // They end by themselves once cancelled; that one was aborted means nothing.
        let _ = actuator.await;
        let _ = keeper.await;
        let _ = reader.await;
        let _ = teller.await;
        let _ = endpoint.await;
        let _ = policy.await;
        result
    }

    /// Gives what a write needs.
    fn write(&self, guard: &Guard, stop: &CancellationToken) -> Write {
        Write {
            client: self.client.clone(),
            guard: guard.clone(),
            metrics: self.metrics.clone(),
            stop: stop.clone(),
            open: OpenWrites::default(),
            idle: CancellationToken::new(),
        }
    }

    /// Before anything is listed, so that what is finished is seen as such. It is tried until it works: a pod with a
    /// place that is not known here could be given a second one.
    async fn settle_leftovers(&self, guard: &Guard, stop: &CancellationToken) {
        let write = self.write(guard, stop);
        let (selector, scheduler) = (pool_selector(&self.args), &self.args.scheduler_name);
        let mut failures = 0;
        loop {
            let result = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = guard.lost() => return,
                result = bind_requests::settle(&write, &selector, scheduler) => result,
            };
            let Err(failure) = result else { return };
            if failures == 0 {
                tracing::warn!(%failure, "failed to list BindRequests");
            }
            failures += 1;
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = tokio::time::sleep(backoff(failures)) => {}
            }
        }
    }

    fn state(
        &self,
        devices: Devices,
        image: Option<Box<str>>,
        has_cdi: tokio::sync::watch::Receiver<bool>,
    ) -> Run {
        let args = &self.args;
        let has_pool =
            !args.nodepool_label_key.is_empty() && !args.partition_label_value.is_empty();
        let rules = Rules::new(args);
        let dispatch = Dispatch {
            pool_label: has_pool.then(|| {
                (Box::from(&*args.nodepool_label_key), Box::from(&*args.partition_label_value))
            }),
            announces_evictions: args.update_pod_eviction_condition,
            asks_budgets: args.respect_disruption_budgets,
            devices_version: devices.version,
            has_hami_core: args.sharing.plugins.has_hami_core,
            has_cdi,
            ..Dispatch::new(rules.pool(), &args.scheduler_name, self.metrics.clone())
        };
        let (source, health) = (self.source.clone(), self.health.clone());
        let mut run = Run::begin(args, source, health, dispatch, Sharing::new(args, image));
        run.cluster.apply(Delta::ClaimsServed(devices.are_served));
        run
    }
}

/// Says where each kind is found that matters under these flags. What belongs to another node pool is left out by the
/// server.
fn sources<'s>(
    args: &'s Args,
    devices_version: &'s str,
    resync: &'s [Arc<Notify>; Kind::COUNT],
) -> impl Iterator<Item = Source> {
    let pool = pool_selector(args);
    let watched = Kind::ALL.into_iter().filter(|kind| kind.is_watched(args));
    watched.map(move |kind| Source {
        kind,
        path: kind.path(devices_version),
        selector: match kind.selector() {
            Selector::All => String::new(),
            Selector::Pool => pool.clone(),
            Selector::Query(query) => String::from(query),
        },
        resync: Arc::clone(&resync[kind.index()]),
    })
}

/// Source: docs/behaviour.md 12.1.
fn pool_selector(args: &Args) -> String {
    let key = args.nodepool_label_key.replace('/', "%2F");
    match (&*key, &*args.partition_label_value) {
        ("", _) => String::new(),
        (key, "") => format!("&labelSelector=%21{key}"),
        (key, value) => format!("&labelSelector={key}%3D{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flags of the scheduler of a node pool.
    fn of_pool(key: &str, value: &str) -> Args {
        Args {
            nodepool_label_key: String::from(key),
            partition_label_value: String::from(value),
            ..Args::default()
        }
    }

    /// Of two schedulers that shared one all pods of one pool would wait for ever.
    #[test]
    fn each_pool_has_a_lease_of_its_own() {
        let name = |value| lease_name(&of_pool("kai.scheduler/node-pool", value));
        assert_eq!(
            ["", "blue", "red"].map(name),
            ["kai-scheduler", "kai-scheduler-blue", "kai-scheduler-red"]
        );
    }

    #[test]
    fn the_server_is_asked_for_what_is_of_the_pool() {
        for (key, value, expect) in [
            ("", "", ""),
            ("", "blue", ""),
            ("example.com/pool", "", "&labelSelector=%21example.com%2Fpool"),
            ("example.com/pool", "blue", "&labelSelector=example.com%2Fpool%3Dblue"),
        ] {
            assert_eq!(pool_selector(&of_pool(key, value)), expect);
        }
    }
}
