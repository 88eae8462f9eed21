//! How long work runs, as far as anything says it.

use std::collections::BTreeMap;

use kai_engine::{GroupId, Millis, PodId};
use kai_scheduler::names::{Names, Number};
use kai_sim::course::Future;

use super::title;

/// How a future is drawn: each end as early, or as late, as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlook {
    /// Everything ends as soon as it may.
    Early,
    /// Everything runs for as long as it may.
    Late,
}

/// What is known of the times of groups.
#[derive(Debug, Default, Clone)]
pub(super) struct RunTimes {
    /// The longest run of each group, where its own objects say it.
    pub(super) longest: BTreeMap<GroupId, Millis>,
}

/// A future of a cluster.
pub(super) struct Drawn<'n> {
    pub(super) times: &'n RunTimes,
    pub(super) names: &'n Names,
    pub(super) outlook: Outlook,
}

impl Future for Drawn<'_> {
    fn run_time(&self, group: GroupId, ran: Millis) -> Option<Millis> {
        let longest = self.times.longest.get(&group)?;
        match self.outlook {
            Outlook::Early => Some(ran),
            Outlook::Late => Some(*longest),
        }
    }

    fn is_made_again(&self, pod: PodId, group: GroupId) -> bool {
        let uid = self.names.pods.key(pod.number());
        let (_, name) = self.names.group_name(group.number());
        !title::is_of_pod(name, uid)
    }
}
