//! Compares versions, and definitions: what an older program or another definition would take away.

use std::collections::BTreeSet;

use kai_api::names::label;
use serde_json::Value;

use crate::print::output::clean;

/// The version of this program.
pub(super) const MINE: &str = env!("CARGO_PKG_VERSION");

/// Reads the version of an object, if it is newer than this program.
pub(super) fn newer_than_mine(live: &Value) -> Option<String> {
    let version = live["metadata"]["labels"][label::VERSION].as_str()?;
    (release(version)? > release(MINE)?).then(|| version.to_owned())
}

/// Reads `1.2.3`, with or without a `v` before and something after it.
pub(super) fn release(version: &str) -> Option<[u64; 3]> {
    let text = version.strip_prefix('v').unwrap_or(version);
    let text = text.split(['-', '+']).next().unwrap_or_default();
    let mut numbers = text.split('.').map(|part| part.parse().ok());
    let mut next = || numbers.next().unwrap_or(Some(0));
    Some([next()?, next()?, next()?])
}

/// Lists what a definition has and another lacks: versions, and fields of `spec` and `status`.
pub(super) fn lost(live: &Value, wanted: &Value) -> Vec<String> {
    let versions = |of: &Value| of["spec"]["versions"].as_array().cloned().unwrap_or_default();
    let wanted = versions(wanted);
    let mut lost = Vec::new();
    for version in versions(live) {
        let name = clean(version["name"].as_str().unwrap_or_default()).into_owned();
        let Some(other) = wanted.iter().find(|other| other["name"] == version["name"]) else {
            lost.push(format!("version {name}"));
            continue;
        };
        for part in ["spec", "status"] {
            let path = format!("/schema/openAPIV3Schema/properties/{part}/properties");
            let fields = |of: &Value| -> BTreeSet<String> {
                let map = of.pointer(&path).and_then(Value::as_object);
                map.into_iter().flatten().map(|(key, _)| key.clone()).collect()
            };
            let (there, ours) = (fields(&version), fields(other));
            lost.extend(there.difference(&ours).map(|key| format!("{part}.{}", clean(key))));
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (text, expect) in [
            ("0.1.0", Some([0, 1, 0])),
            ("v0.10", Some([0, 10, 0])),
            ("1.2.3-rc.1", Some([1, 2, 3])),
            ("latest", None),
        ] {
            assert_eq!(release(text), expect, "{text}");
        }
        let of = |version: &str| json!({"metadata": {"labels": {label::VERSION: version}}});
        assert_eq!(newer_than_mine(&of("0.0.9")), None);
        assert_eq!(newer_than_mine(&of(MINE)), None);
        assert_eq!(newer_than_mine(&of("99.0.0")), Some("99.0.0".to_owned()));
    }
}
