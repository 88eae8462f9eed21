//! Names of verdicts, and what would change them.

use crate::{
    base::{
        ids::{QueueId, Symbol, TopologyId},
        resources::{Lane, Limit, QueueLane},
        time::Timestamp,
    },
    decided::plan::{Bound, Misfit, NoRoom, Why, domain::DomainProblem},
    told::{
        node::{Blocked, Taint},
        pod::Missing,
    },
};

/// Something that, done alone, changes a verdict, but for what others do meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// Create its queue and those above.
    CreateQueue,
    /// Move it to a queue without queues below.
    LeafQueue,
    /// Mend the tree of sub-groups.
    SubGroups,
    /// Move it out of where it is held back.
    Release,
    /// Create so many pods more.
    Pods {
        /// Of this sub-group; [`Symbol::EMPTY`] where the group has none.
        sub_group: Symbol,
        /// Their number.
        count: u32,
    },
    /// Lift the gates of so many pods.
    Gates {
        /// Of this sub-group; [`Symbol::EMPTY`] where the group has none.
        sub_group: Symbol,
        /// Their number.
        count: u32,
    },
    /// Ask for so much less, or let the queue hold so much more, or wait until its pods end.
    Limit {
        /// The queue.
        queue: QueueId,
        /// The resource.
        lane: QueueLane,
        /// The amount, in units of the resource.
        by: i64,
    },
    /// Give the queue so much more quota.
    Quota {
        /// The queue.
        queue: QueueId,
        /// The resource.
        lane: QueueLane,
        /// The amount, in units of the resource.
        by: i64,
    },
    /// Let it be evicted.
    Preemptible,
    /// Wait until it may evict.
    Wait {
        /// Until then.
        until: Timestamp,
    },
    /// Free so much more on one node, or add a node that has it.
    Gpus {
        /// The amount, in milli-devices.
        more_milli: i64,
    },
    /// Free some of a resource on one node, or add a node.
    Free(Lane),
    /// Run with fewer pods.
    Min {
        /// Of this sub-group; [`Symbol::EMPTY`] where the group has none.
        sub_group: Symbol,
        /// For so many there is room.
        min: u32,
    },
    /// Tolerate a taint.
    Tolerate(Taint),
    /// Open nodes that are closed.
    Open(Blocked),
    /// Take away what the reason names.
    Lift(Misfit),
    /// Create the topology, or name one that exists.
    Topology(TopologyId),
    /// Ask for a wider level, for fewer or for smaller pods.
    WiderLevel {
        /// The topology.
        topology: TopologyId,
        /// The level that is too narrow; none where all are.
        level: Option<Symbol>,
    },
    /// Label the nodes of its pods with the level.
    Label(Symbol),
    /// Name levels that the topology has, the preferred one within the required one.
    Levels(TopologyId),
    /// Wait until those before it in its queue have had their turn, go before them, or let more have theirs in a cycle.
    Turn {
        /// Number of groups that have it now.
        depth: u32,
    },
    /// Wait until the search for pods to evict has come to its end.
    Search,
}

impl Why {
    /// The stable number of the reason, as in `KAI1203`; none where the group has nothing to wait for.
    ///
    /// 1201 queue, 1202 limit, 1203 capacity, 1204 quota, 1205 enough GPUs in the wrong shape, 1206 topology, 1207 gang
    /// incomplete, 1208 gated or held, 1209 refused by nodes, 1210 volumes or something missing, 1211 GPU sharing, or a
    /// request that makes no sense, 1212 delay, 1213 waits for others to leave, 1218 for its turn, 1219 for the end of a
    /// search. (1214 to 1217 are of the CLI.)
    pub fn code(&self) -> Option<u16> {
        Some(match self {
            Self::Satisfied => return None,
            Self::QueueMissing | Self::QueueNotLeaf => 1201,
            Self::OverLimit(_) => 1202,
            Self::OverQuota(_) => 1204,
            Self::NoDomain(_) => 1206,
            Self::NotReady(unready) => {
                let gated = unready.iter().all(|one| one.gated > 0 && one.alive >= one.min);
                if gated { 1208 } else { 1207 }
            }
            Self::Malformed => 1207,
            Self::Held | Self::Gated => 1208,
            Self::Delayed { .. } => 1212,
            Self::Nominated => 1213,
            Self::Behind { .. } => 1218,
            Self::Undecided { .. } => 1219,
            Self::NoRoom(no_room) => no_room.code(),
        })
    }

