//! The order of groups that were made in the same second.

use uuid::Uuid;

use crate::server::wire::uid_number;

/// Bytes at the end of a name that count.
const NAME_BYTES: usize = 12;
/// Bits below them, which are of the UID.
const UID_BITS: u32 = 32;
/// Bytes of a UID as text, with the dash before it.
const DASHED_UID_BYTES: usize = 37;

/// A number by which groups of one age have their turns: by the end of the name of their workloads, the shorter one first, so
/// that of those that somebody submits together `sweep-2` goes before `sweep-10`; then by the UID.
///
/// # Source
/// docs/behaviour.md 1.9. KAI compares the names of `PodGroup`s letter by letter.
pub(super) fn turn(name: &str, uid: &str) -> u128 {
    let whole = workload(name).as_bytes();
    let end = &whole[whole.len().saturating_sub(NAME_BYTES)..];
    let number = end.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    number << UID_BITS | (uid_number(uid) & u128::from(u32::MAX))
}

/// The name of the workload where the name of its group is `pg-<name>-<UID>`, as the podgrouper has it; else that of the group.
fn workload(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("pg-") else { return name };
    let at = rest.len().checked_sub(DASHED_UID_BYTES);
    match at.and_then(|at| rest.split_at_checked(at)) {
        Some((workload, uid)) if is_dashed_uid(uid) => workload,
        Some(_) | None => rest,
    }
}

fn is_dashed_uid(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|uid| Uuid::parse_str(uid).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that groups with these names have their turns in this order, whatever their UIDs are.
    fn check(names: &[&str]) {
        let uids = ["ffffffff-0000-4000-8000-ffffffffffff", "00000000-0000-4000-8000-000000000000"];
        for pair in names.windows(2) {
            for (first, second) in [(uids[0], uids[1]), (uids[1], uids[0])] {
                assert!(turn(pair[0], first) < turn(pair[1], second), "{pair:?}");
            }
        }
    }

    #[test]
    fn groups_that_are_submitted_together_go_by_the_names_of_their_workloads() {
        let of = |name: &str| format!("pg-{name}-0f7a5b1e-1c7e-4b63-9a1e-2f6b8c1d2e3f");
        check(&["a", "b", "aa"]);
        check(&["pg-train-1", "pg-train-2", "pg-train-10"]);
        let names = ["a-rather-long-name-of-a-sweep-2", "a-rather-long-name-of-a-sweep-3"].map(of);
        check(&names.each_ref().map(String::as_str));
        let names = ["sweep-2", "sweep-10"].map(of);
        check(&names.each_ref().map(String::as_str));
        check(&["", "pg-zz", "ä", "pg-00000000-0000-4000-8000-000000000000"]);
    }

    #[test]
    fn two_of_one_name_go_by_their_uids() {
        let [first, second] = ["1", "2"]
            .map(|end| turn("same", &format!("00000000-0000-4000-8000-00000000000{end}")));
        assert!(first < second);
    }
}
