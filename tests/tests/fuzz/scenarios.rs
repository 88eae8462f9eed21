//! Scenario files: what the engine's tests are written in, and what `simulate` reads.

use kai_sim::{run::run, scenario::parse};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    cases,
    corpus::{SCENARIO_VALUES, SCENARIOS},
    spoil,
};

/// A file may ask for as many cycles as it likes, and for as many pods and devices; so many are enough here.
const CYCLES_MAX: u32 = 4;
const COUNT_MAX: u64 = 1_000;

/// Bounds what is made one by one.
fn bound(value: &mut Value) {
    match value {
        Value::Array(rows) => rows.iter_mut().for_each(bound),
        Value::Object(table) => {
            for (key, value) in table.iter_mut() {
                let is_count = ["pods", "count"].contains(&key.as_str());
                if is_count && value.as_u64().is_some_and(|count| count > COUNT_MAX) {
                    *value = json!(COUNT_MAX);
                }
                bound(value);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(cases(4))]
    #[test]
    fn scenarios_are_refused_in_a_sentence_or_planned(
        at: prop::sample::Index, damage in spoil::much(), is_text: bool,
    ) {
        let text = if is_text {
            spoil::text_among(at.get::<String>(&SCENARIOS), &SCENARIOS, damage)
        } else {
            let mut value = at.get(&SCENARIO_VALUES).clone();
            spoil::value_among(&mut value, &SCENARIO_VALUES, damage);
            bound(&mut value);
            value.to_string()
        };
        let reports = parse(&text).and_then(|mut scenario| {
            scenario.cycles = scenario.cycles.map(|cycles| cycles.min(CYCLES_MAX));
            Ok((run(&scenario)?, run(&scenario)?))
        });
        match reports {
            Ok((report, again)) => {
                let is_wrong = |fault: &&String| fault.starts_with("wrong books");
                prop_assert_eq!(report.faults.iter().find(is_wrong), None);
                prop_assert_eq!(report, again, "two runs differ");
            }
            Err(error) => {
                let said = error.to_string();
                prop_assert!(said.chars().any(char::is_alphabetic), "it says nothing: {:?}", said);
            }
        }
    }
}
