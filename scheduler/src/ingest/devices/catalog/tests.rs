//! Selections come and go with the claims that ask for them.

use kai_engine::{Delta, Unsupported};
use serde_json::{Value, json};

use crate::{
    Args,
    cel::{Answer, COST_MAX, Question, Selector},
    ingest::{Ingest, Kind, Rules, devices::catalog::selection::IDLE_MAX},
    names::{ATTRIBUTES_MAX, REQUESTS_MAX},
};

fn claim(name: &str, expression: &str) -> Value {
    let selectors = json!([{ "cel": { "expression": expression } }]);
    let exactly = json!({ "deviceClassName": "gpu", "selectors": selectors });
    let constraint = json!({ "matchAttribute": format!("example.com/{name}") });
    let devices =
        json!({ "requests": [{ "name": "r", "exactly": exactly }], "constraints": [constraint] });
    json!({
        "metadata": { "name": name, "namespace": "ml", "uid": name },
        "spec": { "devices": devices },
    })
}

fn applied(ingest: &mut Ingest, kind: Kind, object: &Value) {
    ingest.applied(kind, object.to_string().as_bytes()).expect("the object can be read");
}

fn judged(question: Question) -> Answer {
    let (verdict, _) = Selector::new(&question.expression).judge(&question.device, COST_MAX);
    question.answer(verdict)
}

/// Lists the numbers by which the only device was selected when it was told last.
fn selected(ingest: &mut Ingest) -> Vec<u32> {
    loop {
        ingest.advance(kai_engine::Timestamp(0));
        ingest.tell_again(&|_| None);
        let questions = std::mem::take(&mut ingest.context.questions);
        if questions.is_empty() {
            break;
        }
        ingest.answered(questions.into_iter().map(judged).collect());
    }
    let told = std::mem::take(&mut ingest.context.deltas);
    let mut slices = told.iter().rev().filter_map(|delta| {
        if let Delta::Slices(_, devices) = delta { devices.first() } else { None }
    });
    let device = slices.next().expect("the device was told");
    device.classes.iter().map(|class| crate::names::Number::number(*class)).collect()
}

#[test]
fn claims_with_ever_new_selectors_leave_nothing_behind() {
    let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
    let mut ingest = Ingest::new(Rules::new(&args));
    applied(&mut ingest, Kind::DeviceClass, &json!({ "metadata": { "name": "gpu" } }));
    let device = json!({ "name": "gpu-0", "attributes": { "index": { "int": 0 } } });
    let slice = json!({
        "metadata": { "name": "n1" },
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "n1",
            "pool": { "name": "n1", "generation": 1, "resourceSliceCount": 1 },
            "devices": [device],
        },
    });
    applied(&mut ingest, Kind::ResourceSlice, &slice);
    let kept = claim("kept", "device.driver == 'gpu.example.com'");
    applied(&mut ingest, Kind::ResourceClaim, &kept);
    assert_eq!(selected(&mut ingest), [0, 1], "the class, and what the claim asks for");
    for round in 0..4 * IDLE_MAX {
        let other = claim(&format!("other-{round}"), &format!("{round} < 0"));
        applied(&mut ingest, Kind::ResourceClaim, &other);
        ingest.deleted(Kind::ResourceClaim, other.to_string().as_bytes()).expect("it can be read");
    }
    let known = ingest.catalog.selections.iter().count();
    assert!(known <= IDLE_MAX + 2, "{known} selections");
    let known = ingest.catalog.matched.len();
    assert!(known <= IDLE_MAX + 1, "{known} attributes");
    let last = claim("last", "device.attributes['gpu.example.com'].index == 0");
    applied(&mut ingest, Kind::ResourceClaim, &last);
    let row = ingest.context.names.claims.find("ml/last").expect("it was applied");
    let number = ingest.context.names.claims[row].asked[0].selection;
    assert!(usize::try_from(number).expect("it is small") <= IDLE_MAX + 2, "number {number}");
    assert_eq!(selected(&mut ingest), [0, 1, number], "a number that others had before");
}

/// A claim in which requests name one selector each.
fn wide(name: &str, selectors: std::ops::Range<usize>) -> Value {
    let request = |at: usize| {
        let selectors = json!([{ "cel": { "expression": format!("{at} < 0") } }]);
        let exactly = json!({ "deviceClassName": "gpu", "selectors": selectors });
        json!({ "name": format!("r{at}"), "exactly": exactly })
    };
    let requests: Vec<Value> = selectors.map(request).collect();
    json!({
        "metadata": { "name": name, "namespace": "ml", "uid": name },
        "spec": { "devices": { "requests": requests } },
    })
}

