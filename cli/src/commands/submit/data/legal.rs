//! Names that objects can have, and paths at which something can be mounted. Pure.

use crate::print::error::{Exit, Problem, number};

/// Checks the name of a secret, a config map or a claim.
///
/// # Errors
/// No object can be called that.
pub(super) fn check_name(flag: &str, name: &str) -> Result<(), Problem> {
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let legal = |c: char| ends(c) || c == '-' || c == '.';
    if (1..=253).contains(&name.len())
        && name.chars().all(legal)
        && name.starts_with(ends)
        && name.ends_with(ends)
    {
        return Ok(());
    }
    let what = format!("{flag}: \"{name}\" cannot be the name of an object");
    Err(Problem::new(number::VALUE, Exit::Usage, what)
        .fix("a name is of a-z, 0-9, - and ., and begins and ends with one of a-z, 0-9"))
}

/// Tells whether something can be mounted at a path.
pub(super) fn is_path(path: &str) -> bool {
    path.len() > 1
        && path.starts_with('/')
        && !path.contains(':')
        && path.split('/').all(|part| part != "..")
        && path.chars().any(|c| c != '/')
}
