//! A real Kubernetes control plane without kubelets, one per test, from the folder that `KUBEBUILDER_ASSETS` names.
//!
//! The variable is envtest's: `setup-envtest use -p path` prints such a folder. It must hold `etcd` and `kube-apiserver`;
//! `kube-controller-manager` runs when it is there.

mod components;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::{
    authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec},
    core::v1::{Pod, ServiceAccount},
};
use kube::{
    Api, Client, Config,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use tempfile::TempDir;

use crate::daemon::Daemon;
use components::{free_port, kubeconfig, start_api_server, start_etcd, write_credentials};

/// Time that a component may take to answer after its start.
const READY_TIMEOUT: Duration = Duration::from_mins(3);
/// Number of times that a control plane is started whose ports others take.
const TRIES_MAX: u32 = 3;
/// Controllers that the suites need; the default set watches much that no test has.
const CONTROLLERS: &str = "garbage-collector-controller,namespace-controller,serviceaccount-controller,job-controller,\
    cronjob-controller,replicaset-controller,deployment-controller,statefulset-controller,disruption-controller,\
    ttl-after-finished-controller,clusterrole-aggregation-controller,persistentvolume-binder-controller,\
    persistentvolumeclaim-protection-controller,persistentvolume-protection-controller,ephemeral-volume-controller,resourcequota-controller";

/// A running control plane; dropping it stops every process and removes its data.
#[derive(Debug)]
pub struct ControlPlane {
    // Stopped in this order: an API server that outlives its store hangs on SIGTERM.
    operators: Option<Operators>,
    controllers: Option<Daemon>,
    api_server: Daemon,
    etcd: Daemon,
    assets: PathBuf,
    /// Of etcd and of kube-apiserver.
    ports: [u16; 2],
    flags: Vec<String>,
    folder: TempDir,
}

/// Real workload operators, started by the command in `KAI_TEST_OPERATORS`.
#[derive(Debug)]
struct Operators {
    pids: PathBuf,
}

/// The folder with the binaries, or `None` after one line that says how to get it.
pub fn assets(suite: &str) -> Option<PathBuf> {
    if let Some(folder) = env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from) {
        let found = folder.join("kube-apiserver").exists() && folder.join("etcd").exists();
        assert!(found, "KUBEBUILDER_ASSETS={} holds no kube-apiserver and etcd", folder.display());
        return Some(folder);
    }
    leave_out(
        suite,
        "needs a real kube-apiserver: export KUBEBUILDER_ASSETS=$(setup-envtest use -p path)",
    );
    None
}

/// The command that starts real operators (`COMMAND DIR NAME...`, DIR holds `kubeconfig`), or `None` after one line.
pub fn operators_command(suite: &str) -> Option<PathBuf> {
    let command = env::var_os("KAI_TEST_OPERATORS").map(PathBuf::from);
    if command.is_none() {
        leave_out(
            suite,
            "needs real operators: set KAI_TEST_OPERATORS to a command that starts them",
        );
    }
    command
}

/// Finds a program that the command in `KAI_TEST_TOOLS` builds by its name, or `None` after one line.
///
/// # Errors
///
/// When the command fails, with what it said.
pub fn tool(suite: &str, name: &str) -> Result<Option<PathBuf>> {
    let Some(command) = env::var_os("KAI_TEST_TOOLS") else {
        let why = format!("needs {name}: set KAI_TEST_TOOLS to .ci/tools, which builds it with Go");
        leave_out(suite, &why);
        return Ok(None);
    };
    let output = std::process::Command::new(&command).arg(name).output();
    let output = output.with_context(|| format!("failed to start {}", command.display()))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(PathBuf::from(String::from_utf8(output.stdout)?.trim())))
}

/// Says that a suite is left out and why, also in the file that `KAI_TEST_LEFT_OUT` names: `cargo xtask ci` counts it.
pub fn leave_out(suite: &str, why: &str) {
    let line = format!("{suite}: left out, {why}");
    say(&line);
    if let Some(file) = env::var_os("KAI_TEST_LEFT_OUT") {
        let file = fs::File::options().create(true).append(true).open(&file);
        // A file that cannot be written would hide what was left out.
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        assert!(written.is_ok(), "KAI_TEST_LEFT_OUT: {written:?}");
    }
}

