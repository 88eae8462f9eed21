//! Writing: objects as they come, one at a time, into the container. Source: docs/contract.md 8.2, 8.3.

use std::{
    collections::BTreeMap,
    io::{self, BufWriter, Write},
};

use flate2::{Compression, write::DeflateEncoder};
use kai_engine::Timestamp;
use rawzip::{CompressionMethod, ZipArchiveWriter, time::UtcDateTime};
use serde_json::Value;

use super::{
    arrays::{ARRAYS, Array},
    container::ENTRY,
    strip::strip,
};

/// Holds what a file begins with.
#[derive(Clone, Debug)]
pub struct Header {
    /// When it is taken.
    pub taken: Timestamp,
    /// [`super::configuration()`].
    pub config: Value,
    /// [`super::parameters()`].
    pub params: Value,
    /// `serverVersion` and `resources`, where they are known.
    pub discovery: Option<Value>,
}

/// Says what comes then, in this order: each array at most once, followed by its objects.
#[derive(Clone, Debug)]
pub enum Part {
    /// Says that what follows is of this array.
    Array(&'static Array),
    /// An object, as the API has it.
    Object(Value),
    /// Something that could not be read: a sentence.
    LeftOut(String),
    /// For how many seconds the work of a `PodGroup`, by namespace and name, may run at most.
    RunTime(String, i64),
}

/// Says why nothing can be written.
#[derive(thiserror::Error, Debug)]
pub enum WriteError {
    /// The output fails.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The container cannot be written.
    #[error("{0}")]
    Zip(#[from] rawzip::Error),
    /// Parts do not come as they should.
    #[error("{0}")]
    Order(String),
}

/// Writes a snapshot; how many objects each array has comes back.
///
/// What no decision depends on, and what nobody should find in such a file, is left out: managed fields, copies of
/// manifests, images, commands, probes and environment. Arrays that nothing is said of are empty ones.
///
/// # Cost
/// Memory for one object, whatever comes.
///
/// # Errors
/// [`WriteError`]; what was written until then is no snapshot.
pub fn write(
    output: impl Write,
    header: &Header,
    parts: impl IntoIterator<Item = Part>,
) -> Result<BTreeMap<&'static str, usize>, WriteError> {
    let mut archive = ZipArchiveWriter::new(BufWriter::new(output));
    let (mut entry, config) = archive
        .new_file(ENTRY)
        .compression_method(CompressionMethod::DEFLATE)
        .last_modified(UtcDateTime::from_unix(header.taken.0.div_euclid(1000)))
        .start()?;
    let packed = DeflateEncoder::new(&mut entry, Compression::default());
    let mut json = BufWriter::new(config.wrap(packed));
    let counts = whole(&mut json, header, parts)?;
    let (packed, sums) = json.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    packed.finish()?;
    entry.finish(sums)?;
    archive.finish()?.flush()?;
    Ok(counts)
}

fn whole(
    json: &mut impl Write,
    header: &Header,
    parts: impl IntoIterator<Item = Part>,
) -> Result<BTreeMap<&'static str, usize>, WriteError> {
    write!(json, "{{\"config\":{},\"schedulerParams\":{}", header.config, header.params)?;
    if let Some(discovery) = &header.discovery {
        write!(json, ",\"discovery\":{discovery}")?;
    }
    write!(json, ",\"rawObjects\":{{")?;
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut left_out = Vec::new();
    let mut run_times: BTreeMap<String, i64> = BTreeMap::new();
    let mut current: Option<&'static Array> = None;
    for part in parts {
        match part {
            Part::LeftOut(what) => left_out.push(what),
            Part::RunTime(group, seconds) => drop(run_times.insert(group, seconds)),
            Part::Array(array) => {
                if counts.contains_key(array.key) {
                    return Err(WriteError::Order(format!("{} comes twice", array.key)));
                }
                open(json, array, current.is_some())?;
                counts.insert(array.key, 0);
                current = Some(array);
            }
            Part::Object(object) => {
                let array = current
                    .ok_or_else(|| WriteError::Order(String::from("an object of no array")))?;
                let count = counts.entry(array.key).or_default();
                if *count > 0 {
                    json.write_all(b",")?;
                }
                *count += 1;
                serde_json::to_writer(&mut *json, &strip(array, object))
                    .map_err(io::Error::from)?;
            }
        }
    }
    let missing = ARRAYS.iter().filter(|array| !counts.contains_key(array.key));
    for array in missing.collect::<Vec<_>>() {
        open(json, array, current.is_some())?;
        current = Some(array);
        counts.insert(array.key, 0);
    }
    json.write_all(b"]}")?;
    if !left_out.is_empty() {
        write!(json, ",\"leftOut\":{}", serde_json::json!(left_out))?;
    }
    if !run_times.is_empty() {
        write!(json, ",\"runTimes\":{}", serde_json::json!(run_times))?;
    }
    json.write_all(b"}")?;
    Ok(counts)
}

/// Ends the array before, where there is one, and begins the next.
fn open(json: &mut impl Write, array: &Array, is_next: bool) -> io::Result<()> {
    let before = if is_next { "]," } else { "" };
    write!(json, "{before}\"{}\":[", array.key)
}
