//! Situations, a file each in `situations/`: what is asked for is planned, then submitted, and what then happens is what
//! was planned: the nodes, the victims, and that nobody else moves. Who waits is told the cause that was built in.
//!
//! `KAI_SITUATION=taint` plays those alone that have this in their names.

mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client, core::GroupVersionKind, discovery::pinned_kind};
use serde::Deserialize;
use serde_json::Value;
use stage::Sandbox;

/// Sets how long something may take to come true.
const TRUE_WITHIN: Duration = Duration::from_secs(30);
/// For so long what is planned to wait does wait.
const WAITS_FOR: Duration = Duration::from_secs(2);
/// Clusters at once.
const AT_ONCE: usize = 3;

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Situation {
    /// The idea, in one sentence.
    about: String,
    /// The nodes, as `kubectl kai sandbox --nodes` takes them.
    #[serde(default = "two_nodes")]
    nodes: String,
    /// Command lines, and objects that are created or patched, one after the other.
    #[serde(default)]
    given: Vec<Step>,
    /// Work that is planned and then submitted: the words of `submit`.
    #[serde(default)]
    ask: Option<String>,
    /// Work that is planned and then submitted: a manifest.
    #[serde(default)]
    manifest: Option<Value>,
    /// The start that is planned.
    #[serde(default)]
    start: Option<String>,
    /// Workloads that are planned to lose pods, with the action.
    #[serde(default)]
    evicted: BTreeMap<String, String>,
    /// Workloads of one queue in the order in which `explain --order` says that they have their turns, and in which they
    /// then start: the first when the workload `holder` is deleted, each other one when the one before it is.
    #[serde(default)]
    turns: Vec<String>,
    /// The first line that `explain` says of each, without what differs from run to run.
    #[serde(default)]
    explain: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Step {
    /// A command line without `kubectl kai`, or `sleep` with seconds.
    Line(String),
    /// An object; where there is one of its name already it is changed.
    Object(Value),
}

fn two_nodes() -> String {
    "2xH100:8".to_owned()
}

/// A cluster in which a situation is played.
struct Stage {
    _sandbox: Sandbox,
    kubeconfig: String,
    client: Client,
}

impl Stage {
    async fn start(nodes: &str) -> Self {
        let (sandbox, kubeconfig) = Sandbox::start(nodes);
        let config = kube::config::Kubeconfig::read_from(&kubeconfig).expect("it is written");
        let options = kube::config::KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(config, &options).await;
        let client = Client::try_from(config.expect("it is complete")).expect("a client");
        Self { _sandbox: sandbox, kubeconfig, client }
    }

    fn output<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"));
        command.args(words).env_clear().env("KUBECONFIG", &self.kubeconfig);
        command.output().expect("the program runs")
    }

    /// Runs a command line that has to succeed.
    fn run(&self, line: &str) -> Result<String, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = self.output(words);
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn step(&self, line: &str) -> Result<(), String> {
        match line.strip_prefix("sleep ").map(str::parse) {
            Some(Ok(seconds)) => sleep(Duration::from_secs(seconds)),
            Some(Err(error)) => return Err(format!("{line}: {error}")),
            // Nothing that a situation waits for takes long.
            None if line.starts_with("wait ") => drop(self.run(&format!("{line} --timeout 60s"))?),
            None => drop(self.run(line)?),
        }
        Ok(())
    }

    fn json(&self, line: &str) -> Result<Value, String> {
        let said = self.run(&format!("-o json {line}"))?;
        serde_json::from_str(&said).map_err(|error| format!("{line}: {error}"))
    }

    /// Creates an object, or changes the one that has its name.
    async fn write(&self, object: &Value) -> Result<(), String> {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let version = text("/apiVersion");
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let kind = GroupVersionKind::gvk(group, version, text("/kind"));
        let told = |error: kube::Error| format!("{}: {error}", text("/metadata/name"));
        let (resource, capabilities) = pinned_kind(&self.client, &kind).await.map_err(told)?;
        let namespaced = capabilities.scope == kube::discovery::Scope::Namespaced;
        let api: Api<DynamicObject> = if namespaced {
            Api::namespaced_with(self.client.clone(), "default", &resource)
        } else {
            Api::all_with(self.client.clone(), &resource)
        };
        let name = text("/metadata/name");
        if api.get_opt(name).await.map_err(told)?.is_some() {
            let patch = Patch::Merge(object);
            api.patch(name, &PatchParams::default(), &patch).await.map_err(told)?;
            if object.get("status").is_some() {
                api.patch_status(name, &PatchParams::default(), &patch).await.map_err(told)?;
            }
            return Ok(());
        }
        let object = serde_json::from_value(object.clone()).map_err(|error| error.to_string())?;
        api.create(&PostParams::default(), &object).await.map_err(told).map(|_| ())
    }

    /// The nodes of all pods that have one, by workload and pod.
    fn pods(&self) -> Result<BTreeMap<(String, String), String>, String> {
        let pods = self.json("list --pods")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let bound = pods["items"].as_array().into_iter().flatten();
        let bound = bound.filter(|pod| pod["node"].is_string() && pod["status"] != "Terminating");
        Ok(bound
            .map(|pod| {
                let workload = text(&pod["workload"]);
                let name = workload.split_once('/').map_or("", |(_, name)| name).to_owned();
                ((name, text(&pod["name"])), text(&pod["node"]))
            })
            .collect())
    }
}

