//! Sessions as users type them, kept as Markdown: what each command prints, and how it ends.
//!
//! A `console` block holds one command after `$ `, then its output: lines of stderr begin with `! `, and the last line
//! is `[exit N]` when the command fails. A block `yaml file=NAME` writes a file into the session's empty folder first.
//! The sessions in `sandbox/` have a cluster, `kubectl kai sandbox`; what differs from run to run stands there as `0s`,
//! `-xxxxx` and the like. There, a command that only looks is typed again until it says what is written, for a while:
//! what it looks at is still happening.
//! It has two nodes of eight GPUs, or those that a line `<!-- nodes: .. -->` in the file names.
//! The pages of `docs/guide` are sessions too. A command that ends with `&` goes on beside those that follow, and the
//! first line of its output is written; `curl -s` is played by a request of this test; after the line `<!-- cut -->` the connection
//! to the API server breaks while the next command runs, and the server refuses the first attempts to reach it again.
//! `KAI_BLESS=1` writes what the program says into the files, to be read before it is committed; `KAI_SESSION=config`
//! plays those alone that have this in their names.

#[path = "stage/proxy.rs"]
mod proxy;
mod stage;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::iter::from_fn;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};
use std::{env, fs};

use proxy::Proxy;
use regex::Regex;
use stage::Sandbox;

/// Sets how many sessions of a folder are played at once.
const AT_ONCE: usize = 3;
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
    /// The way to the cluster, where it can be cut.
    proxy: Option<Proxy>,
    /// Commands that go on until the session ends.
    beside: RefCell<Vec<Child>>,
}

impl Stage {
    fn new(dir: &Path, cluster: Option<String>, proxy: Option<Proxy>) -> Self {
        let dir = dir.canonicalize().expect("it is there");
        Self { dir, cluster, proxy, beside: RefCell::default() }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for child in self.beside.get_mut() {
            // It may have ended by itself.
            let _gone = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Stands before a command during which the connection breaks.
const CUT: &str = "<!-- cut -->";
/// Sets how long that command has run when it breaks.
const CUT_AFTER: Duration = Duration::from_millis(1500);

/// One run of a file; the text that it should have been.
fn play(text: &str, stage: &Stage) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    let mut is_cut = false;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        is_cut |= line == CUT;
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
                let proxy = stage.proxy.as_ref().filter(|_| std::mem::take(&mut is_cut));
                if let Some(proxy) = proxy {
                    proxy.cut_after(CUT_AFTER);
                }
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
    let words = line.split_whitespace().skip_while(|word| word.contains('='));
    match words.collect::<Vec<_>>()[..] {
        [
            "kubectl",
            "kai",
            "list" | "describe" | "doctor" | "explain" | "top" | "history" | "version",
            ..,
        ] => true,
        ["kubectl", "kai", "queues", ref more @ ..] => {
            let changes = ["create", "set", "delete", "hold", "release", "move"];
            !more.first().is_some_and(|word| changes.contains(word))
        }
        _ => false,
    }
}

/// Runs one command line in the folder and writes down what it prints.
fn run(line: &str, stage: &Stage) -> String {
    if let Some(url) = line.strip_prefix("curl -s ") {
        return get(url);
    }
    if let Some(line) = line.strip_suffix(" &") {
        return start(line, stage);
    }
    let (mut command, input) = command(line, stage);
    let mut child = command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // A command that ends before it has read all is told by what it says.
        let _closed = stdin.write_all(&input);
    }
    let output = child.wait_with_output().expect("it was started here");
    let mut said = lines_of(shown(&output.stdout, stage).lines(), "");
    said += &lines_of(shown(&output.stderr, stage).lines(), "! ");
    if let Some(code) = output.status.code().filter(|code| *code != 0) {
        said.extend(["[exit ", &code.to_string(), "]\n"]);
    }
    said
}

/// The program with the words and variables of a line, and what it reads on stdin.
fn command(line: &str, stage: &Stage) -> (std::process::Command, Option<Vec<u8>>) {
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
    let at = words.iter().position(|word| word == "<");
    let input = at.map(|at| {
        let input = fs::read(dir.join(&words[at + 1])).expect("written by a block before");
        words.truncate(at);
        input
    });
    assert_eq!(words[..2], ["kubectl", "kai"], "{line}");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-kai"));
    command.env_clear().envs([("HOME", dir), ("PATH", dir)]).current_dir(dir);
    command.envs(stage.cluster.iter().map(|path| ("KUBECONFIG", path))).envs(vars);
    command.args(&words[2..]);
    (command, input)
}

/// Starts a command that ends with the session, and writes down the first line of its output.
fn start(line: &str, stage: &Stage) -> String {
    let (mut command, _) = command(line, stage);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut first = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut first).expect("it is text");
    stage.beside.borrow_mut().push(child);
    shown(first.as_bytes(), stage)
}

