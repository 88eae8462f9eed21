//! All that pods need besides GPUs: variables, secrets, volumes, and credentials for their image.
//!
//! Reading flags and putting them into an object is pure; `there.rs` asks the cluster whether what they name exists.

mod env;
mod legal;
mod mount;
mod place;
mod there;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::cluster::json::{ensure, text};
use crate::cluster::manifest::Site;
use crate::print::error::{Exit, Problem, number};
use crate::settings::Settings;
use env::Source;
use mount::{Mount, Volume};
use place::Place;
pub(super) use there::check;

/// Help of `-m`.
const MOUNT: &str = "Volume: pvc://CLAIM[/DIR]:/PATH[:ro], host:///DIR:/PATH, new://100Gi[,CLASS]:/PATH (of each \
    pod), empty://10Gi:/PATH, or a name of mounts: in the configuration; repeatable";

/// Flags for what pods need besides GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataFlags {
    /// Environment variable NAME=VALUE, or NAME to forward yours, repeatable
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// Variables of all keys of secret/NAME or configmap/NAME, repeatable
    #[arg(long, value_name = "KIND/NAME")]
    env_from: Vec<String>,
    /// Secret: its keys as variables, or as files under PATH, repeatable
    #[arg(long, value_name = "NAME[:/PATH]")]
    secret: Vec<String>,
    /// Config map: its keys as variables, or as files under PATH, repeatable
    #[arg(long = "configmap", value_name = "NAME[:/PATH]")]
    config_map: Vec<String>,
    /// Secret to pull the image with, repeatable
    #[arg(long, value_name = "NAME")]
    pull_secret: Vec<String>,
    #[arg(short, long = "mount", alias = "volume", value_name = "VOLUME", help = MOUNT)]
    mounts: Vec<String>,
    /// Shared memory of each pod under /dev/shm, such as 16Gi
    #[arg(long, value_name = "MEMORY")]
    shm: Option<String>,
}

impl DataFlags {
    /// Forwards a variable of the caller that a script names, unless it was typed; tells whether the pod has it. One that
    /// looks like a secret is for the caller to forward: whoever may read the workload reads it there.
    pub(super) fn forward(&mut self, name: &str, variables: &BTreeMap<String, String>) -> bool {
        let is_it = |typed: &String| typed.split('=').next() == Some(name);
        let is_typed = self.env.iter().any(is_it);
        let value = variables.get(name).map(String::as_str).unwrap_or_default();
        if !is_typed && env::is_private(name, value) {
            return false;
        }
        if !is_typed {
            self.env.push(name.to_owned());
        }
        true
    }
}

/// Holds what pods need besides GPUs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    env: Vec<(String, String)>,
    env_from: Vec<Source>,
    pull_secrets: Vec<String>,
    mounts: Vec<Mount>,
    shm: Option<String>,
    /// The secret that the code needs.
    pub(super) code_secret: Option<String>,
    /// The account that the pods run as.
    pub(super) service_account: Option<String>,
    /// Things to tell the user.
    pub(super) notes: Vec<String>,
    /// Things to warn the user of.
    pub(super) warnings: Vec<String>,
}

impl Data {
    /// Reads the flags, with the variables of the caller and the mounts of the configuration.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub(super) fn read(
        flags: &DataFlags,
        settings: &Settings,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, Vec<Problem>> {
        let (mut data, mut problems) = (Self::default(), Vec::new());
        let mut keep = |result: Result<(), Problem>| problems.extend(result.err());
        for text in &flags.env {
            keep(env::variable(text, variables).map(|(name, value)| {
                data.warnings.extend(env::is_readable(text, &name));
                data.env.push((name, value));
            }));
        }
        for text in &flags.env_from {
            keep(Source::read(text).map(|source| data.env_from.push(source)));
        }
        let secrets = flags.secret.iter().map(|text| env::files(text, Source::Secret));
        let maps = flags.config_map.iter().map(|text| env::files(text, Source::ConfigMap));
        for files in secrets.chain(maps) {
            keep(files.map(|(source, path)| match path {
                None => data.env_from.push(source),
                Some(path) => data.mounts.push(Mount::of_source(source, &path)),
            }));
        }
        for name in &flags.pull_secret {
            keep(legal::check_name("--pull-secret", name).map(|()| {
                data.pull_secrets.push(name.clone());
            }));
        }
        for text in &flags.mounts {
            keep(mount::read(text, settings, variables).map(|(mount, note)| {
                data.mounts.push(mount);
                data.notes.extend(note);
            }));
        }
        if let Some(size) = &flags.shm {
            keep(super::values::amount("--shm", Some(size), "16Gi   or   500Mi"));
            data.shm = Some(size.clone());
        }
        problems.extend(mount::twice(&data.mounts));
        if problems.is_empty() { Ok(data) } else { Err(problems) }
    }

