//! The processes of a control plane with their flags, and the files they read.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::daemon::Daemon;

pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

pub(super) fn authority(folder: &Path) -> PathBuf {
    folder.join("certs/apiserver.crt")
}

pub(super) fn kubeconfig(folder: &Path, port: u16, name: &str, token: &str) -> String {
    let authority = authority(folder);
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
         clusters: [{{name: test, cluster: {{server: \"https://127.0.0.1:{port}\", certificate-authority: \"{}\"}}}}]\n\
         users: [{{name: {name}, user: {{token: \"{token}\"}}}}]\n\
         contexts: [{{name: test, context: {{cluster: test, user: {name}}}}}]\n",
        authority.display()
    )
}

/// An administrator, the controller manager, and a user who may do nothing; and the key that signs account tokens.
pub(super) fn write_credentials(folder: &Path) -> Result<()> {
    let users = "admin,admin,1,\"system:masters\"\n\
                 kube-controller-manager,system:kube-controller-manager,2\nnobody,nobody,3\n";
    fs::write(folder.join("tokens.csv"), users)?;
    let key = rcgen::KeyPair::generate()?;
    fs::write(folder.join("accounts.key"), key.serialize_pem())?;
    fs::write(folder.join("accounts.pub"), key.public_key_pem())?;
    Ok(())
}

pub(super) fn start_etcd(assets: &Path, folder: &Path, port: u16) -> Result<Daemon> {
    let address = format!("http://127.0.0.1:{port}");
    let mut arguments = vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={address}"),
    ];
    // A plain etcd, unlike a bundled one, wants these named and would otherwise take fixed ports.
    if fs::read_link(assets.join("etcd")).is_err() {
        arguments.push(format!("--advertise-client-urls={address}"));
        arguments.push(format!("--listen-peer-urls=http://127.0.0.1:{}", free_port()?));
        arguments.push("--unsafe-no-fsync".into());
    }
    Daemon::start(folder, "etcd", &assets.join("etcd"), &arguments)
}

pub(super) fn start_api_server(
    assets: &Path,
    folder: &Path,
    [store_port, port]: [u16; 2],
    flags: &[&str],
) -> Result<Daemon> {
    let key = folder.join("accounts.key");
    let mut arguments = vec![
        format!("--etcd-servers=http://127.0.0.1:{store_port}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        format!("--cert-dir={}", folder.join("certs").display()),
        format!("--token-auth-file={}", folder.join("tokens.csv").display()),
        "--authorization-mode=RBAC".into(),
        "--anonymous-auth=false".into(),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        format!("--service-account-key-file={}", folder.join("accounts.pub").display()),
        format!("--service-account-signing-key-file={}", key.display()),
        "--service-cluster-ip-range=10.0.0.0/24".into(),
        "--endpoint-reconciler-type=none".into(),
        // No kubelet mounts tokens here, and nodes without heartbeats stay as they are written.
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition".into(),
    ];
    arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let server =
        Daemon::start(folder, "kube-apiserver", &assets.join("kube-apiserver"), &arguments)?;
    fs::write(folder.join("kubeconfig"), kubeconfig(folder, port, "admin", "admin"))?;
    Ok(server)
}
