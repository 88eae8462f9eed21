//! Decodes answers of the API server: objects without what nobody reads of them, and lists page by page.
//!
//! `metadata.managedFields` is a third to a half of most objects. It is stepped over, so that it costs no memory. So is what
//! is nested deeper than anybody looks: whoever makes an object with 128 levels would hide all others of a list. Of one with
//! very many fields beside its metadata these alone are kept.

mod entries;

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use http::{Request, header};
use kube::client::Body;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::{Map, Value};
use smallvec::SmallVec;

use super::{Call, Select, escape, get};
use entries::{Counts, Entries, Names, cut};
pub(super) use entries::{ENTRIES_MAX, named};

/// The form of a list of which only the metadata is sent.
const METADATA_LIST: header::HeaderValue = header::HeaderValue::from_static(
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
);
/// Objects of the first page: most lists are no longer, and it is soon there over a slow link.
pub(super) const PAGE: usize = 500;
/// Objects of any page. Each is larger than the one before, since a server looks through what it skips for each of them.
pub(super) const PAGE_MAX: usize = 4000;

/// The page of a list that is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'w> {
    /// The token of the page; empty for the first.
    pub(super) next: &'w str,
    /// Of each object its metadata alone.
    pub(super) metadata_only: bool,
    /// At most so many objects.
    pub(super) objects: usize,
}

/// Makes the request for a page of a list.
pub(super) fn request(call: &Call<'_>, select: &Select<'_>, wanted: &Wanted<'_>) -> Request<Body> {
    let Wanted { next, metadata_only, objects } = *wanted;
    let mut path = format!("{}?limit={objects}", call.path());
    for (key, value) in
        [("labelSelector", select.labels), ("fieldSelector", select.fields), ("continue", next)]
    {
        if !value.is_empty() {
            path += &format!("&{key}={}", escape(value));
        }
    }
    let mut request = get(&path);
    if metadata_only {
        request.headers_mut().insert(header::ACCEPT, METADATA_LIST);
    }
    request
}

/// A page of a list.
#[derive(Debug, Default)]
pub(super) struct Page {
    token: String,
    items: Vec<Value>,
    /// The names of those that are not whole, for more than [`ENTRIES_MAX`] entries.
    cut: Vec<String>,
}

/// Says how much of each object is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// All but who manages which field.
    Whole,
    /// Also without what no list reads: [`UNREAD`], [`UNREAD_METADATA`], and the copy of an object that `kubectl apply`
    /// leaves in it, [`LAST_APPLIED`].
    Outline,
    /// Also without what no row of a table is made from: [`UNREAD_ROW`], and the labels of pod templates.
    Row,
}

/// Fields of objects, of pods and of their containers that no table, state or sum is made from.
const UNREAD: [&str; 44] = [
    "affinity",
    "args",
    "backoffLimit",
    "command",
    "completionMode",
    "containerID",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "hostAliases",
    "hostIP",
    "hostIPs",
    "imageID",
    "imagePullPolicy",
    "imagePullSecrets",
    "lastProbeTime",
    "lifecycle",
    "livenessProbe",
    "manualSelector",
    "nodePool",
    "observedGeneration",
    "podIPs",
    "podReplacementPolicy",
    "preemptionPolicy",
    "qosClass",
    "readinessGates",
    "readinessProbe",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "startTime",
    "started",
    "startupProbe",
    "terminationGracePeriodSeconds",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tolerations",
    "topologySpreadConstraints",
    "transitionID",
    "uncountedTerminatedPods",
    "volumeDevices",
    "volumeMounts",
    "volumes",
    "workingDir",
];

/// Fields that only the details of an object, its JSON or its devices tell.
const UNREAD_ROW: [&str; 5] = ["env", "envFrom", "image", "schedulerName", "selector"];

/// The same of metadata, with what the owners of objects say of deletion.
const UNREAD_ROW_METADATA: [&str; 2] = ["blockOwnerDeletion", "resourceVersion"];

/// Fields of metadata that no table, state or sum is made from.
const UNREAD_METADATA: [&str; 4] = ["finalizers", "generateName", "generation", "selfLink"];

/// Levels of objects and arrays that are kept of a list, or of an object that is watched. The decoder gives up at 128, and
/// takes any number of those that are stepped over.
const DEPTH_MAX: usize = 100;

/// The annotation that holds the object as it was applied. Half of its characters are escapes, which cost to read.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    #[serde(rename = "continue")]
    token: Option<String>,
}