    /// Puts it all into a template of an object.
    ///
    /// # Errors
    /// The template has no place for it, or has something else at the place.
    pub(super) fn inject(&self, object: &mut Value, site: &Site) -> Result<(), Problem> {
        if self.is_empty() {
            return Ok(());
        }
        let place = Place::of(object, site)?;
        if let Some(container) = &place.container {
            self.variables(object, container);
            if let Some(size) = &self.shm {
                shared_memory(object, &place, container, size)?;
            }
            for mount in &self.mounts {
                mount.inject(object, &place, container)?;
            }
        }
        if let Some(at) = &place.pull_secrets
            && !self.pull_secrets.is_empty()
        {
            let list = ensure(object, at).entry("imagePullSecrets").or_insert_with(|| json!([]));
            let Some(list) = list.as_array_mut() else { return Ok(()) };
            for name in &self.pull_secrets {
                let entry =
                    if place.names_are_text { json!(name) } else { json!({ "name": name }) };
                if !list.contains(&entry) {
                    list.push(entry);
                }
            }
        }
        Ok(())
    }

    /// Tells whether pods need nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.env.is_empty()
            && self.env_from.is_empty()
            && self.pull_secrets.is_empty()
            && self.mounts.is_empty()
            && self.shm.is_none()
    }

    fn variables(&self, object: &mut Value, container: &str) {
        for (name, value) in &self.env {
            let entry = json!({ "name": name, "value": value });
            put(object, container, "env", entry, |old| text(&old["name"]) == name);
        }
        for source in &self.env_from {
            let entry = json!({ source.reference(): { "name": source.name() } });
            put(object, container, "envFrom", entry.clone(), |old| *old == entry);
        }
    }
}

/// Puts an entry at the end of a list, instead of those that it replaces.
fn put(object: &mut Value, at: &str, list: &str, entry: Value, replaces: impl Fn(&Value) -> bool) {
    let list = ensure(object, at).entry(list).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.retain(|old| !replaces(old));
        list.push(entry);
    }
}

/// Says where programs find shared memory.
const SHM: &str = "/dev/shm";

