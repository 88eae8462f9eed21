//! Pods that refer to volume claims and config maps. When one of them changes, the pods that refer to it are told anew,
//! each with the nodes that its volumes allow and with what is missing.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use kai_api::names::annotation;
use kai_engine::{ClaimId, Delta, Missing, Pod, PodId, PodState, Shape, VolumeNodes};
use serde::Deserialize;

mod misled;

use super::{Allowed, Mount, Needs, Needy, Refers};
use crate::{
    ingest::{
        Context,
        devices::catalog::Catalog,
        request::{Container, Named},
        selector::LISTED_MAX,
    },
    server::wire::{Meta, Text, null_as_default},
};

/// Kubernetes puts this into every namespace by itself, and the kubelet waits for it: nobody has to be told.
const ROOT_CA: &str = "kube-root-ca.crt";

/// So much may be done in one round for pods that refer to what changed, some 10 ms. To look at a pod counts one, and one more for
/// each reference of which has to be found out what it allows.
pub(in crate::ingest) const ROUND_MAX: usize = 1 << 16;
/// To tell of a pod anew counts so much, and one more for each entry that is copied and compared: a round tells of a thousand pods
/// that say little of where they may go, and of some seventy that say all they may.
const OF_POD: usize = 64;
/// A namespace has its turn until so much was done in it, some 160 us: what a pod takes that says all it may. By turns of one pod
/// those that say little would have a fifteenth of a round beside others that say much.
const TURN_MAX: usize = 1 << 10;

/// One of `spec.volumes`, only what refers to other objects.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::ingest) struct WireVolume<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    persistent_volume_claim: Option<ClaimSource<'a>>,
    ephemeral: Option<serde::de::IgnoredAny>,
    #[serde(borrow)]
    config_map: Option<Named<'a>>,
    #[serde(borrow)]
    projected: Option<Projected<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct ClaimSource<'a> {
    #[serde(borrow)]
    claim_name: Text<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Projected<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    sources: Vec<Projection<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct Projection<'a> {
    #[serde(borrow)]
    config_map: Option<Named<'a>>,
}

/// All of a pod that refers to what it needs.
struct Mentions<'w, 'a> {
    meta: &'w Meta<'a>,
    volumes: &'w [WireVolume<'a>],
    /// Those that run and those that initialise.
    containers: Vec<&'w Container<'a>>,
}

/// Objects that a pod mentions: of each kind the first, where there are more than are looked for.
pub(in crate::ingest) struct Mentioned {
    refers: Refers,
    /// Number of its volumes that are claims.
    pub(in crate::ingest) mounts: usize,
    /// Number of different config maps without which none of its containers starts.
    pub(in crate::ingest) config_maps: usize,
}

/// A round in which pods are told anew.
struct Round<'t> {
    /// Gives the facts of a pod as they were told last.
    told: &'t dyn Fn(PodId) -> Option<Pod>,
    /// Says how much may be done in it yet; none: everything.
    left: Option<usize>,
    /// Says how much was done in the turn of the namespace that has it.
    turn: usize,
    /// Pods that were told anew in it: `told` does not have that.
    pushed: HashSet<u32>,
    /// Says what references allow, by where they are: a gang refers to the same, of which nothing has to be found out twice.
    known: HashMap<usize, Arc<Allowed>>,
}

impl<'t> Round<'t> {
    /// Begins one in which so much may be done; none: everything.
    fn new(told: &'t dyn Fn(PodId) -> Option<Pod>, left: Option<usize>) -> Self {
        Self { told, left, turn: TURN_MAX, pushed: HashSet::new(), known: HashMap::new() }
    }

    /// Counts what was done.
    fn spend(&mut self, parts: usize) {
        self.left = self.left.map(|left| left.saturating_sub(parts));
        self.turn = self.turn.saturating_add(parts);
    }
}

impl WireVolume<'_> {
    /// Tells whether it is a claim, or has one made for it.
    fn is_claim(&self) -> bool {
        self.persistent_volume_claim.is_some() || self.ephemeral.is_some()
    }
}

