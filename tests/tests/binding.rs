//! Binds that fail after they reserved something: it is taken back where the pod can be bound by nobody else, and left
//! where it may be. The clock is tokio's, so that minutes of waiting take no time.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use http::Method;
use kai_api::names::component;
use kai_daemon::lease::{Lease, Manner, Mode};
use kai_scheduler::{
    actuate::{
        Actuator, Backed, Bind, ClaimGrant, ExtendedGrant, Outcome, Task, VolumeGrant, VolumeStep,
    },
    serve::metrics::Metrics,
};
use kai_tests::{
    guards::Guards,
    live::Place,
    request::ask,
    stage::{Fault, Tape},
};
use kube::Client;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const PODS: &str = "/api/v1/namespaces/default/pods";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/kai-scheduler";

/// A pod with a claim, and a scheduler's actuator that is to bind it.
struct Stage {
    place: Place,
    admin: Client,
    tape: Tape,
    guards: Guards,
    bind: Bind,
    actuator: Option<JoinHandle<()>>,
    tasks: Option<mpsc::UnboundedSender<Vec<Task>>>,
    outcomes: mpsc::UnboundedReceiver<Outcome>,
}

/// A device that has to be attached first, and may turn out to be broken.
fn allocation() -> Value {
    json!({ "devices": { "results": [{
        "request": "r", "driver": "d.example.com", "pool": "p", "device": "0",
        "bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"],
    }] } })
}

fn claim() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": { "name": "c" },
        "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "d.example.com" } }] } },
    })
}

fn extended() -> ExtendedGrant {
    ExtendedGrant {
        version: "v1",
        node: Box::from("n1"),
        backed: vec![Backed {
            resource: Box::from("example.com/link"),
            class: Box::from("link.example.com"),
            config: Vec::new(),
            devices: Vec::new(),
        }],
    }
}

