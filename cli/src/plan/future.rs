//! Describes how long work runs, as far as anything says it.

use std::collections::BTreeMap;

use kai_engine::{Cluster as Engine, GroupId, Millis, PodId};
use kai_scheduler::names::{Names, Number};
use kai_sim::course::Course;
use kai_sim::forecast::{Knowledge, Known};
use kai_sim::past::{Past, Work};

use super::gpus::gpu_milli;
use super::title;

/// Holds what is known of the cluster's work, as its groups are numbered.
#[derive(Debug)]
pub(super) struct Outlook<'s> {
    longest: &'s BTreeMap<GroupId, Millis>,
    past: &'s Past,
    names: &'s Names,
    /// GPUs of groups in thousandths, where the past counts.
    gpus: BTreeMap<GroupId, u64>,
}

impl<'s> Outlook<'s> {
    /// The outlook on what is in these clusters.
    pub(super) fn new<const N: usize>(
        times: &'s RunTimes,
        names: &'s Names,
        engines: [&Engine; N],
    ) -> Self {
        let mut gpus = BTreeMap::new();
        if times.past.runs() > 0 {
            for engine in engines {
                for (group, _) in engine.groups() {
                    let all: i64 = engine.pods_of(group).map(|pod| gpu_milli(engine, pod)).sum();
                    gpus.insert(group, u64::try_from(all).unwrap_or(0));
                }
            }
        }
        Self { longest: &times.longest, past: &times.past, names, gpus }
    }

    /// Returns what says when those end that run.
    pub(super) fn ends(&self, course: &Course<'_>) -> Ends {
        let mut ends = Ends::default();
        for (group, _) in course.cluster.groups().filter(|(group, _)| course.is_running(*group)) {
            let known = self.of(group);
            let count = match (known.seen.is_empty(), known.longest) {
                (false, _) => &mut ends.like_past,
                (true, Some(_)) => &mut ends.limited,
                (true, None) => &mut ends.unknown,
            };
            *count += 1;
        }
        ends
    }
}

impl Knowledge for Outlook<'_> {
    fn of(&self, group: GroupId) -> Known<'_> {
        let longest = self.longest.get(&group).copied();
        let Some(gpu_milli) = self.gpus.get(&group).copied() else {
            return Known { longest, ..Known::default() };
        };
        let (_, pod_group) = self.names.group_name(group.number());
        let queue = self.names.queue_of_group(group.number());
        let name = &*title::of_group(pod_group);
        let runs = self.past.like(Work { queue, name, gpu_milli });
        let (seen, order) = runs.map_or((&[][..], &[][..]), |runs| (&runs.sorted, &runs.order));
        Known { longest, seen, order }
    }

    fn is_made_again(&self, pod: PodId, group: GroupId) -> bool {
        let uid = self.names.pods.key(pod.number());
        let (_, name) = self.names.group_name(group.number());
        !title::is_of_pod(name, uid)
    }
}

/// Says how many running workloads say when they end, and by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// Those like which others ran before.
    pub(super) like_past: usize,
    /// Those that say how long they may run, and nothing else is known of them.
    pub(super) limited: usize,
    /// Those of which nothing is known.
    pub(super) unknown: usize,
}

impl Ends {
    /// Says what a range rests on.
    pub(super) fn basis(self) -> String {
        let past = "history (runs like those that run now)";
        match (self.like_past, self.limited) {
            (0, 0) => "nothing that runs has a known end".to_owned(),
            (0, _) => "from max-runtime".to_owned(),
            (_, 0) => format!("from {past}"),
            _ => format!("from max-runtime and {past}"),
        }
    }

    /// Says why there is no range, or none with an end.
    pub(super) fn missing(self) -> Option<String> {
        match self.unknown {
            0 => None,
            1 => Some("1 running workload has no max run time and no history".to_owned()),
            unknown => {
                Some(format!("{unknown} running workloads have no max run time and no history"))
            }
        }
    }
}

/// Holds what is known of the times of groups.
#[derive(Debug, Default, Clone)]
pub(super) struct RunTimes {
    /// The longest run of each group, where its own objects say it.
    pub(super) longest: BTreeMap<GroupId, Millis>,
    /// Runs that have ended.
    pub(super) past: Past,
    /// True once the cluster was asked for both.
    pub(super) is_known: bool,
}
