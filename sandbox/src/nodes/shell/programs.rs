//! The programs of a simulated container.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Effect, Outcome, View, script};

/// All there is.
const PROGRAMS: &[&str] = &[
    "bash",
    "cat",
    "command",
    "echo",
    "env",
    "exec",
    "exit",
    "false",
    "hostname",
    "ls",
    "nvidia-smi",
    "printenv",
    "sh",
    "sleep",
    "stty",
    "true",
];

/// Programs that only a shell has.
const BUILT_IN: [&str; 3] = ["command", "exec", "exit"];

pub(super) fn run(argv: &[String], view: &View) -> Outcome {
    let (program, arguments) = argv.split_first().map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let name = ["/bin/", "/usr/bin/", "/usr/local/bin/"]
        .iter()
        .find_map(|folder| program.strip_prefix(folder))
        .unwrap_or(program);
    match name {
        "sh" | "bash" => shell(name, &arguments, view),
        "echo" => echo(&arguments),
        "env" | "printenv" => environment(&arguments, view),
        "cat" => each(&arguments, "cat", |path| text(path, view)),
        "ls" => ls(&arguments, view),
        "sleep" => sleep(&arguments),
        "exit" => {
            let code = arguments.first().and_then(|code| code.parse().ok()).unwrap_or(0);
            Outcome { exits: true, ..Outcome::ends(code) }
        }
        "true" | "" => Outcome::ends(0),
        "false" => Outcome::ends(1),
        "hostname" => Outcome::says(format!("{}\n", view.hostname)),
        "nvidia-smi" => nvidia_smi(&arguments, view),
        "command" => match arguments.as_slice() {
            ["-v", program] if PROGRAMS.contains(program) => {
                let folder = if BUILT_IN.contains(program) { "" } else { "/bin/" };
                Outcome::says(format!("{folder}{program}\n"))
            }
            _ => Outcome::ends(1),
        },
        "exec" => Outcome { exits: true, ..run(&argv[1..], view) },
        "stty" => match (arguments.as_slice(), view.terminal) {
            (["size"], Some((columns, rows))) => Outcome::says(format!("{rows} {columns}\n")),
            (["size"], None) => Outcome::fails(1, "stty: standard input: not a terminal\n"),
            _ => Outcome::ends(0),
        },
        _ => Outcome::fails(
            127,
            format!(
                "sh: {program}: not found (a simulated container has no processes; it knows: {})\n",
                PROGRAMS.join(" ")
            ),
        ),
    }
}

fn shell(name: &str, arguments: &[&str], view: &View) -> Outcome {
    let options = arguments.iter().take_while(|word| word.starts_with('-')).count();
    match (&arguments[..options], &arguments[options..]) {
        (options, [text, ..]) if options.iter().any(|option| option.contains('c')) => {
            Outcome { exits: false, ..script(text, view) }
        }
        (_, []) => Outcome { effects: vec![Effect::Shell], ..Outcome::default() },
        (_, [path, ..]) => match text(path, view) {
            Some(text) => Outcome { exits: false, ..script(&text, view) },
            None => Outcome::fails(127, format!("{name}: {path}: No such file or directory\n")),
        },
    }
}

fn echo(arguments: &[&str]) -> Outcome {
    match arguments {
        ["-n", rest @ ..] => Outcome::says(rest.join(" ")),
        all => Outcome::says(format!("{}\n", all.join(" "))),
    }
}

/// All variables, each once, or the values of those that are named.
fn environment(names: &[&str], view: &View) -> Outcome {
    if names.is_empty() {
        let is_last = |at: usize, name: &str| {
            view.environment[at + 1..].iter().all(|(later, _)| later != name)
        };
        let own = view.environment.iter().enumerate().filter(|(at, (name, _))| is_last(*at, name));
        return Outcome::says(own.fold(String::new(), |mut all, (_, (name, value))| {
            let _infallible = writeln!(all, "{name}={value}");
            all
        }));
    }
    let mut outcome = Outcome::default();
    for name in names {
        match view.variable(name) {
            Some(value) => outcome.effects.push(Effect::Out(format!("{value}\n"))),
            None => outcome.code = 1,
        }
    }
    outcome
}

/// The text of a file.
fn text(path: &str, view: &View) -> Option<String> {
    match path {
        "/etc/hostname" => Some(format!("{}\n", view.hostname)),
        "/dev/null" => Some(String::new()),
        _ => view.files.get(path).cloned(),
    }
}

/// Prints what a program says of each of its arguments; one without an answer is not there.
fn each(paths: &[&str], name: &str, answer: impl Fn(&str) -> Option<String>) -> Outcome {
    let mut outcome = Outcome::default();
    if paths.is_empty() {
        outcome.effects.push(Effect::Copy);
    }
    for path in paths {
        let effect = match answer(path) {
            Some(text) if text.is_empty() => continue,
            Some(text) => Effect::Out(text),
            None => {
                outcome.code = 1;
                Effect::Err(format!("{name}: {path}: No such file or directory\n"))
            }
        };
        outcome.effects.push(effect);
    }
    outcome
}

/// Files and folders below a path, of those that are mounted: there are no others.
fn ls(arguments: &[&str], view: &View) -> Outcome {
    let paths: Vec<&str> =
        arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let paths = if paths.is_empty() { vec!["/"] } else { paths };
    each(&paths, "ls", |path| {
        if view.files.contains_key(path) {
            return Some(format!("{path}\n"));
        }
        let folder = format!("{}/", path.trim_end_matches('/'));
        let known = view.files.keys().chain(&view.mounts);
        let below = known.filter_map(|known| known.strip_prefix(&folder));
        let mut names: Vec<&str> = below
            .filter_map(|rest| rest.split('/').next())
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        names.dedup();
        let is_there = !names.is_empty()
            || view.mounts.iter().any(|mount| *mount == path.trim_end_matches('/'));
        (is_there || path == "/").then(|| names.iter().flat_map(|name| [*name, "\n"]).collect())
    })
}

fn sleep(arguments: &[&str]) -> Outcome {
    match arguments {
        ["infinity"] => {
            Outcome { effects: vec![Effect::Sleep(Duration::MAX)], ..Outcome::default() }
        }
        [text] => match text
            .trim_end_matches('s')
            .parse::<f64>()
            .ok()
            .and_then(|s| Duration::try_from_secs_f64(s).ok())
        {
            Some(time) => Outcome { effects: vec![Effect::Sleep(time)], ..Outcome::default() },
            None => Outcome::fails(1, format!("sleep: invalid time interval '{text}'\n")),
        },
        _ => Outcome::fails(1, "sleep: one time is needed\n"),
    }
}

fn nvidia_smi(arguments: &[&str], view: &View) -> Outcome {
    if view.devices.is_empty() {
        return Outcome { code: 6, ..Outcome::says("No devices were found\n") };
    }
    let lines = view.devices.iter().enumerate();
    let lines = lines.map(|(at, (model, uuid))| format!("GPU {at}: {model} (UUID: {uuid})\n"));
    match arguments {
        ["-L" | "--list-gpus"] | [] => Outcome::says(lines.collect::<String>()),
        _ => Outcome::fails(2, "nvidia-smi: of a simulated device only the list is known: -L\n"),
    }
}
