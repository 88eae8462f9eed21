//! Scenario files: what the engine's tests are written in, and what `simulate` reads.

use kai_engine::{Timestamp, plan};
use kai_sim::{build::build, scenario::parse};
use proptest::prelude::*;

use super::{cases, corpus::SCENARIOS, spoil};

/// 2026-01-01T00:00:00Z.
const NOW: Timestamp = Timestamp(1_767_225_600_000);

proptest! {
    #![proptest_config(cases(1))]
    #[test]
    fn scenarios_are_refused_in_a_sentence_or_planned(at in 0..SCENARIOS.len(), damage in spoil::damage()) {
        let text = spoil::text(&SCENARIOS[at], damage);
        let world = parse(&text).map_err(|error| error.to_string()).and_then(|scenario| {
            build(&scenario).map_err(|error| error.to_string())
        });
        match world {
            Ok(mut world) => {
                prop_assert_eq!(world.cluster.check(), Vec::<String>::new());
                plan(&mut world.cluster, &world.config, NOW);
                prop_assert_eq!(world.cluster.check(), Vec::<String>::new());
            }
            Err(said) => prop_assert!(said.chars().any(char::is_alphabetic), "it says nothing: {:?}", said),
        }
    }
}
