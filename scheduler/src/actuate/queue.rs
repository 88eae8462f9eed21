//! Describes what waits to be written: what is urgent goes first, no condition comes after a bind that overtook it, and no
//! bind begins while what an earlier one of its pod wrote is being taken away.
//! Namespaces take turns: what is said of the ten thousand pods of one keeps nobody else from being told. Whatever one bind
//! waits for, the binds of others and what is said go on: it is urgent for a second. What is said and takes longer goes on
//! beside what others are told.

use std::{collections::HashMap, sync::Arc, time::Duration};

use kai_api::{fair::Fair, names::condition};
use tokio::time::Instant;

use super::{
    Event, GroupPatch, PodCondition, ShareTask, Task,
    lines::{LineKey, Lines},
};

/// Binds and evictions of one namespace in flight that do not take long, and as many of either with those that do. More
/// connections do not make a server of two cores faster, and a large one is not waited for with fewer. Source:
/// docs/performance.md, the scheduler on a real API server.
const URGENT_OF_ONE_MAX: usize = 64;
/// Binds and evictions in flight: what is above the bound of one namespace is left to others.
const URGENT_MAX: usize = URGENT_OF_ONE_MAX + 16;
/// Those besides that take long: as many as four namespaces may have of either. Above this they keep their places, so that
/// a server that is slow for all is not asked for more and more at once.
const LATE_MAX: usize = 4 * URGENT_OF_ONE_MAX;
/// Binds, and as many evictions, that each namespace has where those of others that take long hold all places: three namespaces
/// have enough of these.
const URGENT_OF_ONE_SURE: usize = 4;
/// So long a flight is urgent, or keeps others from being told; and so long, at a stretch, urgent ones hold back what is quiet.
pub(super) const HASTE_MAX: Duration = Duration::from_secs(1);
/// Binds of one namespace in flight that wait for volumes or devices, most of them idle.
const PATIENT_OF_ONE_MAX: usize = 512;
/// The same of all namespaces.
const PATIENT_MAX: usize = 2 * PATIENT_OF_ONE_MAX;
/// Of these a namespace has so many whatever others have, as what they wait for may never come: as many as of the urgent ones.
const PATIENT_OF_ONE_SURE: usize = URGENT_OF_ONE_MAX;
/// Conditions and events in flight while nothing urgent is.
const QUIET_MAX: usize = 8;
/// The same right after something urgent: what comes next would wait behind them at the server.
const QUIET_FIRST: usize = 1;
/// After so many have landed in a row one more may fly.
const QUIET_STEP: usize = 8;
/// Conditions and events of one namespace in flight, with those that take long.
const QUIET_OF_ONE_MAX: usize = QUIET_MAX;
/// Those that take long and hold no place: as many as four namespaces may have.
const QUIET_LATE_MAX: usize = 4 * QUIET_OF_ONE_MAX;
/// Events that wait; above this the oldest of the namespace with the most are dropped, as nothing depends on them.
const EVENTS_MAX: usize = 100_000;

/// Says what a flight counts against.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Haste {
    /// Goes before everything else; with its line.
    Urgent(LineKey),
    /// Was urgent, and takes long; with its line.
    Late(LineKey),
    /// Waits for others for most of the time; with its line.
    Patient(LineKey),
    /// Goes while nothing urgent does; with its namespace.
    Quiet(Arc<str>),
    /// Was quiet, and takes long; with its namespace.
    LateQuiet(Arc<str>),
}

/// A task that may be carried out now.
#[derive(Debug)]
pub(super) struct Flight {
    /// Holds what it counts against; given back when it ended, or does nothing but wait.
    pub(super) haste: Haste,
    /// The UID of the pod that is not bound before it has ended.
    pub(super) marks: Option<Box<str>>,
    /// The thing to do.
    pub(super) task: Task,
}

