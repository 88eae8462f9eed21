//! Things that the process waits for before it is ready.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Everything that is missing; shared with whoever provides it.
#[derive(Debug, Clone)]
pub(crate) struct Ready(Arc<Mutex<BTreeSet<&'static str>>>);

/// The thing that every process waits for.
const CACHES: &str = "caches";

impl Default for Ready {
    fn default() -> Self {
        Self(Arc::new(Mutex::new([CACHES].into())))
    }
}

impl Ready {
    /// Notes that caches are filled, or that whoever fills them has not begun to lead.
    pub(crate) fn set(&self) {
        self.has(CACHES);
    }

    /// Makes the process wait for this as well.
    pub(crate) fn needs(&self, what: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(what);
    }

    /// Notes that this is there now.
    pub(crate) fn has(&self, what: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(what);
    }

    /// Names what is missing, where something is.
    pub(crate) fn problem(&self) -> Option<String> {
        let missing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&str> = missing.iter().copied().collect();
        (!missing.is_empty()).then(|| format!("not there yet: {}", missing.join(", ")))
    }
}
