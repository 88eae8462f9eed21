//! Every case of `tests/oracle/cases` against the engine, held by a ratchet.
//!
//! `tests/oracle/misses.txt` lists the cases that we miss. A case that is not listed has to pass, and one that is
//! listed has to miss: who repairs one takes it off. `KAI_BLESS=1` writes the list anew. What stays on it is explained
//! in `tests/oracle-differences.md`.

use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

use kai_tests::oracle::{judge_folder, texts_of_folder};

#[test]
fn cases_pass_but_for_those_that_are_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle");
    let list = folder.join("misses.txt");
    let (lines, unknown) = judge_folder(&folder.join("cases")).expect("the cases are readable");
    assert!(unknown.is_empty(), "files of an unknown family: {unknown:?}");
    assert!(lines.len() >= 500, "only {} cases were found", lines.len());
    let missed: BTreeSet<&str> = lines
        .iter()
        .filter(|line| !line.differences.is_empty())
        .map(|line| line.id.as_str())
        .collect();
    if std::env::var_os("KAI_BLESS").is_some() {
        let text: String = missed.iter().flat_map(|id| [id, "\n"]).collect();
        fs::write(&list, text).expect("the list is writable");
        return;
    }
    let listed = fs::read_to_string(&list).expect("the list is readable");
    let listed: BTreeSet<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
    let mut faults = String::new();
    for line in lines.iter().filter(|line| !line.differences.is_empty()) {
        if !listed.contains(line.id.as_str()) {
            let differences = line.differences.join("\n       ");
            let _ = writeln!(faults, "fails: {} ({})\n       {differences}", line.id, line.name);
        }
    }
    for id in listed.difference(&missed) {
        let _ = writeln!(faults, "passes now, or is gone; take it off misses.txt: {id}");
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn what_is_said_of_jobs_is_what_the_peer_says() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/cases");
    let texts = texts_of_folder(&cases).expect("the cases are readable");
    assert!(texts.len() >= 3, "only {} texts were found", texts.len());
    for [job, peer, ours] in &texts {
        assert_eq!(peer, ours, "{job}");
    }
}

#[test]
fn every_miss_is_explained() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = fs::read_to_string(tests.join("oracle/misses.txt")).expect("the list is readable");
    let explained =
        fs::read_to_string(tests.join("oracle-differences.md")).expect("the page is readable");
    let silent: Vec<&str> = listed.lines().filter(|id| !explained.contains(id)).collect();
    assert!(silent.is_empty(), "tests/oracle-differences.md has no reason for {silent:#?}");
}
