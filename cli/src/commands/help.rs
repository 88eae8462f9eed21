//! `kubectl kai help`: the page of a command, of a topic, or the schema of what a command prints.

pub mod pages;
pub(crate) mod schema;

use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::Output;

/// Flags of `help`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A command, a topic, or schema list
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
}

/// A page on something that is no command.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const TOPICS: &[Topic] = &[
    Topic {
        name: "gpus",
        about: "How to ask for GPUs and parts of them",
        text: include_str!("help/gpus.txt"),
    },
    Topic {
        name: "output",
        about: "Forms of output, sorting, watching",
        text: include_str!("help/output.txt"),
    },
    Topic { name: "names", about: "How workloads are named", text: include_str!("help/names.txt") },
    Topic {
        name: "settings",
        about: "Where defaults come from",
        text: include_str!("help/settings.txt"),
    },
    Topic {
        name: "exit-codes",
        about: "How commands end",
        text: include_str!("help/exit-codes.txt"),
    },
];

/// Says what words ask for.
pub(crate) enum Asked {
    /// The page is printed.
    Printed,
    /// The page of a command is wanted, which the command line knows.
    Command,
}

/// Prints a topic or a schema.
///
/// # Errors
/// There is no such topic or kind.
pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Asked, Error> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["schema"] | ["schema", "list"] => out.raw(&schema::list())?,
        ["schema", kind] => out.json(&schema::find(kind)?)?,
        ["topics"] => out.raw(&topics())?,
        [word] if topic(word).is_some() => {
            out.raw(topic(word).map_or("", |topic| topic.text))?;
        }
        _ => return Ok(Asked::Command),
    }
    Ok(Asked::Printed)
}

fn topic(word: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == word)
}

/// The topics, a line each.
pub(crate) fn topics() -> String {
    let line = |topic: &Topic| format!("  {:<12} {}\n", topic.name, topic.about);
    let schema = "  schema list  Kinds of what commands print, with a JSON Schema each\n";
    TOPICS.iter().map(line).collect::<String>() + schema
}

/// Nothing is known by these words.
pub(crate) fn unknown(words: &[String]) -> Error {
    let what = format!("there is no help on \"{}\"", words.join(" "));
    let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    Problem::new(number::USAGE, Exit::Usage, what)
        .line(format!("topics: {}, schema", names.join(", ")))
        .fix("kubectl kai help")
        .into()
}
