//! Pod templates of a workload that run under our scheduler.

use serde_json::Value;

/// So many parts that another scheduler places are named to the user.
const NAMED_MAX: usize = 10;

/// A part of a gang with the template of its pods.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    /// Name of the part as the user wrote it.
    pub(super) name: &'a str,
    /// Its pod template; null when it is not visible.
    pub(super) template: &'a Value,
}

fn scheduler<'a>(part: &Part<'a>) -> Option<&'a str> {
    part.template["spec"]["schedulerName"].as_str().filter(|name| !name.is_empty())
}

/// Names of the parts that another scheduler places.
///
/// A template that names no scheduler goes to the cluster's default one, if the other templates
/// name theirs; where none does, something outside the object decides and all parts count as ours.
pub(super) fn foreign<'a>(parts: &[Part<'a>], ours: &str) -> Vec<&'a str> {
    let is_named = parts.iter().any(|part| scheduler(part) == Some(ours));
    let is_foreign = |part: &&Part<'a>| match scheduler(part) {
        Some(name) => name != ours,
        None => is_named,
    };
    parts.iter().filter(is_foreign).map(|part| part.name).collect()
}

/// The sentence for the user about parts that another scheduler places.
pub(super) fn foreign_text(names: &[&str], ours: &str) -> Option<String> {
    let more = match names.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more parts"),
    };
    let named = &names[..names.len().min(NAMED_MAX)];
    (!names.is_empty()).then(|| {
        format!(
            "pods of {}{more} are not scheduled by {ours} and do not count in the gang; set schedulerName: {ours} in their templates",
            named.join(", ")
        )
    })
}
