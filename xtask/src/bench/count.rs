//! Counts the instructions of many measurements at once: callgrind's counts do not depend on what else runs.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    thread::{self, available_parallelism},
};

use anyhow::Result;

use super::measure::{Catalogue, Entry};

/// Instructions by id and size.
pub(super) type Counts<'e> = BTreeMap<(&'e str, u64), u64>;

/// Counts every size of every benchmark that needs no cluster, the largest first.
pub(super) fn count<'e>(catalogue: &Catalogue, entries: &[&'e Entry]) -> Result<Counts<'e>> {
    let counted = entries.iter().filter(|entry| !entry.live);
    let mut jobs: Vec<(&'e str, u64)> = counted
        .flat_map(|entry| entry.sizes.iter().map(|size| (entry.id.as_str(), *size)))
        .collect();
    jobs.sort_by_key(|(_, size)| *size);
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().map_or(None, |mut jobs| jobs.pop());
    let work = || -> Result<Counts<'e>> {
        let mut counts = Counts::new();
        while let Some((id, size)) = next() {
            counts.insert((id, size), catalogue.instructions(id, size)?);
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
