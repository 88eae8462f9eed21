//! Admission: what the API server asks before a pod, queue, `PodGroup` or Topology is made.
//!
//! [`review::answer`] decides, without I/O; [`server`] takes the questions over TLS, in every replica;
//! [`certificate`] keeps what it proves itself with in a Secret; [`registration`] tells the API server whom to ask, in the
//! replica that leads.

mod certificate;
mod container;
mod metrics;
mod mutate;
mod naming;
mod pod_group;
mod queue;
mod registration;
pub mod review;
mod room;
mod server;
pub mod settings;
mod topology;
mod validate;

use std::sync::Arc;

use http::Uri;
use kai_api::config::ConfigSpec;
use kai_api::names::{CONFIG_NAME, namespace};
use kai_daemon::metrics::Register;
use kai_daemon::process::causes;
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::error::Error;
use crate::follow::{Change, Listing, Selection, Table, follow, keep_table};
use crate::ready::Ready;
use crate::slim::AnyShape;
use certificate::Material;
use certificate::keeper::Keeper;
use metrics::Metrics;
use registration::controller::Registrar;
use registration::{Place, SERVICES, Way};
use server::{Known, Server};
use settings::{Flags, Settings};

/// The reason why something is refused, for the user who made it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Denial(pub(crate) String);

/// Findings on an object that admission does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Warnings that its author is told.
    pub(crate) warnings: Vec<String>,
    /// The reason why it is refused.
    pub(crate) denial: Option<Denial>,
}

/// The queues, for the comparison of their quotas.
type Queues = Arc<Table>;

/// The thing that has to be there before the server is ready.
const CONFIG: &str = "the Config for admission";
const CERTIFICATE: &str = "the certificate of admission";

/// Admission that serves.
pub(crate) struct Admission {
    client: Client,
    namespace: String,
    way: Way,
    settings: watch::Receiver<Option<Arc<Settings>>>,
    served: watch::Receiver<Option<Material>>,
    server: JoinHandle<()>,
    /// Tasks that end with this.
    _tasks: JoinSet<()>,
}

/// Adds the metrics of admission.
pub(crate) fn measure(prefix: &str, register: &Register) -> Result<(), prometheus::Error> {
    Metrics::new(prefix, register).map(drop)
}

impl Admission {
    /// Starts to serve where the flags say so.
    ///
    /// # Errors
    /// The address can't be served on, the URL is none, or the prefix of metrics makes no name.
    pub(crate) async fn start(
        args: &Args,
        client: Client,
        ready: &Ready,
        register: &Register,
        stop: CancellationToken,
    ) -> Result<Option<Self>, Error> {
        if args.webhook_listen_address.is_empty() {
            tracing::info!(
                "admission is off, --webhook-listen-address is empty; webhook configurations stay as they are"
            );
            return Ok(None);
        }
        let server = Server::bind(&args.webhook_listen_address).await?;
        let way = way(&args.webhook_url, server.local().port())?;
        let namespace = args.system_namespace(&client);
        tracing::info!(address = %server.local(), ?way, "serving admission");
        let keeper = Keeper::new(client.clone(), &namespace, names(&way, &namespace));
        let (served, told) = (keeper.served(), keeper.told());
        let (settings, known_settings) = watch::channel(None);
        let queues = args.enable_quota_validation.then(Queues::default);
        let known = Known {
            settings: known_settings.clone(),
            queues: queues.clone(),
            metrics: Metrics::new(&args.metrics_namespace, register)?,
        };
        ready.needs(CONFIG);
        ready.needs(CERTIFICATE);
        let server = tokio::spawn(server.run(served, known, stop));
        let mut tasks = JoinSet::new();
        tasks.spawn(keeper.run());
        tasks.spawn(announce(ready.clone(), known_settings.clone(), told.clone()));
        let flags = Flags {
            scheduler: args.scheduler_name.clone(),
            queue_label: args.queue_label_key.clone(),
        };
        tasks.spawn(follow_config(client.clone(), flags, settings));
        if let Some(queues) = queues {
            let (client, of) = (client.clone(), Selection::of("scheduling.run.ai/v2", "Queue"));
            tasks.spawn(async move { keep_table(client, of, &queues, || ()).await });
        }
        let admission = Self {
            client,
            namespace,
            way,
            settings: known_settings,
            served: told,
            server,
            _tasks: tasks,
        };
        Ok(Some(admission))
    }

    /// Keeps the registrations; for the replica that leads.
    pub(crate) fn register(&self) -> impl Future<Output = ()> + use<> {
        let registrar = Registrar {
            client: self.client.clone(),
            namespace: self.namespace.clone(),
            way: self.way.clone(),
            settings: self.settings.clone(),
            served: self.served.clone(),
        };
        registrar.run()
    }

    /// Waits until the server has answered what was asked; it was told to stop.
    pub(crate) async fn stopped(self) {
        // It only fails where it panicked, and said so.
        let _ = self.server.await;
    }
}

