//! `--min-per-role`: how many pods of one role start together, where a kind's grouping counts by role. Pure.

use serde_json::{Value, json};

use super::values::pairs;
use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::Gang;
use crate::cluster::manifest::kind;
use crate::cluster::names;
use crate::print::error::{Exit, Problem, number};

/// A role as it was typed, and how many of it start together.
pub(crate) type Minimum = (String, u32);

/// Reads `worker=4`.
///
/// # Errors
/// It is no number of pods.
pub(super) fn read(typed: &[String]) -> Result<Vec<Minimum>, Problem> {
    let minimum = |(role, count): (String, String)| {
        if let Some(least) = count.parse::<u32>().ok().filter(|least| *least > 0) {
            return Ok((role, least));
        }
        let what = format!("--min-per-role {role}={count} is no number of pods");
        let problem = Problem::new(number::VALUE, Exit::Usage, what);
        Err(problem.fix(format!("--min-per-role {role}=4")))
    };
    pairs("--min-per-role", typed)?.into_iter().map(minimum).collect()
}

/// Refuses more of a role than there are workers at all.
///
/// # Errors
/// There are fewer.
pub(super) fn check(minima: &[Minimum], workers: u32) -> Result<(), Problem> {
    let over = minima.iter().find(|(_, least)| *least > workers);
    over.map_or(Ok(()), |(role, least)| Err(too_many(role, *least, workers.into())))
}

/// Writes the minimum of each role where the podgrouper reads it.
///
/// # Errors
/// The kind counts all pods together, has no such role, or has fewer of it.
///
/// # Source
/// docs/grouping.md 7.5, 7.7, 7.10 and 7.12
pub(super) fn apply(object: &mut Value, minima: &[Minimum]) -> Result<(), Problem> {
    let Some(known) = kind(object) else { return Err(without_roles(object)) };
    for (role, least) in minima {
        match (known.name, known.gang) {
            ("PyTorchJob", _) => pytorch(object, role, *least)?,
            (_, Gang::RayReplicas) => ray(object, role, *least)?,
            (_, Gang::ReplicatedJob) => replicated_job(object, role, *least)?,
            ("PodCliqueSet", _) => clique(object, role, *least)?,
            // Its pods are its runtime's.
            (_, Gang::None) if known.sites.is_empty() => {}
            _ => return Err(without_roles(object)),
        }
    }
    Ok(())
}

fn without_roles(object: &Value) -> Problem {
    let kind = text(&object["kind"]);
    let what = format!("the pods of a {kind} are counted together, whatever their role");
    Problem::new(number::UNSUPPORTED, Exit::Usage, what)
        .fix("--min N, which counts all of them; roles count in pytorch, ray, jobset and trainjob")
}

/// Says that there is no such role.
fn unknown(object: &Value, role: &str, roles: &[&str]) -> Problem {
    let what = format!("a {} has no role \"{role}\"", text(&object["kind"]));
    let roles: Vec<String> = roles.iter().map(|role| format!("{role}=N")).collect();
    Problem::new(number::MISSING, Exit::Usage, what)
        .fix(format!("--min-per-role {}", roles.join("   or   ")))
}

/// Says that there are fewer pods of a role than are to start together.
fn too_many(role: &str, least: u32, there: u64) -> Problem {
    let what = format!("--min-per-role {role}={least} is more than the {there} that there will be");
    Problem::new(number::VALUE, Exit::Usage, what)
        .fix(format!("--min-per-role {role}={there}   or   more of them: --workers N"))
}

/// All masters start; what the minimum has beyond them are workers.
fn pytorch(object: &mut Value, role: &str, least: u32) -> Result<(), Problem> {
    let count = |role: &str| {
        let replica = object.pointer(&format!("/spec/pytorchReplicaSpecs/{role}"));
        replica.map_or(0, |replica| replica["replicas"].as_u64().unwrap_or(1))
    };
    let (masters, workers) = (count("Master"), count("Worker"));
    let there = match role.to_lowercase().as_str() {
        "master" => masters,
        "worker" | "workers" => workers,
        _ => return Err(unknown(object, role, &["worker"])),
    };
    if u64::from(least) > there {
        return Err(too_many(role, least, there));
    }
    if role.eq_ignore_ascii_case("master") {
        return if u64::from(least) == masters { Ok(()) } else { Err(all_of(role, masters)) };
    }
    ensure(object, "/spec/runPolicy/schedulingPolicy")
        .insert("minAvailable".into(), json!(masters + u64::from(least)));
    Ok(())
}

fn all_of(role: &str, there: u64) -> Problem {
    let what = format!("all pods of the role {role} start together");
    Problem::new(number::UNSUPPORTED, Exit::Usage, what)
        .fix(format!("leave it out, or --min-per-role {role}={there}"))
}

