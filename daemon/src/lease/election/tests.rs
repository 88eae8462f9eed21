//! Processes that compete for one Lease on a server that is slow, refuses, and loses answers. The clock stands still but
//! where the test moves it.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

use proptest::prelude::*;
use tokio::time::Instant;

use super::*;

const RETRY: Duration = Duration::from_secs(5);
const ELECTION: Mode = Mode::Election { retry: RETRY };

fn held(version: u32, yields: bool) -> Observed {
    Observed::Held { version: version.to_string(), duration: DURATION, yields }
}

/// A holder that is cut off from its server has stopped, and given up what it began, before another may begin.
#[test]
fn a_holder_stops_before_another_may_begin() {
    let start = Instant::now();
    let at = |millis: u64| start + Duration::from_millis(millis);
    let mut first = Election::standby(ELECTION);
    let none = Action::Take { wait: Duration::ZERO };
    assert_eq!(first.step(&Observed::Free, Manner::Patient, at(0), at(5)), none);
    assert_eq!(first.permit(at(5)), Permit::Refuse, "what is not written is not held");
    first.taken(at(5));
    // Its last renewal arrives at once, and nothing does after it.
    let mut second = Election::standby(ELECTION);
    assert_eq!(second.step(&held(1, false), Manner::Patient, at(5), at(5)), Action::Wait);
    let stopped =
        (5..60_000).find(|now| first.permit(at(*now)) == Permit::Refuse).expect("it stops");
    let begins = (5..60_000)
        .find(|now| {
            let now = at(*now);
            second.clone().step(&held(1, false), Manner::Patient, now, now) != Action::Wait
        })
        .expect("another begins");
    assert_eq!((stopped, begins), (10_005, 15_006));
    let Permit::Write { until: Some(until) } = first.permit(at(10_004)) else { panic!("it may") };
    assert!(until < at(begins), "no answer is waited for when another may begin");
    assert!(first.end_if_over(at(stopped)));
    first.taken(at(stopped));
    assert_eq!(first.permit(at(stopped)), Permit::Refuse, "what has ended stays so");
}

/// Reading the Lease keeps it from nobody: only a renewal counts.
#[test]
fn a_holder_that_reads_and_cannot_write_stops_too() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let mut elected = Election::standby(ELECTION);
    elected.taken(at(0));
    for second in 1..10 {
        let now = at(second);
        assert_eq!(elected.step(&Observed::Ours, Manner::Patient, now, now), Action::Renew);
    }
    assert_eq!(elected.deadline(), Some(at(10)));
    assert_eq!(elected.permit(at(10)), Permit::Refuse);
    let mut guarded = Election::standby(Mode::Handover);
    guarded.taken(at(0));
    assert_eq!(guarded.permit(at(9)), Permit::Confirm);
    guarded.step(&Observed::Ours, Manner::Patient, at(9), at(9));
    assert_eq!(guarded.permit(at(9)), Permit::Write { until: None });
    assert_eq!(guarded.step(&held(7, true), Manner::Patient, at(9), at(9)), Action::Stop);
    assert_eq!(guarded.permit(at(9)), Permit::Refuse);
}

#[test]
fn only_a_holder_that_yields_is_pushed_out_and_then_waited_for() {
    let now = Instant::now();
    let wait = Action::Take { wait: HANDOVER_WAIT };
    for (mode, manner, yields, expect) in [
        (Mode::Handover, Manner::Newest, true, wait),
        (Mode::Handover, Manner::Newest, false, Action::Wait),
        (Mode::Handover, Manner::Patient, true, Action::Wait),
        (ELECTION, Manner::Newest, true, Action::Wait),
    ] {
        let mut election = Election::standby(mode);
        let action = election.step(&held(1, yields), manner, now, now);
        assert_eq!(action, expect, "{mode:?} {manner:?} {yields}");
    }
    // It may confirm its hold to the last moment, so that what has run out is waited for as well.
    let mut patient = Election::standby(Mode::Handover);
    patient.step(&held(1, true), Manner::Patient, now, now);
    let later = now + DURATION + Duration::from_millis(1);
    assert_eq!(patient.step(&held(1, true), Manner::Patient, later, later), wait);
    assert_eq!(patient.step(&held(2, true), Manner::Patient, later, later), Action::Wait);
}

/// Course of one request: how long it takes to the server and back, and whether its answer arrives.
#[derive(Clone, Copy, Debug)]
struct Trip {
    there_ms: u64,
    back_ms: u64,
    answered: bool,
}

fn trip() -> impl Strategy<Value = Trip> {
    let time = || prop_oneof![4 => 0..50_u64, 1 => 0..1900_u64];
    (time(), time(), prop::bool::weighted(0.7)).prop_map(|(there_ms, back_ms, answered)| Trip {
        there_ms,
        back_ms,
        answered,
    })
}

/// The Lease on the server.
#[derive(Clone, Copy, Default)]
struct Stored {
    version: u32,
    holder: Option<usize>,
    yields: bool,
}

impl Stored {
    /// As one process sees it.
    fn observed(self, who: usize) -> Observed {
        match self.holder {
            None => Observed::Free,
            Some(holder) if holder == who => Observed::Ours,
            Some(_) => held(self.version, self.yields),
        }
    }
}