impl Page {
    /// Decodes a page.
    pub(super) fn decode(bytes: &[u8], detail: Detail) -> Result<Self, serde_json::Error> {
        decode(bytes, PageOf(detail))
    }

    /// Returns the token of the page after it; empty where it is the last one.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the names of the objects of which it does not have all, for their number of entries.
    pub(super) fn cut(&self) -> &[String] {
        &self.cut
    }

    /// Returns its objects.
    pub(super) fn items(self) -> impl Iterator<Item = Value> {
        self.items.into_iter()
    }
}

/// Returns the token of the page after this one from its head, which API servers write before the objects: the next page
/// can be asked for before this one is decoded. None where the head does not tell.
pub(super) fn token(bytes: &[u8]) -> Option<String> {
    const ITEMS: &[u8] = b",\"items\":";
    const HEAD_MAX: usize = 4096;
    let head = &bytes[..bytes.len().min(HEAD_MAX)];
    let end = head.windows(ITEMS.len()).position(|window| window == ITEMS)?;
    let head = [&head[..end], b"}"].concat();
    Some(Page::decode(&head, Detail::Whole).ok()?.token)
}

/// Decodes what an API server answered. That its text is UTF-8 is checked for all of it at once, which costs a tenth of
/// what it costs for each of its strings.
fn decode<'de, S: DeserializeSeed<'de>>(
    bytes: &'de [u8],
    what: S,
) -> Result<S::Value, serde_json::Error> {
    fn whole<'de, R: serde_json::de::Read<'de>, S: DeserializeSeed<'de>>(
        mut from: serde_json::Deserializer<R>,
        what: S,
    ) -> Result<S::Value, serde_json::Error> {
        let value = what.deserialize(&mut from)?;
        from.end().map(|()| value)
    }
    match str::from_utf8(bytes) {
        Ok(text) => whole(serde_json::Deserializer::from_str(text), what),
        // The error says where, as of any other fault of the text.
        Err(_) => whole(serde_json::Deserializer::from_slice(bytes), what),
    }
}

/// Decodes an object.
///
/// # Errors
/// It is none, or nested too deep: it may be read to be written, so nothing that a user wrote is left out of it.
pub(super) fn object(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    object_in(bytes, Detail::Whole)
}

/// Decodes so much of an object.
///
/// # Errors
/// As [`object`].
pub(super) fn object_in(bytes: &[u8], detail: Detail) -> Result<Value, serde_json::Error> {
    let within = Within::Fields(detail);
    decode(bytes, Place { within, levels_left: usize::MAX, entries: Entries::All })
}

/// Decodes a list as one value, without what is nested too deep in its objects; beside it the names of those that have too
/// many entries to be there whole.
pub(super) fn list(bytes: &[u8]) -> Result<(Value, Vec<String>), serde_json::Error> {
    let names = Names::default();
    let list = decode(bytes, Place::among_others(Detail::Whole, Entries::OfList(&names)))?;
    Ok((list, names.into_inner()))
}

/// Reads an object that is watched from any form, without what is nested too deep in it; where it has too many entries not
/// all of them, and its name beside it.
pub(super) fn value<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<(Value, Option<String>), D::Error> {
    let counts = Counts::default();
    let place = Place::among_others(Detail::Whole, Entries::Object(&counts));
    let mut object = place.deserialize(from)?;
    let name = cut(&mut object, &counts);
    Ok((object, name))
}

/// A key, which is copied only where it is kept.
#[derive(Deserialize)]
struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

/// Reads a page, and so much of each object.
struct PageOf(Detail);

