//! The GPUs that a pod asks for: whole, a part, memory, MIG instances.

use std::str::FromStr;

use kai_api::{
    names::{annotation, resource},
    quantity::Quantity,
};
use kai_engine::{GPU_MILLI, GpuRequest, Lane, Resources};

use super::Ingest;
use crate::wire::Pairs;

/// More devices than this are on no node.
const DEVICES_MAX: u16 = 1024;

/// Source: spec/scheduling.md 2.2, the table of GPU requirements.
pub(super) fn gpu_request(
    ingest: &mut Ingest,
    annotations: &Pairs<'_>,
    whole: &Resources,
) -> GpuRequest {
    let legacy = mig_annotations(ingest, annotations);
    if !legacy.is_empty() {
        return GpuRequest::LegacyMig(legacy);
    }
    let mut instances = Vec::new();
    for (lane, amount) in whole.iter() {
        if ingest.names.lane_name(lane).starts_with(resource::MIG_PREFIX) && amount > 0 {
            instances.push((lane, u32::try_from(amount).unwrap_or(u32::MAX)));
        }
    }
    if !instances.is_empty() {
        return GpuRequest::Mig(instances);
    }
    let devices = annotations.value(annotation::GPU_FRACTION_DEVICES);
    let devices = devices.and_then(|text| text.parse::<u16>().ok()).filter(|count| *count > 0);
    let devices = devices.unwrap_or(1).min(DEVICES_MAX);
    if let Some(micro) = annotations.value(annotation::GPU_FRACTION).and_then(fraction_micro) {
        return GpuRequest::Fraction { micro, devices };
    }
    let memory = annotations.value(annotation::GPU_MEMORY).and_then(|text| text.parse().ok());
    if let Some(mib) = memory.filter(|mib: &u32| *mib > 0) {
        return GpuRequest::Memory { mib, devices };
    }
    match whole.amount(Lane::GPU) {
        0 => GpuRequest::None,
        milli => GpuRequest::Whole(u16::try_from(milli / GPU_MILLI).unwrap_or(u16::MAX)),
    }
}

/// A fraction in (0, 1] as millionths, rounded up so that nothing is given away.
fn fraction_micro(text: &str) -> Option<u32> {
    let nano = Quantity::from_str(text).ok()?.nano();
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+.eE-".contains(&byte));
    let in_range = is_number && nano > 0 && nano <= 1_000_000_000;
    in_range.then(|| u32::try_from((nano + 999) / 1000).ok())?
}

fn mig_annotations(ingest: &mut Ingest, annotations: &Pairs<'_>) -> Vec<(Lane, u32)> {
    let mut instances = Vec::new();
    for (key, text) in annotations.iter() {
        if !key.starts_with(annotation::MIG_PREFIX) {
            continue;
        }
        if let Ok(count) = text.parse::<u32>() {
            instances.push((ingest.lane(key), count));
        }
    }
    instances.sort_unstable();
    instances
}
