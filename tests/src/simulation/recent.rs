//! Numbers, and what they were of late: who decides may not have heard of the last change yet.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// Former numbers are kept for so long.
const KEPT: Duration = Duration::from_mins(10);

/// A moment at which the cluster is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Instant,
    /// Whoever acts now has heard of all that was so before then.
    pub(super) since: Instant,
    /// From then on nothing went wrong, and nothing is left of what did; none while things go wrong.
    pub(super) calm: Option<Instant>,
}

impl Moment {
    /// Tells whether nothing goes wrong any more.
    pub(super) fn is_calm(self) -> bool {
        self.calm.is_some_and(|calm| calm <= self.now)
    }

    /// Tells whether all that led to what began at a moment happened while nothing went wrong.
    pub(super) fn was_calm_at(self, began: Instant) -> bool {
        self.calm.is_some_and(|calm| calm <= began)
    }
}

/// A number, and its former values, each until when.
#[derive(Debug, Default)]
pub(super) struct Recent {
    now: i64,
    former: VecDeque<(Instant, i64)>,
}

impl Recent {
    /// A number that was never another one.
    pub(super) fn new(number: i64) -> Self {
        Self { now: number, former: VecDeque::new() }
    }

    /// The number by now.
    pub(super) fn now(&self) -> i64 {
        self.now
    }

    /// Notes that it is another one from now on.
    pub(super) fn set(&mut self, number: i64, now: Instant) {
        if number == self.now {
            return;
        }
        self.former.push_back((now, std::mem::replace(&mut self.now, number)));
        let is_old = |(until, _): &(Instant, i64)| now.duration_since(*until) > KEPT;
        while self.former.front().is_some_and(is_old) {
            self.former.pop_front();
        }
    }

    /// The largest that it was since a moment, which is 10 minutes ago at most.
    pub(super) fn most_since(&self, moment: Instant) -> i64 {
        self.all_since(moment).fold(self.now, i64::max)
    }

    /// The smallest that it was since a moment, which is 10 minutes ago at most.
    pub(super) fn least_since(&self, moment: Instant) -> i64 {
        self.all_since(moment).fold(self.now, i64::min)
    }

    fn all_since(&self, moment: Instant) -> impl Iterator<Item = i64> {
        let former = self.former.iter().rev();
        former.take_while(move |(until, _)| *until >= moment).map(|(_, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_numbers_count_while_they_were_so_since_then() {
        let start = Instant::now();
        let at = |second: u64| start + Duration::from_secs(second);
        let mut number = Recent::new(8);
        number.set(4, at(10));
        number.set(6, at(20));
        for (since, least, most) in [(5, 4, 8), (10, 4, 8), (11, 4, 6), (20, 4, 6), (21, 6, 6)] {
            assert_eq!(number.least_since(at(since)), least, "least since {since}");
            assert_eq!(number.most_since(at(since)), most, "most since {since}");
        }
        number.set(1, at(1000));
        assert_eq!((number.now(), number.most_since(start)), (1, 6));
    }
}
