//! That evicting does not help, in words.

use kai_engine::{EvictionKind, GPU_MILLI, Shortage, Symbol, TopologyId};

use super::why::eviction_kind;
use crate::amount::decimal;

/// One clause, with the names that the caller knows: `reclaim does not help: it needs 8 GPUs, 7 are free or may be given
/// up`.
pub fn proof<'n>(
    kind: EvictionKind,
    shortage: &Shortage,
    symbol: impl Fn(Symbol) -> &'n str,
    topology: impl Fn(TopologyId) -> &'n str,
) -> String {
    let because = match shortage {
        Shortage::Gpus { needed_milli, most_milli } => {
            let [needed, most] =
                [*needed_milli, in_hundredths(*most_milli)].map(|milli| decimal(milli, GPU_MILLI));
            let given = match kind {
                EvictionKind::Consolidate => "are free",
                EvictionKind::Reclaim | EvictionKind::Preempt => "are free or may be given up",
            };
            format!("it needs {needed} GPUs, {most} {given}")
        }
        Shortage::Pods { needed, most } => {
            format!("it needs room for {needed} pods, its nodes would hold {most} if emptied")
        }
        Shortage::Apart { key, needed, most } => format!(
            "it needs {needed} domains of {} of its own, {most} would have room if emptied",
            symbol(*key)
        ),
        Shortage::Together { topology: tree, level, needed, most } => format!(
            "it needs room for {needed} pods in one {} of {}, the roomiest would hold {most} if emptied",
            symbol(*level),
            topology(*tree)
        ),
        Shortage::Domains { topology: tree, level, pods, needed, most } => format!(
            "it needs room for {needed} sub-groups of {pods} pods or more, each in one {} of {}: these would take {most} \
             if emptied",
            symbol(*level),
            topology(*tree)
        ),
        Shortage::Company => {
            String::from("it has to be near other pods, and no eviction brings any")
        }
        Shortage::Runtime { protected, .. } => {
            let groups = if *protected == 1 { "group is" } else { "groups are" };
            format!("{protected} {groups} within their minimum run time")
        }
        Shortage::Disruptions { guarded } => {
            let groups = if *guarded == 1 { "group" } else { "groups" };
            format!("PodDisruptionBudgets let {guarded} {groups} lose no more pods now")
        }
        Shortage::Others { barred } => {
            let groups = if *barred == 1 { "group" } else { "groups" };
            format!(
                "it took the places of {barred} {groups} before and lost them again; so that they do not go round for \
                 ever it takes them no more until something else changes in the cluster"
            )
        }
    };
    format!("{} does not help: {because}", eviction_kind(kind))
}

/// An amount of GPUs without the thousandth that shares of memory are rounded up by: nobody can add it up. Below one GPU it
/// counts.
fn in_hundredths(milli: i64) -> i64 {
    if milli < GPU_MILLI { milli } else { milli - milli % 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(most_milli: i64, expect: &str) {
        let shortage = Shortage::Gpus { needed_milli: 24_000, most_milli };
        let words = proof(EvictionKind::Consolidate, &shortage, |_| "", |_| "");
        let expect = format!("consolidation does not help: it needs 24 GPUs, {expect} are free");
        assert_eq!(words, expect);
    }

    #[test]
    fn what_is_free_is_said_in_hundredths() {
        check(21_501, "21.5");
        check(23_999, "23.99");
        check(16_000, "16");
        check(125, "0.125");
    }
}
