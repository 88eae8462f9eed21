//! Selections come and go with the claims that ask for them.

use kai_engine::Delta;
use serde_json::{Value, json};

use crate::{
    Args,
    cel::{Answer, COST_MAX, Question, Selector},
    ingest::{Ingest, Kind, Rules, devices::catalog::selection::IDLE_MAX},
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
