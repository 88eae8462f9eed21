//! Counts what the claims of each namespace have compared with every device, and says how much of it there may be.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use kai_engine::Timestamp;

use super::{Catalog, Selections, Wish};
use crate::{
    ingest::{Context, Kind},
    names::{ATTRIBUTES_MAX, AskedFor, REQUESTS_MAX},
};

/// So long, in milliseconds, all claims are not read again: nothing is decided meanwhile, and a user may have it done as often
/// as this.
const PAUSE: i64 = 60_000;

/// Selections, and attributes in constraints, that the claims of a namespace ask for.
#[derive(Debug, Default)]
struct Asked {
    /// Each with the number of its requests.
    selections: BTreeMap<u32, u32>,
    /// Each with the number of its claims.
    attributes: BTreeMap<Box<str>, u32>,
}

/// Everything that is asked for, by namespace.
#[derive(Debug, Default)]
pub(super) struct Asking {
    asked: BTreeMap<Arc<str>, Asked>,
    /// Namespaces of claims that were refused since all of them were read.
    refused: BTreeSet<Arc<str>>,
    /// A namespace of which some were refused asks for less.
    is_due: bool,
    /// When claims may be read again.
    next: Timestamp,
}

impl Asking {
    /// Tells whether a namespace may ask for so much more, whatever it is.
    pub(super) fn has_room(&self, namespace: &str, requests: usize, attributes: usize) -> bool {
        let known = self.asked.get(namespace);
        let (has_asked, has_named) =
            known.map_or((0, 0), |known| (known.selections.len(), known.attributes.len()));
        has_asked + requests <= REQUESTS_MAX && has_named + attributes <= ATTRIBUTES_MAX
    }

    /// Tells whether a claim that asks for this would bring its namespace beyond what one may ask for.
    ///
    /// # Cost
    /// In what the claim asks for.
    pub(super) fn is_over(
        &self,
        namespace: &str,
        wishes: impl Iterator<Item = (Box<str>, Wish)>,
        attributes: impl Iterator<Item = Box<str>>,
        selections: &Selections,
    ) -> bool {
        let nothing = Asked::default();
        let known = self.asked.get(namespace).unwrap_or(&nothing);
        let is_asked = |(class, wish): &(Box<str>, Wish)| {
            let number = selections.find(class, wish);
            number.is_some_and(|number| known.selections.contains_key(&number))
        };
        let wishes: HashSet<_> = wishes.filter(|wish| !is_asked(wish)).collect();
        let attributes: BTreeSet<_> =
            attributes.filter(|name| !known.attributes.contains_key(name)).collect();
        (!wishes.is_empty() && known.selections.len() + wishes.len() > REQUESTS_MAX)
            || (!attributes.is_empty()
                && known.attributes.len() + attributes.len() > ATTRIBUTES_MAX)
    }

    /// Counts what a claim asks for.
    pub(super) fn enter(&mut self, namespace: &Arc<str>, asked: &[AskedFor], alike: &[Box<str>]) {
        if asked.is_empty() && alike.is_empty() {
            return;
        }
        let of = self.asked.entry(Arc::clone(namespace)).or_default();
        for one in asked {
            *of.selections.entry(one.selection).or_default() += 1;
        }
        for name in alike {
            *of.attributes.entry(name.clone()).or_default() += 1;
        }
    }

    /// Counts what it does not ask for any more.
    pub(super) fn leave(&mut self, namespace: &str, asked: &[AskedFor], alike: &[Box<str>]) {
        let Some(of) = self.asked.get_mut(namespace) else { return };
        let before = (of.selections.len(), of.attributes.len());
        for one in asked {
            less(&mut of.selections, &one.selection);
        }
        for name in alike {
            less(&mut of.attributes, name);
        }
        if (of.selections.len(), of.attributes.len()) != before {
            self.is_due |= self.refused.remove(namespace);
        }
        if of.selections.is_empty() && of.attributes.is_empty() {
            self.asked.remove(namespace);
        }
    }
}

impl Catalog {
    /// Notes that a claim of a namespace is refused, since the others ask for too much.
    pub(in crate::ingest::devices) fn refuse(&mut self, namespace: &str) {
        if !self.asking.refused.contains(namespace) {
            self.asking.refused.insert(Arc::from(namespace));
        }
    }

    /// Has claims read again where some were refused for which there may be room by now: nothing is kept of these.
    pub(in crate::ingest) fn judge_again(&mut self, context: &mut Context) {
        let Asking { is_due, next, .. } = &mut self.asking;
        let after = Timestamp(context.now.0.saturating_add(PAUSE));
        // A moment that is further away than a pause is from before the clock was set back.
        if *is_due && (context.now >= *next || *next > after) {
            *is_due = false;
            *next = after;
            context.resync.push(Kind::ResourceClaim);
        }
    }
}

fn less<K: Ord>(counts: &mut BTreeMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
