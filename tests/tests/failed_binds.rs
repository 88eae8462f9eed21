//! A bind that fails holds nothing: not its room, not its share of a GPU, and not for ever the turn of its group. The clock is
//! tokio's.

use std::time::Duration;

use anyhow::{Result, ensure};
use kai_tests::{
    alone::{Alone, PODS},
    stage::{Fault, Tape},
};
use serde_json::json;
use tokio::time::sleep;

/// Has all binds of a pod refused until the faults are taken away.
fn refuse(tape: &Tape, pod: &str) -> Result<()> {
    let fault =
        json!({ "on": format!("POST {PODS}/{pod}/binding"), "status": 403, "message": "denied" });
    tape.add(serde_json::from_value::<Fault>(fault)?);
    Ok(())
}

/// The binds of a pod that were asked for since the last look.
fn binds(tape: &Tape, pod: &str) -> usize {
    let path = format!("{PODS}/{pod}/binding");
    tape.take().iter().filter(|call| call.path == path).count()
}

#[tokio::test(start_paused = true)]
async fn room_goes_to_whoever_can_be_bound() -> Result<()> {
    let tape = Tape::default();
    refuse(&tape, "refused")?;
    let alone = Alone::start("1xH100:8", &[], |client| tape.record(client)).await?;
    alone.group("refused", 1).await?;
    alone.pod("refused", "refused", "8").await?;
    sleep(Duration::from_secs(20)).await;
    alone.group("other", 1).await?;
    alone.pod("other", "other", "8").await?;
    sleep(Duration::from_mins(2)).await;
    ensure!(
        alone.node_of("other").await?.is_some_and(|node| !node.is_empty()),
        "the other is bound"
    );
    let first = binds(&tape, "refused");
    ensure!((1..20).contains(&first), "{first} tries in two minutes");
    alone.delete("other").await?;
    tape.clear_faults();
    sleep(Duration::from_mins(5)).await;
    ensure!(
        alone.node_of("refused").await?.is_some_and(|node| !node.is_empty()),
        "it is tried again"
    );
    alone.end().await
}

#[tokio::test(start_paused = true)]
async fn a_share_of_a_gpu_is_given_back() -> Result<()> {
    let tape = Tape::default();
    refuse(&tape, "refused")?;
    let alone = Alone::start("1xH100:8", &[], |client| tape.record(client)).await?;
    alone.group("refused", 1).await?;
    alone.pod("refused", "refused", "0.5").await?;
    sleep(Duration::from_secs(30)).await;
    ensure!(binds(&tape, "refused") > 0, "its bind is tried");
    let reservations = async || -> Result<usize> {
        let pods = alone.pods().await?;
        let names = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str());
        Ok(names.filter(|name| name.starts_with("gpu-reservation-")).count())
    };
    alone.delete("refused").await?;
    sleep(Duration::from_mins(2)).await;
    ensure!(reservations().await? == 0, "a GPU stays reserved for nobody");
    alone.group("whole", 1).await?;
    alone.pod("whole", "whole", "8").await?;
    sleep(Duration::from_secs(30)).await;
    ensure!(
        alone.node_of("whole").await?.is_some_and(|node| !node.is_empty()),
        "all GPUs are free"
    );
    alone.end().await
}
