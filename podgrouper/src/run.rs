//! The daemon: watches in, queue, workers out.

use crate::object::{Object, POD_GROUP_API_VERSION};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use kai_daemon::lease::{Lease, Manner, Mode};
use kai_daemon::metrics::Register;
use kai_daemon::serve::{self, Listener};
use kai_daemon::silence;
use kube::Client;
use prometheus::{Encoder as _, TextEncoder};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::args::{Args, selector};
use crate::cache::{Cache, ObjectKey};
use crate::error::Error;
use crate::follow::{Change, Listing, Selection, follow, is_same_but_status};
use crate::global;
use crate::merge::lets_go;
use crate::meters::{Ended, Measured, Meters};
use crate::pod::Pod;
use crate::queue::Queue;
use crate::ready::Ready;
use crate::reconcile::{Failure, Reconciler, Shared};
use crate::record::{Heard, Keeper, follow_evictions};
use crate::scale;
use crate::shard;
use crate::slim::{PodGroupShape, PodShape};
use crate::status::{Controller, Devices, Dirty, Usage, parse_labels};
use crate::store::{Key, Store, group_of};
use kai_api::names;

mod cluster_scoped;

use cluster_scoped::{follow_classes, follow_queues};

const LEASE: &str = names::lease::PODGROUPER;
/// The pause between two attempts to take or to renew the Lease.
const RETRY: Duration = Duration::from_secs(2);
/// Time that a workload's controller may take before its pods say what they wait for.
const EARLY_MAX: Duration = Duration::from_mins(1);
/// So much is said of a failure.
const WHY_CHARS_MAX: usize = 1_000;
/// So many pods are passed on before others have the thread.
const PASSED_MAX: usize = 256;
/// Reads that fill the store before the first pod is looked at.
const LISTS: usize = 3;

/// Runs the podgrouper until `stop`, or until it may not go on.
///
/// Serves health, metrics and admission where the flags say so, waits for the Lease if asked to, and then
/// groups every pod of the scheduler. Restartable: all state is in the API.
///
/// # Errors
/// When an address cannot be served on, and when the Lease is lost.
pub async fn run(args: Args, client: Client, stop: CancellationToken) -> Result<(), Error> {
    for flag in args.idle_flags() {
        tracing::info!(flag, "accepted; it has nothing to do here");
    }
    // A connection that died without a word would leave it deaf, for ever where kube itself sets no bound.
    let client = silence::bounded(client);
    // Everything below ends with this run, however it ends.
    let work = stop.child_token();
    let _end = work.clone().drop_guard();
    let ready = Ready::default();
    let extra =
        parse_labels(&args.queue_label_to_metric_label, &args.queue_label_to_default_metric_value);
    let register = Register::default();
    let metrics = Measured::new(&args.metrics_namespace, extra, &register)?;
    let admission =
        Admission::start(&args, client.clone(), &ready, &register, work.clone()).await?;
    let health = {
        let ready = ready.clone();
        let router = serve::health(move || ready.problem());
        let flag = "--health-probe-bind-address";
        listen(&args.health_probe_bind_address, flag, router, &work).await?
    };
    let metrics_at = {
        let router = serve::metrics(move || text(&register));
        listen(&args.metrics_bind_address, "--metrics-bind-address", router, &work).await?
    };
    tracing::info!(?health, metrics = ?metrics_at, scheduler = %args.scheduler_name, "serving");
    let lead = lead_by_config(&args, client.clone(), metrics, ready.clone(), work.clone());
    let registrations = async {
        match admission.as_ref().filter(|_| !args.settings().is_kai_v017()) {
            Some(admission) => admission.register().await,
            None => std::future::pending().await,
        }
    };
    let lead = Box::pin(async {
        tokio::select! {
            biased;
            result = lead => result,
            () = registrations => Ok(()),
        }
    });
    let result = if args.leader_elect {
        let mode = Mode::Election { retry: RETRY };
        let lease = Lease::new(client.clone(), &args.system_namespace(&client), LEASE, mode);
        // A follower is ready: it could take over at once.
        ready.set();
        lead_by_lease(&lease, lead, &work).await
    } else {
        lead.await
    };
    work.cancel();
    if let Some(admission) = admission {
        admission.stopped().await;
    }
    result
}

/// Leads from the moment that the Lease is held until it is lost or the token ends it.
async fn lead_by_lease(
    lease: &Lease,
    lead: impl Future<Output = Result<(), Error>>,
    stop: &CancellationToken,
) -> Result<(), Error> {
    let Some(guard) = lease.acquire(Manner::Patient, stop).await else { return Ok(()) };
    // Whoever leads ends by itself when it is told to stop, and holds the Lease until then.
    let never = CancellationToken::new();
    let result = tokio::select! {
        biased;
        result = lead => result,
        Err(_lost) = guard.keep(&never) => Err(Error::LeaseLost(LEASE.to_owned())),
    };
    guard.release().await;
    result
}

