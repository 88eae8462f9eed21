//! Every flag that help shows is tried: with it, a command does something else than without it.
//!
//! A row of `flags/*.yaml` is a command line with flags between backticks. It is run without them, or with what stands
//! after ` || ` in their place, and then with them. `says` is a regular expression that is found in what is printed or
//! written with them and not without; `same` is the reason why nothing may differ; `exit` is the code with them; `until`
//! is the number of seconds after which a command that goes on is ended; `terminal` is a text that is seen on a terminal
//! before `keys` end the command, Ctrl-C unless said; `seen` is the test that has a real API server for them. What
//! sessions and the guide show is tried there, and needs no row.

mod stage;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};
use std::{fs, io};

use clap::ArgMatches;
use clap::parser::ValueSource;
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use stage::Sandbox;
use terminal::Pty;

/// Rows that are tried at once.
const AT_ONCE: usize = 4;
/// A command that is not said to go on ends within this.
const ENDS_WITHIN: Duration = Duration::from_secs(30);
/// So long what a row finds may be coming about.
const TRUE_WITHIN: Duration = Duration::from_secs(20);

/// Says what rows find.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scene {
    files: BTreeMap<String, String>,
    setup: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rows: Vec<Form>,
}

/// A row as it is written: most are a line alone.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Form {
    Line(String),
    Row(Row),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    line: String,
    says: Option<String>,
    same: Option<String>,
    exit: Option<i32>,
    until: Option<u64>,
    input: Option<String>,
    terminal: Option<String>,
    keys: Option<String>,
    seen: Option<PathBuf>,
}

impl Row {
    /// The line without the flags and with them.
    fn lines(&self) -> [String; 2] {
        let parts: Vec<&str> = self.line.split('`').collect();
        let [before, flags, after] = parts[..] else { panic!("no flags: {}", self.line) };
        let (with, without) = flags.split_once(" || ").unwrap_or((flags, ""));
        [without, with].map(|flags| [before, flags, after].concat())
    }

    /// The names of its flags.
    fn flags(&self) -> Vec<&str> {
        let flags = self.line.split('`').nth(1).unwrap_or_default();
        flags.split_whitespace().filter(|word| word.starts_with("--")).collect()
    }

    /// Says what is wrong with it.
    fn fault(&self, scene: &Scene, kubeconfig: &str) -> Option<String> {
        if let Some(text) = &self.terminal {
            return self.watch(text, kubeconfig);
        }
        let [without, with] = self.lines().map(|line| self.run(&line, scene, kubeconfig));
        let code = if self.until.is_some() { None } else { Some(self.exit.unwrap_or(0)) };
        let is_said = |said: &Said| {
            let regex = self.says.as_deref().map(|says| format!("(?m){says}"));
            regex.is_none_or(|regex| Regex::new(&regex).expect("a row").is_match(&said.text()))
        };
        let fault = if with.code != code {
            "it ends otherwise"
        } else if self.same.is_some() != (with == without) {
            if self.same.is_some() { "they differ" } else { "they do the same" }
        } else if !is_said(&with) || self.says.is_some() && is_said(&without) {
            "it does not say so, or says so without it"
        } else {
            return None;
        };
        Some(format!("{}: {fault}\nWITHOUT {without:?}\nWITH {with:?}", self.line))
    }

    /// Runs it on a terminal, on which it goes on once a text is seen.
    fn watch(&self, text: &str, kubeconfig: &str) -> Option<String> {
        let [_, with] = self.lines();
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut terminal = Pty::run(&mut command(&with, dir.path(), kubeconfig));
        terminal.wait(&[text], &[]);
        assert!(terminal.child.try_wait().expect("it was started here").is_none(), "{with} ended");
        match &self.keys {
            Some(keys) => terminal.press(keys),
            None => kill_process(Pid::from_child(&terminal.child), Signal::INT).expect("it runs"),
        }
        let end = Instant::now() + ENDS_WITHIN;
        while terminal.child.try_wait().expect("it was started here").is_none() {
            if Instant::now() > end {
                terminal.child.kill().expect("it runs");
            }
            sleep(Duration::from_millis(50));
        }
        let code = terminal.end().code();
        (code != Some(self.exit.unwrap_or(130))).then(|| format!("{with} ended with {code:?}"))
    }

