//! Claims whose objects change while pods hold what they gave.

use kai_engine::{Claim, ClaimId};

use super::{catalog::Catalog, claim::refer, held::Later};
use crate::ingest::{Context, Delta, Kind};

impl Catalog {
    /// Notes what became of a claim. Tells whether pods hold what it gave, so that nothing else may be told of it yet.
    pub(super) fn outlives(&mut self, context: &Context, row: u32, later: Later) -> bool {
        let is_held = context.names.claims.row(row).is_some_and(|claim| claim.holders > 0);
        let known = self.claims.get_mut(&row).filter(|known| known.facts.allocation.is_some());
        let Some(known) = known.filter(|_| is_held) else { return false };
        known.later = later;
        true
    }

    /// Tells anew of claims whose pods came, left, or named them in their status.
    pub(in crate::ingest) fn settle(&mut self, context: &mut Context) {
        for row in std::mem::take(&mut context.claims_changed) {
            let Some(claim) = context.names.claims.row(row) else { continue };
            let (is_held, is_extended) = (claim.holders > 0, claim.extended_for > 0);
            let is_left = claim.users == 0;
            let Some(known) = self.claims.get_mut(&row) else { continue };
            known.is_left = is_left;
            match known.later {
                Later::Freed if !is_held => {
                    known.later = Later::Same;
                    (known.facts.allocation, known.facts.consumers) = (None, 0);
                    known.follow(is_extended);
                    self.wholes.fill(&mut known.facts);
                    self.tell(context, row);
                }
                later @ (Later::Gone | Later::Replaced) if !is_held => {
                    if later == Later::Replaced {
                        context.resync.push(Kind::ResourceClaim);
                    }
                    self.claim_gone(context, row);
                }
                Later::Same | Later::Freed | Later::Gone | Later::Replaced => {
                    if known.follow(is_extended) {
                        self.tell(context, row);
                    }
                }
            }
        }
    }

    /// Follows whether a claim asks for all GPUs of a node, and of which selections.
    pub(super) fn follow_whole(&mut self, row: u32, facts: &Claim) {
        let before = self.claims.get(&row).map(|known| &known.facts);
        if self.wholes.follow(row, before, facts) {
            self.match_anew();
        }
    }

    /// Tells anew of claims that are charged for all GPUs of a node, where another node has the most now.
    pub(super) fn charge_wholes(&mut self, context: &mut Context) {
        for row in self.wholes.changed() {
            let known = self.claims.get_mut(&row);
            if known.is_some_and(|known| self.wholes.fill(&mut known.facts)) {
                self.tell(context, row);
            }
        }
    }

    fn tell(&mut self, context: &mut Context, row: u32) {
        let Some(known) = self.claims.get(&row) else { return };
        let facts = known.facts.clone();
        refer(context, row, &facts);
        context.deltas.push(Delta::Claim(ClaimId::new(row), Box::new(facts)));
    }
}