/// State of a process with its requests.
#[derive(Clone, Copy)]
enum Phase {
    Idle,
    Reading { asked: u64, trip: Trip },
    Read { asked: u64, found: Stored },
    Writing { asked: u64, found: Stored, wait: u64, trip: Trip },
    Written { asked: u64 },
    Over,
}

struct Process {
    election: Election,
    phase: Phase,
    /// It has begun to act: not before it waited for an older holder.
    began: bool,
}

struct World {
    start: Instant,
    stored: Stored,
    processes: Vec<Process>,
    trips: Vec<Trip>,
    next_trip: usize,
}

impl World {
    fn at(&self, now: u64) -> Instant {
        self.start + Duration::from_millis(now)
    }

    fn trip(&mut self) -> Trip {
        self.next_trip += 1;
        self.trips[self.next_trip % self.trips.len()]
    }

    /// Moves one process on; says when it moves again.
    fn advance(&mut self, who: usize, now: u64, mode: Mode) -> u64 {
        let pause = if mode == Mode::Handover { 300 } else { 2000 };
        let (phase, next) = match self.processes[who].phase {
            Phase::Over => (Phase::Over, u64::MAX),
            Phase::Idle => {
                let trip = self.trip();
                (Phase::Reading { asked: now, trip }, now + trip.there_ms)
            }
            Phase::Reading { asked, trip } if trip.answered => {
                (Phase::Read { asked, found: self.stored }, now + trip.back_ms)
            }
            Phase::Reading { asked, .. } => (Phase::Idle, asked + 4000),
            Phase::Read { asked, found } => {
                let lease = found.observed(who);
                let manner = if who.is_multiple_of(2) { Manner::Newest } else { Manner::Patient };
                let (asked, read) = (self.at(asked), self.at(now));
                let wait = match self.processes[who].election.step(&lease, manner, asked, read) {
                    Action::Take { wait } => Some(wait.as_millis()),
                    Action::Renew => Some(0),
                    Action::Wait => None,
                    Action::Stop => {
                        self.processes[who].phase = Phase::Over;
                        return u64::MAX;
                    }
                };
                match wait {
                    Some(wait) => {
                        let (trip, wait) = (self.trip(), wait.try_into().expect("a pause"));
                        (Phase::Writing { asked: now, found, wait, trip }, now + trip.there_ms)
                    }
                    None => (Phase::Idle, now + pause),
                }
            }
            Phase::Writing { asked, found, wait, trip } => {
                let accepted = found.version == self.stored.version;
                if accepted {
                    let (version, yields) = (found.version + 1, mode == Mode::Handover);
                    self.stored = Stored { version, holder: Some(who), yields };
                }
                if accepted && trip.answered {
                    (Phase::Written { asked }, now + trip.back_ms + wait)
                } else {
                    // A connection that breaks is known to be broken at once.
                    (Phase::Idle, now + trip.back_ms + pause)
                }
            }
            Phase::Written { asked } => {
                let asked = self.at(asked);
                self.processes[who].election.taken(asked);
                self.processes[who].began = true;
                (Phase::Idle, now + pause)
            }
        };
        self.processes[who].phase = phase;
        next
    }
}

/// Lets processes compete for some minutes, and gives how often somebody could write.
fn compete(mode: Mode, trips: Vec<Trip>, processes: usize) -> Result<usize, TestCaseError> {
    let process =
        || Process { election: Election::standby(mode), phase: Phase::Idle, began: false };
    let mut world = World {
        start: Instant::now(),
        stored: Stored::default(),
        processes: (0..processes).map(|_| process()).collect(),
        trips,
        next_trip: 0,
    };
    let mut due: BinaryHeap<Reverse<(u64, usize)>> =
        (0..processes).map(|who| Reverse((who as u64 * 700, who))).collect();
    let mut writers = 0;
    for now in (0..240_000).step_by(10) {
        while let Some(Reverse((at, who))) = due.peek().copied()
            && at <= now
        {
            due.pop();
            let next = world.advance(who, at, mode);
            if next < u64::MAX {
                due.push(Reverse((next.max(at), who)));
            }
            if let Some(stands) = world.processes.get_mut(who)
                && stands.began
                && stands.election.end_if_over(world.start + Duration::from_millis(at))
            {
                stands.phase = Phase::Over;
            }
        }
        let instant = world.at(now);
        let may = |one: &&Process| matches!(one.election.permit(instant), Permit::Write { .. });
        let writing = world.processes.iter().filter(may).count();
        prop_assert!(writing <= 1, "{writing} may write at {now} ms");
        writers += writing;
    }
    Ok(writers)
}

proptest! {
    // A holder that acts on an answer while another takes over is one history of a thousand.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases * 16, ..ProptestConfig::default() })]

    /// Whatever is slow or lost, no two may write at one time.
    #[test]
    fn one_writes_at_a_time(trips in prop::collection::vec(trip(), 20..200), processes in 2..5_usize) {
        compete(ELECTION, trips.clone(), processes)?;
        compete(Mode::Handover, trips, processes)?;
    }
}

#[test]
fn with_a_server_that_answers_somebody_writes() {
    let trips = vec![Trip { there_ms: 5, back_ms: 5, answered: true }];
    for mode in [ELECTION, Mode::Handover] {
        let writers = compete(mode, trips.clone(), 3).expect("one at a time");
        assert!(writers > 20_000, "{writers} of 24,000 moments: {mode:?}");
    }
}