/// The body of the page at an address of this machine.
fn get(url: &str) -> String {
    let (host, path) = url.trim_start_matches("http://").split_once('/').expect("a URL has a path");
    let mut stream = TcpStream::connect(host).expect("something listens there");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    tidy(body)
}

/// Gives what a command said, without what differs from run to run.
fn shown(bytes: &[u8], stage: &Stage) -> String {
    let text = String::from_utf8_lossy(bytes)
        .replace(&stage.dir.display().to_string(), "[DIR]")
        .replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    if stage.cluster.is_some() { tidy(&text) } else { text }
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
        // Ports that the system chose; those of a session are written in it.
        (r"127\.0\.0\.1:[3-6]\d{4}\b", "127.0.0.1:0"),
        (r"led by \S+_0000", "led by HOST_0000"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (pattern, same)| {
        Regex::new(pattern).expect("written above").replace_all(&text, *same).into_owned()
    })
}

/// Plays the session of a file; how it differs from what is written.
fn check(path: &Path, cluster: Option<String>, proxy: Option<Proxy>) -> Option<String> {
    let text = fs::read_to_string(path).expect("listed just now");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let stage = Stage::new(dir.path(), cluster, proxy);
    let played = play(&text, &stage);
    if env::var_os("KAI_BLESS").is_some() {
        fs::write(path, played).expect("the sources are writable");
        return None;
    }
    let differs = played != text;
    differs.then(|| format!("{} differs; what the program says now:\n{played}", path.display()))
}

/// Checks sessions, some at once, as they mostly wait; each has a folder and a cluster of its own.
fn check_all(files: &[PathBuf], check: impl Fn(&Path) -> Option<String> + Sync) {
    let left = Mutex::new(files.iter());
    let next = || left.lock().expect("nobody panics with it").next();
    let failures: Vec<String> = scope(|scope| {
        let lane = || from_fn(next).filter_map(|file| check(file)).collect::<Vec<_>>();
        let lanes: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("a session ends")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The sessions of a folder, at least so many.
fn sessions(folder: &str, least: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("it is there");
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    files.sort();
    assert!(files.len() >= least, "the sessions are there");
    if let Ok(name) = env::var("KAI_SESSION") {
        files.retain(|path| {
            path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(&name))
        });
    }
    files
}

/// Starts the cluster that a session names.
fn cluster_of(file: &Path) -> (Sandbox, String) {
    let text = fs::read_to_string(file).expect("it can be read");
    let nodes = text.lines().find_map(|line| {
        line.strip_prefix("<!-- nodes: ").and_then(|rest| rest.strip_suffix(" -->"))
    });
    Sandbox::start(nodes.unwrap_or("2xH100:8"))
}

#[test]
fn sessions_go_as_written() {
    check_all(&sessions("tests/transcripts", 10), |file| check(file, None, None));
}

#[test]
fn sessions_in_a_sandbox_go_as_written() {
    check_all(&sessions("tests/transcripts/sandbox", 20), |file| {
        let (_sandbox, kubeconfig) = cluster_of(file);
        check(file, Some(kubeconfig), None)
    });
}

#[test]
fn pages_of_the_guide_go_as_written() {
    check_all(&sessions("../docs/guide", 1), |file| {
        let (_sandbox, kubeconfig) = cluster_of(file);
        let (proxy, kubeconfig) = Proxy::before(&kubeconfig);
        check(file, Some(kubeconfig.display().to_string()), Some(proxy))
    });
}
