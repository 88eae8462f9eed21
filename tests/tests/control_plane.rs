//! The harness itself: a real control plane with RBAC starts, issues account tokens, and refuses a user without rights.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use anyhow::Result;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kai_tests::control_plane::{ControlPlane, assets, client};
use kube::{
    Api,
    api::{ListParams, PostParams},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_control_plane_starts_and_knows_its_users() -> Result<()> {
    let Some(assets) = assets("control plane") else { return Ok(()) };
    let plane = ControlPlane::start(&assets, &[]).await?;
    let admin = plane.client().await?;
    let account: ServiceAccount =
        serde_saphyr::from_str("metadata: {name: a, namespace: default}")?;
    let accounts: Api<ServiceAccount> = Api::default_namespaced(admin);
    accounts.create(&PostParams::default(), &account).await?;
    for kubeconfig in
        [plane.kubeconfig_of_account("default", "a").await?, plane.kubeconfig_of_nobody()?]
    {
        let namespaces: Api<Namespace> = Api::all(client(&kubeconfig).await?);
        let refused = namespaces.list(&ListParams::default()).await;
        assert!(
            matches!(&refused, Err(kube::Error::Api(status)) if status.code == 403),
            "{refused:?}"
        );
    }
    Ok(())
}
