//! Looks at workloads until each has reached what is waited for, and says what changes in between.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::goal::Goal;
use crate::cluster::Cluster;
use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::commands::outage::Outage;
use crate::plan::eta;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Output, clean};
use crate::workload::eta::When;
use crate::workload::{Loaded, State, Workload, history, load_readable, pods_shown};

/// Says which workload.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) namespace: String,
    /// Empty for any kind.
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl Target {
    fn find<'l>(&self, loaded: &'l Loaded) -> Option<&'l Workload> {
        let is_it = |w: &&Workload| {
            w.name == self.name
                && w.namespace == self.namespace
                && (self.kind.is_empty() || w.resource.kind == self.kind)
        };
        loaded.workloads.iter().find(is_it)
    }
}

/// A workload that is waited for no more.
pub(super) struct Reached {
    pub(super) target: Target,
    /// As it was last seen.
    pub(super) workload: Option<Workload>,
    /// None once it is gone.
    pub(super) state: Option<State>,
    pub(super) exit: Exit,
}

/// A workload that is waited for.
struct Seen {
    target: Target,
    /// Holds what was said of it last.
    said: String,
    last: Option<(Workload, State)>,
}

/// The workloads that are waited for.
pub(super) struct Watch<'c> {
    cluster: &'c Cluster,
    goal: Goal,
    /// The namespace that is read; none for all of them.
    scope: Option<String>,
    open: Vec<Seen>,
    begin: Instant,
    timeout: Option<Duration>,
    pause: Duration,
    outage: Outage,
    /// When it was last estimated when they start.
    estimated: Option<Instant>,
    /// An estimate that is being made, beside the waiting.
    estimate: Option<JoinHandle<Vec<String>>>,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(estimate) = &self.estimate {
            estimate.abort();
        }
    }
}

/// Times between two looks: the first soon, since most answers come soon.
const FIRST: Duration = Duration::from_millis(200);
const LAST: Duration = Duration::from_secs(2);
/// Sets after how long somebody who waits is told for how much longer.
const ESTIMATED_AFTER: Duration = Duration::from_secs(5);
/// An estimate reads the whole cluster, so it is made anew this rarely.
const ESTIMATED_AGAIN: Duration = Duration::from_mins(10);

impl<'c> Watch<'c> {
    pub(super) fn new(
        targets: Vec<Target>,
        goal: Goal,
        timeout: Option<Duration>,
        cluster: &'c Cluster,
    ) -> Self {
        let first = targets.first().map(|target| target.namespace.clone());
        let is_one = |space: &String| targets.iter().all(|target| target.namespace == *space);
        let scope = first.filter(is_one);
        let see = |target| Seen { target, said: String::new(), last: None };
        Self {
            cluster,
            goal,
            scope,
            open: targets.into_iter().map(see).collect(),
            begin: Instant::now(),
            timeout,
            pause: FIRST,
            outage: Outage::default(),
            estimated: None,
            estimate: None,
        }
    }

    /// Takes in how they were when they were chosen, in their order: who is another one by then is not waited for.
    pub(super) fn seen(mut self, workloads: Vec<Workload>) -> Self {
        for (seen, workload) in self.open.iter_mut().zip(workloads) {
            let state = workload.state().clone();
            seen.last = Some((workload, state));
        }
        self
    }

    /// Returns how many are waited for yet.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Their names.
    pub(super) fn names(&self) -> Vec<&str> {
        self.open.iter().map(|seen| seen.target.name.as_str()).collect()
    }

    /// Waits until some have reached the goal; nothing when the time is over, which is said.
    ///
    /// # Errors
    /// The server stays unreachable, or a workload disappears.
    pub(super) async fn next(&mut self, out: &mut Output) -> Result<Vec<Reached>, Error> {
        loop {
            let reached = self.look(out).await?;
            if !reached.is_empty() {
                return Ok(reached);
            }
            let left = self.left();
            if left == Some(Duration::ZERO) {
                self.say_what_is_left(out);
                return Ok(Vec::new());
            }
            tokio::time::sleep(left.map_or(self.pause, |left| left.min(self.pause))).await;
            self.pause = (self.pause * 2).min(LAST);
        }
    }

