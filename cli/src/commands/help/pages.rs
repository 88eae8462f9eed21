//! The reference in Markdown and the man pages, from the command tree.

use clap::{Arg, Command};

use super::topics;

/// The reference of all commands in Markdown.
pub fn reference(tree: &Command) -> String {
    let mut tree = tree.clone();
    tree.build();
    let mut page = String::from(
        "# Reference of `kubectl kai`\n\nWritten by `cargo xtask generate` from the command line itself. \
         `kubectl kai COMMAND --help` says the same.\n\n## Common flags\n\n",
    );
    page += &flags(tree.get_arguments().filter(|arg| arg.is_global_set()));
    page += "\n## Topics\n\n`kubectl kai help TOPIC` prints one.\n\n```text\n";
    page += &topics();
    page += "```\n";
    for command in tree.get_subcommands() {
        section(command, "kubectl kai", &mut page);
    }
    page
}

fn section(command: &Command, above: &str, page: &mut String) {
    if command.is_hide_set() || command.get_name() == "help" && above != "kubectl kai" {
        return;
    }
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    *page += &format!("\n## {name}\n\n{about}.\n\n```text\n{usage}\n```\n");
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_global_set() && !matches!(arg.get_id().as_str(), "help" | "version"))
        .collect();
    if !own.is_empty() {
        *page += "\n";
        *page += &flags(own.into_iter());
    }
    if let Some(more) = command.get_after_help() {
        *page += &format!("\n```text\n{}\n```\n", more.to_string().trim_end());
    }
    for inner in command.get_subcommands() {
        section(inner, &name, page);
    }
}

/// A line for each flag.
fn flags<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let line = |arg: &Arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        format!("* `{}`: {}\n", shown(arg), help.replace('<', "\\<"))
    };
    args.map(line).collect()
}

fn shown(arg: &Arg) -> String {
    let value = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let Some(long) = arg.get_long() else { return value };
    let short = arg.get_short().map_or_else(String::new, |short| format!("-{short}, "));
    let value = if arg.get_action().takes_values() { format!("={value}") } else { String::new() };
    format!("{short}--{long}{value}")
}

/// The man pages: file name and text, one for each command.
pub fn man(tree: &Command) -> Vec<(String, String)> {
    let mut tree = tree.clone().name("kubectl-kai").disable_help_subcommand(true);
    tree.build();
    let mut pages = Vec::new();
    man_page(&tree, "kubectl-kai", &mut pages);
    pages
}

fn man_page(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
    if command.is_hide_set() {
        return;
    }
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone().display_name(name)).title(name);
    // A vector takes all that is written.
    page.render(&mut text).unwrap_or_default();
    pages.push((format!("{name}.1"), String::from_utf8_lossy(&text).into_owned()));
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        man_page(inner, &format!("{name}-{}", inner.get_name()), pages);
    }
}
