//! The GPUs that a pod asks for: whole, a part, memory, MIG instances.

use std::str::FromStr;

use kai_api::{
    names::{annotation, env, resource},
    quantity::Quantity,
    shared_gpu::{self, Target},
};
use kai_engine::{GPU_MILLI, GpuRequest, Lane, Resources};

use crate::{
    ingest::{Context, request::Asking},
    names::{Maps, NOT_PREPARED},
    server::wire::Pairs,
};

/// More devices than this are on no node.
pub(super) const DEVICES_MAX: u16 = 1024;

/// Says what the owner of a pod that asks for a share is told where none is given.
const SHARING_OFF: &str = "sharing of GPUs is switched off (binder.plugins.gpusharing.enabled of the Config): ask for whole \
                           GPUs, or have an administrator switch it on";

/// Works out what a pod asks for or holds. Annotations that make no sense are passed over: a pod that waits is kept waiting for them
/// by [`refusal`], and one that runs goes on to hold what it was given, a fraction of exactly 1 for instance.
///
/// Source: docs/behaviour.md 2.2, the table of GPU requirements.
pub(in crate::ingest) fn gpu_request(
    context: &mut Context,
    annotations: &Pairs<'_>,
    whole: &Resources,
) -> GpuRequest {
    if whole.amount(Lane::GPU) > 0 {
        // Beside whole GPUs an annotation means nothing: the kubelet gave what the container asked of the device plugin.
        return whole_gpus(whole);
    }
    let mut instances = Vec::new();
    for (lane, amount) in whole.iter() {
        if context.names.lane_name(lane).starts_with(resource::MIG_PREFIX) && amount > 0 {
            instances.push((lane, instance_count(amount)));
        }
    }
    if !instances.is_empty() {
        return GpuRequest::Mig(instances);
    }
    // Beside a share an annotation of instances means nothing: whoever wrote one later would free the share for a scheduler
    // that starts anew.
    if let Some(share) = share(annotations) {
        return share;
    }
    let legacy = mig_annotations(context, annotations);
    if legacy.is_empty() { GpuRequest::None } else { GpuRequest::LegacyMig(legacy) }
}

/// The part of each of how many GPUs annotations ask for.
fn share(annotations: &Pairs<'_>) -> Option<GpuRequest> {
    let devices = annotations.value(annotation::GPU_FRACTION_DEVICES);
    let devices = devices.and_then(|text| text.parse::<u16>().ok()).filter(|count| *count > 0);
    let devices = devices.unwrap_or(1).min(DEVICES_MAX);
    if let Some(micro) = annotations.value(annotation::GPU_FRACTION).and_then(fraction_micro) {
        return Some(GpuRequest::Fraction { micro, devices });
    }
    let memory =
        annotations.value(annotation::GPU_MEMORY).and_then(|text| text.parse::<u64>().ok());
    let mib = memory.filter(|mib| *mib > 0)?;
    // No device has 4 PiB: a pod that asks for more waits like one that asks for as much.
    Some(GpuRequest::Memory { mib: u32::try_from(mib).unwrap_or(u32::MAX), devices })
}

/// A number of MIG instances; more than these are on no node, and a million such pods can be summed.
fn instance_count(amount: i64) -> u32 {
    u16::try_from(amount).unwrap_or(u16::MAX).into()
}

fn whole_gpus(whole: &Resources) -> GpuRequest {
    let milli = whole.amount(Lane::GPU);
    GpuRequest::Whole(u16::try_from(milli / GPU_MILLI).unwrap_or(u16::MAX))
}

