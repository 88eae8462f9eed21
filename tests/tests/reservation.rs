//! The program of reservation pods as a process, under the token that the kubelet gives to its pod, on a real API server:
//! what it writes, and what the same token may not write.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kai_api::names::{annotation, env, namespace};
use kai_tests::{
    control_plane::{ControlPlane, assets, client, leave_out},
    daemon::{Daemon, binary},
    live::Place,
};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

const SUITE: &str = "reservation: the program on a real kube-apiserver";
const DEVICE: &str = "GPU-8f6d3b6a-6c1e-4f0f-9d2a-0b6f3c5d7e91";
const OTHER_DEVICE: &str = "GPU-00000000-0000-0000-0000-000000000001";
/// Time that anything may take to come true.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A reservation pod and its program.
struct Held {
    pod: Pod,
    folder: tempfile::TempDir,
    port: String,
}

impl Held {
    /// Makes the pod, and the folder that its kubelet would mount.
    async fn new(plane: &ControlPlane, name: &str) -> Result<Self> {
        let pods: Api<Pod> = Api::namespaced(plane.client().await?, namespace::RESERVATION);
        let pod = json!({
            "metadata": {"name": name, "labels": {"app": "kai-resource-reservation", "runai-gpu-group": name}},
            "spec": {"nodeName": "node-1", "serviceAccountName": "kai-resource-reservation",
                "containers": [{"name": "resource-reservation", "image": "kai"}]},
        });
        let pod = pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("token"), plane.token_of_pod(&pod).await?)?;
        fs::copy(plane.authority(), folder.path().join("ca.crt"))?;
        Ok(Self { pod, folder, port: plane.port().to_string() })
    }

    /// Starts the program with what the kubelet and the device plugin hand to it.
    fn start(&self, log: &str, device: &str) -> Result<Daemon> {
        let name = self.pod.name_any();
        let environment = [
            (env::POD_NAME, name.as_str()),
            (env::POD_NAMESPACE, namespace::RESERVATION),
            ("KUBERNETES_SERVICE_HOST", "127.0.0.1"),
            ("KUBERNETES_SERVICE_PORT", &self.port),
            (env::VISIBLE_DEVICES, device),
        ];
        let folder = self.folder.path();
        let arguments = ["--service-account-dir".to_owned(), folder.display().to_string()];
        Daemon::start_in(folder, log, &binary("kai-reservation"), &arguments, &environment)
    }

    /// A client with the pod's token.
    async fn client(&self, plane: &ControlPlane) -> Result<Client> {
        let token = fs::read_to_string(self.folder.path().join("token"))?;
        client(&plane.kubeconfig_for(&self.pod.name_any(), &token)?).await
    }
}

