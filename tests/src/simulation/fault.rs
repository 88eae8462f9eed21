//! Faults on the way of one process: with a request, with a piece of a watch, with all of it for a while.

use tokio::time::Instant;

/// The code with which a policy denies a write.
const DENIED: u16 = 403;

/// Fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is refused before anything is done.
    Refused(u16),
    /// It never arrives, and nothing comes back for long.
    Lost,
    /// It is carried out, and its answer never arrives.
    Unanswered,
    /// It arrives so many milliseconds late, also where its sender has given up by then.
    Delayed(u64),
    /// The same, and the process dies before.
    DeathWhile(u64),
    /// The process dies before the request leaves it.
    DeathBefore,
    /// The process dies before the answer reaches it.
    DeathAfter,
    /// The connection breaks at once, and it arrives so many milliseconds late all the same.
    Broken(u64),
    /// A user edits the object just before it arrives, or deletes it.
    Meddled { deletes: bool },
}

impl Fault {
    /// A policy denies it.
    pub(super) const DENIED: Self = Self::Refused(DENIED);

    /// The names of all.
    pub(super) const KINDS: &[&str] = &[
        "409",
        "410",
        "429",
        "500",
        "503",
        "denied",
        "lost",
        "unanswered",
        "delayed",
        "while",
        "before",
        "after",
    ];

    /// The names of those that users have a part in, or whose sender is gone before them.
    pub(super) const MEDDLING: &[&str] = &["broken", "deleted", "edited"];

    /// The fault of a name; one that is late is by so many milliseconds.
    pub(super) fn named(kind: &str, millis: u64) -> Option<Self> {
        Some(match kind {
            "broken" => Self::Broken(millis),
            "deleted" => Self::Meddled { deletes: true },
            "edited" => Self::Meddled { deletes: false },
            "denied" => Self::DENIED,
            "lost" => Self::Lost,
            "unanswered" => Self::Unanswered,
            "delayed" => Self::Delayed(millis),
            "while" => Self::DeathWhile(millis),
            "before" => Self::DeathBefore,
            "after" => Self::DeathAfter,
            code => Self::Refused(code.parse().ok()?),
        })
    }
}

/// Fault of a piece of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slip {
    /// It comes late, as all that comes after it.
    Late(u64),
    /// The watch ends before it.
    End,
    /// The connection breaks before it.
    Break,
    /// The connection breaks in the middle of it.
    Torn,
    /// The connection is silent from now on.
    Silence,
    /// Its last event comes twice.
    Twice,
    /// It is lost, and the server says that the version is too old.
    Gap,
}

impl Slip {
    /// The names of all.
    pub(super) const KINDS: &[&str] = &["late", "end", "break", "torn", "silence", "twice", "gap"];

    /// The fault of a name; one that is late is by so many milliseconds.
    pub(super) fn named(kind: &str, millis: u64) -> Option<Self> {
        Some(match kind {
            "late" => Self::Late(millis),
            "end" => Self::End,
            "break" => Self::Break,
            "torn" => Self::Torn,
            "silence" => Self::Silence,
            "twice" => Self::Twice,
            "gap" => Self::Gap,
            _ => return None,
        })
    }
}

/// The names of times for which a process can do nothing.
pub(super) const TROUBLES: &[&str] = &["401", "403", "stall"];

/// Time for which a process can do nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    /// All that it asks for is refused: its rights or its token are gone.
    Refused(u16, Instant),
    /// Nothing leaves it and nothing reaches it.
    Stall(Instant),
}
