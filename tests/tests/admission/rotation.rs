//! A certificate whose time is nearly over is replaced while pods are made.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::{SignedDuration, Timestamp};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio_rustls::TlsConnector;

use super::*;

/// Annotation of the Secret with the time since when the next certificate lies in it.
const STAGED_AT: &str = "kai.scheduler/next-certificate-since";
/// The names of the Services, and the address by which the API server asks here.
const NAMES: [&str; 4] = [
    "admission.kai-scheduler.svc",
    "queue-controller.kai-scheduler.svc",
    "podgroup-controller.kai-scheduler.svc",
    "127.0.0.1",
];

/// A certificate that is good for another month, and that is renewed three months before its end; its key and its authority.
fn due() -> Result<[String; 3]> {
    let hour = Duration::from_hours(1);
    let now = Duration::from_secs(u64::try_from(Timestamp::now().as_second())?);
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let (begin, end) = (epoch + now - 24 * hour, epoch + now + 30 * 24 * hour);
    let mut authority = rcgen::CertificateParams::default();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
    (authority.not_before, authority.not_after) = (begin, end);
    let authority_key = rcgen::KeyPair::generate()?;
    let authorities = authority.self_signed(&authority_key)?.pem();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let mut server = rcgen::CertificateParams::new(NAMES.map(str::to_owned))?;
    (server.not_before, server.not_after) = (begin, end);
    server.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let key = rcgen::KeyPair::generate()?;
    let certificate = server.signed_by(&key, &issuer)?.pem();
    Ok([certificate, key.serialize_pem(), authorities])
}

/// Reads what the Secret has under a key, as text.
async fn held(secrets: &Api<DynamicObject>, key: &str) -> Result<String> {
    let secret = secrets.get(SECRET).await?;
    let text = secret.data["data"][key].as_str().unwrap_or_default();
    Ok(String::from_utf8(BASE64_STANDARD.decode(text)?)?)
}

/// Reads where the API server asks about pods, and the authorities that it trusts there.
async fn registered(admin: &Client) -> Result<(u16, String)> {
    let found = api(admin, REGISTRATION, MUTATING, None).get("mutating-kai-admission").await?;
    let config = &found.data["webhooks"][0]["clientConfig"];
    let url = config["url"].as_str().context("a URL")?;
    let port = url.trim_start_matches("https://127.0.0.1:").split('/').next();
    let bundle = BASE64_STANDARD.decode(config["caBundle"].as_str().context("authorities")?)?;
    Ok((port.context("a port")?.parse()?, String::from_utf8(bundle)?))
}

/// Begins a new connection as the API server does; the certificate that is shown.
async fn shown(port: u16, authorities: &str) -> Result<CertificateDer<'static>> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities.as_bytes()) {
        roots.add(authority?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect(ServerName::try_from("127.0.0.1")?, stream).await?;
    let chain = stream.get_ref().1.peer_certificates().context("it shows a certificate")?;
    Ok(chain.first().context("it shows a certificate")?.clone().into_owned())
}

/// Makes a pod, over a connection that is there and over a new one.
async fn make_a_pod(admin: &Client) -> Result<CertificateDer<'static>> {
    let half = pod("probe", &json!({"gpu-fraction": "0.5"}));
    let made = create(admin, &half, true).await?.map_err(anyhow::Error::msg)?;
    ensure!(!made["spec"]["volumes"].is_null(), "it is not prepared: {made}");
    let (port, authorities) = registered(admin).await?;
    shown(port, &authorities).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_made_while_one_certificate_follows_another() -> Result<()> {
    let Some(plane) = start("admission: rotation").await? else { return Ok(()) };
    let admin = plane.client().await?;
    let config = api(&admin, "kai.scheduler/v1", "Config", None);
    let plain = json!({"spec": {"admission": {"gpuFractionRuntimeClassName": ""}}});
    check("config", &patch(&config, "kai-config", &plain).await?, None);
    let secrets = api(&admin, "v1", "Secret", Some(NAMESPACE));
    let [certificate, key, authorities] = due()?;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET},
        "type": "kubernetes.io/tls",
        "stringData": {"tls.crt": certificate, "tls.key": key, "ca.crt": authorities}});
    secrets.create(&PostParams::default(), &serde_json::from_value(secret)?).await?;
    let podgrouper = Podgrouper::start(&plane, &SERVED).await?;
    until_mutated(&admin).await?;
    let first = CertificateDer::from_pem_slice(certificate.as_bytes())?;
    assert_eq!(make_a_pod(&admin).await?, first, "what was planted is served");

    // The next one lies beside it, and the API server is told of both authorities, before any connection sees it.
    eventually("the next one lies beside it", async || {
        let shown = make_a_pod(&admin).await?;
        ensure!(shown == first, "the next one is served before its time");
        let (next, told) = (held(&secrets, "next.crt").await?, registered(&admin).await?.1);
        let is_told = told == held(&secrets, "ca.crt").await? && told.contains(&authorities);
        Ok(if is_told && !next.is_empty() { Ok(()) } else { Err("not yet".to_owned()) })
    })
    .await?;
    let next = held(&secrets, "next.crt").await?;
    let next = CertificateDer::from_pem_slice(next.as_bytes())?;
    // Time passes.
    let since = Timestamp::now().checked_sub(SignedDuration::from_mins(11))?.to_string();
    let aged = json!({"metadata": {"annotations": {STAGED_AT: since}}});
    check("aged", &patch(&secrets, SECRET, &aged).await?, None);
    let mut before = 0;
    eventually("the next one is served", async || {
        let shown = make_a_pod(&admin).await?;
        before += 1;
        Ok(if shown == next { Ok(()) } else { Err("not yet".to_owned()) })
    })
    .await?;
    assert!(before > 1, "pods were made before the change");
    for _ in 0..20 {
        assert_eq!(make_a_pod(&admin).await?, next);
    }
    let left = secrets.get(SECRET).await?;
    assert!(left.data["data"]["next.crt"].is_null(), "nothing lies beside it any more");
    podgrouper.stop().await
}
