//! Whatever was applied, deleted, missed and listed anew: the engine has been told what a full list of what is there would
//! tell it (invariant S13).

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Delta, Pod, PodId};
use kai_scheduler::{
    ingest::{Ingest, Kind},
    names::Number,
};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::Value;

use super::{Case, advance, cases, ingest, kind, spoken::Spoken, text::line};

/// A thing that happens between the API server and the ingest, about the object of a number.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Applied(usize),
    Deleted(usize),
    /// It comes, or changes, and nobody hears of it before the next list.
    AppliedUnheard(usize),
    DeletedUnheard(usize),
    /// All objects of its kind are listed.
    Listed(usize),
    /// The loop goes round.
    Round,
}

fn happens() -> impl Strategy<Value = Happens> {
    let number = || any::<usize>();
    prop_oneof![
        6 => number().prop_map(Happens::Applied),
        3 => number().prop_map(Happens::Deleted),
        1 => number().prop_map(Happens::AppliedUnheard),
        1 => number().prop_map(Happens::DeletedUnheard),
        2 => number().prop_map(Happens::Listed),
        2 => Just(Happens::Round),
    ]
}

/// An ingest, the objects that are there, and all that an engine was told and holds for true.
struct World {
    ingest: Ingest,
    objects: BTreeMap<(Kind, String), Value>,
    told: BTreeMap<(&'static str, u64), Delta>,
    /// Kinds of which something was not heard.
    unheard: BTreeSet<Kind>,
}

impl World {
    fn new(case: &Case) -> Self {
        let (objects, told, unheard) = Default::default();
        let mut world = Self { ingest: ingest(case), objects, told, unheard };
        world.round();
        world
    }

    fn happens(&mut self, what: Happens, objects: &[Value]) {
        let (Happens::Applied(number)
        | Happens::Deleted(number)
        | Happens::AppliedUnheard(number)
        | Happens::DeletedUnheard(number)
        | Happens::Listed(number)) = what
        else {
            return self.round();
        };
        let object = &objects[number % objects.len()];
        let (kind, bytes) = (kind_of(object), object.to_string());
        match what {
            Happens::Applied(_) => {
                let before = self.objects.insert(key(object), object.clone());
                // Another object of a name comes once the one before is gone.
                if let Some(before) = before.filter(|before| uid(before) != uid(object)) {
                    self.ingest
                        .deleted(kind, before.to_string().as_bytes())
                        .expect("it can be read");
                }
                self.ingest.applied(kind, bytes.as_bytes()).expect("it can be read");
            }
            Happens::Deleted(_) => {
                // What was never heard of is not heard to be deleted.
                if !self.unheard.contains(&kind)
                    && let Some(before) = self.objects.remove(&key(object))
                {
                    self.ingest
                        .deleted(kind, before.to_string().as_bytes())
                        .expect("it can be read");
                }
            }
            Happens::AppliedUnheard(_) => {
                self.objects.insert(key(object), object.clone());
                self.unheard.insert(kind);
            }
            Happens::DeletedUnheard(_) => {
                self.objects.remove(&key(object));
                self.unheard.insert(kind);
            }
            Happens::Listed(_) => self.list(kind),
            Happens::Round => {}
        }
    }

    fn list(&mut self, kind: Kind) {
        self.ingest.begin(kind);
        for object in self.objects.iter().filter(|((of, _), _)| *of == kind).map(|(_, one)| one) {
            self.ingest.applied(kind, object.to_string().as_bytes()).expect("it can be read");
        }
        self.ingest.end(kind);
        self.unheard.remove(&kind);
    }

    /// Lets the loop go round, until nothing is asked for.
    fn round(&mut self) {
        loop {
            advance(&mut self.ingest);
            self.tell();
            let told = &self.told;
            self.ingest.tell_again(
                &|pod: PodId| match told.get(&("pod", u64::from(pod.number()))) {
                    Some(Delta::Pod(_, facts)) => Some(Pod::clone(facts)),
                    _ => None,
                },
            );
            self.tell();
            let again = std::mem::take(&mut self.ingest.context.resync);
            if again.is_empty() {
                return;
            }
            for kind in again {
                self.list(kind);
            }
        }
    }

    fn tell(&mut self) {
        for delta in self.ingest.context.deltas.drain(..) {
            match place(&delta) {
                Some((at, true)) => drop(self.told.insert(at, delta)),
                Some((at, false)) => drop(self.told.remove(&at)),
                None => {}
            }
        }
    }

