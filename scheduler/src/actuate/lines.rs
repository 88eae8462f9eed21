//! Tasks that wait in a line for each namespace, so that none keeps those of others waiting.
//!
//! What a bind waits for may be in its user's hands: a config map that does not go, a volume that nobody makes. Of the
//! flights that there may be some are left to other namespaces, and whose line has the fewest is next.
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
    flights: usize,
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
    pub(super) fn new(most: usize, most_of_one: usize) -> Self {
        Self { by_namespace: BTreeMap::new(), most, most_of_one, flights: 0, next: 0 }
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

    /// Counts those that are on their way.
    pub(super) fn flights(&self) -> usize {
        self.flights
    }

    /// The next task that may fly and its line: the first that is free, of the line with the fewest flights.
    ///
    /// # Cost
    /// In the lines.
    pub(super) fn next(&mut self, is_free: impl Fn(&Task) -> bool) -> Option<(Box<str>, Task)> {
        if self.flights >= self.most {
            return None;
        }
        let may_fly = |of: &str, line: &Line| of.is_empty() || line.flights < self.most_of_one;
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
        let mut lines = Lines::new(4, 3);
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
        assert!(lines.by_namespace.is_empty() && lines.flights() == 0);
    }
}
