//! Describes what the indexes of all kinds share: names, rules, and what comes out.

use std::collections::BTreeSet;

use kai_engine::{Delta, Lane, LaneKind, Symbol, Timestamp};

use super::{Kind, Rules, levels::Levels};
use crate::{
    cel::Question,
    names::{Names, Presence, Present, Table},
    server::wire::Pairs,
    sharing::Told,
};

/// Holds what the indexes of all kinds share.
#[derive(Debug)]
pub struct Context {
    /// Names and numbers.
    pub names: Names,
    /// Deltas that were not taken yet.
    pub deltas: Vec<Delta>,
    /// Groups whose conditions or pods changed since they were taken.
    pub touched: Vec<u32>,
    /// Groups whose objects are gone since they were taken.
    pub gone_groups: Vec<u32>,
    /// Holds what selectors have to be asked of which devices; the answers come to [`super::Ingest::answered`].
    pub questions: Vec<Question>,
    /// Holds what was told of pods that have to do with shared GPUs, since it was taken.
    pub shared: Vec<Told>,
    /// Claims whose pods with a node came or left, or that a pod's status came to name, or no longer names.
    pub(super) claims_changed: Vec<u32>,
    /// Kinds whose objects have to be read again.
    pub resync: Vec<Kind>,
    /// Says whose objects are ours.
    pub rules: Rules,
    pub(super) now: Timestamp,
    /// Says which full list of each kind is the last, counted.
    pub(super) generations: [u32; Kind::COUNT],
    /// Labels of nodes that domains are named by.
    levels: Levels,
    /// Keys of pod labels that some selector asks about.
    pub(super) asked: BTreeSet<u32>,
    /// Those of them of which pods that have them may not have been told yet.
    pub(super) newly_asked: Vec<u32>,
    /// Pods that have some of those and may have been told without.
    pub(super) unlabelled: Vec<u32>,
}

impl Context {
    /// Nothing known yet.
    pub(super) fn new(rules: Rules) -> Self {
        let mut names = Names::new();
        names.pool = Box::from(rules.pool());
        names.is_detailed = rules.detailed;
        Self {
            names,
            deltas: Vec::new(),
            touched: Vec::new(),
            gone_groups: Vec::new(),
            questions: Vec::new(),
            shared: Vec::new(),
            claims_changed: Vec::new(),
            resync: Vec::new(),
            rules,
            now: Timestamp(0),
            generations: [0; Kind::COUNT],
            levels: Levels::default(),
            asked: BTreeSet::new(),
            newly_asked: Vec::new(),
            unlabelled: Vec::new(),
        }
    }

    /// Tells whether an object with these labels belongs to our node pool.
    pub(super) fn is_ours(&self, labels: &Pairs<'_>) -> bool {
        self.rules.is_ours(labels)
    }

    pub(super) fn generation(&self, kind: Kind) -> u32 {
        self.generations[kind.index()]
    }

    /// Marks a row as seen.
    pub(super) fn seen(&self, kind: Kind, presence: &mut Presence) {
        presence.is_there = true;
        presence.generation = self.generation(kind);
    }

    /// Lists the rows of a kind that the full list which is complete now did not have.
    pub(super) fn unseen<R: Present>(
        &self,
        kind: Kind,
        table: impl Fn(&Names) -> &Table<R>,
    ) -> Vec<u32> {
        let generation = self.generation(kind);
        let is_unseen = |row: &R| {
            let presence = row.presence();
            presence.is_there && presence.generation != generation
        };
        let rows = table(&self.names).iter().filter(|(_, row)| is_unseen(row));
        rows.map(|(number, _)| number).collect()
    }

    /// Finds the lane of a resource; the engine hears of a new one. Pods may have been refused that asked for it, where pods had
    /// named too many: they are read again.
    pub(super) fn lane(&mut self, name: &str) -> Lane {
        if !self.names.counts(name) {
            self.resync.push(Kind::Pod);
        }
        let (lane, kind): (Lane, Option<LaneKind>) = self.names.lane(name);
        self.deltas.extend(kind.map(|kind| Delta::Lane(lane, kind)));
        lane
    }

    /// Finds the lane of a resource that a pod names; none where pods named so many already that no node has.
    pub(super) fn pod_lane(&mut self, name: &str) -> Option<Lane> {
        self.names.counts(name).then(|| self.lane(name))
    }

    /// Notes a label of a node.
    pub(super) fn note_label(&mut self, key: Symbol, value: Symbol) {
        self.deltas.extend(self.levels.labelled(key, value, &self.names));
    }

    /// Notes that a label of nodes is a level of a topology.
    pub(super) fn note_level(&mut self, key: Symbol) {
        self.deltas.extend(self.levels.insert(key, &self.names));
    }

    /// Drops a reference to a node; its row goes with the last where the node is gone.
    pub(super) fn let_go_of_node(&mut self, node: u32) {
        let presence = &mut self.names.nodes[node].presence;
        presence.references -= 1;
        if presence.references == 0 && !presence.is_there {
            self.names.nodes.remove(node);
        }
    }

    /// Forgets a group that was named and is not there, where nobody refers to it.
    pub(super) fn let_go_of_group(&mut self, group: u32) {
        let presence = self.names.groups[group].presence;
        if presence.references == 0 && !presence.is_there {
            self.names.groups.remove(group);
        }
    }

    /// Drops a reference to a queue; its row goes with the last where the queue is gone.
    pub(super) fn release_queue(&mut self, queue: u32) {
        let presence = &mut self.names.queues[queue].presence;
        presence.references -= 1;
        if presence.references == 0 && !presence.is_there {
            self.names.queues.remove(queue);
        }
    }
}
