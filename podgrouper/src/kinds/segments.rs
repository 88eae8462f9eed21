//! Segments, as `PyTorchJobs` and `LeaderWorkerSets` share them.

use crate::desired::Topology;
use crate::facts::Stop;

/// More segments than this are refused.
pub(super) const SEGMENTS_MAX: i64 = 10_000;

/// Reads a segment size; an empty text is unset.
pub(super) fn size(text: Option<&str>, place: &str) -> Result<Option<i64>, Stop> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    text.parse::<i32>()
        .map(|size| Some(i64::from(size)))
        .map_err(|_| Stop::bad(format!("segment size {text:?} of {place} is not a whole number")))
}

/// Reads a pod's index out of a label.
pub(super) fn index(text: &str, key: &str) -> Result<i64, Stop> {
    let index = text
        .parse::<i32>()
        .map_err(|_| Stop::bad(format!("label {key} is {text:?}, want a whole number")))?;
    if index < 0 {
        return Err(Stop::bad(format!(
            "label {key} is {index}, which is not valid. It must be bigger than 0"
        )));
    }
    Ok(i64::from(index))
}

/// Refuses a number of segments beyond the limit.
pub(super) fn check_count(count: i64) -> Result<(), Stop> {
    if count > SEGMENTS_MAX {
        return Err(Stop::bad(format!(
            "{count} segments are greater than max allowed segmentation {SEGMENTS_MAX}"
        )));
    }
    Ok(())
}

/// The constraint of a segment, when it has a name and a level.
pub(super) fn constraint(
    name: Option<&str>,
    required: Option<&str>,
    preferred: Option<&str>,
) -> Option<Topology> {
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    let topology =
        Topology { name: text(name), required: text(required), preferred: text(preferred) };
    topology.is_complete().then_some(topology)
}