impl Needs {
    /// Fills in what a pod's volumes allow and what of its needs is missing, and remembers who needs it.
    pub(in crate::ingest) fn tie(
        &mut self,
        context: &mut Context,
        row: u32,
        mentioned: Mentioned,
        facts: &mut Pod,
    ) {
        self.remove(row);
        let has_ended = match facts.state {
            PodState::Gated | PodState::Pending | PodState::Bound(_) | PodState::Running(_) => {
                false
            }
            PodState::Releasing(_)
            | PodState::Lingering(_)
            | PodState::Stuck(_)
            | PodState::Succeeded
            | PodState::Failed => true,
        };
        if has_ended {
            return;
        }
        let Mentioned { refers, .. } = mentioned;
        if refers.mounts.is_empty() && refers.config_maps.is_empty() {
            return;
        }
        let uid = Arc::clone(context.names.pods.key(row));
        let claims = facts.claims.as_slice().into();
        let refers = self.shared(refers);
        let mut needy = Needy { uid, claims, refers, told: Arc::default() };
        needy.told = self.allowed(context, &needy);
        needy.tell(facts);
        self.insert(row, needy);
    }

    /// Forgets what a pod needed.
    pub(in crate::ingest) fn untie(&mut self, row: u32) {
        self.remove(row);
        self.due.remove(&row);
    }

    /// Tells anew of pods for which something changed, of so many as `most` has room for where it says something. The others are
    /// late: they come first in the next round. Namespaces take turns, each as dear as another.
    pub(in crate::ingest) fn flush(
        &mut self,
        context: &mut Context,
        catalog: &mut Catalog,
        told: &dyn Fn(PodId) -> Option<Pod>,
        most: Option<usize>,
    ) {
        if std::mem::take(&mut self.unbound_due) {
            let Self { volumes, claim_users, due, .. } = self;
            for (_, pods) in claim_users.iter().filter(|(claim, _)| volumes.is_unbound(claim)) {
                due.extend(pods);
            }
        }
        let mut round = Round::new(told, most);
        self.tell_pods(context, &mut round);
        self.flush_counted(context, catalog);
        // Those of claims that are refused since now, or are not any more.
        self.tell_pods(context, &mut round);
        self.volumes.flushed();
    }

    /// Tells anew of the pods that are due, as far as there is room in the round.
    fn tell_pods(&mut self, context: &mut Context, round: &mut Round<'_>) {
        round.known.clear();
        let mut due = std::mem::take(&mut self.due);
        if round.left.is_none() {
            due.extend(std::iter::from_fn(|| self.late.take()));
            for row in due {
                self.tell_pod(context, round, row);
            }
            return;
        }
        for row in due {
            if let Some(needy) = self.pods.get(&row) {
                self.late.add(row, needy.refers.namespace());
            }
        }
        while round.left != Some(0)
            && let Some(row) = self.next_late(round)
        {
            self.tell_pod(context, round, row);
        }
    }

    /// Takes the next of those that are late: one of the namespace that has its turn, until as much was done in that as may be.
    fn next_late(&mut self, round: &mut Round<'_>) -> Option<u32> {
        if round.turn < TURN_MAX
            && let Some(row) = self.late.take_more()
        {
            return Some(row);
        }
        round.turn = 0;
        self.late.take()
    }

    /// Tells anew of a pod where its needs allow something else than it was told, and of one that was told anew in this round
    /// whatever its facts from before it say.
    fn tell_pod(&mut self, context: &mut Context, round: &mut Round<'_>, row: u32) {
        let Some(mut needy) = self.pods.remove(&row) else { return };
        round.spend(1);
        let allowed = self.look(context, round, &needy);
        if !Arc::ptr_eq(&allowed, &needy.told)
            && let Some(mut facts) = (round.told)(PodId::new(row))
        {
            needy.told = allowed;
            let is_new = needy.tell(&mut facts);
            round.spend(OF_POD + entries(&facts.shape));
            if is_new || round.pushed.contains(&row) {
                round.pushed.insert(row);
                context.deltas.push(Delta::Pod(PodId::new(row), Box::new(facts)));
            }
        }
        self.pods.insert(row, needy);
    }

