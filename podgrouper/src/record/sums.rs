//! Amounts of records that are added up within bounds: what has no row of its own is counted in one for all others. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use kai_api::daily_record::{OTHERS, Outcome, UsageRow, WorkloadRecord};

/// API version and kind of the row that sums up others.
const API_VERSION: &str = "kai.scheduler/v1alpha1";
const KIND: &str = "Workloads";

/// The most that the API holds of an amount.
const AMOUNT_MAX: u64 = i64::MAX.unsigned_abs();

/// Bounds of the rows of GPU time: so many, with so many bytes of names. Whoever names queues and profiles as they like
/// would have a record grow beyond what an object can hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    rows: usize,
    bytes: usize,
}

impl Bounds {
    /// Those of one workload.
    pub(super) const ONE: Self = Self { rows: 16, bytes: 1 << 10 };
    /// Those of a sum over many.
    const MANY: Self = Self { rows: 64, bytes: 4 << 10 };
}

/// GPU time and GPUs held, by queue and type of GPU.
#[derive(Debug)]
pub(super) struct Sums {
    /// Room that is left beside the row of all others.
    left: Bounds,
    rows: BTreeMap<(Arc<str>, Arc<str>), (i128, u64)>,
}

impl Sums {
    /// Those that a record has; nothing is held yet.
    pub(super) fn of(before: &[UsageRow], left: Bounds) -> Self {
        let mut sums = Self { left, rows: BTreeMap::new() };
        for row in before {
            sums.row(&row.queue.as_str().into(), &row.gpu_type.as_str().into()).0 +=
                i128::from(row.micro_gpu_seconds);
        }
        sums
    }

    /// The time counted and the GPUs held of a queue and a type; of all others together where there is no room.
    pub(super) fn row(&mut self, queue: &Arc<str>, gpu_type: &Arc<str>) -> &mut (i128, u64) {
        let mut key = (queue.clone(), gpu_type.clone());
        if !self.rows.contains_key(&key) {
            let Bounds { rows, bytes } = self.left;
            let left = rows.checked_sub(1).zip(bytes.checked_sub(queue.len() + gpu_type.len()));
            let others = (Arc::from(""), Arc::from(OTHERS));
            match left {
                Some((rows, bytes)) if key != others => self.left = Bounds { rows, bytes },
                _ => key = others,
            }
        }
        self.rows.entry(key).or_default()
    }

    /// The rows that say something.
    pub(super) fn into_rows(self) -> Vec<UsageRow> {
        let rows = self.rows.into_iter();
        let rows = rows.map(|((queue, gpu_type), (counted, held_micro_gpus))| UsageRow {
            queue: queue.to_string(),
            gpu_type: gpu_type.to_string(),
            micro_gpu_seconds: u64::try_from(counted.clamp(0, i128::from(AMOUNT_MAX)))
                .unwrap_or_default(),
            held_micro_gpus: held_micro_gpus.min(AMOUNT_MAX),
        });
        rows.filter(|row| row.micro_gpu_seconds > 0 || row.held_micro_gpus > 0).collect()
    }
}

/// Adds to an amount of a record, up to what the API holds: whoever may edit records writes numbers as large as their fields.
pub(super) fn added(amount: u64, more: u64) -> u64 {
    amount.saturating_add(more).min(AMOUNT_MAX)
}