/// A claim whose constraints name these attributes.
fn alike(name: &str, attributes: std::ops::Range<usize>) -> Value {
    let constraint = |at: usize| json!({ "matchAttribute": format!("example.com/a{at}") });
    let constraints: Vec<Value> = attributes.map(constraint).collect();
    json!({
        "metadata": { "name": name, "namespace": "ml", "uid": name },
        "spec": { "devices": { "constraints": constraints } },
    })
}

/// Says what keeps the claim that was told last from getting devices.
fn unsupported(ingest: &mut Ingest) -> Option<Unsupported> {
    let told = std::mem::take(&mut ingest.context.deltas);
    let mut claims = told.iter().rev().filter_map(|delta| {
        if let Delta::Claim(_, claim) = delta { Some(claim.unsupported) } else { None }
    });
    claims.next().expect("a claim was told")
}

#[test]
fn the_claims_of_a_namespace_have_so_many_different_requests_and_no_more() {
    let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
    let mut ingest = Ingest::new(Rules::new(&args));
    applied(&mut ingest, Kind::DeviceClass, &json!({ "metadata": { "name": "gpu" } }));
    let mut tell = |claim: &Value| {
        applied(&mut ingest, Kind::ResourceClaim, claim);
        let known = ingest.catalog.selections.iter().count();
        (unsupported(&mut ingest), known)
    };
    let all = REQUESTS_MAX + 1;
    assert_eq!(tell(&wide("a", 0..200)), (None, 201), "with the class itself");
    assert_eq!(tell(&wide("b", 100..REQUESTS_MAX)), (None, all), "a hundred are alike");
    assert_eq!(tell(&wide("b", 100..REQUESTS_MAX)), (None, all), "the same as before");
    let refused = Some(Unsupported::TooMany);
    assert_eq!(tell(&wide("c", REQUESTS_MAX..all)), (refused, all), "one more");
    assert_eq!(tell(&wide("d", 0..2)), (None, all), "asked for already");
    let mut given = wide("e", REQUESTS_MAX..all);
    given["status"]["allocation"] = json!({ "devices": {} });
    assert_eq!(tell(&given).0, None, "what was given stays");
    let mut other = wide("c", REQUESTS_MAX..all);
    other["metadata"]["namespace"] = json!("others");
    assert_eq!(tell(&other).0, None, "of another namespace");
    assert_eq!(tell(&alike("f", 0..ATTRIBUTES_MAX)).0, None);
    assert_eq!(tell(&alike("g", 1..ATTRIBUTES_MAX + 1)).0, refused, "one attribute more");
    for gone in ["a", "e", "f"] {
        let gone = claim(gone, "true");
        ingest.deleted(Kind::ResourceClaim, gone.to_string().as_bytes()).expect("it can be read");
    }
    let mut tell = |claim: &Value| {
        applied(&mut ingest, Kind::ResourceClaim, claim);
        unsupported(&mut ingest)
    };
    assert_eq!(tell(&wide("c", REQUESTS_MAX..all)), None, "there is room again");
    assert_eq!(tell(&alike("g", 1..ATTRIBUTES_MAX + 1)), None, "here as well");
}

/// Tells whether claims have to be read again at a time, in seconds.
fn is_read_again(ingest: &mut Ingest, seconds: i64) -> bool {
    ingest.advance(kai_engine::Timestamp(seconds * 1000));
    std::mem::take(&mut ingest.context.resync) == [Kind::ResourceClaim]
}

/// Nothing is kept of what was refused.
#[test]
fn refused_claims_are_read_again_where_others_left() {
    let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
    let mut ingest = Ingest::new(Rules::new(&args));
    let all = REQUESTS_MAX + 1;
    let gone = |ingest: &mut Ingest, name: &str| {
        let gone = claim(name, "true");
        ingest.deleted(Kind::ResourceClaim, gone.to_string().as_bytes()).expect("it can be read");
    };
    for claim in [wide("a", 0..REQUESTS_MAX), wide("b", 0..1), wide("c", 1..2)] {
        applied(&mut ingest, Kind::ResourceClaim, &claim);
    }
    gone(&mut ingest, "c");
    assert!(!is_read_again(&mut ingest, 1), "none was refused");
    applied(&mut ingest, Kind::ResourceClaim, &wide("d", REQUESTS_MAX..all));
    gone(&mut ingest, "b");
    assert!(!is_read_again(&mut ingest, 2), "the others ask for as much");
    gone(&mut ingest, "a");
    assert!(is_read_again(&mut ingest, 3));
    assert!(!is_read_again(&mut ingest, 4), "once");
    for claim in [wide("a", 0..REQUESTS_MAX), wide("d", REQUESTS_MAX..all)] {
        applied(&mut ingest, Kind::ResourceClaim, &claim);
    }
    gone(&mut ingest, "a");
    assert!(!is_read_again(&mut ingest, 62), "a user may have it as often as he likes");
    assert!(is_read_again(&mut ingest, 63), "but not more often than this");
}
