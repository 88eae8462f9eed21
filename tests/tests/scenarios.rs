//! Every file of `tests/scenarios`: its plan must read as written, its books must balance, and the cluster must come
//! to rest. `KAI_BLESS=1` writes what the engine plans into the files, `KAI_SCENARIO=text` picks files by name.

use std::{
    fmt::Write,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use kai_sim::{
    run::{Report, run},
    scenario::parse,
};

/// A scenario is read on one screen.
const LINES_MAX: usize = 60;

#[test]
fn every_scenario_plans_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let bless = std::env::var_os("KAI_BLESS").is_some();
    let only = std::env::var("KAI_SCENARIO").unwrap_or_default();
    let mut files = yaml_files(&folder);
    files.retain(|path| path.to_string_lossy().contains(&only));
    assert!(!files.is_empty(), "there is no scenario below {}", folder.display());
    let mut faults = String::new();
    for path in &files {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        for fault in check(path, bless) {
            let _ = writeln!(faults, "\n{name}: {fault}");
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// DESIGN.md says where each surprise of KAI that is fixed can be seen: it can.
#[test]
fn what_the_design_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let design = fs::read_to_string(root.join("DESIGN.md")).expect("the file is readable");
    let rows = design.lines().filter(|line| line.starts_with("| Q"));
    let mut names = 0;
    for row in rows {
        let seen_in = row.trim_end_matches(" |").rsplit(" | ").next().expect("a row has cells");
        for name in seen_in.split('`').skip(1).step_by(2) {
            let places =
                [format!("tests/scenarios/{name}.yaml"), format!("{name}.yaml"), name.into()];
            assert!(places.iter().any(|place| root.join(place).is_file()), "{name} of: {row}");
            names += 1;
        }
    }
    assert!(names > 0, "no row of the table was found");
}

fn check(path: &Path, bless: bool) -> Vec<String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return vec![error.to_string()],
    };
    let lines = text.lines().count();
    let mut faults = Vec::new();
    if lines > LINES_MAX {
        faults.push(format!("{lines} lines, at most {LINES_MAX} fit a screen"));
    }
    let scenario = match parse(&text) {
        Ok(scenario) => scenario,
        Err(error) => return vec![error.to_string()],
    };
    let report = match catch_unwind(AssertUnwindSafe(|| run(&scenario))) {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => return vec![error.to_string()],
        Err(_) => return vec!["the engine panicked".to_owned()],
    };
    faults.extend(report.faults.iter().cloned());
    if let Some(help) = scenario.help.filter(|help| *help != report.help) {
        faults.push(diff(&help, &report.help));
    }
    if report.text != scenario.expect {
        if bless {
            write(path, &text, &report);
        } else {
            faults.push(diff(&scenario.expect, &report.text));
        }
    }
    faults
}

/// Puts the plan in place of what the file expects; `expect` is its last key.
fn write(path: &Path, text: &str, report: &Report) {
    let head = text.find("\nexpect:").map_or(text, |at| &text[..at]);
    let mut blessed = format!("{}\nexpect: |\n", head.trim_end());
    for line in report.text.lines() {
        let _ = writeln!(blessed, "  {line}");
    }
    fs::write(path, blessed).expect("the scenario is writable");
}

fn diff(expect: &str, plan: &str) -> String {
    let diff = similar::TextDiff::from_lines(expect, plan);
    format!("another plan than expected\n{}", diff.unified_diff().header("expected", "planned"))
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is readable")
        .map(|entry| entry.expect("the folder is readable").path())
        .collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files
}