    /// Runs a line in a folder of its own.
    fn run(&self, line: &str, scene: &Scene, kubeconfig: &str) -> Said {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in &scene.files {
            let path = dir.path().join(name);
            let written = fs::create_dir_all(path.parent().expect("it is in the folder"))
                .and_then(|()| fs::write(&path, text));
            written.expect("the folder is ours");
        }
        let mut child =
            command(line, dir.path(), kubeconfig).spawn().expect("built with the tests");
        if let (Some(input), Some(mut stdin)) = (&self.input, child.stdin.take()) {
            stdin.write_all(input.as_bytes()).expect("it reads");
        }
        drop(child.stdin.take());
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let end = Instant::now() + self.until.map_or(ENDS_WITHIN, Duration::from_secs);
        let (code, [printed, told]) = scope(|scope| {
            let printed = scope.spawn(|| text(stdout.as_mut().expect("it is piped")));
            let told = scope.spawn(|| text(stderr.as_mut().expect("it is piped")));
            let mut is_over = false;
            while !is_over && Instant::now() < end {
                sleep(Duration::from_millis(10));
                is_over = child.try_wait().expect("it was started here").is_some();
            }
            if !is_over {
                child.kill().expect("it runs");
            }
            let status = child.wait().expect("it was started here");
            let texts = [printed, told].map(|thread| thread.join().expect("it reads"));
            (status.code().filter(|_| is_over), texts)
        });
        let place = dir.path().display().to_string();
        let shown = |text: &str| tidy(&text.replace(&place, "[DIR]"));
        let mut files = BTreeMap::new();
        collect(dir.path(), &mut files).expect("the folder is ours");
        let files = files.into_iter().map(|(path, text)| (shown(&path), shown(&text)));
        let was = |path: &str, text: &str| {
            let name = path.strip_prefix("[DIR]/");
            name.and_then(|name| scene.files.get(name)).is_some_and(|was| tidy(was) == text)
        };
        let files = files.filter(|(path, text)| !was(path, text)).collect();
        Said { code, printed: shown(&printed), told: shown(&told), files }
    }
}

/// Holds what a command did; no code where it had to be ended.
#[derive(Debug, PartialEq)]
struct Said {
    code: Option<i32>,
    printed: String,
    told: String,
    files: BTreeMap<String, String>,
}

impl Said {
    fn text(&self) -> String {
        let files: String = self.files.values().map(String::as_str).collect();
        [self.printed.as_str(), &self.told, &files].join("\n")
    }
}

fn command(line: &str, dir: &Path, kubeconfig: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"));
    command.args(shlex::split(line).expect("a row is a command line"));
    command.env_clear().env("HOME", dir).env("PATH", "/usr/bin:/bin").env("KUBECONFIG", kubeconfig);
    command.current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(from: &mut impl io::Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("it is piped");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The files of a folder with what is in them, unpacked.
fn collect(folder: &Path, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
            continue;
        }
        let bytes = fs::read(&path)?;
        let mut plain = String::new();
        if flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut plain).is_err() {
            plain = String::from_utf8_lossy(&bytes).into_owned();
        }
        files.insert(path.display().to_string(), plain);
    }
    Ok(())
}

