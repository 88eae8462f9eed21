//! Objects of a snapshot, given to the scheduler's own `ingest` as if they came from a watch.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    io,
    sync::LazyLock,
    time::Duration,
};

use kai_api::names::annotation;
use kai_engine::{Cluster, Delta, Timestamp};
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    arrays::{Array, Of},
    configuration,
    lenient::without_nulls,
    parameters,
    walk::{Head, Pass},
};
use crate::{
    Args,
    actuate::Bind,
    bind_requests::{Begun, Candidate, Request, begun, objection},
    cel::evaluation::{COST_ALL, Evaluation},
    ingest::{GroupObject, Ingest, Kind, Rules, WirePod},
    run,
    server::wire::Pairs,
    settings::{Settings, config},
    sharing::Sharing,
};

/// Objects at most, twenty times what a large cluster has: their facts stay in memory, about a KiB each, and the smallest
/// are a few bytes of JSON.
const OBJECTS_MAX: usize = 2_000_000;

/// Words without which a pod need not be looked at more closely: each is looked for in every pod.
static NOMINATED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("nominatedNodeName"));
static DEADLINE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"activeDeadlineSeconds\""));
static SUCCEEDED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"Succeeded\""));

/// Holds what has been read so far.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) args: Option<Args>,
    config: Option<Vec<u8>>,
    pub(super) left_out: Vec<String>,
    pub(super) server_version: Option<String>,
    /// Seconds for which work may run at most, by `PodGroup`.
    pub(super) run_times: BTreeMap<String, i64>,
    serves_claims: Option<bool>,
    /// None before the objects.
    pub(super) state: Option<State>,
    stage: Stage,
    /// Says how long selectors may take to evaluate, where that is bounded.
    pub(super) patience: Option<Duration>,
}

/// Says what a pass is for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
enum Stage {
    /// Everything, as far as it comes in a good order.
    #[default]
    First,
    /// The objects, which came before what says how to read them.
    Objects,
    /// Objects of these kinds again, and pods that are being bound.
    Again(Vec<Kind>),
}

/// The cluster so far.
#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) ingest: Ingest,
    pub(super) cluster: Cluster,
    pub(super) sharing: Sharing,
    pub(super) counts: BTreeMap<&'static str, usize>,
    /// Selectors of all passes.
    pub(super) evaluation: Evaluation,
    objects: usize,
    args: Args,
    /// Binds that KAI began, by namespace and name of their pods.
    binds: HashMap<String, Begun>,
    /// Nodes and binds are known: a pod can be seen as it will be once its bind is finished.
    knows_nodes: bool,
    knows_binds: bool,
    /// Pods were read before that.
    has_early_pods: bool,
}

impl Load {
    /// Begins a pass for the objects alone; tells whether it is needed.
    pub(super) fn wants_objects_alone(&mut self) -> bool {
        self.stage = Stage::Objects;
        self.state.is_none()
    }

    /// Nothing more is known of how objects are to be read than is now. An error is about the configuration.
    pub(super) fn begin(&mut self) -> Result<(), String> {
        if self.state.is_none() {
            let args = self.args.clone().unwrap_or_default();
            let json = self.config.as_deref().unwrap_or(b"{}");
            let settings = configuration::read(json, &config::engine(&args))?;
            self.state = Some(State::new(args, settings, self.patience));
        }
        Ok(())
    }

    /// Begins a pass for what has to be read again; tells whether there is anything.
    pub(super) fn wants_again(&mut self) -> bool {
        let Some(state) = &mut self.state else { return false };
        let mut kinds = std::mem::take(&mut state.ingest.context.resync);
        kinds.sort_unstable_by_key(|kind| kind.index());
        kinds.dedup();
        let is_due = !kinds.is_empty() || (state.has_early_pods && !state.binds.is_empty());
        state.has_early_pods = false;
        for kind in &kinds {
            state.ingest.begin(*kind);
        }
        self.stage = Stage::Again(kinds);
        is_due
    }

    /// A pass is over.
    pub(super) fn end(&mut self) {
        let Some(state) = &mut self.state else { return };
        let all = Kind::ALL;
        let kinds = if let Stage::Again(kinds) = &self.stage { kinds } else { &all[..] };
        for kind in kinds {
            state.ingest.end(*kind);
        }
        state.drain();
        if !matches!(self.stage, Stage::Again(_)) {
            state.serve_claims(self.serves_claims);
            state.knows_nodes = true;
            state.knows_binds = true;
        }
    }
}

