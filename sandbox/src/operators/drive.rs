//! The loop around the rows: a watch per kind, a store, bounded reconciles.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream::SelectAll;
use futures::{StreamExt, TryStreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use kai_daemon::clock;
use kai_daemon::work::Work;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{DynamicObject, GroupVersionKind, TypeMeta};
use kube::runtime::watcher::{self, Event};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::action::{Action, View, kind_of};
use super::{CORE, Choice, DRA, Kind, OperatorsError, ROWS, Row, SCHEDULER, STORAGE};

/// Objects under reconcile at once, and creates of one object at once.
const RECONCILES: usize = 16;
const CREATES: usize = 16;
/// Time after which a failed reconcile is tried again.
const RETRY: SignedDuration = SignedDuration::from_millis(300);

/// The stand-ins that will run.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) rows: Vec<&'static Row>,
    pub(super) scheduler: bool,
    pub(super) storage: bool,
    pub(super) dra: bool,
}

/// Finds out what is served and what of it was chosen.
pub(super) async fn choose(client: &Client, choice: &Choice) -> Result<Chosen, OperatorsError> {
    let named = match choice {
        Choice::None => return Ok(Chosen::default()),
        Choice::Workloads | Choice::All => None,
        Choice::Named(names) => Some(names),
    };
    let failed = |error| OperatorsError::Discovery(Box::new(error));
    let versions: BTreeSet<(&str, &str)> =
        ROWS.iter().map(|row| (row.kind.group, row.kind.version)).collect();
    let mut served = HashSet::new();
    for (group, version) in versions.into_iter().filter(|(group, _)| !group.is_empty()) {
        let list = client.list_api_group_resources(&format!("{group}/{version}")).await;
        match list {
            Ok(list) => {
                served.extend(list.resources.into_iter().map(|resource| (group, resource.name)));
            }
            // A group that is not served is answered in plain text, without a reason.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let mut rows = Vec::new();
    for row in ROWS {
        let Kind { group, plural, .. } = row.kind;
        let is_served = group.is_empty() || served.contains(&(group, plural.to_owned()));
        match named {
            Some(names) if !names.contains(&row.operator) => {}
            Some(_) if !is_served => {
                return Err(OperatorsError::Missing { operator: row.operator, plural, group });
            }
            Some(_) | None if is_served => rows.push(row),
            Some(_) | None => {}
        }
    }
    // A row beside another of its operator is there for that.
    let has_main = |row: &&'static Row| {
        !row.kind.group.is_empty()
            || rows
                .iter()
                .any(|other: &&Row| other.operator == row.operator && !other.kind.group.is_empty())
    };
    let mut rows: Vec<&'static Row> = rows.iter().copied().filter(has_main).collect();
    if *choice == Choice::Workloads {
        rows.retain(|row| row.operator != CORE);
    }
    let is_chosen = |name: &str| match choice {
        Choice::All => true,
        Choice::Named(names) => names.contains(&name),
        Choice::None | Choice::Workloads => false,
    };
    Ok(Chosen {
        rows,
        scheduler: is_chosen(SCHEDULER),
        storage: is_chosen(STORAGE),
        dra: is_chosen(DRA),
    })
}

fn resource(kind: Kind) -> ApiResource {
    let gvk = GroupVersionKind::gvk(kind.group, kind.version, kind.kind);
    ApiResource::from_gvk_with_plural(&gvk, kind.plural)
}

/// All watched objects by UID, and the UIDs of those that each one controls.
#[derive(Default)]
struct Store {
    objects: BTreeMap<String, Arc<DynamicObject>>,
    children: HashMap<String, BTreeSet<String>>,
}

impl Store {
    fn owner(object: &DynamicObject) -> Option<&str> {
        let owners = object.metadata.owner_references.as_ref()?;
        owners.iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.as_str())
    }

    fn insert(&mut self, object: DynamicObject) -> Option<String> {
        let uid = object.metadata.uid.clone()?;
        if let Some(owner) = Self::owner(&object) {
            self.children.entry(owner.to_owned()).or_default().insert(uid.clone());
        }
        self.objects.insert(uid.clone(), Arc::new(object));
        Some(uid)
    }

    fn remove(&mut self, uid: &str) -> Option<Arc<DynamicObject>> {
        let object = self.objects.remove(uid)?;
        if let Some(owner) = Self::owner(&object)
            && let Some(siblings) = self.children.get_mut(owner)
        {
            siblings.remove(uid);
            if siblings.is_empty() {
                self.children.remove(owner);
            }
        }
        Some(object)
    }

    /// Objects of the kinds that a row reads, of the namespace of an object and of none.
    fn others(&self, row: &Row, object: &DynamicObject) -> Vec<Arc<DynamicObject>> {
        if row.reads.is_empty() {
            return Vec::new();
        }
        let is_read = |other: &&Arc<DynamicObject>| {
            let namespace = &other.metadata.namespace;
            row.reads.iter().any(|kind| kind.kind == kind_of(other))
                && (namespace.is_none() || *namespace == object.metadata.namespace)
        };
        self.objects.values().filter(is_read).cloned().collect()
    }

    /// The object and what it controls, in the order of their names.
    fn family(&self, uid: &str) -> Option<(Arc<DynamicObject>, Vec<Arc<DynamicObject>>)> {
        let object = Arc::clone(self.objects.get(uid)?);
        let children = self.children.get(uid).into_iter().flatten();
        let mut children: Vec<_> =
            children.filter_map(|child| self.objects.get(child).cloned()).collect();
        children.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        Some((object, children))
    }
}

