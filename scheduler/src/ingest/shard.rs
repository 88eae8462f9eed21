//! `SchedulingShard`: kept whole, by name; there are few.

use kai_api::shard::SchedulingShard;

use super::Ingest;

pub(super) fn applied(ingest: &mut Ingest, shard: SchedulingShard) -> String {
    let name = shard.metadata.name.unwrap_or_default();
    let pool = shard.spec.partition_label_value.as_deref().unwrap_or_default();
    if pool == ingest.rules.pool_value {
        ingest.shards.insert(name, shard.spec);
    } else {
        ingest.shards.remove(&name);
    }
    ingest.shards_changed = true;
    shard.metadata.resource_version.unwrap_or_default()
}

pub(super) fn gone(ingest: &mut Ingest, name: &str) {
    ingest.shards_changed |= ingest.shards.remove(name).is_some();
}