/// Counts the pods that each node has, or gets.
fn counted(nodes: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for node in nodes {
        *counts.entry(node).or_default() += 1;
    }
    counts
}

/// Says what differs from run to run, made the same.
fn tidy(text: &str) -> String {
    let until = regex::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").expect("written here");
    let text = until.replace_all(text, "TIME");
    let ago = regex::Regex::new(r"\d+m?\d*s ago").expect("written here");
    ago.replace_all(&text, "0s ago").into_owned()
}

impl Situation {
    async fn play(&self) -> Result<(), String> {
        let stage = Stage::start(&self.nodes).await;
        for step in &self.given {
            match step {
                Step::Line(line) => stage.step(line)?,
                Step::Object(object) => stage.write(object).await?,
            }
        }
        let words = match (&self.ask, &self.manifest) {
            (Some(words), _) => Some(words.clone()),
            (None, Some(manifest)) => {
                let path = format!("{}-work.json", stage.kubeconfig);
                std::fs::write(&path, manifest.to_string()).expect("the folder is ours");
                Some(format!("-f {path}"))
            }
            (None, None) => None,
        };
        if let Some(words) = words {
            self.plan(&words, &stage)?;
        }
        for (name, expect) in &self.explain {
            explained(name, expect, &stage)?;
        }
        take_turns(&self.turns, &stage)
    }

    /// Plans work, submits it, and compares.
    fn plan(&self, words: &str, stage: &Stage) -> Result<(), String> {
        let plan = stage.json(&format!("simulate {words}"))?;
        let fate = &plan["workloads"][0];
        let start = fate["start"]["when"].as_str().unwrap_or_default();
        if let Some(expect) = &self.start
            && expect != start
        {
            return Err(format!("planned to start {start:?}, not {expect:?}: {fate:#}"));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let victims = plan["evicted"].as_array().into_iter().flatten();
        let evicted: BTreeMap<String, String> =
            victims.clone().map(|one| (text(&one["name"]), text(&one["action"]))).collect();
        if evicted != self.evicted {
            return Err(format!("planned to evict {evicted:?}, not {:?}", self.evicted));
        }
        let leaving: BTreeSet<String> = victims
            .flat_map(|one| one["pods"].as_array().into_iter().flatten())
            .map(text)
            .collect();
        let name = text(&fate["name"]);
        let starts = matches!(start, "now" | "afterEvictions");
        let places = fate["pods"].as_array().into_iter().flatten();
        let places = places.filter_map(|pod| pod["node"].as_str().map(str::to_owned));
        let places = if starts { counted(places) } else { BTreeMap::new() };
        let before = stage.pods()?;
        let is_manifest = words.starts_with("-f");
        let force = if words.contains("--force") { "" } else { "--force" };
        let tail = if is_manifest { "" } else { "--quiet -- sleep 100000" };
        stage.run(&format!("submit {words} {force} {tail}"))?;
        let end = Instant::now() + TRUE_WITHIN;
        let mut quiet = Instant::now();
        loop {
            let after = stage.pods()?;
            let own = after.iter().filter(|((workload, _), _)| *workload == name);
            let own = counted(own.map(|(_, node)| node.clone()));
            let gone: BTreeSet<String> = before
                .keys()
                .filter(|key| !after.contains_key(*key))
                .map(|(_, pod)| pod.clone())
                .collect();
            let is_so = own == places && gone == leaving;
            if !is_so {
                quiet = Instant::now();
            }
            if is_so && (starts || quiet.elapsed() > WAITS_FOR) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!(
                    "planned on {places:?} while {leaving:?} leave; it is on {own:?}, and {gone:?} left"
                ));
            }
            sleep(Duration::from_millis(200));
        }
    }
}

