//! Names of the config maps and the volume of a pod that shares GPUs.

use kai_api::shared_gpu::{Target, capabilities_map};
use serde_json::Value;

/// End of the prefix that admission gives.
const SUFFIX: &str = "-shared-gpu";
/// Random letters in it.
const TOKEN_LEN: usize = 7;
/// Longest name of a volume.
const VOLUME_NAME_MAX: usize = 63;
/// Room of the owner's name in the prefix where the container's place has one digit.
const BASE_MAX: usize = 33;
/// Name for a pod that has none yet, nor the beginning of one.
const NAMELESS: &str = "pod";

/// The prefix of the names of a pod's config maps; `token` is seven random lower-case letters or digits.
///
/// # Source
/// docs/contract.md 3.3, step 2. A pod without a name takes the beginning that the API server will give it.
pub(super) fn prefix(pod: &Value, target: Target, token: &str) -> String {
    let metadata = &pod["metadata"];
    let names =
        [&metadata["ownerReferences"][0]["name"], &metadata["name"], &metadata["generateName"]];
    let room = BASE_MAX + 1 - target.index.to_string().len();
    let base = names.into_iter().filter_map(Value::as_str).map(|name| base(name, room));
    let base = base.into_iter().find(|base| !base.is_empty());
    format!("{}-{token}{SUFFIX}", base.as_deref().unwrap_or(NAMELESS))
}

/// As much of a name as fits and can begin the name of a config map.
fn base(name: &str, room: usize) -> String {
    let is_letter = |letter: &char| letter.is_ascii_alphanumeric() || ".-".contains(*letter);
    let letter = |letter: char| if is_letter(&letter) { letter.to_ascii_lowercase() } else { '-' };
    let cut: String = name.chars().map(letter).take(room).collect();
    let base = cut.trim_matches(['.', '-']);
    if is_subdomain(base) { base.to_owned() } else { base.replace('.', "-") }
}

/// Tells whether a prefix has the form that admission gives, and names that fit follow from it.
pub(super) fn is_prefix(prefix: &str, target: Target) -> bool {
    let Some(rest) = prefix.strip_suffix(SUFFIX) else { return false };
    let Some((base, token)) = rest.rsplit_once('-') else { return false };
    let is_token = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    token.len() == TOKEN_LEN
        && token.bytes().all(is_token)
        && is_subdomain(base)
        && volume(&capabilities_map(prefix, target)).len() <= VOLUME_NAME_MAX
}

fn is_subdomain(text: &str) -> bool {
    let is_inner =
        |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.split('.').all(is_label)
}

/// The volume of a config map: the names of volumes have no dots.
///
/// # Source
/// docs/contract.md 3.3, step 5.
pub(super) fn volume(config_map: &str) -> String {
    let letter = |letter: char| {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_alphanumeric() { letter } else { '-' }
    };
    let name: String = format!("{config_map}-vol").chars().map(letter).collect();
    name.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOKEN: &str = "abc1234";

    fn check(metadata: &Value, target: Target, expect: &str) {
        let prefix = prefix(&json!({"metadata": metadata}), target, TOKEN);
        assert_eq!(prefix, format!("{expect}-{TOKEN}-shared-gpu"), "{metadata}");
        assert!(is_prefix(&prefix, target), "{prefix}");
    }

    #[test]
    fn a_prefix_comes_from_owner_name_or_the_beginning_of_a_name() {
        let first = Target { is_init: false, index: 0 };
        let owner = json!([{"name": "job"}, {"name": "second"}]);
        check(&json!({"name": "pod-1", "ownerReferences": owner}), first, "job");
        check(&json!({"name": "pod-1", "ownerReferences": []}), first, "pod-1");
        check(&json!({"generateName": "web-"}), first, "web");
        check(&json!({"generateName": "-"}), first, "pod");
        check(&json!({}), first, "pod");
        check(&json!({"name": "a.b.c"}), first, "a.b.c");
        check(&json!({"name": "System:Node_x"}), first, "system-node-x");
        check(&json!({"name": "a._b"}), first, "a--b");
        check(&json!({"name": "ä".repeat(80) + "z"}), first, "pod");
        let long = "a".repeat(32) + ".b" + &"c".repeat(26);
        check(&json!({"name": long}), first, &"a".repeat(32));
        let sixty = "a".repeat(60);
        check(&json!({"name": sixty}), first, &"a".repeat(33));
        check(&json!({"name": sixty}), Target { is_init: true, index: 10 }, &"a".repeat(32));
        check(&json!({"name": sixty}), Target { is_init: false, index: 100 }, &"a".repeat(31));
    }

    #[test]
    fn only_names_of_that_form_are_taken_from_users() {
        let first = Target { is_init: false, index: 0 };
        assert!(is_prefix("a.b-abc1234-shared-gpu", first));
        for name in [
            "kube-root-ca.crt",
            "-abc1234-shared-gpu",
            "a-abc123-shared-gpu",
            "a-ABC1234-shared-gpu",
            "abc1234-shared-gpu",
            "a/b-abc1234-shared-gpu",
            "a..b-abc1234-shared-gpu",
            "",
        ] {
            assert!(!is_prefix(name, first), "{name}");
        }
        let long = format!("{}-abc1234-shared-gpu", "a".repeat(60));
        assert!(!is_prefix(&long, first));
    }

    #[test]
    fn a_volume_has_no_dots() {
        assert_eq!(volume("a.b-abc1234-shared-gpu-0"), "a-b-abc1234-shared-gpu-0-vol");
    }
}
