//! `kubectl kai config`.

mod templates;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use clap::{Subcommand, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::commands::submit::values;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::ReportFlags;
use crate::print::format::{self, Format};
use crate::print::yaml;
use crate::settings::{KEYS, Origin, edit, project_file, user_file, variable};

/// Flags of `config`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every setting that has a value
    View {
        /// Say where each value was set, and what it hides
        #[arg(long)]
        show_origin: bool,
        #[command(flatten)]
        report: ReportFlags,
    },
    /// One value
    Get {
        /// Name of the setting, such as queue
        key: String,
    },
    /// Write a value into a file
    Set {
        /// Name of the setting, such as queue
        key: String,
        /// Its value
        value: String,
        /// Which file
        #[arg(long, value_enum, default_value = "user")]
        scope: Scope,
    },
    /// Remove a value from a file
    Unset {
        /// Name of the setting, such as queue
        key: String,
        /// Which file
        #[arg(long, value_enum, default_value = "user")]
        scope: Scope,
    },
    /// The files that are read, the first wins
    Path,
    /// Templates of submit: list, show, save, delete
    #[command(subcommand, alias = "template")]
    Templates(templates::Action),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scope {
    User,
    Project,
}

/// Runs `config`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    match &args.action {
        Action::View { show_origin, report } => view(*show_origin, report, context)?,
        Action::Get { key } => {
            known(key)?;
            let Some(setting) = context.settings.get(key) else {
                let what = format!("{key} is not set");
                return Err(Problem::new(number::CONFIG, Exit::NotFound, what)
                    .fix(format!("kubectl kai config set {key} VALUE"))
                    .into());
            };
            let value = setting.value.clone();
            context.out.data(&value)?;
        }
        Action::Set { key, value, scope } => change(key, Some(value), *scope, context)?,
        Action::Unset { key, scope } => change(key, None, *scope, context)?,
        Action::Path => {
            let is_read = context.settings.distrust.is_none();
            let project = project_file(&context.dir).filter(|_| is_read);
            for path in [project, user_file(&context.env)].into_iter().flatten() {
                context.out.data(&path.display().to_string())?;
            }
        }
        Action::Templates(action) => templates::run(action, context).await?,
    }
    Ok(Exit::Ok)
}

/// The settings as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct View {
    /// Every setting that has a value, by name.
    settings: BTreeMap<String, Held>,
}

/// The value that holds.
#[derive(Debug, Serialize, JsonSchema)]
struct Held {
    /// The value.
    value: String,
    /// The variable, or the file with its line, that sets it.
    origin: String,
}

fn view(show_origin: bool, report: &ReportFlags, context: &mut Context) -> Result<(), Error> {
    let format = Format::asked(context.globals.output.as_deref(), report.jq.as_deref())?;
    let set = KEYS.iter().filter_map(|key| {
        let first = context.settings.get(key.name)?;
        let held = Held { value: first.value.clone(), origin: first.origin.to_string() };
        Some((key.name.to_owned(), held))
    });
    let data = format::headed("Settings", json!(View { settings: set.collect() }));
    if format::report(&data, &format, &mut context.out)? {
        return Ok(());
    }
    let mut lines = Vec::new();
    for key in KEYS {
        let Some((first, hidden)) = context.settings.all(key.name).split_first() else { continue };
        let value = format!("{}: {}", key.name, yaml::scalar(&first.value));
        if !show_origin {
            lines.push(value);
            continue;
        }
        let hides = match hidden.first() {
            Some(other) => format!(" (hides {} in {})", yaml::scalar(&other.value), other.origin),
            None => String::new(),
        };
        lines.push(format!("{value:<28} # {}{hides}", first.origin));
    }
    if lines.is_empty() {
        let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        context.out.talk(&format!("nothing is set; settings: {}", names.join(", ")));
    }
    lines.iter().try_for_each(|line| context.out.data(line))
}

fn known(key: &str) -> Result<(), Error> {
    if KEYS.iter().any(|known| known.name == key) {
        return Ok(());
    }
    let near =
        KEYS.iter().map(|k| (strsim::damerau_levenshtein(k.name, key), k)).min_by_key(|(d, _)| *d);
    let mut problem =
        Problem::new(number::CONFIG, Exit::Usage, format!("there is no setting \"{key}\""));
    if let Some((distance, near)) = near
        && distance <= 2
    {
        problem = problem.line(format!("did you mean {}? ({})", near.name, near.about));
    }
    let names: Vec<&str> = KEYS.iter().map(|k| k.name).collect();
    Err(problem.fix(format!("one of {}", names.join(", "))).into())
}

fn change(
    key: &str,
    value: Option<&str>,
    scope: Scope,
    context: &mut Context,
) -> Result<(), Error> {
    known(key)?;
    if let Some(value) = value {
        values::setting(key, value)?;
    }
    if let (Scope::Project, Some(why)) = (scope, &context.settings.distrust) {
        // Written anew it would be the user's, with all that somebody else wrote.
        return Err(Problem::new(number::CONFIG, Exit::Refused, why.clone()).into());
    }
    let path = match scope {
        Scope::Project => {
            Some(project_file(&context.dir).unwrap_or_else(|| context.dir.join(".kai.yaml")))
        }
        Scope::User => user_file(&context.env),
    };
    let Some(path) = path else {
        return Err(Problem::new(
            number::CONFIG,
            Exit::Failure,
            "neither XDG_CONFIG_HOME nor HOME is set",
        )
        .fix("set XDG_CONFIG_HOME, or use --scope project")
        .into());
    };
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(unwritable(&path, &e)),
    };
    if value.is_none() && !edit::has(&path.display().to_string(), &before, key)? {
        context.out.talk(&format!("{key} is not set in {}", path.display()));
        return Ok(());
    }
    let after = edit::set(&path.display().to_string(), &before, key, value)?;
    edit::write(&path, &after, edit::SHARED).map_err(|e| unwritable(&path, &e))?;
    let done = match value {
        Some(value) => format!("{key}: {} written to {}", yaml::scalar(value), path.display()),
        None => format!("{key} removed from {}", path.display()),
    };
    context.out.talk(&done);
    if let Some(hiding) = context.settings.get(key)
        && matches!(hiding.origin, Origin::Env(_))
    {
        context.out.warn(&format!("{} hides it while that is set", variable(key)));
    }
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    let what = format!("failed to write {}: {error}", path.display());
    Problem::new(number::FILE, Exit::Failure, what)
        .line("nothing was changed")
        .fix("free space or make the folder writable, or name another: XDG_CONFIG_HOME=DIR")
        .into()
}