/// The UID of a pod, and the type of a condition of it.
type ConditionKey = (Box<str>, &'static str);

/// A status that is to be written.
#[derive(Debug)]
enum Status {
    Group(GroupPatch),
    Pod(ConditionKey),
}

/// Tasks that wait, and how many are on their way.
#[derive(Debug)]
pub(super) struct Queue {
    urgent: Lines,
    patient: Lines,
    status: Fair<Status>,
    /// The last that was to be said of those in `status`; none where it is not to be said any more.
    conditions: HashMap<ConditionKey, Option<PodCondition>>,
    events: Fair<Event>,
    /// Quiet flights that do not take long, and those that do.
    quiet_flights: usize,
    quiet_late: usize,
    /// Both by namespace.
    quiet_of: HashMap<Arc<str>, usize>,
    /// Quiet flights that landed since something urgent began.
    quiet_landed: usize,
    /// The moment since which urgent flights hold back quiet ones; none where none does.
    held_since: Option<Instant>,
    /// UIDs of pods that are not bound yet, with how many writes they wait for: one says right now that they are
    /// unschedulable, or were not bound, or takes away what an earlier bind wrote, now or in its turn.
    marking: HashMap<Box<str>, usize>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            urgent: Lines::new(URGENT_MAX, URGENT_OF_ONE_MAX, URGENT_OF_ONE_SURE, LATE_MAX),
            patient: Lines::new(PATIENT_MAX, PATIENT_OF_ONE_MAX, PATIENT_OF_ONE_SURE, 0),
            status: Fair::default(),
            conditions: HashMap::new(),
            events: Fair::default(),
            quiet_flights: 0,
            quiet_late: 0,
            quiet_of: HashMap::new(),
            quiet_landed: 0,
            held_since: None,
            marking: HashMap::new(),
        }
    }
}

impl Queue {
    /// Takes tasks in. What was to be said of a pod that is bound now is not said any more; of two conditions of one type
    /// of a pod the later one is.
    ///
    /// # Source
    /// docs/contract.md 8.5: a bind that begins cancels queued condition updates for that pod; docs/behaviour.md 12.4,
    /// step 5: later updates replace queued ones.
    ///
    /// # Cost
    /// In the tasks.
    pub(super) fn take(&mut self, batch: Vec<Task>) {
        let mut bound: Vec<Box<str>> = Vec::new();
        for task in batch {
            match task {
                Task::Bind(ref bind) => {
                    bound.push(bind.uid.clone());
                    let queue =
                        if bind.is_patient() { &mut self.patient } else { &mut self.urgent };
                    queue.push(task);
                }
                Task::Evict(_) | Task::Share(_) => {
                    self.mark(marked(&task));
                    self.urgent.push(task);
                }
                Task::Group(patch) => {
                    let namespace = Arc::from(&*patch.namespace);
                    self.status.push(&namespace, Status::Group(patch));
                }
                Task::Pod(condition) => {
                    let key = (condition.uid.clone(), condition.kind);
                    let namespace = Arc::from(&*condition.namespace);
                    if self.conditions.insert(key.clone(), Some(condition)).is_none() {
                        self.status.push(&namespace, Status::Pod(key));
                    }
                }
                Task::Event(event) => {
                    let namespace = Arc::from(&*event.target.namespace);
                    self.events.push(&namespace, event);
                }
            }
        }
        for uid in bound {
            for kind in [condition::POD_SCHEDULED, condition::POD_BOUND] {
                if let Some(waiting) = self.conditions.get_mut(&(uid.clone(), kind)) {
                    waiting.take_if(|condition| !condition.is_true);
                }
            }
        }
        for _ in EVENTS_MAX..self.events.len() {
            self.events.shed();
        }
    }

    /// Counts how many quiet ones may fly now. Where urgent ones never pause, what is said lags, but one after the other is.
    fn quiet_max(&mut self) -> usize {
        if self.urgent.young() == 0 {
            self.held_since = None;
            return QUIET_MAX.min(QUIET_FIRST + self.quiet_landed / QUIET_STEP);
        }
        let since = *self.held_since.get_or_insert_with(Instant::now);
        usize::from(since.elapsed() >= HASTE_MAX)
    }

