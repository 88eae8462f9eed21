//! `kubectl kai port-forward`: ports of this machine that lead into a workload, whatever becomes of its pods meanwhile.

use std::net::IpAddr;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure, Resource, names};
use crate::commands::logs::{Source, chosen, sources};
use crate::commands::outage::Outage;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Output, clean};
use crate::workload::{State, Workload, is_leaving, load_readable};

/// Time between two looks at the pod.
const LOOK: Duration = Duration::from_secs(1);

/// Flags of `port-forward`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Ports, as 8888 or LOCAL:REMOTE (0 takes a free one); without any the port of its kind
    #[arg(value_name = "PORT")]
    ports: Vec<String>,
    /// Rank, as 0 (the master is 0) or worker-3; without it the first
    #[arg(long, value_name = "RANK")]
    rank: Option<String>,
    /// Address of this machine to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    address: IpAddr,
}

/// A port here, and one there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ports {
    local: u16,
    remote: u16,
}

/// Runs `port-forward` until Ctrl-C, or until the workload has ended.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let typed = args.ports.iter().map(|text| ports(text)).collect::<Result<Vec<_>, _>>()?;
    let cluster = context.cluster().await?;
    let mut way = Way { args, cluster, outage: Outage::default() };
    tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => {
            context.out.talk(&format!("no longer forwarding; {} goes on", clean(&args.name)));
            Err(Error::Quiet(Exit::Interrupted))
        }
        exit = way.forward(typed, &mut context.out) => exit,
    }
}

fn ports(text: &str) -> Result<Ports, Problem> {
    let (local, remote) = text.split_once(':').unwrap_or((text, text));
    let local = if local.is_empty() { "0" } else { local };
    if let (Ok(local), Ok(remote @ 1..)) = (local.parse(), remote.parse()) {
        return Ok(Ports { local, remote });
    }
    let what = format!("\"{}\" is not a port", clean(text));
    Err(Problem::new(number::VALUE, Exit::Usage, what)
        .fix("8888   or   LOCAL:REMOTE, as 9000:8888"))
}

/// The port that a workload is reached at, where none is named.
fn guess(workload: &Workload, pod: &Value) -> Result<u16, Problem> {
    let by_kind = match workload.resource.kind.as_str() {
        "Notebook" => Some(8888),
        "RayJob" | "RayCluster" | "RayService" => Some(8265),
        _ => None,
    };
    let containers = pod["spec"]["containers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut named = containers
        .iter()
        .filter_map(|container| container["ports"].as_array())
        .flatten()
        // The API server forwards nothing else.
        .filter(|port| ["", "TCP"].contains(&text(&port["protocol"])))
        .filter_map(|port| u16::try_from(port["containerPort"].as_u64()?).ok());
    by_kind.or_else(|| named.next()).ok_or_else(|| {
        let what = format!("{} names no port", clean(&workload.label()));
        Problem::new(number::MISSING, Exit::Usage, what).fix(format!(
            "kubectl kai port-forward {} 8888   (Jupyter 8888, TensorBoard 6006, Ray 8265)",
            workload.name
        ))
    })
}

/// The pod that connections lead to; none while there is none.
type Target = Option<Source>;

/// Holds what is forwarded, and how it is looked for.
struct Way<'a> {
    args: &'a Args,
    cluster: Cluster,
    outage: Outage,
}

