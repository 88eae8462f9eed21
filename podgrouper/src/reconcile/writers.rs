//! Pods that write `PodGroups`: one a group at a time, and few the large ones, of each namespace one.
//!
//! A write takes as long as admission and the API server do, and a user can make that seconds. So nobody waits here: a pod
//! whose turn it is not is put aside, its worker takes another, and the pod has a round again once its turn comes. What it was
//! called for is kept for it until that round ends, and goes to the next pod then, whether it was needed or not: as long as
//! some are aside somebody has what they wait for, or is called. Who is called comes before all others of its namespace: what
//! is kept for it is kept from others.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kai_api::fair::Fair;

use crate::queue::Queue;
use crate::store::Key;

/// So many large `PodGroups` are written at once, each of which takes much memory meanwhile.
const LARGE: usize = 2;

/// A need of a pod that is to write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Need {
    /// A group, which one pod writes at a time.
    Group(Key),
    /// One of the places for large groups.
    Place,
}

impl Need {
    fn count(&self) -> usize {
        match self {
            Self::Group(_) => 1,
            Self::Place => LARGE,
        }
    }
}

/// Pods that wait for something that others have.
#[derive(Debug, Default)]
struct Line {
    /// Namespaces of those who have it, or whom it is kept for.
    holders: Vec<Arc<str>>,
    waiting: Fair<Key>,
    /// Those in `waiting`, each of which is there once.
    known: HashSet<Key>,
}

impl Line {
    fn may_have(&self, namespace: &str) -> bool {
        !self.holders.iter().any(|holder| **holder == *namespace)
    }

    /// Lets a pod wait; one that is there already keeps its turn. Its user may have it come again and again.
    fn push(&mut self, pod: &Key) {
        if self.known.insert(pod.clone()) {
            self.waiting.push(&pod.namespace, pod.clone());
        }
    }
}

#[derive(Debug, Default)]
struct Rows {
    lines: HashMap<Need, Line>,
    /// Pods that are aside, each with what it waits for: where a line has it besides, it waited there once.
    aside: HashMap<Key, Need>,
    /// Pods that were called, each with what is kept for it.
    called: HashMap<Key, Need>,
}

impl Rows {
    /// Takes something for a namespace, if it may have it now.
    fn take(&mut self, need: &Need, namespace: &Arc<str>) -> bool {
        let line = self.lines.entry(need.clone()).or_default();
        let is_free = line.holders.len() < need.count() && line.may_have(namespace);
        if is_free {
            line.holders.push(namespace.clone());
        }
        is_free
    }

    /// Hands what a namespace had to the next pod that waits for it, which is to be called.
    fn pass_on(&mut self, need: Need, namespace: &str) -> Option<Key> {
        let line = self.lines.get_mut(&need)?;
        let at = line.holders.iter().position(|holder| **holder == *namespace)?;
        line.holders.swap_remove(at);
        loop {
            let Line { holders, waiting, known } = &mut *line;
            let may_have = |one: &str| !holders.iter().any(|holder| **holder == *one);
            let Some((owner, pod)) = waiting.pop_where(may_have) else { break };
            known.remove(&pod);
            if self.aside.get(&pod) == Some(&need) {
                self.aside.remove(&pod);
                holders.push(owner);
                self.called.insert(pod.clone(), need);
                return Some(pod);
            }
        }
        if line.holders.is_empty() {
            self.lines.remove(&need);
        }
        None
    }

    /// Gives back what one pod at a time has; returns all who waited for it.
    fn open(&mut self, need: &Need) -> Vec<Key> {
        let mut all = Vec::new();
        let Some(mut line) = self.lines.remove(need) else { return all };
        while let Some((_, pod)) = line.waiting.pop() {
            if self.aside.get(&pod) == Some(need) {
                self.aside.remove(&pod);
                all.push(pod);
            }
        }
        all
    }
}

/// Pods that write, and those that will.
pub(super) struct Writers {
    rows: Mutex<Rows>,
    /// The pods that are called have a round again.
    queue: Arc<Queue<Key>>,
}