/// Prints past the capture of the test runner, so that a suite that is left out is seen to be.
pub fn say(line: &str) {
    // A closed stderr must not fail a test.
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl ControlPlane {
    /// Starts etcd, kube-apiserver with RBAC and `flags`, and kube-controller-manager when there is one.
    ///
    /// # Errors
    ///
    /// When a component doesn't answer within a minute; the message carries the end of its log.
    pub async fn start(assets: &Path, flags: &[&str]) -> Result<Self> {
        let mut tries_left = TRIES_MAX;
        loop {
            tries_left -= 1;
            let mut plane = Self::launch(assets, flags)?;
            match plane.wait_until_ready().await {
                Err(_) if tries_left > 0 && plane.has_lost_a_port()? => {}
                ready => {
                    ready?;
                    plane.controllers = plane.start_controllers(assets)?;
                    return Ok(plane);
                }
            }
        }
    }

    /// Starts etcd and kube-apiserver on ports that are free now.
    fn launch(assets: &Path, flags: &[&str]) -> Result<Self> {
        let folder = TempDir::with_prefix("kai-control-plane-")?;
        write_credentials(folder.path())?;
        let (store_port, port) = (free_port()?, free_port()?);
        let etcd = start_etcd(assets, folder.path(), store_port)?;
        let api_server = start_api_server(assets, folder.path(), [store_port, port], flags)?;
        Ok(Self {
            operators: None,
            controllers: None,
            api_server,
            etcd,
            assets: assets.to_owned(),
            ports: [store_port, port],
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            folder,
        })
    }

    /// Tells whether another process took a port between the moment that it was found free and its use.
    fn has_lost_a_port(&self) -> Result<bool> {
        let logs = [self.api_server.log_end()?, self.etcd.log_end()?];
        Ok(logs.iter().any(|log| log.contains("address already in use")))
    }

    /// Gives the folder where a test may put files; gone with the control plane.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The kubeconfig of an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// A client with an administrator's rights.
    pub async fn client(&self) -> Result<Client> {
        client(&self.kubeconfig()).await
    }

    /// Writes a kubeconfig for any bearer token and returns its path.
    pub fn kubeconfig_for(&self, name: &str, token: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(format!("kubeconfig.{name}"));
        fs::write(&path, kubeconfig(self.folder.path(), self.ports[1], name, token))?;
        Ok(path)
    }

    /// A kubeconfig for a user who may do nothing.
    pub fn kubeconfig_of_nobody(&self) -> Result<PathBuf> {
        self.kubeconfig_for("nobody", "nobody")
    }

    /// A kubeconfig with a fresh token of a `ServiceAccount`, as a pod of it would have.
    pub async fn kubeconfig_of_account(&self, namespace: &str, name: &str) -> Result<PathBuf> {
        let token = self.issue_token(namespace, name, None).await?;
        self.kubeconfig_for(name, &token)
    }

    /// A token of the `ServiceAccount` of a pod that is good for this pod alone, as its kubelet would mount it.
    ///
    /// # Errors
    ///
    /// When the pod names no account, or the API server issues none.
    pub async fn token_of_pod(&self, pod: &Pod) -> Result<String> {
        let bound = BoundObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
        };
        let namespace = pod.metadata.namespace.as_deref().context("a pod has a namespace")?;
        let account = pod.spec.as_ref().and_then(|spec| spec.service_account_name.as_deref());
        self.issue_token(namespace, account.context("the pod names no account")?, Some(bound)).await
    }

    async fn issue_token(
        &self,
        namespace: &str,
        name: &str,
        bound: Option<BoundObjectReference>,
    ) -> Result<String> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client().await?, namespace);
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                expiration_seconds: Some(7200),
                bound_object_ref: bound,
                ..Default::default()
            }),
            ..Default::default()
        };
        let issued = accounts
            .create_token_request(name, &PostParams::default(), &request)
            .await
            .with_context(|| format!("failed to issue a token for {namespace}/{name}"))?;
        issued.status.and_then(|status| status.token).context("the answer has no token")
    }

    /// The port of 127.0.0.1 where the API is served.
    pub fn port(&self) -> u16 {
        self.ports[1]
    }

    /// The certificate of the authority that the API server's own is to be checked with.
    pub fn authority(&self) -> PathBuf {
        components::authority(self.folder.path())
    }

    /// Starts real operators and waits until their CRDs are served.
    ///
    /// # Errors
    ///
    /// When the command fails; its output is in the message.
    pub async fn start_operators(&mut self, command: &Path, names: &[&str]) -> Result<()> {
        let pids = self.folder.path().join("pids");
        self.operators = Some(Operators { pids });
        let output = tokio::process::Command::new(command)
            .arg(self.folder.path())
            .args(names)
            .output()
            .await
            .with_context(|| format!("failed to start {}", command.display()))?;
        if !output.status.success() {
            bail!("{} {names:?}: {}", command.display(), String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// Stops kube-controller-manager as soon as pods may be made in `default`: what a test makes by hand below an owner
    /// stays as it is made.
    ///
    /// # Errors
    ///
    /// When the namespace has no account within a minute.
    pub async fn stop_controllers(&mut self) -> Result<()> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client().await?, "default");
        let end = tokio::time::Instant::now() + READY_TIMEOUT;
        while accounts.get_opt("default").await?.is_none() {
            ensure!(tokio::time::Instant::now() < end, "namespace default has no account");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.controllers = None;
        Ok(())
    }

    /// The process that serves the API, to be stopped, frozen or killed by a test.
    pub fn api_server(&mut self) -> &mut Daemon {
        &mut self.api_server
    }

    /// Kills kube-apiserver and starts it again at the same address, as after a crash: every watch breaks.
    ///
    /// # Errors
    ///
    /// When it doesn't answer within a minute.
    pub async fn crash_api_server(&mut self) -> Result<()> {
        self.api_server.kill()?;
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        self.api_server = start_api_server(&self.assets, self.folder.path(), self.ports, &flags)?;
        self.wait_until_ready().await
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let end = tokio::time::Instant::now() + READY_TIMEOUT;
        while tokio::time::Instant::now() < end {
            if self.folder.path().join("certs/apiserver.crt").exists()
                && let Ok(client) = self.client().await
            {
                let request = http_get("/readyz");
                if client.request_text(request).await.is_ok_and(|text| text == "ok") {
                    return Ok(());
                }
            }
            if !self.api_server.is_running()? || !self.etcd.is_running()? {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let (api_server, etcd) = (self.api_server.log_end()?, self.etcd.log_end()?);
        bail!("kube-apiserver did not get ready:\n{api_server}\netcd:\n{etcd}")
    }

    fn start_controllers(&self, assets: &Path) -> Result<Option<Daemon>> {
        let binary = assets.join("kube-controller-manager");
        if !binary.exists() {
            return Ok(None);
        }
        let kubeconfig =
            self.kubeconfig_for("kube-controller-manager", "kube-controller-manager")?;
        let folder = self.folder.path();
        let arguments = [
            format!("--kubeconfig={}", kubeconfig.display()),
            "--leader-elect=false".into(),
            "--secure-port=0".into(),
            "--use-service-account-credentials".into(),
            format!("--service-account-private-key-file={}", folder.join("accounts.key").display()),
            format!("--controllers={CONTROLLERS}"),
        ];
        Daemon::start(folder, "kube-controller-manager", &binary, &arguments).map(Some)
    }
}

impl Drop for Operators {
    fn drop(&mut self) {
        for entry in fs::read_dir(&self.pids).into_iter().flatten().flatten() {
            let pid =
                fs::read_to_string(entry.path()).ok().and_then(|text| text.trim().parse().ok());
            if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                // It may have stopped by itself.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// A client from a kubeconfig file, with no environment or home folder read.
pub async fn client(kubeconfig: &Path) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// A GET without a body.
pub fn http_get(path: &str) -> http::Request<Vec<u8>> {
    http::Request::get(path).body(Vec::new()).expect("a path makes a request")
}