impl Stage {
    async fn new() -> Result<Self> {
        let place = Place::embedded().await?;
        let admin = place.admin().await?;
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": "p" },
            "spec": {
                "schedulerName": "kai-scheduler",
                "containers": [{ "name": "c", "image": "i" }],
                "resourceClaims": [{ "name": "r", "resourceClaimName": "c" }],
            },
        });
        let pod = ask(&admin, Method::POST, PODS, Some(&pod)).await?;
        let claim = ask(&admin, Method::POST, CLAIMS, Some(&claim())).await?;
        let uid =
            |object: &Value| Box::from(object["metadata"]["uid"].as_str().unwrap_or_default());
        let bind = Bind {
            uid: uid(&pod),
            is_preemptible: true,
            claims: vec![ClaimGrant {
                path: format!("{CLAIMS}/c").into(),
                uid: uid(&claim),
                allocation: Some(allocation()),
            }],
            ..Bind::without_grants(Box::from("default"), Box::from("p"), Box::from("n1"))
        };
        let (_, outcomes) = mpsc::unbounded_channel();
        let (tape, guards) = (Tape::default(), Guards::default());
        Ok(Self { place, admin, tape, guards, bind, actuator: None, tasks: None, outcomes })
    }

    /// A scheduler takes over from the one before, if any, and begins to bind.
    async fn begin(&mut self) -> Result<()> {
        if let Some(before) = self.actuator.take() {
            before.abort();
        }
        let client = self.tape.record(self.place.account(component::SCHEDULER).await?);
        let client = self.guards.client(client);
        let lease = Lease::new(client.clone(), "kai-scheduler", "kai-scheduler", Mode::Handover);
        let stop = CancellationToken::new();
        let guard = lease.acquire(Manner::Newest, &stop).await.context("nobody stops it")?;
        let (outcomes_in, outcomes) = mpsc::unbounded_channel();
        let (tasks, tasks_out) = mpsc::unbounded_channel();
        let actuator = Actuator::new(client, guard, Metrics::new("kai"), outcomes_in);
        tasks.send(vec![Task::Bind(self.bind.clone())])?;
        // It ends when nobody can give it tasks any more.
        self.tasks = Some(tasks);
        self.actuator = Some(tokio::spawn(actuator.run(tasks_out, stop)));
        self.outcomes = outcomes;
        Ok(())
    }

    /// The same, until the claim is reserved and its device is waited for.
    async fn begin_waiting(&mut self) -> Result<()> {
        self.begin().await?;
        for _ in 0..1000 {
            let claim = self.claim().await?;
            if claim["status"]["reservedFor"][0]["uid"] == *self.bind.uid {
                // Both of its claims are, where it has another.
                sleep(Duration::from_secs(2)).await;
                return Ok(());
            }
            sleep(Duration::from_millis(10)).await;
        }
        bail!("the claim was not reserved: {}", self.claim().await?)
    }

    /// A stage where the claim is reserved, and its device is waited for.
    async fn waiting() -> Result<Self> {
        let mut stage = Self::new().await?;
        stage.begin_waiting().await?;
        Ok(stage)
    }

    async fn claim(&self) -> Result<Value> {
        ask(&self.admin, Method::GET, &format!("{CLAIMS}/c"), None).await
    }

    /// The device says something of itself.
    async fn say(&self, condition: &str) -> Result<()> {
        let condition = json!({ "type": condition, "status": "True", "reason": "Test", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z" });
        let device = json!({ "driver": "d.example.com", "pool": "p", "device": "0", "conditions": [condition] });
        self.patch_claim(&json!({ "devices": [device] })).await
    }

    /// Somebody else writes the status of the claim.
    async fn patch_claim(&self, status: &Value) -> Result<()> {
        let path = format!("{CLAIMS}/c/status");
        ask(&self.admin, Method::PATCH, &path, Some(&json!({ "status": status }))).await.map(drop)
    }

    /// Another scheduler holds the Lease.
    async fn lose_lease(&self) -> Result<()> {
        let body = json!({ "spec": { "holderIdentity": "another" } });
        ask(&self.admin, Method::PATCH, LEASE, Some(&body)).await.map(drop)
    }

    /// Somebody else binds the pod.
    async fn bind_to(&self, node: &str) -> Result<()> {
        let body = json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": "p" },
            "target": { "apiVersion": "v1", "kind": "Node", "name": node } });
        let path = format!("{PODS}/p/binding");
        ask(&self.admin, Method::POST, &path, Some(&body)).await.map(drop)
    }

    /// Reads why the pod was not bound. Whatever was written on the way says which object it means.
    async fn reason(&mut self) -> Result<String> {
        let outcome = self.outcomes.recv().await.context("the actuator ended")?;
        let findings = self.guards.findings();
        ensure!(findings.is_empty(), "{findings:?}");
        let Outcome::BindFailed { reason, .. } = &outcome else { bail!("{outcome:?}") };
        Ok(reason.clone())
    }

    /// Tells whether the claim has its device, and whether it is the pod's.
    async fn holds(&self) -> Result<(bool, bool)> {
        let status = &self.claim().await?["status"];
        let ours = status["reservedFor"][0]["uid"] == *self.bind.uid;
        Ok((!status["allocation"].is_null(), ours))
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_bound_when_its_device_is_ready() -> Result<()> {
    let mut stage = Stage::waiting().await?;
    stage.say("Attached").await?;
    let outcome = stage.outcomes.recv().await.context("the actuator ended")?;
    ensure!(matches!(outcome, Outcome::Bound(..)), "{outcome:?}");
    ensure!(stage.holds().await? == (true, true));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_device_that_fails_is_given_back() -> Result<()> {
    let mut stage = Stage::waiting().await?;
    stage.say("Broken").await?;
    let reason = stage.reason().await?;
    ensure!(reason.contains("its device 0 has the condition Broken"), "{reason}");
    ensure!(stage.holds().await? == (false, false));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_device_that_an_earlier_process_gave_is_given_back_too() -> Result<()> {
    let mut stage = Stage::waiting().await?;
    stage.begin_waiting().await?;
    let reason = stage.reason().await?;
    ensure!(reason.contains("not ready within 600s"), "{reason}");
    ensure!(stage.holds().await? == (false, false));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_device_is_given_back_though_the_answer_that_gave_it_was_lost() -> Result<()> {
    let mut stage = Stage::new().await?;
    let fault =
        json!({ "on": format!("PUT {CLAIMS}/c/status"), "status": 500, "after": true, "times": 1 });
    stage.tape.add(serde_json::from_value::<Fault>(fault)?);
    let fault = json!({ "on": format!("POST {PODS}/p/binding"), "status": 403, "message": "no" });
    stage.tape.add(serde_json::from_value::<Fault>(fault)?);
    stage.begin_waiting().await?;
    stage.say("Attached").await?;
    let reason = stage.reason().await?;
    ensure!(reason == "no", "{reason}");
    ensure!(stage.holds().await? == (false, false));
    Ok(())
}

/// Of two pods that share a claim another gave it its device, and left first.
#[tokio::test(start_paused = true)]
async fn a_device_is_given_back_by_the_last_bind_that_fails() -> Result<()> {
    let mut stage = Stage::new().await?;
    let on = format!("POST {PODS}/p/binding");
    let fault = json!({ "on": on, "status": 403, "message": "no" });
    stage.tape.add(serde_json::from_value::<Fault>(fault)?);
    let pod = |name: &str, uid: &str| json!({ "resource": "pods", "name": name, "uid": uid });
    let (ours, other) = (pod("p", &stage.bind.uid), pod("q", "other"));
    let status = json!({ "allocation": allocation(), "reservedFor": [other] });
    stage.patch_claim(&status).await?;
    stage.begin().await?;
    sleep(Duration::from_secs(2)).await;
    stage.patch_claim(&json!({ "reservedFor": [ours] })).await?;
    stage.say("Attached").await?;
    let reason = stage.reason().await?;
    ensure!(reason == "no", "{reason}");
    ensure!(stage.holds().await? == (false, false));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_the_lease_nothing_is_taken_back() -> Result<()> {
    let mut stage = Stage::new().await?;
    stage.bind.extended = Some(Box::new(extended()));
    stage.begin_waiting().await?;
    stage.lose_lease().await?;
    stage.say("Broken").await?;
    stage.reason().await?;
    ensure!(stage.holds().await? == (true, true), "the pod may be on its node by now");
    let claims = ask(&stage.admin, Method::GET, CLAIMS, None).await?;
    let reserved = |claim: &&Value| claim["status"]["reservedFor"][0]["uid"] == *stage.bind.uid;
    let claims = claims["items"].as_array().into_iter().flatten().filter(reserved).count();
    ensure!(claims == 2, "{claims} claims are the pod's, with that for its extended resource");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_was_made_goes_although_the_server_fails_at_first() -> Result<()> {
    let mut stage = Stage::new().await?;
    stage.bind.claims.clear();
    stage.bind.extended = Some(Box::new(extended()));
    let refused = json!({ "on": format!("POST {PODS}/p/binding"), "status": 403, "message": "no" });
    let fails = json!({ "on": format!("PATCH {CLAIMS}/p-*"), "status": 500, "times": 2 });
    for fault in [refused, fails] {
        stage.tape.add(serde_json::from_value::<Fault>(fault)?);
    }
    stage.begin().await?;
    let reason = stage.reason().await?;
    ensure!(reason == "no", "{reason}");
    let claims = ask(&stage.admin, Method::GET, CLAIMS, None).await?;
    let count = claims["items"].as_array().map(Vec::len);
    ensure!(count == Some(1), "{claims}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_bound_keeps_what_it_has() -> Result<()> {
    for node in ["n1", "n2"] {
        let mut stage = Stage::waiting().await?;
        stage.bind_to(node).await?;
        stage.say("Broken").await?;
        let outcome = stage.outcomes.recv().await.context("the actuator ended")?;
        ensure!(matches!(outcome, Outcome::Bound(..)) == (node == "n1"), "{node}: {outcome:?}");
        ensure!(stage.holds().await? == (true, true), "{node}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_is_deleted_meanwhile_is_released() -> Result<()> {
    let mut stage = Stage::waiting().await?;
    ask(&stage.admin, Method::DELETE, &format!("{CLAIMS}/c"), None).await?;
    let reason = stage.reason().await?;
    ensure!(reason.contains("it is being deleted"), "{reason}");
    ensure!(stage.holds().await? == (false, false));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn another_claim_of_the_same_name_gets_no_device() -> Result<()> {
    let mut stage = Stage::new().await?;
    ask(&stage.admin, Method::DELETE, &format!("{CLAIMS}/c"), None).await?;
    ask(&stage.admin, Method::POST, CLAIMS, Some(&claim())).await?;
    stage.begin().await?;
    let reason = stage.reason().await?;
    ensure!(reason.contains("it was replaced by another"), "{reason}");
    ensure!(stage.holds().await? == (false, false));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_where_one_volume_cannot_be_had() -> Result<()> {
    let mut stage = Stage::new().await?;
    let grant = |claim: &str, step| VolumeGrant {
        namespace: Box::from("default"),
        claim: Box::from(claim),
        uid: Box::from(claim),
        node: Box::from("n1"),
        step,
        bound_within: Duration::from_mins(2),
    };
    stage.bind.volumes =
        vec![grant("made", VolumeStep::Provision), grant("none", VolumeStep::Refuse)];
    stage.begin().await?;
    let reason = stage.reason().await?;
    let why = "failed to bind the volume claim none: node(s) didn't find available persistent volumes to bind";
    ensure!(reason == why, "{reason}");
    let writes = stage.tape.take().into_iter();
    let writes: Vec<_> =
        writes.filter(|call| call.verb != "GET" && !call.path.contains("leases")).collect();
    ensure!(writes.is_empty(), "{writes:?}");
    Ok(())
}

/// Of a volume that became another's, or went, between the plan and the bind.
#[tokio::test(start_paused = true)]
async fn a_volume_that_is_not_free_any_more_is_left_as_it_is() -> Result<()> {
    const VOLUMES: &str = "/api/v1/persistentvolumes";
    let theirs = json!({ "namespace": "default", "name": "theirs", "uid": "t" });
    let volume = |name: &str, claim: Option<&Value>| {
        json!({
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": { "name": name },
            "spec": {
                "capacity": { "storage": "1Gi" },
                "accessModes": ["ReadWriteOnce"],
                "hostPath": { "path": "/disk" },
                "claimRef": claim,
            },
        })
    };
    for (given, why) in [
        ("taken", "persistentvolume taken is not free any more"),
        ("gone", "persistentvolumes \"gone\" not found"),
    ] {
        let mut stage = Stage::new().await?;
        let taken = volume("taken", Some(&theirs));
        ask(&stage.admin, Method::POST, VOLUMES, Some(&taken)).await?;
        ask(&stage.admin, Method::POST, VOLUMES, Some(&volume("other", None))).await?;
        let step = VolumeStep::Give(Box::from(given));
        let (namespace, node) = (Box::from("default"), Box::from("n1"));
        let (claim, uid) = (Box::from("ours"), Box::from("o"));
        let bound_within = Duration::from_mins(2);
        stage.bind.volumes = vec![VolumeGrant { namespace, claim, uid, node, step, bound_within }];
        stage.begin().await?;
        let reason = stage.reason().await?;
        ensure!(reason == format!("failed to bind the volume claim ours: {why}"), "{reason}");
        ensure!(stage.holds().await? == (false, false));
        for (name, expect) in [("taken", &theirs), ("other", &Value::Null)] {
            let now = ask(&stage.admin, Method::GET, &format!("{VOLUMES}/{name}"), None).await?;
            ensure!(now["spec"]["claimRef"] == *expect, "{name}: {now}");
        }
    }
    Ok(())
}