impl Writers {
    pub(super) fn new(queue: Arc<Queue<Key>>) -> Self {
        Self { rows: Mutex::default(), queue }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the write of a group; where that cannot be now, the pod is put aside.
    pub(super) fn begin(&self, group: &Key, pod: &Key, is_large: bool) -> Option<Writing<'_>> {
        let needs = [Some(Need::Group(group.clone())), is_large.then_some(Need::Place)];
        let mut rows = self.rows();
        rows.aside.remove(pod);
        let mut kept = rows.called.remove(pod);
        let (mut has, mut lacks) = (Vec::new(), None);
        for need in needs.into_iter().flatten() {
            if kept.as_ref() == Some(&need) {
                kept = None;
            } else if !rows.take(&need, &pod.namespace) {
                lacks = Some(need);
                break;
            }
            has.push(need);
        }
        let unneeded = if lacks.is_some() { mem::take(&mut has) } else { Vec::new() };
        let mut called = Vec::new();
        for need in unneeded.into_iter().chain(kept) {
            called.extend(rows.pass_on(need, &pod.namespace));
        }
        let writing = match lacks {
            Some(need) => {
                rows.lines.entry(need.clone()).or_default().push(pod);
                rows.aside.insert(pod.clone(), need);
                None
            }
            None => Some(Writing { writers: self, pod: pod.clone(), has, is_written: false }),
        };
        drop(rows);
        self.call(called);
        writing
    }

    /// Says that a pod comes to no write any more in its round: what it was called for goes to the next, where it did not come
    /// to it, and it waits for nothing. The queue has one that failed come later, and passes over a call until that is set.
    pub(super) fn end(&self, pod: &Key) {
        let mut rows = self.rows();
        rows.aside.remove(pod);
        let kept = rows.called.remove(pod);
        let called = kept.and_then(|need| rows.pass_on(need, &pod.namespace));
        drop(rows);
        self.call(called);
    }

    /// Calls pods for each of which something is kept.
    fn call(&self, pods: impl IntoIterator<Item = Key>) {
        for pod in pods {
            self.queue.call(pod);
        }
    }
}

/// A write; it ends when this is dropped.
pub(super) struct Writing<'w> {
    writers: &'w Writers,
    pod: Key,
    has: Vec<Need>,
    is_written: bool,
}