impl Way<'_> {
    async fn forward(&mut self, mut typed: Vec<Ports>, out: &mut Output) -> Result<Exit, Error> {
        let mut found = self.wait(out).await?;
        if typed.is_empty() {
            let port = guess(&found.workload, &found.pod)?;
            typed.push(Ports { local: port, remote: port });
        }
        let (tell, target) = watch::channel(Some(found.source.clone()));
        let (trouble, mut troubles) = mpsc::channel::<String>(1);
        let mut listening = tokio::task::JoinSet::new();
        for ports in typed {
            let listener = self.listen(ports).await?;
            let local = listener.local_addr().map_or(ports.local, |address| address.port());
            let address = self.args.address;
            out.data(&format!(
                "http://{}  ->  {}:{}",
                std::net::SocketAddr::new(address, local),
                clean(&found.source.pod),
                ports.remote
            ))?;
            let line = Line {
                remote: ports.remote,
                cluster: self.cluster.clone(),
                target: target.clone(),
                trouble: trouble.clone(),
            };
            listening.spawn(line.accept(listener));
        }
        loop {
            tokio::select! {
                Some(trouble) = troubles.recv() => out.warn(&clean(&trouble)),
                () = tokio::time::sleep(LOOK) => {
                    let runs = self.runs(&found.source).await;
                    let Some(runs) = self.outage.sit_out(runs, out)? else { continue };
                    if runs {
                        continue;
                    }
                    tell.send_replace(None);
                    out.warn(&format!("{} no longer runs; waiting for the next pod of {}", clean(&found.source.pod), clean(&self.args.name)));
                    found = self.wait(out).await?;
                    out.talk(&format!("forwarding goes on, to {}", clean(&found.source.pod)));
                    tell.send_replace(Some(found.source.clone()));
                }
            }
        }
    }

    async fn listen(&self, ports: Ports) -> Result<TcpListener, Error> {
        let address = (self.args.address, ports.local);
        TcpListener::bind(address).await.map_err(|error| {
            let what = format!(
                "port {} of {} cannot be listened on: {error}",
                ports.local, self.args.address
            );
            Problem::new(number::OTHER, Exit::Conflict, what)
                .fix(format!(
                    "another one: kubectl kai port-forward {} 0:{}",
                    self.args.name, ports.remote
                ))
                .into()
        })
    }

    /// Tells whether the pod still runs; asks for it alone.
    async fn runs(&self, source: &Source) -> Result<bool, Error> {
        let resource = names::pods();
        let call = Call::new("get", &resource).namespace(Some(&source.namespace)).name(&source.pod);
        let pod = self.cluster.get(&call).await;
        let pod = pod.map_err(|failure| self.cluster.explain(&call, &failure))?;
        Ok(pod.is_some_and(|pod| {
            pod["metadata"]["uid"] == source.uid.as_str()
                && pod["status"]["phase"] == "Running"
                && pod["metadata"]["deletionTimestamp"].is_null()
        }))
    }

    /// Waits for a pod to lead to, and says each change of what it waits for.
    async fn wait(&mut self, out: &mut Output) -> Result<Found, Error> {
        let mut said: Option<State> = None;
        loop {
            let place = format!("namespace {}", self.cluster.namespace);
            let loaded = load_readable(&self.cluster, Some(&self.cluster.namespace)).await;
            if let Some(loaded) = self.outage.sit_out(loaded, out)? {
                let workload = loaded.one(&self.args.name, &place)?;
                let all = sources(workload, &self.cluster).await;
                let all = self.outage.sit_out(all, out)?.unwrap_or_default();
                let may_grow = all.is_empty() || lacks_pods(workload);
                let ranks: Vec<String> = self.args.rank.iter().cloned().collect();
                let mut chosen = chosen(&ranks, None, all, may_grow)?;
                chosen.retain(|source| source.runs);
                let pod = |source: &Source| {
                    let own = workload.pods.iter();
                    own.into_iter()
                        .find(|pod| pod["metadata"]["uid"] == source.uid.as_str())
                        .cloned()
                };
                if let Some(source) = chosen.into_iter().next() {
                    out.waited();
                    let pod = pod(&source).unwrap_or_default();
                    return Ok(Found { workload: workload.clone(), pod, source });
                }
                let state = workload.state();
                if state.phase.is_over() {
                    let what =
                        format!("{} has ended: {}", clean(&workload.name), clean(&state.show()));
                    return Err(
                        Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what).into()
                    );
                }
                if said.as_ref() != Some(state) {
                    let message = state.message.as_deref().map_or(String::new(), |message| {
                        format!(": {}", clean(&message.replace('\n', " ")))
                    });
                    out.talk(&format!(
                        "{} {}{message}",
                        clean(&workload.name),
                        clean(&state.show())
                    ));
                    said = Some(state.clone());
                }
                out.wait_for(&format!("waiting until {} runs", workload.name));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Tells whether fewer pods are there than it has at the same time, so that any rank may come yet.
fn lacks_pods(workload: &Workload) -> bool {
    let is_there = |pod: &&Value| pod["status"]["phase"] != "Failed" && !is_leaving(pod);
    workload.pods.iter().filter(is_there).count() < workload.at_once()
}

/// A pod to lead to.
struct Found {
    workload: Workload,
    pod: Value,
    source: Source,
}

/// One port here.
struct Line {
    remote: u16,
    cluster: Cluster,
    target: watch::Receiver<Target>,
    trouble: mpsc::Sender<String>,
}

impl Line {
    /// Takes connections; each gets one of its own to the pod that is there then.
    async fn accept(self, listener: TcpListener) {
        let mut open = tokio::task::JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = open.join_next(), if !open.is_empty() => continue,
            };
            let Ok((client, _)) = accepted else {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            let target = self.target.borrow().clone();
            // Whoever comes while there is no pod is sent away, and will come again.
            let Some(source) = target else { continue };
            let (cluster, remote, trouble) =
                (self.cluster.clone(), self.remote, self.trouble.clone());
            open.spawn(async move {
                if let Err(why) = pass(client, &source, remote, &cluster).await {
                    // One line for many connections that fail alike at once.
                    let _said = trouble.try_send(why);
                }
            });
        }
    }
}

/// Moves bytes between a client here and a port there until either ends.
async fn pass(
    mut client: TcpStream,
    source: &Source,
    port: u16,
    cluster: &Cluster,
) -> Result<(), String> {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), &source.namespace);
    let opened = pods.portforward(&source.pod, &[port]).await;
    let mut forwarder = opened.map_err(|error| {
        let resource = Resource::new("v1", "Pod", "pods/portforward");
        let call =
            Call::new("create", &resource).namespace(Some(&source.namespace)).name(&source.pod);
        let error = cluster.explain(&call, &Failure::from(error)).to_string();
        error.split_once("]: ").map_or(error.clone(), |(_, what)| what.to_owned())
    })?;
    let error = forwarder.take_error(port);
    let Some(mut stream) = forwarder.take_stream(port) else { return Ok(()) };
    let moved = async {
        // A client that goes in the middle is none of ours.
        let _ended = tokio::io::copy_bidirectional(&mut client, &mut stream).await;
    };
    let refused = async {
        match error {
            Some(error) => error.await,
            None => None,
        }
    };
    tokio::pin!(moved, refused);
    tokio::select! {
        biased;
        Some(why) = &mut refused => Err(format!("port {port} of {}: {why}", source.pod)),
        () = &mut moved => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_port_that_can_be_forwarded_is_guessed() {
        for (ports, expect) in [
            (json!([{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 80}]), Some(80)),
            (json!([{"containerPort": 8080, "protocol": "TCP"}]), Some(8080)),
            (json!([{"containerPort": 53, "protocol": "UDP"}]), None),
        ] {
            let pod = json!({"spec": {"containers": [{"ports": ports}]}});
            assert_eq!(guess(&Workload::default(), &pod).ok(), expect, "{pod}");
        }
    }

    /// After an eviction they come one by one.
    #[test]
    fn a_rank_may_come_while_pods_are_missing() {
        let pod = |phase: &str| json!({"metadata": {"name": "p"}, "status": {"phase": phase}});
        let mut leaving = pod("Running");
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        for (other, expect) in [
            (None, true),
            (Some(pod("Pending")), false),
            (Some(pod("Running")), false),
            (Some(pod("Succeeded")), false),
            // Another one comes in its place.
            (Some(pod("Failed")), true),
            (Some(leaving), true),
        ] {
            let mut workload = Workload::default();
            workload.groups.push(json!({"spec": {"minMember": 2}}));
            workload.pods.push(pod("Running"));
            workload.pods.extend(other.clone());
            assert_eq!(lacks_pods(&workload), expect, "{other:?}");
        }
    }

    #[test]
    fn ports_are_one_or_two_numbers() {
        for (text, expect) in [
            ("8888", Some((8888, 8888))),
            ("9000:8888", Some((9000, 8888))),
            ("0:8888", Some((0, 8888))),
            (":8888", Some((0, 8888))),
            ("8888:", None),
            ("0", None),
            ("http", None),
            ("70000", None),
        ] {
            let read = ports(text).ok().map(|ports| (ports.local, ports.remote));
            assert_eq!(read, expect, "{text}");
        }
    }
}
