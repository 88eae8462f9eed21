//! Run times of work that has ended, kept by what it was like.

use std::collections::BTreeMap;

use kai_engine::Millis;

/// Runs of one name that tell how long the next one takes.
const OF_NAME_MIN: usize = 3;
/// Runs of one size that do.
const OF_SIZE_MIN: usize = 5;
/// Runs of a whole queue that do.
const OF_QUEUE_MIN: usize = 10;
/// The letters of a name's end that a controller draws.
const DRAWN_LETTERS: &str = "bcdfghjklmnpqrstvwxz2456789";
/// The number of letters that it draws.
const DRAWN_LENGTH: usize = 5;

/// Work, by what tells how long it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work<'w> {
    /// Its queue.
    pub queue: &'w str,
    /// Its name; work whose names differ in numbers or drawn letters at their ends is the same thing run again.
    pub name: &'w str,
    /// Its GPUs in thousandths; sizes up to twice another count as one.
    pub gpu_milli: u64,
}

/// Runs of one kind.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Their times in rising order.
    pub sorted: Vec<Millis>,
    /// Their times in the order in which they ended, the last one last.
    pub order: Vec<Millis>,
}

/// The runs of a queue.
#[derive(Clone, Debug, Default)]
struct OfQueue {
    all: Runs,
    by_name: BTreeMap<String, Runs>,
    by_size: BTreeMap<u32, Runs>,
}

/// Work that has ended.
#[derive(Clone, Debug, Default)]
pub struct Past {
    queues: BTreeMap<String, OfQueue>,
    runs: usize,
}

impl Past {
    /// Notes a run that has ended.
    pub fn add(&mut self, work: Work<'_>, ran: Millis) {
        let of = self.queues.entry(work.queue.to_owned()).or_default();
        let insert = |runs: &mut Runs| {
            let at = runs.sorted.partition_point(|time| *time <= ran);
            runs.sorted.insert(at, ran);
            runs.order.push(ran);
        };
        insert(&mut of.all);
        insert(of.by_size.entry(size(work.gpu_milli)).or_default());
        let stem = stem(work.name);
        if !stem.is_empty() {
            insert(of.by_name.entry(stem.to_owned()).or_default());
        }
        self.runs += 1;
    }

    /// Forgets a run that was noted.
    pub fn forget(&mut self, work: Work<'_>, ran: Millis) {
        let Some(of) = self.queues.get_mut(work.queue) else { return };
        let remove = |runs: &mut Runs| {
            if let Ok(at) = runs.sorted.binary_search(&ran) {
                runs.sorted.remove(at);
            }
            if let Some(at) = runs.order.iter().position(|time| *time == ran) {
                runs.order.remove(at);
            }
        };
        remove(&mut of.all);
        of.by_size.get_mut(&size(work.gpu_milli)).into_iter().for_each(remove);
        of.by_name.get_mut(stem(work.name)).into_iter().for_each(remove);
        self.runs = self.runs.saturating_sub(1);
    }

    /// Finds the runs of work like this: of its name where it ran some times, else of its size, else of its
    /// queue; none where too little is known.
    pub fn like(&self, work: Work<'_>) -> Option<&Runs> {
        let of = self.queues.get(work.queue)?;
        let named = of.by_name.get(stem(work.name)).map(|runs| (runs, OF_NAME_MIN));
        let sized = of.by_size.get(&size(work.gpu_milli)).map(|runs| (runs, OF_SIZE_MIN));
        let kinds = [named, sized, Some((&of.all, OF_QUEUE_MIN))];
        let mut known = kinds.into_iter().flatten().filter(|(runs, min)| runs.sorted.len() >= *min);
        known.next().map(|(runs, _)| runs)
    }

    /// Tells how many runs are known.
    pub fn runs(&self) -> usize {
        self.runs
    }
}

/// The power of two that holds so many GPUs.
fn size(gpu_milli: u64) -> u32 {
    match gpu_milli.div_ceil(1000) {
        0 => 0,
        gpus => 1 + gpus.next_power_of_two().ilog2(),
    }
}

/// A name without the numbers and drawn letters at its end: `train-7` and `train-8` are `train`.
fn stem(name: &str) -> &str {
    let mut stem = name;
    while let Some((before, end)) = stem.rsplit_once(['-', '.', '_']) {
        let is_number = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
        let is_drawn =
            end.len() == DRAWN_LENGTH && end.chars().all(|letter| DRAWN_LETTERS.contains(letter));
        if !is_number && !is_drawn || before.is_empty() {
            break;
        }
        stem = before;
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_thing_run_again_has_the_same_stem() {
        for (name, expect) in [
            ("train-7", "train"),
            ("nightly-28391820", "nightly"),
            ("etl-x7k2p", "etl"),
            ("sweep-3-b9z4d", "sweep"),
            ("train", "train"),
            ("llama-8b", "llama-8b"),
            ("7", "7"),
            ("-7", "-7"),
            ("", ""),
        ] {
            assert_eq!(stem(name), expect, "{name}");
        }
    }

    #[test]
    fn what_is_most_like_it_tells() {
        let work = |name, gpu_milli| Work { queue: "q", name, gpu_milli };
        let mut past = Past::default();
        let check = |past: &Past, of: Work<'_>, expect: &[Millis]| {
            let sorted = past.like(of).map_or(&[][..], |runs| &runs.sorted);
            assert_eq!(sorted, expect, "{of:?}");
        };
        for (name, gpus, ran) in
            [("a-1", 1, 30), ("a-2", 1, 10), ("b", 1, 5), ("c", 1, 7), ("d", 1, 6), ("e", 8, 99)]
        {
            past.add(work(name, gpus * 1000), ran);
        }
        check(&past, work("a-3", 1000), &[5, 6, 7, 10, 30]);
        past.add(work("a-4", 1000), 20);
        check(&past, work("a-3", 8000), &[10, 20, 30]);
        check(&past, work("f", 500), &[5, 6, 7, 10, 20, 30]);
        // One run of this size is too few, and so are seven of the queue.
        check(&past, work("f", 8000), &[]);
        check(&past, Work { queue: "other", ..work("a-3", 1000) }, &[]);
        past.forget(work("a-4", 1000), 20);
        check(&past, work("a-3", 1000), &[5, 6, 7, 10, 30]);
        assert_eq!(past.runs(), 6);
    }
}
