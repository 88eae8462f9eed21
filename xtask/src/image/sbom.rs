//! Lists what the image is made of, as `CycloneDX`: every crate that is linked, and every library of the system.
//!
//! Source: `CycloneDX` 1.6, as scanners read it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{archive::hash, contents::Library};
use crate::repository::{capture, cargo, command, root};

/// The package that is the image's program.
const PROGRAM: &str = "kai-programs";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// `dev` or `build`; a crate that is linked has none.
    kind: Option<String>,
}

/// Writes the list.
pub(super) fn write(libraries: &[Library]) -> Result<Vec<u8>> {
    let host = capture(&mut command("rustc", &["--print", "host-tuple"]))?;
    let arguments =
        ["metadata", "--format-version", "1", "--locked", "--filter-platform", host.trim()];
    let text = capture(&mut command(&cargo(), &arguments))?;
    let metadata: Metadata =
        serde_json::from_str(&text).context("failed to read the output of `cargo metadata`")?;
    let lock =
        fs::read_to_string(root().join("Cargo.lock")).context("failed to read Cargo.lock")?;
    let mut bom = crates(&metadata, &checksums(&lock))?;
    let found = libraries.iter().map(library).collect::<Result<Vec<Value>>>()?;
    bom["components"].as_array_mut().context("crates are a list")?.extend(found);
    Ok(serde_json::to_vec_pretty(&bom)?)
}

fn crates(metadata: &Metadata, checksums: &BTreeMap<String, String>) -> Result<Value> {
    let edges: BTreeMap<&str, Vec<&str>> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), linked(node))).collect();
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let program = metadata.packages.iter().find(|package| package.name == PROGRAM);
    let program = program.with_context(|| format!("no package {PROGRAM}"))?;
    let mut reached = BTreeSet::new();
    let mut open = vec![program.id.as_str()];
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }
    let mut found: Vec<&Package> =
        reached.iter().filter_map(|id| packages.get(id).copied()).collect();
    found.sort_by_key(|package| purl(package));
    let name = |id: &&str| packages.get(id).map(|package| purl(package));
    let dependencies: Vec<Value> = found
        .iter()
        .map(|package| {
            let mut on: Vec<String> = edges[package.id.as_str()].iter().filter_map(name).collect();
            on.sort();
            json!({"ref": purl(package), "dependsOn": on})
        })
        .collect();
    let components: Vec<Value> = found
        .iter()
        .filter(|package| package.name != PROGRAM)
        .map(|package| component(package, checksums))
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {
            "type": "container",
            "bom-ref": purl(program),
            "name": "kai-scheduler",
            "version": program.version,
            "licenses": [{"expression": "Apache-2.0"}],
        }},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// The packages that a package is linked with.
fn linked(node: &Node) -> Vec<&str> {
    let is_linked = |edge: &&Edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none());
    node.deps.iter().filter(is_linked).map(|edge| edge.pkg.as_str()).collect()
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package, checksums: &BTreeMap<String, String>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "purl": purl(package),
    });
    if let Some(description) = &package.description {
        component["description"] =
            json!(description.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if let Some(license) = &package.license {
        // An older way to say "or", which is no SPDX expression.
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    let sum = checksums.get(&format!("{} {}", package.name, package.version));
    if let Some(sum) = sum.filter(|_| package.source.is_some()) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

/// Reads the checksums of Cargo.lock, by name and version.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for block in lock.split("[[package]]") {
        let field = |name: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            line.map(|text| text.trim_matches('"'))
        };
        if let (Some(name), Some(version), Some(sum)) =
            (field("name"), field("version"), field("checksum"))
        {
            found.insert(format!("{name} {version}"), sum.to_owned());
        }
    }
    found
}

/// Describes a library by the package that brought it, where this machine knows packages.
fn library(library: &Library) -> Result<Value> {
    let path = library.path.display().to_string();
    let name = library.path.file_name().context("a library has a name")?.to_string_lossy();
    let mut component = json!({
        "type": "library",
        "bom-ref": path,
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": hash(&library.bytes)}],
    });
    if let Some((package, version)) = package_of(&path) {
        component["version"] = json!(version);
        component["purl"] =
            json!(format!("pkg:deb/debian/{package}@{}", version.replace('+', "%2B")));
    }
    Ok(component)
}

fn package_of(path: &str) -> Option<(String, String)> {
    let owner = capture(Command::new("dpkg-query").args(["--search", path])).ok()?;
    let package = owner.split(':').next()?.to_owned();
    let format = ["--show", "--showformat=${Version}", &package];
    let version = capture(Command::new("dpkg-query").args(format)).ok()?;
    Some((package, version.trim().to_owned()))
}

#[cfg(test)]
#[expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]
mod tests {
    use super::*;

    #[test]
    fn crates_that_are_linked_are_listed_with_licence_and_checksum() -> Result<()> {
        let metadata = json!({
            "packages": [
                {"id": "p", "name": PROGRAM, "version": "1.0.0", "license": "Apache-2.0"},
                {"id": "a", "name": "a", "version": "2.0.0", "license": "MIT/Apache-2.0", "source": "registry", "description": "a\nb"},
                {"id": "t", "name": "t", "version": "3.0.0", "source": "registry"},
            ],
            "resolve": {"nodes": [
                {"id": "p", "deps": [
                    {"pkg": "a", "dep_kinds": [{"kind": null}]},
                    {"pkg": "t", "dep_kinds": [{"kind": "dev"}, {"kind": "build"}]},
                ]},
                {"id": "a", "deps": []},
                {"id": "t", "deps": []},
            ]},
        });
        let lock =
            "[[package]]\nname = \"a\"\nversion = \"2.0.0\"\nsource = \"r\"\nchecksum = \"cafe\"\n";
        let bom = crates(&serde_json::from_value(metadata)?, &checksums(lock))?;
        let component = json!({
            "type": "library", "bom-ref": "pkg:cargo/a@2.0.0", "name": "a", "version": "2.0.0",
            "purl": "pkg:cargo/a@2.0.0", "description": "a b", "licenses": [{"expression": "MIT OR Apache-2.0"}],
            "hashes": [{"alg": "SHA-256", "content": "cafe"}],
        });
        assert_eq!(bom["components"], json!([component]));
        let graph = json!([
            {"ref": "pkg:cargo/a@2.0.0", "dependsOn": []},
            {"ref": "pkg:cargo/kai-programs@1.0.0", "dependsOn": ["pkg:cargo/a@2.0.0"]},
        ]);
        assert_eq!(bom["dependencies"], graph);
        Ok(())
    }
}
