//! Tasks that wait in a line for each namespace, so that none keeps those of others waiting.
//!
//! What a bind waits for may be in its user's hands: a config map that does not go, a volume that nobody makes. Of the
//! flights that there may be some are left to other namespaces, and whose line has the fewest is next. A flight that takes
//! long goes on among those of its namespace, and its place is another's. Where flights wait for minutes, or so many take long
//! that they hold all places, each namespace may have some, however many others have. Evictions are for others: those of a
//! namespace have a line beside that of its binds, so that whoever keeps its binds waiting does not keep its pods.
//!
//! # Source
//! `docs/threats.md`.

use std::collections::{BTreeMap, VecDeque};

use super::{ShareTask, Task};

/// Lines of tasks, and how many of each are on their way.
#[derive(Debug)]
pub(super) struct Lines {
    by_namespace: BTreeMap<Box<str>, Namespace>,
    /// So many may fly at once, and so many of one line, or of one namespace that do not take long.
    most: usize,
    most_of_one: usize,
    /// So many of one namespace may fly whatever others have on their way; where some that take long hold no place, whatever the
    /// others of these hold.
    sure_of_one: usize,
    /// So many of those that take long hold no place.
    most_late: usize,
    flights: usize,
    /// Those of them that take long.
    late: usize,
    /// Number of the next task: of two lines with as many flights the one goes on whose task came first.
    next: u64,
}

/// Names a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LineKey {
    /// The namespace whose user may make a task take long; empty where none can.
    namespace: Box<str>,
    /// Tells whether its pods are evicted there.
    evicts: bool,
}

/// The lines of a namespace: of all but evictions, and of these.
#[derive(Debug, Default)]
struct Namespace {
    lines: [Line; 2],
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<(u64, Task)>,
    flights: usize,
    /// Those of them that take long.
    late: usize,
}

impl LineKey {
    /// Names the line that a task waits in.
    pub(super) fn of(task: &Task) -> Self {
        let (namespace, evicts) = match task {
            Task::Bind(bind) => (&*bind.namespace, false),
            Task::Evict(evict) => (&*evict.namespace, true),
            Task::Share(ShareTask::Strip(strip)) => (&*strip.namespace, false),
            Task::Group(_) | Task::Pod(_) | Task::Event(_) | Task::Share(_) => ("", false),
        };
        Self { namespace: Box::from(namespace), evicts }
    }
}

impl Namespace {
    /// Counts its flights that have not taken long yet.
    fn young(&self) -> usize {
        self.lines.iter().map(|line| line.flights - line.late).sum()
    }

    fn is_idle(&self) -> bool {
        self.lines.iter().all(|line| line.flights == 0 && line.waiting.is_empty())
    }
}

impl Lines {
    /// Nothing waits yet.
    pub(super) fn new(
        most: usize,
        most_of_one: usize,
        sure_of_one: usize,
        most_late: usize,
    ) -> Self {
        Self {
            by_namespace: BTreeMap::new(),
            most,
            most_of_one,
            sure_of_one,
            most_late,
            flights: 0,
            late: 0,
            next: 0,
        }
    }

    /// Puts a task at the end of its line.
    pub(super) fn push(&mut self, task: Task) {
        let LineKey { namespace, evicts } = LineKey::of(&task);
        let number = self.next;
        self.next += 1;
        let lines = &mut self.by_namespace.entry(namespace).or_default().lines;
        lines[usize::from(evicts)].waiting.push_back((number, task));
    }

    /// Counts those on their way that have not taken long yet.
    pub(super) fn young(&self) -> usize {
        self.flights - self.late
    }

