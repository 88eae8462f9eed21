//! The workloads that a command is to change or to wait for: by names, patterns and flags.

use std::collections::BTreeSet;

use crate::cluster::Cluster;
use crate::commands::filter::{Filter, check_namespace};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem};
use crate::workload::{Loaded, Unread, Workload, load_in};

/// Holds what was chosen, and where it was looked for.
pub(super) struct Chosen {
    /// Each once, in the order of the names.
    pub(super) workloads: Vec<Workload>,
    /// In words, such as `namespace default`.
    pub(super) place: String,
    /// Names that nothing has, with what is said of each; empty but for those that `may_miss`.
    pub(super) missing: Vec<Problem>,
    /// Kinds that were not looked at, of which workloads may be meant: by flags and patterns, not by names.
    pub(super) unread: Unread,
}

impl Chosen {
    /// Says which kinds were not looked at, and which objects not whole; returns how a command ends that was to change all that
    /// is meant.
    pub(super) fn tell_unread(&self, context: &mut Context) -> Exit {
        for sentence in self.unread.sentences("looked at") {
            context.out.warn(&sentence);
        }
        context.warn_of_cut();
        self.unread.exit()
    }
}

/// Says which workloads are meant.
pub(super) struct Wanted<'a> {
    pub(super) names: &'a [String],
    pub(super) filter: &'a Filter,
    /// Names that nothing has are no error here: they are taken for gone, and so a list that fails is one.
    pub(super) may_miss: bool,
    /// Says that a word names a part of a workload, where that is not good enough.
    pub(super) refuses: fn(&str, &Workload) -> Option<Problem>,
}

impl Wanted<'_> {
    /// Reads the workloads of a namespace, or of all, and leaves those that are meant. A name without a pattern has to be there, whether the flags
    /// leave it or not.
    ///
    /// Kinds that cannot be listed are left out, but where names `may_miss`.
    ///
    /// # Errors
    /// As [`load_in`] and [`Filter::apply`]; a name that nothing has, or several have; where names `may_miss`, a kind of which
    /// workloads may be meant that cannot be listed for another reason than the user's rights, and a name that a workload of a
    /// kind may have that the user may not list.
    pub(super) async fn read(
        &self,
        cluster: &Cluster,
        scope: Option<&str>,
    ) -> Result<Chosen, Error> {
        let all = load_in(cluster, scope, self.filter.detail()).await?;
        if all.workloads.is_empty() {
            check_namespace(scope, cluster).await?;
        }
        let mut left = all.clone();
        if self.filter.is_given() {
            self.filter.apply(&mut left, cluster).await?;
        }
        let place =
            scope.map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
        let (workloads, missing) = self.choose(&all, &left, &place)?;
        let mut unread = all.unread;
        unread.retain(|kind| self.may_mean(kind));
        if self.may_miss
            && let Some(error) = unread.error_of("")
        {
            return Err(error.clone());
        }
        Ok(Chosen { workloads, place, missing, unread })
    }

    /// Tells whether workloads of a kind may be meant that are not called by their names.
    fn may_mean(&self, kind: &str) -> bool {
        let is_named = |name: &String| !name.contains('*');
        let is_by_name = !self.names.is_empty() && self.names.iter().all(is_named);
        !is_by_name && self.filter.may_mean(kind)
    }

    fn choose(
        &self,
        all: &Loaded,
        left: &Loaded,
        place: &str,
    ) -> Result<(Vec<Workload>, Vec<Problem>), Error> {
        let mut chosen: Vec<&Workload> = Vec::new();
        let mut problems = Vec::new();
        let mut missing = Vec::new();
        for name in self.names {
            let is_pattern = name.contains('*');
            let is_called = |w: &&Workload| w.is_called(name);
            let found = all.workloads.iter().filter(is_called).count();
            match all.one(name, place) {
                _ if is_pattern => chosen.extend(all.workloads.iter().filter(is_called)),
                Ok(one) => chosen.push(one),
                Err(Error::Problems(more)) if found == 0 && self.may_miss => {
                    let kind = name.split_once('/').map_or("", |(kind, _)| kind);
                    if let Some(error) = all.unread.error_of(kind) {
                        return Err(error.clone());
                    }
                    let bare = name.split_once('/').map_or(name.as_str(), |(_, bare)| bare);
                    match all.unread.hides(bare, kind) {
                        Some(problem) => problems.push(problem),
                        None => missing.extend(more),
                    }
                }
                Err(Error::Problems(more)) => problems.extend(more),
                Err(quiet) => return Err(quiet),
            }
            problems.extend(chosen.iter().find_map(|workload| (self.refuses)(name, workload)));
        }
        Error::all(problems)?;
        if self.names.is_empty() {
            chosen = all.workloads.iter().collect();
        }
        let left: BTreeSet<_> = left.workloads.iter().map(Workload::identity).collect();
        let mut seen = BTreeSet::new();
        chosen.retain(|one| left.contains(&one.identity()) && seen.insert(one.identity()));
        Ok((chosen.into_iter().cloned().collect(), missing))
    }
}

