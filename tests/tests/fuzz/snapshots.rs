//! Snapshot files.

use std::io::Write as _;

use kai_scheduler::{
    ingest::Kind,
    snapshot::{ARRAYS, Snapshot},
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::{cases, corpus::WATCHED, spoil};

/// A snapshot of recorded objects.
fn file(rows: &[usize]) -> Value {
    let mut raw = json!({});
    for array in ARRAYS.iter() {
        let of = |object: &&Value| {
            let kind = Kind::ALL.into_iter().find(|kind| object["kind"] == kind.name());
            kind.and_then(Kind::array) == Some(array.key)
        };
        let objects: Vec<&Value> = rows.iter().map(|at| &WATCHED[*at]).filter(of).collect();
        raw[array.key] = json!(objects);
    }
    json!({"config": {}, "schedulerParams": {}, "rawObjects": raw})
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut stored = tempfile::NamedTempFile::new().expect("a temporary file");
    stored.write_all(bytes).expect("it can be written");
    match Snapshot::read(stored.path()) {
        Ok(mut snapshot) => {
            prop_assert_eq!(snapshot.cluster.check(), Vec::<String>::new());
            snapshot.plan();
            prop_assert_eq!(snapshot.cluster.check(), Vec::<String>::new());
        }
        Err(error) => {
            let said = error.to_string();
            let name = stored.path().display().to_string();
            prop_assert!(said.contains(&name), "it does not name the file: {}", said);
            prop_assert!(!said.contains('\n'), "it is more than a line: {}", said);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(2))]
    #[test]
    fn snapshots_are_refused_in_a_sentence_or_planned(
        rows in vec(0..WATCHED.len(), 1..24), of_values in spoil::damage(), of_text in spoil::damage(), is_text: bool,
    ) {
        let mut file = file(&rows);
        spoil::value(&mut file, of_values);
        let mut text = file.to_string();
        if is_text {
            text = spoil::text(&text, of_text);
        }
        check(text.as_bytes())?;
    }
}
