//! Shell completion: static scripts for six shells, and the answers behind `kubectl kai <TAB>`.
//!
//! kubectl runs an executable named `kubectl_complete-kai` with the words typed so far and reads one candidate a line,
//! then a directive. `completion install` makes that executable, a link to this program.

mod live;
mod places;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use clap_complete::{Generator, Shell};
use clap_complete_nushell::Nushell;

use crate::context::Context;
use crate::globals::Globals;
use crate::print::error::{Error, Exit, Problem, number};

/// The name under which kubectl asks a plugin for completions.
const SHIM: &str = "kubectl_complete-kai";

/// Flags of `completion`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the script for bash
    Bash,
    /// Print the script for zsh
    Zsh,
    /// Print the script for fish
    Fish,
    #[command(about = "Print the script for PowerShell")]
    Powershell,
    /// Print the script for elvish
    Elvish,
    /// Print the script for nushell
    Nushell,
    /// Make the TAB key work behind kubectl kai: link kubectl_complete-kai to this program
    Install {
        /// Folder for the link; it has to be in PATH
        #[arg(long, value_name = "DIR")]
        shim_dir: Option<PathBuf>,
    },
    /// Remove the link
    Uninstall {
        /// Folder of the link
        #[arg(long, value_name = "DIR")]
        shim_dir: Option<PathBuf>,
    },
}

/// Runs `completion`.
pub(crate) fn run(args: &Args, tree: clap::Command, context: &mut Context) -> Result<Exit, Error> {
    let text = match &args.action {
        Action::Bash => generate(Shell::Bash, tree),
        Action::Zsh => generate(Shell::Zsh, tree),
        Action::Fish => generate(Shell::Fish, tree),
        Action::Powershell => generate(Shell::PowerShell, tree),
        Action::Elvish => generate(Shell::Elvish, tree),
        Action::Nushell => generate(Nushell, tree),
        Action::Install { shim_dir } => return install(shim_dir.as_deref(), context),
        Action::Uninstall { shim_dir } => return uninstall(shim_dir.as_deref(), context),
    };
    context.out.raw(&text).map(|()| Exit::Ok)
}

/// The command tree with a word on each value that is no file: shells offer file names for what they know nothing of.
fn without_files(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| match arg.get_value_hint() {
            ValueHint::Unknown if arg.get_action().takes_values() => {
                arg.value_hint(ValueHint::Other)
            }
            _ => arg,
        })
        .mut_subcommands(without_files)
}

/// The script of a shell for a command tree, under the program's own name `kubectl-kai`.
pub fn generate(shell: impl Generator, tree: clap::Command) -> String {
    let mut text = Vec::new();
    let mut command = without_files(tree).bin_name("kubectl-kai");
    clap_complete::generate(shell, &mut command, "kubectl-kai", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The files of `completions/` for a command tree: name and text.
pub fn files(tree: &clap::Command) -> Vec<(String, String)> {
    let file = |name: &str, shell: Shell| (name.to_owned(), generate(shell, tree.clone()));
    vec![
        file("kubectl-kai.bash", Shell::Bash),
        file("_kubectl-kai", Shell::Zsh),
        file("kubectl-kai.fish", Shell::Fish),
        file("kubectl-kai.ps1", Shell::PowerShell),
        file("kubectl-kai.elv", Shell::Elvish),
        ("kubectl-kai.nu".to_owned(), generate(Nushell, tree.clone())),
        (
            SHIM.to_owned(),
            "#!/bin/sh\n# kubectl runs this for `kubectl kai <TAB>`; put it beside kubectl-kai in PATH.\n\
             exec kubectl-kai __complete \"$@\"\n"
                .to_owned(),
        ),
    ]
}

/// Tells whether kubectl asks for candidates: by the program's name, or by the first word.
pub fn is_asked(argv: &[OsString]) -> bool {
    let name = argv.first().map(Path::new).and_then(Path::file_stem);
    name.is_some_and(|name| name == SHIM) || argv.get(1).is_some_and(|word| word == "__complete")
}

/// Prints the candidates for the last word; never fails, since a shell shows nothing of it.
pub async fn answer(argv: Vec<OsString>, tree: clap::Command, context: &mut Context) -> Exit {
    let skip = if argv.get(1).is_some_and(|word| word == "__complete") { 2 } else { 1 };
    let words: Vec<OsString> = argv.into_iter().skip(skip).collect();
    let takes_file = takes_file(&words, &tree);
    let candidates = if takes_file { Vec::new() } else { candidates(&words, tree, context).await };
    for candidate in candidates {
        if context.out.data(&candidate).is_err() {
            break;
        }
    }
    // `:4`: no file names. `:0`: those, where nothing else is known.
    let end = if takes_file { ":0" } else { ":4" };
    if context.out.data(end).is_ok() { Exit::Ok } else { Exit::Failure }
}

/// Tells whether the last word is the value of a flag that names a file.
fn takes_file(words: &[OsString], tree: &clap::Command) -> bool {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let [.., flag, value] = words.as_slice() else { return false };
    let flag = value.split_once('=').map_or(&**flag, |(flag, _)| flag);
    let mut commands = vec![tree];
    for word in &words {
        commands.extend(commands.last().and_then(|command| command.find_subcommand(&**word)));
    }
    let mut args = commands.into_iter().flat_map(clap::Command::get_arguments);
    args.any(|arg| {
        let long = arg.get_long().map(|long| format!("--{long}"));
        let short = arg.get_short().map(|short| format!("-{short}"));
        let is_it = [long, short].into_iter().flatten().any(|own| own == flag);
        is_it && matches!(arg.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath)
    })
}

async fn candidates(words: &[OsString], tree: clap::Command, context: &mut Context) -> Vec<String> {
    let mut command = places::with_names(tree.name("kubectl-kai"), words);
    let index = words.len();
    let args =
        std::iter::once(OsString::from("kubectl-kai")).chain(words.iter().cloned()).collect();
    let found =
        clap_complete::engine::complete(&mut command, args, index, None).unwrap_or_default();
    // kubectl wants the value alone after `--flag=`.
    let word = words.last().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let typed = match word.split_once('=') {
        Some((flag, typed)) if flag.starts_with("--") => typed.to_owned(),
        _ => word.clone(),
    };
    let mut lines = Vec::new();
    for candidate in found {
        let value = candidate.get_value().to_string_lossy();
        let value = value
            .split_once('=')
            .filter(|_| word.contains('='))
            .map_or(&*value, |(_, value)| value);
        let live = live::What::ALL.into_iter().find(|what| value == what.mark());
        match (live, candidate.get_help()) {
            // Flags are offered when one is begun.
            (None, _) if value.starts_with('-') && !word.starts_with('-') => {}
            (Some(what), _) => {
                let asked = live::Asked { what, typed: &typed, words };
                lines.extend(live::names(&asked, globals(words), context).await);
            }
            (None, Some(help)) => lines.push(format!("{value}\t{help}")),
            (None, None) => lines.push(value.to_owned()),
        }
    }
    lines
}

/// The connection flags among the words typed so far.
fn globals(words: &[OsString]) -> Globals {
    let mut globals = Globals::default();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    for (i, word) in words.iter().enumerate() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (word.as_str(), words.get(i + 1).cloned()),
        };
        match flag {
            "-n" | "--namespace" => globals.namespace = value,
            "--context" => globals.context = value,
            "--kubeconfig" => globals.kubeconfig = value,
            "--cache-dir" => globals.cache_dir = value,
            _ => {}
        }
    }
    globals
}