    /// Returns what is left of the time that it may take.
    fn left(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.saturating_sub(self.begin.elapsed()))
    }

    /// Reads the workloads; none while the server is away, or once the time is over.
    async fn load(&mut self, out: &mut Output) -> Result<Option<Loaded>, Error> {
        let left = self.left().unwrap_or(Duration::MAX);
        let read = async {
            let mut loaded = load_readable(self.cluster, self.scope.as_deref()).await?;
            for seen in &self.open {
                loaded = loaded.whole_for(&seen.target.kind)?;
            }
            if matches!(self.goal, Goal::Position(_)) {
                loaded.find_positions(self.cluster).await;
            }
            Ok(loaded)
        };
        match tokio::time::timeout(left, read).await {
            Ok(loaded) => self.outage.sit_out(loaded, out),
            Err(_) => Ok(None),
        }
    }

    /// Looks once. What is wrong with one of them is said when no other has reached the goal: nothing that came of those is lost.
    async fn look(&mut self, out: &mut Output) -> Result<Vec<Reached>, Error> {
        let Some(loaded) = self.load(out).await? else { return Ok(Vec::new()) };
        let mut reached = Vec::new();
        let mut open = Vec::new();
        let mut wrong = None;
        for mut seen in std::mem::take(&mut self.open) {
            match seen.look(&loaded, self.goal, self.cluster, out).await {
                Ok(Some(exit)) => {
                    let (workload, state) = seen.last.take().unzip();
                    reached.push(Reached { target: seen.target, workload, state, exit });
                }
                Ok(None) => open.push(seen),
                Err(error) => {
                    wrong.get_or_insert(error);
                    open.push(seen);
                }
            }
        }
        self.open = open;
        if let Some(error) = wrong.filter(|_| reached.is_empty()) {
            return Err(error);
        }
        if reached.is_empty() && out.talks() {
            self.estimate(out).await;
        }
        Ok(reached)
    }

    fn is_estimate_due(&self) -> bool {
        match self.estimated {
            None => self.begin.elapsed() >= ESTIMATED_AFTER,
            Some(last) => last.elapsed() >= ESTIMATED_AGAIN,
        }
    }

    /// Says of those that wait for nodes where they stand, and when they start as far as anything tells. It is worked out
    /// beside the waiting, which it never makes longer.
    async fn estimate(&mut self, out: &mut Output) {
        if self.estimate.as_ref().is_some_and(JoinHandle::is_finished)
            && let Some(made) = self.estimate.take()
            && let Ok(said) = made.await
        {
            for line in &said {
                out.talk(line);
            }
            // The moving line goes on with what is known now.
            match said.as_slice() {
                [one] => out.wait_for(one),
                many => out.wait_for(&format!("waiting for {}", count(many.len(), "workload"))),
            }
        }
        if self.estimate.is_some() || !self.is_estimate_due() {
            return;
        }
        let last = self.open.iter().filter_map(|seen| seen.last.as_ref());
        let queued = last.filter(|(_, state)| state.phase.is_queued());
        let workloads: Vec<Workload> = queued.map(|(workload, _)| workload.clone()).collect();
        if !workloads.is_empty() {
            self.estimated = Some(Instant::now());
            self.estimate = Some(tokio::spawn(estimated(workloads, self.cluster.clone())));
        }
    }

    /// Says how many are left; why they wait was said before.
    fn say_what_is_left(&self, out: &mut Output) {
        let seconds = i64::try_from(self.begin.elapsed().as_secs()).unwrap_or(0);
        for seen in &self.open {
            let state = seen.last.as_ref().map(|(_, state)| state.show());
            let state = state.unwrap_or_else(|| "not there yet".to_owned());
            out.talk(&format!(
                "still waiting after {}: {} {}",
                duration::short(seconds),
                clean(&seen.target.name),
                clean(&state)
            ));
        }
    }
}

impl Seen {
    /// The workload as it is now; none where it is gone, even if another one has its name.
    fn now<'l>(&self, loaded: &'l Loaded) -> Option<&'l Workload> {
        let uid = |workload: &Workload| {
            workload.object.as_ref().map(|object| text(&object["metadata"]["uid"]).to_owned())
        };
        let was = self.last.as_ref().and_then(|(last, _)| uid(last));
        let is_same = |now: &&Workload| match (&was, uid(now)) {
            (Some(was), Some(is)) => *was == is,
            // An object that was not read says nothing.
            _ => true,
        };
        self.target.find(loaded).filter(is_same)
    }

    /// Takes in what there is now, and says what changed; how its waiting ends, where it does. What is wrong with it stays so when it
    /// is looked at again.
    async fn look(
        &mut self,
        loaded: &Loaded,
        goal: Goal,
        cluster: &Cluster,
        out: &mut Output,
    ) -> Result<Option<Exit>, Error> {
        let Some(workload) = self.now(loaded) else {
            let hidden = loaded.unread.hides(&self.target.name, &self.target.kind);
            return match (&self.last, hidden) {
                (_, Some(why)) if goal == Goal::Deleted => Err(why.into()),
                (_, None) if goal == Goal::Deleted => {
                    self.last = None;
                    Ok(Some(Exit::Ok))
                }
                (Some((workload, _)), _) => Err(disappeared(workload, cluster).await),
                (None, _) => Ok(None),
            };
        };
        let state = workload.state();
        let now = line(workload, state);
        if self.said != now {
            out.talk(&now);
            self.said = now;
        }
        let reached = goal.reached(workload, state);
        self.last = Some((workload.clone(), state.clone()));
        Ok(reached)
    }
}

/// It is no more; who took its place is said where an event tells.
async fn disappeared(workload: &Workload, cluster: &Cluster) -> Error {
    let what = format!("{} disappeared while it was waited for", clean(&workload.name));
    match history::eviction_of(workload, cluster).await {
        Some(eviction) => Problem::new(number::EVICTED, Exit::Evicted, what)
            .line(clean(&eviction.sentence()))
            .line("nothing creates it again by itself")
            .into(),
        None => Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what).into(),
    }
}