    /// The next task that may fly: urgent ones first, binds of a pod only after what is being said of it.
    pub(super) fn next(&mut self) -> Option<Flight> {
        let marking = &self.marking;
        let is_free = |task: &Task| match task {
            Task::Bind(bind) => !marking.contains_key(&bind.uid),
            Task::Evict(_) | Task::Group(_) | Task::Pod(_) | Task::Event(_) | Task::Share(_) => {
                true
            }
        };
        if let Some((of, task)) = self.urgent.next(is_free) {
            self.quiet_landed = 0;
            let marks = marked(&task).map(Box::from);
            return Some(Flight { haste: Haste::Urgent(of), marks, task });
        }
        if let Some((of, task)) = self.patient.next(is_free) {
            return Some(Flight { haste: Haste::Patient(of), marks: None, task });
        }
        let quiet_max = self.quiet_max();
        if self.quiet_flights >= quiet_max {
            return None;
        }
        let (of, task) = self.next_quiet()?;
        self.quiet_flights += 1;
        *self.quiet_of.entry(Arc::clone(&of)).or_default() += 1;
        let marks = marked(&task).map(Box::from);
        self.mark(marks.as_deref());
        Some(Flight { haste: Haste::Quiet(of), marks, task })
    }

    /// One more write for which the bind of a pod waits.
    fn mark(&mut self, uid: Option<&str>) {
        if let Some(uid) = uid {
            *self.marking.entry(Box::from(uid)).or_default() += 1;
        }
    }

    /// The next that is to be said, and in which namespace: one in which not as much is being said as may be.
    fn next_quiet(&mut self) -> Option<(Arc<str>, Task)> {
        let quiet_of = &self.quiet_of;
        let may_fly = |of: &str| quiet_of.get(of).is_none_or(|flights| *flights < QUIET_OF_ONE_MAX);
        while let Some((of, status)) = self.status.pop_where(may_fly) {
            match status {
                Status::Group(patch) => return Some((of, Task::Group(patch))),
                Status::Pod(key) => {
                    if let Some(condition) = self.conditions.remove(&key).flatten() {
                        return Some((of, Task::Pod(condition)));
                    }
                }
            }
        }
        self.events.pop_where(may_fly).map(|(of, event)| (of, Task::Event(event)))
    }

    /// Lets a flight go on that takes long, and returns what it counts against from here on.
    pub(super) fn late(&mut self, haste: Haste) -> Haste {
        match haste {
            Haste::Urgent(of) => {
                self.urgent.late(&of);
                Haste::Late(of)
            }
            Haste::Quiet(of) if self.quiet_late < QUIET_LATE_MAX => {
                self.quiet_flights -= 1;
                self.quiet_late += 1;
                Haste::LateQuiet(of)
            }
            Haste::Late(_) | Haste::Patient(_) | Haste::Quiet(_) | Haste::LateQuiet(_) => haste,
        }
    }

    /// A flight counts no longer.
    pub(super) fn landed(&mut self, haste: &Haste) {
        match haste {
            Haste::Urgent(of) => self.urgent.landed(of),
            Haste::Late(of) => self.urgent.landed_late(of),
            Haste::Patient(of) => self.patient.landed(of),
            Haste::Quiet(of) => {
                self.quiet_flights -= 1;
                self.quiet_landed += 1;
                self.landed_quiet(of);
            }
            Haste::LateQuiet(of) => {
                self.quiet_late -= 1;
                self.landed_quiet(of);
            }
        }
    }

    /// A quiet flight counts no longer in its namespace.
    fn landed_quiet(&mut self, of: &str) {
        if let Some(flights) = self.quiet_of.get_mut(of) {
            *flights -= 1;
            if *flights == 0 {
                self.quiet_of.remove(of);
            }
        }
    }

    /// A flight ended, for which the bind of a pod waits where it has marks.
    pub(super) fn ended(&mut self, marks: Option<&str>) {
        if let Some(uid) = marks
            && let Some(writes) = self.marking.get_mut(uid)
        {
            *writes -= 1;
            if *writes == 0 {
                self.marking.remove(uid);
            }
        }
    }
}