    /// Counts what is kept by name. Names of devices, of counters, of topologies and
    /// of what several nodes reach stay, as do those of shared GPUs.
    fn kept(&self) -> [(&'static str, usize); 5] {
        let names = &self.ingest.context.names;
        [
            ("nodes", names.nodes.iter().count()),
            ("queues", names.queues.iter().count()),
            ("groups", names.groups.iter().count()),
            ("pods", names.pods.iter().count()),
            ("claims", names.claims.iter().count()),
        ]
    }

    /// Lists the labels of pods that were told; those stay that were selected by something before.
    fn labels(&self) -> BTreeSet<(String, String)> {
        let names = &self.ingest.context.names;
        let mut labels = BTreeSet::new();
        for delta in self.told.values() {
            let Delta::Pod(id, pod) = delta else { continue };
            let uid = names.pods.key(id.number());
            let of_pod =
                pod.labels.iter().map(|(key, value)| (names.text(*key), names.text(*value)));
            labels.extend(of_pod.map(|(key, value)| (uid.to_string(), format!("{key}={value}"))));
        }
        labels
    }

    /// All that is told, one line each, whatever its numbers and the order of what it lists. What claims select of a device
    /// class has no name, and is let go by and by, so that it is left out; so are attributes that no claim names,
    /// labels of pods, and starts of groups, which only a list has worked out from pods.
    fn says(&self) -> Vec<String> {
        let names = Spoken { names: &self.ingest.context.names, is_by_name: true };
        let line = |delta: &Delta| {
            let text = line(delta, &names);
            let mut words: Vec<&str> = text.split([' ', ',', '[', ']', '(', ')', '+']).collect();
            let is_of_history =
                |word: &str| ["label=", "started="].iter().any(|start| word.starts_with(start));
            words.retain(|word| !word.is_empty() && *word != "#" && !is_of_history(word));
            let at = words.len().min(2);
            words[at..].sort_unstable();
            words.join(" ")
        };
        // One that counts on without an object is of history too.
        let is_orphan = |delta: &&Delta| {
            let Delta::Group(id, _) = delta else { return false };
            let row = id.number();
            names.groups[row].holders > 0 && self.ingest.groups.object(row).is_none()
        };
        // So does a claim whose pods hold what it gave.
        let is_held = |delta: &&Delta| {
            let Delta::Claim(id, claim) = delta else { return false };
            names.claims[id.number()].holders > 0 && claim.allocation.is_some()
        };
        let told = self.told.values().filter(|delta| !is_orphan(delta) && !is_held(delta));
        let mut lines: Vec<String> = told.map(line).collect();
        lines.retain(|line| !line.starts_with("class") || line.contains(" backs "));
        lines.sort();
        lines
    }
}

/// The place of a delta, and whether it tells of something that is there; none where it is no object's.
fn place(delta: &Delta) -> Option<((&'static str, u64), bool)> {
    let (what, number, is_there) = match delta {
        Delta::Node(id, _) => ("node", id.number(), true),
        Delta::NodeGone(id) => ("node", id.number(), false),
        Delta::Queue(id, _) => ("queue", id.number(), true),
        Delta::QueueGone(id) => ("queue", id.number(), false),
        Delta::Group(id, _) => ("group", id.number(), true),
        Delta::GroupGone(id) => ("group", id.number(), false),
        Delta::Pod(id, _) => ("pod", id.number(), true),
        Delta::PodGone(id) => ("pod", id.number(), false),
        Delta::Topology(id, _) => ("topology", id.number(), true),
        Delta::TopologyGone(id) => ("topology", id.number(), false),
        Delta::Budget(id, _) => ("budget", id.number(), true),
        Delta::BudgetGone(id) => ("budget", id.number(), false),
        Delta::NamespaceSelector(selector, namespace, is_meant) => {
            let pair = u64::from(selector.number()) << 32 | u64::from(namespace.number());
            return Some((("namespace selector", pair), *is_meant));
        }
        Delta::Claim(id, _) => ("claim", id.number(), true),
        Delta::ClaimGone(id) => ("claim", id.number(), false),
        Delta::DeviceClass(id, _) => ("class", id.number(), true),
        Delta::DeviceClassGone(id) => ("class", id.number(), false),
        Delta::Slices(id, devices) => ("slices", id.number(), !devices.is_empty()),
        Delta::Reach(id, reach) => ("reach", id.number(), !reach.devices.is_empty()),
        Delta::Zones(id, numa) => ("zones", id.number(), numa.is_some()),
        Delta::ClaimsServed(_) => ("claims served", 0, true),
        Delta::SetAside(id, gpus) => ("set aside", id.number(), *gpus > 0),
        // What has been named stays named, and no object is an outcome.
        Delta::Spelling(..)
        | Delta::Lane(..)
        | Delta::Counter(..)
        | Delta::Bound(_)
        | Delta::BindFailed(_)
        | Delta::Evicted(_)
        | Delta::EvictFailed(_)
        | Delta::EvictWithdrawn(_) => return None,
    };
    Some(((what, u64::from(number)), is_there))
}

fn kind_of(object: &Value) -> Kind {
    kind(object["kind"].as_str().expect("an object has a kind"))
}

fn key(object: &Value) -> (Kind, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    (kind_of(object), format!("{}/{}", text("namespace"), text("name")))
}

fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// The objects that a file applies; of a pod the last of its states: a pod does not go back.
fn objects(case: &Case) -> Vec<Value> {
    let mut objects: Vec<Value> = Vec::new();
    for object in case.objects.iter().filter(|one| one["kind"].is_string()) {
        if object["kind"] == "Pod" {
            objects.retain(|other| (key(other), uid(other)) != (key(object), uid(object)));
        }
        objects.push(object.clone());
    }
    objects
}

/// Lets things happen to objects, and compares what was told with what a full list would tell.
fn check(case: &Case, objects: &[Value], history: Vec<Happens>) -> Result<(), TestCaseError> {
    let mut world = World::new(case);
    for what in history {
        world.happens(what, objects);
    }
    for kind in std::mem::take(&mut world.unheard) {
        world.list(kind);
    }
    world.round();
    let mut fresh = World::new(case);
    fresh.objects.clone_from(&world.objects);
    for kind in Kind::ALL {
        fresh.list(kind);
    }
    fresh.round();
    if !case.remembers {
        prop_assert_eq!(world.says(), fresh.says());
    }
    prop_assert!(world.labels().is_superset(&fresh.labels()));
    // What is gone leaves nothing behind (L8).
    world.objects.clear();
    for kind in Kind::ALL {
        world.list(kind);
    }
    world.round();
    prop_assert_eq!(world.says(), World::new(case).says());
    prop_assert_eq!(world.kept(), World::new(case).kept());
    Ok(())
}

/// As many cases as in any property, so many times.
fn runner(times: u32) -> TestRunner {
    let usual = ProptestConfig::default();
    let cases = usual.cases.saturating_mul(times);
    TestRunner::new(ProptestConfig { failure_persistence: None, cases, ..usual })
}

#[test]
fn what_was_told_is_what_a_full_list_would_tell() {
    for (file, case) in cases() {
        let objects = objects(&case);
        if objects.is_empty() {
            continue;
        }
        let histories = proptest::collection::vec(happens(), 0..60);
        let checked = runner(1).run(&histories, |history| check(&case, &objects, history));
        if let Err(error) = checked {
            panic!("{file}: {error}");
        }
    }
}

/// The objects of a file with other UIDs than those of any other file.
fn apart(objects: &[Value]) -> Vec<Value> {
    fn set_apart(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if key == "uid"
                        && let Value::String(uid) = value
                    {
                        *uid = match uid.strip_prefix("00000000-") {
                            Some(rest) => format!("00000001-{rest}"),
                            None => format!("other-{uid}"),
                        };
                    } else {
                        set_apart(value);
                    }
                }
            }
            Value::Array(all) => all.iter_mut().for_each(set_apart),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut objects = objects.to_vec();
    objects.iter_mut().for_each(set_apart);
    objects
}

/// Objects of two files meet, whose authors did not think of each other.
#[test]
fn so_it_is_where_the_objects_of_two_files_meet() {
    let mut files = cases();
    files.retain(|(_, case)| !case.remembers && !objects(case).is_empty());
    let number = || 0..files.len();
    let histories = (number(), number(), proptest::collection::vec(happens(), 0..80));
    let checked = runner(16).run(&histories, |(one, other, history)| {
        let [(of_one, case), (of_other, beside)] = [&files[one], &files[other]];
        let both = [objects(case), apart(&objects(beside))].concat();
        check(case, &both, history)
            .map_err(|error| TestCaseError::fail(format!("{of_one}, {of_other}: {error}")))
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
}
