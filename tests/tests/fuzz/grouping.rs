//! Workloads, their owners and `Karta` objects, as the podgrouper finds them.

use std::sync::Arc;

use kai_podgrouper::{
    Answer, Case, Compat, Desired, Facts, Object, Pod, Read, Settings, Stop, Write, group, kinds,
    mark, merge,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{cases, corpus::GROUPED, spoil};

/// The most sub-groups that a `PodGroup` may have (docs/behaviour.md).
const SUB_GROUPS_MAX: usize = 10_000;
/// The longest name that an object may have; longer ones are cut where pods are read.
const NAME_MAX: usize = 253;
/// A rule asks for so many objects at most.
const READS_MAX: usize = 100;

proptest! {
    #![proptest_config(cases(1))]
    #[test]
    fn workloads_are_grouped_within_bounds_or_refused_in_a_sentence(
        at in 0..GROUPED.len(), damage in spoil::much(), is_kai: bool,
    ) {
        let mut file = GROUPED[at].clone();
        spoil::value_among(&mut file, &GROUPED, damage);
        let compat = if is_kai { Compat::KaiV017 } else { Compat::Off };
        let settings = Settings { compat, ..Settings::default() };
        let rows = |key: &str| file[key].as_array().cloned().unwrap_or_default();
        let pods: Vec<Value> = rows("pods").into_iter().map(with_kind).collect();
        let all: Vec<Value> = rows("objects").into_iter().chain(pods.clone()).collect();
        let objects = kept(&all);
        let others = kept(&all.iter().map(with_more).collect::<Vec<Value>>());
        for value in &pods {
            let pod = Pod::from_value(value);
            let desired = desired(&pod, &objects, &settings);
            let again = self::desired(&Pod::from_value(&with_more(value)), &others, &settings);
            prop_assert_eq!(desired.as_ref().ok(), again.as_ref().ok(), "a field that no kind has counts");
            match desired {
                Ok(desired) => {
                    check_mark(value, &desired, &settings)?;
                    if !is_kai {
                        check(&desired, &settings)?;
                    }
                }
                Err(why) => prop_assert!(!why.trim().is_empty()),
            }
        }
    }
}

fn kept(values: &[Value]) -> Vec<Arc<Object>> {
    values.iter().map(|value| Arc::new(Object::new(value.clone()))).collect()
}

/// The object with a field of a later version of its kind.
fn with_more(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(table) = value.as_object_mut() {
        table.insert("zzz".to_owned(), json!({"zzz": [0]}));
    }
    value
}

fn with_kind(mut value: Value) -> Value {
    if value.is_object() && value["kind"].is_null() {
        value["apiVersion"] = json!("v1");
        value["kind"] = json!("Pod");
    }
    value
}

/// Checks that nothing more is to be written once a pod says what its mark says.
fn check_mark(value: &Value, desired: &Desired, settings: &Settings) -> Result<(), TestCaseError> {
    let Some(patch) = mark(&Pod::from_value(value), desired, settings) else { return Ok(()) };
    prop_assert!(patch["metadata"].is_object(), "{}", patch);
    let mut names = desired.subgroups.iter().map(|subgroup| &subgroup.name).chain([&desired.name]);
    if names.all(|name| name.len() <= NAME_MAX) {
        let mut marked = value.clone();
        json_patch::merge(&mut marked, &patch);
        let again = mark(&Pod::from_value(&marked), desired, settings);
        prop_assert!(again.is_none(), "it is marked with {} and then with {:?}", patch, again);
    }
    Ok(())
}

fn check(desired: &Desired, settings: &Settings) -> Result<(), TestCaseError> {
    let Write::Create(mut written) = merge(desired, None, settings) else {
        return Err(TestCaseError::fail("nothing to create"));
    };
    let spec = &written["spec"];
    prop_assert!(
        spec["minMember"].as_i64().is_none_or(|min| (0..=i64::from(i32::MAX)).contains(&min)),
        "{}",
        spec
    );
    let sub_groups = spec["subGroups"].as_array().map_or(0, Vec::len);
    prop_assert!(sub_groups <= SUB_GROUPS_MAX, "{} sub-groups", sub_groups);
    let text = written.to_string();
    prop_assert!(serde_json::from_str::<Value>(&text).is_ok_and(|again| again == written));
    written["metadata"]["uid"] = json!("stored");
    // No API server has an object with a name or UID beyond this, and what is longer is cut where it is read.
    let is_long = |text: &Value| text.as_str().is_some_and(|text| text.len() > NAME_MAX);
    let owners = written["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    if owners.filter_map(Value::as_object).any(|owner| owner.values().any(is_long)) {
        return Ok(());
    }
    let again = merge(desired, Some(&Object::new(written)), settings);
    prop_assert!(again == Write::Nothing, "it would be written again: {:?}", again);
    Ok(())
}

fn desired(pod: &Pod, objects: &[Arc<Object>], settings: &Settings) -> Result<Desired, String> {
    let find = |api_version: &str, kind: &str, name: &str| {
        objects.iter().find(|object| {
            let gvk = object.gvk();
            gvk.api_version() == api_version && gvk.kind == kind && object.name() == name
        })
    };
    let mut owners: Vec<Arc<Object>> = Vec::new();
    let mut next = pod.owners.first().cloned();
    while let Some(owner) = next.filter(|_| owners.len() < READS_MAX) {
        let Some(object) = find(&owner.api_version, &owner.kind, &owner.name) else { break };
        next = object.owners().first().cloned();
        owners.push(Arc::clone(object));
    }
    let top = owners.last().cloned().unwrap_or_else(|| Arc::new(pod.to_object()));
    let mut facts = Facts::default();
    for _ in 0..READS_MAX {
        let case =
            Case { pod, top: &top, owners: &owners, table: kinds::TABLE, settings, facts: &facts };
        match group(&case) {
            Ok(desired) => return Ok(desired),
            Err(Stop::Bad(why) | Stop::Early(why)) => return Err(why),
            Err(Stop::Need(read)) => {
                let read = *read;
                let answer = answer(&read, objects, &find);
                facts.add(read, answer);
            }
        }
    }
    Err(format!("it reads more than {READS_MAX} times"))
}

fn answer<'a>(
    read: &Read,
    objects: &[Arc<Object>],
    find: &impl Fn(&str, &str, &str) -> Option<&'a Arc<Object>>,
) -> Answer {
    match read {
        Read::Get { api_version, kind, name, .. } => find(api_version, kind, name)
            .map_or(Answer::Absent, |object| Answer::Found(Arc::clone(object))),
        Read::List { kind, prefix, labels, .. } => {
            let fits = |object: &&Arc<Object>| {
                object.gvk().kind == *kind
                    && object.name().starts_with(prefix)
                    && labels.iter().all(|(key, value)| object.label(key) == Some(value))
            };
            Answer::List(objects.iter().filter(fits).cloned().collect())
        }
    }
}
