//! Errors that end the process.

/// The reason why the podgrouper could not start or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address to serve on is taken or malformed.
    #[error(transparent)]
    Listen(#[from] kai_daemon::serve::Error),
    /// The Lease went to another holder or could not be renewed in time.
    #[error("failed to keep the lease {0}: another instance leads now")]
    LeaseLost(String),
    /// The kubeconfig or the in-cluster configuration is of no use.
    #[error(transparent)]
    Connect(#[from] kai_daemon::connect::Error),
    /// The API server refused or did not answer.
    #[error("failed to talk to the API server")]
    Api(#[from] kube::Error),
    /// Flags give a metric or one of its labels a name that it cannot have.
    #[error(
        "failed to name the metrics: {0}; see --metrics-namespace and --queue-label-to-metric-label"
    )]
    Metrics(#[from] prometheus::Error),
    /// A flag has a value that is none.
    #[error("{0}")]
    Flag(String),
}
