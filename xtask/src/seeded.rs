//! `cargo xtask seeded [NAME...]`: bugs that are put into a copy of the tree one at a time, and who notices.
//!
//! Each file of `tests/seeded` is a bug: a sentence and a patch of the product. All are compiled into one copy of the tree
//! below `target/seeded`, each behind a variable of the environment, so that one build serves all of them. Then each bug
//! alone is switched on, and the suites that take seconds and simulated clusters have to fail. `--write` puts what came
//! out into the table of `tests/seeded/README.md`.

mod bug;
mod suites;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::repository::{files, print, root, say};
use bug::Bug;
use suites::{Caught, Suites};

/// Folder of the bugs, below the root.
const FOLDER: &str = "tests/seeded";
/// The first line of the table in its README.
const TABLE: &str = "| bug | what is wrong | caught by | by a simulation, after hours |";

/// Bugs to look at, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Bugs by name or number, e.g. 07; all when none is given
    names: Vec<String>,
    /// Simulated clusters in which a bug has to show; each goes on for an hour or two
    #[arg(long, default_value_t = 24)]
    seeds: u64,
    /// The first of their seeds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave out the other suites
    #[arg(long)]
    simulate_only: bool,
    /// Write the table of tests/seeded/README.md
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let bugs = Bug::all(&root())?;
    let is_meant = |bug: &&Bug| {
        let mut names = arguments.names.iter();
        arguments.names.is_empty()
            || names.any(|name| bug.name == *name || bug.name.split('-').next() == Some(name))
    };
    let chosen: Vec<&Bug> = bugs.iter().filter(is_meant).collect();
    ensure!(!chosen.is_empty(), "no bug is named {}", arguments.names.join(" or "));
    let tree = root().join("target/seeded/tree");
    // With all of them, whichever are run: another choice builds nothing anew.
    copy(&tree, &bugs.iter().collect::<Vec<_>>())?;
    let suites = Suites::build(&tree, arguments.simulate_only)?;
    let seeds = arguments.seed..arguments.seed + arguments.seeds;
    say("without a bug:");
    let calm = suites.run(None, seeds.clone())?;
    ensure!(
        calm.suite.is_none() && !calm.is_simulated,
        "without a bug {}",
        calm.suite.unwrap_or_else(|| String::from("a simulation fails"))
    );
    let mut caught = BTreeMap::new();
    for bug in chosen {
        let found = suites.run(Some(bug), seeds.clone())?;
        print(&row(bug, Some(&found)))?;
        caught.insert(bug.name.clone(), found);
        if arguments.write {
            write(&bugs, &caught)?;
        }
    }
    let survivors = caught.values().filter(|one| one.suite.is_none() && !one.is_simulated).count();
    say(&format!("{} bugs, {survivors} of them not caught", caught.len()));
    Ok(())
}

/// Makes the tree like this one, with the bugs in it. Files that stay as they are keep their time: cargo builds little anew.
fn copy(tree: &Path, bugs: &[&Bug]) -> Result<()> {
    let mut texts = bug::switched(&root(), bugs)?;
    let mut kept = Vec::new();
    for file in files()?.into_iter().filter(|file| !file.path.starts_with(FOLDER)) {
        let to = tree.join(&file.path);
        let wanted = match (texts.remove(&file.path), file.text) {
            (Some(text), _) | (None, Some(text)) => text.into_bytes(),
            (None, None) => fs::read(root().join(&file.path))?,
        };
        if fs::read(&to).ok().as_ref() != Some(&wanted) {
            let folder = to.parent().context("a file lies in a folder")?;
            fs::create_dir_all(folder)?;
            fs::write(&to, wanted).with_context(|| format!("failed to write {}", to.display()))?;
        }
        kept.push(to);
    }
    remove_others(tree, &kept)
}

/// Removes files that are no longer there in this tree.
fn remove_others(tree: &Path, kept: &[PathBuf]) -> Result<()> {
    let kept: std::collections::BTreeSet<&PathBuf> = kept.iter().collect();
    let mut folders = vec![tree.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !kept.contains(&path) {
                fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}

/// A row of the table; what was not looked at keeps its place empty.
fn row(bug: &Bug, caught: Option<&Caught>) -> String {
    let Bug { name, about, .. } = bug;
    let (suite, hours) = match caught {
        Some(one) => (one.suite.clone().unwrap_or_else(|| String::from("none")), one.hours()),
        None => Default::default(),
    };
    format!("| `{name}` | {about} | {suite} | {hours} |")
}

/// Writes the table, with what came out now; rows of bugs that were not looked at stay.
fn write(bugs: &[Bug], caught: &BTreeMap<String, Caught>) -> Result<()> {
    let path = root().join(FOLDER).join("README.md");
    let text = fs::read_to_string(&path)?;
    let (head, rows) = text.split_once(TABLE).context("the README has no table")?;
    let before = |bug: &Bug| {
        let named = format!("| `{}` |", bug.name);
        rows.lines().find(|line| line.starts_with(&named)).map(str::to_owned)
    };
    let mut out = format!("{head}{TABLE}\n|---|---|---|---|\n");
    for bug in bugs {
        let line = match caught.get(&bug.name) {
            Some(found) => row(bug, Some(found)),
            None => before(bug).unwrap_or_else(|| row(bug, None)),
        };
        out.push_str(&line);
        out.push('\n');
    }
    fs::write(&path, out).with_context(|| format!("failed to write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patches that do not fit any more would be noticed by nobody else.
    #[test]
    fn every_bug_can_be_put_into_the_tree() {
        let bugs = Bug::all(&root()).expect("the bugs can be read");
        assert!(bugs.len() >= 30, "{} bugs", bugs.len());
        let alone = bugs.iter().filter_map(|bug| bug::switched(&root(), &[bug]).err());
        let misfits: Vec<String> = alone.map(|error| format!("{error:#}")).collect();
        assert!(misfits.is_empty(), "bugs that do not fit the tree:\n{}", misfits.join("\n"));
        let texts = bug::switched(&root(), &bugs.iter().collect::<Vec<_>>());
        let texts = texts.expect("the bugs fit the tree together");
        for bug in &bugs {
            let name = format!("\"{}\"", bug.name);
            let files = texts.values().filter(|text| text.contains(&name));
            assert_eq!(files.count(), bug.files(), "{name}");
        }
    }

    #[test]
    fn the_table_has_every_bug() {
        let bugs = Bug::all(&root()).expect("the bugs can be read");
        let text = fs::read_to_string(root().join(FOLDER).join("README.md"));
        let text = text.expect("the table can be read");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), bugs.len());
        for (bug, line) in bugs.iter().zip(rows) {
            let beginning = format!("| `{}` | {} |", bug.name, bug.about);
            assert!(line.starts_with(&beginning), "{line}");
        }
    }
}