/// The end of a look at an object.
struct Look {
    uid: String,
    /// When it is looked at again.
    again: Option<Timestamp>,
    /// Objects that it made, which the watch may have yet to show: the next look must count it.
    made: Vec<(Kind, DynamicObject)>,
}

struct Loop {
    client: Client,
    rows: HashMap<&'static str, &'static Row>,
    store: Store,
    work: Work<String, Timestamp>,
    looks: JoinSet<Look>,
    /// Objects that went away while looks are under way: what those made must not come back.
    gone: HashSet<String>,
    /// Per kind under its initial list: the UIDs listed so far.
    listing: HashMap<&'static str, HashSet<String>>,
    pace: u32,
}

/// Runs the rows until cancelled. Nothing is reconciled before every kind has been listed once.
pub(super) async fn run(
    client: Client,
    rows: Vec<&'static Row>,
    pace: u32,
    cancel: CancellationToken,
) {
    let kinds: BTreeSet<Kind> =
        rows.iter().flat_map(|row| [row.makes, row.reads, &[row.kind]].concat()).collect();
    let mut events = SelectAll::new();
    for kind in &kinds {
        let kind = *kind;
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource(kind));
        let watch = watcher::watcher(api, watcher::Config::default());
        events.push(watch.map(move |event| (kind, event)).boxed());
    }
    let mut state = Loop {
        client,
        rows: rows.into_iter().map(|row| (row.kind.kind, row)).collect(),
        store: Store::default(),
        work: Work::default(),
        looks: JoinSet::new(),
        gone: HashSet::new(),
        listing: kinds.iter().map(|kind| (kind.kind, HashSet::new())).collect(),
        pace,
    };
    loop {
        state.start();
        let sleep = state.work.sleep(clock::now());
        tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            Some(done) = state.looks.join_next() => if let Ok(look) = done {
                state.looked(look);
            },
            () = tokio::time::sleep(sleep) => state.work.ring(clock::now()),
            event = events.next() => match event {
                Some((kind, Ok(event))) => state.event(kind, event),
                Some((kind, Err(error))) => {
                    tracing::debug!(kind = kind.kind, %error, "watch interrupted");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                None => return,
            },
        }
    }
}

