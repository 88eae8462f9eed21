//! Reading objects of built-in kinds from protobuf, which kubectl's typed commands (`create namespace`,
//! `create token`, `auth can-i`, ...) send. Answers are JSON, which they accept.
//!
//! # Source
//!
//! The envelope of k8s.io/apimachinery's protobuf serializer and the field numbers of `sandbox/types`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::object;
use super::refusal::{ApiResult, Refusal};
use super::schema::definitions::{self, Definition, Field, TYPES};

/// The media type.
pub(crate) const MEDIA: &str = "application/vnd.kubernetes.protobuf";

/// Messages nest no deeper than this; the deepest of the API are half as deep.
const DEPTH_MAX: u32 = 64;

/// The object in an envelope, as JSON.
pub(crate) fn decode(bytes: &[u8]) -> ApiResult<Value> {
    let bad =
        |why: &str| Refusal::bad_request(format!("failed to read the body as protobuf: {why}"));
    let body = bytes.strip_prefix(b"k8s\0").ok_or_else(|| bad("it has no k8s envelope"))?;
    let envelope = parse(body).ok_or_else(|| bad("the envelope is cut off"))?;
    let part = |number: u32| {
        envelope.iter().find_map(|(found, wire)| match wire {
            Wire::Bytes(bytes) if *found == number => Some(*bytes),
            Wire::Bytes(_) | Wire::Number(_) => None,
        })
    };
    let meta = part(1).and_then(parse).ok_or_else(|| bad("the envelope names no type"))?;
    let text = |number: u32| {
        let found = meta.iter().find_map(|(at, wire)| match wire {
            Wire::Bytes(bytes) if *at == number => std::str::from_utf8(bytes).ok(),
            Wire::Bytes(_) | Wire::Number(_) => None,
        });
        found.unwrap_or_default()
    };
    let (api_version, kind) = (text(1), text(2));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let definition = definitions::of_kind(group, version, kind)
        .ok_or_else(|| bad(&format!("the type {api_version} {kind} is not known")))?;
    let raw = part(2).unwrap_or_default();
    let mut value = message(raw, definition, 0)
        .ok_or_else(|| bad(&format!("the {kind} is cut off or not of that type")))?;
    value["apiVersion"] = json!(api_version);
    value["kind"] = json!(kind);
    object::metadata_mut(&mut value);
    Ok(value)
}

/// One field on the wire.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn parse(mut bytes: &[u8]) -> Option<Vec<(u32, Wire<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let number = u32::try_from(tag >> 3).ok()?;
        let wire = match tag & 7 {
            0 => Wire::Number(varint(&mut bytes)?),
            1 => Wire::Number(u64::from_le_bytes(take(&mut bytes, 8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Wire::Bytes(take(&mut bytes, length)?)
            }
            5 => Wire::Number(u64::from(u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?))),
            _ => return None,
        };
        fields.push((number, wire));
    }
    Some(fields)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(head)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn message(bytes: &[u8], definition: &'static Definition, depth: u32) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    let wires = parse(bytes)?;
    let mut fields = Map::new();
    for field in &definition.fields {
        let value = match field.numbers.as_slice() {
            [number] => read(field, &of(&wires, *number), depth)?,
            [outer, inner] => {
                let Some(Wire::Bytes(bytes)) = of(&wires, *outer).first().copied() else {
                    continue;
                };
                let embedded = parse(bytes)?;
                read(field, &of(&embedded, *inner), depth)?
            }
            _ => Value::Null,
        };
        if is_kept(field, &value) {
            fields.insert(field.name.to_owned(), value);
        }
    }
    Some(Value::Object(fields))
}

fn of<'a, 'b>(wires: &'a [(u32, Wire<'b>)], number: u32) -> Vec<&'a Wire<'b>> {
    wires.iter().filter(|(found, _)| *found == number).map(|(_, wire)| wire).collect()
}

