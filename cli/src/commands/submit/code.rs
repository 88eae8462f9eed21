//! Code of the user's own in the pods: a folder of this machine, or a git repository.
//!
//! Both lie in an empty volume that an init container fills before the work begins. A folder travels as an archive in a
//! config map that belongs to the workload, so that it goes when the workload goes.

mod archive;
mod git;

use std::path::Path;

use serde_json::{Value, json};

use super::Document;
use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::{Site, place_name, sites};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use git::Repository;

/// Flags about code.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct CodeFlags {
    /// Folder whose files the containers find in their working folder; .gitignore and .kaiignore are heeded
    #[arg(long, value_name = "DIR[:/PATH]", conflicts_with = "git", value_hint = clap::ValueHint::DirPath)]
    pub(super) workdir: Option<String>,
    /// Git repository that is cloned into the working folder
    #[arg(long, value_name = "URL[@REF]")]
    pub(super) git: Option<String>,
    /// Secret for the repository: username and password, or ssh-privatekey
    #[arg(long, value_name = "NAME", requires = "git")]
    pub(super) git_secret: Option<String>,
    /// Image of the container that unpacks or clones (default: the workload's own to unpack, alpine/git to clone)
    #[arg(long, value_name = "IMAGE")]
    pub(super) code_image: Option<String>,
}

/// Code for the pods.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    from: From,
    /// The working folder of the containers.
    path: String,
    image: Option<String>,
}

#[derive(Clone, Debug)]
enum From {
    Folder(String),
    Git(Repository),
}

/// The working folder where none is named.
const WORKSPACE: &str = "/workspace";
/// Names of the volumes and of the init container.
const VOLUME: &str = "kai-workspace";
const PACKED: &str = "kai-code";
/// The place where the archive is shown to the init container.
const PACKED_AT: &str = "/var/run/kai-code";
/// The key of the archive.
const KEY: &str = "code.tar.gz";
/// The image that clones; it has git, ssh and a shell.
const GIT_IMAGE: &str = "alpine/git:v2.49.1";

impl Code {
    /// Reads the flags; none where there is no code.
    ///
    /// # Errors
    /// The repository is none, or has credentials in its address.
    pub(super) fn read(flags: &CodeFlags) -> Result<Option<Self>, Problem> {
        let image = flags.code_image.clone();
        if let Some(typed) = &flags.workdir {
            let (dir, path) = match typed.rfind(":/") {
                Some(at) => (&typed[..at], &typed[at + 1..]),
                None => (typed.as_str(), WORKSPACE),
            };
            let from = From::Folder(dir.to_owned());
            return Ok(Some(Self { from, path: path.to_owned(), image }));
        }
        let Some(typed) = &flags.git else {
            return match image {
                Some(_) => Err(Problem::new(
                    number::MISSING,
                    Exit::Usage,
                    "--code-image is for --workdir or --git",
                )
                .fix("--workdir DIR   or   --git URL")),
                None => Ok(None),
            };
        };
        let repository = Repository::read(typed, flags.git_secret.clone())?;
        Ok(Some(Self { from: From::Git(repository), path: WORKSPACE.to_owned(), image }))
    }

    /// The secret that has to be there.
    pub(super) fn secret(&self) -> Option<&str> {
        match &self.from {
            From::Git(repository) => repository.secret.as_deref(),
            From::Folder(_) => None,
        }
    }

