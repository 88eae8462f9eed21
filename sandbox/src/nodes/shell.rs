//! Commands in a simulated container, which has no processes: a stand-in for a shell and a handful of programs.
//!
//! Pure: a command becomes what it prints, in order, with the pauses between, and the code it exits with. What is not
//! here ends as in a container that lacks it: 127, not found.

mod programs;
mod words;

use std::collections::BTreeMap;
use std::time::Duration;

/// The view that a process in a container has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct View {
    /// Its variables; the last of a name counts.
    pub(super) environment: Vec<(String, String)>,
    /// Texts of files by their paths.
    pub(super) files: BTreeMap<String, String>,
    /// The places where volumes are mounted.
    pub(super) mounts: Vec<String>,
    /// The devices that it sees: model and UUID, by index.
    pub(super) devices: Vec<(String, String)>,
    pub(super) hostname: String,
    /// Columns and rows of its terminal, where it has one.
    pub(super) terminal: Option<(u16, u16)>,
}

impl View {
    fn variable(&self, name: &str) -> Option<&str> {
        let own = self.environment.iter().rev().find(|(own, _)| own == name);
        own.map(|(_, value)| value.as_str())
    }
}

/// A thing that a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Prints to stdout.
    Out(String),
    /// Prints to stderr.
    Err(String),
    Sleep(Duration),
    /// Prints what it reads until that ends.
    Copy,
    /// Reads commands, a line each, until they end.
    Shell,
}

/// A command by what it does, and how it ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Outcome {
    pub(super) effects: Vec<Effect>,
    pub(super) code: u8,
    /// Ends the shell that ran it.
    pub(super) exits: bool,
}

impl Outcome {
    fn says(text: impl Into<String>) -> Self {
        Self { effects: vec![Effect::Out(text.into())], ..Self::default() }
    }

    fn fails(code: u8, text: impl Into<String>) -> Self {
        Self { effects: vec![Effect::Err(text.into())], code, exits: false }
    }

    fn ends(code: u8) -> Self {
        Self { effects: Vec::new(), code, exits: false }
    }
}

/// Runs a program with its arguments.
pub(super) fn run(argv: &[String], view: &View) -> Outcome {
    programs::run(argv, view)
}

/// Runs a script, or a line that was typed.
pub(super) fn script(text: &str, view: &View) -> Outcome {
    let mut whole = Outcome::default();
    let statements = match words::statements(text) {
        Ok(statements) => statements,
        Err(what) => {
            let text = format!("sh: {what}: the simulated shell does not understand that\n");
            return Outcome::fails(2, text);
        }
    };
    for statement in statements {
        let is_due = match statement.after {
            words::After::Anything => true,
            words::After::Success => whole.code == 0,
            words::After::Failure => whole.code != 0,
        };
        if !is_due {
            continue;
        }
        let expand = |word: &words::Word| word.expand(&|name| variable(name, whole.code, view));
        let argv: Vec<String> = statement.words.iter().filter_map(expand).collect();
        let mut one = if argv.is_empty() { Outcome::ends(0) } else { run(&argv, view) };
        one.effects.retain(|effect| match effect {
            Effect::Out(_) => !statement.hides_stdout,
            Effect::Err(_) => !statement.hides_stderr,
            Effect::Sleep(_) | Effect::Copy | Effect::Shell => true,
        });
        whole.effects.append(&mut one.effects);
        whole.code = one.code;
        if one.exits {
            whole.exits = true;
            break;
        }
    }
    whole
}

fn variable(name: &str, code: u8, view: &View) -> String {
    match name {
        "?" => code.to_string(),
        _ => view.variable(name).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        View {
            environment: vec![("RANK".into(), "3".into()), ("EMPTY".into(), String::new())],
            files: [("/etc/train/lr".to_owned(), "0.1".to_owned())].into(),
            mounts: vec!["/etc/train".into(), "/data".into()],
            devices: vec![("NVIDIA H100 80GB HBM3".into(), "GPU-1".into())],
            hostname: "w-0".into(),
            terminal: Some((80, 24)),
        }
    }

    /// Checks what a script prints, errors in brackets and pauses as their seconds, and its code.
    fn check(text: &str, expect: &str, code: u8) {
        let outcome = script(text, &view());
        let told = outcome.effects.iter().map(|effect| match effect {
            Effect::Out(text) => text.clone(),
            Effect::Err(text) => format!("[{text}]"),
            Effect::Sleep(time) => format!("<{}>", time.as_secs_f64()),
            Effect::Copy => "<copy>".to_owned(),
            Effect::Shell => "<shell>".to_owned(),
        });
        assert_eq!((told.collect::<String>().as_str(), outcome.code), (expect, code), "{text}");
    }

    #[test]
    fn programs_do_what_their_namesakes_do() {
        check("echo a  b", "a b\n", 0);
        check("echo -n a", "a", 0);
        check("env", "RANK=3\nEMPTY=\n", 0);
        check("printenv RANK", "3\n", 0);
        check("printenv NONE", "", 1);
        check("cat /etc/train/lr /etc/hostname", "0.1w-0\n", 0);
        check("cat /nope", "[cat: /nope: No such file or directory\n]", 1);
        check("cat", "<copy>", 0);
        check("ls /etc/train /data /x", "lr\n[ls: /x: No such file or directory\n]", 1);
        check("hostname; sleep 1.5; false", "w-0\n<1.5>", 1);
        check("nvidia-smi -L", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n", 0);
        check("stty size", "24 80\n", 0);
        check("exit 3; echo no", "", 3);
        check("sleep x", "[sleep: invalid time interval 'x'\n]", 1);
        let lacks = "[sh: python: not found (a simulated container has no processes; it knows: ";
        let outcome = script("python train.py", &view());
        assert!(
            matches!(&outcome.effects[..], [Effect::Err(text)] if format!("[{text}").starts_with(lacks))
        );
        assert_eq!(outcome.code, 127);
    }

    #[test]
    fn a_script_is_read_as_a_shell_reads_it() {
        check("echo $RANK \"$RANK-${RANK}\" '$RANK'", "3 3-3 $RANK\n", 0);
        check("echo $EMPTY x $NONE", "x\n", 0);
        check("false || echo b && echo c", "b\nc\n", 0);
        check("true && false; echo $?", "1\n", 0);
        check("echo a # not this\necho \\$b", "a\n$b\n", 0);
        check("echo hidden >/dev/null; cat /x 2> /dev/null", "", 1);
        check("cat /x >/dev/null 2>&1 || echo gone", "gone\n", 0);
        check("sh -c 'echo $RANK; exit 4'; echo $?", "3\n4\n", 0);
        check("command -v bash >/dev/null && exec bash || exec sh", "<shell>", 0);
        check("exec sh -c 'exit 5'; echo no", "", 5);
        for unknown in
            ["ls | wc", "echo $(date)", "x > /tmp/y", "echo 'open", "sleep 1 &", "echo `date`"]
        {
            let outcome = script(unknown, &view());
            assert_eq!(outcome.code, 2, "{unknown}: {outcome:?}");
        }
    }
}
