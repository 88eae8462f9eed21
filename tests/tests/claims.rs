//! Resource claims in the sandbox: its stand-ins make, free and delete them as Kubernetes does, and its nodes start pods that
//! have their devices.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use kai_sandbox::{
    nodes::{self, Nodes},
    operators::{self, Choice, NIC_DRIVER},
    server::{Options, Server},
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// A kind by its group and name.
type Kind = (&'static str, &'static str);

const POD: Kind = ("", "Pod");
const CLAIM: Kind = ("resource.k8s.io", "ResourceClaim");
const TEMPLATE: Kind = ("resource.k8s.io", "ResourceClaimTemplate");
const SLICE: Kind = ("resource.k8s.io", "ResourceSlice");
/// Time for each thing to come about.
const WITHIN: Duration = Duration::from_secs(30);

/// A server with the stand-ins for controllers and a node.
struct World {
    server: Server,
    nodes: nodes::Running,
    operators: operators::Running,
    client: Client,
}

impl World {
    async fn start() -> Result<Self> {
        let server = Server::without_port(&Options::default());
        let client = server.client();
        let groups = nodes::group::parse("1xH100:1")?;
        let options = nodes::Options {
            specs: nodes::group::expand(&groups, 1),
            is_reachable: false,
            ..nodes::Options::default()
        };
        let nodes = Nodes::new(options).start(client.clone()).await?;
        let choice = Choice::Named(vec!["core", "dra"]);
        let operators = operators::start(client.clone(), &choice, 1).await?;
        let world = Self { server, nodes, operators, client };
        let request = json!({"name": "r", "exactly": {"deviceClassName": NIC_DRIVER, "count": 2}});
        let spec = json!({"spec": {"devices": {"requests": [request]}}});
        let template = json!({"metadata": {"name": "two"}, "spec": spec});
        world.create(TEMPLATE, template).await?;
        Ok(world)
    }

    async fn stop(self) {
        self.operators.stop().await;
        self.nodes.stop().await;
        self.server.stop().await;
    }

    fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(kind.0, "v1", kind.1));
        if kind == SLICE {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::default_namespaced_with(self.client.clone(), &resource)
        }
    }

    async fn create(&self, kind: Kind, object: Value) -> Result<()> {
        let object = serde_json::from_value(object)?;
        self.api(kind).create(&PostParams::default(), &object).await.context(kind.1)?;
        Ok(())
    }

    /// Makes a pod that brings a claim for both devices of a node along; gives its UID and the name of its claim.
    async fn submit(&self, pod: &str) -> Result<(String, String)> {
        let spec = json!({
            "schedulerName": "nobody", "terminationGracePeriodSeconds": 1,
            "resourceClaims": [{"name": "nic", "resourceClaimTemplateName": "two"}],
            "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "infinity"]}],
        });
        self.create(POD, json!({"metadata": {"name": pod}, "spec": spec})).await?;
        let named = |pod: &Value| {
            let claim = &pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"];
            let uid = pod["metadata"]["uid"].as_str()?;
            Some((uid.to_owned(), claim.as_str()?.to_owned()))
        };
        self.until(POD, pod, "names its claim", named).await
    }

    /// Gives a claim the devices of the node and reserves it for a pod, as a scheduler does.
    async fn allocate(&self, claim: &str, pod: &str, uid: &str) -> Result<()> {
        let claims = self.api(CLAIM);
        let params = PatchParams::default();
        let finalizers =
            json!({"metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}});
        claims.patch(claim, &params, &Patch::Merge(finalizers)).await?;
        let device = |name: &str| json!({"request": "r", "driver": NIC_DRIVER, "pool": "node-1", "device": name});
        let devices = json!({"results": [device("nic-0"), device("nic-1")]});
        let reserved = json!([{"resource": "pods", "name": pod, "uid": uid}]);
        let status = json!({"allocation": {"devices": devices}, "reservedFor": reserved});
        claims.patch_status(claim, &params, &Patch::Merge(json!({ "status": status }))).await?;
        Ok(())
    }

    async fn bind(&self, pod: &str) -> Result<()> {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
        });
        let pods = self.api(POD);
        let _status: Value =
            pods.create_subresource("binding", pod, &PostParams::default(), &binding).await?;
        Ok(())
    }

    /// Waits until an object is as it should be.
    async fn until<T>(
        &self,
        kind: Kind,
        name: &str,
        what: &str,
        is_so: impl Fn(&Value) -> Option<T>,
    ) -> Result<T> {
        let end = Instant::now() + WITHIN;
        loop {
            let found = self.api(kind).get_opt(name).await?;
            let found = serde_json::to_value(found)?;
            if let Some(so) = is_so(&found) {
                return Ok(so);
            }
            if Instant::now() > end {
                bail!("{} {name} never {what}: {found}", kind.1);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_phase(&self, pod: &str, phase: &str) -> Result<()> {
        let is_so = |pod: &Value| (pod["status"]["phase"] == phase).then_some(());
        self.until(POD, pod, phase, is_so).await
    }

    async fn until_gone(&self, kind: Kind, name: &str) -> Result<()> {
        let is_so = |object: &Value| object.is_null().then_some(());
        self.until(kind, name, "goes", is_so).await
    }

    /// Deletes a pod, which goes after its claim.
    async fn delete_in_foreground(&self, pod: &str, claim: &str) -> Result<()> {
        self.api(POD).delete(pod, &DeleteParams::foreground()).await?;
        self.until_gone(CLAIM, claim).await?;
        self.until_gone(POD, pod).await
    }
}

/// Deleted in the foreground, a pod waits for its claim, and its claim for the pod to have ended.
#[tokio::test]
async fn a_claim_comes_and_goes_with_its_pod() -> Result<()> {
    let world = World::start().await?;
    let slice = format!("node-1-{NIC_DRIVER}");
    let has_devices = |slice: &Value| slice["spec"]["devices"].is_array().then_some(());
    world.until(SLICE, &slice, "has devices", has_devices).await?;

    let (uid, claim) = world.submit("train").await?;
    world.bind("train").await?;
    let says_why = |pod: &Value| {
        let waiting = &pod["status"]["containerStatuses"][0]["state"]["waiting"];
        let why = waiting["message"].as_str();
        why.is_some_and(|why| why.contains("has no devices")).then_some(())
    };
    world.until(POD, "train", "waits for its devices", says_why).await?;
    world.allocate(&claim, "train", &uid).await?;
    world.until_phase("train", "Running").await?;
    world.delete_in_foreground("train", &claim).await?;

    // One that never started, with its devices and without.
    let (uid, claim) = world.submit("early").await?;
    world.allocate(&claim, "early", &uid).await?;
    world.delete_in_foreground("early", &claim).await?;
    let (_, claim) = world.submit("idle").await?;
    world.bind("idle").await?;
    world.delete_in_foreground("idle", &claim).await?;
    world.stop().await;
    Ok(())
}

/// The devices are free, and the claim is gone, as soon as the pod has ended: its object may stay for days.
#[tokio::test]
async fn a_pod_that_ended_has_no_claim() -> Result<()> {
    let world = World::start().await?;
    let (uid, claim) = world.submit("done").await?;
    world.allocate(&claim, "done", &uid).await?;
    world.bind("done").await?;
    world.until_phase("done", "Running").await?;
    let patch = Patch::Merge(json!({"status": {"phase": "Succeeded"}}));
    world.api(POD).patch_status("done", &PatchParams::default(), &patch).await?;
    world.until_gone(CLAIM, &claim).await?;
    world.stop().await;
    Ok(())
}
