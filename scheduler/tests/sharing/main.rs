//! Shared GPUs as a state machine: what is told, what is decided, and what became of writes against what is to be
//! written. One YAML file per idea.
//!
//! A file has `steps`, and after each the tasks that come of it are printed, a line each. A step is one of
//! `apply: [objects]`, `delete: [names]` (as the watch tells them), `place: [pods]` (what a plan placed together, each with
//! its `node` and `devices`), `bound: pod`, `not_bound: pod`, `reserved: device`, `refused: device`, `unreserved: device`
//! (with what it `said`), `in_use: device`, `asked: device` (with what its users were `told`), `ended: device`, `stripped: pod`,
//! `not_asked: device`, `not_ended: device` and `not_stripped: pod` where that failed, and `at: seconds`.
//! A case that `begins` as the process does has `swept: [pods]` for what its search for reservation pods found that failed before.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use kai_engine::Delta;
use kai_scheduler::{
    Args,
    actuate::{Bind, Ending, Leftover, ShareGrant, ShareOutcome as Outcome, ShareTask, Task},
    ingest::{Ingest, Kind, Rules},
    sharing::Sharing,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    why: String,
    #[serde(default)]
    begins: bool,
    steps: Vec<Step>,
    expect: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Step {
    Apply(Vec<Object>),
    Delete(Vec<String>),
    Place(Vec<Placed>),
    Bound(String),
    NotBound(String),
    Reserved(String),
    Refused(String),
    Unreserved { device: String, said: Option<String> },
    InUse(String),
    Asked { device: String, told: Option<String> },
    NotAsked(String),
    Ended(String),
    NotEnded(String),
    Stripped(String),
    NotStripped(String),
    Swept(Vec<String>),
    At(i64),
}

/// A pod, in the few words that matter here; its `PodGroup` is `group`, or of its own name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    pod: Option<String>,
    reservation: Option<String>,
    /// The name of a reservation pod, where it is not that of its device.
    name: Option<String>,
    node: Option<String>,
    group: Option<String>,
    #[serde(default)]
    devices: Vec<String>,
    uuid: Option<String>,
    phase: Option<String>,
    #[serde(default)]
    leaves: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Placed {
    pod: String,
    node: String,
    #[serde(default)]
    devices: Vec<String>,
}

struct World {
    ingest: Ingest,
    sharing: Sharing,
    /// Holds what was applied last, for deletions.
    objects: BTreeMap<String, Value>,
    now: i64,
    text: String,
}

#[test]
fn every_file_comes_to_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sharing");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|file| file.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() > 5, "the cases are missing");
    let mut failures = String::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let case: Case = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(!case.why.is_empty(), "{}: a reason is missing", file.display());
        let mut world = World::new();
        if !case.begins {
            world.ended(Outcome::Swept(Vec::new()));
        }
        for step in &case.steps {
            world.step(step);
        }
        if world.text.trim() != case.expect.trim() {
            let _ = writeln!(failures, "{} ({}):\n{}", file.display(), case.title, world.text);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

impl World {
    fn new() -> Self {
        let args = Args::default();
        let mut ingest = Ingest::new(Rules::new(&args));
        for node in ["n1", "n2"] {
            let node = json!({"metadata": {"name": node, "uid": node}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
            ingest.applied(Kind::Node, node.to_string().as_bytes()).expect("a node");
        }
        let sharing = Sharing::new(&args, None);
        let mut world =
            Self { ingest, sharing, objects: BTreeMap::new(), now: 0, text: String::new() };
        // What failed before is looked for once.
        let first = world.sharing.settle(0, &world.ingest.context.names);
        assert!(matches!(&*first, [Task::Share(ShareTask::Sweep(_))]), "{first:?}");
        world
    }

    fn step(&mut self, step: &Step) {
        let mut tasks = Vec::new();
        match step {
            Step::Apply(objects) => {
                for object in objects {
                    self.apply(object);
                }
            }
            Step::Delete(names) => {
                for name in names {
                    let object = self.objects.remove(name).expect("what was applied");
                    self.ingest.deleted(Kind::Pod, object.to_string().as_bytes()).expect("a pod");
                }
            }
            Step::Place(pods) => tasks = self.place(pods),
            Step::Bound(pod) => self.sharing.bound(self.pod(pod)),
            Step::NotBound(pod) => self.sharing.not_bound(self.pod(pod)),
            Step::Reserved(device) => {
                self.ended(Outcome::Reserved { device: self.device(device), refused: None });
            }
            Step::Refused(device) => {
                let refused = Some(String::from("forbidden"));
                self.ended(Outcome::Reserved { device: self.device(device), refused });
            }
            Step::Unreserved { device, said } => {
                // Whether it was asked for as a failure is the task's to say; the last line tells.
                let has_failed = self.text.contains(&format!("unreserve {device}, which failed"));
                let ending = Ending::Gone(said.clone());
                self.ended(Outcome::Unreserved { device: self.device(device), has_failed, ending });
            }
            Step::InUse(device) => {
                let device = self.device(device);
                self.ended(Outcome::Unreserved {
                    device,
                    has_failed: false,
                    ending: Ending::InUse,
                });
            }
            Step::Asked { device, told } => {
                let told = told.as_deref().map(Box::from);
                self.ended(Outcome::Asked { device: self.device(device), told, done: true });
            }
            Step::NotAsked(device) => {
                let device = self.device(device);
                self.ended(Outcome::Asked { device, told: None, done: false });
            }
            Step::Ended(device) => {
                self.ended(Outcome::Unprotected { device: self.device(device), done: true });
            }
            Step::NotEnded(device) => {
                self.ended(Outcome::Unprotected { device: self.device(device), done: false });
            }
            Step::Stripped(pod) => self.ended(Outcome::Stripped { pod: self.pod(pod), done: true }),
            Step::NotStripped(pod) => {
                self.ended(Outcome::Stripped { pod: self.pod(pod), done: false });
            }
            Step::Swept(pods) => {
                let leftover =
                    |pod: &String| Leftover { name: Box::from(&**pod), uid: Box::default() };
                self.ended(Outcome::Swept(pods.iter().map(leftover).collect()));
            }
            Step::At(seconds) => self.now = seconds * 1000,
        }
        for told in self.ingest.context.shared.drain(..) {
            self.sharing.told(told);
        }
        tasks.extend(self.sharing.settle(self.now, &self.ingest.context.names));
        self.print(&tasks);
    }

    fn ended(&mut self, outcome: Outcome) {
        self.sharing.ended(outcome, self.now);
    }

    fn pod(&self, name: &str) -> u32 {
        self.ingest.context.names.pods.find(name).expect("a pod that was applied")
    }

    fn device(&self, name: &str) -> u32 {
        self.ingest.context.names.devices.find(name).expect("a device that was named")
    }

    fn apply(&mut self, object: &Object) {
        let (name, namespace, spec) = match (&object.pod, &object.reservation) {
            (Some(pod), None) => (pod.clone(), "ns", json!({"schedulerName": "kai-scheduler"})),
            (None, Some(device)) => {
                let name = object.name.clone().unwrap_or_else(|| format!("r-{device}"));
                (name, "kai-resource-reservation", json!({}))
            }
            _ => panic!("an object is a pod or a reservation"),
        };
        let mut labels = serde_json::Map::new();
        let mut annotations = serde_json::Map::new();
        if let Some(device) = &object.reservation {
            labels.insert("app".into(), json!("kai-resource-reservation"));
            labels.insert("runai-gpu-group".into(), json!(device));
        } else {
            let group = object.group.as_ref().unwrap_or(&name);
            annotations.insert("pod-group-name".into(), json!(group));
            annotations.insert("gpu-fraction".into(), json!("0.5"));
            let group = json!({"metadata": {"name": group, "namespace": "ns", "uid": group}, "spec": {"queue": "q"}});
            self.ingest.applied(Kind::PodGroup, group.to_string().as_bytes()).expect("a group");
        }
        for device in &object.devices {
            labels.insert(format!("runai-gpu-group/{device}"), json!(device));
        }
        if let Some(uuid) = &object.uuid {
            annotations.insert("run.ai/reserve_for_gpu_index".into(), json!(uuid));
        }
        let mut value = json!({
            "metadata": {
                "name": name, "namespace": namespace, "uid": name, "resourceVersion": "1",
                "labels": labels, "annotations": annotations,
            },
            "spec": spec,
            "status": {"phase": object.phase.as_deref().unwrap_or(if object.node.is_some() { "Running" } else { "Pending" })},
        });
        if let Some(node) = &object.node {
            value["spec"]["nodeName"] = json!(node);
        }
        if object.leaves {
            value["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        self.ingest.applied(Kind::Pod, value.to_string().as_bytes()).expect("a pod");
        self.objects.insert(name, value);
    }

    fn place(&mut self, pods: &[Placed]) -> Vec<Task> {
        let mut binds = Vec::new();
        for placed in pods {
            let devices: Vec<u32> = placed
                .devices
                .iter()
                .map(|device| self.ingest.context.names.devices.intern(device))
                .collect();
            let share = ShareGrant {
                devices,
                uuids: Vec::new(),
                portion_micro: 500_000,
                memory_mib: None,
                has_cdi: false,
                maps: None,
            };
            let (name, node) = (Box::from(&*placed.pod), Box::from(&*placed.node));
            binds.push(Task::Bind(Bind {
                pod: self.pod(&placed.pod),
                uid: Box::from(&*placed.pod),
                received: "Fraction",
                share: (!placed.devices.is_empty()).then(|| Box::new(share)),
                ..Bind::without_grants(Box::from("ns"), name, node)
            }));
        }
        self.sharing.begin(binds, &self.ingest.context.names)
    }

    fn print(&mut self, tasks: &[Task]) {
        for task in tasks {
            let line = match task {
                Task::Bind(bind) => {
                    let uuids = bind.share.iter().flat_map(|share| &share.uuids);
                    let uuids: Vec<&str> = uuids.map(|uuid| &**uuid).collect();
                    format!("bind {} to {} with {}", bind.name, bind.node, uuids.join(","))
                }
                Task::Share(ShareTask::Reserve(reserve)) => {
                    let (namespace, name) = &reserve.for_pod;
                    format!(
                        "reserve {} on {} for {namespace}/{name}",
                        reserve.place.group, reserve.place.node
                    )
                }
                Task::Share(ShareTask::Unreserve(unreserve)) if unreserve.has_failed => {
                    format!("unreserve {}, which failed", unreserve.place.group)
                }
                Task::Share(ShareTask::Unreserve(unreserve)) => {
                    format!("unreserve {}", unreserve.place.group)
                }
                Task::Share(ShareTask::Unprotected(lost)) => {
                    format!("end the users of {}", lost.place.group)
                }
                Task::Share(ShareTask::Ask(ask)) => {
                    format!("ask the users of {}: {}", ask.place.group, ask.among.join(" or "))
                }
                Task::Share(ShareTask::Strip(strip)) => {
                    format!("strip {} of {}", strip.name, strip.labels.join(","))
                }
                Task::Share(ShareTask::Sweep(_)) => String::from("sweep"),
                Task::Share(ShareTask::Clear(clear)) => {
                    let names: Vec<&str> = clear.leftovers.iter().map(|one| &*one.name).collect();
                    format!("delete {}", names.join(","))
                }
                Task::Evict(_) | Task::Group(_) | Task::Pod(_) | Task::Event(_) => {
                    format!("{task:?}")
                }
            };
            let _ = writeln!(self.text, "{line}");
        }
        for failed in self.sharing.take_failed() {
            let _ = writeln!(self.text, "not bound {}: {}", failed.bind.name, failed.reason);
        }
        for delta in self.sharing.take_deltas() {
            let line = if let Delta::SetAside(node, count) = delta {
                format!("set aside {count} of node {node:?}")
            } else {
                format!("{delta:?}")
            };
            let _ = writeln!(self.text, "{line}");
        }
    }
}