/// A head, and groups that have their names.
fn ray(object: &mut Value, role: &str, least: u32) -> Result<(), Problem> {
    if matches!(role, "head" | "headgroup") {
        return if least == 1 { Ok(()) } else { Err(all_of(role, 1)) };
    }
    let at = ["/spec/rayClusterSpec", "/spec/rayClusterConfig", "/spec"]
        .into_iter()
        .map(|at| format!("{at}/workerGroupSpecs"))
        .find(|at| object.pointer(at).is_some());
    let groups = at.as_deref().and_then(|at| object.pointer(at)).and_then(Value::as_array);
    let names: Vec<&str> =
        groups.into_iter().flatten().map(|group| text(&group["groupName"])).collect();
    let found =
        names.iter().position(|name| *name == role || (names.len() == 1 && is_worker(role)));
    let (Some(found), Some(at)) = (found, &at) else { return Err(unknown(object, role, &names)) };
    let group = ensure(object, &format!("{at}/{found}"));
    let there = group.get("maxReplicas").or(group.get("replicas")).and_then(Value::as_u64);
    let there = there.unwrap_or(1);
    if u64::from(least) > there {
        return Err(too_many(role, least, there));
    }
    group.insert("minReplicas".into(), json!(least));
    Ok(())
}

/// The role of all pods but those that steer, by the names that people give it.
fn is_worker(role: &str) -> bool {
    matches!(role, "worker" | "workers")
}

/// Jobs that have their names; each replica of one starts with so many of its pods.
fn replicated_job(object: &mut Value, role: &str, least: u32) -> Result<(), Problem> {
    let at = ["/spec/replicatedJobs", "/spec/template/spec/replicatedJobs"]
        .into_iter()
        .find(|at| object.pointer(at).is_some_and(Value::is_array));
    let jobs = at.and_then(|at| object.pointer(at)).and_then(Value::as_array);
    let names: Vec<&str> = jobs.into_iter().flatten().map(|job| text(&job["name"])).collect();
    let found =
        names.iter().position(|name| *name == role || (names.len() == 1 && is_worker(role)));
    let (Some(found), Some(at)) = (found, at) else { return Err(unknown(object, role, &names)) };
    let at = format!("{at}/{found}/template");
    // The pods of a runtime are counted by its TrainJob.
    let there = object.pointer(&format!("{at}/spec/parallelism")).and_then(Value::as_u64);
    if let Some(there) = there.filter(|there| u64::from(least) > *there) {
        return Err(too_many(role, least, there));
    }
    ensure(object, &format!("{at}/metadata/annotations"))
        .insert(names::MIN_MEMBER.into(), json!(least.to_string()));
    Ok(())
}

fn clique(object: &mut Value, role: &str, least: u32) -> Result<(), Problem> {
    let at = "/spec/template/cliques";
    let cliques = object.pointer(at).and_then(Value::as_array);
    let names: Vec<&str> = cliques.into_iter().flatten().map(|one| text(&one["name"])).collect();
    let Some(found) = names.iter().position(|name| *name == role) else {
        return Err(unknown(object, role, &names));
    };
    let spec = ensure(object, &format!("{at}/{found}/spec"));
    let there = spec.get("replicas").and_then(Value::as_u64).unwrap_or(1);
    if u64::from(least) > there {
        return Err(too_many(role, least, there));
    }
    spec.insert("minAvailable".into(), json!(least));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the spec that comes of an object, or what is said.
    fn check(yaml: &str, typed: &str, expect: &str) {
        let mut object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let minima = read(&typed.split(',').map(str::to_owned).collect::<Vec<_>>());
        let said = match minima.and_then(|minima| apply(&mut object, &minima)) {
            Ok(()) => object["spec"].to_string(),
            Err(problem) => problem.what,
        };
        assert_eq!(said, expect, "{typed}");
    }

    const TORCH: &str = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 7}}}}";
    const RAY: &str = "{apiVersion: ray.io/v1, kind: RayCluster, spec: {workerGroupSpecs: [{groupName: small, replicas: 8}, {groupName: large, replicas: 2, maxReplicas: 4}]}}";
    const JOBS: &str = "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: [{name: workers, template: {spec: {parallelism: 4}}}]}}";

    #[test]
    fn each_kind_keeps_a_roles_minimum_in_its_own_place() {
        check(
            TORCH,
            "worker=4",
            r#"{"pytorchReplicaSpecs":{"Master":{},"Worker":{"replicas":7}},"runPolicy":{"schedulingPolicy":{"minAvailable":5}}}"#,
        );
        check(
            RAY,
            "small=4,large=3",
            r#"{"workerGroupSpecs":[{"groupName":"small","replicas":8,"minReplicas":4},{"groupName":"large","replicas":2,"maxReplicas":4,"minReplicas":3}]}"#,
        );
        check(
            JOBS,
            "worker=2",
            r#"{"replicatedJobs":[{"name":"workers","template":{"metadata":{"annotations":{"kai.scheduler/batch-min-member":"2"}},"spec":{"parallelism":4}}}]}"#,
        );
    }

    #[test]
    fn what_is_not_counted_by_role_is_said() {
        check(TORCH, "worker=8", "--min-per-role worker=8 is more than the 7 that there will be");
        check(TORCH, "ps=1", "a PyTorchJob has no role \"ps\"");
        check(TORCH, "worker=0", "--min-per-role worker=0 is no number of pods");
        check(RAY, "worker=1", "a RayCluster has no role \"worker\"");
        check(RAY, "head=2", "all pods of the role head start together");
        let job = "{apiVersion: batch/v1, kind: Job, spec: {}}";
        check(job, "worker=1", "the pods of a Job are counted together, whatever their role");
        let tensorflow = "{apiVersion: kubeflow.org/v1, kind: TFJob, spec: {}}";
        check(tensorflow, "ps=1", "the pods of a TFJob are counted together, whatever their role");
    }
}
