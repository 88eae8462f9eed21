//! Expressions by which claims select devices.

use std::{panic, sync::Arc, thread};

use http::Method;
use kai_scheduler::cel::{Attribute, COST_MAX, Described, STACK_BYTES, Selector, Verdict};
use kai_tests::control_plane::{ControlPlane, assets};
use proptest::prelude::*;
use serde_json::json;

use super::{cases, drawn, requests::send, spoil};

/// None has `.?` or `[?]`: the interpreter does not carry optional values out of what it counts, so such a selector is
/// refused in a sentence, though an API server takes it.
const EXPRESSIONS: &[&str] = &[
    "device.driver == \"gpu.example.com\"",
    "device.attributes[\"gpu.example.com\"].model == \"H100\"",
    "device.capacity[\"gpu.example.com\"].memory.compareTo(quantity(\"40Gi\")) >= 0",
    "device.attributes[\"gpu.example.com\"].version.isGreaterThan(semver(\"1.0.0\"))",
    "\"gpu.example.com\" in device.attributes && device.attributes[\"gpu.example.com\"].index < 4",
    "[1, 2, 3].exists(i, device.attributes[\"gpu.example.com\"].index == i)",
    "{'a': 1, 'b': 2}.all(k, k.size() == 1) ? true : false",
    "device.attributes[\"gpu.example.com\"].model.matches(\"^H[0-9]+$\")",
    "cel.bind(m, device.attributes[\"gpu.example.com\"].model, m == \"H100\" || m == \"A100\")",
    "!(device.driver in [\"a\", \"b\"]) && has(device.attributes[\"gpu.example.com\"].model)",
    "\"a,b,c\".split(\",\").map(part, part.upperAscii()).filter(part, part != 'B').size() == 2",
];

fn device() -> Described {
    let domain = || Box::<str>::from("gpu.example.com");
    let attribute = |name: &str, value| (domain(), Box::from(name), value);
    Described {
        driver: domain(),
        attributes: vec![
            attribute("index", Attribute::Int(3)),
            attribute("mig", Attribute::Bool(false)),
            attribute("model", Attribute::Text(Box::from("H100"))),
            attribute("version", Attribute::Version(Box::from("1.2.3"))),
        ],
        capacity: vec![(domain(), Box::from("memory"), Box::from("80Gi"))],
    }
}

/// Judges an expression as the scheduler does: on a stack of its own, and ready for an interpreter that gives up.
fn judge(text: &str, cost_max: u64) -> Option<(Verdict, u64)> {
    let text = Arc::<str>::from(text);
    let judged = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        panic::catch_unwind(|| Selector::new(&text).judge(&device(), cost_max)).ok()
    });
    judged.expect("a thread can be started").join().expect("a panic was caught")
}

proptest! {
    #![proptest_config(cases(2))]
    #[test]
    fn expressions_cost_what_they_may_and_mean_one_thing(
        at in 0..EXPRESSIONS.len(), damage in spoil::much(), cost_max in costs(),
    ) {
        let text = spoil::text_among(EXPRESSIONS[at], EXPRESSIONS, damage);
        let judged = judge(&text, cost_max);
        prop_assert_eq!(&judged, &judge(&text, cost_max));
        if let Some((Verdict::Holds | Verdict::Fails, cost)) = &judged {
            prop_assert!(*cost <= cost_max, "it cost {} of {}", cost, cost_max);
            let more = judge(&text, COST_MAX);
            prop_assert_eq!(&judged, &more, "more room changes what it means");
        }
        if let Some((Verdict::Holds, _)) = &judged {
            // Its last line may be a comment.
            let negated = judge(&format!("!(\n{text}\n)"), COST_MAX);
            prop_assert!(!matches!(negated, Some((Verdict::Holds, _))), "it holds, and so does its opposite");
        }
    }
}

/// Draws bounds of costs, of each length as often: most expressions cost some hundred.
fn costs() -> impl Strategy<Value = u64> {
    (6_u32..20).prop_flat_map(|bits| 1..1_u64 << bits)
}

/// Checks that what a real API server takes for a selector is one that the scheduler can use.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_api_server_takes_is_understood() -> anyhow::Result<()> {
    let Some(assets) = assets("fuzz of selections: a real kube-apiserver") else { return Ok(()) };
    let plane = ControlPlane::start(&assets, &[]).await?;
    let client = plane.client().await?;
    let (mut taken, mut unknown) = (0, Vec::new());
    let drawn = drawn((0..EXPRESSIONS.len(), spoil::damage()), 8);
    for (at, damage) in drawn {
        let text = spoil::text(EXPRESSIONS[at], damage);
        let selectors = json!([{"cel": {"expression": text}}]);
        let class = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
            "metadata": {"name": "fuzz"}, "spec": {"selectors": selectors}});
        let path = "/apis/resource.k8s.io/v1/deviceclasses?dryRun=All";
        let (status, _) = send(&client, Method::POST, path, class.to_string()).await?;
        if status.is_success() {
            taken += 1;
            if let Some((Verdict::Fault(why), _)) = judge(&text, COST_MAX) {
                unknown.push(format!("{text:?}: {why}"));
            }
        }
    }
    assert!(taken > 10, "the server took {taken} only");
    assert!(unknown.is_empty(), "not understood, of {taken}:\n{}", unknown.join("\n"));
    Ok(())
}
