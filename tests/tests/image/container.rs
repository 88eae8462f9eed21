//! Containers as a kubelet would start them, without one: a root of its own, the user and the rights that the pod asks
//! for, and its account's token, by bubblewrap.

use std::{
    fs,
    io::Read as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use k8s_openapi::api::core::v1::Pod;
use kai_tests::{control_plane::ControlPlane, daemon::Daemon};
use serde_json::Value;

/// The folder where a kubelet mounts the token of an account.
const ACCOUNT: &str = "var/run/secrets/kubernetes.io/serviceaccount";
/// Folders that a container runtime puts into a root.
const MOUNTS: [&str; 5] = ["dev", "proc", "tmp", "mnt", ACCOUNT];

/// An image, unpacked.
pub(crate) struct Image {
    /// The image's root, with the folders that a container runtime adds.
    pub(crate) root: PathBuf,
    /// Says how to run it.
    pub(crate) config: Value,
    /// Digest of its manifest.
    pub(crate) digest: String,
}

impl Image {
    /// Unpacks an archive by its OCI layout.
    pub(crate) fn unpack(archive: &Path, folder: &Path) -> Result<Self> {
        let layout = folder.join("layout");
        tar::Archive::new(fs::File::open(archive)?).unpack(&layout)?;
        let blob = |descriptor: &Value| {
            let digest = descriptor["digest"].as_str().context("a descriptor has a digest")?;
            let bytes = fs::read(layout.join("blobs").join(digest.replace(':', "/")))?;
            Ok::<_, anyhow::Error>((digest.to_owned(), bytes))
        };
        let index: Value = serde_json::from_slice(&fs::read(layout.join("index.json"))?)?;
        let (digest, manifest) = blob(&index["manifests"][0])?;
        let manifest: Value = serde_json::from_slice(&manifest)?;
        let config = serde_json::from_slice(&blob(&manifest["config"])?.1)?;
        let mut layer = Vec::new();
        GzDecoder::new(blob(&manifest["layers"][0])?.1.as_slice()).read_to_end(&mut layer)?;
        let root = folder.join("root");
        tar::Archive::new(layer.as_slice()).unpack(&root)?;
        for mount in MOUNTS {
            fs::create_dir_all(root.join(mount))?;
        }
        Ok(Self { root, config, digest })
    }

    /// Starts the only container of a pod; returns it with the port of 127.0.0.1 that each of its ports became.
    ///
    /// All containers are on this machine's network, so that a port that a program would listen on is replaced.
    pub(crate) async fn start(
        &self,
        plane: &ControlPlane,
        pod: &Pod,
        more: &[(&str, &str)],
    ) -> Result<(Daemon, Vec<(u16, u16)>)> {
        let pod_value = serde_json::to_value(pod)?;
        let name = pod.metadata.name.as_deref().context("a pod has a name")?;
        let container = &pod_value["spec"]["containers"][0];
        let mut box_of = Self::confined(&pod_value["spec"], container)?;
        let account = plane.folder().join(format!("account-{name}"));
        fs::create_dir_all(&account)?;
        fs::write(account.join("token"), plane.token_of_pod(pod).await?)?;
        fs::write(
            account.join("namespace"),
            pod.metadata.namespace.as_deref().unwrap_or_default(),
        )?;
        fs::copy(plane.authority(), account.join("ca.crt"))?;
        box_of.extend(["--ro-bind".into(), account.display().to_string(), format!("/{ACCOUNT}")]);
        let port = plane.port().to_string();
        let given = [("KUBERNETES_SERVICE_HOST", "127.0.0.1"), ("KUBERNETES_SERVICE_PORT", &port)];
        for (name, value) in given.iter().chain(more) {
            box_of.extend(["--setenv".into(), (*name).to_owned(), (*value).to_owned()]);
        }
        box_of.extend(environment(&pod_value, container)?);
        let mut ports = Vec::new();
        let words = texts(&container["command"]).into_iter().chain(texts(&container["args"]));
        let words = words.map(|word| moved(&word, &mut ports)).collect::<Result<Vec<_>>>()?;
        box_of.extend(words);
        let mut arguments = self.bwrap();
        arguments.extend(box_of);
        let daemon = Daemon::start(plane.folder(), name, Path::new("bwrap"), &arguments)?;
        Ok((daemon, ports))
    }

    /// The flags of bubblewrap for what a pod and its container ask for.
    fn confined(pod: &Value, container: &Value) -> Result<Vec<String>> {
        let (of_pod, own) = (&pod["securityContext"], &container["securityContext"]);
        let number = |field: &str| {
            let value = own[field].as_i64().or_else(|| of_pod[field].as_i64());
            value.map(|value| value.to_string())
        };
        let user = number("runAsUser").context("the pod names no user")?;
        let group = number("runAsGroup").unwrap_or_else(|| "0".to_owned());
        ensure!(own["readOnlyRootFilesystem"] == true, "{own}: the root can be written");
        ensure!(own["allowPrivilegeEscalation"] == false, "{own}: more rights can be had");
        ensure!(own["capabilities"]["drop"][0] == "ALL", "{own}: it keeps capabilities");
        Ok(["--uid", &user, "--gid", &group].map(str::to_owned).into())
    }

    /// The flags for a root that cannot be written, without capabilities or a way to more rights.
    fn bwrap(&self) -> Vec<String> {
        let root = self.root.display().to_string();
        let fixed = [
            "--unshare-user",
            "--unshare-pid",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            "--clearenv",
            "--ro-bind",
            &root,
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
        ];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
        for variable in texts(&self.config["config"]["Env"]) {
            let (name, value) = variable.split_once('=').unwrap_or((&variable, ""));
            arguments.extend(["--setenv", name, value].map(str::to_owned));
        }
        arguments
    }

    /// Runs a program of the image as the image's own user, with a folder of this machine at `/mnt`.
    pub(crate) fn run(&self, folder: &Path, words: &[&str]) -> Result<Output> {
        let user = self.config["config"]["User"].as_str().context("the image has a user")?;
        let (user, group) = user.split_once(':').context("and a group")?;
        let folder = folder.display().to_string();
        let more = [
            "--uid",
            user,
            "--gid",
            group,
            "--tmpfs",
            "/tmp",
            "--ro-bind",
            &folder,
            "/mnt",
            "--setenv",
            "HOME",
            "/tmp",
            "--setenv",
            "KUBECONFIG",
            "/mnt/kubeconfig.image",
            "--setenv",
            "NO_COLOR",
            "1",
        ];
        let mut bwrap = Command::new("bwrap");
        bwrap.args(self.bwrap()).args(more).args(words).output().context("failed to start bwrap")
    }
}

/// The variables of a container, with what the downward API puts into them.
fn environment(pod: &Value, container: &Value) -> Result<Vec<String>> {
    let mut flags = Vec::new();
    for variable in container["env"].as_array().into_iter().flatten() {
        let path = variable.pointer("/valueFrom/fieldRef/fieldPath").and_then(Value::as_str);
        let value = match path {
            Some(path) => {
                &pod[path.split_once('.').context("a path of two words")?.0]
                    [path.rsplit('.').next().unwrap_or_default()]
            }
            None => &variable["value"],
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        flags.extend(["--setenv".into(), text(&variable["name"]), text(value)]);
    }
    Ok(flags)
}

/// Replaces the port of a word such as `--listen-address=:8080` by a free one of 127.0.0.1.
fn moved(word: &str, ports: &mut Vec<(u16, u16)>) -> Result<String> {
    let Some((flag, Ok(port))) = word.split_once("=:").map(|(flag, port)| (flag, port.parse()))
    else {
        return Ok(word.to_owned());
    };
    let free = free_port()?;
    ports.push((port, free));
    Ok(format!("{flag}=127.0.0.1:{free}"))
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
