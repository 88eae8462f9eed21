//! Kinds without a namespace, as they are watched: classes and queues.

use kube::Client;

use super::Sink;
use crate::follow::{Change, Listing, Selection, follow};
use crate::slim::AnyShape;

/// Priority classes into the store.
pub(super) fn follow_classes(client: Client, sink: Sink) -> impl Future<Output = ()> {
    let mut listing = Listing::new();
    let mut is_counted = false;
    let selection = Selection::of("scheduling.k8s.io/v1", "PriorityClass");
    follow::<AnyShape>(client, selection, move |change| match change {
        Change::ListStart => listing.start(),
        Change::Set(object) => {
            let name = object.name().to_owned();
            listing.see(name.clone());
            sink.set_class(&name, Some(object));
        }
        Change::Gone(object) => sink.set_class(object.name(), None),
        Change::ListEnd => {
            for name in listing.end(sink.store.class_names()) {
                sink.set_class(&name, None);
            }
            sink.count(&mut is_counted);
        }
    })
}

/// Queues into the store.
pub(super) fn follow_queues(client: Client, sink: Sink) -> impl Future<Output = ()> {
    let mut listing = Listing::new();
    follow::<AnyShape>(client, Selection::of("scheduling.run.ai/v2", "Queue"), move |change| {
        match change {
            Change::ListStart => listing.start(),
            Change::Set(object) => {
                let name = object.name().to_owned();
                listing.see(name.clone());
                sink.store.set_queue(&name, Some(object));
            }
            Change::Gone(object) => sink.store.set_queue(object.name(), None),
            Change::ListEnd => {
                for name in listing.end(sink.store.queues().into_keys().collect()) {
                    sink.store.set_queue(&name, None);
                }
            }
        }
        sink.dirty.queues();
    })
}
