//! Turns at what one does at a time, for the memory and the thread that it takes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{self, MutexGuard, OwnedMutexGuard};

/// The turn of a namespace.
type Own = Arc<sync::Mutex<()>>;

/// Turns of namespaces: one has it at a time, and one of each namespace is in the line, so that whoever has many that wait
/// goes once before another.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Of namespaces, as long as somebody has or awaits one.
    own: Mutex<HashMap<Arc<str>, Own>>,
    all: sync::Mutex<()>,
}

impl Turns {
    /// Waits for a turn; it lasts until what is returned is dropped.
    ///
    /// Whoever has one is not to ask for another of these.
    pub(crate) async fn take(
        &self,
        namespace: &Arc<str>,
    ) -> (MutexGuard<'_, ()>, OwnedMutexGuard<()>) {
        let own = self.own(namespace).lock_owned().await;
        (self.all.lock().await, own)
    }

    fn own(&self, namespace: &Arc<str>) -> Own {
        let mut turns = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        turns.entry(namespace.clone()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use tokio::task::yield_now;

    use super::Turns;

    /// A namespace may have most of the workers wait.
    #[tokio::test]
    async fn who_has_many_that_wait_is_one_among_the_others() {
        let (turns, order) = (Turns::default(), RefCell::new(Vec::new()));
        let wait = async |namespace: &'static str| {
            let _turn = turns.take(&namespace.into()).await;
            yield_now().await;
            order.borrow_mut().push(namespace);
        };
        let first = turns.take(&"x".into()).await;
        tokio::join!(wait("n"), wait("n"), wait("n"), wait("n"), wait("ana"), async {
            assert_eq!(turns.own.lock().expect("nobody panics with it").len(), 3);
            drop(first);
        });
        assert_eq!(order.into_inner(), ["n", "ana", "n", "n", "n"]);
        // Nothing is kept of those who are gone.
        drop(turns.take(&"x".into()).await);
        assert_eq!(turns.own.lock().expect("nobody panics with it").len(), 1);
    }
}
