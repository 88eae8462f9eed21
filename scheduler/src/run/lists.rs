//! Lists of all kinds: up to where each is taken in, and whether that is enough to decide by.

use crate::ingest::Kind;

/// Lists of all kinds, complete or under way.
#[derive(Debug)]
pub struct Lists {
    /// Up to which version each kind is taken in; none before its first full list.
    versions: [Option<String>; Kind::COUNT],
    awaited: [Awaited; Kind::COUNT],
}

/// Says whether a kind is listed, or has to be: something that was left out when it was read matters now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Awaited {
    /// It has not.
    #[default]
    No,
    /// It has, and the list has not begun.
    Asked,
    /// The list has begun.
    Begun,
}

impl Lists {
    /// Nothing is taken in. What is not watched is not waited for.
    pub fn new(is_watched: impl Fn(Kind) -> bool) -> Self {
        let versions = Kind::ALL.map(|kind| (!is_watched(kind)).then(String::new));
        Self { versions, awaited: Default::default() }
    }

    /// Notes that a kind has to be listed again.
    pub(super) fn ask(&mut self, kind: Kind) {
        self.awaited[kind.index()] = Awaited::Asked;
    }

    /// Notes that a list of a kind has begun.
    ///
    /// In a list an object may come before one that is older and that was not heard of: what fills a node after who waits
    /// for it. Until the list of a kind that decisions rest on is complete, nothing is decided.
    pub(super) fn begin(&mut self, kind: Kind) {
        let awaited = &mut self.awaited[kind.index()];
        if *awaited != Awaited::No || kind.is_required() {
            *awaited = Awaited::Begun;
        }
    }

    /// Notes that the list of a kind is complete.
    pub(super) fn end(&mut self, kind: Kind) {
        let awaited = &mut self.awaited[kind.index()];
        if *awaited == Awaited::Begun {
            *awaited = Awaited::No;
        }
    }

    /// Notes that a kind cannot be listed for now: it is not waited for.
    pub(super) fn keep(&mut self, kind: Kind) {
        self.awaited[kind.index()] = Awaited::No;
    }

    /// Notes up to which version a kind is taken in.
    pub(super) fn taken(&mut self, kind: Kind, version: String) {
        self.versions[kind.index()] = Some(version);
    }

    /// Notes the version of an object of a kind, which tells nothing while its first list is under way.
    pub(super) fn applied(&mut self, kind: Kind, version: String) {
        if let Some(taken) = self.versions[kind.index()].as_mut() {
            *taken = version;
        }
    }

    /// Returns up to which version a kind is taken in.
    pub(super) fn version(&self, kind: Kind) -> Option<&String> {
        self.versions[kind.index()].as_ref()
    }

    /// Tells whether every kind has been listed once, and again where that was asked for or is under way.
    pub(super) fn are_complete(&self) -> bool {
        let is_current = self.awaited.iter().all(|awaited| *awaited == Awaited::No);
        is_current && self.versions.iter().all(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that happens to a kind, and whether something may be decided after it.
    type Step = (fn(&mut Lists, Kind), bool);

    const BEGIN: fn(&mut Lists, Kind) = |lists, kind| lists.begin(kind);
    const END: fn(&mut Lists, Kind) = |lists, kind| lists.end(kind);
    const KEEP: fn(&mut Lists, Kind) = |lists, kind| lists.keep(kind);
    const ASK: fn(&mut Lists, Kind) = |lists, kind| lists.ask(kind);
    const TAKEN: fn(&mut Lists, Kind) = |lists, kind| lists.taken(kind, "7".to_owned());
    const APPLIED: fn(&mut Lists, Kind) = |lists, kind| lists.applied(kind, "7".to_owned());

    /// All other kinds are complete.
    fn check(kind: Kind, steps: &[Step]) {
        let mut lists = Lists::new(|one| one == kind);
        for (index, (step, expect)) in steps.iter().enumerate() {
            step(&mut lists, kind);
            assert_eq!(lists.are_complete(), *expect, "{kind:?}, step {index}");
        }
    }

    fn first(is_required: bool) -> Kind {
        let mut kinds = Kind::ALL.into_iter();
        kinds.find(|kind| kind.is_required() == is_required).expect("there are both")
    }

    #[test]
    fn nothing_is_decided_before_the_first_list_and_while_a_list_is_asked_for() {
        for kind in Kind::ALL {
            check(
                kind,
                &[
                    (BEGIN, false),
                    (APPLIED, false),
                    (END, false),
                    (TAKEN, true),
                    (ASK, false),
                    // The end of a list that began before says nothing of the one that was asked for.
                    (END, false),
                    (BEGIN, false),
                    (APPLIED, false),
                    (END, true),
                ],
            );
        }
    }

    #[test]
    fn a_list_that_cannot_be_had_is_not_waited_for() {
        let steps = [(TAKEN, true), (ASK, false), (KEEP, true), (BEGIN, true), (END, true)];
        check(first(false), &steps);
        check(first(false), &[(BEGIN, false), (KEEP, false)]);
    }

    #[test]
    fn nothing_is_decided_while_what_decisions_rest_on_is_listed_anew() {
        let again = [(TAKEN, true), (BEGIN, false), (APPLIED, false), (BEGIN, false), (END, true)];
        check(first(true), &again);
        check(first(false), &[(TAKEN, true), (BEGIN, true), (APPLIED, true), (END, true)]);
    }
}
