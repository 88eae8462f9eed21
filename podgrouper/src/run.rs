//! The daemon: watches in, queue, workers out.

use crate::object::POD_GROUP_API_VERSION;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use prometheus_client::registry::Registry;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::args::{Args, selector};
use crate::cache::Cache;
use crate::error::Error;
use crate::follow::{Change, Listing, Selection, follow, is_same_but_status};
use crate::lease::Candidate;
use crate::pod::Pod;
use crate::queue::Queue;
use crate::reconcile::{Failure, Reconciler};
use crate::serve::{self, Ready};
use crate::store::{Key, Store};
use kai_api::names;

const LEASE: &str = names::lease::PODGROUPER;
/// How long a workload's controller may take before its pods say what they wait for.
const EARLY_MAX: Duration = Duration::from_mins(1);
/// Reads that fill the store before the first pod is looked at.
const LISTS: usize = 3;

/// Runs the podgrouper until `stop`, or until it may not go on.
///
/// Serves health and metrics where the flags say so, waits for the Lease if asked to, and then
/// groups every pod of the scheduler. Restartable: all state is in the API.
///
/// # Errors
/// When an address cannot be served on, and when the Lease is lost.
pub async fn run(args: Args, client: Client, stop: CancellationToken) -> Result<(), Error> {
    for flag in args.idle_flags() {
        tracing::info!(flag, "accepted; it has nothing to do here");
    }
    // Everything below ends with this run, however it ends.
    let work = stop.child_token();
    let _end = work.clone().drop_guard();
    let ready = Ready::default();
    let registry = Arc::new(Registry::default());
    let health =
        serve::health(&args.health_probe_bind_address, ready.clone(), work.clone()).await?;
    let metrics = serve::metrics(&args.metrics_bind_address, registry, work.clone()).await?;
    tracing::info!(?health, ?metrics, scheduler = %args.scheduler_name, "serving");
    if !args.leader_elect {
        return lead(&args, client, ready, work).await;
    }
    let mut candidate = Candidate::new(client.clone(), LEASE);
    // A follower is ready: it could take over at once.
    ready.set();
    tokio::select! {
        () = work.cancelled() => return Ok(()),
        () = candidate.acquire() => tracing::info!(lease = LEASE, "leading"),
    }
    let result = tokio::select! {
        result = lead(&args, client, ready, work.clone()) => result,
        () = candidate.hold() => Err(Error::LeaseLost(LEASE.to_owned())),
    };
    candidate.release().await;
    result
}

/// The controllers, until the token ends them.
async fn lead(
    args: &Args,
    client: Client,
    ready: Ready,
    stop: CancellationToken,
) -> Result<(), Error> {
    let store = Arc::new(Store::default());
    let queue = Arc::new(Queue::new());
    let (changed, mut changes) = mpsc::unbounded_channel();
    let cache = Cache::new(client.clone(), stop.clone(), changed);
    let reconciler = Arc::new(Reconciler::new(
        client.clone(),
        args.settings(),
        selector(&args.namespace_label_selector),
        store.clone(),
        cache,
    ));
    let (listed, mut lists) = watch::channel(0_usize);
    let listed = Arc::new(listed);
    let mut tasks = JoinSet::new();
    tasks.spawn(follow_pods(args, client.clone(), store.clone(), queue.clone(), listed.clone()));
    tasks.spawn(follow_groups(client.clone(), store.clone(), queue.clone(), listed.clone()));
    tasks.spawn(follow_classes(client, store.clone(), listed));
    {
        let (reconciler, store, queue) = (reconciler.clone(), store.clone(), queue.clone());
        tasks.spawn(async move {
            while let Some(object) = changes.recv().await {
                for key in reconciler.dependents.of(&object, &store) {
                    queue.add(key);
                }
            }
        });
    }
    tokio::select! {
        () = stop.cancelled() => return Ok(()),
        _ = lists.wait_for(|count| *count >= LISTS) => {}
    }
    ready.set();
    for _ in 0..args.max_concurrent_reconciles.max(1) {
        tasks.spawn(work(reconciler.clone(), queue.clone()));
    }
    stop.cancelled().await;
    Ok(())
}

