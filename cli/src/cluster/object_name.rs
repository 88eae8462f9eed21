//! Names that Kubernetes or a kind's operator refuses.

use crate::cluster::kinds::Kind;
use crate::print::error::{Exit, Problem, number};

/// Checks a name against what the kind's operator makes of it.
pub(crate) fn check(name: &str, kind: Option<&Kind>) -> Result<(), Problem> {
    let max = kind.map_or(253, |kind| kind.name_max);
    let noun = kind.map_or("object", |kind| kind.name);
    let starts_with_letter =
        kind.is_some_and(|kind| matches!(kind.group, "kubeflow.org" | "ray.io"));
    let is_pod = noun == "Pod";
    let legal =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || (is_pod && c == '.');
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let starts = |c: char| c.is_ascii_lowercase() || (!starts_with_letter && c.is_ascii_digit());
    let fixed: String =
        name.to_lowercase().chars().map(|c| if legal(c) { c } else { '-' }).collect();
    let fixed = fixed
        .trim_matches('-')
        .get(..max.min(fixed.trim_matches('-').len()))
        .unwrap_or("x")
        .to_owned();
    let fixed = fixed.trim_end_matches('-');
    let fixed = if fixed.starts_with(starts) { fixed.to_owned() } else { format!("x{fixed}") };
    let problem = |why: String| {
        Err(Problem::new(number::NAME, Exit::Usage, why).fix(format!("the name {fixed}")))
    };
    if name.len() > max {
        return problem(format!(
            "the name \"{name}\" is too long for a {noun}: {} of at most {max} characters",
            name.len()
        ));
    }
    if !name.chars().all(legal) || !name.starts_with(starts) || !name.ends_with(ends) {
        let first = if starts_with_letter { ", beginning with a letter" } else { "" };
        return problem(format!(
            "the name \"{name}\" has to be of a-z, 0-9 and -{first}, and end with one of a-z, 0-9"
        ));
    }
    Ok(())
}
