//! Claims whose objects change while pods hold what they gave.

use kai_engine::{Claim, ClaimId};

use super::{
    catalog::{Catalog, is_gpu},
    claim::refer,
    held::Later,
};
use crate::{
    ingest::{Context, Delta, Kind},
    names::AskedFor,
};

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
            let Some(known) = self.claims.get_mut(&row) else { continue };
            known.look(&context.names, row);
            match known.later {
                Later::Freed if !is_held => {
                    known.later = Later::Same;
                    (known.facts.allocation, known.facts.consumers) = (None, 0);
                    known.follow(is_extended);
                    let asked = &context.names.claims[row].asked;
                    for (request, asked) in known.facts.requests.iter_mut().zip(asked) {
                        (request.gpu, request.mixed) = (is_gpu(&asked.class), false);
                    }
                    self.charges.fill(&mut known.facts);
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

    /// Follows of which selections the devices decide what a claim is charged; tells whether there are such.
    pub(super) fn follow_charges(&mut self, row: u32, facts: &Claim, asked: &[AskedFor]) -> bool {
        let before = self.claims.get(&row).map(|known| &known.facts);
        // A selection is of one class.
        let is_named = |number| {
            let asked = asked.iter().find(|one| one.selection == number);
            asked.is_some_and(|one| is_gpu(&one.class))
        };
        let followed = self.charges.follow(row, before, facts, is_named);
        if followed.is_new {
            self.match_anew();
        }
        followed.is_any
    }

    /// Tells anew of claims that are charged otherwise, where another node has the most devices now, or a class has GPUs.
    pub(super) fn charge_anew(&mut self, context: &mut Context) {
        for row in self.charges.changed() {
            let known = self.claims.get_mut(&row);
            if known.is_some_and(|known| self.charges.fill(&mut known.facts)) {
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
