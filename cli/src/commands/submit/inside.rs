//! `submit -i -t`: waits until the container runs, and goes into it.

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::AttachParams;
use serde_json::{Value, json};

use super::Document;
use super::args::ThenFlags;
use crate::cluster::json::ensure;
use crate::cluster::manifest::Site;
use crate::cluster::{Call, Cluster, Failure, Resource, names};
use crate::commands::{exec, logs, wait};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::{Workload, casualty, history, load_readable};

/// Sets how long the kubelet may take to say how a container ended.
const ENDED_WITHIN: Duration = Duration::from_secs(30);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// Says what of the terminal here the container gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    tty: bool,
}

impl Inside {
    /// Reads the flags; a terminal is given where there is one.
    pub(super) fn read(then: &ThenFlags, context: &mut Context) -> Option<Self> {
        let tty = then.tty && context.answers && context.out.is_terminal();
        if then.tty && !tty {
            context.out.warn("-t has no effect: stdin and stdout are not both a terminal");
        }
        then.stdin.then_some(Self { tty })
    }

    /// Has the containers that work read what is typed.
    pub(super) fn inject(self, object: &mut Value, sites: &[Site]) {
        for container in sites.iter().filter_map(|site| site.containers.first()) {
            let container = ensure(object, container);
            container.insert("stdin".into(), json!(true));
            if self.tty {
                container.insert("tty".into(), json!(true));
            } else {
                // The end of what is piped is the end of what it reads.
                container.insert("stdinOnce".into(), json!(true));
            }
        }
    }

    /// Waits until the workload runs, goes in, and ends as the container does.
    ///
    /// # Errors
    /// It cannot be gone into, the connection breaks, or Ctrl-C comes where it is not the container's.
    pub(super) async fn enter(
        self,
        target: &wait::Target,
        timeout: Option<Duration>,
        context: &mut Context,
    ) -> Result<Exit, Error> {
        let cluster = context.cluster().await?;
        let reached = wait::until(target, wait::Goal::Running, timeout, &cluster, context).await?;
        if reached == Exit::Pending {
            context.out.talk(&format!("  {}", way_back(&target.name)));
            return Ok(reached);
        }
        let loaded = load_readable(&cluster, Some(&target.namespace)).await?;
        let word = format!("{}/{}", target.kind.to_lowercase(), target.name);
        let workload = loaded.one(&word, &format!("namespace {}", target.namespace))?;
        let sources = logs::sources(workload, &cluster).await?;
        let Some(source) = sources.iter().find(|source| source.runs) else {
            // What it said is all that is left of it.
            let exit = logs::follow(&word, &target.namespace, context).await?;
            let code = workload.pods.iter().find_map(exit_code);
            return Ok(code.map_or(exit, Exit::Command));
        };
        self.attach(workload, source, &cluster, context).await
    }

    async fn attach(
        self,
        workload: &Workload,
        source: &logs::Source,
        cluster: &Cluster,
        context: &mut Context,
    ) -> Result<Exit, Error> {
        let pods: Api<Pod> = Api::namespaced(cluster.client(), &source.namespace);
        let params = AttachParams::default()
            .container(&source.container)
            .stdin(true)
            .stdout(true)
            .stderr(!self.tty)
            .tty(self.tty);
        let name = clean(&workload.name).into_owned();
        if self.tty {
            context.out.talk(&format!("in {}; press Enter for a prompt", clean(&source.pod)));
        }
        let process = pods.attach(&source.pod, &params).await.map_err(|error| {
            let resource = Resource::new("v1", "Pod", "pods/attach");
            let call =
                Call::new("create", &resource).namespace(Some(&source.namespace)).name(&source.pod);
            cluster.explain(&call, &Failure::from(error))
        })?;
        tokio::select! {
            biased;
            // A terminal sends Ctrl-C to the container, and no signal.
            _ = tokio::signal::ctrl_c() => {
                context.out.talk(&format!("left {name}, which goes on\n  {}", way_back(&name)));
                return Err(Error::Quiet(Exit::Interrupted));
            }
            ended = exec::converse(process, true, self.tty, context) => drop(ended?),
        }
        how_it_ended(workload, source, cluster).await
    }
}

/// Says what to type to come back, and to be rid of it.
fn way_back(name: &str) -> String {
    let name = clean(name);
    format!("go in again: kubectl kai exec {name}   delete it: kubectl kai delete {name}")
}

/// The code of the container, once its kubelet has said it.
async fn how_it_ended(
    workload: &Workload,
    source: &logs::Source,
    cluster: &Cluster,
) -> Result<Exit, Error> {
    let resource = names::pods();
    let call = Call::new("get", &resource).namespace(Some(&source.namespace)).name(&source.pod);
    let begin = Instant::now();
    let (pod, name) = (clean(&source.pod), clean(&workload.name));
    loop {
        match cluster.get(&call).await {
            Ok(Some(found)) if found["metadata"]["uid"] == source.uid.as_str() => {
                if let Some(code) = exit_code(&found) {
                    return Ok(Exit::Command(code));
                }
            }
            Ok(_) => {
                let what = format!("{pod} is gone while somebody was in it");
                let eviction = history::eviction_of(workload, cluster).await;
                let exit = if eviction.is_some() { Exit::Evicted } else { Exit::Failure };
                let problem = Problem::new(number::EVICTED, exit, what);
                let said = eviction.map(|eviction| clean(&eviction.sentence()).into_owned());
                let problem = said.into_iter().fold(problem, Problem::line);
                return Err(problem.fix(format!("kubectl kai describe {name}")).into());
            }
            // It may be away for a moment.
            Err(_) => {}
        }
        if begin.elapsed() > ENDED_WITHIN {
            let what = format!("the connection to {pod} broke off; its container still runs");
            return Err(Problem::new(number::UNREACHABLE, Exit::Unreachable, what)
                .fix(way_back(&workload.name))
                .into());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The code that the first container of a pod ended with.
fn exit_code(pod: &Value) -> Option<u8> {
    let container = pod["spec"]["containers"][0]["name"].as_str()?;
    u8::try_from(casualty::exit_code(pod, container)?).ok()
}

/// Refuses to go into what is more than one container, or none that reads.
///
/// # Errors
/// Says which kinds take `-i`.
pub(super) fn check(documents: &[Document]) -> Result<(), Problem> {
    let mut workloads = documents.iter().filter(|document| document.is_workload);
    let refuse = |what: String, fix: &str| {
        Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix(fix))
    };
    let (Some(one), None) = (workloads.next(), workloads.next()) else {
        let what = "-i goes into one workload, and there are several".to_owned();
        return refuse(what, "submit them one by one, or later: kubectl kai exec NAME");
    };
    if !matches!(one.kind(), "Job" | "Pod") {
        let what = format!("-i goes into a Job or a Pod, and this is a {}", one.kind());
        return refuse(what, "submit -it job NAME   or, once it runs: kubectl kai exec NAME");
    }
    let (pods, _) = one.demand();
    if pods > 1 {
        let what = format!("-i goes into one pod, and {} has {pods}", one.name());
        return refuse(what, "leave --workers out, or once it runs: kubectl kai exec NAME");
    }
    Ok(())
}
