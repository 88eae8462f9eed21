//! Describes what a user meant who typed a command that does not exist.

use std::ffi::OsString;

use clap::CommandFactory as _;

/// Words of other tools, and what comes near to them here; none of them leads to the loss of work.
const FOREIGN: &[(&str, &str)] = &[
    ("apply", "submit -f"),
    ("clone", "submit"),
    ("gpus", "top gpus"),
    ("info", "describe"),
    ("nodes", "top nodes"),
    ("pause", "suspend"),
    ("retry", "submit --from"),
    ("sbatch", "submit --sbatch"),
    ("show", "describe"),
    ("sinfo", "top nodes"),
    ("srun", "submit"),
    ("status", "list"),
    ("stop", "suspend, which keeps the workload, or delete"),
    ("template", "config templates"),
    ("templates", "config templates"),
    ("uninstall", "install remove"),
    ("upgrade", "install"),
];

/// Words that people type for what is done another way: (command above, typed, why, the way instead).
const ABSENT: &[(&str, &str, &str, &str)] = &[
    ("", "cp", COPIES, COPY),
    ("", "copy", COPIES, COPY),
    ("", "scp", COPIES, COPY),
    (" install", "rollback", EARLIER, BACK),
    (" install", "undo", EARLIER, BACK),
];
const COPIES: &str = "kubectl itself copies files from and to containers";
const COPY: &str = "kubectl cp POD:PATH PATH   (the pods of a workload: kubectl kai describe NAME)";
const EARLIER: &str =
    "each version of this program installs its own: an earlier one is the way back";
const BACK: &str =
    "take the earlier version of this program, and there: kubectl kai install --force-conflicts";

/// Says why a command is absent, and the way instead.
pub(super) fn absent(typed: &str, path: &str) -> Option<(&'static str, &'static str)> {
    let found = ABSENT.iter().find(|(above, word, ..)| *above == path && *word == typed);
    found.map(|(_, _, why, way)| (*why, *way))
}

/// The commands of a command line, program name first, with a blank before each: ` queues create`.
pub(super) fn path(argv: &[OsString]) -> String {
    let root = super::Cli::command();
    let mut tree = &root;
    let mut path = String::new();
    for word in argv.iter().skip(1).filter_map(|word| word.to_str()) {
        match tree.find_subcommand(word) {
            Some(found) => {
                tree = found;
                path = format!("{path} {}", found.get_name());
            }
            // What follows the command that was found is its own; before it stand flags with their values.
            None if !path.is_empty() && !word.starts_with('-') => break,
            None => {}
        }
    }
    path
}

/// The command that comes near, among those that the help of `path` shows: aliases that are not shown there are for
/// those who know them.
pub(super) fn command(typed: &str, path: &str) -> Option<String> {
    let root = super::Cli::command();
    let mut tree = &root;
    for word in path.split_whitespace() {
        tree = tree.find_subcommand(word)?;
    }
    let foreign = FOREIGN.iter().find(|(word, _)| *word == typed && path.is_empty());
    if let Some((_, ours)) = foreign {
        return Some((*ours).to_owned());
    }
    let shown = tree.get_subcommands().filter(|command| !command.is_hide_set());
    let near = shown
        .map(|command| (strsim::damerau_levenshtein(command.get_name(), typed), command.get_name()))
        .min()?;
    (near.0 <= typed.len().max(3) / 3).then(|| near.1.to_owned())
}

/// The flag that comes near, among those of a command and those that every command takes.
pub(super) fn flag(typed: &str, path: &str) -> Option<String> {
    let root = super::Cli::command();
    let mut tree = &root;
    for word in path.split_whitespace() {
        tree = tree.find_subcommand(word)?;
    }
    let everywhere = root.get_arguments().filter(|argument| argument.is_global_set());
    let flags = tree.get_arguments().chain(everywhere).filter_map(clap::Arg::get_long);
    let near = flags
        .map(|long| format!("--{long}"))
        .map(|flag| (strsim::damerau_levenshtein(&flag, typed), flag))
        .min()?;
    (near.0 <= typed.len().saturating_sub(2).max(3) / 3).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_leads_to_what_the_help_shows() {
        for (path, typed, expect) in [
            ("", "sumbit", Some("submit")),
            ("", "delte", Some("delete")),
            ("", "to", Some("top")),
            ("", "topp", Some("top")),
            ("", "scancl", None),
            ("", "canel", None),
            ("", "stop", Some("suspend, which keeps the workload, or delete")),
            ("", "xyz", None),
            (" queues", "creat", Some("create")),
            (" queues", "stop", None),
        ] {
            assert_eq!(command(typed, path).as_deref(), expect, "kubectl kai{path} {typed}");
        }
    }

    #[test]
    fn a_flag_is_suggested_when_it_is_near() {
        for (path, typed, expect) in [
            (" submit", "--gpuu", Some("--gpu")),
            (" submit", "--affinity", None),
            (" list", "--namspace", Some("--namespace")),
            // A flag of the command above it is none of its own.
            (" install status", "--dry-run", None),
        ] {
            assert_eq!(flag(typed, path).as_deref(), expect, "kubectl kai{path} {typed}");
        }
    }

    #[test]
    fn no_foreign_word_is_a_command_of_ours() {
        for (word, _) in FOREIGN {
            assert_eq!(
                super::super::Cli::command().find_subcommand(word).map(clap::Command::get_name),
                None
            );
        }
    }
}
