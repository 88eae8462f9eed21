//! From the kubeconfig and the connection flags to a client.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kube::config::{
    AuthInfo, ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedCluster,
    NamedContext,
};
use secrecy::ExposeSecret;

use super::{Cluster, Place, TIMEOUT, failure::chain};
use crate::globals::Globals;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// A server that takes longer to take a connection is reported rather than waited for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Names this program in requests.
const AGENT: http::HeaderValue =
    http::HeaderValue::from_static(concat!("kubectl-kai/", env!("CARGO_PKG_VERSION")));

impl Cluster {
    /// The context of the flag, else of the kubeconfig; none where there is no kubeconfig to read, which whoever connects
    /// is told.
    pub(crate) fn current_context(
        globals: &Globals,
        env: &BTreeMap<String, String>,
    ) -> Option<String> {
        let of_file = || read(&files(globals, env), globals).ok()??.current_context;
        globals.context.clone().or_else(of_file)
    }

    /// The names of the kubeconfig's contexts, clusters or users, with the server or the current one beside; none where
    /// it cannot be read.
    pub(crate) fn known(
        list: &str,
        globals: &Globals,
        env: &BTreeMap<String, String>,
    ) -> Vec<String> {
        let Ok(Some(kubeconfig)) = read(&files(globals, env), globals) else { return Vec::new() };
        let current = kubeconfig.current_context.as_deref();
        let context = |context: &NamedContext| {
            let mark = if current == Some(&context.name) { "current" } else { "" };
            format!("{}\t{mark}", context.name)
        };
        let cluster = |cluster: &NamedCluster| {
            let server = cluster.cluster.as_ref().and_then(|cluster| cluster.server.as_deref());
            format!("{}\t{}", cluster.name, server.unwrap_or_default())
        };
        let lines: Vec<String> = match list {
            "contexts" => kubeconfig.contexts.iter().map(context).collect(),
            "clusters" => kubeconfig.clusters.iter().map(cluster).collect(),
            _ => kubeconfig.auth_infos.iter().map(|user| user.name.clone()).collect(),
        };
        let shown = |line: String| line.split('\t').map(clean).collect::<Vec<_>>().join("\t");
        lines.into_iter().map(|line| shown(line).trim_end().to_owned()).collect()
    }

    /// The server and the namespace that the flags and the kubeconfig name; none where they name no server.
    pub(crate) fn named(
        globals: &Globals,
        env: &BTreeMap<String, String>,
    ) -> Option<(String, String)> {
        let kubeconfig = read(&files(globals, env), globals).ok().flatten().unwrap_or_default();
        let current = globals.context.as_ref().or(kubeconfig.current_context.as_ref());
        let context = kubeconfig.contexts.iter().find(|context| Some(&context.name) == current);
        let context = context.and_then(|context| context.context.as_ref());
        let wanted = globals.cluster.as_ref().or(context.map(|context| &context.cluster));
        let cluster = kubeconfig.clusters.iter().find(|cluster| Some(&cluster.name) == wanted);
        let of_file = cluster.and_then(|cluster| cluster.cluster.as_ref()?.server.clone());
        let server = globals.server.clone().or(of_file)?;
        let namespace = context.and_then(|context| context.namespace.clone());
        Some((server, namespace.unwrap_or_else(|| "default".to_owned())))
    }

    /// Reads the kubeconfig, or the account of the pod that this runs in. Makes no request. A program that the kubeconfig
    /// has for credentials may read stdin where somebody answers there.
    pub(crate) async fn connect(
        globals: &Globals,
        env: &BTreeMap<String, String>,
        answers: bool,
    ) -> Result<Self, Error> {
        let files = files(globals, env);
        let (mut config, context) = match read(&files, globals) {
            Ok(Some(kubeconfig)) => {
                check_names(&kubeconfig, globals, &files)?;
                load(kubeconfig, globals).await.map_err(|e| broken(&files, &e))?
            }
            Ok(None) if globals.server.is_some() => {
                (kube::Config::new(http::Uri::from_static("https://localhost")), None)
            }
            Ok(None) => match kube::Config::incluster() {
                Ok(config) => (config, Some("in the cluster".to_owned())),
                Err(_) => return Err(missing(&files)),
            },
            Err(e) => return Err(broken(&files, &e)),
        };
        override_by_flags(&mut config, globals)?;
        spare_credentials(&mut config);
        check(&config, &files)?;
        if !answers {
            spare_stdin(&mut config.auth_info, &files)?;
        }
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        config.headers.push((http::header::USER_AGENT, AGENT));
        let timeout = match &globals.request_timeout {
            Some(text) => {
                crate::print::duration::parse("--request-timeout", text)?.unwrap_or(Duration::MAX)
            }
            None => TIMEOUT,
        };
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let namespace = config.default_namespace.clone();
        let host = config.cluster_url.host().unwrap_or_default();
        let (kubeconfig, at) = (named(&files), context.as_deref().unwrap_or_default());
        tracing::debug!(%kubeconfig, context = at, host, %namespace, "connection");
        let client = kube::Client::try_from(config).map_err(|e| {
            let what = format!("failed to use the kubeconfig for {server}: {}", chain(&e));
            Problem::new(number::KUBECONFIG, Exit::Failure, what)
                .fix("kubectl config view --minify")
        })?;
        let place = Arc::new(Place { context, server });
        Ok(Self { client, namespace, place, timeout, mirror: None, cut: Arc::default() })
    }
}