/// Waits until the turns are said to be these, then has each take its own.
fn take_turns(turns: &[String], stage: &Stage) -> Result<(), String> {
    let end = Instant::now() + TRUE_WITHIN;
    while !turns.is_empty() {
        let told = stage.json("explain --order")?;
        let items = told["items"].as_array().into_iter().flatten();
        let names: Vec<&str> = items.filter_map(|item| item["workload"].as_str()).collect();
        if names == turns {
            break;
        }
        if Instant::now() > end {
            return Err(format!("the turns are said to be {names:?}, not {turns:?}"));
        }
        sleep(Duration::from_millis(200));
    }
    let mut before = "holder";
    for (at, name) in turns.iter().enumerate() {
        stage.run(&format!("delete {before} --yes"))?;
        stage.step(&format!("wait {name} --for running"))?;
        for later in &turns[at + 1..] {
            let told = stage.json(&format!("list {later}"))?;
            if told["items"][0]["status"] == "Running" {
                return Err(format!("{later} runs before its turn, beside {name}"));
            }
        }
        before = name;
    }
    Ok(())
}

/// Waits until the first line on a name is what is expected.
fn explained(name: &str, expect: &str, stage: &Stage) -> Result<(), String> {
    let patience = if expect.is_empty() { WAITS_FOR } else { TRUE_WITHIN };
    let end = Instant::now() + patience;
    loop {
        let output = stage.output(["explain", name]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = tidy(said.lines().next().unwrap_or_default());
        if first == *expect {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(format!("{name} is explained as\n    {first}\n  not\n    {expect}"));
        }
        sleep(Duration::from_millis(200));
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/situations");
    let entries = std::fs::read_dir(folder).expect("it is there");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    if let Ok(name) = std::env::var("KAI_SITUATION") {
        files.retain(|path| path.to_string_lossy().contains(&name));
    }
    files
}

#[test]
fn what_is_planned_and_explained_is_what_happens() {
    let files = Mutex::new(files().into_iter());
    let faults = Mutex::new(String::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let runtime = tokio::runtime::Runtime::new().expect("threads");
                loop {
                    let Some(path) = files.lock().expect("nobody panics with it").next() else {
                        return;
                    };
                    let text = std::fs::read_to_string(&path).expect("it can be read");
                    let situation: Situation = match serde_saphyr::from_str(&text) {
                        Ok(situation) => situation,
                        Err(error) => panic!("{}: {error}", path.display()),
                    };
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    if let Err(fault) = runtime.block_on(situation.play()) {
                        eprintln!("{name}: {fault}");
                        let mut faults = faults.lock().expect("nobody panics with it");
                        faults.extend([&*name, " (", &situation.about, "): ", &fault, "\n"]);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().expect("nobody panics with it");
    assert!(faults.is_empty(), "{faults}");
}
