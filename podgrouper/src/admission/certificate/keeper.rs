//! Keeps the certificate: reads the Secret, does what is to be done about it, and has connections take what it holds.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kai_api::names::{component, label, value};
use kai_daemon::clock;
use kube::Client;
use kube::api::{Api, PostParams};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;

use super::secret::{Held, Step, step, unix};
use super::{Material, load, make};
use crate::admission::reason;

/// The Secret; KAI's admission has the same.
const SECRET: &str = "kai-admission-webhook-tls-secret";
const SECRET_TYPE: &str = "kubernetes.io/tls";
/// Interval at which the Secret is read: so long may replicas serve different certificates.
const LOOK: Duration = Duration::from_secs(10);
/// Wait after a conflict with another replica.
const AGAIN: Duration = Duration::from_millis(200);

/// The certificate of new connections.
#[derive(Debug, Default)]
pub(crate) struct Served(RwLock<Option<Arc<CertifiedKey>>>);

impl Served {
    /// Has new connections take this certificate.
    pub(crate) fn set(&self, certificate: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certificate));
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps the certificate in its Secret.
pub(crate) struct Keeper {
    api: Api<Secret>,
    namespace: String,
    /// Names that the certificate has to be accepted for.
    names: Vec<String>,
    served: Arc<Served>,
    /// Certificates that are served, for whoever tells clients the authorities.
    told: watch::Sender<Option<Material>>,
    last_error: String,
}

/// Outcome of a look at the Secret.
enum Outcome {
    /// It is as it should be.
    Settled,
    /// It was written, by us or by another replica: it is to be read again.
    Changed,
}

impl Keeper {
    pub(crate) fn new(client: Client, namespace: &str, names: Vec<String>) -> Self {
        Self {
            api: Api::namespaced(client, namespace),
            namespace: namespace.to_owned(),
            names,
            served: Arc::default(),
            told: watch::Sender::new(None),
            last_error: String::new(),
        }
    }

    pub(crate) fn served(&self) -> Arc<Served> {
        self.served.clone()
    }

    /// Gives what is served, as it changes.
    pub(crate) fn told(&self) -> watch::Receiver<Option<Material>> {
        self.told.subscribe()
    }

    /// Looks at the Secret for ever. While it can't be read, what is served stays.
    pub(crate) async fn run(mut self) {
        loop {
            let wait = match self.look().await {
                Ok(Outcome::Settled) => {
                    self.last_error.clear();
                    LOOK
                }
                Ok(Outcome::Changed) => AGAIN,
                Err(why) => {
                    // A missing right stays so for a while: say it once.
                    if why != self.last_error {
                        tracing::warn!(
                            "failed to keep the certificate of admission in Secret {}/{SECRET}: {why}; trying again",
                            self.namespace
                        );
                        self.last_error = why;
                    }
                    LOOK
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    async fn look(&mut self) -> Result<Outcome, String> {
        let found = self.api.get_opt(SECRET).await.map_err(|error| reason(&error))?;
        let held = found.as_ref().map(Held::of);
        let served = self.told.borrow().clone();
        let now = clock::now();
        let step = step(held.as_ref(), served.as_ref(), &self.names, now);
        let wanted = match (&step, held, served) {
            (Step::Keep, Some(held), _) => {
                self.serve(held.current)?;
                return Ok(Outcome::Settled);
            }
            (Step::Restore(_), _, Some(served)) => Held::only(served),
            (Step::Stage, Some(held), _) => held.stage(&self.make(now)?, now),
            (Step::Promote, Some(held), _) => held.promote(),
            _ => Held::only(self.make(now)?),
        };
        let written = self.write(found, &wanted).await?;
        if written {
            let (name, namespace) = (SECRET, &self.namespace);
            match step {
                Step::Restore(why) | Step::Replace(why) => tracing::info!(
                    "wrote a certificate for admission to Secret {namespace}/{name}: {why}"
                ),
                Step::Stage => tracing::info!(
                    "the certificate of admission in Secret {namespace}/{name} ends soon: the next one lies beside it"
                ),
                Step::Promote => tracing::info!(
                    "the certificate of admission in Secret {namespace}/{name} is renewed"
                ),
                Step::Keep => {}
            }
        }
        Ok(Outcome::Changed)
    }

    fn make(&self, now: Timestamp) -> Result<Material, String> {
        make(&self.names, unix(now)).map_err(|error| format!("failed to make one: {error}"))
    }

    /// Creates or replaces the Secret; false where another was faster.
    async fn write(&self, found: Option<Secret>, wanted: &Held) -> Result<bool, String> {
        let params = PostParams::default();
        let written = if let Some(mut secret) = found {
            // It carries the resourceVersion that was read.
            wanted.write(&mut secret);
            self.api.replace(SECRET, &params, &secret).await
        } else {
            let labels =
                [(label::PART_OF, value::PRODUCT), (label::MANAGED_BY, component::PODGROUPER)];
            let labels = labels.map(|(key, text)| (key.to_owned(), text.to_owned()));
            let mut secret = Secret {
                metadata: ObjectMeta {
                    name: Some(SECRET.to_owned()),
                    labels: Some(labels.into()),
                    ..ObjectMeta::default()
                },
                type_: Some(SECRET_TYPE.to_owned()),
                ..Secret::default()
            };
            wanted.write(&mut secret);
            self.api.create(&params, &secret).await
        };
        match written {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(false),
            Err(error) => Err(reason(&error)),
        }
    }

    /// Has new connections take a certificate.
    fn serve(&self, material: Material) -> Result<(), String> {
        if self.told.borrow().as_ref() == Some(&material) {
            return Ok(());
        }
        self.served.set(load(&material)?);
        self.told.send_replace(Some(material));
        Ok(())
    }
}