    /// Puts the code into the workload among the documents, with the config map that brings it.
    ///
    /// # Errors
    /// There is not exactly one workload, it has no place for code, or the folder cannot be packed.
    pub(super) fn add(
        &self,
        documents: &mut Vec<Document>,
        context: &mut Context,
    ) -> Result<(), Error> {
        let workloads: Vec<usize> = (0..documents.len())
            .filter(|at| documents[*at].is_workload && !documents[*at].name().is_empty())
            .collect();
        let [at] = workloads[..] else {
            let what = format!(
                "code goes with one workload that has a name, and there are {}",
                workloads.len()
            );
            return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what)
                .fix("submit them one by one")
                .into());
        };
        let workload = &mut documents[at];
        let map = format!("{}-code", workload.name());
        self.inject(&mut workload.object, &map)?;
        let From::Folder(dir) = &self.from else { return Ok(()) };
        let packed = archive::pack(&context.dir.join(Path::new(dir)), dir)?;
        context.out.talk(&format!("  code {}", packed.summary()));
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": map },
            "binaryData": { KEY: packed.base64() },
        });
        let namespace = &workload.object["metadata"]["namespace"];
        if namespace.is_string() {
            object["metadata"]["namespace"] = namespace.clone();
        }
        // It goes with its workload.
        let source = format!("--workdir {dir}");
        documents.insert(at, Document { is_helper: true, ..Document::new(object, &source) });
        Ok(())
    }

    fn inject(&self, object: &mut Value, map: &str) -> Result<(), Error> {
        let all = sites(object);
        let (mut problems, mut count) = (Vec::new(), 0);
        for site in &all {
            match (site.containers.first(), site.shape) {
                // A workflow around its steps has none.
                (None, Shape::Argo) => {}
                (Some(container), shape) if shape != Shape::Inline => {
                    problems.extend(self.put_into_template(object, site, container, map).err());
                    count += 1;
                }
                _ => problems.push(no_place(object, site)),
            }
        }
        if count == 0 && problems.is_empty() {
            problems.extend(all.first().map(|site| no_place(object, site)));
        }
        Error::all(problems)
    }

    fn put_into_template(
        &self,
        object: &mut Value,
        site: &Site,
        container: &str,
        map: &str,
    ) -> Result<(), Problem> {
        take_out(object, site, container);
        let mounts = object.pointer(&format!("{container}/volumeMounts"));
        let mounts = mounts.and_then(Value::as_array).into_iter().flatten();
        if mounts.into_iter().any(|mount| text(&mount["mountPath"]) == self.path) {
            let what =
                format!("{} mounts something at {} already", place_name(object, site), self.path);
            return Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what)
                .fix("--workdir DIR:/PATH with another path"));
        }
        let image = object.pointer(container).map(|container| text(&container["image"]).to_owned());
        let image = self.image.clone().or_else(|| match &self.from {
            From::Folder(_) => image.filter(|image| !image.is_empty()),
            From::Git(_) => Some(GIT_IMAGE.to_owned()),
        });
        let mut init = json!({
            "name": PACKED,
            "image": image.unwrap_or_default(),
            "volumeMounts": [{ "name": VOLUME, "mountPath": self.path }],
        });
        push(object, &site.spec, "volumes", json!({ "name": VOLUME, "emptyDir": {} }));
        match &self.from {
            From::Folder(_) => {
                init["command"] =
                    json!(["tar", "-xzf", format!("{PACKED_AT}/{KEY}"), "-C", self.path]);
                push(
                    &mut init,
                    "",
                    "volumeMounts",
                    json!({ "name": PACKED, "mountPath": PACKED_AT, "readOnly": true }),
                );
                let volume = json!({ "name": PACKED, "configMap": { "name": map } });
                push(object, &site.spec, "volumes", volume);
            }
            From::Git(repository) => {
                if let Some(volume) = repository.container(&mut init, &self.path) {
                    push(object, &site.spec, "volumes", volume);
                }
            }
        }
        push(object, &site.spec, "initContainers", init);
        let mount = json!({ "name": VOLUME, "mountPath": self.path });
        push(object, container, "volumeMounts", mount);
        ensure(object, container).insert("workingDir".into(), json!(self.path));
        Ok(())
    }
}

/// Takes the code out that a copied workload was submitted with.
fn take_out(object: &mut Value, site: &Site, container: &str) {
    let lists = [
        (site.spec.as_str(), "initContainers"),
        (site.spec.as_str(), "volumes"),
        (container, "volumeMounts"),
    ];
    for (at, list) in lists {
        let list = object.pointer_mut(&format!("{at}/{list}")).and_then(Value::as_array_mut);
        if let Some(list) = list {
            list.retain(|one| ![VOLUME, PACKED, git::KEY_VOLUME].contains(&text(&one["name"])));
        }
    }
}

/// Refuses a copy that would mount the config map of its original, which goes with that.
///
/// # Errors
/// The original was submitted with a folder, and no code is given anew.
pub(super) fn check_copy(object: &Value, code: Option<&Code>) -> Result<(), Problem> {
    let has_folder = sites(object).iter().any(|site| {
        let volumes = object.pointer(&format!("{}/volumes", site.spec)).and_then(Value::as_array);
        volumes.into_iter().flatten().any(|volume| text(&volume["name"]) == PACKED)
    });
    if code.is_some() || !has_folder {
        return Ok(());
    }
    let what = "the code of --workdir belongs to the workload that it was submitted with";
    Err(Problem::new(number::MISSING, Exit::Usage, what)
        .fix("give it again: --workdir DIR   or   --git URL"))
}

fn no_place(object: &Value, site: &Site) -> Problem {
    let what = format!("{} has no place for code", place_name(object, site));
    Problem::new(number::UNSUPPORTED, Exit::Refused, what)
        .fix("put it into the image, or into a volume")
}

fn push(object: &mut Value, at: &str, list: &str, entry: Value) {
    let list = ensure(object, at).entry(list).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flags: &CodeFlags, yaml: &str, expect: &str) {
        let mut object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let code = Code::read(flags).expect("it is one").expect("there is one");
        let said = match code.inject(&mut object, "x-code") {
            Ok(()) => object["spec"].to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expect);
    }

    const POD: &str = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: main, image: i}]}}";

    #[test]
    fn a_folder_is_unpacked_by_the_image_of_the_work() {
        let flags = CodeFlags { workdir: Some(".:/src".into()), ..CodeFlags::default() };
        check(
            &flags,
            POD,
            r#"{"containers":[{"name":"main","image":"i","volumeMounts":[{"name":"kai-workspace","mountPath":"/src"}],"workingDir":"/src"}],"volumes":[{"name":"kai-workspace","emptyDir":{}},{"name":"kai-code","configMap":{"name":"x-code"}}],"initContainers":[{"name":"kai-code","image":"i","volumeMounts":[{"name":"kai-workspace","mountPath":"/src"},{"name":"kai-code","mountPath":"/var/run/kai-code","readOnly":true}],"command":["tar","-xzf","/var/run/kai-code/code.tar.gz","-C","/src"]}]}"#,
        );
    }

    #[test]
    fn spark_has_no_place_for_code() {
        let flags = CodeFlags { workdir: Some(".".into()), ..CodeFlags::default() };
        check(
            &flags,
            "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: s}, spec: {driver: {}}}",
            "error[KAI1022]: sparkapplication/s driver has no place for code\n  fix: put it into the image, or into a volume",
        );
    }
}