    /// Works out what a pod's needs allow, in a round once for all that refer to the same.
    fn look(
        &mut self,
        context: &mut Context,
        round: &mut Round<'_>,
        needy: &Needy,
    ) -> Arc<Allowed> {
        let at = Arc::as_ptr(&needy.refers).addr();
        let known = round.known.get(&at).filter(|_| !needy.refers.is_of_one_pod()).cloned();
        let allowed = known.unwrap_or_else(|| {
            round.spend(needy.refers.len());
            self.allowed(context, needy)
        });
        round.known.insert(at, Arc::clone(&allowed));
        allowed
    }

    /// Works out what a pod's needs allow: the very same as the last time, where nothing changed.
    fn allowed(&mut self, context: &mut Context, needy: &Needy) -> Arc<Allowed> {
        let mut said: HashSet<Missing> = HashSet::new();
        let (mut missing, mut counted) = (Vec::new(), Vec::new());
        let mut volumes: Vec<VolumeNodes> = Vec::new();
        let lacks = self.volumes.lacks(&needy.refers.mounts);
        for mount in &needy.refers.mounts {
            match self.nodes(context, mount, needy, &lacks) {
                Ok(nodes) => {
                    volumes.extend(nodes);
                    counted.extend(self.counted_claim(&mut context.names, &mount.claim));
                }
                Err(problem) if said.insert(problem) => missing.push(problem),
                Err(_) => {}
            }
        }
        for name in &needy.refers.config_maps {
            if !self.config_maps.contains_key(name) {
                let name = name.split_once('/').map_or(&**name, |(_, name)| name);
                missing.push(Missing::ConfigMap(context.names.symbol(name)));
            }
        }
        let allowed = Allowed { volumes: Arc::new(volumes), counted, missing };
        let Some(last) = self.refers.get_mut(&needy.refers) else { return Arc::new(allowed) };
        if **last != allowed {
            *last = Arc::new(allowed);
        }
        Arc::clone(last)
    }
}

impl Needy {
    /// Fills in what a pod's needs allow; says whether that differs from what its facts said.
    fn tell(&self, facts: &mut Pod) -> bool {
        let waits = matches!(facts.state, PodState::Pending | PodState::Gated);
        let Allowed { volumes, counted, missing } = &*self.told;
        // One that has its place lacks nothing any more.
        let (counted, lacking) =
            if waits { (&counted[..], &missing[..]) } else { (&[][..], &[][..]) };
        let Pod { shape, claims, .. } = facts;
        // What is wrong with the pod itself, and that it waits for its turn, does not hang on what it refers to.
        let is_own = |one: &&Missing| matches!(one, Missing::Request(_) | Missing::Turn);
        let own = shape.missing.iter().filter(is_own);
        let missing: Vec<Missing> = own.chain(lacking).copied().collect();
        let all: Vec<ClaimId> = self.claims.iter().chain(counted).copied().collect();
        let is_new = shape.missing != missing || shape.volumes != *volumes || *claims != all;
        (shape.missing, shape.volumes, *claims) = (missing, Arc::clone(volumes), all);
        is_new
    }
}

/// Counts what a shape says of where a pod may go, by which it is copied, and compared with others.
fn entries(shape: &Shape) -> usize {
    let of_nodes: usize = shape.node_affinity.iter().map(Vec::len).sum();
    let of_volumes: usize = shape.volumes.iter().map(|volume| 1 + volume.terms.len()).sum();
    let of_pods = [&shape.pod_affinity, &shape.pod_anti_affinity].map(Vec::len);
    let preferred = [shape.preferred_nodes.len(), shape.preferred_pods.len()];
    let plain = [shape.node_selector.len(), shape.tolerations.len()];
    let others = [shape.spread.len(), shape.ports.len()];
    let listed = of_pods.iter().chain(&preferred).chain(&plain).chain(&others);
    of_nodes + of_volumes + listed.sum::<usize>()
}

