//! Kinds without a namespace, as they are watched: classes and queues.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::Client;

use super::Sink;
use crate::follow::{Change, Listing, Selection, follow};
use crate::object::Object;
use crate::slim::AnyShape;
use crate::store::Store;

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

/// Queues of a list that is not complete yet.
type Listed = Option<BTreeMap<String, Arc<Object>>>;

/// Queues into the store.
pub(super) fn follow_queues(client: Client, sink: Sink) -> impl Future<Output = ()> {
    let mut listed = None;
    follow::<AnyShape>(client, Selection::of("scheduling.run.ai/v2", "Queue"), move |change| {
        if take_in(&sink.store, &mut listed, change) {
            sink.dirty.queues();
        }
    })
}

/// Takes in a change of queues, and tells whether the store has what there is. A list is taken in as a whole: a queue whose
/// parent is on a later page would be an orphan until then.
fn take_in(store: &Store, listed: &mut Listed, change: Change) -> bool {
    match change {
        Change::ListStart => *listed = Some(BTreeMap::new()),
        Change::Set(object) => {
            let name = object.name().to_owned();
            if let Some(queues) = listed {
                queues.insert(name, object);
            } else {
                store.set_queue(&name, Some(object));
            }
        }
        Change::Gone(object) => store.set_queue(object.name(), None),
        Change::ListEnd => store.set_queues(listed.take().unwrap_or_default()),
    }
    listed.is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn queues_of_a_list_are_taken_in_together() {
        let store = Store::default();
        let queue = |name: &str| Arc::new(Object::new(json!({"metadata": {"name": name}})));
        let mut listed = None;
        for (change, expect) in [
            (Change::ListStart, ""),
            (Change::Set(queue("child")), ""),
            (Change::Set(queue("parent")), ""),
            (Change::ListEnd, "child parent"),
            (Change::Set(queue("other")), "child other parent"),
            (Change::Gone(queue("child")), "other parent"),
            (Change::ListStart, "other parent"),
            (Change::Set(queue("parent")), "other parent"),
            (Change::ListEnd, "parent"),
        ] {
            take_in(&store, &mut listed, change);
            let names: Vec<String> = store.queues().into_keys().collect();
            assert_eq!(names.join(" "), expect);
        }
    }
}
