//! Claims whose pods hold what they were given, and claims that say that they were made for an extended resource.
//!
//! Whoever may write claims may take the finalizer off one that is in use, delete it and create another of its name. What
//! runs keeps its devices all the same: an allocation counts until the last pod with a node that names its claim has left.
//! The same user may write on any claim that it was made for an extended resource, for which nobody is charged beside the
//! pod's own request. A claim is one only while the status of a pod says so, which no user writes.
//!
//! # Source
//! `docs/threats.md`.

use std::collections::BTreeMap;

use kai_engine::Claim;

use crate::names::Names;

/// Claims that were given devices or say that they were made for an extended resource, by row.
pub(super) type Claims = BTreeMap<u32, Known>;

/// A claim as the engine was told of it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Known {
    pub(super) facts: Claim,
    /// It was made from a template.
    pub(super) is_made: bool,
    /// It says that it was made for an extended resource.
    pub(super) is_marked: bool,
    /// It is being deleted.
    pub(super) is_deleted: bool,
    /// UIDs of the pods that have it by its status; an empty one stands for what is no pod.
    pub(super) consumers: Box<[Box<str>]>,
    /// All of these have ended or are gone.
    pub(super) is_left: bool,
    pub(super) later: Later,
}

/// Says what became of the object meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Later {
    /// Nothing.
    Same,
    /// Its devices were taken back.
    Freed,
    /// It is gone.
    Gone,
    /// There is another one of its name.
    Replaced,
}

impl Known {
    pub(super) fn new(facts: Claim, is_made: bool, is_marked: bool) -> Self {
        Self {
            facts,
            is_made,
            is_marked,
            is_deleted: false,
            consumers: Box::default(),
            is_left: false,
            later: Later::Same,
        }
    }

    /// Looks which pods that have the claim, of this row, are there and have not ended. Others that name it do not keep it: one
    /// takes the place of a pod that ended, and has its turn like everybody.
    ///
    /// # Cost
    /// In its consumers, 256 at most.
    pub(super) fn look(&mut self, names: &Names, row: u32) {
        let has_it = |uid: &str| {
            let pod = names.pods.find(uid).map(|pod| &names.pods[pod]);
            uid.is_empty() || pod.is_some_and(|pod| pod.uses_claims && pod.claims.contains(&row))
        };
        self.is_left = !self.consumers.iter().any(|uid| has_it(uid));
    }

    /// Makes the facts follow whether the status of a pod names the claim as its own, and whether it goes; tells whether they
    /// changed.
    pub(super) fn follow(&mut self, is_extended: bool) -> bool {
        let synthetic = self.is_marked && is_extended;
        let was = std::mem::replace(&mut self.facts.synthetic, synthetic);
        self.facts.own = self.is_made || synthetic;
        // Nobody frees a claim without consumers that is not deleted.
        let is_left = self.is_left && self.facts.consumers > 0;
        let leaves = self.facts.allocation.is_some() && (self.is_deleted || is_left);
        let left = std::mem::replace(&mut self.facts.leaves, leaves);
        was != synthetic || left != leaves
    }
}
