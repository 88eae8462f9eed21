//! Admission for a story: the podgrouper under its own account, asked by the API server at a URL; or one beside it.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{
    admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    core::v1::Pod,
    node::v1::RuntimeClass,
};
use kai_api::names::{annotation, component};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::Place;
use crate::admission::{Address, Front};

/// Time that it may take until the API server asks it.
const ASKED_WITHIN: Duration = Duration::from_mins(1);

/// Admission that is served.
#[derive(Debug)]
pub struct Admission(Who);

/// One that answers.
#[derive(Debug)]
enum Who {
    Podgrouper {
        stop: CancellationToken,
        task: JoinHandle<Result<(), kai_podgrouper::Error>>,
    },
    /// One that no death of the podgrouper touches.
    Beside(#[expect(dead_code, reason = "it answers until it is dropped")] Option<Front>),
}

/// Serves admission, and waits until the API server asks it about pods.
///
/// # Errors
/// When it does not start, or is not asked in time.
pub async fn start_admission(place: &Place) -> Result<Admission> {
    let words = [
        "kai-podgrouper",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        "--namespace=kai-scheduler",
        "--webhook-listen-address=127.0.0.1:0",
        "--webhook-url=https://127.0.0.1:0",
    ];
    let args = kai_podgrouper::Args::try_from_words(words.map(String::from))
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let client = place.account(component::PODGROUPER).await?;
    let stop = CancellationToken::new();
    let task = tokio::spawn(kai_podgrouper::run(args, client, stop.clone()));
    let admission = Admission(Who::Podgrouper { stop, task });
    admission.asked(place).await
}

/// Serves admission beside the podgrouper, and waits until the API server asks it about pods.
///
/// # Errors
/// When it does not start, or is not asked in time.
pub(super) async fn start_beside(place: &Place) -> Result<Admission> {
    let client = place.admin().await?;
    let front = match place {
        Place::Embedded(_) => {
            Address::within().register(&client).await?;
            None
        }
        Place::Real(_) => {
            let front = Front::start().await?;
            front.address.register(&client).await?;
            Some(front)
        }
    };
    Admission(Who::Beside(front)).asked(place).await
}

/// The class that pods with a share of a GPU get: NVIDIA's operator installs it.
pub async fn create_runtime_class(client: Client) -> Result<()> {
    let classes: Api<RuntimeClass> = Api::all(client);
    let class =
        serde_json::from_value(json!({"metadata": {"name": "nvidia"}, "handler": "nvidia"}))?;
    match classes.create(&PostParams::default(), &class).await {
        Err(kube::Error::Api(status)) if status.code != 409 => Err(kube::Error::Api(status).into()),
        Ok(_) | Err(kube::Error::Api(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Admission {
    /// Waits until the API server asks it.
    async fn asked(self, place: &Place) -> Result<Self> {
        create_runtime_class(place.admin().await?).await?;
        let pods: Api<Pod> = Api::default_namespaced(place.admin().await?);
        let probe: Pod = serde_json::from_value(json!({
            "metadata": {"name": "is-admission-there", "annotations": {(annotation::GPU_FRACTION): "0.5"}},
            "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "busybox"}]},
        }))?;
        let rehearsal = PostParams { dry_run: true, ..PostParams::default() };
        let end = Instant::now() + ASKED_WITHIN;
        loop {
            let seen = match pods.create(&rehearsal, &probe).await {
                Ok(pod) if pod.annotations().contains_key(annotation::SHARED_GPU_CONFIG_MAP) => {
                    return Ok(self);
                }
                Ok(_) => String::from("the API server does not ask"),
                Err(error) => error.to_string(),
            };
            let is_over = matches!(&self.0, Who::Podgrouper { task, .. } if task.is_finished());
            if is_over && let Who::Podgrouper { task, .. } = self.0 {
                task.await?.context("admission ended")?;
                bail!("admission ended without an error");
            }
            if Instant::now() > end {
                bail!("admission not within {ASKED_WITHIN:?}: {seen}");
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stops it, and has the API server ask nobody: stories without it follow.
    ///
    /// # Errors
    /// When it ended with one, or the configurations cannot be deleted.
    pub async fn stop(self, place: &Place) -> Result<()> {
        if let Who::Podgrouper { stop, task } = self.0 {
            stop.cancel();
            task.await??;
        }
        let client = place.admin().await?;
        let (all, now) = (ListParams::default(), DeleteParams::default());
        let mutating: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
        for one in mutating.list(&all).await? {
            mutating.delete(&one.name_any(), &now).await?;
        }
        let validating: Api<ValidatingWebhookConfiguration> = Api::all(client);
        for one in validating.list(&all).await? {
            validating.delete(&one.name_any(), &now).await?;
        }
        Ok(())
    }
}
