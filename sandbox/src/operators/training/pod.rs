//! The pod of one replica: labels, ports, environment and init containers as the real operator has them.

use serde_json::{Value, json};

use super::super::action::View;
use super::super::template::{self, environment, label};
use super::{Framework, Replica};

pub(super) fn pod(
    view: &View<'_>,
    framework: &Framework,
    replica: &Replica<'_>,
    all: &[Replica<'_>],
) -> Value {
    let mut pod = template::pod(&replica.name, &replica.spec["template"]);
    let lower = replica.kind.to_ascii_lowercase();
    let operator = format!("{}-controller", framework.kind.to_ascii_lowercase());
    label(
        &mut pod,
        [
            ("training.kubeflow.org/job-name", view.name()),
            ("training.kubeflow.org/operator-name", &operator),
            ("training.kubeflow.org/replica-type", &lower),
        ],
    );
    if replica.kind != "Launcher" {
        label(&mut pod, [("training.kubeflow.org/replica-index", &replica.index.to_string())]);
    }
    if leads(framework, replica, all) {
        label(&mut pod, [("training.kubeflow.org/job-role", "master")]);
    }
    let policy = replica.spec["restartPolicy"].as_str().unwrap_or(framework.restart);
    pod["spec"]["restartPolicy"] = json!(if policy == "ExitCode" { "Never" } else { policy });
    let variables = variables(view, framework, replica, all);
    for container in pod["spec"]["containers"].as_array_mut().into_iter().flatten() {
        if framework.kind == "MPIJob" {
            if replica.kind == "Worker" && container["command"].is_null() {
                container["command"] = json!(["sleep"]);
                container["args"] = json!(["365d"]);
            }
        } else if container["name"] != framework.container {
            continue;
        } else if container["ports"].is_null() {
            container["ports"] = json!([{"containerPort": framework.port, "name": framework.port_name, "protocol": "TCP"}]);
        }
        environment(container, &variables);
    }
    if let Some(init) = init_container(view, framework, replica, all) {
        if !pod["spec"]["initContainers"].is_array() {
            pod["spec"]["initContainers"] = json!([]);
        }
        pod["spec"]["initContainers"].as_array_mut().expect("made an array above").push(init);
    }
    pod
}

/// The pod with the role `master`: the Master, Chief or Launcher, or the first Worker where there is none.
fn leads(framework: &Framework, replica: &Replica<'_>, all: &[Replica<'_>]) -> bool {
    let leader = |kind: &str| matches!(kind, "Master" | "Chief" | "Launcher");
    match replica.kind {
        kind if leader(kind) => true,
        // Seen from 1.9.4: TensorFlow and Paddle workers lead nothing.
        "Worker" => {
            replica.index == 0
                && matches!(framework.kind, "PyTorchJob" | "XGBoostJob")
                && !all.iter().any(|one| leader(one.kind))
        }
        _ => false,
    }
}

fn variables(
    view: &View<'_>,
    framework: &Framework,
    replica: &Replica<'_>,
    all: &[Replica<'_>],
) -> Vec<(&'static str, String)> {
    let size = all.len().to_string();
    let port = framework.port.to_string();
    let master = all.iter().find(|one| one.kind == "Master");
    let rank = all.iter().position(|one| one.name == replica.name).unwrap_or(0).to_string();
    let mut list = vec![("PYTHONUNBUFFERED", "1".to_owned())];
    match framework.kind {
        "PyTorchJob" => {
            if let Some(master) = master {
                for name in ["MASTER_PORT", "PET_MASTER_PORT"] {
                    list.push((name, port.clone()));
                }
                for name in ["MASTER_ADDR", "PET_MASTER_ADDR"] {
                    list.push((name, master.name.clone()));
                }
                list.extend([
                    ("WORLD_SIZE", size.clone()),
                    ("RANK", rank.clone()),
                    ("PET_NODE_RANK", rank),
                ]);
            }
            let processes = &view.spec()["nprocPerNode"];
            list.push(("PET_NPROC_PER_NODE", processes.as_str().unwrap_or("auto").to_owned()));
            list.push(("PET_NNODES", size));
        }
        "XGBoostJob" => {
            let address = master.map_or_else(String::new, |master| master.name.clone());
            let workers: Vec<&str> = all
                .iter()
                .filter(|one| one.kind == "Worker")
                .map(|one| one.name.as_str())
                .collect();
            list.extend([
                ("MASTER_PORT", port.clone()),
                ("MASTER_ADDR", address),
                ("WORLD_SIZE", size),
                ("RANK", rank),
            ]);
            list.extend([("WORKER_PORT", port), ("WORKER_ADDRS", workers.join(","))]);
        }
        "JAXJob" => {
            let first = all.first().map_or_else(String::new, |one| one.name.clone());
            list.extend([("COORDINATOR_PORT", port), ("COORDINATOR_ADDRESS", first)]);
            list.extend([("NUM_PROCESSES", size), ("PROCESS_ID", replica.index.to_string())]);
        }
        "PaddleJob" => {
            list.extend([("PADDLE_JOB_ID", view.name().to_owned()), ("PADDLE_NNODES", size)]);
        }
        "TFJob" => return vec![("TF_CONFIG", tf_config(view, framework, replica, all))],
        "MPIJob" if replica.kind == "Launcher" => {
            return vec![
                ("OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh".to_owned()),
                ("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile".to_owned()),
                ("NVIDIA_VISIBLE_DEVICES", String::new()),
                ("NVIDIA_DRIVER_CAPABILITIES", String::new()),
            ];
        }
        _ => return Vec::new(),
    }
    list
}

fn tf_config(
    view: &View<'_>,
    framework: &Framework,
    replica: &Replica<'_>,
    all: &[Replica<'_>],
) -> String {
    let mut cluster = json!({});
    for kind in framework.types {
        let hosts: Vec<String> = all
            .iter()
            .filter(|one| one.kind == *kind)
            .map(|one| format!("{}.{}.svc:{}", one.name, view.namespace(), framework.port))
            .collect();
        if !hosts.is_empty() {
            cluster[kind.to_ascii_lowercase()] = json!(hosts);
        }
    }
    let task = json!({"type": replica.kind.to_ascii_lowercase(), "index": replica.index});
    json!({"cluster": cluster, "task": task, "environment": "cloud"}).to_string()
}

/// The init containers that the real operator adds; what they ask for counts in the pod's request.
fn init_container(
    view: &View<'_>,
    framework: &Framework,
    replica: &Replica<'_>,
    all: &[Replica<'_>],
) -> Option<Value> {
    let master = all.iter().find(|one| one.kind == "Master");
    match (framework.kind, replica.kind) {
        ("PyTorchJob", "Worker") => Some(json!({
            "name": "init-pytorch", "image": "alpine:3.10",
            "command": ["sh", "-c", format!("until nslookup {}; do echo waiting for master; sleep 2; done", master?.name)],
            "resources": {"limits": {"cpu": "100m", "memory": "20Mi"}, "requests": {"cpu": "50m", "memory": "10Mi"}},
        })),
        ("MPIJob", "Launcher") => {
            let amounts = json!({"cpu": "100m", "ephemeral-storage": "5Gi", "memory": "512Mi"});
            Some(json!({
                "name": "kubectl-delivery", "image": "ghcr.io/kubeflow/training-v1/kubectl-delivery:latest",
                "env": [{"name": "TARGET_DIR", "value": "/opt/kube"}, {"name": "NAMESPACE", "value": view.namespace()}],
                "resources": {"limits": amounts, "requests": amounts},
            }))
        }
        _ => None,
    }
}
