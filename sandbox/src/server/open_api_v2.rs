//! `/openapi/v2` as protobuf: which kinds there are. kubectl reads it before it sends a `List`.
//!
//! The document has no fields of the kinds, so that kubectl checks nothing by it: the server checks each object of the
//! list when it comes.
//!
//! # Source
//!
//! The field numbers of `openapiv2/OpenAPIv2.proto` of github.com/google/gnostic-models.

use super::kinds::Kinds;

/// The media type of the answer: the one that kubectl asks for has an `@` that a media type may not have.
pub(crate) const MEDIA: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Writes the document.
pub(crate) fn document(kinds: &Kinds) -> Vec<u8> {
    let info = [text(1, "Kubernetes"), text(2, "v1.36.0+kai-sandbox")].concat();
    let each = kinds.iter().flat_map(|kind| {
        kind.versions.iter().map(move |version| (&kind.group, &version.name, &kind.kind))
    });
    let definitions: Vec<u8> =
        each.flat_map(|(group, version, kind)| definition(group, version, kind)).collect();
    let parts = [text(1, "2.0"), field(2, &info), field(8, &[]), field(9, &definitions)];
    parts.concat()
}

/// A named schema of any object: of this kind.
fn definition(group: &str, version: &str, kind: &str) -> Vec<u8> {
    let names = format!("- group: \"{group}\"\n  kind: {kind}\n  version: {version}\n");
    let any = text(2, &names);
    let extension = [text(1, "x-kubernetes-group-version-kind"), field(2, &any)].concat();
    let schema = [field(22, &text(1, "object")), field(31, &extension)].concat();
    let name = format!("{group}.{version}.{kind}");
    field(1, &[text(1, &name), field(2, &schema)].concat())
}

fn text(number: u8, text: &str) -> Vec<u8> {
    field(number, text.as_bytes())
}

/// A field of bytes, behind its number and its length.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    const BYTES: usize = 2;
    let mut out = varint(usize::from(number) << 3 | BYTES);
    out.extend(varint(bytes.len()));
    out.extend_from_slice(bytes);
    out
}

/// A number, seven bits a byte.
fn varint(mut number: usize) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        if number == 0 {
            out.push(low);
            return out;
        }
        out.push(low | 0x80);
    }
}