    /// Lists what would help, the least first. Each alone changes the reason; another may stand behind it.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Satisfied | Self::Nominated => Vec::new(),
            Self::Behind { depth } => vec![Remedy::Turn { depth: *depth }],
            Self::Undecided { before, .. } => {
                let others = before.as_deref().map(Self::remedies).unwrap_or_default();
                std::iter::once(Remedy::Search).chain(others).collect()
            }
            Self::Gated => vec![Remedy::Gates { sub_group: Symbol::EMPTY, count: 1 }],
            Self::QueueMissing => vec![Remedy::CreateQueue],
            Self::QueueNotLeaf => vec![Remedy::LeafQueue],
            Self::Malformed => vec![Remedy::SubGroups],
            Self::Held => vec![Remedy::Release],
            Self::NotReady(unready) => {
                let each = unready.iter().flat_map(|one| {
                    let (sub_group, missing) = (one.sub_group, one.min.saturating_sub(one.alive));
                    let have = one.alive.saturating_add(missing);
                    let short = one.min.saturating_add(one.gated).saturating_sub(have);
                    let pods = Remedy::Pods { sub_group, count: missing };
                    let gates = Remedy::Gates { sub_group, count: short };
                    [(missing, pods), (short, gates)]
                });
                each.filter(|(count, _)| *count > 0).map(|(_, remedy)| remedy).collect()
            }
            Self::OverLimit(bound) => {
                let most = bound.queue.limit[bound.lane];
                let by = excess(bound, most, bound.queue.allocated[bound.lane]);
                vec![Remedy::Limit { queue: bound.queue.queue, lane: bound.lane, by }]
            }
            Self::OverQuota(bound) => {
                let most = bound.queue.quota[bound.lane];
                let by = excess(bound, most, bound.queue.allocated_non_preemptible[bound.lane]);
                let quota = Remedy::Quota { queue: bound.queue.queue, lane: bound.lane, by };
                vec![Remedy::Preemptible, quota]
            }
            Self::Delayed { until, why } => {
                let wait = Remedy::Wait { until: *until };
                std::iter::once(wait).chain(why.remedies()).collect()
            }
            Self::NoRoom(no_room) => no_room.remedies(),
            Self::NoDomain(no_domain) => {
                let topology = no_domain.topology;
                vec![match no_domain.problem {
                    DomainProblem::NoTopology => Remedy::Topology(topology),
                    DomainProblem::NoLevel { .. }
                    | DomainProblem::NeitherLevel
                    | DomainProblem::LevelsReversed => Remedy::Levels(topology),
                    DomainProblem::Outside { level } => Remedy::Label(level),
                    DomainProblem::NoFit { level, .. } => Remedy::WiderLevel { topology, level },
                }]
            }
        }
    }
}

/// Works out by how much a request is too large.
fn excess(bound: &Bound, most: Limit, held: i64) -> i64 {
    let most = most.amount().unwrap_or(i64::MAX);
    held.saturating_add(bound.requested[bound.lane]).saturating_sub(most)
}

impl NoRoom {
    /// Tells whether so many GPUs are free as the pods that have no place ask for, and not where they could use them.
    pub fn is_fragmented(&self) -> bool {
        let about_gpus = matches!(self.dominant, Misfit::Short(Lane::GPU) | Misfit::Device);
        let missing_milli = self.gpu_milli.saturating_mul(i64::from(self.missing()));
        about_gpus && self.gpu_milli > 0 && self.free.gpu_milli >= missing_milli
    }

