//! A configuration file as it is written.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::trust;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::yaml;

/// A value as text, and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) line: u64,
}

/// A configuration file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) defaults: BTreeMap<String, Value>,
    pub(crate) contexts: BTreeMap<String, BTreeMap<String, Value>>,
    pub(crate) aliases: BTreeMap<String, String>,
    pub(crate) mounts: BTreeMap<String, Value>,
    pub(crate) templates: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Raw {
    #[serde(rename = "apiVersion")]
    api_version: Option<String>,
    kind: Option<String>,
    defaults: BTreeMap<String, Spanned<Scalar>>,
    contexts: BTreeMap<String, BTreeMap<String, Spanned<Scalar>>>,
    aliases: BTreeMap<String, String>,
    mounts: BTreeMap<String, Spanned<String>>,
    templates: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

/// The version of the file format.
pub(crate) const API_VERSION: &str = "cli.kai.scheduler/v1";

/// Holds what is found where a configuration file may be.
#[derive(Debug)]
pub(crate) enum Found {
    File(File),
    Nothing,
    /// A project's file that others may have written, and why it is not taken.
    Distrusted(String),
}

/// Reads a file, of a project or the user's own.
///
/// # Errors
/// It is there and cannot be read, or is wrong.
pub(crate) fn read(path: &Path, of_project: bool) -> Result<Found, Error> {
    let text = if of_project {
        trust::read_of_project(path)
    } else {
        std::fs::read_to_string(path).map(Ok)
    };
    match text {
        Ok(Ok(text)) => parse(&path.display().to_string(), &text).map(Found::File),
        Ok(Err(why)) => Ok(Found::Distrusted(why)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Found::Nothing)
        }
        Err(e) => {
            let what = format!("failed to read the configuration {}: {e}", path.display());
            Err(Problem::new(number::CONFIG, Exit::Failure, what)
                .fix("make it readable, or remove it")
                .into())
        }
    }
}

/// Reads the text of a file.
pub(crate) fn parse(name: &str, text: &str) -> Result<File, Error> {
    let wrong = |what: String, fix: &str| {
        Error::from(Problem::new(number::CONFIG, Exit::Usage, format!("{name}: {what}")).fix(fix))
    };
    if text.trim().is_empty() {
        return Ok(File::default());
    }
    let raw: Raw = yaml::one(name, text)?;
    if let Some(version) = raw.api_version.filter(|v| v != API_VERSION) {
        return Err(wrong(
            format!("apiVersion \"{version}\" is not known"),
            &format!("apiVersion: {API_VERSION}"),
        ));
    }
    if let Some(kind) = raw.kind.filter(|k| k != "Config") {
        return Err(wrong(format!("kind \"{kind}\" is not known"), "kind: Config"));
    }
    let settings = |values: BTreeMap<String, Spanned<Scalar>>| {
        let mut settings = BTreeMap::new();
        for (name, value) in values {
            if super::KEYS.iter().all(|key| key.name != name) {
                let known: Vec<&str> = super::KEYS.iter().map(|key| key.name).collect();
                return Err(wrong(
                    format!("there is no setting \"{name}\" (line {})", value.referenced.line()),
                    &format!("one of {}", known.join(", ")),
                ));
            }
            settings
                .insert(name, Value { text: value.value.text(), line: value.referenced.line() });
        }
        Ok(settings)
    };
    let defaults = settings(raw.defaults)?;
    let contexts = raw.contexts.into_iter().map(|(glob, values)| Ok((glob, settings(values)?)));
    let contexts = contexts.collect::<Result<_, Error>>()?;
    let mounts = raw
        .mounts
        .into_iter()
        .map(|(name, mount)| (name, Value { line: mount.referenced.line(), text: mount.value }));
    let mounts = mounts.collect();
    Ok(File { defaults, contexts, aliases: raw.aliases, mounts, templates: raw.templates })
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(value) => value,
        }
    }
}
