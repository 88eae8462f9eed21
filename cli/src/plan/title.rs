//! Describes what a `PodGroup` is called: by the workload that it is of.

/// The letters of a UID.
const UID: usize = 36;

/// The name of the workload of a `PodGroup`: the podgrouper calls it `pg-NAME-UID`, with more behind it where a workload
/// has several.
pub(super) fn of_group(group: &str) -> String {
    let Some(rest) = group.strip_prefix("pg-") else { return group.to_owned() };
    match uid(rest) {
        Some((name, _, more)) => format!("{name}{more}"),
        None => group.to_owned(),
    }
}

/// Tells whether a `PodGroup` is that of one pod alone, which nothing makes again.
pub(super) fn is_of_pod(group: &str, pod_uid: &str) -> bool {
    uid(group).is_some_and(|(_, uid, _)| uid == pod_uid)
}

/// Says what stands before a UID, the UID, and what stands behind it.
fn uid(text: &str) -> Option<(&str, &str, &str)> {
    let starts = text.match_indices('-').map(|(at, _)| at);
    for at in starts {
        let Some(uid) = text.get(at + 1..at + 1 + UID) else { break };
        let is_uid = uid.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
        if is_uid {
            return Some((&text[..at], uid, &text[at + 1 + UID..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_called_by_its_workload() {
        let uid = "0a1b2c3d-0000-4000-8000-00000000000f";
        for (group, expect) in [
            (format!("pg-llama-ft-{uid}"), "llama-ft"),
            (format!("pg-web-{uid}-group-0"), "web-group-0"),
            ("mine".to_owned(), "mine"),
            ("pg-mine".to_owned(), "pg-mine"),
        ] {
            assert_eq!(of_group(&group), expect);
        }
        assert!(is_of_pod(&format!("pg-p-{uid}"), uid) && !is_of_pod("pg-p", uid));
    }
}
