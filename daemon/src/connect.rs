//! Finds the API server of a daemon, and tells when there was no connection to it.

use std::path::{Path, PathBuf};

use http::header::{HeaderValue, USER_AGENT};
use hyper_util::client::legacy;
use kube::Config;
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};

/// The reason why the API server is not known.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The kubeconfig cannot be used.
    #[error("failed to use the kubeconfig {path} (--kubeconfig)")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<KubeconfigError>,
    },
    /// There is no in-cluster configuration.
    #[error(
        "failed to read the in-cluster configuration; outside a cluster give --kubeconfig FILE"
    )]
    InCluster(#[source] InClusterError),
}

/// Reads the file of `--kubeconfig`, with its current context; without one, what a pod is given. Requests say who asks, as
/// `kai-scheduler/0.1.0`, after which the server names the manager of fields.
///
/// # Errors
/// [`Error`].
pub async fn config(agent: &'static str, kubeconfig: Option<&Path>) -> Result<Config, Error> {
    let mut config = read(kubeconfig).await?;
    config.headers.push((USER_AGENT, HeaderValue::from_static(agent)));
    Ok(config)
}

/// Tells whether a request failed for want of a connection, so that nothing of it was sent. That is certain of a client that
/// retries nothing by itself: of another one only the last attempt is known.
pub fn is_unsent(error: &kube::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(failed) = cause.downcast_ref::<legacy::Error>() {
            return failed.is_connect();
        }
        next = cause.source();
    }
    false
}

async fn read(kubeconfig: Option<&Path>) -> Result<Config, Error> {
    let Some(path) = kubeconfig else { return Config::incluster().map_err(Error::InCluster) };
    let fail = |source| Error::Kubeconfig { path: path.to_owned(), source: Box::new(source) };
    let file = Kubeconfig::read_from(path).map_err(fail)?;
    Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.map_err(fail)
}
