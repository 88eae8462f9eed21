//! Things that somebody breaks are mended.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_breaks_heals() -> Result<()> {
    let Some(plane) = start("admission").await? else { return Ok(()) };
    let admin = plane.client().await?;
    let config = api(&admin, "kai.scheduler/v1", "Config", None);
    let plain = json!({"spec": {"admission": {"gpuFractionRuntimeClassName": ""}}});
    check("config", &patch(&config, "kai-config", &plain).await?, None);
    let podgrouper = Podgrouper::start(&plane, &SERVED).await?;
    until_mutated(&admin).await?;
    registrations_heal(&admin).await?;
    let secrets = api(&admin, "v1", "Secret", Some(NAMESPACE));
    secrets.delete(SECRET, &kube::api::DeleteParams::default()).await?;
    eventually("the Secret is back", async || {
        let found = secrets.get_opt(SECRET).await?;
        Ok(if found.is_some() { Ok(()) } else { Err("gone".to_owned()) })
    })
    .await?;
    check("p", &create(&admin, &pod("p", &json!({})), true).await?, None);
    check("kept", &create(&admin, &pod("kept", &json!({})), false).await?, None);
    podgrouper.stop().await?;

    // Nobody answers: ours are held up, and nobody else. What the scheduler writes with a bind is no question.
    let pods = api(&admin, "v1", "Pod", Some("default"));
    let label = json!({"metadata": {"labels": {"runai-gpu-group": "g"}}});
    check("label", &patch(&pods, "kept", &label).await?, None);
    let share = json!({"metadata": {"annotations": {"gpu-fraction": "0.5"}}});
    check("share", &patch(&pods, "kept", &share).await?, Some("failed calling webhook"));
    let found = create(&admin, &pod("p", &json!({})), true).await?;
    check("ours", &found, Some("failed calling webhook"));
    let mut foreign = pod("foreign", &json!({}));
    foreign["spec"]["schedulerName"] = json!("default-scheduler");
    check("foreign", &create(&admin, &foreign, true).await?, None);

    // A certificate whose time is over, found at the start.
    let (certificate, key) = expired()?;
    let data =
        json!({"stringData": {"tls.crt": certificate, "ca.crt": certificate, "tls.key": key}});
    check("expired", &patch(&secrets, SECRET, &data).await?, None);
    let podgrouper = Podgrouper::start(&plane, &SERVED).await?;
    until_mutated(&admin).await?;
    podgrouper.stop().await?;

    // Switched off, it leaves the registrations as they are.
    let off = Podgrouper::start(&plane, &[]).await?;
    sleep(Duration::from_secs(3)).await;
    ensure!(
        api(&admin, REGISTRATION, MUTATING, None)
            .get_opt("mutating-kai-admission")
            .await?
            .is_some()
    );
    off.stop().await
}

async fn registrations_heal(admin: &Client) -> Result<()> {
    let registrations = api(admin, REGISTRATION, MUTATING, None);
    let name = "mutating-kai-admission";
    let value = async || anyhow::Ok(serde_json::to_value(registrations.get_opt(name).await?)?);
    let first = value().await?;
    registrations.delete(name, &kube::api::DeleteParams::default()).await?;
    eventually("the registration is back", async || {
        let found = value().await?;
        let is_back = found["webhooks"] == first["webhooks"];
        Ok(if is_back { Ok(()) } else { Err(found.to_string()) })
    })
    .await?;
    // As a cloud provider does, and then as somebody who is wrong.
    let mut edited = value().await?["webhooks"].clone();
    edited[0]["namespaceSelector"]["matchExpressions"]
        .as_array_mut()
        .context("expressions")?
        .push(json!({"key": "control-plane", "operator": "DoesNotExist"}));
    let kept = edited.clone();
    edited[0]["failurePolicy"] = json!("Ignore");
    let change = json!({"metadata": {"annotations": {"of": "provider"}}, "webhooks": edited});
    check("edit", &patch(&registrations, name, &change).await?, None);
    eventually("the edit is undone", async || {
        let found = value().await?;
        Ok(if found["webhooks"] == kept { Ok(()) } else { Err(found.to_string()) })
    })
    .await?;
    let settled = value().await?;
    assert_eq!(settled["metadata"]["annotations"]["of"], "provider");
    sleep(Duration::from_secs(3)).await;
    let version = |found: &Value| found["metadata"]["resourceVersion"].clone();
    assert_eq!(version(&value().await?), version(&settled), "nobody writes without need");
    Ok(())
}

/// A certificate that was valid long ago, and its key.
fn expired() -> Result<(String, String)> {
    let mut params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2020, 2, 1);
    let key = rcgen::KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}
