//! Variables, and the secrets and config maps that they are read from. Pure.

use std::collections::BTreeMap;

use super::legal::{check_name, is_path};
use crate::print::error::{Exit, Problem, number};

/// An object that holds keys and values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Secret(String),
    ConfigMap(String),
}

impl Source {
    /// Reads `secret/NAME` or `configmap/NAME`.
    ///
    /// # Errors
    /// It is neither.
    pub(super) fn read(text: &str) -> Result<Self, Problem> {
        let (kind, name) = text.split_once('/').unwrap_or(("", text));
        let source: fn(String) -> Self = match kind {
            "secret" | "secrets" => Self::Secret,
            "configmap" | "configmaps" | "cm" => Self::ConfigMap,
            _ => {
                let what = format!("--env-from \"{text}\" does not say what {name} is");
                return Err(Problem::new(number::VALUE, Exit::Usage, what)
                    .fix(format!("--env-from secret/{name}   or   --env-from configmap/{name}")));
            }
        };
        check_name("--env-from", name).map(|()| source(name.to_owned()))
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Secret(name) | Self::ConfigMap(name) => name,
        }
    }

    /// The field of `envFrom` that refers to it.
    pub(super) fn reference(&self) -> &'static str {
        match self {
            Self::Secret(_) => "secretRef",
            Self::ConfigMap(_) => "configMapRef",
        }
    }

    /// The flag that names it.
    fn flag(&self) -> &'static str {
        match self {
            Self::Secret(_) => "--secret",
            Self::ConfigMap(_) => "--configmap",
        }
    }
}

/// Reads `NAME[:/PATH]`.
///
/// # Errors
/// The name is none, or the path is not absolute.
pub(super) fn files(
    text: &str,
    source: fn(String) -> Source,
) -> Result<(Source, Option<String>), Problem> {
    let (name, path) = text.split_once(':').map_or((text, None), |(name, path)| (name, Some(path)));
    let source = source(name.to_owned());
    check_name(source.flag(), name)?;
    match path {
        Some(path) if !is_path(path) => {
            let what = format!("{} \"{text}\": {path} is not an absolute path", source.flag());
            Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix(format!("{} {name}:/etc/{name}", source.flag())))
        }
        path => Ok((source, path.map(str::to_owned))),
    }
}

/// Reads a variable: `NAME=VALUE`, or `NAME` for the caller's own.
///
/// # Errors
/// It has no name, or the caller has none of that name.
pub(super) fn variable(
    text: &str,
    variables: &BTreeMap<String, String>,
) -> Result<(String, String), Problem> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let printable = |c: char| c.is_ascii_graphic();
    if name.is_empty() || !name.chars().all(printable) {
        let what = format!("--env \"{text}\" has no name that a variable can have");
        return Err(Problem::new(number::VALUE, Exit::Usage, what).fix("--env NAME=VALUE"));
    }
    let Some(value) = value.or_else(|| variables.get(name).map(String::as_str)) else {
        let what = format!("--env {name} forwards your variable {name}, and it is not set");
        return Err(Problem::new(number::VALUE, Exit::Usage, what)
            .fix(format!("export {name}=VALUE   or   --env {name}=VALUE")));
    };
    Ok((name.to_owned(), value.to_owned()))
}

/// Parts of names whose values nobody else should read.
const SECRET_WORDS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "ACCESS_KEY"];

/// A note that a variable looks like a secret and will be read by whoever may read the workload.
pub(super) fn is_readable(text: &str, name: &str) -> Option<String> {
    let upper = name.to_uppercase();
    let is_secret = SECRET_WORDS.iter().any(|word| upper.contains(word));
    let is_empty = text.split_once('=').is_some_and(|(_, value)| value.is_empty());
    (is_secret && !is_empty).then(|| {
        format!(
            "the value of {name} stands readable in the workload; a secret keeps it to itself: --env-from secret/NAME"
        )
    })
}

/// Further parts of such names, for variables that nobody typed.
const PRIVATE_WORDS: [&str; 5] = ["PASS", "CRED", "COOKIE", "BEARER", "SESSION"];
/// Words with which a word of such a name ends.
const PRIVATE_ENDS: [&str; 4] = ["KEY", "KEYS", "AUTH", "DSN"];

/// Tells whether a variable looks like its owner's alone, so that no script takes it out of his environment: by its name,
/// or as a URL with a password.
pub(super) fn is_private(name: &str, value: &str) -> bool {
    let upper = name.to_uppercase();
    let has_word = SECRET_WORDS.iter().chain(&PRIVATE_WORDS).any(|word| upper.contains(word));
    let is_end = |part: &str| part == "PAT" || PRIVATE_ENDS.iter().any(|end| part.ends_with(end));
    let host = value.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    has_word || upper.split(['_', '-']).any(is_end) || host.is_some_and(|host| host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_its_owners_alone() {
        for (name, value, expect) in [
            ("WANDB_KEY", "x", true),
            ("APIKEY", "x", true),
            ("GITHUB_PAT", "x", true),
            ("gh_token", "x", true),
            ("PGPASSFILE_TEXT", "x", true),
            ("AWS_CREDENTIALS", "x", true),
            ("REGISTRY_AUTH", "x", true),
            ("SENTRY_DSN", "x", true),
            ("DATABASE_URL", "postgres://me:x@db/data", true),
            ("DATABASE_URL", "postgres://db/data?mail=a@b", false),
            ("LANG", "C", false),
            ("PATH", "/bin", false),
            ("PYTHONPATH", "/me@here", false),
            ("KEYBOARD", "de", false),
            ("AUTHOR", "ana", false),
        ] {
            assert_eq!(is_private(name, value), expect, "{name}={value}");
        }
    }
}
