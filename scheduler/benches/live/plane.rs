//! etcd and kube-apiserver for one benchmark, gone with it.

use std::{
    fs::{self, File},
    io::{Error, Result},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use kube::{
    Client,
    config::{KubeConfigOptions, Kubeconfig},
};
use tempfile::TempDir;

/// Sets how long the API server may take to its first answer.
const READY_MAX: Duration = Duration::from_mins(5);
/// The size up to which etcd stores; 100,000 pods with their changes are more than its default of 2 GiB.
const STORE_BYTES_MAX: u64 = 8 << 30;

/// A process that ends with its handle.
pub(crate) struct Child(std::process::Child);

impl Child {
    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running control plane.
pub(crate) struct Plane {
    // Dropped in this order: an API server that outlives its store hangs.
    api_server: Child,
    _etcd: Child,
    assets: PathBuf,
    /// Of etcd, and of kube-apiserver.
    ports: [u16; 2],
    folder: TempDir,
}

impl Plane {
    pub(crate) async fn start() -> Result<Self> {
        let assets =
            std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from).ok_or_else(|| {
                Error::other(
                    "set KUBEBUILDER_ASSETS, e.g. to the output of setup-envtest use -p path",
                )
            })?;
        let folder = TempDir::with_prefix("kai-live-")?;
        let path = folder.path();
        let (store, port) = (free_port()?, free_port()?);
        fs::write(path.join("tokens.csv"), "admin,admin,1,\"system:masters\"\n")?;
        let key = rcgen::KeyPair::generate().map_err(Error::other)?;
        fs::write(path.join("accounts.key"), key.serialize_pem())?;
        fs::write(path.join("accounts.pub"), key.public_key_pem())?;
        let mut etcd = Command::new(assets.join("etcd"));
        etcd.arg(format!("--data-dir={}", path.join("etcd").display()))
            .arg(format!("--listen-client-urls=http://127.0.0.1:{store}"));
        // A plain etcd, unlike a bundled one, wants these named.
        if fs::read_link(assets.join("etcd")).is_err() {
            etcd.arg(format!("--advertise-client-urls=http://127.0.0.1:{store}"))
                .arg(format!("--listen-peer-urls=http://127.0.0.1:{}", free_port()?))
                .arg(format!("--quota-backend-bytes={STORE_BYTES_MAX}"));
        }
        let etcd = spawn(path, "etcd", etcd)?;
        let ports = [store, port];
        let api_server = start_api_server(&assets, path, ports)?;
        let plane = Self { api_server, _etcd: etcd, assets, ports, folder };
        plane.wait().await?;
        Ok(plane)
    }

    /// The port of kube-apiserver.
    pub(crate) fn port(&self) -> u16 {
        self.ports[1]
    }

    /// Kills kube-apiserver, as a crash would, and starts it at a port; clients have to be made anew. What it remembers
    /// of changes begins now: a watch that is to resume from before gets 410.
    pub(crate) async fn restart_at(&mut self, port: u16) -> Result<()> {
        self.api_server.0.kill()?;
        self.api_server.0.wait()?;
        self.ports[1] = port;
        self.api_server = start_api_server(&self.assets, self.folder.path(), self.ports)?;
        self.wait().await
    }

    async fn wait(&self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < READY_MAX {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let Ok(client) = self.client().await else { continue };
            let request = http::Request::get("/readyz").body(Vec::new()).map_err(Error::other)?;
            if client.request_text(request).await.is_ok_and(|text| text == "ok") {
                return Ok(());
            }
        }
        let log = fs::read_to_string(self.folder().join("kube-apiserver.log"))?;
        Err(Error::other(format!("kube-apiserver did not get ready:\n{log}")))
    }

    pub(crate) async fn client(&self) -> Result<Client> {
        let file = Kubeconfig::read_from(self.kubeconfig()).map_err(Error::other)?;
        let options = KubeConfigOptions::default();
        let config =
            kube::Config::from_custom_kubeconfig(file, &options).await.map_err(Error::other)?;
        Client::try_from(config).map_err(Error::other)
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder().join("kubeconfig")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A program of the folder, where it is there.
    pub(crate) fn asset(&self, name: &str) -> Option<PathBuf> {
        Some(self.assets.join(name)).filter(|path| path.exists())
    }

    /// Starts a process whose output goes to a file.
    pub(crate) fn spawn(&self, name: &str, command: Command) -> Result<Child> {
        spawn(self.folder(), name, command)
    }
}

fn spawn(folder: &Path, name: &str, mut command: Command) -> Result<Child> {
    let log = File::create(folder.join(format!("{name}.log")))?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok(Child(command.spawn()?))
}

fn start_api_server(assets: &Path, folder: &Path, ports: [u16; 2]) -> Result<Child> {
    fs::write(folder.join("kubeconfig"), kubeconfig(folder, ports[1]))?;
    spawn(folder, "kube-apiserver", api_server(assets, folder, ports))
}

fn api_server(assets: &Path, folder: &Path, [store, port]: [u16; 2]) -> Command {
    let file = |name: &str| folder.join(name).display().to_string();
    let mut command = Command::new(assets.join("kube-apiserver"));
    command
        .arg(format!("--etcd-servers=http://127.0.0.1:{store}"))
        .arg(format!("--secure-port={port}"))
        .args(["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"])
        .arg(format!("--cert-dir={}", file("certs")))
        .arg(format!("--token-auth-file={}", file("tokens.csv")))
        .args(["--authorization-mode=RBAC", "--anonymous-auth=false"])
        .arg("--service-account-issuer=https://kubernetes.default.svc")
        .arg(format!("--service-account-key-file={}", file("accounts.pub")))
        .arg(format!("--service-account-signing-key-file={}", file("accounts.key")))
        .args(["--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none"])
        .arg("--disable-admission-plugins=ServiceAccount,TaintNodesByCondition");
    command
}

fn kubeconfig(folder: &Path, port: u16) -> String {
    let authority = folder.join("certs/apiserver.crt");
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: live\n\
         clusters: [{{name: live, cluster: {{server: \"https://127.0.0.1:{port}\", \
         certificate-authority: \"{}\"}}}}]\n\
         users: [{{name: admin, user: {{token: admin}}}}]\n\
         contexts: [{{name: live, context: {{cluster: live, user: admin}}}}]\n",
        authority.display()
    )
}

/// A port that nobody listens at.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
