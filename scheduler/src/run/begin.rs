//! A loop at the begin of a turn of leading.

use std::{collections::HashMap, iter};

use kai_engine::Cluster;
use tokio::time::Instant;

use super::{GroupWrites, Health, Lists, QueueGauges, Report, Run, Source, in_turns};
use crate::{
    dispatch::Dispatch,
    ingest::{Ingest, Rules},
    settings::Args,
    sharing::Sharing,
};

impl Run {
    /// A loop that has heard, decided and written nothing. Nothing is read yet either: lists come with [`Run::run`].
    pub(crate) fn begin(
        args: &Args,
        source: Source,
        health: Health,
        dispatch: Dispatch,
        sharing: Sharing,
    ) -> Self {
        let metrics = dispatch.metrics.clone();
        Self {
            ingest: Ingest::new(Rules::new(args)),
            cluster: Cluster::default(),
            config: in_turns(source.settings(iter::empty()).config),
            source,
            dispatch,
            health,
            gauges: QueueGauges::new(metrics.queues.clone()),
            metrics,
            period: args.schedule_period,
            report: Report::default(),
            sharing,
            held: Vec::new(),
            not_evicted: Vec::new(),
            evict_failures: HashMap::new(),
            bind_failures: HashMap::new(),
            writes: GroupWrites::default(),
            lists: Lists::new(|kind| kind.is_watched(args)),
            is_told_early: false,
            cycles: 0,
            began: Instant::now(),
            decided: i64::MIN,
            names_first: None,
            is_old: false,
        }
    }
}
