//! Says what the main container of each pod is, beyond its image and size: ports, user, a line for a shell, RDMA and MPS.

use serde_json::{Value, json};

use crate::cluster::gpu::Gpu;
use crate::cluster::json::ensure;
use crate::cluster::kinds::Shape;
use crate::cluster::manifest::{Site, place_name};
use crate::cluster::names;
use crate::print::error::{Exit, Problem, number};

/// Flags about the main container.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "What")]
pub(crate) struct ProcessFlags {
    /// Run the command as a line for sh, with its && and $VARIABLES
    #[arg(long, requires = "command")]
    pub(super) shell: bool,
    /// Port that the container listens on, as port-forward finds it; repeatable
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Vec<u16>,
    /// User, and group, that the containers run as (--user is the kubeconfig's)
    #[arg(long, value_name = "UID[:GID]")]
    run_as: Option<String>,
    /// Devices for RDMA by the resource of their plugin, such as rdma/hca:1; memory may be locked then
    #[arg(long, value_name = "RESOURCE[:N]")]
    rdma: Option<String>,
    /// Share the GPU by MPS; needs a share: --gpu 0.5
    #[arg(long)]
    mps: bool,
}

/// Holds what was asked for by them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    ports: Vec<u16>,
    run_as: Option<(u32, Option<u32>)>,
    rdma: Option<(String, u32)>,
    mps: bool,
}

impl Process {
    /// Reads the flags; all that is wrong with them.
    pub(super) fn read(flags: &ProcessFlags, gpu: Option<&Gpu>) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut read = Self { ports: flags.port.clone(), mps: flags.mps, ..Self::default() };
        read.run_as = flags.run_as.as_deref().and_then(ids);
        if let Some(typed) = flags.run_as.as_ref().filter(|_| read.run_as.is_none()) {
            let what = format!("--run-as {typed} is no number of a user");
            problems.push(
                Problem::new(number::VALUE, Exit::Usage, what)
                    .line("names of users are the image's own")
                    .fix("--run-as 1000   or   --run-as 1000:1000"),
            );
        }
        read.rdma = flags.rdma.as_deref().and_then(devices);
        if let Some(typed) = flags.rdma.as_ref().filter(|_| read.rdma.is_none()) {
            let what = format!("--rdma {typed} names no resource");
            problems.push(
                Problem::new(number::VALUE, Exit::Usage, what)
                    .fix("--rdma rdma/hca   or   --rdma rdma/hca:2"),
            );
        }
        if flags.mps && !gpu.is_none_or(Gpu::is_share) {
            let what = "--mps is about a share of a GPU, and whole ones are asked for";
            problems.push(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).fix("--gpu 0.5"));
        }
        (read, problems)
    }

    /// Puts it into a template of pods.
    ///
    /// # Errors
    /// It has no place for that.
    pub(super) fn inject(&self, object: &mut Value, site: &Site) -> Result<(), Problem> {
        self.ask_for_mps(object, site);
        if let Some((user, group)) = self.run_as {
            let context = ensure(object, &format!("{}/securityContext", site.spec));
            context.insert("runAsUser".into(), json!(user));
            if let Some(group) = group {
                context.insert("runAsGroup".into(), json!(group));
            }
        }
        if site.steers || (self.ports.is_empty() && self.rdma.is_none()) {
            return Ok(());
        }
        let container = match site.containers.first() {
            Some(container) => container.clone(),
            // A workflow around its steps makes no pods.
            None if site.shape == Shape::Argo => return Ok(()),
            None => {
                let what =
                    format!("{} has no place for --port and --rdma", place_name(object, site));
                return Err(
                    Problem::new(number::UNSUPPORTED, Exit::Refused, what).fix("leave them out")
                );
            }
        };
        let ports = ensure(object, &container).entry("ports").or_insert_with(|| json!([]));
        if let Some(ports) = ports.as_array_mut() {
            for port in &self.ports {
                if !ports.iter().any(|one| one["containerPort"] == json!(port)) {
                    ports.push(json!({ "containerPort": port }));
                }
            }
        }
        if ensure(object, &container)["ports"] == json!([]) {
            ensure(object, &container).remove("ports");
        }
        if let Some((resource, count)) = &self.rdma {
            ensure(object, &format!("{container}/resources/limits"))
                .insert(resource.clone(), json!(count));
            // A request that differs from its limit is refused.
            if let Some(Value::Object(requests)) =
                object.pointer_mut(&format!("{container}/resources/requests"))
            {
                requests.insert(resource.clone(), json!(count));
            }
            let capabilities = ensure(object, &format!("{container}/securityContext/capabilities"));
            let add = capabilities.entry("add").or_insert_with(|| json!([]));
            if let Some(add) = add.as_array_mut().filter(|add| !add.contains(&json!("IPC_LOCK"))) {
                add.push(json!("IPC_LOCK"));
            }
        }
        Ok(())
    }

    /// Says MPS where a share is asked for; what asks for none says so later.
    fn ask_for_mps(&self, object: &mut Value, site: &Site) {
        let Some(meta) = site.meta.as_ref().filter(|_| self.mps && !site.steers) else { return };
        ensure(object, &format!("{meta}/annotations")).insert(names::MPS.into(), json!("true"));
    }

    /// Flags that say something of pods.
    pub(super) fn asks_of_pods(&self) -> [(bool, &'static str); 4] {
        [
            (!self.ports.is_empty(), "--port"),
            (self.run_as.is_some(), "--run-as"),
            (self.rdma.is_some(), "--rdma"),
            (self.mps, "--mps"),
        ]
    }
}

