//! When waiting groups start: the course of a cluster, followed as often as it takes to see how far its ends lie apart.
//!
//! ```text
//!   what is known of run times ──► draws ──► a course each ──► starts ──► from the early ones to the late ones
//! ```
//!
//! A deadline says how long a group runs at most, and what ran before says how long work like it does run. Where deadlines
//! are all that is known, there are two courses: everything ends now, and everything runs for as long as it may. Where
//! there is a past, each course draws an end for every group from runs that took longer than its own did so far.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Cluster, Config, GroupId, Millis, PodId, Timestamp, ids::Id as _};

use crate::course::{Course, Future};
use crate::generate::Seed;

/// Courses that are followed where the past is known.
const DRAWS: u32 = 24;
/// Of these draws so many may start earlier than the range says, and as many later.
const DRAWS_OUTSIDE: usize = 1;
/// Cycles that a course between deadlines may take: a long queue of a large cluster ends somewhere.
const CYCLES_MAX: u64 = 20_000;
/// The same for each of many courses.
const CYCLES_OF_DRAW_MAX: u64 = 2_000;
/// Runs that are one batch.
const EPISODE: usize = 12;
/// The whole of which parts are drawn, in bits.
const PART_BITS: u32 = 16;

/// Knowledge of how long a group runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known<'k> {
    /// Its deadline: it runs at most for so long.
    pub longest: Option<Millis>,
    /// Run times of work like it, in rising order; empty where nothing like it is known.
    pub seen: &'k [Millis],
    /// The same in the order in which they ended, the last one last.
    pub order: &'k [Millis],
}

impl Known<'_> {
    /// Tells whether nothing is known: no end is counted on.
    pub fn is_nothing(&self) -> bool {
        self.longest.is_none() && self.seen.is_empty()
    }
}

/// Knowledge of the groups of a cluster. Several courses may ask it at the same time.
pub trait Knowledge: Sync {
    /// Says what is known of the run of a group.
    fn of(&self, group: GroupId) -> Known<'_>;

    /// Tells whether a pod that is evicted is made again, as those of a controller are.
    fn is_made_again(&self, pod: PodId, group: GroupId) -> bool;
}

/// One way in which things may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Everything ends as soon as it may.
    Early,
    /// Everything runs for as long as it may.
    Late,
    /// Everything ends by chance, the same each time for one number.
    Number(u32),
}

/// A future that is drawn from knowledge.
pub struct Drawn<'k> {
    /// The knowledge that it is drawn from.
    pub knowledge: &'k dyn Knowledge,
    /// The way in which things go.
    pub draw: Draw,
}

impl std::fmt::Debug for Drawn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawn").field("draw", &self.draw).finish_non_exhaustive()
    }
}

impl Future for Drawn<'_> {
    fn run_time(&self, group: GroupId, ran: Millis) -> Option<Millis> {
        let Known { longest, seen, order } = self.knowledge.of(group);
        let drawn = match self.draw {
            _ if seen.is_empty() => {
                let longest = longest?;
                match self.draw {
                    Draw::Early => ran,
                    Draw::Late => longest,
                    Draw::Number(number) => {
                        let rest = (longest - ran).max(0);
                        ran + scaled(rest, parts(number, group)[0])
                    }
                }
            }
            Draw::Early => seen.iter().copied().find(|time| *time > ran).unwrap_or(ran),
            Draw::Late => seen.last().copied().unwrap_or(ran).max(ran),
            Draw::Number(number) => {
                let parts = parts(number, group);
                let alike = episode(order, number).iter().copied();
                let beyond: Vec<Millis> = alike.filter(|time| *time > ran).collect();
                pick(&beyond, beyond.len(), parts[0]).unwrap_or_else(|| like(seen, ran, parts))
            }
        };
        Some(longest.map_or(drawn, |longest| drawn.min(longest)))
    }

    fn is_made_again(&self, pod: PodId, group: GroupId) -> bool {
        self.knowledge.is_made_again(pod, group)
    }
}

/// Runs that ended one after the other, at a time that a draw chooses, the last ones more often. Work comes in batches
/// whose runs are alike, so a draw takes all runs of a kind from one such time: else long and short ones would make up for
/// each other, and the range would be too narrow.
fn episode(order: &[Millis], number: u32) -> &[Millis] {
    let [part, _] = parts(number, GroupId::new(u32::MAX));
    let rest = i64::try_from(order.len().saturating_sub(EPISODE)).unwrap_or(0);
    let back = (0..3).fold(rest, |back, _| scaled(back, part));
    let end = order.len() - usize::try_from(back).unwrap_or(0);
    &order[end.saturating_sub(EPISODE)..end]
}

