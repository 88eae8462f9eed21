//! `PriorityClass`.

use serde::Deserialize;

use super::{Ingest, group};
use crate::server::wire::Meta;

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(default)]
    value: i32,
    #[serde(default)]
    global_default: bool,
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let name = &*wire.metadata.name;
    let priorities = &mut ingest.names.priorities;
    priorities.classes.insert(Box::from(name), wire.value);
    priorities.listed.push(Box::from(name));
    if wire.global_default {
        priorities.global_default = Some((Box::from(name), wire.value));
    } else if priorities.global_default.as_ref().is_some_and(|(known, _)| &**known == name) {
        priorities.global_default = None;
    }
    group::reprioritize(ingest);
    wire.metadata.resource_version.to_string()
}

pub(super) fn gone(ingest: &mut Ingest, name: &str) {
    let priorities = &mut ingest.names.priorities;
    priorities.classes.remove(name);
    if priorities.global_default.as_ref().is_some_and(|(known, _)| &**known == name) {
        priorities.global_default = None;
    }
    group::reprioritize(ingest);
}

/// A full list is complete: classes that were not in it are gone.
pub(super) fn end(ingest: &mut Ingest) {
    let priorities = &mut ingest.names.priorities;
    let listed = std::mem::take(&mut priorities.listed);
    priorities.classes.retain(|name, _| listed.contains(name));
    if priorities.global_default.as_ref().is_some_and(|(name, _)| !listed.contains(name)) {
        priorities.global_default = None;
    }
    group::reprioritize(ingest);
}
