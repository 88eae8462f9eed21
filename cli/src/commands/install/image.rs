//! An image as an archive, and its way into a registry that the cluster's nodes pull from.
//!
//! The archive is an OCI layout in a tar, which `cargo xtask image` and `docker save` write.

pub(super) mod choice;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docker_credential::{CredentialRetrievalError, DockerCredential};
use http::HeaderValue;
use oci_client::client::{ClientConfig, ClientProtocol, ImageLayer};
use oci_client::errors::OciDistributionError;
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference, RegistryOperation};
use serde_json::Value;

use crate::print::error::{Error, Exit, Problem, number, sentence};
use crate::print::output::clean;

/// Longest time that a registry may take to answer, and to go on answering.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_mins(2);
/// Most that an archive may hold: what is pushed is held in memory.
const BYTES_MAX: u64 = 1 << 30;

/// An image that is to be pushed, read and checked.
pub(super) struct Image {
    /// The archive, for people.
    archive: String,
    /// Names where it goes, with its tag.
    target: Reference,
    /// Says that the registry is asked without TLS.
    is_plain: bool,
    digest: String,
    manifest: Vec<u8>,
    media_type: String,
    /// Config and layers by their digests, the config last.
    blobs: Vec<(String, Vec<u8>)>,
}

impl Image {
    /// Reads the archive at `path` for a registry given as `HOST/REPOSITORY`.
    ///
    /// # Errors
    /// The archive cannot be read, is no image or is damaged; the registry is no address.
    pub(super) fn read(path: &Path, registry: &str) -> Result<Self, Error> {
        let mut files = unpack(path)?;
        let index = files.remove(Path::new("index.json"));
        let index: Value = index
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .ok_or_else(|| no_image(path, "it has no index.json"))?;
        let listed = index["manifests"].as_array().map(Vec::as_slice);
        let Some([listed]) = listed else {
            let count = index["manifests"].as_array().map_or(0, Vec::len);
            return Err(no_image(path, &format!("it holds {count} images, and one is needed")));
        };
        let (digest, manifest) = take(&mut files, path, listed)?;
        let parsed: Value = serde_json::from_slice(&manifest)
            .map_err(|error| no_image(path, &format!("its manifest is no JSON: {error}")))?;
        let layers = parsed["layers"].as_array().map(Vec::as_slice).unwrap_or_default();
        if layers.is_empty() {
            return Err(no_image(
                path,
                "its manifest names no layers: a list of images for several architectures?",
            ));
        }
        let parts = layers.iter().chain([&parsed["config"]]);
        let blobs = parts.map(|part| take(&mut files, path, part)).collect::<Result<_, _>>()?;
        let tag = &listed["annotations"]["org.opencontainers.image.ref.name"];
        let (target, is_plain) = target(registry, tag.as_str().unwrap_or("latest"))?;
        let media_type = listed["mediaType"].as_str().unwrap_or_default().to_owned();
        let archive = clean(&path.display().to_string()).into_owned();
        Ok(Self { archive, target, is_plain, digest, manifest, media_type, blobs })
    }

    /// The image as containers are to name it: by what is in it.
    pub(super) fn name(&self) -> String {
        format!("{}/{}@{}", self.target.registry(), self.target.repository(), self.digest)
    }

    /// Says what is to be pushed.
    pub(super) fn planned(&self) -> String {
        let bytes: usize = self.blobs.iter().map(|(_, bytes)| bytes.len()).sum();
        format!("pushed there first, from {} ({} MB)", self.archive, bytes.div_ceil(1_000_000))
    }

    /// Pushes what the registry lacks, the manifest last: an image is there with all its parts or not at all.
    ///
    /// # Errors
    /// The registry cannot be reached, or refuses.
    pub(super) async fn push(self) -> Result<(), Error> {
        let failed = |error: &OciDistributionError| refused(&self.target, error);
        let registry = self.target.resolve_registry();
        let credential = credential(registry)?;
        check_way(registry, self.is_plain, &credential)?;
        let client = client(&self.target, self.is_plain).map_err(|error| failed(&error))?;
        let target = &self.target;
        let send = async {
            client.auth(target, &credential, RegistryOperation::Push).await?;
            for (digest, bytes) in &self.blobs {
                if !client.blob_exists(target, digest).await? {
                    match client.push_blob(target, bytes.clone(), digest).await {
                        // Some registries take a blob and do not say where it is.
                        Err(OciDistributionError::RegistryNoLocationError)
                            if client.blob_exists(target, digest).await? => {}
                        pushed => drop(pushed?),
                    }
                }
            }
            let media_type = HeaderValue::from_str(&self.media_type).map_err(|_| {
                OciDistributionError::UnsupportedMediaTypeError(self.media_type.clone())
            })?;
            client.push_manifest_raw(target, self.manifest.clone(), media_type).await?;
            client.fetch_manifest_digest(target, &credential).await
        };
        let pushed = send.await.map_err(|error| failed(&error))?;
        if pushed != self.digest {
            let what = format!("the registry has another image under {target} than was pushed");
            return Err(Problem::new(number::REGISTRY, Exit::Refused, what)
                .line(format!("pushed {}, there is {}", self.digest, clean(&pushed)))
                .into());
        }
        Ok(())
    }
}