async fn work(reconciler: Arc<Reconciler>, queue: Arc<Queue<Key>>) {
    loop {
        let key = queue.take().await;
        match reconciler.reconcile(&key).await {
            Ok(()) => queue.done(&key),
            Err(failure) => fail(&reconciler, &queue, &key, failure).await,
        }
    }
}

async fn fail(reconciler: &Reconciler, queue: &Queue<Key>, key: &Key, failure: Failure) {
    let lasted = queue.failed(key);
    let why = match failure {
        Failure::Conflict => return,
        Failure::Early(why) if lasted < EARLY_MAX && !reconciler.settings.is_peer() => {
            tracing::debug!(pod = %key, "{why}; waiting for the workload's controller");
            return;
        }
        Failure::Early(why) | Failure::Wrong(why) => why,
    };
    tracing::warn!(pod = %key, "failed to group: {why}");
    if let Some(pod) = reconciler.store.pod(key) {
        reconciler.warn(&pod, &why).await;
    }
}

fn count(listed: &watch::Sender<usize>, is_counted: &mut bool) {
    if !std::mem::replace(is_counted, true) {
        listed.send_modify(|count| *count += 1);
    }
}

fn follow_pods(
    args: &Args,
    client: Client,
    store: Arc<Store>,
    queue: Arc<Queue<Key>>,
    listed: Arc<watch::Sender<usize>>,
) -> impl Future<Output = ()> + use<> {
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
    follow(client, selection, move |change| match change {
        Change::ListStart => listing.start(),
        Change::Set(object) => {
            let key = Key::new(object.namespace(), object.name());
            listing.see(key.clone());
            let pod = Arc::new(Pod::from_value(object.value()));
            store.set_pod(&key, Some(&pod));
            queue.add(key);
        }
        Change::Gone(object) => {
            store.set_pod(&Key::new(object.namespace(), object.name()), None);
        }
        Change::ListEnd => {
            for key in listing.end(store.pod_keys()) {
                store.set_pod(&key, None);
            }
            count(&listed, &mut is_counted);
        }
    })
}

/// `PodGroups` into the store. One that somebody else changed or deleted is put right by its pods.
fn follow_groups(
    client: Client,
    store: Arc<Store>,
    queue: Arc<Queue<Key>>,
    listed: Arc<watch::Sender<usize>>,
) -> impl Future<Output = ()> {
    let mut listing = Listing::new();
    let mut is_counted = false;
    let requeue = move |store: &Store, key: &Key| {
        for pod in store.members(key) {
            queue.add(pod);
        }
    };
    follow(client, Selection::of(POD_GROUP_API_VERSION, "PodGroup"), move |change| match change {
        Change::ListStart => listing.start(),
        Change::Set(object) => {
            let key = Key::new(object.namespace(), object.name());
            listing.see(key.clone());
            let stored = store.group(&key);
            let is_news = stored.is_some_and(|stored| !is_same_but_status(&stored, &object));
            store.set_group(&key, Some(object));
            if is_news {
                requeue(&store, &key);
            }
        }
        Change::Gone(object) => {
            let key = Key::new(object.namespace(), object.name());
            store.set_group(&key, None);
            requeue(&store, &key);
        }
        Change::ListEnd => {
            for key in listing.end(store.group_keys()) {
                store.set_group(&key, None);
                requeue(&store, &key);
            }
            count(&listed, &mut is_counted);
        }
    })
}

fn follow_classes(
    client: Client,
    store: Arc<Store>,
    listed: Arc<watch::Sender<usize>>,
) -> impl Future<Output = ()> {
    let mut listing = Listing::new();
    let mut is_counted = false;
    follow(client, Selection::of("scheduling.k8s.io/v1", "PriorityClass"), move |change| {
        match change {
            Change::ListStart => listing.start(),
            Change::Set(object) => {
                let name = object.name().to_owned();
                listing.see(name.clone());
                store.set_class(&name, Some(object));
            }
            Change::Gone(object) => store.set_class(object.name(), None),
            Change::ListEnd => {
                for name in listing.end(store.class_names()) {
                    store.set_class(&name, None);
                }
                count(&listed, &mut is_counted);
            }
        }
    })
}