/// A run time like those that were seen, of work that ran for `ran` already. One more than those that ran on is thought of:
/// it runs longer than anything did, and much longer the more rarely.
fn like(seen: &[Millis], ran: Millis, [part, second]: [u32; 2]) -> Millis {
    let beyond = &seen[seen.partition_point(|time| *time <= ran)..];
    pick(beyond, beyond.len() + 1, part).unwrap_or_else(|| {
        let last = seen.last().copied().unwrap_or(ran).max(ran);
        let whole = 1_i64 << PART_BITS;
        // An eighth at least is left, so that no draw is beyond all measure.
        let rest = (whole - i64::from(second)).max(whole / 8);
        last.saturating_mul(whole) / rest
    })
}

/// The one of so many times that a part of the whole means, where it is there.
fn pick(times: &[Millis], of: usize, part: u32) -> Option<Millis> {
    let at = scaled(i64::try_from(of).ok()?, part);
    times.get(usize::try_from(at).ok()?).copied()
}

/// Two parts of the whole that belong to a draw and a group.
fn parts(number: u32, group: GroupId) -> [u32; 2] {
    let row = u64::try_from(group.row()).unwrap_or(u64::MAX);
    let bits = Seed::new(0).nth(u64::from(number) << 32 | row);
    let part = |shift: u32| u32::try_from((bits >> shift) & ((1 << PART_BITS) - 1)).unwrap_or(0);
    [part(0), part(PART_BITS)]
}

fn scaled(span: Millis, part: u32) -> Millis {
    let scaled = (i128::from(span) * i128::from(part)) >> PART_BITS;
    i64::try_from(scaled).unwrap_or(span)
}

/// A cluster at rest, from which time passes.
#[derive(Clone, Copy, Debug)]
pub struct Outset<'c> {
    /// Its books.
    pub cluster: &'c Cluster,
    /// The scheduler's settings.
    pub config: &'c Config,
    /// The time.
    pub now: Timestamp,
}

impl Outset<'_> {
    /// Tells whether no delay ends until then: where nothing is known to end, nothing changes.
    fn is_still(&self, horizon: Timestamp) -> bool {
        self.cluster.wake().is_none_or(|wake| wake <= self.now || wake > horizon)
    }
}

/// Times between which a group starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// It hardly starts before.
    pub earliest: Timestamp,
    /// It hardly starts after; none where some courses do not see it start.
    pub latest: Option<Timestamp>,
}

/// When waiting groups start.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// Those that some course sees start.
    pub at: BTreeMap<GroupId, Range>,
    /// The time at which the first course was left, where that is before the horizon.
    pub cut: Option<Timestamp>,
}

impl Forecast {
    /// Follows the courses of a cluster until all of `waiting` have started, at most until `horizon`.
    ///
    /// # Cost
    /// One course where no end is known, and none where no delay ends either; two where deadlines are, else 24. Each costs a
    /// copy of the cluster and a cycle for whatever ends.
    pub fn new(
        outset: Outset<'_>,
        knowledge: &dyn Knowledge,
        waiting: &BTreeSet<GroupId>,
        horizon: Timestamp,
    ) -> Self {
        let mut forecast = Self::default();
        if waiting.is_empty() {
            return forecast;
        }
        let groups = || outset.cluster.groups().map(|(group, _)| knowledge.of(group));
        let has_past = groups().any(|known| !known.seen.is_empty());
        let draws: Vec<Draw> = if has_past {
            (0..DRAWS).map(Draw::Number).collect()
        } else if groups().any(|known| !known.is_nothing()) {
            vec![Draw::Early, Draw::Late]
        } else if outset.is_still(horizon) {
            return forecast;
        } else {
            // Where no end is known, all courses are one.
            vec![Draw::Late]
        };
        let mut starts: BTreeMap<GroupId, Vec<Option<Timestamp>>> = BTreeMap::new();
        for draw in &draws {
            let (at, cut) = starts_of(outset, &Drawn { knowledge, draw: *draw }, waiting, horizon);
            forecast.cut = [forecast.cut, cut].into_iter().flatten().min();
            for group in waiting {
                starts.entry(*group).or_default().push(at.get(group).copied());
            }
        }
        let ranges = starts.into_iter().filter_map(|(group, starts)| {
            let range = if has_past { usual(starts) } else { extremes(&starts, outset.now) };
            Some((group, range?))
        });
        forecast.at = ranges.collect();
        forecast
    }
}

/// From the earliest to the latest but for a few.
fn usual(mut starts: Vec<Option<Timestamp>>) -> Option<Range> {
    // What does not start comes last.
    starts.sort_by_key(|at| (at.is_none(), *at));
    let outside = DRAWS_OUTSIDE.min(starts.len().saturating_sub(1) / 2);
    let earliest = starts.get(outside).copied().flatten()?;
    let latest = starts.iter().rev().nth(outside).copied().flatten();
    Some(Range { earliest, latest })
}

