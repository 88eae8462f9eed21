//! The image as `cargo xtask image` writes it: each program runs in its root alone, as the pods of the installation say,
//! and the command line installs it from the archive by way of a registry.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

mod container;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use container::{Image, free_port};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Namespace, Node, Pod},
};
use kai_api::names::{annotation, env as variable, namespace};
use kai_tests::{
    control_plane::{ControlPlane, assets, leave_out, tool},
    daemon::{Daemon, binary},
    live::create_runtime_class,
};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

const SUITE: &str = "image: its programs in its root alone";
const DEVICE: &str = "GPU-8f6d3b6a-6c1e-4f0f-9d2a-0b6f3c5d7e91";
/// Time that anything may take to come true.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Builds the image twice, which must give the same bytes, in the profile that the tests' own programs have.
fn build(folder: &Path) -> Result<PathBuf> {
    // Built before, so that only what an image adds is done twice.
    let target = binary("kai");
    let target = target.ancestors().nth(2).context("target/PROFILE/kai")?;
    let archives = ["image.tar", "again.tar"].map(|name| folder.join(name));
    for archive in &archives {
        let mut build = Command::new(binary("xtask"));
        build.args(["image", "--profile", "dev", "--output"]).arg(archive);
        build.env("CARGO", env!("CARGO")).env("CARGO_TARGET_DIR", target);
        let output = build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let [one, other] = &archives;
    assert!(fs::read(one)? == fs::read(other)?, "the same sources gave other bytes");
    let bill: Value = serde_json::from_slice(&fs::read(folder.join("image.tar.cdx.json"))?)?;
    assert_eq!(bill["bomFormat"], "CycloneDX");
    let names: Vec<&str> = bill["components"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["name"].as_str())
        .collect();
    for name in ["kai-engine", "tokio", "libc.so.6"] {
        assert!(names.contains(&name), "{name} is not listed");
    }
    Ok(one.clone())
}

/// Tells whether bubblewrap is here, and may make what a container is made of.
fn can_confine() -> bool {
    let words =
        ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--cap-drop", "ALL", "true"];
    Command::new("bwrap").args(words).output().is_ok_and(|output| output.status.success())
}

/// A registry of images on this machine.
struct Registry {
    port: u16,
    /// Stops it when dropped.
    _daemon: Daemon,
}

impl Registry {
    async fn start(folder: &Path, program: &Path) -> Result<Self> {
        let port = free_port()?;
        let daemon =
            Daemon::start(folder, "registry", program, &["-port".into(), port.to_string()])?;
        let end = Instant::now() + TIMEOUT;
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            ensure!(Instant::now() < end, "the registry does not answer");
            sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { port, _daemon: daemon })
    }
}

/// A cluster whose only kubelet is the test.
struct Stage {
    plane: ControlPlane,
    client: Client,
    image: Image,
    folder: tempfile::TempDir,
    running: Vec<Daemon>,
}

impl Stage {
    /// Runs `kubectl-kai` out of the image.
    fn kai(&self, words: &[&str]) -> Result<Output> {
        self.image.run(self.folder.path(), &[&["kubectl-kai"], words].concat())
    }

