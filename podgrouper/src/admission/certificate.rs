//! The certificate that the server proves itself with: made here, judged as the API server will judge it.
//!
//! Each certificate has an authority of its own, whose key is thrown away when it has signed: nobody can sign another.

pub(super) mod keeper;
pub(super) mod secret;

use std::sync::Arc;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;

/// Time for which a certificate is valid.
const LIFETIME: Duration = Duration::from_hours(365 * 24);
/// Time before its end at which it is renewed.
const RENEW_AHEAD: Duration = Duration::from_hours(90 * 24);
/// Difference that the clocks of the API server and of this machine may have.
const CLOCK_SKEW: Duration = Duration::from_hours(1);

/// A certificate with its key, and the authorities by which clients know it; all as PEM.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Material {
    pub(super) certificate: String,
    pub(super) key: String,
    pub(super) authorities: String,
}

impl std::fmt::Debug for Material {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Material").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// Use of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is accepted, and will be for long.
    Good,
    /// It is accepted, and has to be renewed.
    Due,
    /// It is not accepted.
    Bad(String),
}

/// Makes a certificate for the names, and an authority for it alone.
pub(super) fn make(names: &[String], now: UnixTime) -> Result<Material, rcgen::Error> {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let now = Duration::from_secs(now.as_secs());
    let (begin, end) = (epoch + now.saturating_sub(CLOCK_SKEW), epoch + now + LIFETIME);
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let title = format!("kai admission {}", now.as_secs());
    authority.distinguished_name.push(DnType::CommonName, title);
    (authority.not_before, authority.not_after) = (begin, end);
    let authority_key = KeyPair::generate()?;
    let authorities = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);

    let mut server = CertificateParams::new(names.to_vec())?;
    let first = names.first().cloned().unwrap_or_default();
    server.distinguished_name.push(DnType::CommonName, first);
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    (server.not_before, server.not_after) = (begin, end);
    let key = KeyPair::generate()?;
    let certificate = server.signed_by(&key, &issuer)?.pem();
    Ok(Material { certificate, key: key.serialize_pem(), authorities })
}

/// Judges a certificate for the names at a time.
pub(super) fn judge(material: &Material, names: &[String], now: UnixTime) -> Standing {
    let judged =
        load(material).and_then(|loaded| accept(material, &loaded, names, now).map(|()| loaded));
    let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + RENEW_AHEAD);
    match judged {
        Err(why) => Standing::Bad(why),
        Ok(loaded) if accept(material, &loaded, names, later).is_err() => Standing::Due,
        Ok(_) => Standing::Good,
    }
}

/// The certificate and its key in the form that connections take.
pub(super) fn load(material: &Material) -> Result<CertifiedKey, String> {
    let chain = certificates(&material.certificate).map_err(|why| format!("tls.crt: {why}"))?;
    let key = PrivateKeyDer::from_pem_slice(material.key.as_bytes())
        .map_err(|error| format!("tls.key: {error}"))?;
    CertifiedKey::from_der(chain, key, &provider())
        .map_err(|error| format!("tls.crt and tls.key: {error}"))
}

/// Accepts or refuses the certificate as a client with the authorities does.
fn accept(
    material: &Material,
    loaded: &CertifiedKey,
    names: &[String],
    now: UnixTime,
) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(&material.authorities).map_err(|why| format!("ca.crt: {why}"))? {
        roots.add(authority).map_err(|error| format!("ca.crt: {error}"))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
    let verifier = verifier.build().map_err(|error| format!("ca.crt: {error}"))?;
    let (first, others) = loaded.cert.split_first().ok_or("tls.crt holds no certificate")?;
    for name in names {
        let server = ServerName::try_from(name.as_str())
            .map_err(|_| format!("{name} is no name of a server"))?;
        verifier
            .verify_server_cert(first, others, &server, &[], now)
            .map_err(|error| format!("tls.crt: not accepted for {name}: {error}"))?;
    }
    Ok(())
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match all {
        Ok(all) if all.is_empty() => Err("holds no certificate".to_owned()),
        Ok(all) => Ok(all),
        Err(error) => Err(error.to_string()),
    }
}

/// The algorithms of all our connections.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_hours(24 * number))
    }

    #[test]
    fn a_certificate_is_good_then_due_then_bad() {
        let names = ["admission.ns.svc".to_owned(), "127.0.0.1".to_owned()];
        let material = make(&names, day(20_000)).expect("a certificate");
        let check = |names: &[String], at: u64, expect: &str| {
            let standing = format!("{:?}", judge(&material, names, day(at)));
            assert!(standing.contains(expect), "day {at}: {standing} lacks {expect}");
        };
        check(&names, 20_000, "Good");
        check(&names, 20_000 + 274, "Good");
        check(&names, 20_000 + 276, "Due");
        check(&names, 20_000 + 364, "Due");
        check(&names, 20_000 + 366, "certificate expired");
        check(&names, 19_999, "not valid yet");
        check(&["other.ns.svc".to_owned()], 20_000, "other.ns.svc");
        // It has to be accepted under every name that the API server asks for.
        check(&[names[0].clone(), "other.ns.svc".to_owned()], 20_000, "other.ns.svc");
    }

    /// An API server whose clock is behind would have no pod made until it has caught up.
    #[test]
    fn a_certificate_is_good_for_clocks_that_are_behind() {
        let names = ["admission.ns.svc".to_owned()];
        let material = make(&names, day(20_000)).expect("a certificate");
        let behind = Duration::from_mins(20_000 * 24 * 60 - 59);
        let standing = judge(&material, &names, UnixTime::since_unix_epoch(behind));
        assert_eq!(standing, Standing::Good);
    }

    #[test]
    fn what_does_not_belong_together_is_bad() {
        let names = ["admission.ns.svc".to_owned()];
        let [one, other] = [1, 2].map(|_| make(&names, day(20_000)).expect("a certificate"));
        let bad = |material: Material, expect: &str| {
            let standing = format!("{:?}", judge(&material, &names, day(20_000)));
            assert!(standing.contains("Bad") && standing.contains(expect), "{standing}");
        };
        bad(Material { key: other.key.clone(), ..one.clone() }, "KeyMismatch");
        bad(Material { authorities: other.authorities.clone(), ..one.clone() }, "tls.crt");
        bad(Material { authorities: String::new(), ..one.clone() }, "ca.crt");
        bad(Material { certificate: "nonsense".into(), ..one.clone() }, "tls.crt");
        bad(Material { key: String::new(), ..one.clone() }, "tls.key");
        // A certificate that signs itself, as KAI's, has no authority of its own in the Secret.
        bad(Material { authorities: one.certificate.clone(), ..one.clone() }, "tls.crt");
        let both = format!("{}{}", other.authorities, one.authorities);
        let material = Material { authorities: both, ..one };
        assert_eq!(judge(&material, &names, day(20_000)), Standing::Good);
    }
}
