//! `SchedulingShard`: kept whole, by name; there are few.

use std::collections::BTreeMap;

use kai_api::shard::{SchedulingShard, SchedulingShardSpec};

use super::{Context, Kind};

/// The settings of our node pool.
#[derive(Debug, Default)]
pub struct Shards {
    /// By the name of the shard: the full list in which it was seen last, and what it asks for.
    rows: BTreeMap<String, (u32, SchedulingShardSpec)>,
    /// They changed since they were looked at.
    is_changed: bool,
}

impl Shards {
    /// Lists the shards in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &SchedulingShardSpec)> {
        self.rows.iter().map(|(name, (_, spec))| (name, spec))
    }

    /// Says whether they changed since this was asked last.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Takes a shard in; one of another node pool goes.
    pub(super) fn apply(&mut self, context: &mut Context, shard: &SchedulingShard) -> String {
        let name = shard.metadata.name.clone().unwrap_or_default();
        let pool = shard.spec.partition_label_value.as_deref().unwrap_or_default();
        if pool == context.rules.pool_value {
            let row = (context.generation(Kind::Shard), shard.spec.clone());
            self.rows.insert(name, row);
        } else {
            self.rows.remove(&name);
        }
        self.is_changed = true;
        shard.metadata.resource_version.clone().unwrap_or_default()
    }

    /// Takes the shard of this name out.
    pub(super) fn remove(&mut self, name: &str) {
        self.is_changed |= self.rows.remove(name).is_some();
    }

    /// Takes out what was not in the full list that is complete now. Settings follow even an empty list.
    pub(super) fn end(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::Shard);
        self.rows.retain(|_, (seen, _)| *seen == generation);
        self.is_changed = true;
    }
}
