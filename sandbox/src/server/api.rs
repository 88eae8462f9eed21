//! The server behind the socket: its state under a lock, and what does not change.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Options;
use super::admission::Registry;
use super::grants::Grants;
use super::kinds::Kinds;
use super::log_source::LogSource;
use super::state::State;
use super::store::{Store, Written};
use super::tokens::Tokens;
use crate::streams::StreamSource;

/// The server behind the socket.
pub(crate) struct Api {
    state: RwLock<State>,
    /// Bearer tokens.
    pub(crate) tokens: Tokens,
    /// Ends watches.
    pub(crate) stop: CancellationToken,
    /// Source of container logs.
    pub(crate) logs: Option<LogSource>,
    /// Source of what answers on connections to pods.
    pub(crate) streams: Option<StreamSource>,
}

impl Api {
    /// An empty server, and the feed of its writes for the controllers.
    pub(crate) fn new(
        options: &Options,
        stop: CancellationToken,
    ) -> (Self, mpsc::UnboundedReceiver<Written>) {
        let (feed, written) = mpsc::unbounded_channel();
        let kinds = Kinds::builtin();
        let mut store = Store::new(options.watch_events_max, feed);
        store.witness.clone_from(&options.witness);
        for kind in kinds.iter().filter(|kind| kind.stored) {
            store.add_table(kind.table.clone());
        }
        let admission = Arc::new(Registry::new(options.webhooks.clone()));
        (
            Self::of(State { store, kinds, admission, grants: Grants::default() }, options, stop),
            written,
        )
    }

    /// A server of its own that begins with what this one holds; tokens are not among it.
    pub(crate) fn copy(
        &self,
        options: &Options,
        stop: CancellationToken,
    ) -> (Self, mpsc::UnboundedReceiver<Written>) {
        let (feed, written) = mpsc::unbounded_channel();
        let state = self.read();
        let mut store = state.store.copy(options.watch_events_max, feed);
        store.witness.clone_from(&options.witness);
        let admission = Registry::new(options.webhooks.clone()).again(&store);
        let (kinds, grants) = (state.kinds.copy(), Grants::default());
        let state = State { kinds, admission: Arc::new(admission), store, grants };
        (Self::of(state, options, stop), written)
    }

    fn of(state: State, options: &Options, stop: CancellationToken) -> Self {
        Self {
            state: RwLock::new(state),
            tokens: Tokens::default(),
            stop,
            logs: options.logs.clone(),
            streams: options.streams.clone(),
        }
    }

    /// The state, for reading.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, for writing.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