impl Refers {
    /// Counts the references.
    fn len(&self) -> usize {
        self.mounts.len() + self.config_maps.len()
    }

    /// The namespace of the pods that refer to this.
    fn namespace(&self) -> &str {
        let claim = self.mounts.first().map(|mount| &mount.claim);
        let name = claim.or_else(|| self.config_maps.first());
        name.and_then(|name| name.split_once('/')).map_or("", |(namespace, _)| namespace)
    }

    /// Tells whether a claim is among them that is made for one pod, which is another's for another.
    fn is_of_one_pod(&self) -> bool {
        self.mounts.iter().any(|mount| mount.ephemeral)
    }
}

impl Mentioned {
    /// Finds what a pod mentions.
    pub(in crate::ingest) fn by<'w, 'a>(
        meta: &'w Meta<'a>,
        volumes: &'w [WireVolume<'a>],
        containers: impl Iterator<Item = &'w Container<'a>>,
    ) -> Self {
        let mentions = Mentions { meta, volumes, containers: containers.collect() };
        let config_maps = mentions.config_maps();
        let of_namespace = |name: &&str| format!("{}/{name}", meta.namespace).into();
        Self {
            mounts: volumes.iter().filter(|volume| volume.is_claim()).count(),
            config_maps: config_maps.len(),
            refers: Refers {
                mounts: mentions.mounts(),
                config_maps: config_maps.iter().take(LISTED_MAX).map(of_namespace).collect(),
            },
        }
    }
}

impl<'w> Mentions<'w, '_> {
    /// Its claims of volumes, the first of them where there are more than are looked for.
    fn mounts(&self) -> Vec<Mount> {
        let of_namespace = |name: &str| format!("{}/{name}", self.meta.namespace).into();
        let (mut mounts, mut seen) = (Vec::new(), HashSet::new());
        for volume in self.volumes.iter().filter(|volume| volume.is_claim()).take(LISTED_MAX) {
            let mount = if let Some(source) = &volume.persistent_volume_claim {
                Mount { claim: of_namespace(&source.claim_name), ephemeral: false }
            } else if volume.ephemeral.is_some() {
                let name = format!("{}-{}", self.meta.name, &*volume.name);
                Mount { claim: of_namespace(&name), ephemeral: true }
            } else {
                continue;
            };
            // A pod may have a claim under several names.
            if seen.insert(mount.clone()) {
                mounts.push(mount);
            }
        }
        mounts
    }

    /// Config maps without which no container starts: of volumes that are mounted, and of variables.
    ///
    /// # Source
    /// docs/behaviour.md 10.1.
    fn config_maps(&self) -> BTreeSet<&'w str> {
        let mut found: Vec<&'w Named<'_>> = Vec::new();
        let mounts = self.containers.iter().flat_map(|one| &one.volume_mounts);
        let mounted: HashSet<&str> = mounts.map(|mount| &*mount.name).collect();
        for volume in self.volumes.iter().filter(|volume| mounted.contains(&*volume.name)) {
            let projected = volume.projected.iter().flat_map(|projected| &projected.sources);
            found.extend(projected.filter_map(|source| source.config_map.as_ref()));
            found.extend(&volume.config_map);
        }
        for container in &self.containers {
            let variables = container.env.iter().filter_map(|one| one.value_from.as_ref());
            let sources = variables.chain(&container.env_from);
            found.extend(sources.filter_map(|source| source.config_map_ref.as_ref()));
        }
        let ignored = self.meta.annotations.value(annotation::SHARED_GPU_CONFIG_MAP);
        let counts = |one: &&Named<'_>| {
            one.optional != Some(true)
                && !one.name.is_empty()
                && &*one.name != ROOT_CA
                && ignored.is_none_or(|prefix| prefix.is_empty() || !one.name.starts_with(prefix))
        };
        found.into_iter().filter(counts).map(|one| &*one.name).collect()
    }
}
