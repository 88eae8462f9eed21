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
    type Kind: fmt::Debug + Copy;

    /// Takes in what a watch showed.
    fn take_in(&mut self, kind: Self::Kind, event: Event<DynamicObject>);

    /// Tells whether all kinds are known whole: what is not there yet would look as if it were gone.
    fn is_listed(&self) -> bool;

    /// Does what is to be done until nothing is; tells whether something failed, which is to be tried again.
    fn settle(&mut self, client: &Client) -> impl Future<Output = bool> + Send;
}

/// Takes in [`events`] of each kind, and does what is to be done whenever they show a change.
pub(super) async fn follow<S: Seen>(
    client: &Client,
    kinds: impl IntoIterator<Item = BoxStream<'static, (S::Kind, Event<DynamicObject>)>>,
    mut seen: S,
) {
    let mut events = select_all(kinds);
    let mut has_failed = false;
    loop {
        let next = events.next();
        let event =
            if has_failed { tokio::time::timeout(RETRY, next).await } else { Ok(next.await) };
        match event {
            Ok(None) => return,
            Ok(Some((kind, event))) => seen.take_in(kind, event),
            // It is time to try again.
            Err(_) => {}
        }
        if seen.is_listed() {
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
