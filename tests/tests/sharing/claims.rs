//! Parts of a world besides shared GPUs: a claim for a device of resource slices, and a bind that another scheduler
//! left.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};

use crate::world::World;

/// The claim that pods may name.
pub(crate) const CLAIM: &str = "link";
const DRIVER: &str = "link.example.com";
const GROUP: &str = "resource.k8s.io";

impl World {
    fn objects(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        match kind {
            "DeviceClass" | "ResourceSlice" => Api::all_with(self.admin(), &resource),
            _ => Api::default_namespaced_with(self.admin(), &resource),
        }
    }

    fn claims(&self) -> Api<DynamicObject> {
        self.objects(GROUP, "v1", "ResourceClaim")
    }

    /// Makes a device that every node reaches, its class and the claim.
    pub(crate) async fn create_claim(&self) -> Result<()> {
        let class = json!({"metadata": {"name": DRIVER}, "spec": {
            "selectors": [{"cel": {"expression": format!("device.driver == '{DRIVER}'")}}]}});
        let slice = json!({"metadata": {"name": CLAIM}, "spec": {
            "driver": DRIVER, "allNodes": true, "devices": [{"name": "link-0"}],
            "pool": {"name": CLAIM, "generation": 1, "resourceSliceCount": 1}}});
        let claim = json!({"metadata": {"name": CLAIM}, "spec": {
            "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": DRIVER}}]}}});
        for (kind, object) in
            [("DeviceClass", class), ("ResourceSlice", slice), ("ResourceClaim", claim)]
        {
            let object = serde_json::from_value(object)?;
            let api = self.objects(GROUP, "v1", kind);
            api.create(&PostParams::default(), &object).await.context(kind)?;
        }
        Ok(())
    }

    /// Makes all pods, and for one of them the record of a bind that another scheduler began.
    pub(crate) async fn leave_bind_request(&self, name: &str) -> Result<()> {
        if let Some(refusal) = self.create_missing(&[]).await {
            anyhow::bail!("{refusal}");
        }
        let uid = self.pods().get(name).await?.uid();
        let request = json!({
            "metadata": {"name": name, "ownerReferences":
                [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}]},
            "spec": {"podName": name, "selectedNode": "node-1", "receivedResourceType": "Fraction",
                "receivedGPU": {"count": 1, "portion": "0.50"}, "selectedGPUGroups": ["left"]},
        });
        let requests = self.objects("scheduling.run.ai", "v1alpha2", "BindRequest");
        requests.create(&PostParams::default(), &serde_json::from_value(request)?).await?;
        Ok(())
    }

    /// Takes claims from pods that are gone, as Kubernetes' controller of claims does: one that was held, and is no more,
    /// gives its device back. One that has a device and never was anybody's it leaves alone.
    pub(crate) async fn release_claims(&self) -> Result<()> {
        if !self.wanted.values().any(|pod| pod.has_claim) {
            return Ok(());
        }
        let pods = self.pods().list(&ListParams::default()).await?.items;
        for claim in self.claims().list(&ListParams::default()).await? {
            let (kept, gone): (Vec<Value>, Vec<Value>) =
                holders(&claim).into_iter().partition(|holder| {
                    pods.iter().any(|pod| pod.metadata.uid.as_deref() == holder["uid"].as_str())
                });
            if gone.is_empty() {
                continue;
            }
            let mut status = json!({"reservedFor": kept});
            if kept.is_empty() {
                status["allocation"] = Value::Null;
            }
            let version = claim.resource_version();
            let patch = json!({"metadata": {"resourceVersion": version}, "status": status});
            let patched = self
                .claims()
                .patch_status(&claim.name_any(), &PatchParams::default(), &Patch::Merge(patch))
                .await;
            match patched {
                Ok(_) => {}
                // Somebody else wrote it: the next look sees what is there now.
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Pods that have a node and not the claim that they name.
    pub(crate) async fn without_claim(&self, pods: &[Pod]) -> Result<Vec<String>> {
        let named = |pod: &&Pod| self.wanted.get(&pod.name_any()).is_some_and(|one| one.has_claim);
        let named: Vec<&Pod> = pods.iter().filter(named).collect();
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let claim = self.claims().get(CLAIM).await?;
        let has_device = !claim.data["status"]["allocation"].is_null();
        let holders = holders(&claim);
        let is_held =
            |pod: &Pod| holders.iter().any(|one| pod.uid().as_deref() == one["uid"].as_str());
        let without = named.into_iter().filter(|pod| !has_device || !is_held(pod));
        Ok(without.map(|pod| format!("{} does not have its claim", pod.name_any())).collect())
    }

    /// Claims that have a device although no pod is wanted, and binds of another scheduler that nobody settled.
    pub(crate) async fn held_claims(&self) -> Result<Vec<String>> {
        self.release_claims().await?;
        let mut found = Vec::new();
        for claim in self.claims().list(&ListParams::default()).await? {
            let status = &claim.data["status"];
            if !status["allocation"].is_null() || !holders(&claim).is_empty() {
                found.push(format!("claim {} with {status}", claim.name_any()));
            }
        }
        let requests = self.objects("scheduling.run.ai", "v1alpha2", "BindRequest");
        let requests = requests.list(&ListParams::default()).await?;
        found.extend(requests.iter().map(|request| format!("bind request {}", request.name_any())));
        Ok(found)
    }
}

/// The pods that a claim is reserved for.
fn holders(claim: &DynamicObject) -> Vec<Value> {
    claim.data["status"]["reservedFor"].as_array().cloned().unwrap_or_default()
}