/// The script that packages of this program bring in place of the link.
const PACKAGED: &[u8] = include_bytes!("../../../completions/kubectl_complete-kai");

fn shim(dir: Option<&Path>) -> Result<(PathBuf, PathBuf), Error> {
    let program = std::env::current_exe().map_err(|e| {
        Problem::new(
            number::FILE,
            Exit::Failure,
            format!("failed to find this program's own file: {e}"),
        )
    })?;
    let dir = dir.map(Path::to_owned).or_else(|| program.parent().map(Path::to_owned));
    let dir = dir.unwrap_or_else(|| PathBuf::from("."));
    Ok((program, dir.join(SHIM)))
}

fn install(dir: Option<&Path>, context: &mut Context) -> Result<Exit, Error> {
    let (program, link) = shim(dir)?;
    let is_packaged = std::fs::read(&link).is_ok_and(|text| text == PACKAGED);
    if is_packaged || std::fs::read_link(&link).is_ok_and(|target| target == program) {
        context.out.talk(&format!("{} is there already", link.display()));
        return Ok(Exit::Ok);
    }
    if link.symlink_metadata().is_ok() {
        let what = format!("{} is there, and is not a link to this program", link.display());
        return Err(Problem::new(number::EXISTS, Exit::Conflict, what)
            .fix("remove it, or choose another folder: --shim-dir DIR")
            .into());
    }
    std::os::unix::fs::symlink(&program, &link).map_err(|e| {
        Problem::new(number::FILE, Exit::Failure, format!("failed to link {}: {e}", link.display()))
            .fix("choose a folder of yours that is in PATH: --shim-dir ~/.local/bin")
    })?;
    context.out.talk(&format!("{} -> {}", link.display(), program.display()));
    let on_path = context.env.get("PATH").is_some_and(|path| {
        std::env::split_paths(path).any(|folder| Some(folder.as_path()) == link.parent())
    });
    if on_path {
        context.out.talk(
            "kubectl kai <TAB> works in every shell where kubectl's own completion is set up",
        );
    } else {
        context
            .out
            .warn(&format!("{} is not in PATH, so kubectl will not find it", link.display()));
    }
    Ok(Exit::Ok)
}

fn uninstall(dir: Option<&Path>, context: &mut Context) -> Result<Exit, Error> {
    let (program, link) = shim(dir)?;
    if !std::fs::read_link(&link).is_ok_and(|target| target == program) {
        let what = format!("{} is not a link to this program", link.display());
        return Err(Problem::new(number::FILE, Exit::NotFound, what)
            .fix("name its folder: --shim-dir DIR")
            .into());
    }
    std::fs::remove_file(&link).map_err(|e| {
        Problem::new(
            number::FILE,
            Exit::Failure,
            format!("failed to remove {}: {e}", link.display()),
        )
    })?;
    context.out.talk(&format!("{} removed", link.display()));
    Ok(Exit::Ok)
}