/// Says why what a pod asks of GPUs cannot be given, in words for its owner: without these it would run, and see no GPU
/// or one that it was not counted for.
///
/// # Source
/// docs/contract.md 3.6, rules 2 to 9, and 3.3, step 1, for clusters in which admission did not say so.
pub(in crate::ingest) fn refusal(
    annotations: &Pairs<'_>,
    asking: &Asking<'_, '_>,
    is_sharing_off: bool,
) -> Option<String> {
    let containers = || asking.containers.iter().chain(asking.init_containers);
    let asks_for = |resource: &str| {
        let mut requests = containers().flat_map(|one| one.resources.requests.iter());
        requests.any(|(name, amount)| {
            name == resource && amount.quantity().is_none_or(|amount| amount > Quantity::ZERO)
        })
    };
    let mut names =
        containers().flat_map(|one| one.resources.requests.iter()).map(|(name, _)| name);
    if (asks_for(resource::NVIDIA_GPU) || asks_for(resource::AMD_GPU))
        && let Some(instances) = names.find(|name| name.starts_with(resource::MIG_PREFIX))
    {
        return Some(format!(
            "containers have limits of whole GPUs and of {instances}: a pod has whole GPUs or MIG instances; remove one \
             of them"
        ));
    }
    let value = |key: &str| annotations.value(key);
    // The API server has requests and limits of extended resources equal.
    let shared = match shared_gpu::read(value, asks_for(resource::NVIDIA_GPU)) {
        Ok(shared) => shared?,
        Err(invalid) => return Some(invalid.to_string()),
    };
    if is_sharing_off {
        return Some(String::from(SHARING_OFF));
    }
    if asks_for(resource::AMD_GPU) {
        let share = match shared.share {
            shared_gpu::Share::Fraction(_) => annotation::GPU_FRACTION,
            shared_gpu::Share::MemoryMib(_) => annotation::GPU_MEMORY,
        };
        return Some(format!(
            "annotation {share} asks for a share of a GPU, and a container has the limit {}: a pod has either; remove \
             one of them",
            resource::AMD_GPU
        ));
    }
    if let (Some(_), Err(unknown)) =
        (annotations.value(annotation::GPU_FRACTION_CONTAINER), target(annotations, asking))
    {
        return Some(unknown.to_string());
    }
    prepared(annotations).is_none().then(|| String::from(NOT_PREPARED))
}

/// The name under which admission announced the config maps of a pod that shares GPUs; what can be no name is none.
fn prepared<'p>(annotations: &'p Pairs<'_>) -> Option<&'p str> {
    let prefix = annotations.value(annotation::SHARED_GPU_CONFIG_MAP);
    prefix.filter(|prefix| shared_gpu::is_map_prefix(prefix))
}

fn target(
    annotations: &Pairs<'_>,
    asking: &Asking<'_, '_>,
) -> Result<Target, shared_gpu::UnknownContainer> {
    let named = annotations.value(annotation::GPU_FRACTION_CONTAINER);
    let init = asking.init_containers.iter().map(|container| &*container.name);
    let regular = asking.containers.iter().map(|container| &*container.name);
    shared_gpu::target(named, init, regular)
}

/// The config maps that tell a pod the GPUs that it shares; none where admission has not prepared it.
///
/// # Source
/// docs/contract.md 3.3, 4.7.
pub(in crate::ingest) fn maps(annotations: &Pairs<'_>, asking: &Asking<'_, '_>) -> Option<Maps> {
    let prefix = Box::from(prepared(annotations)?);
    let target = target(annotations, asking).ok()?;
    let containers = if target.is_init { asking.init_containers } else { asking.containers };
    let mut variables = containers.get(target.index).into_iter().flat_map(|one| &one.env);
    let devices_by_key = variables.any(|variable| {
        let source = variable.value_from.as_ref();
        &*variable.name == env::VISIBLE_DEVICES
            && source.is_some_and(|source| source.config_map_ref.is_some())
    });
    Some(Maps { prefix, target, devices_by_key })
}

/// A fraction in (0, 1] as millionths, rounded up so that nothing is given away.
fn fraction_micro(text: &str) -> Option<u32> {
    let nano = Quantity::from_str(text).ok()?.nano();
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+.eE-".contains(&byte));
    let in_range = is_number && nano > 0 && nano <= 1_000_000_000;
    in_range.then(|| u32::try_from((nano + 999) / 1000).ok())?
}

fn mig_annotations(context: &mut Context, annotations: &Pairs<'_>) -> Vec<(Lane, u32)> {
    let mut instances = Vec::new();
    for (key, text) in annotations.iter() {
        if !key.starts_with(annotation::MIG_PREFIX) {
            continue;
        }
        if let Ok(count) = text.parse::<u32>()
            && count > 0
        {
            let count = instance_count(i64::from(count));
            // One that is not counted is as good as any other: no node takes such a pod.
            instances.push((context.pod_lane(key).unwrap_or(Lane::GPU), count));
        }
    }
    instances.sort_unstable();
    instances
}
