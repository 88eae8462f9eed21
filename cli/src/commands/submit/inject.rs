//! Puts what was asked for on the command line into an object and its pod templates. Pure.

use kai_api::quantity::Quantity;
use serde_json::{Value, json};

use super::request::Request;
use super::{claims, earlier, roles, sharing};
use crate::cluster::gpu::Gpu;
use crate::cluster::json::{ensure, text};
use crate::cluster::kinds::{Gang, Kind, Shape};
use crate::cluster::manifest::{Site, kind, place_name, sites};
use crate::cluster::{me, names};
use crate::print::error::{Exit, Problem, number};

/// Holds what was done to an object, for the user to read.
pub(crate) type Notes = Vec<String>;

/// Puts the request into an object with pod templates.
///
/// # Errors
/// Everything that cannot be put there.
pub(crate) fn inject(
    object: &mut Value,
    request: &Request,
    notes: &mut Notes,
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let sites = sites(object);
    metadata(object, request, notes);
    if let Some(gpu) = &request.gpu {
        notes.extend(earlier::kept(object, &working(&sites), gpu));
    }
    for site in &sites {
        if let Err(problem) = place(object, site, request) {
            problems.push(problem);
        }
        request.placement.inject(object, site);
        problems.extend(request.process.inject(object, site).err());
        problems.extend(request.data.inject(object, site).err());
    }
    if let Some(gpu) = &request.gpu {
        problems.extend(gpus(object, &sites, gpu).err());
    }
    if let Some(container) = &request.share_container {
        problems.extend(sharing::name_container(object, &sites, container).err());
    }
    if !request.gpu_products.is_empty() {
        for site in working(&sites) {
            require_product(object, site, &request.gpu_products);
        }
    }
    if let Some(min) = request.min
        && let Err(problem) = gang(object, min)
    {
        problems.push(problem);
    }
    if !request.minima.is_empty() {
        problems.extend(roles::apply(object, &request.minima).err());
    }
    if let Some(inside) = request.inside {
        inside.inject(object, &sites);
    }
    if !request.particulars.params.is_empty() {
        problems.extend(params(object, &request.particulars.params).err());
    }
    for site in &sites {
        problems.extend(sharing::check(object, site));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn metadata(object: &mut Value, request: &Request, notes: &mut Notes) {
    let name = text(&object["metadata"]["name"]).to_owned();
    let old = text(&object["metadata"]["labels"][names::QUEUE]).to_owned();
    let queue = queue(object, request);
    if !old.is_empty() && old != queue {
        notes.push(format!("{name}: queue {old} in the manifest, {queue} by -q"));
    }
    for at in ["/metadata".to_owned()].into_iter().chain(inner(object)) {
        if let Some(user) = &request.user
            && (request.is_copy || !me::is_signed(object, &at))
        {
            me::sign(object, &at, user);
        }
        let labels = ensure(object, &format!("{at}/labels"));
        labels.insert(names::QUEUE.into(), json!(queue));
        if let Some(priority) = &request.priority {
            labels.insert(names::PRIORITY.into(), json!(priority));
        }
        if let Some(preemptible) = request.preemptible {
            let value = if preemptible { "preemptible" } else { "non-preemptible" };
            labels.insert(names::PREEMPTIBILITY.into(), json!(value));
        }
        for (key, value) in &request.labels {
            labels.insert(key.clone(), json!(value));
        }
        request.placement.annotate(object, &at);
    }
    if !request.annotations.is_empty() {
        let annotations = ensure(object, "/metadata/annotations");
        for (key, value) in &request.annotations {
            annotations.insert(key.clone(), json!(value));
        }
    }
}

/// The metadata of the objects that this one makes, where the podgrouper reads those instead of this one's.
///
/// # Source
/// docs/workloads.md 1.1
fn inner(object: &Value) -> Vec<String> {
    match kind(object).map_or("", |kind| kind.name) {
        "CronJob" => vec!["/spec/jobTemplate/metadata".into()],
        "CronWorkflow" => vec!["/spec/workflowMetadata".into()],
        // A Knative service's revision; whichever pod of a RayCronJob comes first.
        "Service" | "RayCronJob" => {
            sites(object).into_iter().filter_map(|site| site.meta).collect()
        }
        _ => Vec::new(),
    }
}

/// The queue of an object: the flag's, else the manifest's own, else the default.
pub(crate) fn queue(object: &Value, request: &Request) -> String {
    let own = text(&object["metadata"]["labels"][names::QUEUE]);
    match &request.queue {
        Some(queue) if request.queue_is_flag || own.is_empty() => queue.clone(),
        Some(_) | None if !own.is_empty() => own.to_owned(),
        Some(_) | None => names::DEFAULT_QUEUE.to_owned(),
    }
}

fn place(object: &mut Value, site: &Site, request: &Request) -> Result<(), Problem> {
    let queue = queue(object, request);
    let is_step = site.shape == Shape::Argo && !site.containers.is_empty();
    if let Some(meta) = &site.meta
        && !is_step
    {
        let labels = ensure(object, &format!("{meta}/labels"));
        labels.insert(names::QUEUE.into(), json!(queue));
        for (key, value) in &request.labels {
            labels.insert(key.clone(), json!(value));
        }
    }
    let spec = ensure(object, &site.spec);
    let scheduler = spec.get("schedulerName").map(text).unwrap_or_default().to_owned();
    let is_other = !matches!(scheduler.as_str(), "" | "default-scheduler" | names::SCHEDULER);
    if is_other && !request.force {
        let what = format!("{} names another scheduler: {scheduler}", place_name(object, site));
        return Err(Problem::new(number::OTHER_SCHEDULER, Exit::Refused, what)
            .fix("remove schedulerName there, or replace it: --force"));
    }
    let spec = ensure(object, &site.spec);
    // A step of a workflow has the scheduler of the workflow unless it names its own.
    if !is_step || !scheduler.is_empty() {
        spec.remove("schedulerName");
        spec.shift_insert(0, "schedulerName".into(), json!(names::SCHEDULER));
    }
    let container = match site.containers.first() {
        Some(container) => container,
        None if site.shape == Shape::Spark => return spark(object, site, request),
        None => return Ok(()),
    };
    containers(object, site, container, request);
    Ok(())
}

fn containers(object: &mut Value, site: &Site, container: &str, request: &Request) {
    let map = ensure(object, container);
    if let Some(image) = &request.image
        && request.image_overrides
    {
        map.insert("image".into(), json!(image));
    }
    if site.steers {
        return;
    }
    for (name, amount) in [("cpu", &request.cpu), ("memory", &request.memory)] {
        if let Some(amount) = amount {
            let limits = ensure(object, &format!("{container}/resources/limits"));
            limits.insert(name.into(), json!(amount));
            if let Some(Value::Object(requests)) =
                object.pointer_mut(&format!("{container}/resources/requests"))
            {
                requests.insert(name.into(), json!(amount));
            }
        }
    }
}

/// Puts image, CPU and memory where Spark has them, in its units.
fn spark(object: &mut Value, site: &Site, request: &Request) -> Result<(), Problem> {
    if let Some(image) = &request.image
        && request.image_overrides
    {
        ensure(object, site.around()).insert("image".into(), json!(image));
    }
    if site.steers {
        return Ok(());
    }
    let wrong = |flag: &str, value: &str, why: &str, fix: &str| {
        let what = format!("{flag} {value}: Spark takes {why}");
        Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix(fix)
    };
    if let Some(cpu) = &request.cpu {
        let cores = cpu.parse::<u32>().ok().filter(|cores| *cores > 0);
        let cores = cores.ok_or_else(|| wrong("--cpu", cpu, "whole cores", "--cpu 4"))?;
        ensure(object, &site.spec).insert("cores".into(), json!(cores));
    }
    if let Some(memory) = &request.memory {
        let bytes = memory.parse::<Quantity>().ok().and_then(|quantity| quantity.milli().ok());
        let mebibytes = bytes.and_then(|milli| u64::try_from(milli / 1000 / (1 << 20)).ok());
        let mebibytes = mebibytes
            .filter(|mebibytes| *mebibytes > 0)
            .ok_or_else(|| wrong("--memory", memory, "at least a mebibyte", "--memory 8Gi"))?;
        ensure(object, &site.spec).insert("memory".into(), json!(format!("{mebibytes}m")));
    }
    Ok(())
}

/// Gives a workflow its parameters, as `argo submit -p` does: those that it has get the value.
fn params(object: &mut Value, params: &[(String, String)]) -> Result<(), Problem> {
    let at = match text(&object["kind"]) {
        "Workflow" => "/spec/arguments",
        "CronWorkflow" => "/spec/workflowSpec/arguments",
        // Of several documents it is for the workflows.
        _ => return Ok(()),
    };
    let all = ensure(object, at).entry("parameters").or_insert_with(|| json!([]));
    let Some(all) = all.as_array_mut() else {
        let what = format!("{at}/parameters is no list");
        return Err(Problem::new(number::YAML, Exit::Refused, what));
    };
    for (name, value) in params {
        match all.iter_mut().find(|one| text(&one["name"]) == name) {
            Some(one) => {
                if let Some(one) = one.as_object_mut() {
                    one.remove("valueFrom");
                    one.insert("value".into(), json!(value));
                }
            }
            None => all.push(json!({ "name": name, "value": value })),
        }
    }
    Ok(())
}

/// The templates that do the work, or all where none does.
fn working(sites: &[Site]) -> Vec<&Site> {
    let with_containers =
        || sites.iter().filter(|site| site.makes_pods() || site.shape == Shape::Inline);
    let working: Vec<&Site> = with_containers().filter(|site| !site.steers).collect();
    if working.is_empty() { with_containers().collect() } else { working }
}

/// Keeps the pods to nodes with one of these products, besides whatever the template asks of nodes.
fn require_product(object: &mut Value, site: &Site, products: &[String]) {
    let key = names::GPU_PRODUCT;
    let expression = json!({ "key": key, "operator": "In", "values": products });
    let at = "affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let required = ensure(object, &format!("{}/{at}", site.spec));
    let terms = required.entry("nodeSelectorTerms").or_insert_with(|| json!([]));
    let Some(terms) = terms.as_array_mut() else { return };
    if terms.is_empty() {
        terms.push(json!({}));
    }
    for term in terms {
        let expressions = ensure(term, "").entry("matchExpressions").or_insert_with(|| json!([]));
        if let Some(expressions) = expressions.as_array_mut() {
            expressions.retain(|other| text(&other["key"]) != key);
            expressions.push(expression.clone());
        }
    }
}

/// Gives each working template its GPUs.
fn gpus(object: &mut Value, sites: &[Site], gpu: &Gpu) -> Result<(), Problem> {
    let working = working(sites);
    let steps: Vec<&str> =
        working.iter().filter(|s| s.shape == Shape::Argo).map(|s| s.role.as_str()).collect();
    if steps.len() > 1 {
        let what =
            format!("--gpu would give GPUs to each of {} steps: {}", steps.len(), steps.join(", "));
        return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix(
            "set limits nvidia.com/gpu, or the annotation gpu-fraction, in the steps that need it",
        ));
    }
    for site in working {
        earlier::clear(object, site, gpu);
        match gpu {
            Gpu::Whole(count) => limit(object, site, names::GPU, *count)?,
            Gpu::Mig { profile, count } => {
                limit(object, site, &format!("{}{profile}", names::MIG), *count)?;
            }
            Gpu::Share { fraction, devices } => {
                share(object, site, names::FRACTION, fraction, *devices)?;
            }
            Gpu::Memory { memory_mib, devices } => {
                share(object, site, names::MEMORY, &memory_mib.to_string(), *devices)?;
            }
            Gpu::Device { resource, count } => {
                ray_gpus(object, site, *count);
                limit(object, site, resource, *count)?;
            }
            Gpu::Claim { count, .. } => {
                claims::refer(object, site)?;
                ray_gpus(object, site, *count);
            }
        }
    }
    Ok(())
}

fn limit(object: &mut Value, site: &Site, resource: &str, count: u32) -> Result<(), Problem> {
    if site.shape == Shape::Spark {
        ensure(object, &format!("{}/gpu", site.spec))
            .extend([("name".into(), json!(resource)), ("quantity".into(), json!(count))]);
        return Ok(());
    }
    let Some(container) = site.containers.first() else {
        return Err(no_place(object, site));
    };
    ensure(object, &format!("{container}/resources/limits")).insert(resource.into(), json!(count));
    Ok(())
}

fn share(
    object: &mut Value,
    site: &Site,
    key: &str,
    value: &str,
    devices: u32,
) -> Result<(), Problem> {
    let Some(meta) = &site.meta else { return Err(no_place(object, site)) };
    // Argo puts a container of its own in front; the share is for the one that does the work.
    let named = match (site.shape, site.containers.first()) {
        (Shape::Argo, Some(container)) => {
            let name = object.pointer(container).map_or("", |c| text(&c["name"]));
            Some(if name.is_empty() { "main".to_owned() } else { name.to_owned() })
        }
        _ => None,
    };
    ray_gpus(object, site, devices);
    let annotations = ensure(object, &format!("{meta}/annotations"));
    annotations.insert(key.into(), json!(value));
    if devices > 1 {
        annotations.insert(names::DEVICES.into(), json!(devices.to_string()));
    }
    if let Some(name) = named {
        annotations.entry(names::SHARE_CONTAINER).or_insert(json!(name));
    }
    Ok(())
}

/// Tells Ray of devices that it sees no limit of: it would give its tasks none.
fn ray_gpus(object: &mut Value, site: &Site, devices: u32) {
    let group = site.spec.trim_end_matches("/template/spec");
    if let Some(Value::Object(start)) = object.pointer_mut(&format!("{group}/rayStartParams")) {
        start.entry("num-gpus").or_insert(json!(devices.to_string()));
    }
}

fn no_place(object: &Value, site: &Site) -> Problem {
    let what = format!("{} has no place for --gpu", place_name(object, site));
    Problem::new(number::UNSUPPORTED, Exit::Refused, what)
        .fix("ask for GPUs in the manifest itself")
}

/// Writes the gang's size where the kind keeps it.
fn gang(object: &mut Value, min: u32) -> Result<(), Problem> {
    let known: Option<&Kind> = kind(object);
    match known.map_or(Gang::None, |kind| kind.gang) {
        Gang::Annotation => {
            let of_cron = known.is_some_and(|kind| kind.name == "CronJob");
            let at = if of_cron { "/spec/jobTemplate/metadata" } else { "/metadata" };
            ensure(object, &format!("{at}/annotations"))
                .insert(names::MIN_MEMBER.into(), json!(min.to_string()));
        }
        Gang::ReplicatedJob => {
            let jobs = ["/spec/replicatedJobs", "/spec/template/spec/replicatedJobs"]
                .into_iter()
                .find(|at| object.pointer(at).is_some_and(Value::is_array));
            let one = jobs.filter(|at| {
                object.pointer(at).and_then(Value::as_array).is_some_and(|all| all.len() == 1)
            });
            let Some(at) = one else {
                let what = "--min needs exactly one replicated job";
                return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what)
                    .fix("leave --min out: then every job starts with all of its pods"));
            };
            ensure(object, &format!("{at}/0/template/metadata/annotations"))
                .insert(names::MIN_MEMBER.into(), json!(min.to_string()));
        }
        Gang::SchedulingPolicy => {
            let launchers = u32::from(known.is_some_and(|kind| kind.name == "MPIJob"));
            ensure(object, "/spec/runPolicy/schedulingPolicy")
                .insert("minAvailable".into(), json!(min + launchers));
        }
        Gang::RayReplicas => {
            let groups = ["/spec/rayClusterSpec", "/spec/rayClusterConfig", "/spec"]
                .into_iter()
                .map(|at| format!("{at}/workerGroupSpecs"))
                .find(|at| object.pointer(at).is_some());
            match groups {
                Some(at)
                    if object
                        .pointer(&at)
                        .and_then(Value::as_array)
                        .is_some_and(|g| g.len() == 1) =>
                {
                    ensure(object, &format!("{at}/0")).insert("minReplicas".into(), json!(min));
                }
                Some(_) | None => {
                    let what = "--min needs exactly one worker group";
                    return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what)
                        .fix("set minReplicas of each group in the manifest"));
                }
            }
        }
        Gang::Whole => {
            let what = format!("the pods of a group of {} start together", text(&object["kind"]));
            return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what)
                .fix("leave --min and --no-gang out, or make smaller groups: --workers N"));
        }
        // Each pod starts alone anyhow; the pods of a TrainJob are its runtime's.
        Gang::None if min == 1 || known.is_some_and(|kind| kind.sites.is_empty()) => {}
        Gang::None => {
            let what = format!("{} has no place for --min", text(&object["kind"]));
            return Err(Problem::new(number::UNSUPPORTED, Exit::Usage, what).fix(
                "leave --min out, or make a PodGroup of your own (kubectl explain podgroup.spec)",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No node has GPUs of two models.
    #[test]
    fn a_model_takes_the_place_of_that_of_before() {
        let term = |product: &str| {
            json!({"matchExpressions": [{"key": "zone", "operator": "Exists"},
                {"key": names::GPU_PRODUCT, "operator": "In", "values": [product]}]})
        };
        let required = json!({"nodeSelectorTerms": [term("A100"), term("V100")]});
        let affinity =
            json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
            "spec": {"affinity": affinity, "containers": [{"name": "main"}]}});
        let site = sites(&pod).remove(0);
        require_product(&mut pod, &site, &["H100".to_owned()]);
        let affinity = &pod["spec"]["affinity"]["nodeAffinity"];
        let required = &affinity["requiredDuringSchedulingIgnoredDuringExecution"];
        assert_eq!(required["nodeSelectorTerms"], json!([term("H100"), term("H100")]));
    }

    /// A parameter has its value from one place.
    #[test]
    fn a_value_takes_the_place_of_where_it_came_from() {
        let from = json!({"configMapKeyRef": {"name": "settings", "key": "rate"}});
        let parameters =
            json!([{"name": "rate", "valueFrom": from}, {"name": "seed", "valueFrom": from}]);
        let mut workflow =
            json!({"kind": "Workflow", "spec": {"arguments": {"parameters": parameters}}});
        params(&mut workflow, &[("rate".to_owned(), "1".to_owned())]).expect("it has a place");
        let expect = json!([{"name": "rate", "value": "1"}, {"name": "seed", "valueFrom": from}]);
        assert_eq!(workflow["spec"]["arguments"]["parameters"], expect);
    }
}
