//! A write that is refused holds nothing: a bind not its room, not its share of a GPU, and not for ever the turn of its group;
//! an eviction not the room that it was to make. What is refused is asked for again, and not in every cycle. The clock is tokio's.

use std::time::Duration;

use anyhow::{Result, ensure};
use http::Method;
use kai_tests::{
    alone::{Alone, GROUPS, PODS},
    request::ask,
    stage::{Fault, Tape},
};
use serde_json::json;
use tokio::time::sleep;

/// A node with 8 GPUs, a scheduler whose writes of one kind (`VERB /path`) are refused until the faults are taken away, and
/// the first pod, which asks for some GPUs; half a minute later.
async fn refused(write: &str, pod: &str, gpus: &str) -> Result<(Alone, Tape)> {
    let tape = Tape::default();
    let fault = json!({ "on": write, "status": 403, "message": "denied" });
    tape.add(serde_json::from_value::<Fault>(fault)?);
    let alone = Alone::start("1xH100:8", &[], |client| tape.record(client)).await?;
    alone.group(pod, 1, "train").await?;
    alone.pod(pod, pod, gpus).await?;
    sleep(Duration::from_secs(30)).await;
    Ok((alone, tape))
}

/// The writes of a kind that were asked for so far.
fn count(tape: &Tape, write: &str) -> usize {
    tape.calls().iter().filter(|call| call.to_string() == write).count()
}

/// Lets two minutes pass, at whose end a write was asked for again, and not often.
async fn is_tried_again(tape: &Tape, write: &str) -> Result<()> {
    sleep(Duration::from_mins(2)).await;
    let tries = count(tape, write);
    ensure!((2..20).contains(&tries), "{tries} tries");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn room_goes_to_whoever_can_be_bound() -> Result<()> {
    let bind = format!("POST {PODS}/refused/binding");
    let (alone, tape) = refused(&bind, "refused", "8").await?;
    alone.group("other", 1, "train").await?;
    alone.pod("other", "other", "8").await?;
    is_tried_again(&tape, &bind).await?;
    ensure!(alone.is_bound("other").await?, "the other is bound");
    alone.delete("other").await?;
    tape.clear_faults();
    sleep(Duration::from_mins(5)).await;
    ensure!(alone.is_bound("refused").await?, "it is tried again");
    alone.end().await
}

#[tokio::test(start_paused = true)]
async fn a_share_of_a_gpu_is_given_back() -> Result<()> {
    let bind = format!("POST {PODS}/refused/binding");
    let (alone, tape) = refused(&bind, "refused", "0.5").await?;
    ensure!(count(&tape, &bind) > 0, "its bind is tried");
    alone.delete("refused").await?;
    sleep(Duration::from_mins(2)).await;
    let pods = alone.pods().await?;
    let mut names = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str());
    ensure!(!names.any(|name| name.starts_with("gpu-reservation-")), "a GPU stays reserved");
    alone.group("whole", 1, "train").await?;
    alone.pod("whole", "whole", "8").await?;
    sleep(Duration::from_secs(30)).await;
    ensure!(alone.is_bound("whole").await?, "all GPUs are free");
    alone.end().await
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_could_not_be_evicted_is_evicted_later() -> Result<()> {
    let eviction = format!("DELETE {PODS}/low");
    let (alone, tape) = refused(&eviction, "low", "8").await?;
    alone.group("high", 1, "inference").await?;
    alone.pod("high", "high", "8").await?;
    is_tried_again(&tape, &eviction).await?;
    ensure!(alone.is_bound("low").await?, "it stays where it is");
    tape.clear_faults();
    sleep(Duration::from_mins(5)).await;
    ensure!(alone.is_bound("high").await?, "its room goes to whom it was for");
    alone.end().await
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_could_not_be_written_is_written_later() -> Result<()> {
    let group = format!("{GROUPS}/large");
    let write = format!("PATCH {group}/status");
    let (alone, tape) = refused(&write, "large", "9").await?;
    is_tried_again(&tape, &write).await?;
    tape.clear_faults();
    sleep(Duration::from_mins(1)).await;
    let conditions =
        &ask(&alone.client, Method::GET, &group, None).await?["status"]["schedulingConditions"];
    ensure!(conditions[0]["type"] == "UnschedulableOnNodePool", "it says {conditions}");
    alone.end().await
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_makes_no_pause_longer() -> Result<()> {
    let bind = format!("POST {PODS}/refused/binding");
    let (alone, tape) = refused(&bind, "refused", "8").await?;
    is_tried_again(&tape, &bind).await?;
    alone.skew.set(-3600);
    tape.clear_faults();
    sleep(Duration::from_mins(2)).await;
    ensure!(alone.is_bound("refused").await?, "it is tried again by the clock that was set back");
    alone.end().await
}
