//! Scaling pods: how a cluster autoscaler hears that pods wait for shared GPUs.
//!
//! An autoscaler adds a node for a pod that asks for `nvidia.com/gpu` and finds no room. A pod that asks for a share in
//! an annotation asks for nothing that it could see. So pods that ask for whole devices stand for those that wait, are
//! scheduled by the default scheduler once the node is there, end at once, and leave the room to whom it was made for.
//!
//! ```text
//! pods that wait ──┐
//! scaling pods ────┼─> plan (pure) ──> create, mark as unschedulable, delete
//! groups that wait ┘
//! for their queue
//! ```
//!
//! Nothing runs, and no pod is held in memory, unless the Config or the flag `--cluster-autoscaling` asks for it.
//!
//! # Source
//! docs/contract.md 6.

mod controller;
mod manifest;
mod plan;
mod queued;
mod settings;
mod standing;
mod waiting;

use std::sync::Arc;

use kai_api::names::CONFIG_NAME;
use kube::Client;
use tokio::sync::watch;

use crate::follow::{Change, Listing, Selection, follow};
use crate::object::Object;
use crate::slim::AnyShape;
use controller::Controller;
use settings::Settings;

pub(crate) use settings::HEEDED;

/// Makes scaling pods while the Config says so, or `is_asked` where it says nothing; never ends.
pub(crate) async fn run(client: Client, scheduler: String, is_asked: bool) {
    let (told, mut settings) = watch::channel(None);
    let adjust = async {
        // The Config, or that there is none, is known before anything is done.
        if settings.wait_for(Option::is_some).await.is_err() {
            return;
        }
        loop {
            let current: Settings = settings.borrow_and_update().clone().unwrap_or_default();
            let controller = Controller::new(client.clone(), &scheduler, current);
            tokio::select! {
                biased;
                () = controller.run() => {}
                _ = settings.changed() => {}
            }
            let next = settings.borrow().clone().unwrap_or_default();
            controller.leave(&next).await;
        }
    };
    tokio::join!(follow_config(client.clone(), is_asked, told), adjust);
}

async fn follow_config(client: Client, is_asked: bool, told: watch::Sender<Option<Settings>>) {
    let selection = Selection {
        fields: format!("metadata.name={CONFIG_NAME}"),
        ..Selection::of("kai.scheduler/v1", "Config")
    };
    let mut listing = Listing::new();
    let mut config: Option<Arc<Object>> = None;
    follow::<AnyShape>(client, selection, |change| {
        match change {
            Change::ListStart => {
                listing.start();
                return;
            }
            Change::Set(object) => {
                listing.see(());
                config = Some(object);
            }
            Change::Gone(_) => config = None,
            Change::ListEnd => {
                if !listing.end(vec![()]).is_empty() {
                    config = None;
                }
            }
        }
        let next = Some(Settings::read(config.as_deref(), is_asked));
        told.send_if_modified(|current| {
            let is_news = *current != next;
            *current = next;
            is_news
        });
    })
    .await;
}