impl<'de> DeserializeSeed<'de> for PageOf {
    type Value = Page;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Page, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PageOf {
    type Value = Page;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Page, A::Error> {
        let mut page = Page::default();
        while let Some(key) = access.next_key::<Key<'de>>()? {
            match &*key.0 {
                "metadata" => {
                    let head: Option<Head> = access.next_value()?;
                    page.token = head.and_then(|head| head.token).unwrap_or_default();
                }
                "items" => {
                    let names = Names::default();
                    let place = Place::among_others(self.0, Entries::OfEach(&names));
                    match access.next_value_seed(place)? {
                        Value::Array(items) => page.items = items,
                        Value::Null => {}
                        _ => return Err(de::Error::custom("the items of a list are no list")),
                    }
                    page.cut = names.into_inner();
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(page)
    }
}

/// Says where a value stands.
#[derive(Clone, Copy)]
enum Within {
    /// Among fields that the API knows.
    Fields(Detail),
    /// In a field `metadata`.
    Metadata(Detail),
    /// Among the fields of a pod template.
    Template(Detail),
    /// In the metadata of a pod template.
    TemplateMetadata(Detail),
    /// In a map whose keys users choose, such as labels.
    Map(Detail),
}

/// Keys by their length: nearly every key of an answer is looked up, and few have both the length and the first letter of
/// one that is known.
struct Keys(Vec<Vec<&'static str>>);

static OUTLINE: LazyLock<Keys> = LazyLock::new(|| Keys::new(&[&UNREAD]));
static ROW: LazyLock<Keys> = LazyLock::new(|| Keys::new(&[&UNREAD, &UNREAD_ROW]));
static METADATA: LazyLock<Keys> = LazyLock::new(|| Keys::new(&[&UNREAD_METADATA]));
static METADATA_ROW: LazyLock<Keys> =
    LazyLock::new(|| Keys::new(&[&UNREAD_METADATA, &UNREAD_ROW_METADATA]));

impl Keys {
    fn new(lists: &[&[&'static str]]) -> Self {
        let mut keys = Vec::new();
        for key in lists.iter().copied().flatten() {
            keys.resize_with(keys.len().max(key.len() + 1), Vec::new);
            keys[key.len()].push(*key);
        }
        Self(keys)
    }

    fn has(&self, key: &str) -> bool {
        let first = key.as_bytes().first();
        let alike = self.0.get(key.len()).into_iter().flatten();
        alike.into_iter().any(|known| known.as_bytes().first() == first && *known == key)
    }
}

impl Within {
    /// Tells whether a field here is stepped over.
    fn leaves_out(self, key: &str) -> bool {
        match self {
            Self::Fields(Detail::Outline) | Self::Template(Detail::Outline) => OUTLINE.has(key),
            Self::Fields(Detail::Row) | Self::Template(Detail::Row) => ROW.has(key),
            Self::Metadata(detail) | Self::TemplateMetadata(detail) => {
                let is_template = matches!(self, Self::TemplateMetadata(_));
                key == "managedFields"
                    || match detail {
                        Detail::Whole => false,
                        Detail::Outline => METADATA.has(key),
                        Detail::Row => METADATA_ROW.has(key) || is_template && key == "labels",
                    }
            }
            Self::Map(Detail::Outline | Detail::Row) => key == LAST_APPLIED,
            Self::Fields(Detail::Whole)
            | Self::Template(Detail::Whole)
            | Self::Map(Detail::Whole) => false,
        }
    }

    /// Says where the value of a field stands.
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Fields(detail), "metadata") => Self::Metadata(detail),
            (Self::Template(detail), "metadata") => Self::TemplateMetadata(detail),
            // Owners are told apart by fields that the API knows.
            (Self::Metadata(Detail::Row), "ownerReferences") => self,
            (Self::Map(detail) | Self::Metadata(detail) | Self::TemplateMetadata(detail), _)
            | (
                Self::Fields(detail) | Self::Template(detail),
                "labels" | "annotations" | "matchLabels" | "nodeSelector",
            ) => Self::Map(detail),
            (Self::Fields(detail) | Self::Template(detail), "template") => Self::Template(detail),
            (Self::Fields(detail) | Self::Template(detail), _) => Self::Fields(detail),
        }
    }
}

/// Says where a value stands, how deep it may be, and how much of it is kept.
#[derive(Clone, Copy)]
struct Place<'e> {
    within: Within,
    /// Levels of objects and arrays that are kept from here on; in one that is deeper everything is stepped over.
    levels_left: usize,
    entries: Entries<'e>,
}

impl<'e> Place<'e> {
    /// The place of what must not hide what stands beside it.
    fn among_others(detail: Detail, entries: Entries<'e>) -> Self {
        Self { within: Within::Fields(detail), levels_left: DEPTH_MAX, entries }
    }

    /// The place of a value in an object or array that stands here.
    fn inside(self, within: Within, entries: Entries<'e>) -> Self {
        Self { within, levels_left: self.levels_left.saturating_sub(1), entries }
    }

    /// Reads the objects of a list that stands here.
    fn objects<'de, A: SeqAccess<'de>>(
        self,
        mut access: A,
        names: &Names,
    ) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        loop {
            let counts = Counts::default();
            let place = self.inside(self.within, Entries::Object(&counts));
            let Some(mut object) = access.next_element_seed(place)? else {
                return Ok(Value::Array(all));
            };
            names.borrow_mut().extend(cut(&mut object, &counts));
            all.push(object);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if let Entries::OfEach(names) = self.entries {
            return self.objects(access, names);
        }
        let mut all = SmallVec::<[Value; 4]>::new();
        let place = self.inside(self.within, self.entries.below(""));
        loop {
            if self.levels_left == 0 || !self.entries.keeps("") {
                while access.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            let Some(one) = access.next_element_seed(place)? else { break };
            all.push(one);
        }
        Ok(Value::Array(all.into_iter().collect()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        // A map of the right size takes no more memory than it needs, and is not moved as it grows.
        let mut fields = SmallVec::<[(String, Value); 16]>::new();
        while let Some(key) = access.next_key::<Key<'de>>()? {
            let is_left_out = self.levels_left == 0 || self.within.leaves_out(&key.0);
            if is_left_out || !self.entries.keeps(&key.0) {
                access.next_value::<IgnoredAny>()?;
                continue;
            }
            let place = self.inside(self.within.below(&key.0), self.entries.below(&key.0));
            let value = access.next_value_seed(place)?;
            fields.push((key.0.into_owned(), value));
        }
        let mut map = Map::with_capacity(fields.len());
        map.extend(fields);
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_manages_which_field_is_left_out_and_nothing_else() {
        let text = |metadata: Value| {
            json!({"kind": "Job", "metadata": metadata, "spec": {
                "managedFields": [1, -2, 0.5, null, true, "x\"\n\u{1f600}"],
                "template": {"metadata": {"labels": {"managedFields": "kept"}}}}})
        };
        let managed = json!({"name": "a", "managedFields": [{"f:spec": {}}], "uid": "u"});
        let own = json!({"name": "a", "uid": "u"});
        let decoded = object(text(managed).to_string().as_bytes()).expect("it is JSON");
        assert_eq!(decoded.to_string(), text(own).to_string());
        assert!(object(b"{\"metadata\": {").is_err());
    }

    #[test]
    fn an_outline_lacks_what_only_nodes_read_and_keeps_what_users_name() {
        let page = json!({"items": [{
            "metadata": {"labels": {"env": "prod"}, "resourceVersion": "7", "annotations": {"command": "kept", (LAST_APPLIED): "{}"}},
            "spec": {"selector": {"matchLabels": {"env": "prod"}}, "nodeSelector": {"args": "kept"},
                "volumes": [{"name": "v"}], "template": {"metadata": {"labels": {"env": "prod"}},
                "spec": {"containers": [{"name": "c", "args": ["a"], "resources": {}}]}}}}]});
        let whole = page["items"][0].clone();
        let mut outline = whole.clone();
        outline["spec"].as_object_mut().map(|spec| spec.shift_remove("volumes"));
        let annotations = &mut outline["metadata"]["annotations"];
        annotations.as_object_mut().map(|all| all.shift_remove(LAST_APPLIED));
        let container = &mut outline["spec"]["template"]["spec"]["containers"][0];
        container.as_object_mut().map(|fields| fields.shift_remove("args"));
        let mut row = outline.clone();
        row["spec"].as_object_mut().map(|spec| spec.shift_remove("selector"));
        row["metadata"].as_object_mut().map(|meta| meta.shift_remove("resourceVersion"));
        row["spec"]["template"]["metadata"] = json!({});
        let text = page.to_string();
        let each = [(Detail::Whole, whole), (Detail::Outline, outline), (Detail::Row, row)];
        for (detail, expect) in each {
            let decoded = Page::decode(text.as_bytes(), detail).expect("it is a page");
            let items: Vec<Value> = decoded.items().collect();
            assert_eq!(items, [expect], "{detail:?}");
        }
    }

    /// Tells which objects there are beside one that is nested deep, in all ways in which many are read.
    fn check_deep(deep: &str) {
        let named =
            |name: &str, spec: &str| format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
        let (deep, plain) = (named("deep", deep), named("plain", r#"{"a":[[1]]}"#));
        let page = format!(r#"{{"items":[{deep},{plain}]}}"#);
        let names = |items: &[Value]| -> Vec<Value> {
            items.iter().map(|item| item["metadata"]["name"].clone()).collect()
        };
        for detail in [Detail::Whole, Detail::Outline, Detail::Row] {
            let decoded = Page::decode(page.as_bytes(), detail).expect("it is a page");
            let items: Vec<Value> = decoded.items().collect();
            assert_eq!(names(&items), ["deep", "plain"], "{detail:?}");
        }
        let (whole, _) = list(page.as_bytes()).expect("it is a list");
        assert_eq!(names(whole["items"].as_array().expect("a list has items")), ["deep", "plain"]);
        assert_eq!(whole["items"][1]["spec"], json!({"a": [[1]]}));
        let event = value(&mut serde_json::Deserializer::from_str(&deep));
        let (event, cut) = event.expect("it is an object");
        assert_eq!((&event["metadata"]["name"], cut), (&json!("deep"), None));
        // Whoever copies it would lose the rest of it without a word.
        assert!(object(deep.as_bytes()).is_err());
    }

    #[test]
    fn no_object_hides_others_however_deep_it_is() {
        let levels = 5_000;
        check_deep(&format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels)));
        check_deep(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    }

    /// Of an object with very many entries its metadata is kept, wherever that stands, and all of the others.
    #[test]
    fn no_object_is_a_tree_of_very_many_entries() {
        let ports = vec![json!({"a": 1}); ENTRIES_MAX];
        let large = json!({"kind": "Job", "spec": {"ports": ports}, "status": {"active": 1},
            "metadata": {"name": "large", "namespace": "ns", "labels": {"a": "b"}, "uid": "u"}});
        let plain = json!({"kind": "Job", "metadata": {"name": "plain"}, "spec": {"a": [[1]]}});
        let page = json!({"metadata": {"continue": "next"}, "items": [large, plain]}).to_string();
        let check = |items: &[Value], names: &[String]| {
            let meta = &items[0]["metadata"];
            assert_eq!((&meta["name"], &meta["uid"]), (&json!("large"), &json!("u")));
            assert_eq!(items[0].as_object().map(Map::len), Some(2), "{}", items[0]);
            assert_eq!(&items[1..], std::slice::from_ref(&plain));
            assert_eq!(names, ["ns/large"]);
        };
        for detail in [Detail::Whole, Detail::Outline] {
            let decoded = Page::decode(page.as_bytes(), detail).expect("it is a page");
            let names = decoded.cut().to_vec();
            assert_eq!(decoded.token(), "next");
            check(&decoded.items().collect::<Vec<_>>(), &names);
        }
        let (whole, names) = list(page.as_bytes()).expect("it is a list");
        check(whole["items"].as_array().expect("a list has items"), &names);
        assert_eq!(whole["metadata"]["continue"], "next");
        let event = value(&mut serde_json::Deserializer::from_str(&large.to_string()));
        let (event, name) = event.expect("it is an object");
        assert_eq!(event.as_object().map(Map::len), Some(2));
        assert_eq!(name.as_deref(), Some("ns/large"));
        // Whoever asks for one object has all of it.
        let one = object(large.to_string().as_bytes()).expect("it is an object");
        assert_eq!(one, large);
    }

    /// Whoever may label an object would hide what it is else from all who list it.
    #[test]
    fn no_labels_hide_the_rest_of_an_object() {
        let labels: Map<String, Value> =
            (0..=ENTRIES_MAX).map(|at| (format!("l{at}"), json!(""))).collect();
        let spec = json!({"queue": "q", "a": vec![1; ENTRIES_MAX / 2]});
        let metadata = json!({"labels": labels, "name": "a", "uid": "u"});
        let page = json!({"items": [{"metadata": metadata, "spec": spec}]}).to_string();
        let decoded = Page::decode(page.as_bytes(), Detail::Outline).expect("it is a page");
        assert_eq!(decoded.cut(), ["a"], "not all of its labels are there");
        let items: Vec<Value> = decoded.items().collect();
        let kept = &items[0]["metadata"];
        assert_eq!((&kept["name"], &kept["uid"]), (&json!("a"), &json!("u")));
        assert_eq!(kept["labels"].as_object().map(Map::len), Some(ENTRIES_MAX));
        assert_eq!(items[0]["spec"], spec);
    }

    /// The token that the head of a page tells, and the one that the whole page does.
    fn check(page: &str, head: Option<&str>, whole: &str) {
        assert_eq!(token(page.as_bytes()).as_deref(), head, "{page}");
        let decoded = Page::decode(page.as_bytes(), Detail::Whole).expect("it is a page");
        assert_eq!(decoded.token(), whole, "{page}");
    }

    #[test]
    fn the_next_page_is_known_before_a_page_is_decoded() {
        let list = r#"{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"abc"},"items":[{"metadata":{"continue":"no"}}]}"#;
        check(list, Some("abc"), "abc");
        check(r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#, Some(""), "");
        check(r#"{"metadata":{"continue":""},"items":null}"#, Some(""), "");
        // Fields in another order: only the whole tells.
        check(r#"{"items":[],"metadata":{"continue":"abc"}}"#, None, "abc");
        check(r#"{"metadata":{"continue":"abc"}, "items":[]}"#, None, "abc");
        check(r#"{"kind":"Status"}"#, None, "");
    }
}
