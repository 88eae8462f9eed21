//! `install --flow-control`: seats of the API server for the daemons, made where they are asked for and taken out again.

use anyhow::Result;
use serde_json::json;

use super::Bench;

const LEASES: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/kai-scheduler-leases";
const PLACES: [&str; 3] = [
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/kai-scheduler",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/kai-scheduler",
    LEASES,
];

#[tokio::test(flavor = "multi_thread")]
async fn daemons_have_seats_of_their_own_where_somebody_asks_for_them() -> Result<()> {
    let Some(bench) = Bench::start().await? else { return Ok(()) };
    let install = "install apply -y --wait=false -n gpu";
    let with_seats = format!("{install} --flow-control");
    let seats = "doctor install/seats -n gpu -o jsonpath={.items[0].finding}";
    bench.kai(install)?.expect(0, &[]);
    is_there(&bench, false).await?;
    let hint = "kubectl kai install --flow-control -n gpu";
    bench.kai(seats)?.expect(0, &["share the seats of level workload-low", hint]);
    bench.kai(&with_seats)?.expect(0, &["flow control 3 created"]);
    bench.kai(seats)?.expect(0, &["a level of their own: kai-scheduler"]);
    let leases = bench.find(LEASES).await?;
    assert_eq!(leases["spec"]["rules"][0]["resourceRules"][0]["namespaces"], json!(["gpu"]));
    // Who installs again without the flag has nothing taken away.
    for line in [with_seats.as_str(), install] {
        bench.kai(line)?.expect(0, &["Nothing to change"]);
        is_there(&bench, true).await?;
    }
    bench.kai("install remove -y -n gpu")?.expect(0, &["flow control: 3"]);
    is_there(&bench, false).await
}

/// Checks that each object is there, or that none is.
async fn is_there(bench: &Bench, expect: bool) -> Result<()> {
    for place in PLACES {
        assert_eq!(!bench.find(place).await?.is_null(), expect, "{place}");
    }
    Ok(())
}