/// Adds workloads that are gone to the row of others: what they held, ran and waited stays, who they were goes.
pub(super) fn add_others<'a>(
    before: Option<&WorkloadRecord>,
    gone: impl Iterator<Item = &'a WorkloadRecord>,
) -> WorkloadRecord {
    let mut sum = before.cloned().unwrap_or_else(|| WorkloadRecord {
        api_version: API_VERSION.to_owned(),
        kind: KIND.to_owned(),
        name: OTHERS.to_owned(),
        outcome: Outcome::Deleted,
        ..WorkloadRecord::default()
    });
    let mut usage = Sums::of(&sum.usage, Bounds::MANY);
    for record in gone {
        for row in &record.usage {
            usage.row(&row.queue.as_str().into(), &row.gpu_type.as_str().into()).0 +=
                i128::from(row.micro_gpu_seconds);
        }
        sum.workloads = sum.workloads.saturating_add(1);
        sum.created = first(sum.created.as_ref(), record.created.as_ref());
        sum.started = first(sum.started.as_ref(), record.started.as_ref());
        sum.ended = sum.ended.clone().max(record.ended.clone());
        sum.through = sum.through.clone().max(record.through.clone());
        sum.peak_micro_gpus = sum.peak_micro_gpus.max(record.peak_micro_gpus);
        sum.run_seconds = added(sum.run_seconds, record.run_seconds);
        sum.wait_seconds = added(sum.wait_seconds, record.wait_seconds);
        sum.waits = sum.waits.saturating_add(record.waits);
        let evictions = u32::try_from(record.evictions.len()).unwrap_or(u32::MAX);
        let evictions = evictions.saturating_add(record.evictions_left_out);
        sum.evictions_left_out = sum.evictions_left_out.saturating_add(evictions);
    }
    sum.usage = usage.into_rows();
    sum
}

/// The earlier of two times, where there is one.
fn first<T: Ord + Clone>(one: Option<&T>, other: Option<&T>) -> Option<T> {
    one.into_iter().chain(other).min().cloned()
}

#[cfg(test)]
mod tests {
    use kai_api::daily_record::{EvictionRow, UsageRow, WorkloadRecord};

    use super::{Bounds, Sums, add_others};

    fn row(queue: &str, gpu_type: &str, micro_gpu_seconds: u64) -> UsageRow {
        let (queue, gpu_type) = (queue.to_owned(), gpu_type.to_owned());
        UsageRow { queue, gpu_type, micro_gpu_seconds, held_micro_gpus: 0 }
    }

    /// A pod of five hundred profiles of its own would have a record of 160 KB.
    #[test]
    fn what_has_no_row_of_its_own_is_counted_with_others() {
        for (count, name_bytes, expect) in [(3, 1, 3), (40, 1, 17), (40, 500, 3)] {
            let text = |at: usize| format!("{at:0>name_bytes$}");
            let all: Vec<UsageRow> = (0..count).map(|at| row("q", &text(at), 5)).collect();
            let rows = Sums::of(&all, Bounds::ONE).into_rows();
            let sum: u64 = rows.iter().map(|row| row.micro_gpu_seconds).sum();
            assert_eq!((rows.len(), sum), (expect, 5 * u64::try_from(count).expect("small")));
            // Those that have a row keep it.
            assert_eq!(Sums::of(&rows, Bounds::ONE).into_rows(), rows);
        }
    }

    #[test]
    fn a_sum_has_all_that_was_held_whatever_is_added_when() {
        use super::super::settle::time;
        let gone = |queue: &str, seconds, at| WorkloadRecord {
            usage: vec![row(queue, "H100", seconds)],
            created: Some(time(at)),
            started: Some(time(at + 1)),
            ended: Some(time(at + 2)),
            through: Some(time(at + 3)),
            peak_micro_gpus: seconds,
            run_seconds: 5,
            wait_seconds: 2,
            waits: 1,
            evictions: vec![EvictionRow::default(); 3],
            user: Some("ana".to_owned()),
            ..WorkloadRecord::default()
        };
        let [one, two, three] = [gone("a", 1, 20), gone("b", 4, 10), gone("a", 2, 30)];
        let whole = add_others(None, [&one, &two, &three].into_iter());
        let first = add_others(None, [&one].into_iter());
        assert_eq!(add_others(Some(&first), [&two, &three].into_iter()), whole);
        assert_eq!(whole.usage, [row("a", "H100", 3), row("b", "H100", 4)]);
        let sums = (whole.workloads, whole.wait_seconds, whole.evictions_left_out);
        assert_eq!((sums, &whole.user), ((3, 6, 9), &None));
        assert_eq!((whole.run_seconds, whole.waits, whole.peak_micro_gpus), (15, 3, 4));
        let begun = (whole.created, whole.started);
        assert_eq!(begun, (Some(time(10)), Some(time(11))), "the earliest");
        assert_eq!((whole.ended, whole.through), (Some(time(32)), Some(time(33))), "the latest");
    }
}