impl Pass for Load {
    fn head(&mut self, head: Head, json: &[u8]) -> Result<(), String> {
        if self.stage != Stage::First {
            return Ok(());
        }
        match head {
            Head::Config => self.config = Some(json.to_vec()),
            Head::SchedulerParams => self.args = Some(parameters::read(json)?),
            Head::LeftOut => {
                let left_out = serde_json::from_slice::<Option<Vec<String>>>(json);
                self.left_out = left_out.map_err(|error| error.to_string())?.unwrap_or_default();
            }
            Head::RunTimes => {
                let told = serde_json::from_slice::<Option<BTreeMap<String, i64>>>(json);
                self.run_times
                    .extend(told.map_err(|error| error.to_string())?.into_iter().flatten());
            }
            Head::Discovery => (self.server_version, self.serves_claims) = discovery(json)?,
        }
        Ok(())
    }

    fn wants_objects(&mut self) -> Result<bool, String> {
        if self.stage == Stage::First && (self.args.is_none() || self.config.is_none()) {
            return Ok(false);
        }
        self.begin().map(|()| true)
    }

    fn wants(&self, array: &'static Array) -> bool {
        let Some(state) = &self.state else { return false };
        match (array.of, &self.stage) {
            (Of::BindRequests, stage) => !matches!(stage, Stage::Again(_)),
            // Binds that were begun are finished in the next pass.
            (Of::Kind(Kind::Pod), Stage::Again(_)) => true,
            (Of::Kind(kind), Stage::Again(kinds)) => kinds.contains(&kind),
            (Of::Kind(_), Stage::First | Stage::Objects) => array.is_wanted(&state.args),
        }
    }

    fn object(
        &mut self,
        array: &'static Array,
        json: &[u8],
        pod: Option<&WirePod<'_>>,
    ) -> Result<(), String> {
        let Some(state) = &mut self.state else { return Ok(()) };
        let is_again = if let Stage::Again(kinds) = &self.stage {
            Some(kinds.contains(&Kind::Pod))
        } else {
            *state.counts.entry(array.key).or_default() += 1;
            state.objects += 1;
            if state.objects > OBJECTS_MAX {
                return Err(format!("there are more than {OBJECTS_MAX} objects"));
            }
            None
        };
        match array.of {
            Of::BindRequests => state.bind_request(json),
            Of::Kind(Kind::Pod) => {
                if is_again.is_none() {
                    self.run_times.extend(deadline(json));
                }
                state.pod(json, pod, is_again != Some(false))
            }
            Of::Kind(kind) => state.apply(kind, json),
        }
    }

    fn passed(&mut self, array: &'static Array) -> Result<(), String> {
        if let Some(state) = &mut self.state {
            state.knows_nodes |= array.of == Of::Kind(Kind::Node);
            state.knows_binds |= array.of == Of::BindRequests;
        }
        Ok(())
    }
}

impl State {
    fn new(args: Args, settings: Settings, patience: Option<Duration>) -> Self {
        let mut ingest = Ingest::new(Rules::new(&args));
        ingest.align(settings.aligning.clone());
        ingest.context.resync.clear();
        for kind in Kind::ALL {
            ingest.begin(kind);
        }
        Self {
            sharing: Sharing::new(&args, None),
            settings,
            ingest,
            cluster: Cluster::default(),
            counts: BTreeMap::new(),
            evaluation: evaluation(patience),
            objects: 0,
            args,
            binds: HashMap::new(),
            knows_nodes: false,
            knows_binds: false,
            has_early_pods: false,
        }
    }

    /// Takes an object in; what Go writes as `null` is not there.
    fn apply(&mut self, kind: Kind, json: &[u8]) -> Result<(), String> {
        if self.ingest.applied(kind, json).is_err() {
            let cannot = |error: serde_json::Error| format!("this {kind} cannot be read: {error}");
            let mut value: Value = serde_json::from_slice(json).map_err(cannot)?;
            without_nulls(&mut value);
            self.ingest.applied(kind, value.to_string().as_bytes()).map_err(cannot)?;
        }
        self.taken(kind)
    }