/// Serves at an address until the token ends it; returns where, unless the address asks for nothing.
async fn listen(
    address: &str,
    flag: &'static str,
    router: Router,
    stop: &CancellationToken,
) -> Result<Option<SocketAddr>, Error> {
    // KAI's way to say "none".
    if address.is_empty() || address == "0" {
        return Ok(None);
    }
    let listener = Listener::bind(address, flag).await?;
    let local = listener.local;
    tokio::spawn(listener.serve(router, stop.clone()));
    Ok(Some(local))
}

fn text(register: &Register) -> Result<Vec<u8>, prometheus::Error> {
    let mut text = Vec::new();
    TextEncoder::new().encode(&register.gather(), &mut text)?;
    Ok(text)
}

/// Signals that a part gives to the others and is given.
struct Signals {
    /// Set once the first lists are complete.
    ready: Ready,
    /// Ends the part.
    stop: CancellationToken,
}

/// The controllers, until the token ends them, with what the Config says of all parts put over the flags: they begin anew
/// where it says something else. Beside KAI its operator hands that on as flags.
async fn lead_by_config(
    args: &Args,
    client: Client,
    metrics: Measured,
    ready: Ready,
    stop: CancellationToken,
) -> Result<(), Error> {
    // Deployments keep the names that they were installed with.
    let installed = &args.scheduler_name;
    if args.settings().is_kai_v017() {
        return lead(args, installed, client, metrics, Signals { ready, stop }).await;
    }
    let follower = global::Follower::default();
    let steer = async {
        let mut current = global::overlaid(args, global::read(&client).await.as_ref());
        loop {
            name_metrics(&metrics, &current);
            let work = stop.child_token();
            let _end = work.clone().drop_guard();
            let signals = Signals { ready: ready.clone(), stop: work };
            let leading = lead(&current, installed, client.clone(), metrics.clone(), signals);
            let next = tokio::select! {
                biased;
                result = leading => return result,
                next = follower.changed(args, &current) => next,
            };
            tracing::info!(
                scheduler = %next.scheduler_name,
                queue_label = %next.queue_label_key,
                "beginning anew: the Config says something else of all parts or of the podgrouper"
            );
            current = next;
        }
    };
    tokio::select! {
        biased;
        result = steer => result,
        () = follower.watch(client.clone()) => Ok(()),
    }
}

/// Tells of queues under the names and with the labels that the Config asks for; where it asks for what no metric can have,
/// all stays as it was.
fn name_metrics(metrics: &Measured, args: &Args) {
    let extra =
        parse_labels(&args.queue_label_to_metric_label, &args.queue_label_to_default_metric_value);
    if let Err(error) = metrics.queues.rename(&args.metrics_namespace, extra) {
        tracing::warn!(%error, "metrics of queues keep their names and labels (queueController in the Config)");
    }
}

/// The controllers, until the token ends them.
async fn lead(
    args: &Args,
    installed: &str,
    client: Client,
    metrics: Measured,
    Signals { ready, stop }: Signals,
) -> Result<(), Error> {
    let workers = args.max_concurrent_reconciles.max(1);
    let queue = Queue::new(metrics.meters.clone(), usize::try_from(workers).unwrap_or(usize::MAX));
    let sink = Sink {
        store: Arc::new(Store::default()),
        queue: Arc::new(queue),
        dirty: Arc::new(Dirty::default()),
        heard: Arc::new(Heard::default()),
        listed: Arc::new(watch::channel(0).0),
    };
    let (store, queue) = (sink.store.clone(), sink.queue.clone());
    let (changed, changes) = mpsc::unbounded_channel();
    let cache = Cache::new(client.clone(), stop.clone(), changed);
    let reconciler = Arc::new(Reconciler::new(
        client.clone(),
        args.settings(),
        selector(&args.namespace_label_selector),
        Shared { store: store.clone(), cache: cache.clone(), queue: queue.clone() },
    ));
    let mut lists = sink.listed.subscribe();
    let mut tasks = JoinSet::new();
    tasks.spawn(follow_pods(args, client.clone(), sink.clone()));
    // Beside KAI, which has controllers of its own for statuses and shards, ours keep out; nor does it put
    // right what somebody edits.
    let has_status = !reconciler.settings.is_kai_v017();
    tasks.spawn(follow_groups(client.clone(), sink.clone(), has_status));
    tasks.spawn(follow_classes(client.clone(), sink.clone()));
    if has_status {
        tasks.spawn(follow_queues(client.clone(), sink.clone()));
        let scheduler = args.scheduler_name.clone();
        let (heard, queues) = (sink.heard.clone(), store.clone());
        tasks.spawn(follow_evictions(client.clone(), scheduler.clone(), heard, queues));
        let place = shard::Place {
            namespace: args.system_namespace(&client),
            scheduler: installed.to_owned(),
            pools: args.pools(),
        };
        tasks.spawn(shard::run(client.clone(), place, metrics.meters.clone()));
        tasks.spawn(scale::run(client.clone(), scheduler, args.cluster_autoscaling));
    }
    tasks.spawn(pass_on(changes, reconciler.clone(), sink.clone()));
    tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(()),
        _ = lists.wait_for(|count| *count >= LISTS) => {}
    }
    ready.set();
    if has_status {
        let devices = Devices::new(cache, store.clone());
        let dirty = sink.dirty.clone();
        let controller =
            Controller::new(client.clone(), store, devices.clone(), dirty, metrics.queues);
        tasks.spawn(controller.run(metrics.meters.clone()));
        let heard = sink.heard.clone();
        tasks.spawn(Keeper::new(client, heard, devices, args.history_days).run());
    }
    for _ in 0..workers {
        tasks.spawn(work(reconciler.clone(), queue.clone(), metrics.meters.clone()));
    }
    stop.cancelled().await;
    Ok(())
}