/// Lists the configurations of webhooks by which an API server asks at a URL that has no slash at its end. Whoever answers
/// there proves itself by the authorities of the bundle, base64 of PEM.
pub fn registrations(settings: &Settings, url: &str, bundle: &str) -> Vec<Value> {
    let place = Place {
        namespace: namespace::SYSTEM.to_owned(),
        namespace_uid: None,
        way: Way::Url(url.to_owned()),
        bundle: json!(bundle),
    };
    registration::wanted(settings, &place)
}

/// Judges a `PodGroup` of the podgrouper's own, about which the API server does not ask.
///
/// # Errors
/// The reason why it is refused.
pub(crate) fn judge_group(group: &Value, is_update: bool) -> Result<(), Denial> {
    pod_group::validate(group, is_update).denial.map_or(Ok(()), Err)
}

/// Gives the reason of an error, in the API server's words where there are any.
fn reason(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error { status.message.clone() } else { causes(error) }
}

/// Names that the certificate has to be accepted for.
fn names(way: &Way, namespace: &str) -> Vec<String> {
    let services = SERVICES.iter().map(|service| format!("{service}.{namespace}.svc"));
    let host = match way {
        Way::Services => None,
        Way::Url(url) => url.parse::<Uri>().ok().and_then(|url| url.host().map(str::to_owned)),
    };
    let host = host.map(|host| host.trim_matches(['[', ']']).to_owned());
    services.chain(host).collect()
}

/// Finds out how the API server reaches us. A URL with port 0 takes the port that is listened on.
fn way(url: &str, port: u16) -> Result<Way, Error> {
    if url.is_empty() {
        return Ok(Way::Services);
    }
    let wrong = || {
        Error::Flag(format!(
            "--webhook-url {url:?} is no URL of a webhook: want https://HOST:PORT, without path or query"
        ))
    };
    let parsed: Uri = url.parse().map_err(|_| wrong())?;
    let host = parsed.host().ok_or_else(wrong)?;
    let is_plain = parsed.path() == "/" && parsed.query().is_none();
    let has_user = parsed.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if parsed.scheme_str() != Some("https") || !is_plain || has_user {
        return Err(wrong());
    }
    let port = parsed.port_u16().map_or(443, |given| if given == 0 { port } else { given });
    Ok(Way::Url(format!("https://{host}:{port}")))
}

/// Says that admission is ready as soon as it is.
async fn announce(
    ready: Ready,
    mut settings: watch::Receiver<Option<Arc<Settings>>>,
    mut served: watch::Receiver<Option<Material>>,
) {
    if settings.wait_for(Option::is_some).await.is_ok() {
        ready.has(CONFIG);
    }
    if served.wait_for(Option::is_some).await.is_ok() {
        ready.has(CERTIFICATE);
    }
}

/// The Config as it changes; one that can't be read leaves what held before.
async fn follow_config(
    client: Client,
    flags: Flags,
    settings: watch::Sender<Option<Arc<Settings>>>,
) {
    let selection = Selection {
        fields: format!("metadata.name={CONFIG_NAME}"),
        ..Selection::of("kai.scheduler/v1", "Config")
    };
    let mut listing = Listing::new();
    let mut current: Option<ConfigSpec> = None;
    // Before the end of the first list it is not known whether there is one.
    let mut is_listed = false;
    follow::<AnyShape>(client, selection, |change| {
        match change {
            Change::ListStart => listing.start(),
            Change::Set(object) => {
                listing.see(CONFIG_NAME);
                match serde_json::from_value(object.value()["spec"].clone()) {
                    Ok(spec) => current = spec,
                    Err(error) => tracing::warn!(
                        "failed to read Config {CONFIG_NAME}: {error}; what it said before holds"
                    ),
                }
            }
            Change::Gone(_) => current = None,
            Change::ListEnd => {
                is_listed = true;
                if !listing.end(vec![CONFIG_NAME]).is_empty() {
                    current = None;
                }
            }
        }
        if is_listed {
            let found = Some(Arc::new(Settings::of(current.as_ref(), &flags)));
            settings.send_if_modified(|held| {
                let is_news = *held != found;
                *held = found;
                is_news
            });
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_plain_and_may_take_the_port_that_is_listened_on() {
        for (url, expect) in [
            ("", Some(Way::Services)),
            ("https://127.0.0.1:9443", Some(Way::Url("https://127.0.0.1:9443".into()))),
            ("https://127.0.0.1:0/", Some(Way::Url("https://127.0.0.1:7".into()))),
            ("https://host.example", Some(Way::Url("https://host.example:443".into()))),
            ("https://[::1]:5", Some(Way::Url("https://[::1]:5".into()))),
            ("http://127.0.0.1:9443", None),
            ("127.0.0.1:9443", None),
            ("https://a@b:5", None),
            ("https://a:5/path", None),
            ("https://a:5?x", None),
            ("nonsense", None),
        ] {
            assert_eq!(way(url, 7).ok(), expect, "{url}");
        }
    }

    #[test]
    fn a_certificate_names_all_services_and_the_host_of_the_url() {
        assert_eq!(
            names(&Way::Url("https://[::1]:5".into()), "ns"),
            ["admission.ns.svc", "queue-controller.ns.svc", "podgroup-controller.ns.svc", "::1"]
        );
    }
}
