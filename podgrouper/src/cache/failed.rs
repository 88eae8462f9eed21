//! Questions about kinds that failed just now: whoever asks meanwhile has the same answer, so that very many pods of a kind
//! that cannot be asked about are one question in a second.

use std::collections::HashMap;
use std::time::Duration;

use kai_daemon::process::causes;
use kube::core::Status;
use kube::error::DiscoveryError;
use tokio::time::Instant;

use crate::object::Gvk;

/// Time for which a failure is kept.
const KEPT: Duration = Duration::from_secs(1);

/// Failures by kind.
#[derive(Debug, Default)]
pub(super) struct Failed {
    rows: HashMap<Gvk, (Instant, Failure)>,
}

/// A failure, of which readers tell these apart.
#[derive(Debug)]
enum Failure {
    Refused(Box<Status>),
    Unserved(String),
    Other(String),
}

impl Failed {
    /// Keeps a failure, and forgets those that are old.
    pub(super) fn keep(&mut self, gvk: &Gvk, error: &kube::Error) {
        let failure = if let kube::Error::Api(status) = error {
            Failure::Refused(status.clone())
        } else if let kube::Error::Discovery(_) = error {
            Failure::Unserved(format!("{gvk:?}"))
        } else {
            Failure::Other(causes(error))
        };
        self.rows.retain(|_, (at, _)| at.elapsed() < KEPT);
        self.rows.insert(gvk.clone(), (Instant::now(), failure));
    }

    /// Gives the failure of a kind that was asked about just now.
    pub(super) fn find(&self, gvk: &Gvk) -> Option<kube::Error> {
        let (at, failure) = self.rows.get(gvk)?;
        (at.elapsed() < KEPT).then(|| match failure {
            Failure::Refused(status) => kube::Error::Api(status.clone()),
            Failure::Unserved(kind) => {
                kube::Error::Discovery(DiscoveryError::MissingKind(kind.clone()))
            }
            Failure::Other(text) => kube::Error::Service(text.clone().into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use crate::walk::is_unserved;

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_the_same_for_a_second() {
        let (mut failed, gvk) = (Failed::default(), Gvk::new("batch/v1", "Job"));
        let refused =
            |code| kube::Error::Api(Box::new(Status::failure("no", "No").with_code(code)));
        for (error, expect) in [
            (refused(404), true),
            (refused(403), false),
            (kube::Error::Discovery(DiscoveryError::MissingKind("k".into())), true),
            (kube::Error::Service("late".into()), false),
        ] {
            failed.keep(&gvk, &error);
            let again = failed.find(&gvk).expect("it is kept");
            assert_eq!(is_unserved(&again), expect, "{error}");
            assert!(failed.find(&Gvk::new("batch/v1", "CronJob")).is_none());
            advance(KEPT).await;
            assert!(failed.find(&gvk).is_none(), "{error}");
        }
        failed.keep(&Gvk::new("batch/v1", "CronJob"), &refused(500));
        assert_eq!(failed.rows.len(), 1, "what is old is forgotten");
    }
}