/// Has looked at what hangs on objects that were read and changed since; ends with the cache.
async fn pass_on(
    mut changes: UnboundedReceiver<ObjectKey>,
    reconciler: Arc<Reconciler>,
    sink: Sink,
) {
    while let Some(object) = changes.recv().await {
        add_all(&sink.queue, reconciler.dependents.of(&object, &sink.store)).await;
        if object.gvk.is_node() {
            for group in sink.store.unplanned_groups(&object.name) {
                sink.dirty.group(group);
            }
        }
    }
}

/// Asks for rounds on pods, of which an object may have very many.
async fn add_all(queue: &Queue<Key>, pods: Vec<Key>) {
    for (number, pod) in (1_usize..).zip(pods) {
        queue.add(pod);
        if number.is_multiple_of(PASSED_MAX) {
            tokio::task::yield_now().await;
        }
    }
}

/// Groups one pod after the other; never ends.
pub(crate) async fn work(reconciler: Arc<Reconciler>, queue: Arc<Queue<Key>>, meters: Meters) {
    loop {
        let key = queue.take().await;
        let since = Instant::now();
        let result = reconciler.reconcile(&key).await;
        let how = match &result {
            Ok(()) => Ended::Well,
            Err(Failure::Aside | Failure::Early(_)) => Ended::Early,
            Err(Failure::Conflict | Failure::Away(_) | Failure::Wrong(_)) => Ended::Badly,
        };
        meters.worked(how, since.elapsed());
        match result {
            Ok(()) => queue.done(&key),
            Err(Failure::Aside) => queue.put_back(&key),
            Err(failure) => fail(&reconciler, &queue, &key, failure).await,
        }
        // Where nothing had to be waited for, all that is ready would be done before anything else on this thread, and before
        // it looks for what connections bring.
        tokio::task::yield_now().await;
    }
}

async fn fail(reconciler: &Reconciler, queue: &Queue<Key>, key: &Key, failure: Failure) {
    let lasted = queue.failed(key, matches!(failure, Failure::Away(_)));
    let why = match failure {
        Failure::Aside | Failure::Conflict => return,
        Failure::Away(why) => {
            // The watches say it once for all.
            tracing::debug!(pod = %key, "the API server is away: {why}");
            return;
        }
        Failure::Early(why) if lasted < EARLY_MAX && !reconciler.settings.is_kai_v017() => {
            tracing::debug!(pod = %key, "{why}; waiting for the workload's controller");
            return;
        }
        Failure::Early(why) | Failure::Wrong(why) => why,
    };
    // What users wrote may be in it, as long as an object can be.
    let why: String = why.chars().take(WHY_CHARS_MAX).collect();
    tracing::warn!(pod = %key, "failed to group: {why}");
    if let Some(pod) = reconciler.store.pod(key) {
        reconciler.warn(&pod, &why).await;
    }
}

/// Receiver of what the watches deliver.
#[derive(Clone)]
struct Sink {
    store: Arc<Store>,
    queue: Arc<Queue<Key>>,
    dirty: Arc<Dirty>,
    heard: Arc<Heard>,
    /// Number of lists that are complete.
    listed: Arc<watch::Sender<usize>>,
}

impl Sink {
    /// Counts a complete list, the first time.
    fn count(&self, is_counted: &mut bool) {
        if !std::mem::replace(is_counted, true) {
            self.listed.send_modify(|count| *count += 1);
        }
    }

