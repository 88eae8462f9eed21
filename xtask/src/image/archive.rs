//! Packs files into an archive that is both an OCI layout and what `docker save` writes.
//!
//! Source: the OCI's image-spec, image-layout.md and config.md.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

use super::{
    About,
    contents::{Entry, Files},
};

const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// An archive.
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    /// Digest of the manifest, by which a registry knows the image.
    pub(super) digest: String,
}

/// A part of the image that is named by its digest.
struct Blob {
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Blob {
    fn json(kind: &'static str, value: &Value) -> Self {
        Self { kind, bytes: value.to_string().into_bytes() }
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", hash(&self.bytes))
    }

    fn descriptor(&self) -> Value {
        let digest = format!("sha256:{}", hash(&self.bytes));
        json!({"mediaType": self.kind, "digest": digest, "size": self.bytes.len()})
    }
}

/// Packs the files; `is_final` asks for the smallest, which takes longer.
pub(super) fn pack(files: &Files, about: &About, is_final: bool) -> Result<Image> {
    let layer = tar(files)?;
    let config = Blob::json(CONFIG_TYPE, &config(about, &hash(&layer)));
    let layer = Blob { kind: LAYER_TYPE, bytes: compress(&layer, is_final)? };
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
        "annotations": labels(about),
    });
    let manifest = Blob::json(MANIFEST_TYPE, &manifest);
    let (_, tag) = about.name.rsplit_once(':').context("the name has a tag")?;
    let mut listed = manifest.descriptor();
    listed["platform"] = json!({"architecture": architecture(), "os": "linux"});
    listed["annotations"] =
        json!({"io.containerd.image.name": about.name, "org.opencontainers.image.ref.name": tag});
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [listed],
    });
    let docker =
        json!([{"Config": config.path(), "RepoTags": [about.name], "Layers": [layer.path()]}]);
    let mut files = Files::new();
    let mut put = |path: &str, bytes: Vec<u8>| {
        files.insert(path.into(), Entry::File { bytes, mode: 0o644 });
    };
    put("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec());
    put("index.json", index.to_string().into_bytes());
    put("manifest.json", docker.to_string().into_bytes());
    let digest = format!("sha256:{}", hash(&manifest.bytes));
    for blob in [config, layer, manifest] {
        put(&blob.path(), blob.bytes);
    }
    Ok(Image { bytes: tar(&files)?, digest })
}

fn config(about: &About, layer: &str) -> Value {
    let mut config = json!({
        "architecture": architecture(),
        "os": "linux",
        "config": {
            // Which program it is, is said by each container's command.
            "User": "10000:10000",
            "Env": ["PATH=/usr/local/bin"],
            "Entrypoint": ["kai-scheduler"],
            "WorkingDir": "/",
            "Labels": labels(about),
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created_by": "cargo xtask image"}],
    });
    if let Some(created) = &about.created {
        config["created"] = json!(created);
        config["history"][0]["created"] = json!(created);
    }
    config
}

fn labels(about: &About) -> Value {
    let mut labels = json!({
        "org.opencontainers.image.title": "kai-scheduler",
        "org.opencontainers.image.description": "kai-scheduler, kai-podgrouper, kai-reservation and kubectl-kai",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
    });
    if let Some(revision) = &about.revision {
        labels["org.opencontainers.image.revision"] = json!(revision);
    }
    if let Some(created) = &about.created {
        labels["org.opencontainers.image.created"] = json!(created);
    }
    labels
}

/// The architecture as Go names it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Writes a tar of files and of the folders that they are in, of nobody and of no time.
pub(crate) fn tar(files: &Files) -> Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    let folders: BTreeSet<&Path> = files
        .keys()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| *path != Path::new(""))
        .collect();
    for folder in folders {
        let mut header = header(EntryType::Directory, 0o755, 0);
        tar.append_data(
            &mut header,
            PathBuf::from(format!("{}/", folder.display())),
            [].as_slice(),
        )?;
    }
    for (path, entry) in files {
        match entry {
            Entry::File { bytes, mode } => {
                let mut header = header(EntryType::Regular, *mode, bytes.len() as u64);
                tar.append_data(&mut header, path, bytes.as_slice())?;
            }
            Entry::Link(target) => {
                tar.append_link(&mut header(EntryType::Symlink, 0o777, 0), path, target)?;
            }
        }
    }
    tar.into_inner().context("a tar in memory is written")
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

pub(crate) fn compress(bytes: &[u8], is_final: bool) -> Result<Vec<u8>> {
    let level = if is_final { Compression::best() } else { Compression::fast() };
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), level);
    gzip.write_all(bytes)?;
    gzip.finish().context("a gzip in memory is written")
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest(&SHA256, bytes).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
#[expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]
mod tests {
    use super::*;

    fn pack_two() -> Result<Image> {
        let mut files = Files::new();
        files.insert("a/b".into(), Entry::File { bytes: b"text".to_vec(), mode: 0o755 });
        files.insert("a/c".into(), Entry::Link("b".into()));
        let about = About { name: "r/i:1".into(), revision: None, created: None };
        pack(&files, &about, true)
    }

    #[test]
    fn the_same_files_give_the_same_bytes() -> Result<()> {
        let (one, other) = (pack_two()?, pack_two()?);
        assert_eq!(one.bytes, other.bytes);
        Ok(())
    }

    #[test]
    fn both_descriptions_name_what_is_there() -> Result<()> {
        let image = pack_two()?;
        let mut files = std::collections::BTreeMap::new();
        for entry in tar::Archive::new(image.bytes.as_slice()).entries()? {
            let mut entry = entry?;
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes)?;
            assert_eq!((entry.header().mtime()?, entry.header().uid()?), (0, 0));
            files.insert(entry.path()?.display().to_string(), bytes);
        }
        let json = |path: &str| -> Result<Value> { Ok(serde_json::from_slice(&files[path])?) };
        let blob = |descriptor: &Value| {
            let digest =
                descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:"));
            let path = format!("blobs/sha256/{}", digest.expect("a digest"));
            assert_eq!(descriptor["size"], json!(files[&path].len()), "{path}");
            assert!(path.ends_with(&hash(&files[&path])), "{path}");
            path
        };
        let index = json("index.json")?;
        assert_eq!(index["manifests"][0]["digest"], json!(image.digest));
        let manifest = json(&blob(&index["manifests"][0]))?;
        let (config, layer) = (blob(&manifest["config"]), blob(&manifest["layers"][0]));
        assert_eq!(
            json("manifest.json")?,
            json!([{"Config": config, "RepoTags": ["r/i:1"], "Layers": [layer]}])
        );
        assert_eq!(json(&config)?["config"]["User"], "10000:10000");
        Ok(())
    }
}
