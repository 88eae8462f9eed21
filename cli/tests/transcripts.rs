//! Sessions as users type them, kept as Markdown: what each command prints, and how it ends.
//!
//! A `console` block holds one command after `$ `, then its output: lines of stderr begin with `! `, and the last line
//! is `[exit N]` when the command fails. A block `yaml file=NAME` writes a file into the session's empty folder first.
//! The sessions in `sandbox/` have a cluster, `kubectl kai sandbox`; what differs from run to run stands there as `0s`,
//! `-xxxxx` and the like. There, a command that only looks is typed again until it says what is written, for a while:
//! what it looks at is still happening.
//! It has two nodes of eight GPUs, or those that a line `<!-- nodes: .. -->` in the file names.
//! `KAI_BLESS=1` writes what the program says into the files, to be read before it is committed; `KAI_SESSION=config`
//! plays those alone that have this in their names.

mod stage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use regex::Regex;
use stage::Sandbox;

/// Sets how long a cluster may take to come to what is written.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// Sets how long it may take while nothing is written that it could come to.
const BLESSED_WITHIN: Duration = Duration::from_secs(3);

/// Says where a session is played.
struct Stage {
    /// Its own folder.
    dir: PathBuf,
    /// The kubeconfig of its cluster.
    cluster: Option<String>,
}

/// One run of a file; the text that it should have been.
fn play(text: &str, stage: &Stage) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let file = info.split_whitespace().find_map(|word| word.strip_prefix("file="));
        if let Some(file) = file {
            let path = stage.dir.join(file);
            let folder = path.parent().expect("a file is in a folder");
            let written =
                fs::create_dir_all(folder).and_then(|()| fs::write(&path, body.join("\n") + "\n"));
            written.expect("the session's folder is ours");
        }
        match body.first().and_then(|first| first.strip_prefix("$ ")) {
            Some(command) if info == "console" => {
                let written = lines_of(body[1..].iter().copied(), "");
                out.extend(["$ ", command, "\n", &settled(command, stage, &written)]);
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

/// Says what a command prints; in a cluster, one that only looks is run again until that is what is written.
fn settled(line: &str, stage: &Stage, written: &str) -> String {
    let may_change = stage.cluster.is_some() && only_looks(line);
    let patience = if env::var_os("KAI_BLESS").is_some() { BLESSED_WITHIN } else { SETTLED_WITHIN };
    let end = Instant::now() + patience;
    loop {
        let said = run(line, stage);
        if said == written || !may_change || Instant::now() > end {
            return said;
        }
        sleep(Duration::from_millis(200));
    }
}

fn only_looks(line: &str) -> bool {
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["kubectl", "kai", "list" | "describe" | "explain" | "top" | "history" | "version", ..] => {
            true
        }
        ["kubectl", "kai", "queues", ref more @ ..] => {
            let changes = ["create", "set", "delete", "hold", "release", "move"];
            !more.first().is_some_and(|word| changes.contains(word))
        }
        _ => false,
    }
}

/// Runs one command line in the folder and writes down what it prints.
fn run(line: &str, stage: &Stage) -> String {
    let dir = &stage.dir;
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
    command.env_clear().envs([("HOME", dir), ("PATH", dir)]).current_dir(dir);
    command.envs(stage.cluster.iter().map(|path| ("KUBECONFIG", path))).envs(vars);
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
    let text =
        |bytes: &[u8]| if stage.cluster.is_some() { tidy(&text(bytes)) } else { text(bytes) };
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

/// Says what differs from run to run, made the same: ages, times, UIDs, the random ends of pods' names, and
/// the machine's name.
fn tidy(text: &str) -> String {
    [
        (
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "00000000-0000-0000-0000-000000000000",
        ),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-01-01T00:00:00Z"),
        (r"\d{4}-\d\d-\d\d (to|1 )", "2026-01-01 $1"),
        (r"\d{4}-\d\d-\d\d \(UTC", "2026-01-01 (UTC"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-xxxxx"),
        (r" +\d+s\b", " 0s"),
        (r" 0s {2,}", " 0s  "),
        (r"\(\d+s old\)", "(0s old)"),
        (r"\d+\.\d\d GPU-hours", "0.00 GPU-hours"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:0"),
        (r"led by \S+_0000", "led by HOST_0000"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (pattern, same)| {
        Regex::new(pattern).expect("written above").replace_all(&text, *same).into_owned()
    })
}

fn check(path: &Path, cluster: Option<String>) {
    let text = fs::read_to_string(path).expect("listed just now");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let stage = Stage { dir: dir.path().canonicalize().expect("it is there"), cluster };
    let played = play(&text, &stage);
    if env::var_os("KAI_BLESS").is_some() {
        fs::write(path, played).expect("the sources are writable");
        return;
    }
    assert!(played == text, "{} differs; what the program says now:\n{played}", path.display());
}

/// The sessions of a folder.
fn sessions(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("it is there");
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    files.sort();
    assert!(files.len() > 5, "the sessions are there");
    if let Ok(name) = env::var("KAI_SESSION") {
        files.retain(|path| {
            path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(&name))
        });
    }
    files
}

#[test]
fn sessions_go_as_written() {
    for file in &sessions("tests/transcripts") {
        check(file, None);
    }
}

#[test]
fn sessions_in_a_sandbox_go_as_written() {
    for file in &sessions("tests/transcripts/sandbox") {
        let text = fs::read_to_string(file).expect("it can be read");
        let nodes = text.lines().find_map(|line| {
            line.strip_prefix("<!-- nodes: ").and_then(|rest| rest.strip_suffix(" -->"))
        });
        let (_sandbox, kubeconfig) = Sandbox::start(nodes.unwrap_or("2xH100:8"));
        check(file, Some(kubeconfig));
    }
}
