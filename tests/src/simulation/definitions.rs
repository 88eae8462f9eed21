//! Definitions of resources that an administrator removes, and brings back a while later.

use anyhow::Result;
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, PostParams},
    core::GroupVersionKind,
};
use tokio::time::Instant;

/// Resources whose definitions are removed, each with its group, version and kind, and whether its objects come back with it:
/// `PodGroup`s are made again by the podgrouper.
const REMOVED: &[(&str, &str, &str, &str, bool)] = &[
    ("queues", "scheduling.run.ai", "v2", "Queue", true),
    ("podgroups", "scheduling.run.ai", "v2alpha2", "PodGroup", false),
    ("topologies", "kai.scheduler", "v1alpha1", "Topology", true),
    ("schedulingshards", "kai.scheduler", "v1", "SchedulingShard", true),
];

/// Definitions of a cluster, one of which may be away.
pub(super) struct Definitions {
    client: Client,
    away: Option<Away>,
}

/// A definition that is away, as it was, with the objects that come back.
#[derive(Debug)]
struct Away {
    until: Instant,
    definition: CustomResourceDefinition,
    resource: ApiResource,
    objects: Vec<DynamicObject>,
}

impl Definitions {
    /// All are there.
    pub(super) fn new(client: Client) -> Self {
        Self { client, away: None }
    }

    /// The number of definitions that [`Self::remove`] knows.
    pub(super) const COUNT: u64 = REMOVED.len() as u64;

    /// Tells whether one is away.
    pub(super) fn is_one_away(&self) -> bool {
        self.away.is_some()
    }

    /// Removes the definition of a number, and with it all of its objects.
    pub(super) async fn remove(&mut self, number: usize, until: Instant) -> Result<()> {
        let (plural, group, version, kind, comes_back) = REMOVED[number];
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        let of_kind: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let all =
            if comes_back { of_kind.list(&ListParams::default()).await?.items } else { Vec::new() };
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let name = format!("{plural}.{group}");
        let mut definition = definitions.get(&name).await?;
        definitions.delete(&name, &DeleteParams::default()).await?;
        definition.metadata = written(&definition.metadata);
        let objects = all.into_iter().map(|mut object| {
            object.metadata = written(&object.metadata);
            object
        });
        self.away = Some(Away { until, definition, resource, objects: objects.collect() });
        Ok(())
    }

    /// Brings back what is to come back by a moment; none: whatever is away.
    pub(super) async fn bring_back(&mut self, at: Option<Instant>) -> Result<()> {
        let is_due = |away: &mut Away| at.is_none_or(|at| away.until <= at);
        let Some(away) = self.away.take_if(is_due) else { return Ok(()) };
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        definitions.create(&PostParams::default(), &away.definition).await?;
        for object in away.objects {
            let api: Api<DynamicObject> = match object.namespace() {
                Some(namespace) => {
                    Api::namespaced_with(self.client.clone(), &namespace, &away.resource)
                }
                None => Api::all_with(self.client.clone(), &away.resource),
            };
            api.create(&PostParams::default(), &object).await?;
        }
        Ok(())
    }
}

/// The metadata of an object that its author wrote.
fn written(meta: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        labels: meta.labels.clone(),
        annotations: meta.annotations.clone(),
        ..ObjectMeta::default()
    }
}