/// The UID of the pod that is not bound before a task has ended: one that says that it is unschedulable or was not bound, or
/// takes away what an earlier bind wrote.
fn marked(task: &Task) -> Option<&str> {
    match task {
        Task::Share(ShareTask::Strip(strip)) => Some(&strip.uid),
        Task::Pod(PodCondition { uid, is_true: false, .. }) => Some(uid),
        Task::Pod(_)
        | Task::Bind(_)
        | Task::Evict(_)
        | Task::Group(_)
        | Task::Event(_)
        | Task::Share(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use crate::actuate::{Bind, Strip, VolumeGrant, VolumeStep};

    fn strip(uid: &str) -> Task {
        Task::Share(ShareTask::Strip(Strip {
            pod: 0,
            uid: Box::from(uid),
            namespace: Box::from("ns"),
            name: Box::from(uid),
            labels: Vec::new(),
            maps: None,
        }))
    }

    fn mark(uid: &str) -> Task {
        mark_saying(uid, "")
    }

    fn mark_saying(uid: &str, message: &str) -> Task {
        Task::Pod(PodCondition {
            pod: 0,
            uid: Box::from(uid),
            namespace: Box::from("ns"),
            name: Box::from(uid),
            kind: condition::POD_SCHEDULED,
            is_true: false,
            reason: "Unschedulable",
            message: Arc::from(message),
        })
    }

    fn bind(uid: &str) -> Task {
        Task::Bind(Bind::of(uid, uid, "n"))
    }

    /// A bind that waits for a volume.
    fn patient(namespace: &str, uid: &str) -> Task {
        let volumes = vec![VolumeGrant {
            namespace: Box::from(namespace),
            claim: Box::from("disk"),
            uid: Box::from("u"),
            node: Box::from("n"),
            step: VolumeStep::Give(Box::from("pv")),
            bound_within: Duration::from_mins(2),
        }];
        Task::Bind(Bind { namespace: Box::from(namespace), volumes, ..Bind::of(uid, uid, "n") })
    }

    fn urgent() -> Haste {
        Haste::Urgent(LineKey::of(&bind("a")))
    }

    fn quiet() -> Haste {
        Haste::Quiet(Arc::from("ns"))
    }

    /// Says what flies next, in short; nothing of it lands.
    fn flying(queue: &mut Queue) -> Vec<String> {
        let short = |flight: Flight| match flight.task {
            Task::Bind(bind) => format!("bind {}", bind.uid),
            Task::Pod(condition) => {
                String::from(format!("mark {} {}", condition.uid, condition.message).trim_end())
            }
            Task::Share(ShareTask::Strip(strip)) => format!("strip {}", strip.uid),
            other @ (Task::Evict(_) | Task::Group(_) | Task::Event(_) | Task::Share(_)) => {
                format!("{other:?}")
            }
        };
        std::iter::from_fn(|| queue.next().map(short)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_bind_voids_what_was_to_be_said_of_its_pod() {
        let mut queue = Queue::default();
        queue.take(vec![bind("first")]);
        assert_eq!(flying(&mut queue), ["bind first"]);
        queue.take(vec![mark("a"), mark("b")]);
        assert_eq!(flying(&mut queue), [""; 0], "a bind is on its way");
        queue.take(vec![bind("a")]);
        assert_eq!(flying(&mut queue), ["bind a"]);
        queue.landed(&urgent());
        queue.landed(&urgent());
        assert_eq!(flying(&mut queue), ["mark b"]);
    }

    #[test]
    fn a_bind_waits_for_what_is_being_said_of_its_pod() {
        let mut queue = Queue::default();
        queue.take(vec![mark("a")]);
        assert_eq!(flying(&mut queue), ["mark a"]);
        queue.take(vec![bind("a"), bind("b")]);
        assert_eq!(flying(&mut queue), ["bind b"]);
        queue.landed(&quiet());
        queue.ended(Some("a"));
        assert_eq!(flying(&mut queue), ["bind a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_to_be_said_of_a_bind_that_failed_is_not_said_after_the_next() {
        let failed = || {
            let mut failed = mark_saying("a", "failed");
            if let Task::Pod(condition) = &mut failed {
                condition.kind = condition::POD_BOUND;
            }
            failed
        };
        let mut queue = Queue::default();
        queue.take(vec![failed()]);
        assert_eq!(flying(&mut queue), ["mark a failed"]);
        queue.take(vec![bind("a")]);
        assert_eq!(flying(&mut queue), [""; 0], "it is being said");
        queue.ended(Some("a"));
        queue.landed(&quiet());
        queue.take(vec![failed()]);
        assert_eq!(flying(&mut queue), ["bind a"]);
        queue.take(vec![bind("a")]);
        assert_eq!(flying(&mut queue), ["bind a"]);
        queue.landed(&urgent());
        queue.landed(&urgent());
        assert_eq!(flying(&mut queue), [""; 0], "it is not said any more");
    }

    #[test]
    fn a_bind_waits_until_nothing_of_an_earlier_one_is_taken_away() {
        let mut queue = Queue::default();
        queue.take(vec![strip("a"), bind("a"), bind("b")]);
        assert_eq!(flying(&mut queue), ["strip a", "bind b"]);
        queue.landed(&urgent());
        assert_eq!(flying(&mut queue), [""; 0], "of another pod");
        queue.landed(&urgent());
        queue.ended(Some("a"));
        assert_eq!(flying(&mut queue), ["bind a"]);
        // One that waits behind others keeps a bind that need not wait for them, too.
        queue.take((0..URGENT_OF_ONE_MAX).map(|number| bind(&number.to_string())).collect());
        assert_eq!(flying(&mut queue).len(), URGENT_OF_ONE_MAX - 1);
        queue.take(vec![strip("c"), patient("ns", "c")]);
        assert_eq!(flying(&mut queue), [""; 0]);
    }

    /// Each has an end, but the next one of the same namespace begins then.
    #[test]
    fn binds_that_take_long_in_many_namespaces_leave_a_few_to_each() {
        let binds = |of: &str| -> Vec<Task> {
            let bind = |uid: String| Bind { namespace: Box::from(of), ..Bind::of(&uid, &uid, "n") };
            (0..URGENT_OF_ONE_MAX).map(|number| Task::Bind(bind(number.to_string()))).collect()
        };
        let mut queue = Queue::default();
        for of in ["a", "b", "c", "d", "e", "f"] {
            queue.take(binds(of));
            while let Some(flight) = queue.next() {
                queue.late(flight.haste);
            }
        }
        queue.take(binds("owner"));
        assert_eq!(flying(&mut queue).len(), URGENT_OF_ONE_SURE);
    }

    /// A class may name a provisioner that nobody runs.
    #[test]
    fn binds_that_wait_in_vain_keep_those_of_no_other_namespace_from_beginning() {
        let mut queue = Queue::default();
        for of in ["a", "b"] {
            let waiting = (0..2 * PATIENT_OF_ONE_MAX).map(|number| number.to_string());
            queue.take(waiting.map(|uid| patient(of, &uid)).collect());
        }
        assert_eq!(flying(&mut queue).len(), PATIENT_MAX);
        for of in ["c", "d"] {
            let waiting = (0..=PATIENT_OF_ONE_SURE).map(|number| number.to_string());
            queue.take(waiting.map(|uid| patient(of, &uid)).collect());
            assert_eq!(flying(&mut queue).len(), PATIENT_OF_ONE_SURE, "{of}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_quiet_begins_slowly_after_what_is_urgent() {
        let mut queue = Queue::default();
        queue.take((0..100).map(|number| mark(&number.to_string())).collect());
        let mut flights = flying(&mut queue).len();
        let mut most = flights;
        for _ in 0..60 {
            queue.landed(&quiet());
            flights = flights - 1 + flying(&mut queue).len();
            most = most.max(flights);
        }
        assert_eq!(most, QUIET_MAX);
        queue.take(vec![bind("x")]);
        assert_eq!(flying(&mut queue), ["bind x"]);
        queue.landed(&urgent());
        (0..flights).for_each(|_| queue.landed(&quiet()));
        queue.take(vec![bind("y")]);
        assert_eq!(flying(&mut queue), ["bind y"]);
        queue.landed(&urgent());
        assert_eq!(flying(&mut queue).len(), QUIET_FIRST, "after the second bind");
        queue.take(vec![bind("z")]);
        queue.landed(&quiet());
        assert_eq!(flying(&mut queue), ["bind z"], "and nothing quiet beside it");
    }

    /// A user may keep what a bind waits for.
    #[tokio::test(start_paused = true)]
    async fn a_bind_that_takes_long_holds_back_nothing_quiet() {
        let mut queue = Queue::default();
        queue.take(vec![bind("x"), mark("a"), mark("b")]);
        assert_eq!(flying(&mut queue), ["bind x"]);
        let late = queue.late(urgent());
        assert_eq!(flying(&mut queue), ["mark a"]);
        queue.landed(&quiet());
        queue.take(vec![bind("y")]);
        assert_eq!(flying(&mut queue), ["bind y"], "it is urgent as ever");
        queue.landed(&urgent());
        queue.landed(&late);
        assert_eq!(flying(&mut queue), ["mark b"]);
    }

    #[tokio::test(start_paused = true)]
    async fn binds_that_never_pause_hold_back_what_is_quiet_for_a_second() {
        let mut queue = Queue::default();
        queue.take(vec![bind("x"), mark("a"), mark("b"), mark("c")]);
        assert_eq!(flying(&mut queue), ["bind x"]);
        advance(HASTE_MAX / 2).await;
        queue.landed(&urgent());
        queue.take(vec![bind("y")]);
        assert_eq!(flying(&mut queue), ["bind y"]);
        advance(HASTE_MAX / 2).await;
        assert_eq!(flying(&mut queue), ["mark a"], "one at a time");
        queue.landed(&quiet());
        queue.landed(&urgent());
        queue.take(vec![bind("z")]);
        assert_eq!(flying(&mut queue), ["bind z", "mark b"]);
        queue.landed(&quiet());
        queue.landed(&urgent());
        assert_eq!(flying(&mut queue), ["mark c"]);
        queue.landed(&quiet());
        queue.take(vec![bind("x"), mark("d")]);
        assert_eq!(flying(&mut queue), ["bind x"], "they are held back anew");
    }

    fn mark_in(namespace: &str, uid: &str) -> Task {
        let mut mark = mark(uid);
        if let Task::Pod(condition) = &mut mark {
            condition.namespace = Box::from(namespace);
        }
        mark
    }

    /// A user may keep the webhooks that are asked about its objects.
    #[test]
    fn what_takes_long_to_be_said_holds_back_its_namespace_alone() {
        let mut queue = Queue::default();
        queue.take((0..100).map(|number| mark(&number.to_string())).collect());
        for number in 0..QUIET_OF_ONE_MAX {
            assert_eq!(flying(&mut queue), [format!("mark {number}")]);
            assert_eq!(queue.late(quiet()), Haste::LateQuiet(Arc::from("ns")));
        }
        assert_eq!(flying(&mut queue), [""; 0], "as much is being said there as may be");
        queue.take(vec![mark_in("other", "a")]);
        assert_eq!(flying(&mut queue), ["mark a"]);
        queue.landed(&Haste::Quiet(Arc::from("other")));
        queue.landed(&Haste::LateQuiet(Arc::from("ns")));
        assert_eq!(flying(&mut queue), [format!("mark {QUIET_OF_ONE_MAX}")]);
    }

    #[test]
    fn each_namespace_has_its_turn() {
        let mut queue = Queue::default();
        let other = mark_in("other", "other");
        let mut batch: Vec<Task> = (0..100).map(|number| mark(&number.to_string())).collect();
        batch.push(other);
        queue.take(batch);
        let mut said = flying(&mut queue);
        queue.landed(&quiet());
        said.extend(flying(&mut queue));
        assert_eq!(said, ["mark 0", "mark other"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_later_of_two_conditions_of_a_pod_is_said() {
        let mut queue = Queue::default();
        queue.take(vec![mark_saying("a", "first"), mark("b"), mark_saying("a", "second")]);
        assert_eq!(flying(&mut queue), ["mark a second"]);
        queue.landed(&quiet());
        queue.ended(Some("a"));
        assert_eq!(flying(&mut queue), ["mark b"]);
        // One that a bind made void does not come back before its turn, nor twice.
        queue.take(vec![bind("c"), mark("d"), mark_saying("a", "third"), bind("a")]);
        queue.take(vec![mark_saying("a", "fourth")]);
        assert_eq!(flying(&mut queue), ["bind c", "bind a"]);
        queue.landed(&quiet());
        queue.ended(Some("b"));
        queue.landed(&urgent());
        queue.landed(&urgent());
        assert_eq!(flying(&mut queue), ["mark d"]);
        queue.landed(&quiet());
        queue.ended(Some("d"));
        assert_eq!(flying(&mut queue), ["mark a fourth"]);
    }
}