/// Gives a template shared memory of a size; the memory that it has already is resized.
fn shared_memory(
    object: &mut Value,
    place: &Place,
    container: &str,
    size: &str,
) -> Result<(), Problem> {
    let mounts = object.pointer(&format!("{container}/volumeMounts")).and_then(Value::as_array);
    let there = mounts.into_iter().flatten().find(|mount| text(&mount["mountPath"]) == SHM);
    let Some(name) = there.map(|mount| text(&mount["name"]).to_owned()) else {
        return Mount::new(Volume::Memory(size.to_owned()), SHM).inject(object, place, container);
    };
    let volumes = object.pointer_mut(&format!("{}/volumes", place.volumes));
    let volumes = volumes.and_then(Value::as_array_mut).into_iter().flatten();
    for volume in volumes.filter(|volume| text(&volume["name"]) == name) {
        if volume["emptyDir"].is_object() {
            volume["emptyDir"]["medium"] = json!("Memory");
            volume["emptyDir"]["sizeLimit"] = json!(size);
            return Ok(());
        }
    }
    let what = format!("--shm {size}: the template has something else at {SHM}");
    Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what).fix("say its size there"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::manifest;

    fn flags(line: &str) -> DataFlags {
        use clap::{Args as _, FromArgMatches as _};
        let command = DataFlags::augment_args(clap::Command::new("submit").no_binary_name(true));
        let matches = command.get_matches_from(line.split_whitespace());
        DataFlags::from_arg_matches(&matches).expect("written below")
    }

    /// Says what flags make of an object.
    fn check(line: &str, yaml: &str, expect: &str) {
        let data = Data::read(&flags(line), &Settings::default(), &BTreeMap::new());
        let mut object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let sites = manifest::sites(&object);
        let problem = match data {
            Ok(data) => sites.iter().find_map(|site| data.inject(&mut object, site).err()),
            Err(problems) => problems.into_iter().next(),
        };
        let said = match problem {
            Some(problem) => problem.to_string(),
            None => crate::print::yaml::print(&object["spec"]),
        };
        assert_eq!(said.trim_end(), expect, "{line}");
    }

    #[test]
    fn a_script_takes_no_secret_out_of_the_environment() {
        let variables = [("WANDB_KEY", "x"), ("LANG", "C")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let mut data = flags("-e GH_TOKEN -e LC_ALL=C");
        let names = ["WANDB_KEY", "LANG", "GH_TOKEN", "LC_ALL"];
        let forwarded = names.map(|name| data.forward(name, &variables));
        assert_eq!(forwarded, [false, true, true, true]);
        assert_eq!(data.env, ["GH_TOKEN", "LC_ALL=C", "LANG"]);
    }

    const POD: &str = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: main, image: i}]}}";

    #[test]
    fn one_claim_is_one_volume_however_often_it_is_mounted() {
        check(
            "-m data:/a:ro -m pvc://data/sub:/b",
            POD,
            "\
containers:
- name: main
  image: i
  volumeMounts:
  - name: data
    mountPath: /a
    readOnly: true
  - name: data
    mountPath: /b
    subPath: sub
volumes:
- name: data
  persistentVolumeClaim:
    claimName: data",
        );
    }

    #[test]
    fn shared_memory_that_is_there_gets_a_size() {
        let yaml = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: main, volumeMounts: [{name: s, mountPath: /dev/shm}]}], volumes: [{name: s, emptyDir: {medium: Memory}}]}}";
        check(
            "--shm 8Gi",
            yaml,
            "\
containers:
- name: main
  volumeMounts:
  - name: s
    mountPath: /dev/shm
volumes:
- name: s
  emptyDir:
    medium: Memory
    sizeLimit: 8Gi",
        );
    }

    #[test]
    fn what_is_mounted_already_stays() {
        let yaml = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: main, volumeMounts: [{name: s, mountPath: /data}]}]}}";
        check(
            "-m empty://:/data",
            yaml,
            "error[KAI1022]: nothing can be mounted at /data: its volume \"s\" is there\n  fix: another path, or take that volume out of the manifest",
        );
    }

    #[test]
    fn spark_on_a_schedule_keeps_volumes_beside_its_driver() {
        let yaml = "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: ScheduledSparkApplication, spec: {template: {driver: {}}}}";
        check(
            "--pull-secret p -m empty://1Gi:/tmp",
            yaml,
            "\
template:
  driver:
    volumeMounts:
    - name: tmp
      mountPath: /tmp
  volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 1Gi
  imagePullSecrets:
  - p",
        );
    }

    #[test]
    fn spark_keeps_volumes_beside_its_driver() {
        let yaml = "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {driver: {}}}";
        check(
            "-e A=b --env-from secret/s --pull-secret p -m empty://1Gi:/tmp",
            yaml,
            "\
driver:
  env:
  - name: A
    value: b
  envFrom:
  - secretRef:
      name: s
  volumeMounts:
  - name: tmp
    mountPath: /tmp
volumes:
- name: tmp
  emptyDir:
    sizeLimit: 1Gi
imagePullSecrets:
- p",
        );
    }
}
