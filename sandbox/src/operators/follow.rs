//! Watches of several kinds, for a stand-in that works out what to do from all that they show.

use std::fmt;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{BoxStream, select_all};
use kube::Client;
use kube::api::{Api, ApiResource, PostParams};
use kube::core::DynamicObject;
use kube::runtime::watcher::{self, Event};

/// Time after which what failed is looked at again.
const RETRY: Duration = Duration::from_millis(300);

/// The objects that the watches showed, and what follows from them.
pub(super) trait Seen: Send {
    /// The kinds that are watched.
    type Kind: fmt::Debug + Copy + PartialEq;

    /// Takes in what an object is by now.
    fn apply(&mut self, kind: Self::Kind, object: DynamicObject);

    /// Takes in that an object is gone.
    fn delete(&mut self, kind: Self::Kind, object: &DynamicObject);

    /// Forgets all objects of a kind: they are listed anew.
    fn forget(&mut self, kind: Self::Kind);

    /// Takes in that a kind was listed whole: what went while nobody watched shows nowhere else.
    fn listed(&mut self) {}

    /// Does what is to be done until nothing is; tells whether something failed, which is to be tried again.
    fn settle(&mut self, client: &Client) -> impl Future<Output = bool> + Send;
}

/// Takes in [`events`] of each kind, and does what is to be done whenever they show a change. Nothing is done while a kind is being
/// listed: what is not there yet would look as if it were gone.
pub(super) async fn follow<S: Seen>(
    client: &Client,
    kinds: impl IntoIterator<Item = BoxStream<'static, (S::Kind, Event<DynamicObject>)>>,
    mut seen: S,
) {
    let kinds: Vec<_> = kinds.into_iter().collect();
    let count = kinds.len();
    let mut events = select_all(kinds);
    let mut listed = Vec::with_capacity(count);
    let mut has_failed = false;
    loop {
        let next = events.next();
        let event =
            if has_failed { tokio::time::timeout(RETRY, next).await } else { Ok(next.await) };
        match event {
            Ok(None) => return,
            Ok(Some((kind, Event::Apply(object) | Event::InitApply(object)))) => {
                seen.apply(kind, object);
            }
            Ok(Some((kind, Event::Delete(object)))) => seen.delete(kind, &object),
            Ok(Some((kind, Event::Init))) => {
                listed.retain(|other| *other != kind);
                seen.forget(kind);
            }
            Ok(Some((kind, Event::InitDone))) => {
                listed.push(kind);
                seen.listed();
            }
            // It is time to try again.
            Err(_) => {}
        }
        if listed.len() == count {
            has_failed = seen.settle(client).await;
        }
    }
}

/// Events of one kind, where a watch that broke is begun anew.
pub(super) fn events<K: fmt::Debug + Copy + Send + 'static>(
    client: &Client,
    kind: K,
    resource: &ApiResource,
    config: watcher::Config,
) -> BoxStream<'static, (K, Event<DynamicObject>)> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let events = watcher::watcher(api, config).filter_map(move |event| async move {
        match event {
            Ok(event) => Some((kind, event)),
            Err(error) => {
                tracing::debug!(?kind, %error, "watch interrupted");
                tokio::time::sleep(RETRY).await;
                None
            }
        }
    });
    events.boxed()
}

/// Creates an object without a namespace unless one of its name is there, and tries until the API server has said so: whoever
/// installs a driver or a provisioner makes its class so.
pub(super) async fn ensure(client: &Client, resource: &ApiResource, object: &DynamicObject) {
    let objects: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    loop {
        match objects.create(&PostParams::default(), object).await {
            Ok(_) => return,
            Err(kube::Error::Api(status)) if status.is_already_exists() => return,
            Err(error) => {
                tracing::debug!(kind = resource.kind, %error, "failed to create");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}
