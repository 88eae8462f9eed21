//! The election, decided: what to do about a Lease as it was read, and whether we may write. Without I/O and without a
//! clock of its own.
//!
//! Time is one local monotonic clock: stamps of other machines are compared for change, not for age. That a holder has
//! stopped before another begins rests on two sums, which the compiler checks:
//!
//! * An elected holder begins no write later than [`RENEW_DEADLINE`] after it *asked for* its last renewal, and waits for
//!   none longer than [`DURATION`] after that. Another begins no earlier than [`DURATION`] after it *saw* that renewal.
//! * A holder that yields begins no write later than [`CONFIRMED_MAX`] after it asked whether it still holds. Another
//!   begins [`HANDOVER_WAIT`] after it took the Lease.

use std::time::Duration;

use tokio::time::Instant;

/// The Lease runs out when it was not renewed for this time.
pub(super) const DURATION: Duration = Duration::from_secs(15);
/// An elected leader that could not renew for this time no longer leads.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// Without election a hold that was confirmed longer ago is confirmed again before acting.
const CONFIRMED_MAX: Duration = Duration::from_millis(500);
/// After a take-over: the older holder's confirmation has run out, and its last requests arrived.
const HANDOVER_WAIT: Duration = Duration::from_millis(1500);
/// Bounds every request about the Lease, so that a silent server is noticed in time.
pub(super) const REQUEST_MAX: Duration = Duration::from_secs(4);

const _: () = assert!(
    RENEW_DEADLINE.as_millis() + REQUEST_MAX.as_millis() < DURATION.as_millis(),
    "a holder notices that it cannot renew, and has ended what it began, before the Lease runs out"
);
const _: () = assert!(
    CONFIRMED_MAX.as_millis() * 2 < HANDOVER_WAIT.as_millis(),
    "who takes over leaves the older holder's last requests as much time as their confirmation had"
);

/// Way in which a Lease is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// By the usual election: whoever has it keeps it for as long as it is renewed.
    Election {
        /// The pause between two attempts to take or to renew it.
        retry: Duration,
    },
    /// As a guard: the holder confirms its hold before it acts, and yields to a newer process.
    Handover,
}

/// Way in which a Lease is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// As the newest: a holder that yields is pushed out.
    Newest,
    /// Only when nobody holds it.
    Patient,
}

/// The Lease as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Observed {
    /// There is none, or nobody's name is on it.
    Free,
    /// It is ours.
    Ours,
    /// Another's name is on it.
    Held {
        /// Its version.
        version: String,
        /// Time for which it holds without being renewed.
        duration: Duration,
        /// Its holder confirms its hold before it acts, and so may be pushed out.
        yields: bool,
    },
}

/// The next step about the Lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Write our name on it; act as soon as this time has passed since it was accepted.
    Take { wait: Duration },
    /// It is ours already: write it, so that it does not run out.
    Renew,
    /// Its holder may be alive: look again later.
    Wait,
    /// It was ours and is another's: never write again.
    Stop,
}

/// Permission to begin a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Permit {
    /// It may; its answer is not waited for beyond this moment, where there is one.
    Write { until: Option<Instant> },
    /// Only after the Lease was read once more.
    Confirm,
    /// Not any more, or not yet.
    Refuse,
}

/// One process in the election.
#[derive(Clone, Debug)]
pub(super) struct Election {
    mode: Mode,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Somebody else's version, since when it has been seen, and when it will have run out.
    Standby(Option<(String, Instant, Instant)>),
    /// The moment before we asked for what made or confirmed it ours.
    Holding(Instant),
    Over,
}

impl Election {
    pub(super) fn standby(mode: Mode) -> Self {
        Self { mode, state: State::Standby(None) }
    }

    /// Decides what follows from the Lease as it was read: asked for at `asked`, and here at `now`.
    pub(super) fn step(
        &mut self,
        lease: &Observed,
        manner: Manner,
        asked: Instant,
        now: Instant,
    ) -> Action {
        match (&mut self.state, lease) {
            (State::Over, _) => Action::Stop,
            (State::Holding(_), Observed::Held { .. }) => {
                self.state = State::Over;
                Action::Stop
            }
            (State::Holding(confirmed), Observed::Ours) => {
                // Reading keeps no Lease from running out, so it is worth something only where nobody waits for that.
                if self.mode == Mode::Handover {
                    *confirmed = asked.max(*confirmed);
                }
                Action::Renew
            }
            (State::Holding(_) | State::Standby(_), Observed::Free) => {
                Action::Take { wait: Duration::ZERO }
            }
            // Our write arrived and its answer did not: whom it pushed out may not know that yet.
            (State::Standby(_), Observed::Ours) => Action::Take {
                wait: match self.mode {
                    Mode::Election { .. } => Duration::ZERO,
                    Mode::Handover => HANDOVER_WAIT,
                },
            },
            (State::Standby(seen), Observed::Held { version, duration, yields }) => {
                let since = match seen {
                    Some((known, since, _)) if known == version => *since,
                    Some(_) | None => now,
                };
                *seen = Some((version.clone(), since, since + *duration));
                let may_push = manner == Manner::Newest && self.mode == Mode::Handover;
                let has_run_out = now.duration_since(since) > *duration;
                match (has_run_out || (*yields && may_push), yields) {
                    (true, true) => Action::Take { wait: HANDOVER_WAIT },
                    (true, false) => Action::Take { wait: Duration::ZERO },
                    (false, _) => Action::Wait,
                }
            }
        }
    }

    /// Notes that the Lease was written as ours; the write was begun at `asked`.
    pub(super) fn taken(&mut self, asked: Instant) {
        match &mut self.state {
            State::Standby(_) => self.state = State::Holding(asked),
            State::Holding(confirmed) => *confirmed = asked.max(*confirmed),
            State::Over => {}
        }
    }

    /// Decides whether a write may begin now.
    pub(super) fn permit(&self, now: Instant) -> Permit {
        let State::Holding(confirmed) = self.state else { return Permit::Refuse };
        match self.mode {
            Mode::Election { .. } if now < confirmed + RENEW_DEADLINE => {
                Permit::Write { until: Some(confirmed + DURATION) }
            }
            Mode::Election { .. } => Permit::Refuse,
            Mode::Handover if now <= confirmed + CONFIRMED_MAX => Permit::Write { until: None },
            Mode::Handover => Permit::Confirm,
        }
    }

    /// Gives the time until a Lease that is another's will have run out, unless it is renewed.
    pub(super) fn next_look(&self, now: Instant) -> Duration {
        match &self.state {
            // A moment later: only then it is over.
            State::Standby(Some((_, _, end))) => {
                end.saturating_duration_since(now) + Duration::from_millis(1)
            }
            State::Standby(None) | State::Holding(_) | State::Over => Duration::MAX,
        }
    }

    /// Gives the time when the hold ends unless it is renewed; none where time alone ends it not.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match (&self.state, self.mode) {
            (State::Holding(confirmed), Mode::Election { .. }) => Some(*confirmed + RENEW_DEADLINE),
            (State::Standby(_) | State::Holding(_) | State::Over, _) => None,
        }
    }

    /// Ends the hold for good where its time is over; true where it has ended.
    pub(super) fn end_if_over(&mut self, now: Instant) -> bool {
        if matches!(self.state, State::Holding(_)) && self.permit(now) == Permit::Refuse {
            self.state = State::Over;
        }
        matches!(self.state, State::Over)
    }
}

#[cfg(test)]
mod tests;
