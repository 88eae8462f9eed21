//! Kinds, and where objects of them could be read.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use kube::core::ApiResource;
use tokio::time::Instant;

use super::epoch::Epoch;

/// Time for which the right to read what could be read before is expected back.
const WITHDRAWN_MAX: Duration = Duration::from_mins(5);

/// A kind that the API server serves.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) resource: ApiResource,
    pub(super) is_namespaced: bool,
    pub(super) epoch: Epoch,
    /// Namespaces in which an object could be read, and since when that is refused.
    pub(super) readable: Mutex<HashMap<String, Option<Instant>>>,
}

impl Kind {
    /// Notes that an object of a namespace could be read.
    pub(super) fn could_read(&self, namespace: &str) {
        let mut readable = self.readable.lock().unwrap_or_else(PoisonError::into_inner);
        match readable.get_mut(namespace) {
            Some(refused) => *refused = None,
            None => drop(readable.insert(namespace.to_owned(), None)),
        }
    }

    /// Tells whether a right that is refused was there before, and is expected back.
    pub(super) fn is_withdrawn(&self, namespace: &str) -> bool {
        let mut readable = self.readable.lock().unwrap_or_else(PoisonError::into_inner);
        let since = readable.get_mut(namespace);
        since.is_some_and(|since| since.get_or_insert_with(Instant::now).elapsed() < WITHDRAWN_MAX)
    }

    /// Notes that an object of a namespace could be read by whoever grouped its pods before.
    pub(super) fn was_readable(&self, namespace: &str) {
        let mut readable = self.readable.lock().unwrap_or_else(PoisonError::into_inner);
        readable.entry(namespace.to_owned()).or_default();
    }
}

#[cfg(test)]
mod tests {
    use kube::core::GroupVersionKind;
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_right_that_came_back_is_expected_back_anew_when_it_is_withdrawn_again() {
        let kind = Kind {
            resource: ApiResource::from_gvk(&GroupVersionKind::gvk("batch", "v1", "Job")),
            is_namespaced: true,
            epoch: Epoch::default(),
            readable: Mutex::default(),
        };
        assert!(!kind.is_withdrawn("n"), "it was never there");
        for round in ["first", "second"] {
            kind.could_read("n");
            assert!(kind.is_withdrawn("n"), "{round}");
            advance(WITHDRAWN_MAX).await;
            assert!(!kind.is_withdrawn("n"), "{round}: it is withdrawn for good");
        }
    }
}
