//! Describes what changed, told to the engine.

use std::collections::BTreeSet;

use kai_engine::{Cluster, Delta, PodId, Timestamp};

use super::{Run, outcome::not_bound};
use crate::{
    actuate::Task,
    ingest::Ingest,
    sharing::{Failed, Sharing},
};

impl Run {
    /// Tells the engine what changed: before the first plan all of it, so that a restart decides as if nothing had happened, and
    /// later as much as a round has room for.
    pub(super) fn tell(&mut self, now: Timestamp) {
        let is_whole = self.cycles == 0;
        let Self { ingest, sharing, cluster, .. } = self;
        tell_as_far(ingest, sharing, cluster, now, is_whole);
    }

    /// Tells the engine what objects said so far, before a cycle does.
    pub(super) fn absorb(&mut self) {
        self.is_told_early = true;
        leave_out_replaced(&mut self.ingest.context.deltas);
        for delta in self.ingest.context.deltas.drain(..) {
            self.cluster.apply(delta);
        }
    }

    /// Gives back the places of binds whose devices cannot be had, and says why. Where it is the node's fault, which is
    /// set aside by now, they are placed elsewhere in the next cycle; else their group waits, longer each time.
    pub(super) fn give_up_binds(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        for Failed { bind, reason, is_of_node } in self.sharing.take_failed() {
            self.ingest.take_back_volumes(bind.pod, &bind.volumes);
            let names = &self.ingest.context.names;
            if names.pods.find(&bind.uid) != Some(bind.pod) {
                continue;
            }
            self.ingest.context.deltas.push(Delta::BindFailed(PodId::new(bind.pod)));
            self.ingest.not_placed(bind.pod);
            let names = &self.ingest.context.names;
            tasks.extend(not_bound(bind.pod, &bind.node, &reason, names, &self.dispatch));
            if let (false, Some(group)) = (is_of_node, names.pods[bind.pod].group) {
                self.hold(group);
            }
        }
        tasks
    }
}

/// Tells the engine all that changed.
pub(crate) fn tell(
    ingest: &mut Ingest,
    sharing: &mut Sharing,
    cluster: &mut Cluster,
    now: Timestamp,
) {
    tell_as_far(ingest, sharing, cluster, now, true);
}

/// Tells the engine what changed. Where the volumes of claims are being made follows from the labels of nodes, which
/// the engine has: what that takes from other claims is told in a second go.
fn tell_as_far(
    ingest: &mut Ingest,
    sharing: &mut Sharing,
    cluster: &mut Cluster,
    now: Timestamp,
    is_whole: bool,
) {
    apply_deltas(ingest, sharing, cluster, now, is_whole);
    if ingest.keep_room(&|node, terms| cluster.meets(node, terms)) {
        apply_deltas(ingest, sharing, cluster, now, is_whole);
    }
}

/// Leaves out what was told of a group or a claim where it is told anew, or that it is gone, further behind: each telling costs in
/// its pods, and its user may edit it hundreds of times between two cycles.
fn leave_out_replaced(deltas: &mut Vec<Delta>) {
    let is_costly = |delta: &&Delta| matches!(delta, Delta::Group(..) | Delta::Claim(..));
    if deltas.iter().filter(is_costly).nth(1).is_none() {
        return;
    }
    let (mut groups, mut claims) = (BTreeSet::new(), BTreeSet::new());
    let mut is_kept: Vec<bool> = deltas
        .iter()
        .rev()
        .map(|delta| {
            if let Delta::Group(id, _) = delta {
                return groups.insert(*id);
            }
            if let Delta::Claim(id, _) = delta {
                return claims.insert(*id);
            }
            if let Delta::GroupGone(id) = delta {
                groups.insert(*id);
            }
            if let Delta::ClaimGone(id) = delta {
                claims.insert(*id);
            }
            true
        })
        .collect();
    // They were looked at from the last to the first.
    deltas.retain(|_| is_kept.pop().unwrap_or(true));
}

fn apply_deltas(
    ingest: &mut Ingest,
    sharing: &mut Sharing,
    cluster: &mut Cluster,
    now: Timestamp,
    is_whole: bool,
) {
    ingest.advance(now);
    leave_out_replaced(&mut ingest.context.deltas);
    apply(ingest, cluster);
    while ingest.relabel(&|pod| cluster.pod_told(pod)) {
        apply(ingest, cluster);
    }
    apply(ingest, cluster);
    if is_whole {
        // While pods wait for their turn others would take their places.
        while ingest.take_turns(&|pod| cluster.pod_told(pod)) {
            apply(ingest, cluster);
        }
        apply(ingest, cluster);
        ingest.tell_again(&|pod| cluster.pod_told(pod));
    } else {
        ingest.tell_some_again(&|pod| cluster.pod_told(pod));
    }
    for told in ingest.context.shared.drain(..) {
        sharing.told(told);
    }
    ingest.context.deltas.extend(sharing.take_deltas());
    apply(ingest, cluster);
}

fn apply(ingest: &mut Ingest, cluster: &mut Cluster) {
    for delta in ingest.context.deltas.drain(..) {
        cluster.apply(delta);
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::{Claim, ClaimId, Group, GroupId};

    use super::*;

    fn group(id: u32, priority: i32) -> Delta {
        Delta::Group(GroupId::new(id), Box::new(Group { priority, ..Group::default() }))
    }

    fn claim(id: u32, consumers: u32) -> Delta {
        Delta::Claim(ClaimId::new(id), Box::new(Claim { consumers, ..Claim::default() }))
    }

    fn check(told: Vec<Delta>, kept: &[usize]) {
        let expect: Vec<String> = kept.iter().map(|at| format!("{:?}", told[*at])).collect();
        let mut left = told;
        leave_out_replaced(&mut left);
        let left: Vec<String> = left.iter().map(|delta| format!("{delta:?}")).collect();
        assert_eq!(left, expect);
    }

    #[test]
    fn of_many_edits_the_last_is_told() {
        let gone = || Delta::GroupGone(GroupId::new(1));
        let pod = || Delta::PodGone(PodId::new(1));
        check(vec![], &[]);
        check(vec![group(1, 1)], &[0]);
        check(vec![group(1, 1), pod(), group(1, 2), group(2, 1), group(1, 3)], &[1, 3, 4]);
        check(vec![group(1, 1), group(1, 2), gone()], &[2]);
        check(vec![group(1, 1), gone(), group(1, 2)], &[1, 2]);
        check(vec![claim(1, 1), group(1, 1), claim(1, 2)], &[1, 2]);
        check(vec![claim(1, 1), Delta::ClaimGone(ClaimId::new(1)), claim(1, 2)], &[1, 2]);
    }
}