    /// Tells the engine of an object that was taken in, where it has a name.
    fn taken(&mut self, kind: Kind) -> Result<(), String> {
        let names = &self.ingest.context.names;
        if kind == Kind::Pod && names.pods.find("").is_some() {
            return Err(String::from("this Pod has no metadata.uid"));
        }
        if kind == Kind::Node && names.nodes.find("").is_some() {
            return Err(String::from("this Node has no metadata.name"));
        }
        self.drain();
        Ok(())
    }

    fn drain(&mut self) {
        self.ingest.context.touched.clear();
        self.ingest.context.gone_groups.clear();
        for delta in self.ingest.context.deltas.drain(..) {
            self.cluster.apply(delta);
        }
    }

    /// Notes a bind that KAI began, where this scheduler would finish it.
    fn bind_request(&mut self, json: &[u8]) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Labelled<'a> {
            #[serde(borrow)]
            metadata: Labels<'a>,
        }
        #[derive(Deserialize)]
        struct Labels<'a> {
            #[serde(borrow, default)]
            labels: Pairs<'a>,
        }
        let cannot = |error: serde_json::Error| format!("this BindRequest cannot be read: {error}");
        let Labelled { metadata } = serde_json::from_slice(json).map_err(cannot)?;
        if !self.ingest.context.rules.is_ours(&metadata.labels) {
            return Ok(());
        }
        let request: Request<'_> = serde_json::from_slice(json).map_err(cannot)?;
        if let Ok(begun) = begun(&request) {
            let key = format!("{}/{}", begun.bind.namespace, begun.bind.name);
            self.binds.insert(key, begun);
        }
        Ok(())
    }

    /// Takes a pod in, as it will be once its bind is finished: the scheduler does that before it decides anything. While
    /// nodes and binds are not known yet it is taken as it is, and looked at again.
    fn pod(
        &mut self,
        json: &[u8],
        decoded: Option<&WirePod<'_>>,
        takes_all: bool,
    ) -> Result<(), String> {
        if !self.knows_nodes || !self.knows_binds {
            self.has_early_pods = true;
            if NOMINATED.find(json).is_some() {
                // A node that is not known yet is none.
                self.ingest.context.resync.push(Kind::Pod);
            }
        } else if !self.binds.is_empty() {
            let pod: Candidate<'_> = serde_json::from_slice(json)
                .map_err(|error| format!("this Pod cannot be read: {error}"))?;
            if let Some(bind) = self.bind_of(&pod) {
                let bound = bound(json, bind).map_err(|error| error.to_string())?;
                return self.apply(Kind::Pod, bound.as_bytes());
            }
        }
        if !takes_all {
            return Ok(());
        }
        match (ended(json, &self.args.scheduler_name), decoded) {
            (Some(pod), _) => self.apply(Kind::Pod, pod.as_bytes()),
            (None, Some(pod)) => {
                self.ingest.pod(pod);
                self.taken(Kind::Pod)
            }
            (None, None) => self.apply(Kind::Pod, json),
        }
    }

    fn bind_of(&self, pod: &Candidate<'_>) -> Option<&Bind> {
        let begun = self.binds.get(&pod.metadata.key())?;
        let (bind, nodes) = (&begun.bind, &self.ingest.context.names.nodes);
        let has_node = nodes.find(&bind.node).is_some_and(|node| nodes[node].presence.is_there);
        let is_open = objection(begun, pod, &self.args.scheduler_name).is_none();
        (has_node && is_open).then_some(bind)
    }

    /// The newest moment at which something was made or began: the file is not older.
    pub(super) fn newest(&self) -> Timestamp {
        let pods = self.ingest.context.names.pods.iter().map(|(_, pod)| pod.created);
        let groups = self.ingest.groups.objects().map(GroupObject::newest);
        Timestamp(pods.chain(groups).max().unwrap_or(0))
    }

    /// Tells the engine what was taken in.
    pub(super) fn tell(&mut self, now: Timestamp) -> io::Result<()> {
        let Self { ingest, sharing, cluster, evaluation, .. } = self;
        tell(ingest, sharing, cluster, now, evaluation)
    }

    /// Tells whether claims are served; that follows from the objects, where the file does not say it.
    fn serve_claims(&mut self, told: Option<bool>) {
        let keys = ["deviceClasses", "resourceSlices", "resourceClaims"];
        let has_any = keys.iter().any(|key| self.counts.get(key).is_some_and(|count| *count > 0));
        self.cluster.apply(Delta::ClaimsServed(told.unwrap_or(has_any)));
    }
}

