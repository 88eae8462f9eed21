//! Every command under every role for people (`deploy/rbac/users.yaml`), on the embedded API server and on a real one.
//!
//! A command works, works and names what it could not read, or is refused with the right that is missing and the role that
//! has it. A command that clap knows and the table does not is a failure.

mod rows;

use std::{
    collections::BTreeSet,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding};
use kai_tests::{
    cluster::{Cluster, Setup},
    control_plane::{assets, client},
    daemon::binary,
    sandbox::Sandbox,
};
use kube::{Api, Client, api::PostParams};
use rows::{Answer, PEOPLE, ROWS, Row};
use serde_json::json;

/// Time that a command may take; one that goes on after it has what it needs.
const GOES_ON: Duration = Duration::from_secs(8);
/// Time that what the fixtures make may take.
const FIXTURES: Duration = Duration::from_mins(2);

/// A cluster in which people have roles.
struct World {
    kubeconfig: PathBuf,
    /// Holds the files that commands write and read.
    folder: tempfile::TempDir,
    /// True where nodes run containers that one can enter.
    has_containers: bool,
}

/// Deed of a command.
struct Outcome {
    /// None while it went on.
    code: Option<i32>,
    said: String,
}

impl World {
    fn spawn(&self, line: &str) -> Result<(Child, PathBuf)> {
        let log = self.folder.path().join("said");
        let file = std::fs::File::create(&log)?;
        let child = Command::new(binary("kubectl-kai"))
            .args(line.split(' '))
            .env_clear()
            .env("HOME", self.folder.path())
            .env("KUBECONFIG", &self.kubeconfig)
            .env("COLUMNS", "400")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .context("failed to start kubectl-kai")?;
        Ok((child, log))
    }

    /// Runs a command; words after `--` are the container's, so who asks stands before them.
    fn run(&self, line: &str, who: Option<&str>, port: Option<u16>) -> Result<Outcome> {
        let (line, rest) = line.split_once(" -- ").map_or((line, None), |(a, b)| (a, Some(b)));
        let whole = match (who, rest) {
            (Some(who), Some(rest)) => format!("{line} --as {who} -- {rest}"),
            (None, Some(rest)) => format!("{line} -- {rest}"),
            (Some(who), None) => format!("{line} --as {who}"),
            (None, None) => line.to_owned(),
        };
        let (mut child, log) = self.spawn(&whole)?;
        let end = Instant::now() + GOES_ON;
        let mut code = None;
        while code.is_none() && Instant::now() < end {
            if let Some(port) = port {
                // A connection is what makes it ask the server.
                let _refused_until_it_listens = TcpStream::connect(("127.0.0.1", port));
            }
            code = child.try_wait()?.map(|status| status.code().unwrap_or(-1));
            thread::sleep(Duration::from_millis(50));
        }
        if code.is_none() {
            child.kill().and_then(|()| child.wait())?;
        }
        Ok(Outcome { code, said: std::fs::read_to_string(log)? })
    }

    /// Runs a command as an administrator, which has to succeed.
    fn prepare(&self, line: &str) -> Result<()> {
        let end = Instant::now() + FIXTURES;
        loop {
            let outcome = self.run(line, None, None)?;
            if outcome.code == Some(0) {
                return Ok(());
            }
            // What is waited for may come after the time of one command.
            let waits = outcome.code.is_none() && line.starts_with("wait ");
            ensure!(waits && Instant::now() < end, "{line}: {:?}\n{}", outcome.code, outcome.said);
        }
    }

    /// Makes what the commands are about: for each person work to stop, to let go on and to delete, and queues.
    fn furnish(&self) -> Result<()> {
        let sleeps = "--gpu 1 --image busybox --quiet -- sleep 100000";
        self.prepare("queues create team --gpu-quota 8 --yes --quiet")?;
        self.prepare(&format!("submit job kept -q team {sleeps}"))?;
        for (who, _) in PEOPLE {
            for name in ["gone", "held", "idle"] {
                self.prepare(&format!("submit job {who}-{name} -q team {sleeps}"))?;
            }
            for name in ["old", "moved", "shut"] {
                self.prepare(&format!("queues create {who}-{name} --yes --quiet"))?;
            }
            self.prepare(&format!("suspend {who}-idle --yes --quiet"))?;
            self.prepare(&format!("queues hold {who}-shut --yes --quiet"))?;
        }
        self.prepare("wait kept --for running --quiet")?;
        self.prepare("snapshot cluster.zip --quiet")?;
        std::fs::write(self.folder.path().join("own.yaml"), OWN_TEMPLATE)?;
        Ok(())
    }