    /// The next task that may fly and its line: the first that is free, of the line with the fewest flights.
    ///
    /// # Cost
    /// In the lines.
    pub(super) fn next(&mut self, is_free: impl Fn(&Task) -> bool) -> Option<(LineKey, Task)> {
        let places = self.flights - self.late.min(self.most_late);
        let has_place = places < self.most;
        // What has not taken long yet is over soon: whoever comes waits for it.
        let is_over_soon = self.most_late > 0 && self.young() >= self.most;
        let sure_of_one = if is_over_soon { 0 } else { self.sure_of_one };
        let bound = if has_place { self.most_of_one } else { sure_of_one };
        let is_below = |of: &str, flights: usize| (has_place && of.is_empty()) || flights < bound;
        let mut first: Option<((usize, u64), &str, bool, usize)> = None;
        for (of, namespace) in &self.by_namespace {
            let of = &**of;
            if !is_below(of, namespace.young()) {
                continue;
            }
            for (line, evicts) in namespace.lines.iter().zip([false, true]) {
                if is_below(of, line.flights)
                    && let Some(at) = line.waiting.iter().position(|(_, task)| is_free(task))
                {
                    let rank = (line.flights, line.waiting[at].0);
                    if first.as_ref().is_none_or(|(least, ..)| rank < *least) {
                        first = Some((rank, of, evicts, at));
                    }
                }
            }
        }
        let (_, of, evicts, at) = first?;
        let key = LineKey { namespace: Box::from(of), evicts };
        let line = self.line(&key)?;
        let (_, task) = line.waiting.remove(at)?;
        line.flights += 1;
        self.flights += 1;
        Some((key, task))
    }

    fn line(&mut self, key: &LineKey) -> Option<&mut Line> {
        let namespace = self.by_namespace.get_mut(&key.namespace)?;
        Some(&mut namespace.lines[usize::from(key.evicts)])
    }

    /// Notes that a flight of a line takes long.
    pub(super) fn late(&mut self, of: &LineKey) {
        self.late += 1;
        if let Some(line) = self.line(of) {
            line.late += 1;
        }
    }

    /// A flight of a line ended that took long.
    pub(super) fn landed_late(&mut self, of: &LineKey) {
        self.late -= 1;
        if let Some(line) = self.line(of) {
            line.late -= 1;
        }
        self.landed(of);
    }