/// Reads every file of an archive.
fn unpack(path: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Error> {
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| {
        let exit = if error.kind() == std::io::ErrorKind::NotFound {
            Exit::NotFound
        } else {
            Exit::Failure
        };
        let what = format!("failed to read the image archive {}", clean(&shown));
        Error::from(
            Problem::new(number::FILE, exit, what)
                .line(clean(&error.to_string()))
                .fix("cargo xtask image --output FILE   writes one"),
        )
    };
    let file = File::open(path).map_err(failed)?;
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(file.take(BYTES_MAX)).entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        if entry.header().entry_type().is_file() {
            let path = entry.path().map_err(failed)?.components().collect();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(failed)?;
            files.insert(path, bytes);
        }
    }
    Ok(files)
}

/// Takes what a descriptor names out of the files, and checks it.
fn take(
    files: &mut BTreeMap<PathBuf, Vec<u8>>,
    path: &Path,
    descriptor: &Value,
) -> Result<(String, Vec<u8>), Error> {
    let digest = descriptor["digest"].as_str().unwrap_or_default();
    let hash = digest.strip_prefix("sha256:").unwrap_or_default();
    let blob = files.remove(&Path::new("blobs/sha256").join(hash));
    let blob =
        blob.ok_or_else(|| no_image(path, &format!("it has no {digest}, which it names")))?;
    let layer = ImageLayer::oci_v1(blob, None);
    if layer.sha256_digest() != digest {
        return Err(no_image(path, &format!("{digest} in it is damaged")));
    }
    Ok((digest.to_owned(), layer.data.into()))
}

fn no_image(path: &Path, why: &str) -> Error {
    let what = format!("{} is not an image archive", clean(&path.display().to_string()));
    Problem::new(number::FILE, Exit::Usage, what)
        .line(clean(why))
        .fix("an OCI layout in a tar, as cargo xtask image --output FILE writes it")
        .into()
}

/// Reads `[http://]HOST/REPOSITORY[:TAG]`; a registry on this machine is asked without TLS, as Docker does it.
fn target(registry: &str, tag: &str) -> Result<(Reference, bool), Error> {
    let (text, is_plain) = match registry.strip_prefix("http://") {
        Some(text) => (text, true),
        None => (registry.strip_prefix("https://").unwrap_or(registry), false),
    };
    let text = text.trim_end_matches('/');
    let wrong = |why: &str| {
        let what = format!("--registry \"{}\" is no HOST/REPOSITORY", clean(registry));
        Error::from(
            Problem::new(number::VALUE, Exit::Usage, what)
                .line(clean(why))
                .fix("--registry registry.example.com/team/kai-scheduler"),
        )
    };
    let (host, repository) = text.split_once('/').unwrap_or((text, ""));
    let is_host = host.contains(['.', ':']) || host == "localhost";
    if !is_host || repository.is_empty() {
        return Err(wrong(if is_host {
            "the repository is missing"
        } else {
            "the host is missing"
        }));
    }
    if repository.contains('@') {
        return Err(wrong("the digest is that of the archive"));
    }
    let path = repository.split_once(':').map_or(repository, |(path, _)| path);
    if path.contains(char::is_uppercase) {
        return Err(wrong("a repository has no capital letters"));
    }
    let text = if repository.contains(':') { text.to_owned() } else { format!("{text}:{tag}") };
    let reference: Reference = text.parse().map_err(|error| wrong(&sentence(&error)))?;
    Ok((reference, is_plain || is_local(host)))
}

/// Tells whether a host, with or without a port, is this machine.
fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_loopback = name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_loopback || name == "localhost" || name == "[::1]" || host == "[::1]"
}

fn client(target: &Reference, is_plain: bool) -> Result<Client, OciDistributionError> {
    // The first that installs one wins, and all install the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let plain = is_plain.then(|| target.resolve_registry().to_owned());
    Client::try_from(ClientConfig {
        protocol: ClientProtocol::HttpsExcept(plain.into_iter().collect()),
        use_monolithic_push: true,
        connect_timeout: Some(CONNECT_TIMEOUT),
        read_timeout: Some(READ_TIMEOUT),
        user_agent: concat!("kubectl-kai/", env!("CARGO_PKG_VERSION")),
        ..ClientConfig::default()
    })
}