/// A text without what differs from run to run.
fn tidy(text: &str) -> String {
    let differs = [
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (r"\b\d+(\.\d+)? ?(ms|[smhd])\b", "0s"),
        (r"second \d+", "second 0"),
        (r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "-xxxxx"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:0"),
        (r" +", " "),
    ];
    differs.iter().fold(text.to_owned(), |text, (pattern, same)| {
        Regex::new(pattern).expect("written above").replace_all(&text, *same).into_owned()
    })
}

/// A flag of a command; flags of all commands have an empty one.
type Flag = (String, String);

/// The flags that are given on a command line.
fn given(words: Vec<String>, of_all: &BTreeSet<String>) -> BTreeSet<Flag> {
    let mut flags = BTreeSet::new();
    // What is completed is a command line of its own.
    let words = words.into_iter().skip_while(|word| word == "__complete");
    let argv = std::iter::once("kubectl-kai".to_owned()).chain(words);
    // Lines that are refused show what is wrong with them.
    let Ok(matches) = kubectl_kai::command().try_get_matches_from(argv) else { return flags };
    let (mut matches, mut path): (&ArgMatches, String) = (&matches, String::new());
    loop {
        for id in matches.ids() {
            if matches.value_source(id.as_str()) == Some(ValueSource::CommandLine) {
                let id = id.as_str().to_owned();
                let of = if of_all.contains(&id) { String::new() } else { path.clone() };
                flags.insert((of, id));
            }
        }
        let Some((name, below)) = matches.subcommand() else { return flags };
        matches = below;
        path = format!("{path} {name}");
    }
}

/// The flags that pages of help show, below a command.
fn shown(command: &clap::Command, path: &str, flags: &mut BTreeSet<Flag>) {
    for arg in command.get_arguments() {
        let is_flag = !arg.is_positional() && !arg.is_global_set() && !arg.is_hide_set();
        let id = arg.get_id().as_str();
        if is_flag && !matches!(id, "help" | "version") {
            flags.insert((path.to_owned(), id.to_owned()));
        }
    }
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        shown(below, &format!("{path} {}", below.get_name()), flags);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = fs::read_to_string(path).expect("it is there");
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of all tables.
fn rows() -> Vec<Row> {
    let folder = root().join("cli/tests/flags");
    let paths =
        fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("it is").path());
    let tables = paths.filter(|path| !path.ends_with("cluster.yaml"));
    let forms = tables.flat_map(|path| read::<Table>(&path).rows);
    let row = |form| match form {
        Form::Line(line) => Row { line, ..Row::default() },
        Form::Row(row) => row,
    };
    forms.map(row).collect()
}

/// Tells whether a file, or those of a folder, have all of these words.
fn says(path: &Path, words: &[&str]) -> bool {
    let mut files = BTreeMap::new();
    if path.is_dir() {
        collect(path, &mut files).expect("it is there");
    } else {
        let text = fs::read_to_string(path).unwrap_or_default();
        files.insert(String::new(), text);
    }
    words.iter().all(|word| files.values().any(|text| text.contains(word)))
}

/// The command lines of the sessions and of the guide.
fn played() -> Vec<Vec<String>> {
    let folders = ["cli/tests/transcripts", "cli/tests/transcripts/sandbox", "docs/guide"];
    let entries =
        folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).expect("it is there"));
    let paths = entries.map(|entry| entry.expect("it is").path());
    let texts = paths
        .filter(|path| path.is_file())
        .map(|path| fs::read_to_string(path).expect("it is text"));
    let lines = |text: String| {
        let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
        let lines = lines.filter_map(|line| line.split_once("kubectl kai "));
        let plain = |(_, line): (&str, &str)| {
            let line = line.trim_end_matches(" &");
            line.split_once(" < ").map_or(line, |(line, _)| line).to_owned()
        };
        lines.map(plain).collect::<Vec<_>>()
    };
    texts.flat_map(lines).filter_map(|line| shlex::split(&line)).collect()
}

#[test]
fn every_flag_of_every_page_of_help_is_tried() {
    let tree = kubectl_kai::command();
    let of_all: BTreeSet<String> =
        tree.get_arguments().map(|arg| arg.get_id().to_string()).collect();
    let mut wanted = BTreeSet::new();
    let globals = tree.get_arguments().filter(|arg| arg.is_global_set());
    wanted.extend(globals.map(|arg| (String::new(), arg.get_id().to_string())));
    shown(&tree, "", &mut wanted);
    for words in played() {
        wanted = &wanted - &given(words, &of_all);
    }
    for row in rows() {
        let [_, with] = row.lines();
        let with = given(shlex::split(&with).expect("a row is a command line"), &of_all);
        assert!(!with.is_empty(), "this is refused: {}", row.line);
        if let Some(path) = &row.seen {
            assert!(
                says(&root().join(path), &row.flags()),
                "not in {}: {}",
                path.display(),
                row.line
            );
        }
        wanted = &wanted - &with;
    }
    assert!(wanted.is_empty(), "no row, session or page of the guide tries {wanted:#?}");
}

#[test]
fn no_flag_is_ignored() {
    let scene: Scene = read(&root().join("cli/tests/flags/cluster.yaml"));
    let (_sandbox, kubeconfig) = Sandbox::start("3xH100:8");
    let home = tempfile::tempdir().expect("a temporary folder");
    for line in &scene.setup {
        let output =
            command(line, home.path(), &kubeconfig).output().expect("built with the tests");
        assert!(output.status.success(), "{line}: {output:?}");
    }
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.seen.is_none()).collect();
    assert!(rows.len() > 100, "the tables are there");
    let left = Mutex::new(rows.iter());
    let next = || left.lock().expect("nobody panics with it").next();
    let tried = |row| settled(row, &scene, &kubeconfig);
    let faults: Vec<String> = scope(|scope| {
        let lane = || std::iter::from_fn(next).filter_map(tried).collect::<Vec<_>>();
        let lanes: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("a row ends")).collect()
    });
    assert!(faults.is_empty(), "{} rows:\n{}", faults.len(), faults.join("\n\n"));
}

/// Says what is wrong with a row once all has come about.
fn settled(row: &Row, scene: &Scene, kubeconfig: &str) -> Option<String> {
    let end = Instant::now() + TRUE_WITHIN;
    loop {
        let fault = row.fault(scene, kubeconfig)?;
        if Instant::now() > end {
            return Some(fault);
        }
        sleep(Duration::from_millis(500));
    }
}
