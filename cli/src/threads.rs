//! Works through many things on all cores: lists have thousands of workloads.

use std::panic::resume_unwind;
use std::thread::{available_parallelism, scope};

/// Sets how many things are worth a thread.
const MANY: usize = 512;

/// Returns what a function makes of each thing, in their order.
pub(crate) fn map<T: Sync, R: Send>(things: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let of_part = |part: &[T]| part.iter().map(&make).collect::<Vec<R>>();
    parts(things, of_part).into_iter().flatten().collect()
}

/// Returns what a function makes of each part of the things, in their order: one part for each core, where they are many.
pub(crate) fn parts<T: Sync, R: Send>(things: &[T], make: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    if things.len() <= MANY {
        return vec![make(things)];
    }
    each(things.chunks(share(things.len())).collect(), make)
}

/// Returns what a function makes of each thing, in their order; each has a thread of its own.
pub(crate) fn each<T: Send, R: Send>(things: Vec<T>, make: impl Fn(T) -> R + Sync) -> Vec<R> {
    if things.len() <= 1 {
        return things.into_iter().map(make).collect();
    }
    let make = &make;
    scope(|scope| {
        let threads: Vec<_> =
            things.into_iter().map(|thing| scope.spawn(move || make(thing))).collect();
        let made = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        made.collect()
    })
}

/// Changes each thing.
pub(crate) fn change<T: Send>(things: &mut [T], edit: impl Fn(&mut T) + Sync) {
    if things.len() <= MANY {
        return things.iter_mut().for_each(edit);
    }
    let edit = &edit;
    scope(|scope| {
        for part in things.chunks_mut(share(things.len())) {
            scope.spawn(move || part.iter_mut().for_each(edit));
        }
    });
}

/// Returns how many of so many things one thread works through.
fn share(things: usize) -> usize {
    things.div_ceil(available_parallelism().map_or(1, usize::from)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_stay_in_their_order_however_many_there_are() {
        for count in [0, 1, MANY, MANY + 1, 3 * MANY + 7] {
            let things: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = things.iter().map(|thing| thing * 2).collect();
            assert_eq!(map(&things, |thing| thing * 2), doubled);
            let mut changed = things;
            change(&mut changed, |thing| *thing *= 2);
            assert_eq!(changed, doubled);
        }
    }
}
