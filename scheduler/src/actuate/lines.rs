//! Tasks that wait in a line for each namespace, so that none keeps those of others waiting.
//!
//! What a bind waits for may be in its user's hands: a config map that does not go, a volume that nobody makes. Of the
//! flights that there may be some are left to other namespaces, and whose line has the fewest is next. A flight that takes
//! long goes on among those of its namespace, and its place is another's. Where flights wait for minutes, each namespace may
//! have some, however many others have.
//!
//! # Source
//! `docs/threats.md`.

use std::collections::{BTreeMap, VecDeque};

use super::{ShareTask, Task};

/// Lines of tasks, and how many of each are on their way.
#[derive(Debug)]
pub(super) struct Lines {
    by_namespace: BTreeMap<Box<str>, Line>,
    /// So many may fly at once, and so many of one namespace.
    most: usize,
    most_of_one: usize,
    /// So many of one namespace may fly whatever others have on their way.
    sure_of_one: usize,
    /// So many of those that take long hold no place.
    most_late: usize,
    flights: usize,
    /// Those of them that take long.
    late: usize,
    /// Number of the next task: of two lines with as many flights the one goes on whose task came first.
    next: u64,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<(u64, Task)>,
    flights: usize,
}

/// The namespace whose user may make a task take long; empty where none can.
fn line_of(task: &Task) -> &str {
    match task {
        Task::Bind(bind) => &bind.namespace,
        Task::Share(ShareTask::Strip(strip)) => &strip.namespace,
        Task::Evict(_) | Task::Group(_) | Task::Pod(_) | Task::Event(_) | Task::Share(_) => "",
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
        let of = line_of(&task);
        let number = self.next;
        self.next += 1;
        if let Some(line) = self.by_namespace.get_mut(of) {
            line.waiting.push_back((number, task));
        } else {
            let line = self.by_namespace.entry(Box::from(of)).or_default();
            line.waiting.push_back((number, task));
        }
    }

    /// Counts those on their way that have not taken long yet.
    pub(super) fn young(&self) -> usize {
        self.flights - self.late
    }

    /// The next task that may fly and its line: the first that is free, of the line with the fewest flights.
    ///
    /// # Cost
    /// In the lines.
    pub(super) fn next(&mut self, is_free: impl Fn(&Task) -> bool) -> Option<(Box<str>, Task)> {
        let places = self.flights - self.late.min(self.most_late);
        let has_place = places < self.most;
        let bound = if has_place { self.most_of_one } else { self.sure_of_one };
        let may_fly = |of: &str, line: &Line| (has_place && of.is_empty()) || line.flights < bound;
        let lines = self.by_namespace.iter().filter(|(of, line)| may_fly(of, line));
        let first = lines.filter_map(|(of, line)| {
            let at = line.waiting.iter().position(|(_, task)| is_free(task))?;
            Some((line.flights, line.waiting[at].0, of, at))
        });
        let (.., of, at) = first.min_by_key(|(flights, number, ..)| (*flights, *number))?;
        let of = of.clone();
        let line = self.by_namespace.get_mut(&of)?;
        let (_, task) = line.waiting.remove(at)?;
        line.flights += 1;
        self.flights += 1;
        Some((of, task))
    }

    /// Notes that a flight takes long, whichever line it is of.
    pub(super) fn late(&mut self) {
        self.late += 1;
    }

    /// A flight of a line ended that took long.
    pub(super) fn landed_late(&mut self, of: &str) {
        self.late -= 1;
        self.landed(of);
    }

    /// A flight of a line ended.
    pub(super) fn landed(&mut self, of: &str) {
        self.flights -= 1;
        let Some(line) = self.by_namespace.get_mut(of) else { return };
        line.flights -= 1;
        if line.flights == 0 && line.waiting.is_empty() {
            self.by_namespace.remove(of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actuate::Bind;

    fn bind(namespace: &str, name: &str) -> Task {
        Task::Bind(Bind { namespace: Box::from(namespace), ..Bind::of(name, name, "n") })
    }

    fn flying(lines: &mut Lines) -> Vec<String> {
        let name = |(of, task): (Box<str>, Task)| match task {
            Task::Bind(bind) => format!("{of}/{}", bind.name),
            other @ (Task::Evict(_)
            | Task::Group(_)
            | Task::Pod(_)
            | Task::Event(_)
            | Task::Share(_)) => {
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
        lines.landed("a");
        assert_eq!(flying(&mut lines), ["b/2"], "it has fewer on their way");
        lines.landed("b");
        lines.landed("b");
        assert_eq!(flying(&mut lines), ["a/4"]);
        (0..3).for_each(|_| lines.landed("a"));
        assert_eq!(flying(&mut lines), ["a/5"]);
        lines.landed("a");
        assert!(lines.by_namespace.is_empty() && lines.young() == 0);
    }

    #[test]
    fn flights_that_take_long_hold_places_of_their_namespace_alone() {
        let mut lines = Lines::new(2, 2, 0, 3);
        for (of, name) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2")] {
            lines.push(bind(of, name));
        }
        assert_eq!(flying(&mut lines), ["a/1", "b/1"]);
        (0..2).for_each(|_| lines.late());
        assert_eq!(flying(&mut lines), ["a/2", "b/2"]);
        assert_eq!(lines.young(), 2);
        (0..2).for_each(|_| lines.late());
        lines.push(bind("c", "1"));
        lines.push(bind("c", "2"));
        assert_eq!(flying(&mut lines), ["c/1"], "one of those that take long holds a place");
        lines.landed_late("b");
        assert_eq!(flying(&mut lines), ["c/2"]);
        lines.landed("c");
        assert_eq!(flying(&mut lines), [""; 0], "a has as many as it may");
        lines.landed_late("a");
        assert_eq!(flying(&mut lines), ["a/3"]);
        lines.landed_late("a");
        lines.landed_late("b");
        lines.landed("a");
        lines.landed("c");
        assert!(lines.by_namespace.is_empty() && lines.young() == 0);
    }
}
