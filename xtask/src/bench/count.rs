//! Counts what many measurements take, several at once: callgrind's counts do not depend on what else runs.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    thread::{self, available_parallelism},
};

use anyhow::Result;

use super::measure::{Catalogue, Entry};

/// Cost of one measurement, in its function `measured`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) instructions: u64,
    /// Calls of the allocator that get memory, or more of it.
    pub(super) allocations: u64,
}

/// Counts by id and size.
pub(super) type Counts<'e> = BTreeMap<(&'e str, u64), Count>;

/// The functions of the C library that get memory.
const ALLOCATORS: [&str; 5] = ["malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"];

impl Count {
    /// Reads what callgrind wrote, its totals and who was called how often.
    ///
    /// A function is written as `(7) malloc` the first time and as `(7)` from then on; `cfn=` names who is called, the
    /// next `calls=` how often.
    pub(super) fn read(profile: &str) -> Option<Self> {
        let total = profile.lines().find_map(|line| line.strip_prefix("totals: "))?;
        let instructions = total.trim().parse().ok()?;
        let mut allocators: Vec<&str> = Vec::new();
        let (mut caller, mut called) = ("", "");
        let mut allocations = 0;
        for line in profile.lines() {
            let callee = line.strip_prefix("cfn=");
            if let Some(function) = callee.or_else(|| line.strip_prefix("fn=")) {
                let (number, name) = function.split_once(' ').unwrap_or((function, ""));
                // A name may be followed by the library's version of it, or by the depth of a recursion.
                let plain = name.split(['@', '\'']).next().unwrap_or(name);
                if ALLOCATORS.contains(&plain) {
                    allocators.push(number);
                }
                *if callee.is_some() { &mut called } else { &mut caller } = number;
            } else if let Some(calls) = line.strip_prefix("calls=")
                && allocators.contains(&called)
                && !allocators.contains(&caller)
            {
                allocations += calls.split(' ').next()?.parse::<u64>().ok()?;
            }
        }
        Some(Self { instructions, allocations })
    }
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.allocations += other.allocations;
    }
}

/// Counts every size of every benchmark that needs no cluster, the largest first.
pub(super) fn count<'e>(catalogue: &Catalogue, entries: &[&'e Entry]) -> Result<Counts<'e>> {
    let counted = entries.iter().filter(|entry| !entry.live && entry.counted);
    let mut jobs: Vec<(&'e str, u64)> = counted
        .flat_map(|entry| entry.sizes.iter().map(|size| (entry.id.as_str(), *size)))
        .collect();
    jobs.sort_by_key(|(_, size)| *size);
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().map_or(None, |mut jobs| jobs.pop());
    let work = || -> Result<Counts<'e>> {
        let mut counts = Counts::new();
        while let Some((id, size)) = next() {
            counts.insert((id, size), catalogue.count(id, size)?);
        }
        Ok(counts)
    };
    let workers = available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut counts = Counts::new();
        for worker in running {
            let part = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            counts.extend(part?);
        }
        Ok(counts)
    })
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn calls_of_allocators_are_summed() {
        let profile = "fn=(1) main\n16 3\ncfn=(2) malloc\ncalls=4 0\n16 100\ncfn=(3) free\ncalls=9 0\n16 50\n\
                       fn=(3)\n12 50\nfn=(4) grow\ncfn=(2)\ncalls=2 0\n18 40\ncfn=(5) realloc\ncalls=1 0\n18 9\n\
                       fn=(5)\n20 1\ncfn=(2)\ncalls=1 0\n20 8\ntotals: 252\n";
        assert_eq!(Count::read(profile), Some(Count { instructions: 252, allocations: 7 }));
        assert_eq!(Count::read("fn=(1) main\n"), None);
    }
}
