//! Inputs that nobody would write: what is recorded in this repository, spoilt, against what must hold of every input.
//!
//! A target takes inputs from a corpus of recorded ones ([`corpus`]), spoils them ([`spoil`]), and asks more of the answer than
//! that nothing panics: a round trip, agreement with kubectl or with a real API server, or the engine's own books.
//!
//! Mutation follows the structure of what it changes and not coverage: fuzzers that follow coverage want a nightly compiler or
//! a C++ one, and this runs on what builds the project, in every run and, with other seeds, in `cargo xtask hunt`.
//!
//! | target | input | what must hold |
//! | --- | --- | --- |
//! | [`decoding`] | objects of every watched kind | the engine's books agree; a second list of the same changes nothing |
//! | [`snapshots`] | snapshot files | broken ones are refused in a sentence; the others plan, and the books agree |
//! | [`selections`] | CEL of device requests | costs stay in their bound; what a real API server takes is understood |
//! | [`grouping`] | workloads and `Karta` paths | a `PodGroup` within its bounds, which is not written twice |
//! | [`manifests`] | files for `submit -f`, and templates | what is printed is taken again, and comes out the same |
//! | [`paths`] | templates of `JSONPath` | what kubectl prints |
//! | [`kubeconfigs`] | kubeconfig files | used, or refused in one error that names the file |
//! | [`requests`] | requests to the embedded API server | never a 500; what is refused changes nothing; what is made can be read |
//! | [`patches`] | patches of four kinds | what a real API server makes of them |
//! | [`selectors`] | label and field selectors | what a real API server finds |
//! | [`scenarios`] | scenario files | refused in a sentence, or planned, and the books agree |
//!
//! Quantities and durations (`api/src/quantity`, `api/src/duration`) and admission bodies (`podgrouper/tests`) have properties
//! of their own, which make the number of targets fourteen.

#![expect(clippy::panic_in_result_fn, reason = "a test ends in its assertion")]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is no list and no table is left as it is"
)]

mod corpus;
mod decoding;
mod grouping;
mod kubeconfigs;
mod manifests;
mod patches;
mod paths;
mod requests;
mod scenarios;
mod selections;
mod selectors;
mod snapshots;
mod spoil;

use proptest::{
    strategy::{Strategy, ValueTree as _},
    test_runner::{Config, TestRunner},
};

/// Eight times as many cases as other properties have, divided by `cost`, for these ask of no engine to search; at least one.
fn cases(cost: u32) -> Config {
    let config = Config::default();
    let cases = (config.cases.saturating_mul(8) / cost).max(1);
    Config { cases, failure_persistence: None, ..config }
}

/// As many inputs as [`cases`]: for what is asked of a server that is away, and not of a function.
fn drawn<S: Strategy>(strategy: S, cost: u32) -> Vec<S::Value> {
    let mut runner = TestRunner::new(cases(cost));
    let count = runner.config().cases;
    let draw = |_| strategy.new_tree(&mut runner).expect("nothing is filtered").current();
    (0..count).map(draw).collect()
}