/// The value of a field from all its occurrences; null when there is none.
fn read(field: &Field, wires: &[&Wire<'_>], depth: u32) -> Option<Value> {
    if wires.is_empty() {
        return Some(Value::Null);
    }
    if let Some(item) = field.shape.strip_prefix("[]") {
        let items: Option<Vec<Value>> = wires.iter().map(|wire| one(item, wire, depth)).collect();
        return Some(Value::Array(items?));
    }
    if let Some(item) = field.shape.strip_prefix("map:") {
        return Some(Value::Object(map(item, wires, depth)?));
    }
    one(field.shape, wires.last()?, depth)
}

/// Go writes zero values that its JSON leaves out; only those behind a pointer mean something.
fn is_kept(field: &Field, value: &Value) -> bool {
    let zero = match value {
        Value::Null => return false,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    };
    !zero || field.pointer
}

fn map(item: &str, wires: &[&Wire<'_>], depth: u32) -> Option<Map<String, Value>> {
    let mut entries = Map::new();
    for wire in wires {
        let Wire::Bytes(bytes) = wire else { return None };
        let entry = parse(bytes)?;
        let key = match of(&entry, 1).first() {
            Some(Wire::Bytes(key)) => std::str::from_utf8(key).ok()?.to_owned(),
            Some(Wire::Number(_)) | None => String::new(),
        };
        let value = match of(&entry, 2).first() {
            Some(wire) => one(item, wire, depth)?,
            None => json!(""),
        };
        entries.insert(key, value);
    }
    Some(entries)
}

/// One value of a shape. Signed numbers are two's complement in the varint.
#[expect(clippy::cast_possible_wrap, reason = "protobuf's own encoding of negative numbers")]
fn one(shape: &str, wire: &Wire<'_>, depth: u32) -> Option<Value> {
    Some(match (shape, wire) {
        ("bool", Wire::Number(number)) => json!(*number != 0),
        ("int32" | "int64", Wire::Number(number)) => json!(*number as i64),
        ("double", Wire::Number(number)) => json!(f64::from_bits(*number)),
        ("string", Wire::Bytes(bytes)) => json!(std::str::from_utf8(bytes).ok()?),
        ("bytes", Wire::Bytes(bytes)) => json!(STANDARD.encode(bytes)),
        (
            "quantity" | "raw" | "fields" | "time" | "microtime" | "int-or-string",
            Wire::Bytes(bytes),
        ) => special(shape, bytes)?,
        (list, Wire::Bytes(bytes)) if list.starts_with("[]") => {
            // A list as the value of a map is a message with the items in field 1.
            let inner = parse(bytes)?;
            let items: Option<Vec<Value>> =
                of(&inner, 1).into_iter().map(|wire| one(&list[2..], wire, depth)).collect();
            Value::Array(items?)
        }
        (name, Wire::Bytes(bytes)) => message(bytes, TYPES.get(name)?, depth + 1)?,
        (_, Wire::Number(_)) => return None,
    })
}

#[expect(clippy::cast_possible_wrap, reason = "protobuf's own encoding of negative numbers")]
fn special(shape: &str, bytes: &[u8]) -> Option<Value> {
    let fields = parse(bytes)?;
    let number = |at: u32| match of(&fields, at).first() {
        Some(Wire::Number(number)) => *number as i64,
        Some(Wire::Bytes(_)) | None => 0,
    };
    let data = |at: u32| match of(&fields, at).first() {
        Some(Wire::Bytes(bytes)) => *bytes,
        Some(Wire::Number(_)) | None => &[][..],
    };
    Some(match shape {
        "quantity" => json!(std::str::from_utf8(data(1)).ok()?),
        "raw" | "fields" => serde_json::from_slice(data(1)).ok()?,
        "int-or-string" if number(1) == 0 => json!(number(2)),
        "int-or-string" => json!(std::str::from_utf8(data(3)).ok()?),
        _ if fields.is_empty() => Value::Null,
        _ => {
            let at = Timestamp::new(number(1), i32::try_from(number(2)).ok()?).ok()?;
            json!(if shape == "time" { object::time_text(at) } else { object::micro_time_text(at) })
        }
    })
}
