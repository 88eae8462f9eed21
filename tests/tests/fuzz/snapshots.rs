//! Snapshot files.

use std::io::Write as _;

use kai_scheduler::{
    ingest::Kind,
    snapshot::{ARRAYS, Snapshot},
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::{
    cases,
    corpus::{CLUSTERS, WATCHED, cluster},
    spoil,
};

/// An archive that KAI v0.17 wrote.
const ARCHIVE: &[u8] = include_bytes!("../../../scheduler/tests/snapshot/kai-v0.17.zip");

/// A snapshot of these objects.
fn file(objects: &[Value]) -> Value {
    let mut raw = json!({});
    for array in ARRAYS.iter() {
        let of = |object: &&Value| {
            let kind = Kind::ALL.into_iter().find(|kind| object["kind"] == kind.name());
            kind.and_then(Kind::array) == Some(array.key)
        };
        let objects: Vec<&Value> = objects.iter().filter(of).collect();
        raw[array.key] = json!(objects);
    }
    json!({"config": {}, "schedulerParams": {}, "rawObjects": raw})
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut stored = tempfile::NamedTempFile::new().expect("a temporary file");
    stored.write_all(bytes).expect("it can be written");
    // One thread reads what two do, or stops at the same place.
    match (Snapshot::read(stored.path()), Snapshot::read_in_one_thread(stored.path())) {
        (Ok(mut snapshot), Ok(mut other)) => {
            prop_assert_eq!(snapshot.cluster.check(), Vec::<String>::new());
            prop_assert_eq!(snapshot.plan(), other.plan());
            prop_assert_eq!(snapshot.cluster.check(), Vec::<String>::new());
            prop_assert_eq!(
                (&snapshot.counts, &snapshot.left_out),
                (&other.counts, &other.left_out)
            );
        }
        (Err(error), Err(other)) => {
            let said = error.to_string();
            let name = stored.path().display().to_string();
            prop_assert!(said.contains(&name), "it does not name the file: {}", said);
            prop_assert!(!said.contains('\n'), "it is more than a line: {}", said);
            prop_assert_eq!(said, other.to_string());
        }
        (two, one) => {
            let why = format!("two threads: {:?}, one: {:?}", two.err(), one.err());
            return Err(TestCaseError::fail(why));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(2))]
    #[test]
    fn snapshots_are_refused_in_a_sentence_or_planned(
        at in 0..CLUSTERS.len(), others in vec(0..WATCHED.len(), 0..12), of_values in spoil::much(),
        of_text in spoil::damage(), is_text: bool,
    ) {
        let mut file = file(&cluster(at, &others));
        spoil::value_among(&mut file, &WATCHED, of_values);
        let mut text = file.to_string();
        if is_text {
            text = spoil::text(&text, of_text);
        }
        check(text.as_bytes())?;
    }

    #[test]
    fn archives_are_refused_in_a_sentence_or_planned(damage in spoil::much()) {
        check(&spoil::bytes(ARCHIVE, damage))?;
    }
}
