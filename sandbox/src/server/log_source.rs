//! Source of the text of container logs.

use std::sync::Arc;

use crate::log::Log;

/// The container whose log is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod's name.
    pub pod: String,
    /// The pod's UID.
    pub uid: String,
    /// The container's name.
    pub container: String,
    /// True if the run before its last restart is meant.
    pub previous: bool,
}

/// Source of logs. An error is shown to the client as it is.
pub type LogSource = Arc<dyn Fn(&LogQuery) -> Result<Log, String> + Send + Sync>;
