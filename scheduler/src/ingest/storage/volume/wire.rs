//! Describes what is read of volume claims, volumes and storage classes.

use kai_api::quantity::Quantity;
use serde::Deserialize;

use crate::{
    ingest::selector::{LabelSelector, NodeSelector, TopologyTerm},
    server::wire::{Meta, OwnedMeta, Pairs, Text, null_as_default},
    short::{NAME_BYTES_MAX, short},
};

/// The API has four modes of access, and lets a claim name each as often as it likes.
const MODES_MAX: usize = 8;

#[derive(Deserialize, Debug)]
pub(in crate::ingest) struct WireClaim<'a> {
    #[serde(borrow)]
    pub(super) metadata: OwnedMeta<'a>,
    #[serde(borrow, default)]
    pub(super) spec: ClaimSpec<'a>,
    #[serde(borrow, default)]
    pub(super) status: Phase<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Phase<'a> {
    #[serde(borrow)]
    pub(super) phase: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClaimSpec<'a> {
    #[serde(borrow)]
    pub(super) volume_name: Text<'a>,
    #[serde(borrow)]
    pub(super) storage_class_name: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) access_modes: Vec<Text<'a>>,
    #[serde(borrow)]
    pub(super) volume_mode: Text<'a>,
    pub(super) resources: Requests,
    #[serde(borrow)]
    pub(super) selector: Option<LabelSelector<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Requests {
    pub(super) requests: Storage,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Storage {
    pub(super) storage: Option<serde_json::Value>,
}

#[derive(Deserialize, Debug)]
pub(in crate::ingest) struct WireVolume<'a> {
    #[serde(borrow)]
    pub(super) metadata: Meta<'a>,
    #[serde(borrow, default)]
    pub(super) spec: VolumeSpec<'a>,
    #[serde(borrow, default)]
    pub(super) status: Phase<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct VolumeSpec<'a> {
    #[serde(borrow)]
    pub(super) storage_class_name: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) access_modes: Vec<Text<'a>>,
    #[serde(borrow)]
    pub(super) volume_mode: Text<'a>,
    pub(super) capacity: Storage,
    #[serde(borrow)]
    pub(super) claim_ref: Option<ClaimRef<'a>>,
    #[serde(borrow)]
    pub(super) node_affinity: Option<VolumeAffinity<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct ClaimRef<'a> {
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct VolumeAffinity<'a> {
    #[serde(borrow)]
    pub(super) required: Option<NodeSelector<'a>>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(in crate::ingest) struct WireClass<'a> {
    #[serde(borrow)]
    pub(super) metadata: Meta<'a>,
    #[serde(borrow, default)]
    pub(super) provisioner: Text<'a>,
    #[serde(borrow, default)]
    pub(super) volume_binding_mode: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    pub(super) allowed_topologies: Vec<TopologyTerm<'a>>,
}

/// A name that a claim says: what can be none, because it is too long, is nobody's.
pub(super) fn name(text: &str) -> Box<str> {
    Box::from(&*short(text, NAME_BYTES_MAX))
}

/// Different modes of access, in their order.
pub(super) fn modes(texts: &[Text<'_>]) -> Vec<Box<str>> {
    let mut modes: Vec<Box<str>> = Vec::new();
    for text in texts {
        if modes.len() < MODES_MAX && !modes.iter().any(|mode| **mode == **text) {
            modes.push(Box::from(&**text));
        }
    }
    modes
}

/// Labels as they are kept.
pub(super) fn pairs(pairs: &Pairs<'_>) -> Vec<(Box<str>, Box<str>)> {
    pairs.iter().map(|(key, value)| (Box::from(key), Box::from(value))).collect()
}

/// Says as what a volume is used: as a file system, where nothing is said.
pub(super) fn mode(mode: &str) -> Box<str> {
    Box::from(if mode.is_empty() { "Filesystem" } else { mode })
}

/// An amount of storage; one that cannot be read is none.
pub(super) fn bytes(storage: &Storage) -> i64 {
    let text = match &storage.storage {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return 0,
    };
    text.parse::<Quantity>().ok().and_then(|quantity| quantity.value().ok()).unwrap_or(0)
}