/// The kubeconfig files to merge, in order: the flag alone, else `KUBECONFIG`, else the one in the home folder.
fn files(globals: &Globals, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
    if let Some(file) = &globals.kubeconfig {
        return vec![PathBuf::from(file)];
    }
    let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
    if let Some(list) = set("KUBECONFIG") {
        return std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect();
    }
    set("HOME").map(|home| Path::new(home).join(".kube/config")).into_iter().collect()
}

fn read(files: &[PathBuf], globals: &Globals) -> Result<Option<Kubeconfig>, KubeconfigError> {
    let mut merged: Option<Kubeconfig> = None;
    for file in files {
        // kubectl skips listed files that are not there, but not one that was asked for by the flag.
        if globals.kubeconfig.is_none() && !file.exists() {
            continue;
        }
        let next = Kubeconfig::read_from(file)?;
        merged = Some(match merged {
            Some(merged) => merged.merge(next)?,
            None => next,
        });
    }
    Ok(merged)
}

/// Checks that the cluster and the user of the flags are in the kubeconfig: one that is not would be nobody.
fn check_names(
    kubeconfig: &Kubeconfig,
    globals: &Globals,
    files: &[PathBuf],
) -> Result<(), Problem> {
    let users: Vec<&str> = kubeconfig.auth_infos.iter().map(|one| one.name.as_str()).collect();
    let clusters: Vec<&str> = kubeconfig.clusters.iter().map(|one| one.name.as_str()).collect();
    for (flag, name, there) in
        [("user", &globals.user, users), ("cluster", &globals.cluster, clusters)]
    {
        let Some(name) = name.as_deref().filter(|name| !there.contains(name)) else { continue };
        let what = format!("{flag} \"{name}\" is not in the kubeconfig {}", named(files));
        return Err(Problem::new(number::KUBECONFIG, Exit::Usage, what)
            .fix(format!("--{flag} with one of {}", there.join(", "))));
    }
    Ok(())
}

async fn load(
    kubeconfig: Kubeconfig,
    globals: &Globals,
) -> Result<(kube::Config, Option<String>), KubeconfigError> {
    let context = globals.context.clone().or_else(|| kubeconfig.current_context.clone());
    let options = KubeConfigOptions {
        context: globals.context.clone(),
        cluster: globals.cluster.clone(),
        user: globals.user.clone(),
    };
    Ok((kube::Config::from_custom_kubeconfig(kubeconfig, &options).await?, context))
}

fn override_by_flags(config: &mut kube::Config, globals: &Globals) -> Result<(), Error> {
    if let Some(server) = &globals.server {
        config.cluster_url = server.parse().map_err(|e| {
            Problem::new(
                number::VALUE,
                Exit::Usage,
                format!("--server \"{server}\" is not an address: {e}"),
            )
            .fix("--server https://HOST:PORT")
        })?;
    }
    if let Some(token) = &globals.token {
        config.auth_info.token = Some(token.clone().into());
    }
    if let Some(user) = &globals.impersonate {
        config.auth_info.impersonate = Some(user.clone());
    }
    if !globals.impersonate_groups.is_empty() {
        config.auth_info.impersonate_groups = Some(globals.impersonate_groups.clone());
    }
    if let Some(file) = &globals.certificate_authority {
        config.root_cert_file = Some(PathBuf::from(file));
    }
    if globals.insecure_skip_tls_verify {
        config.accept_invalid_certs = true;
    }
    if let Some(name) = &globals.tls_server_name {
        config.tls_server_name = Some(name.clone());
    }
    Ok(())
}

/// Keeps credentials off a connection that anybody may read, as kubectl does: it has none there, and asks no program for
/// any. Whom the user acts as is no secret.
fn spare_credentials(config: &mut kube::Config) {
    if config.cluster_url.scheme_str() == Some("http") {
        let AuthInfo { impersonate, impersonate_groups, .. } =
            std::mem::take(&mut config.auth_info);
        config.auth_info = AuthInfo { impersonate, impersonate_groups, ..AuthInfo::default() };
    }
}

/// Keeps a program for credentials off a stdin that is no terminal, as kubectl does: there may be a manifest in it.
fn spare_stdin(auth: &mut AuthInfo, files: &[PathBuf]) -> Result<(), Problem> {
    // Whoever has one of these runs no program.
    let has_password = auth.username.is_some() && auth.password.is_some();
    let has_other = auth.token.is_some() || auth.token_file.is_some() || has_password;
    let Some(exec) = auth.exec.as_mut().filter(|_| !has_other) else { return Ok(()) };
    if matches!(exec.interactive_mode, Some(ExecInteractiveMode::Always)) {
        let command = clean(exec.command.as_deref().unwrap_or_default()).into_owned();
        let what = format!(
            "{command}, which gets credentials for the kubeconfig {}, asks for a terminal, and stdin is none",
            named(files)
        );
        return Err(Problem::new(number::KUBECONFIG, Exit::Failure, what)
            .fix("run it on a terminal, and name files in place of -f -; or --token"));
    }
    exec.interactive_mode = Some(ExecInteractiveMode::Never);
    Ok(())
}

