//! Records of what workloads did: when they waited and ran, the GPU time that they held, who evicted them and how they
//! ended. Events live for an hour and objects until somebody deletes them; records stay for some weeks.
//!
//! ```text
//!  pods, PodGroups, events ─► heard ─► span, eviction ─► settle (pure) ─► keeper ─► books ─► DailyRecords
//! ```
//!
//! # Why a kind of its own
//! A record is a `DailyRecord` in the workload's own namespace, one for each day of UTC, or several where a day has many
//! workloads.
//!
//! * Whoever may read a namespace reads its history, with no right outside it. RBAC cannot give out parts of one object,
//!   so records of all tenants together could be read by administrators alone.
//! * `ConfigMap`s would do for reading. But those who work in a namespace may edit its `ConfigMap`s, and with them their
//!   bills, and this daemon would have to be allowed to write every `ConfigMap` of the cluster.
//! * An object has room for 256 KiB and 128 workloads before the next one is begun, and a workload grows by some KiB at
//!   most, so that it stays below the 1.5 MiB of etcd.
//! * A day has 5,000 workloads of a namespace. Beyond that those that are gone are summed up, a row an object, first those
//!   that never had a node: whoever makes and deletes pods all day long fills neither etcd nor this daemon.
//! * One object for each workload would be a million objects in a month of short jobs. One for each day is as many as
//!   there are namespaces with work, and a day is what is charged for, filtered by (a label) and deleted.
//! * The workloads are a map, so that a write carries those that changed and not the whole day.
//!
//! The price: records go with their namespace. Who charges for namespaces that come and go exports them
//! (`kubectl kai history usage -o csv`).
//!
//! # Writes
//! A change is written some seconds after it is heard of, with all that changed meanwhile in one patch for each namespace.
//! So writes follow starts and ends of pods, not how many there are; while nothing changes, a record says what is held
//! since when. At midnight each workload that holds something is settled once, so that endless work is counted by the day.
//!
//! # Restarts
//! A record says up to when it counts, and every write is guarded by its resource version. Times of starts and ends are
//! those of the API. So whoever begins anew, or takes the Lease over, counts on from there: nothing twice, and nothing
//! left out but pods that came and went while nobody looked. Pods that went away meanwhile are charged until they are
//! missed. An eviction is read from its event, which an API server keeps for an hour.
//!
//! # Records that others wrote
//! Whoever has the right to write records in a namespace writes any. Each is read for itself: one that the podgrouper cannot
//! have written (of another day, with larger rows or more of them, or such that it cannot be read) is passed over, with a
//! warning for its namespace, and stays. Where it has the name of the day's next object, that one is given a name that
//! nobody foresees, after one try. Of a namespace and day 16 MiB are in memory beside the rows of workloads that are there,
//! and 2,048 objects are looked at.
//!
//! # The user
//! Pods of jobs are created by controllers, so that admission cannot tell who submitted them. A record names the user that
//! the label or the annotation `user` of the workload names, as `PodGroup`s do, and nobody checks that it is true.

mod book;
mod books;
mod day;
mod devices;
mod eviction;
mod heard;
mod keeper;
mod objects;
mod settle;
mod span;
mod sums;
mod who;

use std::sync::Arc;

use kube::Client;

use crate::follow::{Change, Selection, follow};
use crate::slim::EvictionShape;
use crate::store::{Key, Store};
use kai_api::names::event;

use eviction::Seen;
pub(crate) use heard::Heard;
pub(crate) use keeper::Keeper;

/// Evictions, as the scheduler's events tell of them.
pub(crate) async fn follow_evictions(
    client: Client,
    scheduler: String,
    heard: Arc<Heard>,
    store: Arc<Store>,
) {
    let fields = format!("reason={}", event::EVICT);
    let selection = Selection { fields, ..Selection::of("v1", "Event") };
    follow::<EvictionShape>(client, selection, move |change| {
        if let Change::Set(object) = change {
            let event = object.value();
            let about = &event["involvedObject"];
            let text = |key: &str| about[key].as_str().unwrap_or_default();
            if text("kind") == "PodGroup"
                && text("namespace") == object.namespace()
                && let Some(seen) = Seen::of(event, &scheduler)
            {
                let message = event["message"].as_str().unwrap_or_default();
                // It quotes queues by the names that they are shown by.
                let tells = |queue: &str| {
                    let shown = store.queue(queue);
                    let shown = shown.as_ref().and_then(|queue| {
                        queue.value()["spec"]["displayName"]
                            .as_str()
                            .filter(|name| !name.is_empty())
                    });
                    message.contains(shown.unwrap_or(queue))
                };
                heard.evicted(&Key::new(text("namespace"), text("name")), seen, tells);
            }
        }
    })
    .await;
}
