//! A certificate authority of this process and a server certificate for the loopback address.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::Error;

/// Certificate and key of the server.
pub(super) struct Identity {
    /// For the listener.
    pub(super) config: Arc<ServerConfig>,
    /// The authority's certificate, PEM, for kubeconfigs.
    pub(super) authority_pem: String,
}

/// Makes a fresh authority and server certificate; nothing is written to disk.
pub(super) fn identity() -> Result<Identity, Error> {
    let authority_key = KeyPair::generate().map_err(Error::Certificate)?;
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "kai sandbox");
    let authority_certificate =
        authority.self_signed(&authority_key).map_err(Error::Certificate)?;
    let issuer = Issuer::new(authority, authority_key);

    let key = KeyPair::generate().map_err(Error::Certificate)?;
    let names =
        vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "kubernetes.default.svc".to_owned()];
    let mut server = CertificateParams::new(names).map_err(Error::Certificate)?;
    server.distinguished_name.push(DnType::CommonName, "kai sandbox API server");
    let certificate = server.signed_by(&key, &issuer).map_err(Error::Certificate)?;

    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key)
        })
        .map_err(Error::Tls)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Identity { config: Arc::new(config), authority_pem: authority_certificate.pem() })
}