/// An evaluation of selectors with the bound on work that every snapshot has, and one of time where somebody waits.
pub(super) fn evaluation(patience: Option<Duration>) -> Evaluation {
    Evaluation::new(COST_ALL, patience.unwrap_or(Duration::MAX))
}

/// Tells the engine what was taken in, and what became of the selectors of devices that are asked about. Those that are
/// open where the evaluation is over are not decided: their claims wait.
pub(super) fn tell(
    ingest: &mut Ingest,
    sharing: &mut Sharing,
    cluster: &mut Cluster,
    now: Timestamp,
    evaluation: &mut Evaluation,
) -> io::Result<()> {
    loop {
        run::tell(ingest, sharing, cluster, now);
        ingest.context.touched.clear();
        ingest.context.gone_groups.clear();
        evaluation.ask(std::mem::take(&mut ingest.context.questions));
        if evaluation.is_over() {
            return Ok(());
        }
        ingest.answered(evaluation.round()?);
    }
}

/// The group of a pod that may run for so many seconds only, and how many.
fn deadline(json: &[u8]) -> Option<(String, i64)> {
    #[derive(Deserialize)]
    struct Pod<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
        spec: Spec,
    }
    #[derive(Deserialize)]
    struct Metadata<'a> {
        #[serde(borrow, default)]
        namespace: Cow<'a, str>,
        #[serde(borrow, default)]
        annotations: Pairs<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Spec {
        active_deadline_seconds: i64,
    }
    DEADLINE.find(json)?;
    let Pod { metadata, spec } = serde_json::from_slice(json).ok()?;
    let group = metadata.annotations.value(annotation::POD_GROUP)?;
    Some((format!("{}/{group}", metadata.namespace), spec.active_deadline_seconds))
}

/// A pod as it is once it was bound.
fn bound(json: &[u8], bind: &Bind) -> serde_json::Result<String> {
    let mut pod: Value = serde_json::from_slice(json)?;
    pod["spec"]["nodeName"] = json!(bind.node);
    let annotations = &mut pod["metadata"]["annotations"];
    if let Some(annotations) = annotations.as_object_mut() {
        // The bind is on the account of the pod's group, whatever its user wrote.
        annotations.retain(|key, _| {
            ![annotation::BOUND_QUEUE, annotation::BOUND_PREEMPTIBILITY].contains(&&**key)
        });
    }
    annotations[annotation::RECEIVED_RESOURCE_TYPE] = json!(bind.received);
    if let Some(zones) = &bind.zones {
        annotations[annotation::NUMA_PREDICTED] = json!(zones);
    }
    Ok(pod.to_string())
}

/// A pod that ended well, of which KAI writes little more than its group: whose it was goes without saying. None where it
/// says so itself, or did not end.
fn ended(json: &[u8], scheduler: &str) -> Option<String> {
    SUCCEEDED.find(json)?;
    let mut pod: Value = serde_json::from_slice(json).ok()?;
    let is_whole =
        pod["status"]["phase"] != "Succeeded" || pod["spec"]["schedulerName"].is_string();
    (!is_whole).then(|| {
        pod["spec"] = json!({ "schedulerName": scheduler });
        pod.to_string()
    })
}

/// The version of the API server that the cluster had, and whether it served resource claims, where its resources are
/// listed.
fn discovery(json: &[u8]) -> Result<(Option<String>, Option<bool>), String> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Discovery {
        server_version: Option<Version>,
        resources: Option<Vec<List>>,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct List {
        group_version: String,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Version {
        git_version: Option<String>,
    }
    let discovery: Option<Discovery> =
        serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let Discovery { server_version, resources } = discovery.unwrap_or_default();
    let is_of_claims = |list: &List| list.group_version.starts_with("resource.k8s.io/");
    let serves_claims = resources.map(|lists| lists.iter().any(is_of_claims));
    Ok((server_version.and_then(|version| version.git_version), serves_claims))
}