    /// Asks `done` until it gives something.
    async fn wait_for<T>(
        &mut self,
        what: &str,
        mut done: impl AsyncFnMut(&Client) -> Result<Option<T>>,
    ) -> Result<T> {
        let end = Instant::now() + TIMEOUT;
        loop {
            if let Some(found) = done(&self.client).await? {
                return Ok(found);
            }
            for daemon in &mut self.running {
                ensure!(daemon.is_running()?, "a program has ended:\n{}", daemon.log_end()?);
            }
            if Instant::now() > end {
                let logs = self.running.iter().map(Daemon::log_end).collect::<Result<Vec<_>>>()?;
                anyhow::bail!("waited {TIMEOUT:?} for {what}:\n{}", logs.join("\n---\n"));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits for pods with a label `app`, in a namespace.
    async fn pods(&mut self, namespace: &str, app: &str, count: usize) -> Result<Vec<Pod>> {
        let labels = format!("app={app}");
        self.wait_for(&format!("{count} pods of {app}"), async |client| {
            let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
            let found = pods.list(&ListParams::default().labels(&labels)).await?.items;
            Ok((found.len() == count).then_some(found))
        })
        .await
    }

    /// Starts the container of a pod, waits until its probe answers, and says so in the pod's status, as a kubelet does.
    async fn start(&mut self, pod: &Pod, more: &[&str]) -> Result<()> {
        let mut pod_with = pod.clone();
        let spec = pod_with.spec.as_mut().context("a pod has a spec")?;
        let container = spec.containers.first_mut().context("and a container")?;
        let words = container.args.get_or_insert_default();
        let flag = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        words.retain(|word| more.iter().all(|one| flag(one) != flag(word)));
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let probe = container.readiness_probe.as_ref().and_then(|probe| probe.http_get.clone());
        let probe = probe.context("the container has a readiness probe")?;
        let named = container.ports.iter().flatten().find(|port| match &probe.port {
            k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::String(name) => {
                port.name.as_ref() == Some(name)
            }
            k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(number) => {
                port.container_port == *number
            }
        });
        let probed = named.context("the probe names a port")?.container_port;
        let (daemon, ports) = self.image.start(&self.plane, &pod_with, &[]).await?;
        self.running.push(daemon);
        let port = ports
            .iter()
            .find(|(from, _)| i32::from(*from) == probed)
            .context("it listens there")?
            .1;
        let path = probe.path.unwrap_or_default();
        self.wait_for("the readiness probe", async |_| {
            Ok(answers(port, &path).await.then_some(()))
        })
        .await?;
        let status = json!({"status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]}});
        let pods: Api<Pod> =
            Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(status)).await?;
        Ok(())
    }
}

/// Tells whether a GET is answered with 200.
async fn answers(port: u16, path: &str) -> bool {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else {
        return false;
    };
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let mut answer = Vec::new();
    stream.write_all(request.as_bytes()).await.is_ok()
        && stream.read_to_end(&mut answer).await.is_ok()
        && answer.starts_with(b"HTTP/1.1 200")
}

fn text(output: &Output) -> String {
    let part = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, part(&output.stdout), part(&output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_runs_out_of_the_image() -> Result<()> {
    let Some(assets) = assets(SUITE) else { return Ok(()) };
    let Some(registry) = tool(SUITE, "registry")? else { return Ok(()) };
    if !can_confine() {
        leave_out(SUITE, "needs bubblewrap, and the right to make user namespaces");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let archive = build(folder.path())?;
    let image = Image::unpack(&archive, folder.path())?;
    let plane = ControlPlane::start(&assets, &[]).await?;
    let client = plane.client().await?;
    for (from, to) in
        [(plane.kubeconfig(), "kubeconfig.image"), (plane.authority(), "apiserver.crt")]
    {
        let text = fs::read_to_string(from)?;
        fs::write(
            folder.path().join(to),
            text.replace(&plane.authority().display().to_string(), "/mnt/apiserver.crt"),
        )?;
    }
    let mut stage = Stage { plane, client, image, folder, running: Vec::new() };
    programs_say_who_they_are(&stage)?;
    bad_archives_and_registries_install_nothing(&stage).await?;

    let registry = Registry::start(stage.plane.folder(), &registry).await?;
    let target = format!("127.0.0.1:{}/team/kai", registry.port);
    let words = [
        "install",
        "--yes",
        "--wait=false",
        "--image-archive",
        "/mnt/image.tar",
        "--registry",
        &target,
    ];
    let installed = stage.kai(&words)?;
    assert!(installed.status.success(), "{}", text(&installed));
    let named = format!("{target}@{}", stage.image.digest);
    let deployments: Api<Deployment> = Api::namespaced(stage.client.clone(), namespace::SYSTEM);
    for deployment in deployments.list(&ListParams::default()).await?.items {
        let spec = serde_json::to_value(&deployment)?["spec"]["template"]["spec"].take();
        assert_eq!(spec["containers"][0]["image"], json!(named));
    }
    let manifest = format!("/v2/team/kai/manifests/{}", stage.image.digest);
    assert!(answers(registry.port, &manifest).await, "the registry lacks the image");

    daemons_run(&mut stage).await?;
    a_share_is_held_and_bound(&mut stage).await?;
    let status = stage.kai(&["install", "status"])?;
    assert!(status.status.success(), "{}", text(&status));
    // What is pushed and installed already is so again.
    let again = stage.kai(&words)?;
    assert!(
        again.status.success() && text(&again).contains("Nothing to change."),
        "{}",
        text(&again)
    );
    Ok(())
}

fn programs_say_who_they_are(stage: &Stage) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    for words in [
        &["kai-scheduler", "--version"],
        &["kai-podgrouper", "--version"],
        &["kai-reservation", "--version"],
        &["kubectl-kai", "--version"],
    ] {
        let output = stage.image.run(stage.folder.path(), words)?;
        assert!(
            output.status.success() && text(&output).contains(version),
            "{words:?}: {}",
            text(&output)
        );
    }
    let ended = stage.image.run(stage.folder.path(), &["kai-reservation", "--exit"])?;
    assert!(ended.status.success(), "{}", text(&ended));
    let writes = stage.image.run(stage.folder.path(), &["kubectl-kai", "install", "render"])?;
    assert!(writes.status.success(), "{}", text(&writes));
    Ok(())
}

async fn bad_archives_and_registries_install_nothing(stage: &Stage) -> Result<()> {
    let folder = stage.folder.path();
    let good = fs::read(folder.join("image.tar"))?;
    // One bit of the layer, which is in the middle of the archive.
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 1;
    fs::write(folder.join("damaged.tar"), &damaged)?;
    fs::write(folder.join("short.tar"), &good[..good.len() / 2])?;
    fs::write(folder.join("text.tar"), "no archive")?;
    let (good, nobody) = ("image.tar", "127.0.0.1:1/kai");
    for (archive, registry, code, words) in [
        ("damaged.tar", nobody, 2, "in it is damaged"),
        ("short.tar", nobody, 1, "failed to read the image archive"),
        ("text.tar", nobody, 1, "failed to read the image archive"),
        ("none.tar", nobody, 3, "failed to read the image archive"),
        (good, "kai", 2, "the host is missing"),
        (good, nobody, 8, "the registry 127.0.0.1:1 cannot be reached"),
    ] {
        let archive = format!("/mnt/{archive}");
        let output = stage.kai(&[
            "install",
            "--yes",
            "--image-archive",
            &archive,
            "--registry",
            registry,
        ])?;
        let said = text(&output);
        assert!(
            output.status.code() == Some(code) && said.contains(words),
            "{archive} {registry}: {said}"
        );
    }
    let namespaces: Api<Namespace> = Api::all(stage.client.clone());
    assert!(namespaces.get_opt(namespace::SYSTEM).await?.is_none(), "something was installed");
    Ok(())
}

/// Starts the pods that the control plane has made of the Deployments, restricted as their namespace asks for.
async fn daemons_run(stage: &mut Stage) -> Result<()> {
    let scheduler = stage.pods(namespace::SYSTEM, "kai-scheduler-default", 1).await?;
    let podgroupers = stage.pods(namespace::SYSTEM, "kai-podgrouper", 2).await?;
    stage.start(&scheduler[0], &[]).await?;
    for podgrouper in &podgroupers {
        // There is no network of Services here: the API server asks the program itself.
        let address = format!("127.0.0.1:{}", free_port()?);
        let (listen, url) = (
            format!("--webhook-listen-address={address}"),
            format!("--webhook-url=https://{address}"),
        );
        stage.start(podgrouper, &[&listen, &url]).await?;
    }
    Ok(())
}

/// Half a GPU: the scheduler makes a reservation pod, whose program says its device, and binds the pod that asked.
async fn a_share_is_held_and_bound(stage: &mut Stage) -> Result<()> {
    create_runtime_class(stage.client.clone()).await?;
    let nodes: Api<Node> = Api::all(stage.client.clone());
    let node =
        json!({"metadata": {"name": "node-1", "labels": {"nvidia.com/gpu.memory": "40960"}}});
    nodes.create(&PostParams::default(), &serde_json::from_value(node)?).await?;
    let amounts = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "1"});
    let status = json!({"status": {"capacity": amounts, "allocatable": amounts,
        "conditions": [{"type": "Ready", "status": "True"}]}});
    nodes.patch_status("node-1", &PatchParams::default(), &Patch::Merge(status)).await?;
    let pod = json!({
        "metadata": {"name": "half", "labels": {"kai.scheduler/queue": "default-queue"}, "annotations": {"gpu-fraction": "0.5"}},
        "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "busybox"}]},
    });
    let pods: Api<Pod> = Api::namespaced(stage.client.clone(), "default");
    let pod: Pod = serde_json::from_value(pod)?;
    stage
        .wait_for("admission", async |_| {
            // The API server asks a moment after it was told to.
            let trial = PostParams { dry_run: true, ..PostParams::default() };
            let admitted = pods.create(&trial, &pod).await.ok().and_then(|pod| pod.spec);
            Ok(admitted.and_then(|spec| spec.runtime_class_name))
        })
        .await?;
    pods.create(&PostParams::default(), &pod).await?;
    let reservation =
        stage.pods(namespace::RESERVATION, "kai-resource-reservation", 1).await?.remove(0);
    // The device plugin says which device the container has.
    let given = [(variable::VISIBLE_DEVICES, DEVICE)];
    let (program, _) = stage.image.start(&stage.plane, &reservation, &given).await?;
    stage.running.push(program);
    let held: Api<Pod> = Api::namespaced(stage.client.clone(), namespace::RESERVATION);
    let bound = stage
        .wait_for("the pod to be bound", async |_| {
            let pod = pods.get("half").await?;
            Ok(pod.spec.as_ref().and_then(|spec| spec.node_name.clone()))
        })
        .await?;
    assert_eq!(bound, "node-1");
    let said = held.get(&reservation.name_any()).await?;
    assert_eq!(said.annotations().get(annotation::RESERVED_GPU).map(String::as_str), Some(DEVICE));
    Ok(())
}
