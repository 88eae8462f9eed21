//! Reading the queues of a cluster.

use crate::cluster::names;
use crate::cluster::queue::Queues;
use crate::cluster::{Call, Cluster, Select};
use crate::print::error::{Error, Exit, Problem, number};

/// All queues; `None` when the user may not read them.
///
/// # Errors
/// The server cannot be asked, or KAI is not installed.
pub(crate) async fn readable(cluster: &Cluster) -> Result<Option<Queues>, Error> {
    let resource = names::queues();
    let call = Call::new("list", &resource);
    match cluster.list(&call, &Select::default()).await {
        Ok(Some(objects)) => Ok(Some(Queues::read(objects))),
        Ok(None) => Err(not_installed(cluster)),
        Err(failure) if failure.is_forbidden() => Ok(None),
        Err(failure) => Err(cluster.explain(&call, &failure)),
    }
}

/// KAI's own kinds are not there.
pub(crate) fn not_installed(cluster: &Cluster) -> Error {
    let what = "KAI is not installed in this cluster: it serves no queues.scheduling.run.ai";
    Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what)
        .line(format!("server: {}", cluster.place.server))
        .fix("(admin) kubectl kai install   or choose another cluster: --context NAME")
        .into()
}