/// Checks what the client takes for granted: an address with a scheme and a host, and credentials that fit into a header.
fn check(config: &kube::Config, files: &[PathBuf]) -> Result<(), Problem> {
    let problem = |what: String| {
        let what = format!("failed to use the kubeconfig {}: {what}", named(files));
        Problem::new(number::KUBECONFIG, Exit::Failure, what).fix("kubectl config view")
    };
    let server = &config.cluster_url;
    if server.scheme().is_none() || server.host().is_none_or(str::is_empty) {
        return Err(problem(format!(
            "the server \"{server}\" is no address like https://HOST:PORT"
        )));
    }
    let token = config.auth_info.token.as_ref().map(ExposeSecret::expose_secret);
    if token.is_some_and(|token| http::HeaderValue::from_str(token).is_err()) {
        return Err(problem(String::from("the token has characters that no header may have")));
    }
    Ok(())
}

fn named(files: &[PathBuf]) -> String {
    files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn missing(files: &[PathBuf]) -> Error {
    let what = if files.is_empty() {
        "no kubeconfig: neither KUBECONFIG nor HOME names one".to_owned()
    } else {
        format!("no kubeconfig: {} is not there", named(files))
    };
    Problem::new(number::KUBECONFIG, Exit::Failure, what)
        .line("and this is not a pod with an account of its own")
        .fix("--kubeconfig FILE, or try it without a cluster: kubectl kai sandbox")
        .into()
}

fn broken(files: &[PathBuf], error: &KubeconfigError) -> Error {
    let files = named(files);
    let problem = match error {
        KubeconfigError::LoadContext(name) => {
            let what = format!("context \"{name}\" is not in the kubeconfig {files}");
            Problem::new(number::KUBECONFIG, Exit::Usage, what).fix("kubectl config get-contexts")
        }
        KubeconfigError::CurrentContextNotSet => {
            let what = format!("the kubeconfig {files} has no current context");
            Problem::new(number::KUBECONFIG, Exit::Usage, what)
                .fix("--context NAME, or kubectl config use-context NAME")
        }
        KubeconfigError::ReadConfig(source, path) => {
            let what = format!("failed to read the kubeconfig {}: {source}", path.display());
            Problem::new(number::KUBECONFIG, Exit::Failure, what).fix("--kubeconfig FILE")
        }
        _ => {
            let text = chain(error);
            let mut lines = text.lines();
            let what = format!(
                "failed to use the kubeconfig {files}: {}",
                lines.next().unwrap_or_default()
            );
            Problem::new(number::KUBECONFIG, Exit::Failure, what).fix("kubectl config view")
        }
    };
    problem.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_over_tls_alone() {
        for (server, has_token) in [("https://h:6443", true), ("http://h:8080", false)] {
            let mut config = kube::Config::new(server.parse().expect("it is an address"));
            config.auth_info = AuthInfo {
                token: Some("secret".into()),
                username: Some("ana".into()),
                impersonate: Some("bob".into()),
                ..AuthInfo::default()
            };
            spare_credentials(&mut config);
            let auth = &config.auth_info;
            let has = (auth.token.is_some(), auth.username.is_some(), auth.impersonate.is_some());
            assert_eq!(has, (has_token, has_token, true), "{server}");
        }
    }

    /// Says what a program for credentials may do with stdin, or why it cannot be run.
    fn check_stdin(user: &str, expect: Result<&str, &str>) {
        let mut auth: AuthInfo = serde_json::from_str(user).expect("it is a user");
        let spared = spare_stdin(&mut auth, &[PathBuf::from("config")]);
        let mode = auth.exec.map(|exec| format!("{:?}", exec.interactive_mode));
        match (spared, expect) {
            (Ok(()), Ok(expect)) => assert_eq!(mode.as_deref(), Some(expect), "{user}"),
            (Err(problem), Err(part)) => assert!(problem.what.contains(part), "{}", problem.what),
            (spared, _) => panic!("{user}: {spared:?}, not {expect:?}"),
        }
    }

    #[test]
    fn a_program_for_credentials_reads_no_manifest() {
        let never = Ok("Some(Never)");
        check_stdin(r#"{"exec": {"command": "login"}}"#, never);
        check_stdin(r#"{"exec": {"command": "login", "interactiveMode": "IfAvailable"}}"#, never);
        let always = r#"{"exec": {"command": "login", "interactiveMode": "Always"}}"#;
        check_stdin(always, Err("login, which gets credentials for the kubeconfig config"));
        let unused = r#"{"token": "t", "exec": {"command": "login", "interactiveMode": "Always"}}"#;
        check_stdin(unused, Ok("Some(Always)"));
    }
}