    /// A flight of a line ended.
    pub(super) fn landed(&mut self, of: &LineKey) {
        self.flights -= 1;
        let Some(line) = self.line(of) else { return };
        line.flights -= 1;
        if self.by_namespace.get(&of.namespace).is_some_and(Namespace::is_idle) {
            self.by_namespace.remove(&of.namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actuate::{Bind, Evict};

    fn bind(namespace: &str, name: &str) -> Task {
        Task::Bind(Bind { namespace: Box::from(namespace), ..Bind::of(name, name, "n") })
    }

    fn evict(namespace: &str, name: &str) -> Task {
        Task::Evict(Evict {
            pod: 0,
            uid: Box::from(name),
            namespace: Box::from(namespace),
            name: Box::from(name),
            condition: None,
            asks_budgets: false,
            stamp: None,
        })
    }

    /// The line of a namespace's binds.
    fn of(namespace: &str) -> LineKey {
        LineKey { namespace: Box::from(namespace), evicts: false }
    }

    fn flying(lines: &mut Lines) -> Vec<String> {
        let name = |(key, task): (LineKey, Task)| match task {
            Task::Bind(bind) => format!("{}/{}", key.namespace, bind.name),
            Task::Evict(evict) => format!("{} loses {}", key.namespace, evict.name),
            other @ (Task::Group(_) | Task::Pod(_) | Task::Event(_) | Task::Share(_)) => {
                format!("{other:?}")
            }
        };
        std::iter::from_fn(|| lines.next(|_| true).map(name)).collect()
    }

    #[test]
    fn some_flights_are_left_to_others_and_namespaces_take_turns() {
        let mut lines = Lines::new(4, 3, 0, 0);
        for name in ["1", "2", "3", "4", "5"] {
            lines.push(bind("a", name));
        }
        assert_eq!(flying(&mut lines), ["a/1", "a/2", "a/3"]);
        lines.push(bind("b", "1"));
        lines.push(bind("b", "2"));
        assert_eq!(flying(&mut lines), ["b/1"]);
        lines.landed(&of("a"));
        assert_eq!(flying(&mut lines), ["b/2"], "it has fewer on their way");
        lines.landed(&of("b"));
        lines.landed(&of("b"));
        assert_eq!(flying(&mut lines), ["a/4"]);
        (0..3).for_each(|_| lines.landed(&of("a")));
        assert_eq!(flying(&mut lines), ["a/5"]);
        lines.landed(&of("a"));
        assert!(lines.by_namespace.is_empty() && lines.young() == 0);
    }

    #[test]
    fn flights_that_take_long_hold_places_of_their_namespace_alone() {
        let mut lines = Lines::new(2, 2, 0, 3);
        for (of, name) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2")] {
            lines.push(bind(of, name));
        }
        assert_eq!(flying(&mut lines), ["a/1", "b/1"]);
        for namespace in ["a", "b"] {
            lines.late(&of(namespace));
        }
        assert_eq!(flying(&mut lines), ["a/2", "b/2"]);
        assert_eq!(lines.young(), 2);
        for namespace in ["a", "b"] {
            lines.late(&of(namespace));
        }
        lines.push(bind("c", "1"));
        lines.push(bind("c", "2"));
        assert_eq!(flying(&mut lines), ["c/1"], "one of those that take long holds a place");
        lines.landed_late(&of("b"));
        assert_eq!(flying(&mut lines), ["c/2"]);
        lines.landed(&of("c"));
        assert_eq!(flying(&mut lines), [""; 0], "a has as many as it may");
        lines.landed_late(&of("a"));
        assert_eq!(flying(&mut lines), ["a/3"]);
        lines.landed_late(&of("a"));
        lines.landed_late(&of("b"));
        lines.landed(&of("a"));
        lines.landed(&of("c"));
        assert!(lines.by_namespace.is_empty() && lines.young() == 0);
    }

    /// Three namespaces have as many that take long as there are places beside those that hold none.
    #[test]
    fn where_all_places_are_held_for_long_each_namespace_has_some() {
        let mut lines = Lines::new(3, 3, 1, 2);
        for namespace in ["a", "a", "a", "b", "b"] {
            lines.push(bind(namespace, "slow"));
            assert_eq!(flying(&mut lines), [format!("{namespace}/slow")]);
            lines.late(&of(namespace));
        }
        for namespace in ["b", "c", "c", "d", "e", "f"] {
            lines.push(bind(namespace, "new"));
        }
        assert_eq!(flying(&mut lines), ["c/new", "d/new", "e/new"], "as many as at once");
        lines.landed(&of("c"));
        assert_eq!(flying(&mut lines), ["c/new"]);
        lines.landed(&of("c"));
        assert_eq!(flying(&mut lines), ["f/new"], "b has more than some");
    }

    /// Whoever has its binds wait for what it keeps would keep the pods that others' room is made of.
    #[test]
    fn binds_that_take_long_hold_back_no_eviction_in_their_namespace() {
        let mut lines = Lines::new(9, 2, 0, 9);
        for name in ["1", "2", "3"] {
            lines.push(bind("a", name));
        }
        assert_eq!(flying(&mut lines), ["a/1", "a/2"]);
        for name in ["4", "5", "6"] {
            lines.push(evict("a", name));
        }
        assert_eq!(flying(&mut lines), [""; 0], "a has as many as it may");
        (0..2).for_each(|_| lines.late(&of("a")));
        lines.push(evict("b", "1"));
        assert_eq!(flying(&mut lines), ["a loses 4", "b loses 1", "a loses 5"]);
        (0..2).for_each(|_| lines.landed_late(&of("a")));
        for namespace in ["a", "a", "b"] {
            lines.landed(&LineKey { evicts: true, ..of(namespace) });
        }
        assert_eq!(flying(&mut lines), ["a/3", "a loses 6"]);
    }
}