/// Between the start where all ends early and the one where all ends late, whichever is first.
fn extremes(starts: &[Option<Timestamp>], now: Timestamp) -> Option<Range> {
    match starts {
        [Some(only)] => Some(Range { earliest: *only, latest: Some(*only) }),
        [Some(early), Some(late)] => {
            Some(Range { earliest: *early.min(late), latest: Some(*early.max(late)) })
        }
        [Some(early), None] => Some(Range { earliest: *early, latest: None }),
        [None, Some(late)] => Some(Range { earliest: now, latest: Some(*late) }),
        _ => None,
    }
}

/// When groups start on one course, and where it was left if that is before the horizon.
fn starts_of(
    outset: Outset<'_>,
    future: &Drawn<'_>,
    waiting: &BTreeSet<GroupId>,
    horizon: Timestamp,
) -> (BTreeMap<GroupId, Timestamp>, Option<Timestamp>) {
    let Outset { cluster, config, now } = outset;
    let cycles_max = match future.draw {
        Draw::Number(_) => CYCLES_OF_DRAW_MAX,
        Draw::Early | Draw::Late => CYCLES_MAX,
    };
    let mut course = Course::new(cluster.clone(), config.clone(), now, future);
    let mut open = waiting.clone();
    let mut starts = BTreeMap::new();
    while !open.is_empty() && course.pass(horizon) {
        course.settle();
        let begun: Vec<GroupId> =
            open.iter().copied().filter(|group| course.is_running(*group)).collect();
        for group in begun {
            open.remove(&group);
            starts.insert(group, course.runs_since(group).unwrap_or(course.now));
        }
        if course.cycles > cycles_max {
            return (starts, (!open.is_empty()).then_some(course.now));
        }
    }
    (starts, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One group of a deadline and a past.
    struct One {
        longest: Option<Millis>,
        seen: Vec<Millis>,
    }

    impl Knowledge for One {
        fn of(&self, _: GroupId) -> Known<'_> {
            Known { longest: self.longest, seen: &self.seen, order: &[] }
        }

        fn is_made_again(&self, _: PodId, _: GroupId) -> bool {
            true
        }
    }

    /// The shortest and the longest run of many draws.
    fn check(longest: Option<Millis>, seen: &[Millis], ran: Millis, expect: Option<[Millis; 2]>) {
        let known = One { longest, seen: seen.to_vec() };
        let run = |number| {
            Drawn { knowledge: &known, draw: Draw::Number(number) }.run_time(GroupId::new(7), ran)
        };
        let runs: Vec<Option<Millis>> = (0..200).map(run).collect();
        let told = runs.iter().min().copied().flatten().zip(runs.iter().max().copied().flatten());
        assert_eq!(told.map(|(first, last)| [first, last]), expect, "{longest:?} {seen:?} {ran}");
    }

    #[test]
    fn a_run_is_like_those_before_and_no_longer_than_its_deadline() {
        check(None, &[], 5, None);
        check(None, &[10, 20, 30], 0, Some([10, 240]));
        check(Some(25), &[10, 20, 30], 0, Some([10, 25]));
        check(Some(25), &[10, 20, 30], 15, Some([20, 25]));
        // It has run for longer than anything before.
        check(Some(80), &[10], 40, Some([40, 80]));
        check(Some(1 << PART_BITS), &[], 0, Some([515, 64_762]));
    }

    #[test]
    fn the_runs_of_one_draw_are_of_one_time() {
        let order = [vec![10; 40], vec![100; 40]].concat();
        let (mut short, mut long) = (0, 0);
        for number in 0..200 {
            match episode(&order, number) {
                times if times.iter().all(|time| *time == 10) => short += 1,
                times if times.iter().all(|time| *time == 100) => long += 1,
                _ => {}
            }
        }
        // The last ones come more often, and hardly any draw mixes both.
        assert!(short > 20 && long > 2 * short && short + long > 160, "{short} {long}");
        assert_eq!(episode(&[], 1), [0; 0]);
    }

    #[test]
    fn a_range_leaves_out_a_start_at_each_end() {
        let at = |seconds: &[i64]| -> Vec<Option<Timestamp>> {
            seconds.iter().map(|at| (*at > 0).then_some(Timestamp(*at))).collect()
        };
        let range = |earliest, latest: Option<i64>| {
            Some(Range { earliest: Timestamp(earliest), latest: latest.map(Timestamp) })
        };
        assert_eq!(usual(at(&[3, 9, 1, 5])), range(3, Some(5)));
        assert_eq!(usual(at(&[3, 0, 1, 0])), range(3, None));
        assert_eq!(usual(at(&[0, 0, 1, 0])), None);
        let now = Timestamp(0);
        assert_eq!(extremes(&at(&[4]), now), range(4, Some(4)));
        assert_eq!(extremes(&at(&[4, 9]), now), range(4, Some(9)));
        assert_eq!(extremes(&at(&[4, 0]), now), range(4, None));
        assert_eq!(extremes(&at(&[0, 9]), now), range(0, Some(9)));
        assert_eq!(extremes(&at(&[0, 0]), now), None);
    }
}