impl Loop {
    fn event(&mut self, kind: Kind, event: Event<DynamicObject>) {
        match event {
            Event::Init => {
                self.listing.insert(kind.kind, HashSet::new());
            }
            Event::InitApply(object) => {
                let uid = self.apply(kind, object);
                if let (Some(listed), Some(uid)) = (self.listing.get_mut(kind.kind), uid) {
                    listed.insert(uid);
                }
            }
            Event::InitDone => {
                let listed = self.listing.remove(kind.kind).unwrap_or_default();
                let of_kind =
                    self.store.objects.iter().filter(|(_, object)| kind_of(object) == kind.kind);
                let gone: Vec<String> = of_kind
                    .map(|(uid, _)| uid.clone())
                    .filter(|uid| !listed.contains(uid))
                    .collect();
                for uid in gone {
                    self.delete(&uid);
                }
            }
            Event::Apply(object) => {
                self.apply(kind, object);
            }
            Event::Delete(object) => self.delete(&object.metadata.uid.unwrap_or_default()),
        }
    }

    fn apply(&mut self, kind: Kind, mut object: DynamicObject) -> Option<String> {
        // Items of a list carry no type.
        object.types = Some(TypeMeta {
            api_version: if kind.group.is_empty() {
                kind.version.to_owned()
            } else {
                format!("{}/{}", kind.group, kind.version)
            },
            kind: kind.kind.to_owned(),
        });
        object.metadata.managed_fields = None;
        let owner = Store::owner(&object).map(ToOwned::to_owned);
        let uid = self.store.insert(object)?;
        self.work.add(uid.clone());
        if let Some(owner) = owner {
            self.work.add(owner);
        }
        Some(uid)
    }

    fn looked(&mut self, look: Look) {
        for (kind, object) in look.made {
            let is_new =
                |uid: &String| !self.gone.contains(uid) && !self.store.objects.contains_key(uid);
            if object.metadata.uid.as_ref().is_some_and(is_new) {
                self.apply(kind, object);
            }
        }
        if self.looks.is_empty() {
            self.gone.clear();
        }
        self.work.done(&look.uid);
        if let Some(at) = look.again {
            self.work.add_at(at, look.uid);
        }
    }

    fn delete(&mut self, uid: &str) {
        if !self.looks.is_empty() {
            self.gone.insert(uid.to_owned());
        }
        let owner = self.store.remove(uid);
        if let Some(owner) = owner.as_deref().and_then(Store::owner) {
            self.work.add(owner.to_owned());
        }
    }

    fn start(&mut self) {
        while self.listing.is_empty() && self.looks.len() < RECONCILES {
            let Some(uid) = self.work.take() else { return };
            let family = self.store.family(&uid);
            let row =
                family.as_ref().and_then(|(object, _)| self.rows.get(kind_of(object)).copied());
            let (Some((object, children)), Some(row)) = (family, row) else {
                self.work.done(&uid);
                continue;
            };
            if object.metadata.deletion_timestamp.is_some() {
                self.work.done(&uid);
                continue;
            }
            let others = self.store.others(row, &object);
            let (client, pace) = (self.client.clone(), self.pace);
            self.looks.spawn(async move {
                let made = Mutex::default();
                let target = Target { client: &client, row, object: &object, made: &made };
                let seen = Seen { children: &children, others: &others };
                let again = look(&target, &seen, pace).await;
                let made = made.into_inner().unwrap_or_default();
                Look { uid, again, made }
            });
        }
    }
}

/// Objects that were made, with their kinds.
type Made = Mutex<Vec<(Kind, DynamicObject)>>;

/// Holds what a look sees beside its object.
struct Seen<'a> {
    children: &'a [Arc<DynamicObject>],
    others: &'a [Arc<DynamicObject>],
}