/// Waits until a program's log has a line with these words.
async fn wait_for_line(daemon: &mut Daemon, words: &str) -> Result<()> {
    let end = Instant::now() + TIMEOUT;
    loop {
        let log = daemon.log_end()?;
        if log.contains(words) {
            return Ok(());
        }
        ensure!(daemon.is_running()?, "the program has ended without {words:?}:\n{log}");
        ensure!(Instant::now() < end, "no {words:?} within {TIMEOUT:?}:\n{log}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Tells whether a driver is here: NVML would say then which device the program has, whatever the environment names.
fn has_driver() -> Result<bool> {
    let said = Command::new(binary("kai-reservation")).arg("--show-devices").output()?;
    let said: Value = serde_json::from_slice(&said.stdout)?;
    Ok(said["nvml"].get("absent").is_none())
}

/// Asks what a merge patch of a pod is answered with. Nothing is written; policies are asked as for a write.
async fn try_patch(client: &Client, name: &str, patch: &Value) -> Result<(), kube::Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace::RESERVATION);
    pods.patch(name, &PatchParams::default().dry_run(), &Patch::Merge(patch)).await.map(|_| ())
}

/// Waits until a patch is refused in these words: policies hold a moment after they were made.
async fn refused(client: &Client, name: &str, patch: &Value, words: &str) -> Result<()> {
    let end = Instant::now() + TIMEOUT;
    loop {
        let answer = try_patch(client, name, patch).await;
        match &answer {
            Err(kube::Error::Api(status))
                if status.code == 403 && status.message.contains(words) =>
            {
                return Ok(());
            }
            _ => ensure!(Instant::now() < end, "{patch} of {name}: {answer:?}, not {words:?}"),
        }
        sleep(Duration::from_millis(50)).await;
    }
}

fn annotated(key: &str, value: &str) -> Value {
    json!({"metadata": {"annotations": {key: value}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_writes_its_device_on_its_own_pod_and_may_write_nothing_else() -> Result<()> {
    let Some(assets) = assets(SUITE) else { return Ok(()) };
    if has_driver()? {
        leave_out(SUITE, "needs a machine without NVML, which would overrule the environment");
        return Ok(());
    }
    let place = Place::real(ControlPlane::start(&assets, &[]).await?).await?;
    let Place::Real(plane) = &place else { unreachable!("a real place was made") };
    let (own, other) = (Held::new(plane, "own").await?, Held::new(plane, "other").await?);
    let pods: Api<Pod> = Api::namespaced(plane.client().await?, namespace::RESERVATION);
    may_write_its_device_only(&own.client(plane).await?).await?;

    let mut program = own.start("first", DEVICE)?;
    wait_for_line(&mut program, &format!("holding {DEVICE}")).await?;
    let written = pods.get("own").await?;
    let mut expected = own.pod.clone();
    expected.annotations_mut().insert(annotation::RESERVED_GPU.to_owned(), DEVICE.to_owned());
    assert_eq!(facts(&written), facts(&expected));
    assert!(program.is_running()?, "it holds the device");
    let ended = program.stop()?;
    assert_eq!(ended.code(), Some(0), "{}", program.log_end()?);

    // Its container is started again: the pod has its device already, whatever the environment names by now.
    let mut again = own.start("second", OTHER_DEVICE)?;
    wait_for_line(&mut again, &format!("holding {DEVICE}, as is written on the pod")).await?;
    assert_eq!(pods.get("own").await?.resource_version(), written.resource_version());
    assert_eq!(again.stop()?.code(), Some(0), "{}", again.log_end()?);
    assert_eq!(pods.get("other").await?.resource_version(), other.pod.resource_version());
    stolen_token_ends_the_program(&own, &other).await
}

/// Picks what a reservation pod is, but for what the server notes about writes.
fn facts(pod: &Pod) -> Value {
    let (labels, annotations) = (pod.labels(), pod.annotations());
    json!({"uid": pod.uid(), "labels": labels, "annotations": annotations, "spec": pod.spec,
        "owners": pod.owner_references(), "finalizers": pod.finalizers()})
}

/// The token of the pod `own` may write its device, and neither anything else nor on another pod.
async fn may_write_its_device_only(client: &Client) -> Result<()> {
    let device = annotated(annotation::RESERVED_GPU, DEVICE);
    let label = json!({"metadata": {"labels": {"runai-gpu-group": "other"}}});
    let foreign = annotated("karpenter.sh/do-not-disrupt", "false");
    let finalizer = json!({"metadata": {"finalizers": ["example.com/stay"]}});
    refused(client, "other", &device, "a reservation pod may change itself only").await?;
    refused(client, "own", &label, "may change its annotation only").await?;
    refused(client, "own", &finalizer, "may change its annotation only").await?;
    refused(client, "own", &foreign, "may write the annotation run.ai/reserve_for_gpu_index only")
        .await?;
    let spec = json!({"spec": {"activeDeadlineSeconds": 1}});
    refused(client, "own", &spec, "may change its annotation only").await?;
    try_patch(client, "own", &device).await.context("its own device is refused")
}

/// A program that says to be in a pod whose token it does not have writes nothing, says why, and ends.
async fn stolen_token_ends_the_program(own: &Held, other: &Held) -> Result<()> {
    let token = |held: &Held| held.folder.path().join("token");
    fs::copy(token(own), token(other))?;
    let mut thief = other.start("thief", DEVICE)?;
    let log = Path::new(other.folder.path()).join("logs/thief");
    let end = Instant::now() + TIMEOUT;
    while thief.is_running()? {
        ensure!(Instant::now() < end, "it goes on:\n{}", fs::read_to_string(&log)?);
        sleep(Duration::from_millis(20)).await;
    }
    let said = thief.log_end()?;
    assert!(said.contains("may change itself only"), "{said}");
    assert_eq!(thief.stop()?.code(), Some(1), "{said}");
    Ok(())
}