/// Finds who pushes: as `docker login` has left it, or nobody in particular.
fn credential(registry: &str) -> Result<RegistryAuth, Error> {
    if !has_logins() {
        return Ok(RegistryAuth::Anonymous);
    }
    // Docker files its own registry under this name.
    let server =
        if registry == "index.docker.io" { "https://index.docker.io/v1/" } else { registry };
    match docker_credential::get_credential(server) {
        Ok(DockerCredential::UsernamePassword(user, password)) => {
            Ok(RegistryAuth::Basic(user, password))
        }
        Ok(DockerCredential::IdentityToken(token)) => Ok(RegistryAuth::Bearer(token)),
        Err(
            CredentialRetrievalError::NoCredentialConfigured
            | CredentialRetrievalError::ConfigNotFound,
        ) => Ok(RegistryAuth::Anonymous),
        Err(error) => {
            let what = format!("failed to find the credentials for {}", clean(registry));
            Err(Problem::new(number::REGISTRY, Exit::Forbidden, what)
                .line(clean(&sentence(&error)))
                .fix(format!("docker login {}", clean(registry)))
                .into())
        }
    }
}

/// Checks that a login goes where nobody reads it on its way.
fn check_way(registry: &str, is_plain: bool, credential: &RegistryAuth) -> Result<(), Problem> {
    if !is_plain || is_local(registry) || matches!(credential, RegistryAuth::Anonymous) {
        return Ok(());
    }
    let registry = clean(registry);
    let what = format!("the login for {registry} is not sent without TLS: anybody could read it");
    Err(Problem::new(number::REGISTRY, Exit::Refused, what)
        .line("nothing was installed yet; run it again to go on")
        .fix(format!(
            "--registry without http://, or to push without a login: docker logout {registry}"
        )))
}

/// Tells whether `docker login` has left anything, where the library below looks for it.
fn has_logins() -> bool {
    let folder = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".docker")));
    folder.is_some_and(|folder| folder.join("config.json").exists())
}

fn refused(target: &Reference, error: &OciDistributionError) -> Error {
    let registry = clean(target.registry()).into_owned();
    let login = format!("docker login {registry}");
    let (exit, what, fix) = match error {
        OciDistributionError::UnauthorizedError { .. }
        | OciDistributionError::AuthenticationFailure(_)
        | OciDistributionError::ServerError { code: 401 | 403, .. } => (
            Exit::Forbidden,
            format!("{registry} does not let you push to {}", target.repository()),
            Some(login),
        ),
        OciDistributionError::RequestError(error) if error.is_connect() || error.is_timeout() => {
            (Exit::Unreachable, format!("the registry {registry} cannot be reached"), None)
        }
        _ => (Exit::Refused, format!("the registry {registry} refused the image"), None),
    };
    let problem = Problem::new(number::REGISTRY, exit, what)
        .line(clean(&sentence(error)))
        .line("nothing was installed yet; run it again to go on");
    match fix {
        Some(fix) => problem.fix(fix).into(),
        None => problem.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(registry: &str) -> Result<(String, bool), String> {
        match target(registry, "0.1.0") {
            Ok((reference, is_plain)) => Ok((reference.to_string(), is_plain)),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_registry_is_a_host_and_a_repository() {
        for (text, expect, is_plain) in [
            ("ghcr.io/team/kai", "ghcr.io/team/kai:0.1.0", false),
            ("https://ghcr.io/team/kai/", "ghcr.io/team/kai:0.1.0", false),
            ("ghcr.io/team/kai:mine", "ghcr.io/team/kai:mine", false),
            ("http://registry:5000/kai", "registry:5000/kai:0.1.0", true),
            ("localhost:5000/kai", "localhost:5000/kai:0.1.0", true),
            ("127.0.0.1:5000/kai", "127.0.0.1:5000/kai:0.1.0", true),
            ("127.0.0.1.example.com/kai", "127.0.0.1.example.com/kai:0.1.0", false),
        ] {
            assert_eq!(read(text), Ok((expect.to_owned(), is_plain)), "{text}");
        }
        for (text, why) in [
            ("", "the host is missing"),
            ("team/kai", "the host is missing"),
            ("ghcr.io", "the repository is missing"),
            ("ghcr.io/", "the repository is missing"),
            ("ghcr.io/team/kai@sha256:00", "the digest is that of the archive"),
            ("ghcr.io/Team/kai", "a repository has no capital letters"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn no_login_goes_to_another_machine_in_the_clear() {
        let login = RegistryAuth::Basic("ana".into(), "secret".into());
        for (registry, is_plain, credential, is_sent) in [
            ("registry:5000", true, &login, false),
            ("127.example.com", true, &login, false),
            ("registry:5000", true, &RegistryAuth::Anonymous, true),
            ("registry:5000", false, &login, true),
            ("127.0.0.1:5000", true, &login, true),
            ("localhost:5000", true, &login, true),
            ("[::1]:5000", true, &login, true),
        ] {
            let sent = check_way(registry, is_plain, credential).is_ok();
            assert_eq!(sent, is_sent, "{registry} {is_plain}");
        }
    }
}
