//! All programs in one file, which is what an image holds: each runs under its own name, or as the first argument.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// A program: its name, and what runs it with a command line that begins with that name.
struct Program {
    name: &'static str,
    main: fn(Vec<OsString>) -> ExitCode,
}

const PROGRAMS: [Program; 5] = [
    Program { name: "kai-scheduler", main: kai_scheduler::program::main },
    Program { name: "kai-podgrouper", main: kai_podgrouper::program::main },
    Program { name: "kai-reservation", main: kai_reservation::program::main },
    Program { name: "kubectl-kai", main: kubectl_kai::program::main },
    // The name under which kubectl asks for completions.
    Program { name: "kubectl_complete-kai", main: kubectl_kai::program::main },
];

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some((program, words)) = choose(words) {
        return (program.main)(words);
    }
    let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
    // Where this cannot be printed, the exit code says it.
    let _ = writeln!(
        std::io::stderr(),
        "kai holds several programs: {}\nUsage: kai PROGRAM [ARGUMENT]..., or a link to it with the name of a program",
        names.join(", ")
    );
    ExitCode::from(2)
}

/// Finds the program, and the command line that it is to have.
fn choose(mut words: Vec<OsString>) -> Option<(&'static Program, Vec<OsString>)> {
    let named = |word: Option<&OsString>| {
        let name = word.map(Path::new).and_then(Path::file_name)?;
        PROGRAMS.iter().find(|program| name == program.name)
    };
    if let Some(program) = named(words.first()) {
        return Some((program, words));
    }
    let program = named(words.get(1))?;
    words.remove(0);
    Some((program, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(line: &str) -> Option<(&'static str, String)> {
        let words = line.split_whitespace().map(OsString::from).collect();
        let (program, words) = choose(words)?;
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Some((program.name, words.join(" ")))
    }

    #[test]
    fn a_program_is_named_by_its_link_or_by_the_first_argument() {
        for (line, name, words) in [
            ("kai-scheduler --v=3", "kai-scheduler", "kai-scheduler --v=3"),
            ("/usr/local/bin/kai-podgrouper", "kai-podgrouper", "/usr/local/bin/kai-podgrouper"),
            ("kai kai-reservation --exit", "kai-reservation", "kai-reservation --exit"),
            ("./kai kubectl-kai list", "kubectl-kai", "kubectl-kai list"),
            ("kubectl_complete-kai a", "kubectl_complete-kai", "kubectl_complete-kai a"),
            // The first name counts: a program may have an argument that looks like another.
            ("kubectl-kai kai-scheduler", "kubectl-kai", "kubectl-kai kai-scheduler"),
        ] {
            assert_eq!(chosen(line), Some((name, words.to_owned())), "{line}");
        }
        for line in ["kai", "kai list", "kai --help", "sh kai"] {
            assert_eq!(chosen(line), None, "{line}");
        }
    }
}
