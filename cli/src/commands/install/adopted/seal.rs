//! The seal of the record: checksums of it in an object that whoever may write `ConfigMap`s beside the daemons can't write.
//!
//! `install release` creates what the record holds with the rights of whoever calls it, which may be all rights.

use std::fmt::Write as _;

use kai_api::names::{label, value};
use ring::digest::{SHA256, digest};
use serde_json::json;

use super::super::manifest::{Group, Item};
use super::super::plan;
use super::NAME;
use crate::cluster::Cluster;
use crate::print::error::Error;

const CHECKSUMS: &str = "kai.scheduler/adopted-sha256";

/// Holds the checksums of records that a switch has written or was about to write.
pub(in super::super) struct Seal {
    checksums: String,
}

impl Seal {
    /// Tells whether a packed record is one of those.
    pub(super) fn fits(&self, packed: &str) -> bool {
        let checksum = checksum(packed);
        self.checksums.split(',').any(|known| known == checksum)
    }
}

/// The object that holds the seal of packed records.
pub(super) fn item(packed: &[&str]) -> Item {
    let checksums: Vec<_> = packed.iter().map(|packed| checksum(packed)).collect();
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            "name": NAME,
            "labels": { label::MANAGED_BY: value::INSTALLER, label::PART_OF: value::PRODUCT },
            "annotations": {
                CHECKSUMS: checksums.join(","),
                "kubernetes.io/description":
                    "Seals what kubectl kai install --adopt has written down; gives no rights.",
            },
        },
        "rules": [],
    });
    Item::new(Group::Rbac, role)
}

/// Reads the seal; `None` where nothing was taken over.
pub(in super::super) async fn read(cluster: &Cluster) -> Result<Option<Seal>, Error> {
    let item = item(&[]);
    let call = plan::call(&item, "get");
    let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
    Ok(live.map(|live| {
        let checksums = live["metadata"]["annotations"][CHECKSUMS].as_str();
        Seal { checksums: checksums.unwrap_or_default().to_owned() }
    }))
}

fn checksum(packed: &str) -> String {
    let mut text = String::new();
    for byte in digest(&SHA256, packed.as_bytes()).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_fits_what_was_sealed_and_nothing_else() {
        let checksums = [checksum("old"), checksum("new")].join(",");
        let seal = Seal { checksums };
        for (packed, fits) in [("old", true), ("new", true), ("", false), ("evil", false)] {
            assert_eq!(seal.fits(packed), fits, "{packed}");
        }
        assert_eq!(&checksum("")[..8], "e3b0c442");
    }
}
