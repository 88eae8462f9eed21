//! Says which arguments take names that only the cluster, the kubeconfig or the settings know.

use std::ffi::{OsStr, OsString};

use clap::Command;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use super::live::What;
use crate::cluster::kinds;
use crate::settings::KEYS;

/// Commands whose positional arguments are workloads.
const OF_WORKLOADS: [&str; 11] = [
    "list",
    "delete",
    "wait",
    "suspend",
    "resume",
    "describe",
    "logs",
    "exec",
    "port-forward",
    "explain",
    "history",
];

/// The command tree with places for names that are not known yet. Commands that are not among the words keep their name
/// and what is said about it: the flags of the others are most of the tree, and each takes time at every key press.
pub(super) fn with_names(tree: Command, words: &[OsString]) -> Command {
    tree.mut_args(|arg| add("", arg)).mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let is_typed = std::iter::once(name.as_str())
            .chain(command.get_all_aliases())
            .any(|name| words.iter().any(|word| word == name));
        if is_typed { below(command, &name) } else { bare(&command, name) }
    })
}

/// A command without its flags and its subcommands.
fn bare(command: &Command, name: String) -> Command {
    let aliases: Vec<String> = command.get_visible_aliases().map(str::to_owned).collect();
    let bare = Command::new(name).hide(command.is_hide_set()).visible_aliases(aliases);
    match command.get_about() {
        Some(about) => bare.about(about.clone()),
        None => bare,
    }
}

fn below(command: Command, path: &str) -> Command {
    command.mut_args(|arg| add(path, arg)).mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        below(inner, &path)
    })
}

fn add(path: &str, arg: clap::Arg) -> clap::Arg {
    let is_positional = arg.get_long().is_none();
    let word = arg.get_long().unwrap_or(arg.get_id().as_str()).to_owned();
    if is_positional && path == "submit" && word == "names" {
        return arg.add(ArgValueCompleter::new(nouns));
    }
    if word == "kind" {
        return arg.add(ArgValueCompleter::new(nouns));
    }
    if is_positional && path.starts_with("config ") && word == "key" {
        return arg.add(ArgValueCompleter::new(keys));
    }
    match what(path, &word, is_positional) {
        Some(what) => arg.add(ArgValueCompleter::new(move |_: &OsStr| {
            vec![CompletionCandidate::new(what.mark())]
        })),
        None => arg,
    }
}

/// Returns whose names an argument takes.
fn what(path: &str, word: &str, is_positional: bool) -> Option<What> {
    let is_of_queues = path.starts_with("queues");
    Some(match (word, is_positional) {
        ("name" | "names", true) if is_of_queues && path != "queues create" => What::AllQueues,
        ("name" | "names", true) if OF_WORKLOADS.contains(&path) => What::Workloads,
        ("from" | "after", false) if path == "submit" => What::Workloads,
        ("queue", false) if path == "submit" => What::Queues,
        ("queue" | "parent", false) => What::AllQueues,
        ("namespace", false) => What::Namespaces,
        ("context", false) => What::Contexts,
        ("cluster", false) => What::Clusters,
        ("user", false) => What::Users,
        ("node", false) => What::Nodes,
        ("gpu-type", false) => What::GpuModels,
        ("priority", false) if path == "submit" => What::PriorityClasses,
        ("topology", false) => What::TopologyLevels,
        ("rank", false) => What::Ranks,
        ("template", false) => What::Templates,
        _ => return None,
    })
}

fn nouns(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let nouns = kinds::nouns().filter(|noun| noun.starts_with(&*current));
    nouns.map(CompletionCandidate::new).collect()
}

fn keys(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let keys = KEYS.iter().filter(|key| key.name.starts_with(&*current));
    keys.map(|key| CompletionCandidate::new(key.name).help(Some(key.about.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_command_that_is_typed_keeps_its_flags() {
        let submit = Command::new("submit").alias("run").about("Submit").arg(clap::Arg::new("x"));
        let tree = Command::new("kai").subcommand(submit);
        let args = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let tree = with_names(tree.clone(), &words);
            let submit = tree.find_subcommand("submit").expect("it is there");
            let about = submit.get_about().map(ToString::to_string);
            assert_eq!(about.as_deref(), Some("Submit"), "{words:?}");
            submit.get_arguments().count()
        };
        assert_eq!([args(&["s"]), args(&["submit", ""]), args(&["run", ""])], [0, 1, 1]);
    }

    #[test]
    fn what_takes_names_offers_them() {
        for (path, word, is_positional, expect) in [
            ("submit", "queue", false, Some(What::Queues)),
            ("list", "queue", false, Some(What::AllQueues)),
            ("queues create", "parent", false, Some(What::AllQueues)),
            ("queues create", "name", true, None),
            ("queues set", "name", true, Some(What::AllQueues)),
            ("queues hold", "names", true, Some(What::AllQueues)),
            ("queues move", "parent", false, Some(What::AllQueues)),
            ("queues create", "priority", false, None),
            ("submit", "priority", false, Some(What::PriorityClasses)),
            ("logs", "name", true, Some(What::Workloads)),
            ("logs", "rank", false, Some(What::Ranks)),
            ("", "namespace", false, Some(What::Namespaces)),
        ] {
            assert_eq!(what(path, word, is_positional), expect, "{path} {word}");
        }
    }
}