/// Refuses nothing.
pub(super) fn anything(_: &str, _: &Workload) -> Option<Problem> {
    None
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::{Value, json};

    use super::*;
    use crate::context::tests::of_a_large_pod;

    /// A single workload is deleted without a question.
    #[tokio::test]
    async fn what_was_not_read_whole_is_told_before_anything_is_written() {
        let (mut context, page) = of_a_large_pod().await;
        let chosen = Chosen {
            workloads: Vec::new(),
            place: String::new(),
            missing: Vec::new(),
            unread: Unread::default(),
        };
        assert_eq!(chosen.tell_unread(&mut context), Exit::Ok);
        assert!(page.text().contains("not all was read of 1 object"), "{}", page.text());
    }

    /// Says which workloads are meant by flags alone that leave the first one of these: namespace, name and UID each.
    fn check(all: &[(&str, &str, &str)], expect: &[&str]) {
        let workload = |(namespace, name, uid): &(&str, &str, &str)| {
            let meta = json!({"namespace": namespace, "name": name, "uid": uid});
            Workload::of_pod(&json!({ "metadata": meta }))
        };
        let workloads = all.iter().map(workload).collect();
        let loaded = Loaded { workloads, ..Loaded::default() };
        let mut left = loaded.clone();
        left.workloads.truncate(1);
        let filter = Filter::default();
        let wanted = Wanted { names: &[], filter: &filter, may_miss: false, refuses: anything };
        let (chosen, _) =
            wanted.choose(&loaded, &left, "any namespace").expect("no name is asked for");
        let chosen: Vec<String> =
            chosen.iter().map(|one| format!("{}/{}", one.namespace, one.name)).collect();
        assert_eq!(chosen, expect, "{all:?}");
    }

    #[test]
    fn nobody_is_meant_by_the_uid_of_another() {
        check(&[("evil", "bait", "u"), ("victim", "train", "u")], &["evil/bait"]);
        check(&[("evil", "train", "u"), ("victim", "train", "u")], &["evil/train"]);
        check(&[("ml", "a", ""), ("ml", "b", "")], &["ml/a"]);
    }

    /// Says how it ends to look for what may be gone, where the list of Jobs ends with a code.
    async fn check_gone(jobs: u16, name: &str, expect: Option<Exit>) {
        let service = tower::service_fn(move |request: Request<Body>| async move {
            let (code, body): (u16, Value) = if request.uri().path().ends_with("/jobs") {
                (jobs, json!({"kind": "Status", "code": jobs, "message": "it fails"}))
            } else {
                (200, json!({"metadata": {"resourceVersion": "1"}, "items": [], "groups": []}))
            };
            let body = Body::from(body.to_string().into_bytes());
            Ok::<_, kube::Error>(Response::builder().status(code).body(body).expect("a code"))
        });
        let cluster = Cluster::given(kube::Client::new(service, "ml"), "ml");
        let (names, filter) = ([name.to_owned()], Filter::default());
        let wanted = Wanted { names: &names, filter: &filter, may_miss: true, refuses: anything };
        let ended = wanted.read(&cluster, Some("ml")).await.err().map(|error| error.exit());
        assert_eq!(ended, expect, "{jobs} {name}");
    }

    #[tokio::test]
    async fn what_cannot_be_listed_is_not_gone() {
        for (jobs, exit) in [(500, Exit::Failure), (403, Exit::Forbidden)] {
            check_gone(jobs, "train", Some(exit)).await;
            check_gone(jobs, "job/train", Some(exit)).await;
            check_gone(jobs, "rayjob/train", None).await;
        }
        check_gone(500, "train-*", Some(Exit::Failure)).await;
        // What there is of the others may be meant: it is told.
        check_gone(403, "train-*", None).await;
    }
}
