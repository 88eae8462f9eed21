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
//! | [`decoding`] | clusters of watched objects, in which there is something to decide | the engine's books agree; a second list of the same, and fields that no kind has, decide nothing |
//! | [`snapshots`] | snapshot files, and archives of them | broken ones are refused in a sentence; the others plan, and the books agree; one thread reads what two do |
//! | [`selections`] | CEL of device requests | costs stay in their bound; no opposite holds as well; what a real API server takes is understood |
//! | [`grouping`] | workloads and `Karta` paths, with KAI's rules and ours | a `PodGroup` within its bounds, which is not written twice; a mark after which there is none; fields that no kind has change nothing |
//! | [`manifests`] | files for `submit -f`, and templates | what is printed is taken again, and comes out the same |
//! | [`paths`] | templates of `JSONPath`, and spoilt objects | what kubectl prints; one behind another prints what both print |
//! | [`kubeconfigs`] | kubeconfig files, as JSON and YAML | used, or refused in one error that names the file |
//! | [`requests`] | requests to the embedded API server, half of them where their kind lies | never a 500; what is refused or rehearsed changes nothing; what is made can be read |
//! | [`patches`] | patches of three kinds | what a real API server makes of them |
//! | [`selectors`] | label and field selectors | what a real API server finds |
//! | [`scenarios`] | scenario files, as text and as values | refused in a sentence, or carried out, and the books agree in each cycle; two runs are the same |
//!
//! Damage ([`spoil`]) follows the structure of a value, or the lines, words and letters of a text; where the answer is not
//! compared with that of another program, it also takes parts of other inputs, and what is far too long, deep or large.
//!
//! Quantities and durations (`api/src/quantity`, `api/src/duration`) and admission bodies (`podgrouper/tests`) have properties
//! of their own, which make the number of targets fourteen: what is read is printed and read again; questions are answered
//! with their own names, and groups judged whatever the order of their sub-groups.

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