/// Reconciles once; gives the moment to look again.
async fn look(target: &Target<'_>, seen: &Seen<'_>, pace: u32) -> Option<Timestamp> {
    let Target { row, object, .. } = *target;
    let now = clock::now();
    let children = seen.children.iter().map(AsRef::as_ref).collect();
    let others = seen.others.iter().map(AsRef::as_ref).collect();
    let actions = row.actions(&View { object, children, others, now, pace });
    let mut again = None;
    // Creates come first and together: a gang's pods should exist at the same moment.
    let (mut creates, mut others) = (Vec::new(), Vec::new());
    for action in &actions {
        match action {
            Action::Again(at) => again = Some(again.map_or(*at, |first: Timestamp| first.min(*at))),
            Action::Create(..) => creates.push(action),
            Action::Delete(..)
            | Action::DeleteSelf
            | Action::Patch(..)
            | Action::PatchSelf(_)
            | Action::Status(_) => {
                others.push(action);
            }
        }
    }
    let done = async {
        let creates: Vec<_> = creates.into_iter().map(|action| target.act(action)).collect();
        stream::iter(creates).buffer_unordered(CREATES).try_collect::<()>().await?;
        for action in others {
            target.act(action).await?;
        }
        Ok::<(), kube::Error>(())
    };
    match done.await {
        Ok(()) => again,
        Err(error) => {
            let name = object.metadata.name.as_deref();
            tracing::debug!(kind = row.kind.kind, name, %error, "failed to reconcile");
            now.saturating_add(RETRY).ok()
        }
    }
}

/// The object that a look is about.
struct Target<'a> {
    client: &'a Client,
    row: &'a Row,
    object: &'a DynamicObject,
    made: &'a Made,
}

impl Target<'_> {
    fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let namespace = self.object.metadata.namespace.as_deref().unwrap_or_default();
        Api::namespaced_with(self.client.clone(), namespace, &resource(kind))
    }

    async fn act(&self, action: &Action) -> Result<(), kube::Error> {
        let own = self.object.metadata.name.as_deref().unwrap_or_default();
        let uid = self.object.metadata.uid.as_deref().unwrap_or_default();
        let patch = PatchParams::default();
        match action {
            Action::Create(kind, value) => match self.create(*kind, value.clone()).await {
                Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
                other => other,
            },
            Action::Delete(kind, name, uid) => settled(self.delete(*kind, name, uid).await),
            Action::DeleteSelf => settled(self.delete(self.row.kind, own, uid).await),
            Action::Patch(kind, name, value) => {
                settled(self.api(*kind).patch(name, &patch, &Patch::Merge(value)).await.map(drop))
            }
            Action::PatchSelf(value) => settled(
                self.api(self.row.kind).patch(own, &patch, &Patch::Merge(value)).await.map(drop),
            ),
            Action::Status(status) => self.status(status).await,
            Action::Again(_) => Ok(()), // kept by the caller
        }
    }

    async fn create(&self, kind: Kind, mut value: Value) -> Result<(), kube::Error> {
        let metadata = &self.object.metadata;
        let types = self.object.types.clone().unwrap_or_default();
        value["metadata"]["namespace"] = json!(metadata.namespace);
        if value["metadata"]["ownerReferences"].is_null() {
            value["metadata"]["ownerReferences"] = json!([{
                "apiVersion": types.api_version, "kind": types.kind, "name": metadata.name,
                "uid": metadata.uid, "controller": true, "blockOwnerDeletion": true,
            }]);
        }
        let object: DynamicObject =
            serde_json::from_value(value).map_err(kube::Error::SerdeError)?;
        let made = self.api(kind).create(&PostParams::default(), &object).await?;
        if let Ok(mut all) = self.made.lock() {
            all.push((kind, made));
        }
        Ok(())
    }

    async fn delete(&self, kind: Kind, name: &str, uid: &str) -> Result<(), kube::Error> {
        let guard = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        let params = DeleteParams { preconditions: Some(guard), ..DeleteParams::background() };
        self.api(kind).delete(name, &params).await.map(drop)
    }

    /// Replaces the status, guarded by the resource version that the decision was made on.
    async fn status(&self, status: &Value) -> Result<(), kube::Error> {
        if self.object.data["status"] == *status {
            return Ok(());
        }
        let mut object = self.object.clone();
        object.data["status"] = status.clone();
        let name = object.metadata.name.clone().unwrap_or_default();
        let api = self.api(self.row.kind);
        if self.row.kind.status {
            api.replace_status(&name, &PostParams::default(), &object).await.map(drop)
        } else {
            api.replace(&name, &PostParams::default(), &object).await.map(drop)
        }
    }
}

/// An object that is gone or another one by now needs nothing more.
fn settled(result: Result<(), kube::Error>) -> Result<(), kube::Error> {
    match result {
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        other => other,
    }
}