fn ids(typed: &str) -> Option<(u32, Option<u32>)> {
    match typed.split_once(':') {
        Some((user, group)) => Some((user.parse().ok()?, Some(group.parse().ok()?))),
        None => Some((typed.parse().ok()?, None)),
    }
}

fn devices(typed: &str) -> Option<(String, u32)> {
    let (resource, count) = typed.split_once(':').unwrap_or((typed, "1"));
    let (domain, name) = resource.split_once('/')?;
    let legal = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let count = count.parse().ok().filter(|count| *count > 0)?;
    (legal(domain) && legal(name)).then(|| (resource.to_owned(), count))
}

/// The words of a command as a line for a shell.
pub(super) fn line(command: &[String]) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), command.join(" ")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::manifest::sites;

    #[test]
    fn flags_are_in_the_main_container_and_its_pod() {
        let flags = ProcessFlags {
            port: vec![8888],
            run_as: Some("1000:100".into()),
            rdma: Some("rdma/hca:2".into()),
            ..ProcessFlags::default()
        };
        let (process, problems) = Process::read(&flags, None);
        assert_eq!(problems, []);
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
            "spec": {"containers": [{"name": "main"}]}});
        for _ in 0..2 {
            let site = sites(&pod).remove(0);
            process.inject(&mut pod, &site).expect("it has a place");
        }
        assert_eq!(
            pod["spec"],
            json!({"containers": [{"name": "main", "ports": [{"containerPort": 8888}],
                "resources": {"limits": {"rdma/hca": 2}},
                "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}],
                "securityContext": {"runAsUser": 1000, "runAsGroup": 100}})
        );
    }

    /// The server fills in what is requested.
    #[test]
    fn the_request_of_a_copy_follows_its_limit() {
        let flags = ProcessFlags { rdma: Some("rdma/hca:2".into()), ..ProcessFlags::default() };
        let (process, problems) = Process::read(&flags, None);
        assert_eq!(problems, []);
        let before = json!({"cpu": "4", "rdma/hca": "1"});
        let container =
            json!({"name": "main", "resources": {"limits": before, "requests": before}});
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
            "spec": {"containers": [container]}});
        let site = sites(&pod).remove(0);
        process.inject(&mut pod, &site).expect("it has a place");
        let after = json!({"cpu": "4", "rdma/hca": 2});
        let resources = &pod["spec"]["containers"][0]["resources"];
        assert_eq!(*resources, json!({"limits": after, "requests": after}));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let check = |run_as: Option<&str>, rdma: Option<&str>, mps: bool, expect: &str| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let flags =
                ProcessFlags { run_as: own(run_as), rdma: own(rdma), mps, ..Default::default() };
            let (_, problems) = Process::read(&flags, Some(&Gpu::Whole(1)));
            assert_eq!(problems.first().map(|one| one.what.as_str()), Some(expect));
        };
        check(Some("ana"), None, false, "--run-as ana is no number of a user");
        check(None, Some("hca"), false, "--rdma hca names no resource");
        check(None, Some("rdma/hca:0"), false, "--rdma rdma/hca:0 names no resource");
        check(None, None, true, "--mps is about a share of a GPU, and whole ones are asked for");
    }
}