    fn pod_gone(&self, key: &Key) {
        let Some(pod) = self.store.remove_pod(key) else { return };
        if let Some(group) = group_of(&pod) {
            self.heard.pod_gone(&group, &pod.uid);
            self.dirty.group(group);
        }
    }

    /// A priority class came, changed or went: what groups may have and others not take back hangs on it.
    fn set_class(&self, name: &str, class: Option<Arc<Object>>) {
        for group in self.store.set_class(name, class) {
            self.dirty.group(group);
        }
    }

    fn requeue_members(&self, group: &Key) {
        for pod in self.store.members(group) {
            self.queue.add(pod);
        }
    }

    fn group_gone(&self, key: &Key, puts_right: bool) {
        self.store.set_group(key, None);
        self.heard.group_gone(key);
        self.dirty.group(key.clone());
        if puts_right {
            self.requeue_members(key);
        }
    }
}

fn follow_pods(args: &Args, client: Client, sink: Sink) -> impl Future<Output = ()> + use<> {
    let labels: Vec<String> = selector(&args.pod_label_selector)
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let selection = Selection {
        fields: format!("spec.schedulerName={}", args.scheduler_name),
        labels: labels.join(","),
        ..Selection::of("v1", "Pod")
    };
    let mut listing = Listing::new();
    let mut is_counted = false;
    follow::<PodShape>(client, selection, move |change| match change {
        Change::ListStart => listing.start(),
        Change::Set(object) => {
            let (pod, usage) = (Pod::from_object(&object), Usage::of(object.value()));
            let (pod, before) = sink.store.set_pod(pod, usage);
            sink.heard.set_pod(&object, &pod);
            let key = Key::of(&pod);
            listing.see(key.clone());
            for one in before.iter().chain([&pod]) {
                let Some(group) = group_of(one) else { continue };
                // Its user may name ever new groups: it is in the last of them alone.
                if one.uid != pod.uid || group_of(&pod).as_ref() != Some(&group) {
                    sink.heard.pod_gone(&group, &one.uid);
                }
                sink.dirty.group(group);
            }
            sink.queue.add(key);
        }
        Change::Gone(object) => sink.pod_gone(&Key::new(object.namespace(), object.name())),
        Change::ListEnd => {
            for key in listing.end(sink.store.pod_keys()) {
                sink.pod_gone(&key);
            }
            sink.heard.listed();
            sink.count(&mut is_counted);
        }
    })
}

/// `PodGroup`s into the store. One that somebody else changed or deleted is put right by its pods, if asked, and so is one that
/// holds no places any more.
fn follow_groups(client: Client, sink: Sink, puts_right: bool) -> impl Future<Output = ()> {
    let mut listing = Listing::new();
    let mut is_counted = false;
    let selection = Selection::of(POD_GROUP_API_VERSION, "PodGroup");
    follow::<PodGroupShape>(client, selection, move |change| match change {
        Change::ListStart => listing.start(),
        Change::Set(object) => {
            let key = Key::new(object.namespace(), object.name());
            listing.see(key.clone());
            let stored = sink.store.group_at_once(&key);
            let is_news = stored.is_some_and(|stored| {
                lets_go(&stored, &object) || !is_same_but_status(&stored, &object)
            });
            // A list is the truth, whatever versions it has.
            if listing.is_open() {
                sink.store.set_group(&key, Some(&object));
            } else if !sink.store.update_group(&key, &object) {
                return;
            }
            sink.heard.set_group(&key, &object);
            sink.dirty.group(key.clone());
            if is_news && puts_right {
                sink.requeue_members(&key);
            }
        }
        Change::Gone(object) => {
            sink.group_gone(&Key::new(object.namespace(), object.name()), puts_right);
        }
        Change::ListEnd => {
            for key in listing.end(sink.store.group_keys()) {
                sink.group_gone(&key, puts_right);
            }
            sink.count(&mut is_counted);
        }
    })
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// Counts keys that wait, and takes them.
    fn drain(queue: &Queue<Key>) -> usize {
        let mut count = 0;
        while let Some(key) = queue.take().now_or_never() {
            queue.done(&key);
            count += 1;
        }
        count
    }

    /// Whoever edits what ten thousand pods hang on would hold a thread for as long as it takes to ask for all of them.
    #[tokio::test]
    async fn pods_are_passed_on_some_at_a_time() {
        let queue = Queue::new(Meters::new(&Register::default()).expect("names"), 10);
        let keys = (0..2 * PASSED_MAX).map(|number| Key::new("n", &number.to_string()));
        let mut adding = Box::pin(add_all(&queue, keys.collect()));
        assert!(adding.as_mut().now_or_never().is_none());
        assert_eq!(drain(&queue), PASSED_MAX);
        adding.await;
        assert_eq!(drain(&queue), PASSED_MAX);
    }
}
