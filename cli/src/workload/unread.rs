//! The kinds of workload that a list had to go without, and why.

use crate::cluster::{Cluster, Failure, kinds};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Kinds that are missing in what was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unread {
    /// Kinds that the user may not list, as RBAC names them.
    pub(crate) hidden: Vec<String>,
    /// Kinds whose lists failed.
    pub(crate) failed: Vec<FailedList>,
}

/// A kind whose list failed.
#[derive(Clone, Debug)]
pub(crate) struct FailedList {
    /// Holds what RBAC calls the kind.
    pub(crate) kind: String,
    /// Says why in a few words.
    why: String,
    /// Says what that means to the user.
    error: Error,
}

impl Unread {
    /// Notes why a kind was not listed.
    pub(super) fn add(&mut self, kind: String, failure: &Failure, cluster: &Cluster) {
        if failure.is_forbidden() {
            self.hidden.push(kind);
            return;
        }
        let why = clean(&failure.to_string()).into_owned();
        self.failed.push(FailedList { kind, why, error: cluster.explain_any(failure) });
    }

    /// Leaves the kinds of which this is true.
    pub(crate) fn retain(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.hidden.retain(|kind| is_meant(kind));
        self.failed.retain(|failed| is_meant(&failed.kind));
    }

    /// Returns all of them.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let failed = self.failed.iter().map(|failed| failed.kind.as_str());
        self.hidden.iter().map(String::as_str).chain(failed).collect()
    }

    /// Says what is missing, a sentence for each reason; `done` is what was not done with the kinds, such as `shown`.
    pub(crate) fn sentences(&self, done: &str) -> Vec<String> {
        let hidden = (!self.hidden.is_empty())
            .then(|| format!("not {done}, you may not list them: {}", self.hidden.join(", ")));
        let failed = self
            .failed
            .iter()
            .map(|failed| format!("not {done}, {} cannot be listed: {}", failed.kind, failed.why));
        hidden.into_iter().chain(failed).collect()
    }

    /// Returns why objects of a kind could not be listed, of any kind where none is named: what is not there may be then.
    pub(crate) fn error_of(&self, kind: &str) -> Option<&Error> {
        let asked = kinds::named(kind).map(|kind| kind.best().in_rbac());
        let is_meant = |failed: &&FailedList| {
            kind.is_empty() || asked.as_ref().is_some_and(|asked| *asked == failed.kind)
        };
        self.failed.iter().find(is_meant).map(|failed| &failed.error)
    }

    /// Returns why nothing tells whether a workload is gone that is not there, of a kind or of any where none is named: the user
    /// may not list it.
    pub(crate) fn hides(&self, name: &str, kind: &str) -> Option<Problem> {
        let asked: Vec<String> = if kind.is_empty() {
            kinds::KINDS.iter().map(|kind| kind.best().in_rbac()).collect()
        } else {
            kinds::named(kind).map(|kind| kind.best().in_rbac()).into_iter().collect()
        };
        let hidden = self.hidden.iter().filter(|kind| asked.contains(kind));
        let hidden: Vec<&str> = hidden.map(String::as_str).collect();
        if hidden.is_empty() {
            return None;
        }
        let what = format!(
            "nothing tells that {} is gone: you may not list {}",
            clean(name),
            hidden.join(", ")
        );
        let ask = "ask an administrator of the cluster for this right";
        let fix = if kind.is_empty() {
            format!("say of which kind it is, as in job/{}, or {ask}", clean(name))
        } else {
            ask.to_owned()
        };
        Some(Problem::new(number::FORBIDDEN, Exit::Forbidden, what).fix(fix))
    }

    /// Says how a command ends that shows the rest: a right that the user lacks is told and is no failure.
    pub(crate) fn exit_of_failures(&self) -> Exit {
        self.failed.first().map_or(Exit::Ok, |failed| failed.error.exit())
    }

    /// Says how a command ends that was to change all that is meant.
    pub(crate) fn exit(&self) -> Exit {
        if self.hidden.is_empty() { self.exit_of_failures() } else { Exit::Forbidden }
    }
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;

    use super::*;
    use crate::cluster::Refusal;

    #[tokio::test]
    async fn what_could_not_be_listed_is_told_with_its_reason() {
        let service = tower::service_fn(|_: Request<Body>| async {
            Ok::<_, kube::Error>(Response::new(Body::empty()))
        });
        let cluster = Cluster::given(kube::Client::new(service, "default"), "default");
        let refusal = |code: u16, message: &str| {
            Failure::Refused(Refusal { code, message: message.to_owned(), ..Refusal::default() })
        };
        let mut unread = Unread::default();
        assert_eq!((unread.exit(), unread.sentences("shown").len()), (Exit::Ok, 0));
        unread.add("rayjobs.ray.io".into(), &refusal(500, "conversion webhook failed"), &cluster);
        assert_eq!((unread.exit(), unread.exit_of_failures()), (Exit::Failure, Exit::Failure));
        unread.add("jobs.batch".into(), &refusal(403, "jobs.batch is forbidden"), &cluster);
        assert_eq!((unread.exit(), unread.exit_of_failures()), (Exit::Forbidden, Exit::Failure));
        assert_eq!(unread.kinds(), ["jobs.batch", "rayjobs.ray.io"]);
        let told = [
            "not shown, you may not list them: jobs.batch",
            "not shown, rayjobs.ray.io cannot be listed: conversion webhook failed",
        ];
        assert_eq!(unread.sentences("shown"), told);
        let fails = ["RayJob", "", "Job"].map(|kind| unread.error_of(kind).is_some());
        assert_eq!(fails, [true, true, false]);
        let hidden = ["RayJob", "", "Job"].map(|kind| unread.hides("train", kind).is_some());
        assert_eq!(hidden, [false, true, true]);
        unread.retain(|kind| kind == "jobs.batch");
        assert_eq!(unread.kinds(), ["jobs.batch"]);
    }
}