/// Says where workloads stand, and when they start.
async fn estimated(workloads: Vec<Workload>, cluster: Cluster) -> Vec<String> {
    let mut loaded = Loaded { workloads, ..Loaded::default() };
    loaded.find_positions(&cluster).await;
    let mut nowhere = Output::given(Box::new(std::io::sink()), Box::new(std::io::sink()));
    Box::pin(eta::find(&mut loaded.workloads, &cluster, &mut nowhere)).await;
    loaded.workloads.iter().filter_map(outlook).collect()
}

/// Says where a workload stands, and when it starts.
fn outlook(workload: &Workload) -> Option<String> {
    let eta = workload.eta.as_ref()?;
    let place = workload.position.map(|at| format!("position {} of {}, ", at.place, at.of));
    let place = place.unwrap_or_default();
    let start = match eta.when {
        When::Now | When::Later => format!("starts {}", eta.sentence),
        When::Never => format!("can never start: {}", eta.basis),
        When::Unknown => format!("its start is {}", eta.sentence),
    };
    Some(format!("{}  {place}{}", clean(&workload.name), clean(&start)))
}

fn line(workload: &Workload, state: &State) -> String {
    let (ready, wanted) = workload.ready();
    let message = match (&state.message, state.phase.is_queued()) {
        (Some(message), true) => format!(": {}", clean(&message.replace('\n', " "))),
        (Some(_) | None, _) => String::new(),
    };
    let place = match workload.position {
        Some(at) if state.phase.is_queued() => format!(", position {} of {}", at.place, at.of),
        Some(_) | None => String::new(),
    };
    let wanted = pods_shown(wanted);
    format!("{}  {} {ready}/{wanted}{place}{message}", clean(&workload.name), clean(&state.show()))
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;
    use crate::cluster::Resource;

    /// Objects of several kinds may have one name.
    #[test]
    fn work_of_another_kind_is_not_what_is_waited_for() {
        let workload = |api_version: &str, kind: &str, plural: &str| {
            let mut workload = Workload::default();
            workload.name = "train".into();
            workload.resource = Resource::new(api_version, kind, plural);
            workload
        };
        let workloads = vec![workload("batch/v1", "Job", "jobs"), workload("v1", "Pod", "pods")];
        let loaded = Loaded { workloads, ..Loaded::default() };
        for (kind, expect) in [("Job", Some("Job")), ("Pod", Some("Pod")), ("RayJob", None)] {
            let target =
                Target { namespace: String::new(), kind: kind.into(), name: "train".into() };
            let found = target.find(&loaded).map(|found| found.resource.kind.as_str());
            assert_eq!(found, expect, "{kind}");
        }
    }

    #[test]
    fn another_one_of_its_name_is_not_waited_for() {
        let workload = |uid: Option<&str>| {
            let mut workload = Workload::default();
            workload.name = "train".into();
            workload.object = uid.map(|uid| json!({"metadata": {"uid": uid}}));
            workload
        };
        for (before, now, expect) in [
            // Nothing was read of what was just submitted.
            (None, Some("a"), true),
            (Some(Some("a")), Some("a"), true),
            (Some(Some("a")), Some("b"), false),
            (Some(None), Some("b"), true),
            (Some(Some("a")), None, true),
        ] {
            let target =
                Target { namespace: String::new(), kind: String::new(), name: "train".into() };
            let last = before.map(|uid| (workload(uid), workload(uid).state().clone()));
            let seen = Seen { target, said: String::new(), last };
            let loaded = Loaded { workloads: vec![workload(now)], ..Loaded::default() };
            assert_eq!(seen.now(&loaded).is_some(), expect, "{before:?} then {now:?}");
        }
    }

    /// Nobody makes it again: its end would never come.
    #[tokio::test]
    async fn what_is_no_more_is_not_waited_for() {
        let service = tower::service_fn(|_: Request<Body>| async {
            let body = json!({"metadata": {"resourceVersion": "1"}, "items": []}).to_string();
            Ok::<_, kube::Error>(Response::new(Body::from(body.into_bytes())))
        });
        let cluster = Cluster::given(kube::Client::new(service, "ml"), "ml");
        for (was_there, goal, expect) in [
            (true, Goal::Complete, Err(Exit::NotFound)),
            (true, Goal::Running, Err(Exit::NotFound)),
            (true, Goal::Deleted, Ok(Some(Exit::Ok))),
            // It was submitted a moment ago.
            (false, Goal::Complete, Ok(None)),
        ] {
            let mut workload = Workload::default();
            workload.name = "train".into();
            let state = workload.state().clone();
            let target =
                Target { namespace: "ml".into(), kind: String::new(), name: "train".into() };
            let last = was_there.then_some((workload, state));
            let mut seen = Seen { target, said: String::new(), last };
            let mut out = Output::given(Box::new(std::io::sink()), Box::new(std::io::sink()));
            let looked = seen.look(&Loaded::default(), goal, &cluster, &mut out).await;
            assert_eq!(looked.map_err(|error| error.exit()), expect, "{was_there} {goal:?}");
        }
    }
}
