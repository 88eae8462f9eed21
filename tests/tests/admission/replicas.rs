//! Two replicas with a Lease: one acts, both answer.

use std::net::TcpListener;

use super::*;

/// A replica whose server listens on a port, and who tells the API server to ask on another.
async fn replica(plane: &ControlPlane, port: u16, asked: u16) -> Result<Podgrouper> {
    let listen = format!("--webhook-listen-address=127.0.0.1:{port}");
    let url = format!("--webhook-url=https://127.0.0.1:{asked}");
    Podgrouper::start(plane, &["--leader-elect", &listen, &url]).await
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Reads who holds the podgrouper's Lease; empty: nobody.
async fn holder(leases: &Api<DynamicObject>) -> Result<String> {
    let all = leases.list(&kube::api::ListParams::default()).await?.items;
    ensure!(all.len() <= 1, "one Lease: {all:?}");
    let holder = all.first().and_then(|lease| lease.data["spec"]["holderIdentity"].as_str());
    Ok(holder.unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_does_not_lead_answers_and_goes_on_when_the_leader_dies() -> Result<()> {
    let Some(plane) = start("admission: two replicas").await? else { return Ok(()) };
    let admin = plane.client().await?;
    let config = api(&admin, "kai.scheduler/v1", "Config", None);
    let plain = json!({"spec": {"admission": {"gpuFractionRuntimeClassName": ""}}});
    check("config", &patch(&config, "kai-config", &plain).await?, None);
    let leases = api(&admin, "coordination.k8s.io/v1", "Lease", Some(NAMESPACE));
    // As a Service would that leads to the second replica.
    let (first, second) = (free_port()?, free_port()?);
    let leader = replica(&plane, first, second).await?;
    eventually("the first leads", async || {
        let holder = holder(&leases).await?;
        Ok(if holder.is_empty() { Err("nobody".to_owned()) } else { Ok(()) })
    })
    .await?;
    let leading = holder(&leases).await?;
    let follower = replica(&plane, second, second).await?;
    until_mutated(&admin).await?;
    assert_eq!(holder(&leases).await?, leading, "the first still leads");
    assert_eq!(leader.asked().await?, 0, "nobody asks the leader");
    let before = follower.asked().await?;
    assert!(before > 0, "the second answered");

    leader.kill().await;
    let half = pod("probe", &json!({"gpu-fraction": "0.5"}));
    let made = create(&admin, &half, true).await?;
    let made = made.map_err(anyhow::Error::msg)?;
    assert!(!made["spec"]["volumes"].is_null(), "it is prepared: {made}");
    let named = json!({"gpu-fraction": "0.5", "gpu-fraction-container-name": "nosuch"});
    let refused = create(&admin, &pod("bad", &named), true).await?;
    check("judged", &refused, Some("\"nosuch\""));
    assert_eq!(holder(&leases).await?, leading, "nobody has taken the Lease so far");
    eventually("the second answered", async || {
        let asked = follower.asked().await?;
        Ok(if asked > before { Ok(()) } else { Err(format!("{asked} questions")) })
    })
    .await?;

    eventually("the second leads", async || {
        let holder = holder(&leases).await?;
        let is_next = !holder.is_empty() && holder != leading;
        Ok(if is_next { Ok(()) } else { Err(format!("{holder} leads")) })
    })
    .await?;
    // What only the leader does is done again.
    let registrations = api(&admin, REGISTRATION, MUTATING, None);
    let name = "mutating-kai-admission";
    registrations.delete(name, &kube::api::DeleteParams::default()).await?;
    until_mutated(&admin).await?;
    follower.stop().await
}
