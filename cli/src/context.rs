//! Describes what a command stands in: its output, environment, settings, and the way to the cluster.

mod ask;
mod confirm;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal as _, Read};
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::cluster::{Cluster, Mirror, Slim};
use crate::globals::Globals;
use crate::print::error::{Error, Exit};
use crate::print::output::{Color, Output};
use crate::settings::Settings;
pub(crate) use ask::Question;

/// Runs one command line, program name first, within a context: what the demo is given to type with.
pub(crate) type Run = fn(Vec<OsString>, &mut Context) -> BoxFuture<'_, Exit>;

/// Holds what a command stands in. Environment, folder, input and output are data, so that a command can be run inside
/// another process against a given cluster.
pub struct Context {
    /// Says where it prints.
    pub out: Output,
    /// The environment variables.
    pub env: BTreeMap<String, String>,
    /// The working folder, for relative paths and `.kai.yaml`.
    pub dir: PathBuf,
    /// Holds what `-f -` reads.
    pub stdin: Box<dyn Read + Send>,
    /// Tells whether somebody can answer a question.
    pub answers: bool,
    /// The flags that every command takes, of the command that runs.
    pub globals: Globals,
    pub(crate) settings: Settings,
    given: Option<Cluster>,
    connected: Option<Cluster>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("out", &self.out)
            .field("dir", &self.dir)
            .field("globals", &self.globals)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The context of this process.
    pub fn process() -> Self {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        Self {
            out: Output::process(&env),
            env,
            dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            stdin: Box::new(io::stdin()),
            answers: io::stdin().is_terminal(),
            globals: Globals::default(),
            settings: Settings::default(),
            given: None,
            connected: None,
        }
    }

    /// A context for commands against a given cluster: no environment, no configuration files, no input.
    pub fn given(client: kube::Client, namespace: &str, out: Output) -> Self {
        Self {
            out,
            env: BTreeMap::new(),
            dir: PathBuf::from("/"),
            stdin: Box::new(io::empty()),
            answers: false,
            globals: Globals::default(),
            settings: Settings::default(),
            given: Some(Cluster::given(client, namespace)),
            connected: None,
        }
    }

    /// Takes over the flags of a command line, and reads the settings that stand behind them.
    pub(crate) fn adopt(&mut self, globals: Globals) -> Result<(), Error> {
        self.globals = globals;
        self.connected = None;
        self.settings = if self.given.is_some() {
            Settings::from_env(&self.env)
        } else {
            let current = || Cluster::current_context(&self.globals, &self.env);
            Settings::load(&self.env, &self.dir, &current)?
        };
        let color = match (self.globals.color, self.settings.get("color").map(|s| s.value.as_str()))
        {
            (Some(color), _) => color,
            (None, Some("always")) => Color::Always,
            (None, Some("never")) => Color::Never,
            (None, Some(_) | None) => Color::Auto,
        };
        self.out.color(color, &self.env);
        if self.globals.ascii {
            self.out.set_ascii();
        }
        if self.globals.quiet {
            self.out.set_quiet();
        }
        if self.given.is_none() {
            self.out.log(self.globals.verbose);
        }
        for (name, setting) in self.settings.held() {
            tracing::debug!(%name, value = %setting.value, from = %setting.origin, "setting");
        }
        Ok(())
    }

    /// The cluster of the flags, environment and kubeconfig; reads the kubeconfig at the first call, and makes no
    /// request.
    ///
    /// # Errors
    /// When the kubeconfig is missing or wrong.
    pub async fn cluster(&mut self) -> Result<Cluster, Error> {
        if let Some(cluster) = &self.connected {
            return Ok(cluster.clone());
        }
        let mut cluster = match &self.given {
            Some(cluster) => cluster.clone(),
            None => Cluster::connect(&self.globals, &self.env, self.answers).await?,
        };
        let wanted = self.globals.namespace.clone();
        if let Some(namespace) =
            wanted.or_else(|| self.settings.get("namespace").map(|s| s.value.clone()))
        {
            cluster.namespace = namespace;
        }
        self.connected = Some(cluster.clone());
        Ok(cluster)
    }

    /// The server and the namespace as the flags, the settings and the kubeconfig name them, without a client; none where
    /// these name no server.
    pub(crate) fn place(&self) -> Option<(String, String)> {
        if let Some(cluster) = &self.given {
            return Some((cluster.place.server.clone(), cluster.namespace.clone()));
        }
        let (server, namespace) = Cluster::named(&self.globals, &self.env)?;
        let setting = || self.settings.get("namespace").map(|setting| setting.value.clone());
        let wanted = self.globals.namespace.clone().or_else(setting);
        Some((server, wanted.unwrap_or(namespace)))
    }

    /// Has the command work in a namespace, as `-n` does.
    pub(crate) fn work_in(&mut self, namespace: &str) {
        self.globals.namespace = Some(namespace.to_owned());
        if let Some(cluster) = &mut self.connected {
            namespace.clone_into(&mut cluster.namespace);
        }
    }

    /// Has all that commands read from now on kept up to date by watches; of each object what a function leaves of it.
    ///
    /// # Errors
    /// As [`Context::cluster`].
    pub(crate) async fn mirror(&mut self, slim: Slim) -> Result<Arc<Mirror>, Error> {
        let mut cluster = self.cluster().await?;
        let mirror = cluster.mirrored(slim);
        self.connected = Some(cluster);
        Ok(mirror)
    }

    /// Warns of objects that were too large to be read whole. What a command does may depend on the rest of them: it is said
    /// before anything is asked or written.
    pub(crate) fn warn_of_cut(&mut self) {
        if let Some(what) = self.connected.as_ref().and_then(Cluster::take_cut) {
            self.out.warn(&what);
        }
    }

    /// The namespace to list: none for all of them.
    pub(crate) fn scope<'a>(&self, cluster: &'a Cluster) -> Option<&'a str> {
        if self.globals.all_namespaces { None } else { Some(&cluster.namespace) }
    }

    /// A way to the same cluster for a command that is run by this one.
    pub fn is_given(&self) -> bool {
        self.given.is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;
    use crate::cluster::{Call, Select, names};
    use crate::print::output::tests::Page;

    /// Gives what a command stands in that has read a pod, and not all of it; and what is said there.
    pub(crate) async fn of_a_large_pod() -> (Context, Page) {
        let service = tower::service_fn(|_: Request<Body>| async {
            let metadata = json!({"namespace": "ml", "name": "large"});
            let pod = json!({"metadata": metadata, "spec": {"ports": vec![1; 60_000]}});
            let list = json!({"metadata": {}, "items": [pod]}).to_string();
            Ok::<_, kube::Error>(Response::new(Body::from(list.into_bytes())))
        });
        let page = Page::default();
        let mut context = Context::given(kube::Client::new(service, "ml"), "ml", page.output());
        let cluster = context.cluster().await.expect("it is given");
        let pods = names::pods();
        let read = cluster.list(&Call::new("list", &pods), &Select::default()).await;
        assert!(read.is_ok_and(|pods| pods.is_some_and(|pods| pods.len() == 1)));
        (context, page)
    }
}
