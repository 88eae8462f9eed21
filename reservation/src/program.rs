//! The program of a reservation pod: command line, signals, exit code.

use std::ffi::OsString;
use std::io::Write as _;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use kai_api::names::env;
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::api::{Client, Identity, Trouble};
use crate::report::{Error, Reported, report};
use crate::{ask, device};

const HELP: &str = "\
Finds the GPU that its pod was given, writes its UUID on that pod, and stays until SIGTERM.

Usage: kai-reservation [OPTION]

Options:
  --exit                       Do nothing, and end at once: what a scaling pod runs
  --show-devices               Print what NVML and the device plugin say here, as JSON, and end
  --service-account-dir DIR    Folder of token and ca.crt [default: /var/run/secrets/kubernetes.io/serviceaccount]
  --version                    Print the version
  --help                       Print this help

Environment:
  POD_NAME, POD_NAMESPACE, POD_UID                     Its own pod, from the downward API; POD_UID may be left out
  KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT     The API server, as every pod has them
  NVIDIA_VISIBLE_DEVICES                               What the device plugin gave, asked where there is no NVML
";

/// Task that the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Hold { account: PathBuf },
    Exit,
    Show,
    Print(&'static str),
}

/// Has a panic on any thread end the process, after it was told.
fn end_on_panic() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        tell(about);
        std::process::abort();
    }));
}

/// Runs the program with a command line, the program's name first, until a signal ends it.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    end_on_panic();
    let words = arguments.into_iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    match task(words) {
        Ok(Task::Exit) => ExitCode::SUCCESS,
        Ok(Task::Print(text)) => print(text),
        Ok(Task::Show) => {
            let said = json!({"nvml": ask(), "environment": variable(env::VISIBLE_DEVICES)});
            print(&format!("{said:#}\n"))
        }
        Ok(Task::Hold { account }) => hold(account),
        Err(word) => {
            say(&format!("{word:?} is no option; kai-reservation --help lists them"));
            ExitCode::from(2)
        }
    }
}

fn task(words: impl Iterator<Item = String>) -> Result<Task, String> {
    let mut words = words;
    let mut account = PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--exit" => return Ok(Task::Exit),
            "--show-devices" => return Ok(Task::Show),
            "--version" => return Ok(Task::Print(concat!(env!("CARGO_PKG_VERSION"), "\n"))),
            "--help" | "-h" => return Ok(Task::Print(HELP)),
            "--service-account-dir" => account = words.next().ok_or(word)?.into(),
            _ => return Err(word),
        }
    }
    Ok(Task::Hold { account })
}

/// The end of the program.
enum End {
    Signal(i32),
    Failed(Error),
}

/// Reports the device and stays. The work goes on beside the signals, so that a pod that is deleted goes at once,
/// whatever it waits for.
fn hold(account: PathBuf) -> ExitCode {
    let (ends, end) = channel();
    let mut signals = match Signals::new([SIGTERM, SIGINT]) {
        Ok(signals) => signals,
        Err(error) => {
            say(&format!("failed to wait for signals: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let failed = ends.clone();
    thread::spawn(move || work(&account, &failed));
    thread::spawn(move || {
        for signal in signals.forever() {
            // Nobody listens when the program is ending already.
            let _ = ends.send(End::Signal(signal));
        }
    });
    match end.recv() {
        Ok(End::Signal(signal)) => {
            let name = if signal == SIGTERM { "SIGTERM" } else { "SIGINT" };
            say(&format!("{name}: the device is released"));
            ExitCode::SUCCESS
        }
        Ok(End::Failed(error)) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
        Err(_) => {
            say("the thread that waits for signals has ended");
            ExitCode::FAILURE
        }
    }
}

fn work(account: &Path, failed: &Sender<End>) {
    let find = || device::given(&ask(), variable(env::VISIBLE_DEVICES).as_deref());
    let reported =
        client(account).map_err(Error::Api).and_then(|client| report(&client, find, say));
    match reported {
        Ok(Reported::Before(device)) => say(&format!("holding {device}, as is written on the pod")),
        Ok(Reported::Now(given)) => {
            let index = given.index.map_or_else(String::new, |index| format!(" (index {index})"));
            say(&format!("holding {}{index}", given.uuid));
        }
        Err(error) => {
            // The program ends with the first that is heard.
            let _ = failed.send(End::Failed(error));
        }
    }
}

fn client(account: &Path) -> Result<Client, Trouble> {
    let required = |name: &str, from: &str| {
        variable(name).ok_or_else(|| Trouble::Lasting(format!("{name} is not set: {from}")))
    };
    let downward = "the pod must hand it on by the downward API";
    let cluster = "this program runs in a pod of a cluster";
    let pod = Identity {
        namespace: required(env::POD_NAMESPACE, downward)?,
        name: required(env::POD_NAME, downward)?,
        uid: variable(env::POD_UID),
    };
    let host = required("KUBERNETES_SERVICE_HOST", cluster)?;
    let port = required("KUBERNETES_SERVICE_PORT", cluster)?;
    // An IPv6 address stands in brackets in a URL.
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    Client::new(&format!("{host}:{port}"), account, pod)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A line for people, who read it with `kubectl logs`.
fn say(line: &str) {
    // Where the log cannot be written there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "kai-reservation: {line}");
}

#[cfg(test)]
mod tests {
    use super::{Task, task};

    fn read(words: &str) -> Result<Task, String> {
        task(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read_and_others_refused() {
        assert!(
            matches!(read(""), Ok(Task::Hold { account }) if account.ends_with("serviceaccount"))
        );
        assert_eq!(read("--service-account-dir d"), Ok(Task::Hold { account: "d".into() }));
        assert_eq!(read("--exit"), Ok(Task::Exit));
        assert_eq!(read("--show-devices"), Ok(Task::Show));
        assert_eq!(read("--service-account-dir"), Err("--service-account-dir".to_owned()));
        assert_eq!(read("--gpu"), Err("--gpu".to_owned()));
    }
}
