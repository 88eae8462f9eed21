//! The life after the submission: waiting, logs, and what is left behind.

use std::time::Duration;

use super::Document;
use super::args::{ThenFlags, Until};
use super::inside::{self, Inside};
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, listing};
use crate::commands::{logs, wait};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// The state that is waited for, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub(super) until: Option<Until>,
    pub(super) timeout: Option<Duration>,
    /// Says what of the terminal its container gets.
    pub(super) inside: Option<Inside>,
}

impl ThenFlags {
    /// Checks that the flags can do what they say of the documents.
    ///
    /// # Errors
    /// They follow one workload, and there are several; or nothing tells when it has ended.
    pub(super) fn check(&self, documents: &[Document], awaited: Awaited) -> Result<(), Problem> {
        let workloads = documents.iter().filter(|document| document.is_workload).count();
        if self.logs && workloads > 1 {
            let what = format!("--logs follows one workload, and there are {workloads}");
            return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what)
                .fix("--watch, or later: kubectl kai logs -f NAME"));
        }
        if self.stdin {
            inside::check(documents)?;
        }
        let sees_the_end =
            self.stdin || self.logs || self.watch || awaited.until == Some(Until::Complete);
        if self.rm && !sees_the_end {
            let what = "--rm deletes what has ended, and nothing here waits for that";
            return Err(Problem::new(number::MISSING, Exit::Usage, what)
                .fix("--rm --logs   or   --rm --wait   or   --rm -it"));
        }
        if awaited.timeout.is_some() && awaited.until.is_none() && !self.watch && !self.stdin {
            let what = "--timeout is the longest wait, and nothing here waits";
            return Err(Problem::new(number::MISSING, Exit::Usage, what)
                .fix("--wait --timeout 30m   or   --watch --timeout 30m"));
        }
        Ok(())
    }

    /// Says whether the command goes on after the submission.
    pub(super) fn goes_on(&self) -> bool {
        self.wait.is_some() || self.watch || self.logs || self.stdin
    }

    /// Waits and prints what was asked for; the exit code is the workload's.
    ///
    /// # Errors
    /// The server stays away, or the workload disappears.
    pub(super) async fn follow(
        &self,
        created: &[Document],
        awaited: Awaited,
        context: &mut Context,
    ) -> Result<Exit, Error> {
        let cluster = context.cluster().await?;
        let mut ends = Vec::new();
        for document in created.iter().filter(|document| document.is_workload) {
            ends.push(self.one(document, awaited, &cluster, context).await?);
        }
        let (exit, have_ended) = whole(&ends);
        if self.rm && have_ended {
            remove(created, &cluster, context).await?;
        }
        Ok(exit)
    }

    async fn one(
        &self,
        document: &Document,
        awaited: Awaited,
        cluster: &Cluster,
        context: &mut Context,
    ) -> Result<Exit, Error> {
        let namespace = document.namespace(cluster).unwrap_or_default().to_owned();
        let name = document.name().to_owned();
        let target =
            wait::Target { namespace, kind: document.kind().to_owned(), name: name.clone() };
        if let Some(inside) = awaited.inside {
            return inside.enter(&target, awaited.timeout, context).await;
        }
        // The logs tell of the end as well, so that only what comes before is waited for.
        let goal = match awaited.until {
            Some(Until::Scheduled) => Some(wait::Goal::Scheduled),
            Some(Until::Running) => Some(wait::Goal::Running),
            Some(Until::Complete) | None if self.logs => None,
            Some(Until::Complete) => Some(wait::Goal::Complete),
            None => None,
        };
        if let Some(goal) = goal {
            let reached = wait::until(&target, goal, awaited.timeout, cluster, context).await?;
            if reached != Exit::Ok {
                return Ok(reached);
            }
        }
        if self.logs {
            let word = format!("{}/{name}", document.kind().to_lowercase());
            return logs::follow(&word, &target.namespace, context).await;
        }
        if self.watch {
            return wait::until(&target, wait::Goal::Complete, awaited.timeout, cluster, context)
                .await;
        }
        Ok(Exit::Ok)
    }
}

/// Says how the command ends after several workloads, which is as the first that did not end well; and whether all of them
/// have ended.
fn whole(ends: &[Exit]) -> (Exit, bool) {
    let bad = ends.iter().find(|end| **end != Exit::Ok);
    (bad.copied().unwrap_or(Exit::Ok), !ends.contains(&Exit::Pending))
}

/// Deletes what was submitted, and no other object of the same name.
async fn remove(
    created: &[Document],
    cluster: &Cluster,
    context: &mut Context,
) -> Result<(), Error> {
    for document in created.iter().rev().filter(|document| !document.is_unchanged()) {
        let Some(resource) = &document.resource else { continue };
        let call = Call::new("delete", resource)
            .namespace(document.namespace(cluster))
            .name(document.name());
        let uid = text(&document.object["metadata"]["uid"]);
        let gone = cluster.delete(&call, uid, false).await;
        gone.map_err(|failure| cluster.explain(&call, &failure))?;
        context.out.talk(&format!("{} deleted", clean(&listing::name(&document.object))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work that has not ended in time goes on, whatever came of the others.
    #[test]
    fn nothing_is_deleted_while_one_of_them_runs() {
        for (ends, expect) in [
            (vec![Exit::Ok, Exit::Ok], (Exit::Ok, true)),
            (vec![Exit::Ok, Exit::WorkloadFailed], (Exit::WorkloadFailed, true)),
            (vec![Exit::WorkloadFailed, Exit::Pending], (Exit::WorkloadFailed, false)),
            (vec![Exit::Pending, Exit::WorkloadFailed], (Exit::Pending, false)),
            (vec![], (Exit::Ok, true)),
        ] {
            assert_eq!(whole(&ends), expect, "{ends:?}");
        }
    }
}