impl Writing<'_> {
    /// Says that the group is as the pod wants it: the others of it come at once, as they have nothing to write any more. Where
    /// that failed they come one after the other.
    pub(super) fn succeed(&mut self) {
        self.is_written = true;
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut rows = self.writers.rows();
        let (mut called, mut all) = (Vec::new(), Vec::new());
        for need in mem::take(&mut self.has) {
            if self.is_written && matches!(need, Need::Group(_)) {
                all.extend(rows.open(&need));
            } else {
                called.extend(rows.pass_on(need, &self.pod.namespace));
            }
        }
        drop(rows);
        self.writers.call(called);
        for pod in all {
            self.writers.queue.add(pod);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use kai_daemon::metrics::Register;

    use super::*;
    use crate::meters::Meters;

    fn writers() -> Writers {
        let meters = Meters::new(&Register::default()).expect("names");
        Writers::new(Arc::new(Queue::new(meters, 100)))
    }

    fn key(name: &str) -> Key {
        let (namespace, name) = name.split_once('/').expect("a namespace and a name");
        Key::new(namespace, name)
    }

    /// The pods that were called since the last time.
    fn called(writers: &Writers) -> Vec<String> {
        let next = || {
            let pod = writers.queue.take().now_or_never()?;
            writers.queue.done(&pod);
            Some(pod.to_string())
        };
        std::iter::from_fn(next).collect()
    }

    #[tokio::test]
    async fn a_group_is_written_by_one_pod_and_the_others_come_after_it() {
        let writers = writers();
        let begin = |pod: &str| writers.begin(&key("n/g"), &key(pod), false);
        let mut first = begin("n/a").expect("nobody writes it");
        for _ in 0..2 {
            assert!(begin("n/b").is_none() && begin("n/c").is_none());
        }
        assert!(writers.begin(&key("n/other"), &key("n/d"), false).is_some());
        assert_eq!(called(&writers), [""; 0]);
        first.succeed();
        drop(first);
        assert_eq!(called(&writers), ["n/b", "n/c"]);
        let rows = writers.rows();
        assert!(rows.lines.is_empty() && rows.aside.is_empty());
    }

    /// A thousand that come at once to fail one after the other would keep others from their turns.
    #[tokio::test]
    async fn after_a_write_that_failed_the_others_come_one_by_one() {
        let writers = writers();
        let begin = |pod: &str| writers.begin(&key("n/g"), &key(pod), false);
        let first = begin("n/a").expect("nobody writes it");
        for pod in ["n/b", "n/c", "n/d"] {
            assert!(begin(pod).is_none());
        }
        drop(first);
        assert_eq!(called(&writers), ["n/b"]);
        assert!(begin("n/e").is_none(), "it is kept for another");
        // Its round may end before it comes to the write.
        writers.end(&key("n/b"));
        assert_eq!(called(&writers), ["n/c"]);
        let second = begin("n/c").expect("it was called");
        writers.end(&key("n/c"));
        assert_eq!(called(&writers), [""; 0], "it writes");
        drop(second);
        assert_eq!(called(&writers), ["n/d"]);
        // It belongs to another group by now.
        assert!(writers.begin(&key("n/other"), &key("n/d"), false).is_some());
        assert_eq!(called(&writers), ["n/e"]);
        writers.end(&key("n/e"));
        let rows = writers.rows();
        assert!(rows.lines.is_empty() && rows.aside.is_empty() && rows.called.is_empty());
    }

    /// Its user may have it look again as often as the API server lets it, while a group is written in vain for a day.
    #[tokio::test]
    async fn a_pod_that_comes_again_waits_once() {
        let writers = writers();
        let begin = |pod: &str, group: &str| writers.begin(&key(group), &key(pod), false);
        let held = ["n/g", "n/h"].map(|group| begin("n/a", group).expect("nobody writes it"));
        for _ in 0..100 {
            assert!(begin("n/b", "n/g").is_none() && begin("n/b", "n/h").is_none());
        }
        let waiting: Vec<usize> =
            writers.rows().lines.values().map(|line| line.waiting.len()).collect();
        assert_eq!(waiting, [1, 1]);
        drop(held);
        assert_eq!(called(&writers), ["n/b"], "for the group that it is of now");
        assert!(begin("n/b", "n/h").is_some());
        assert!(writers.rows().lines.is_empty());
    }

    /// It is tried again later, and whatever asks for it before that is passed over.
    #[tokio::test]
    async fn who_failed_before_its_write_is_not_waited_for() {
        let writers = writers();
        let begin = |pod: &str| writers.begin(&key("n/g"), &key(pod), false);
        let first = begin("n/a").expect("nobody writes it");
        assert!(begin("n/b").is_none() && begin("n/c").is_none());
        writers.end(&key("n/b"));
        drop(first);
        assert_eq!(called(&writers), ["n/c"]);
    }

    #[tokio::test]
    async fn of_large_groups_each_namespace_writes_one() {
        let writers = writers();
        let begin = |pod: &str| writers.begin(&key(pod), &key(pod), true);
        let first = begin("m/a").expect("there are places");
        assert!(begin("m/b").is_none() && begin("m/c").is_none());
        let other = begin("n/a").expect("there is a place for another namespace");
        assert!(begin("o/a").is_none(), "all have been taken");
        drop(other);
        assert_eq!(called(&writers), ["o/a"]);
        let other = begin("o/a").expect("it was called");
        drop(first);
        assert_eq!(called(&writers), ["m/b"]);
        drop(other);
        assert_eq!(called(&writers), [""; 0], "of its namespace another was called");
        drop(begin("m/b").expect("it was called"));
        assert_eq!(called(&writers), ["m/c"]);
        drop(begin("m/c").expect("it was called"));
        assert!(writers.rows().lines.is_empty());
    }
}