    fn code(&self) -> u16 {
        match self.dominant {
            Misfit::Short(_) | Misfit::Device if self.is_fragmented() => 1205,
            Misfit::Short(_)
            | Misfit::Overhead(_)
            | Misfit::Device
            | Misfit::PodSlots
            | Misfit::Queue
            | Misfit::Devices
            | Misfit::Elsewhere
            | Misfit::Zones => 1203,
            Misfit::GpuMemoryUnknown
            | Misfit::GpuTooSmall
            | Misfit::SetAside
            | Misfit::OnlyClaims
            | Misfit::Missing(Missing::Request(_)) => 1211,
            Misfit::Blocked(_)
            | Misfit::Taint(_)
            | Misfit::Selector
            | Misfit::Worker
            | Misfit::LegacyMig
            | Misfit::BesideLegacyMig
            | Misfit::NotMig
            | Misfit::MigSingle
            | Misfit::MigMixed
            | Misfit::Port
            | Misfit::Affinity
            | Misfit::AntiAffinity
            | Misfit::Barred
            | Misfit::Spread
            | Misfit::Missing(Missing::Turn)
            | Misfit::Claim(..) => 1209,
            Misfit::Missing(_)
            | Misfit::Volume
            | Misfit::VolumeUnbound
            | Misfit::StorageAbsent(_)
            | Misfit::StorageShort(_) => 1210,
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        let first = match self.dominant {
            Misfit::Short(Lane::GPU) | Misfit::Device => {
                let whole = i64::from(self.free.whole_max) * crate::base::resources::GPU_MILLI;
                let most = whole.max(i64::from(self.free.part_max_milli));
                Remedy::Gpus { more_milli: (self.gpu_milli - most).max(1) }
            }
            Misfit::Short(lane) | Misfit::Overhead(lane) => Remedy::Free(lane),
            Misfit::PodSlots => Remedy::Free(Lane::PODS),
            Misfit::Taint(taint) => Remedy::Tolerate(taint),
            Misfit::Blocked(blocked) => Remedy::Open(blocked),
            other @ (Misfit::Selector
            | Misfit::Volume
            | Misfit::VolumeUnbound
            | Misfit::StorageAbsent(_)
            | Misfit::StorageShort(_)
            | Misfit::Worker
            | Misfit::LegacyMig
            | Misfit::BesideLegacyMig
            | Misfit::NotMig
            | Misfit::MigSingle
            | Misfit::MigMixed
            | Misfit::GpuMemoryUnknown
            | Misfit::GpuTooSmall
            | Misfit::SetAside
            | Misfit::Port
            | Misfit::Affinity
            | Misfit::AntiAffinity
            | Misfit::Barred
            | Misfit::Spread
            | Misfit::Missing(_)
            | Misfit::Devices
            | Misfit::Elsewhere
            | Misfit::OnlyClaims
            | Misfit::Claim(..)
            | Misfit::Zones
            | Misfit::Queue) => Remedy::Lift(other),
        };
        let mut remedies = vec![first];
        if self.gang && self.placed > 0 && self.placed < self.min {
            remedies.push(Remedy::Min { sub_group: self.sub_group, min: self.placed });
        }
        remedies
    }
}

#[cfg(test)]
mod tests {
    use super::{Symbol, Why};
    use crate::decided::plan::Unready;

    /// Sub-groups as the pods that they need, have, and have gated.
    fn check(sub_groups: &[[u32; 3]], expect: u16) {
        let unready = |[min, alive, gated]: &[u32; 3]| Unready {
            sub_group: Symbol::EMPTY,
            min: *min,
            alive: *alive,
            gated: *gated,
        };
        let why = Why::NotReady(sub_groups.iter().map(unready).collect());
        assert_eq!(why.code(), Some(expect), "{sub_groups:?}");
    }

    #[test]
    fn gates_are_blamed_where_no_pod_is_missing() {
        check(&[[2, 2, 1]], 1208);
        check(&[[2, 1, 0]], 1207);
        check(&[[2, 2, 1], [2, 1, 0]], 1207);
    }
}