    /// Says what is wrong with what a command answered one person.
    fn judge(&self, row: &Row, at: usize) -> Result<Option<String>> {
        let (who, role) = PEOPLE[at];
        let answer = row.answers[at];
        let port = row.line.contains("PORT").then(free_port).transpose()?;
        let line = row.line.replace("WHO", who);
        let line = port.map_or(line.clone(), |port| line.replace("PORT", &port.to_string()));
        let outcome = self.run(&line, Some(who), port)?;
        let wrong = match answer {
            Answer::Works | Answer::Without(_) if !self.has_containers && row.enters_containers => {
                outcome.said.contains("you may not")
            }
            Answer::Works => {
                !outcome.code.is_none_or(|code| row.codes.contains(&code))
                    || outcome.said.contains("KAI3001")
            }
            Answer::Without(what) => {
                !outcome.code.is_none_or(|code| row.codes.contains(&code))
                    || !outcome.said.contains(what)
            }
            Answer::Lacks(right, of) => {
                let ends = outcome.code == Some(4) || port.is_some();
                let grant = match of {
                    "" => "ClusterRole cluster-admin",
                    of => &*format!("--clusterrole={of} --user={who}"),
                };
                let says = outcome.said.contains(&format!("you may not {right}"));
                // A connection that is forwarded has one line for what was wrong with it.
                !(ends && says && (port.is_some() || outcome.said.contains(grant)))
            }
        };
        let Outcome { code, said } = outcome;
        Ok(wrong.then(|| {
            format!("{who} ({role}): {line}\n  expected {answer:?}, ended with {code:?}:\n{said}")
        }))
    }

    fn walk(&self) -> Result<()> {
        let mut wrong = Vec::new();
        for row in ROWS {
            for at in 0..PEOPLE.len() {
                wrong.extend(self.judge(row, at)?);
            }
        }
        ensure!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
        Ok(())
    }
}

const OWN_TEMPLATE: &str = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: own
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox}]
";

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Binds each role where it is meant to be bound.
async fn bind(client: Client) -> Result<()> {
    for (who, role) in PEOPLE {
        let binding = json!({
            "metadata": {"name": format!("{who}-{role}")},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who}],
        });
        if role == "kai-submitter" {
            let api: Api<RoleBinding> = Api::namespaced(client.clone(), "default");
            api.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
        } else {
            let api: Api<ClusterRoleBinding> = Api::all(client.clone());
            api.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
        }
    }
    Ok(())
}

/// Lists what can be typed: commands without further ones, and those that do something without one.
fn paths(command: &clap::Command, above: &str, found: &mut BTreeSet<String>) {
    for child in command.get_subcommands() {
        let path = format!("{above} {}", child.get_name()).trim().to_owned();
        if !child.has_subcommands() || !child.is_subcommand_required_set() {
            found.insert(path.clone());
        }
        paths(child, &path, found);
    }
}

#[test]
fn every_command_has_a_row() {
    let mut typed = BTreeSet::new();
    paths(&kubectl_kai::command(), "", &mut typed);
    let rows: BTreeSet<String> = ROWS.iter().map(|row| row.path.to_owned()).collect();
    assert_eq!(typed, rows);
    for row in ROWS {
        assert!(row.line.starts_with(row.path), "{} does not begin with {}", row.line, row.path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_under_every_role() -> Result<()> {
    let sandbox = Sandbox::start(&binary("kubectl-kai"), "4xH100:8", &["--pace", "10"])?;
    let kubeconfig = sandbox.kubeconfig().to_path_buf();
    bind(client(&kubeconfig).await?).await?;
    let world = World { kubeconfig, folder: tempfile::tempdir()?, has_containers: true };
    world.furnish()?;
    world.walk()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_under_every_role_on_a_real_server() -> Result<()> {
    let Some(assets) = assets("roles") else { return Ok(()) };
    let setup = Setup { nodes: "4xH100:8", operators: None, api_server_flags: &[] };
    let cluster = Cluster::start(&assets, setup).await?;
    bind(cluster.client().await?).await?;
    let kubeconfig: &Path = &cluster.plane.kubeconfig();
    let kubeconfig = kubeconfig.to_path_buf();
    let world = World { kubeconfig, folder: tempfile::tempdir()?, has_containers: false };
    world.furnish()?;
    world.walk()?;
    view_is_extended(&world, cluster.client().await?).await
}

/// Checks that Kubernetes' own roles in a namespace let one see what it waits for, and change no queue.
async fn view_is_extended(world: &World, client: Client) -> Result<()> {
    for (who, role) in [("vic", "view"), ("eve", "edit")] {
        let binding = json!({
            "metadata": {"name": who},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who}],
        });
        let api: Api<RoleBinding> = Api::namespaced(client.clone(), "default");
        api.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
        let list = world.run("list", Some(who), None)?;
        ensure!(list.code == Some(0) && list.said.contains("kept"), "{who}: {}", list.said);
        ensure!(!list.said.contains("you may not list podgroups"), "{who}: {}", list.said);
    }
    let refused = world.run("queues set team --gpu-quota 9 --yes", Some("eve"), None)?;
    ensure!(refused.code == Some(4), "eve: {}", refused.said);
    let submitted =
        world.run("submit job eves -q team --image busybox --quiet", Some("eve"), None)?;
    ensure!(submitted.code == Some(0), "eve: {}", submitted.said);
    Ok(())
}
