//! Objects of every watched kind, as they come from a watch.

use std::{collections::BTreeMap, ffi::OsString};

use kai_engine::{Change, Cluster, Config, Plan, Timestamp};
use kai_scheduler::{
    Args,
    cel::{COST_MAX, Selector},
    ingest::{Ingest, Kind, Rules},
};
use proptest::{collection::vec, prelude::*};
use serde_json::Value;

use super::{
    cases,
    corpus::{CLUSTERS, WATCHED, cluster},
    spoil,
};

/// 2026-01-01T00:00:00Z.
const NOW: Timestamp = Timestamp(1_767_225_600_000);
/// So many plans follow on each other until there is nothing more to do, mostly.
const PLANS: usize = 4;

proptest! {
    #![proptest_config(cases(2))]
    #[test]
    fn whatever_is_watched_leaves_the_books_right(
        file in 0..CLUSTERS.len(), others in vec(0..WATCHED.len(), 0..6), damage in spoil::much(),
    ) {
        // They name each other, so most of them are left as they are.
        let mut objects = Value::Array(cluster(file, &others));
        spoil::value_among(&mut objects, &WATCHED, damage);
        let objects = objects.as_array().cloned().unwrap_or_default();
        let mut told = Told::new();
        // Nothing is there at first; what is watched then comes to it.
        told.list(&BTreeMap::new())?;
        let mut last = BTreeMap::new();
        for object in &objects {
            let Some(kind) = kind(object) else { continue };
            let bytes = object.to_string().into_bytes();
            match told.ingest.applied(kind, &bytes) {
                Ok(_) => drop(last.insert((kind.index(), identity(kind, object)), bytes)),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
        let plan = told.advance()?;
        // What a plan decided is in no list yet.
        let was_idle = plan.changes.is_empty();
        told.settle(plan)?;
        let again = told.list(&last)?;
        if was_idle {
            let is_new = |change: &&Change| !matches!(change, Change::Nominate { .. });
            prop_assert_eq!(again.changes.iter().find(is_new), None, "a list of what was told decides");
        }
        // A first list says since when groups run besides; after that nothing comes of the same.
        let is_idle = told.settle(again)?;
        let rest = told.plan()?;
        let later = last.iter().map(|(key, bytes)| (key.clone(), with_more(bytes))).collect();
        let again = told.list(&later)?;
        if is_idle {
            prop_assert_eq!(&rest.changes, &again.changes, "a second list of the same decides");
        }
        // Pods that are to be evicted, and that a list has as before, have groups look again.
        if is_idle && was_idle {
            prop_assert_eq!(&rest, &again, "a second list of the same has somebody look again");
        }
        told.list(&BTreeMap::new())?;
        let placed = told.cluster.pods().filter(|(pod, _)| told.cluster.node_of(*pod).is_some());
        prop_assert_eq!(placed.count(), 0, "pods are placed that nobody lists");
    }
}

fn kind(object: &Value) -> Option<Kind> {
    let name = object["kind"].as_str()?;
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

/// The object with a field of a later version of its kind, before all others.
fn with_more(bytes: &[u8]) -> Vec<u8> {
    [&br#"{"zzz":{"zzz":[0]},"#[..], &bytes[1..]].concat()
}

/// By what the next version of an object is told to be one of it: a pod by its UID, others by their names, in a namespace or
/// in none.
fn identity(kind: Kind, object: &Value) -> String {
    let metadata = &object["metadata"];
    let fields: &[&str] = match kind {
        Kind::Pod => &["uid"],
        kind if kind.is_namespaced() => &["namespace", "name"],
        _ => &["name"],
    };
    let text = |field: &&str| metadata[field].as_str().unwrap_or_default().to_owned();
    fields.iter().map(text).collect::<Vec<_>>().join("/")
}

/// A cluster as it was watched, and as the engine was told of it.
struct Told {
    ingest: Ingest,
    cluster: Cluster,
}

impl Told {
    fn new() -> Self {
        let words = [OsString::from("kai-scheduler")];
        let args = Args::from_command_line(words).expect("no flags are valid flags");
        Self { ingest: Ingest::new(Rules::new(&args)), cluster: Cluster::default() }
    }

    /// Lists of every kind that hold exactly these objects; what is decided then.
    fn list(
        &mut self,
        objects: &BTreeMap<(usize, String), Vec<u8>>,
    ) -> Result<Plan, TestCaseError> {
        for kind in Kind::ALL {
            self.ingest.begin(kind);
            for (_, bytes) in objects.iter().filter(|((of, _), _)| *of == kind.index()) {
                let again = self.ingest.applied(kind, bytes);
                prop_assert!(again.is_ok(), "what was taken is refused: {:?}", again);
            }
            self.ingest.end(kind);
        }
        self.advance()
    }

    /// Tells the engine, and has it plan.
    fn advance(&mut self) -> Result<Plan, TestCaseError> {
        self.ingest.advance(NOW);
        while !self.ingest.context.questions.is_empty() {
            let questions = std::mem::take(&mut self.ingest.context.questions).into_iter();
            let judged = questions.map(|question| {
                let (verdict, _) =
                    Selector::new(&question.expression).judge(&question.device, COST_MAX);
                question.answer(verdict)
            });
            self.ingest.answered(judged.collect());
            self.ingest.advance(NOW);
        }
        self.apply();
        let cluster = &self.cluster;
        self.ingest.tell_again(&|pod| cluster.pod_told(pod));
        self.apply();
        self.plan()
    }

    fn apply(&mut self) {
        for delta in std::mem::take(&mut self.ingest.context.deltas) {
            self.cluster.apply(delta);
        }
    }

    /// Plans until there is nothing more to do; tells whether that was so after [`PLANS`].
    fn settle(&mut self, mut plan: Plan) -> Result<bool, TestCaseError> {
        for _ in 0..PLANS {
            if plan.changes.is_empty() {
                return Ok(true);
            }
            plan = self.plan()?;
        }
        Ok(plan.changes.is_empty())
    }

    /// Plans, and looks at the books before and after.
    fn plan(&mut self) -> Result<Plan, TestCaseError> {
        prop_assert_eq!(self.cluster.check(), Vec::<String>::new());
        let plan = kai_engine::plan(&mut self.cluster, &Config::default(), NOW);
        prop_assert_eq!(self.cluster.check(), Vec::<String>::new());
        Ok(plan)
    }
}
