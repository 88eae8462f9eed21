//! Sessions as users type them, kept as Markdown: what each command prints, and how it ends.
//!
//! A `console` block holds one command after `$ `, then its output: lines of stderr begin with `! `, and the last line
//! is `[exit N]` when the command fails. A block `yaml file=NAME` writes a file into the session's empty folder first.
//! `KAI_BLESS=1` writes what the program says into the files, to be read before it is committed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One run of a file; the text that it should have been.
fn play(text: &str, dir: &Path) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let file = info.split_whitespace().find_map(|word| word.strip_prefix("file="));
        if let Some(file) = file {
            fs::write(dir.join(file), body.join("\n") + "\n")
                .expect("the session's folder is ours");
        }
        match body.first().and_then(|first| first.strip_prefix("$ ")) {
            Some(command) if info == "console" => {
                out.extend(["$ ", command, "\n", &run(command, dir)]);
            }
            _ => out += &lines_of(body.into_iter(), ""),
        }
        out += "```\n";
    }
    out
}

/// Lines with something in front of each.
fn lines_of<'a>(lines: impl Iterator<Item = &'a str>, before: &str) -> String {
    lines.flat_map(|line| [before, line, "\n"]).collect()
}

/// Runs one command line in the folder and writes down what it prints.
fn run(line: &str, dir: &Path) -> String {
    let mut words = words(line);
    let mut vars = BTreeMap::new();
    while let Some((name, value)) = words.first().and_then(|word| word.split_once('=')) {
        if !name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            break;
        }
        vars.insert(name.to_owned(), value.to_owned());
        words.remove(0);
    }
    let mut command = assert_cmd::Command::cargo_bin("kubectl-kai").expect("built with the tests");
    command.env_clear().envs([("HOME", dir), ("PATH", dir)]).envs(vars).current_dir(dir);
    if let Some(at) = words.iter().position(|word| word == "<") {
        let input = fs::read(dir.join(&words[at + 1])).expect("written by a block before");
        command.write_stdin(input);
        words.truncate(at);
    }
    assert_eq!(words[..2], ["kubectl", "kai"], "{line}");
    let output = command.args(&words[2..]).output().expect("it starts");
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .replace(&dir.display().to_string(), "[DIR]")
            .replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
    };
    let mut said = lines_of(text(&output.stdout).lines(), "");
    said += &lines_of(text(&output.stderr).lines(), "! ");
    if let Some(code) = output.status.code().filter(|code| *code != 0) {
        said.extend(["[exit ", &code.to_string(), "]\n"]);
    }
    said
}

/// The words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn check(path: &Path) {
    let text = fs::read_to_string(path).expect("listed just now");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path().canonicalize().expect("it is there");
    let played = play(&text, &dir);
    if env::var_os("KAI_BLESS").is_some() {
        fs::write(path, played).expect("the sources are writable");
        return;
    }
    assert!(played == text, "{} differs; what the program says now:\n{played}", path.display());
}

#[test]
fn sessions_go_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("it is there").filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    assert!(files.len() > 5, "the sessions are there");
    for file in &files {
        check(file);
    }
}
