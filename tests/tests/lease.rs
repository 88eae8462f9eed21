//! A Lease on an API server that stops answering its holder: who may write, and since when. The clock is tokio's and
//! stands still but while everybody waits.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::coordination::v1::Lease as Record;
use kai_api::names::{component, namespace};
use kai_daemon::lease::{Guard, Lease, Manner, Mode};
use kai_tests::{
    live::Place,
    stage::{Fault, Tape},
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// A Lease that the account of the scheduler may write, and no daemon uses.
const NAME: &str = "stopped-clock";
const ELECTION: Mode = Mode::Election { retry: Duration::from_secs(2) };

/// A process that wants the Lease, and what its requests meet.
struct Candidate {
    lease: Lease,
    tape: Tape,
}

impl Candidate {
    async fn new(place: &Place, mode: Mode) -> Result<Self> {
        let tape = Tape::default();
        let client = tape.record(place.account(component::SCHEDULER).await?);
        Ok(Self { lease: Lease::new(client, namespace::SYSTEM, NAME, mode), tape })
    }

    async fn acquire(&self, manner: Manner) -> Result<Guard> {
        let never = CancellationToken::new();
        self.lease.acquire(manner, &never).await.context("nobody stops it")
    }

    /// From now on this kind of request is not answered.
    fn cut_off(&self, verb: &str) -> Result<()> {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases*", namespace::SYSTEM);
        let fault = json!({ "on": format!("{verb} {path}") });
        self.tape.add(serde_json::from_value::<Fault>(fault)?);
        Ok(())
    }

    /// From now on it has no right to the Lease.
    fn refuse(&self) -> Result<()> {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases*", namespace::SYSTEM);
        for verb in ["GET", "POST", "PUT"] {
            let on = format!("{verb} {path}");
            let fault =
                json!({ "on": on, "status": 403, "reason": "Forbidden", "message": "no right" });
            self.tape.add(serde_json::from_value::<Fault>(fault)?);
        }
        Ok(())
    }
}

/// Measures when a holder that is cut off has stopped, and when another has begun, in seconds.
async fn times(verb: &str, mode: Mode) -> Result<(f64, f64)> {
    let place = Place::embedded().await?;
    let (first, second) =
        (Candidate::new(&place, mode).await?, Candidate::new(&place, mode).await?);
    let guard = first.acquire(Manner::Newest).await?;
    ensure!(guard.check().await.is_ok(), "who holds the Lease may write");
    first.cut_off(verb)?;
    let start = Instant::now();
    let keeping = tokio::spawn({
        let guard = guard.clone();
        async move { guard.keep(&CancellationToken::new()).await }
    });
    let stopped = tokio::spawn(async move {
        // What is asked while nobody answers is not answered before the end either.
        while timeout(Duration::from_secs(1), guard.check()).await.is_ok_and(|may| may.is_ok()) {
            sleep(Duration::from_millis(10)).await;
        }
        Instant::now()
    });
    let taken = second.acquire(Manner::Patient).await?;
    let begun = Instant::now();
    ensure!(taken.check().await.is_ok(), "and whoever takes it, too");
    let stopped = stopped.await?;
    keeping.abort();
    Ok(((stopped - start).as_secs_f64(), (begun - start).as_secs_f64()))
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_stops_before_another_begins() -> Result<()> {
    let (stopped, begun) = times("PUT", ELECTION).await?;
    ensure!(stopped <= 10.1, "it stopped after {stopped} s");
    ensure!(begun >= 15.0, "another began after {begun} s");
    ensure!(begun <= 15.6, "another began as late as after {begun} s");
    Ok(())
}

/// One request renews: a Lease that nobody else touches is not read.
#[tokio::test(start_paused = true)]
async fn a_leader_renews_without_reading() -> Result<()> {
    let place = Place::embedded().await?;
    let (first, second) =
        (Candidate::new(&place, ELECTION).await?, Candidate::new(&place, ELECTION).await?);
    let never = CancellationToken::new();
    let guard = first.acquire(Manner::Newest).await?;
    first.cut_off("GET")?;
    let keeping = guard.keep(&never);
    let standing_by = second.lease.acquire(Manner::Patient, &never);
    tokio::select! {
        lost = keeping => bail!("it ended: {lost:?}"),
        _ = standing_by => bail!("another took it"),
        () = sleep(Duration::from_mins(1)) => {}
    }
    ensure!(guard.check().await.is_ok(), "it leads");
    Ok(())
}

/// An edit of a Lease beside its holder has the next renewal read it, and is not undone.
#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_was_edited_reads_it_and_goes_on() -> Result<()> {
    let place = Place::embedded().await?;
    let first = Candidate::new(&place, ELECTION).await?;
    let never = CancellationToken::new();
    let guard = first.acquire(Manner::Newest).await?;
    let leases: Api<Record> = Api::namespaced(place.admin().await?, namespace::SYSTEM);
    let edits = async {
        for edit in 0..30 {
            let label = json!({"metadata": {"labels": {"edited": edit.to_string()}}});
            leases.patch(NAME, &PatchParams::default(), &Patch::Merge(&label)).await?;
            sleep(Duration::from_millis(1900)).await;
        }
        Ok::<_, kube::Error>(())
    };
    tokio::select! {
        lost = guard.keep(&never) => bail!("it ended: {lost:?}"),
        edited = edits => edited?,
    }
    let lease = leases.get(NAME).await?;
    let edited = lease.metadata.labels.and_then(|labels| labels.get("edited").cloned());
    ensure!(edited.as_deref() == Some("29"), "the last edit is gone: {edited:?}");
    ensure!(guard.check().await.is_ok(), "it leads");
    Ok(())
}

/// Nothing but the time tells a leader that has nothing to write.
#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_ends_although_it_writes_nothing() -> Result<()> {
    let place = Place::embedded().await?;
    let first = Candidate::new(&place, ELECTION).await?;
    let guard = first.acquire(Manner::Newest).await?;
    first.cut_off("PUT")?;
    let never = CancellationToken::new();
    let ended = timeout(Duration::from_secs(11), guard.keep(&never)).await;
    ensure!(matches!(ended, Ok(Err(_))), "it leads on: {ended:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_holder_without_election_that_is_cut_off_stops_too() -> Result<()> {
    let (stopped, begun) = times("GET", Mode::Handover).await?;
    ensure!(stopped < 2.0, "it stopped after {stopped} s");
    ensure!(begun >= 16.5, "another began after {begun} s, without leaving it time");
    Ok(())
}

/// It may read its Lease and cannot renew it, so that it runs out under its eyes.
#[tokio::test(start_paused = true)]
async fn who_takes_what_ran_out_waits_for_the_last_confirmed_writes() -> Result<()> {
    let (stopped, begun) = times("PUT", Mode::Handover).await?;
    ensure!(stopped < begun, "it stopped after {stopped} s, and another began after {begun} s");
    Ok(())
}

/// Rights that are withdrawn for a moment from who stands by make no second leader.
#[tokio::test(start_paused = true)]
async fn who_stands_by_and_is_refused_for_a_moment_goes_on_standing_by() -> Result<()> {
    let place = Place::embedded().await?;
    let (first, second) = (
        Candidate::new(&place, Mode::Handover).await?,
        Candidate::new(&place, Mode::Handover).await?,
    );
    let never = CancellationToken::new();
    let guard = first.acquire(Manner::Newest).await?;
    let kept = guard.clone();
    let keeping = tokio::spawn(async move { kept.keep(&CancellationToken::new()).await });
    let waits = |seconds| {
        timeout(Duration::from_secs(seconds), second.lease.acquire(Manner::Patient, &never))
    };
    ensure!(waits(5).await.is_err(), "another holds it");
    second.refuse()?;
    ensure!(waits(60).await.is_err(), "rights that are gone for a minute are waited for");
    let alone = waits(150).await?.context("nobody stops it")?;
    ensure!(alone.check().await.is_ok(), "rights that are gone for good are not");
    second.tape.clear_faults();
    ensure!(alone.keep(&never).await.is_err(), "who works without it ends once it can be used");
    ensure!(alone.check().await.is_err(), "and writes no more");
    ensure!(guard.check().await.is_ok(), "its holder never noticed");
    keeping.abort();
    Ok(())
}

/// An election that cannot be held has no winner, however long the rights are missing.
#[tokio::test(start_paused = true)]
async fn who_asks_for_an_election_and_is_refused_does_not_lead() -> Result<()> {
    let place = Place::embedded().await?;
    let first = Candidate::new(&place, ELECTION).await?;
    let never = CancellationToken::new();
    first.refuse()?;
    let alone = timeout(Duration::from_mins(5), first.lease.acquire(Manner::Patient, &never)).await;
    ensure!(alone.is_err(), "it leads without the Lease");
    first.tape.clear_faults();
    let guard = first.acquire(Manner::Patient).await?;
    ensure!(guard.check().await.is_ok(), "it leads once it may");
    Ok(())
}

/// Nobody else holds what was deleted: its holder makes it again, before another does.
#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_was_deleted_makes_it_again() -> Result<()> {
    let place = Place::embedded().await?;
    let first = Candidate::new(&place, ELECTION).await?;
    let never = CancellationToken::new();
    let guard = first.acquire(Manner::Newest).await?;
    let leases: Api<Record> = Api::namespaced(place.admin().await?, namespace::SYSTEM);
    let holder = async || {
        let lease = leases.get(NAME).await?;
        Ok::<_, kube::Error>(lease.spec.and_then(|spec| spec.holder_identity))
    };
    let before = holder().await?;
    leases.delete(NAME, &DeleteParams::default()).await?;
    tokio::select! {
        lost = guard.keep(&never) => bail!("it ended: {lost:?}"),
        () = sleep(Duration::from_mins(1)) => {}
    }
    ensure!(guard.check().await.is_ok(), "it leads");
    let after = holder().await?;
    ensure!(after.is_some() && after == before, "{after:?} holds it after {before:?}");
    Ok(())
}

/// Starts a scheduler without election.
async fn scheduler(
    place: &Place,
    stop: &CancellationToken,
) -> Result<JoinHandle<Result<(), kai_scheduler::Error>>> {
    let words = ["kai-scheduler", "--listen-address=127.0.0.1:0", "--plugin-server-port=0"];
    let words = words.map(|word| String::from(word).into());
    let args = kai_scheduler::Args::from_command_line(words)?;
    let client = place.account(component::SCHEDULER).await?;
    Ok(tokio::spawn(Box::pin(kai_scheduler::run(args, client, stop.clone()))))
}

/// Two that take the Lease from each other in turn would both do little else but read the cluster anew.
#[tokio::test(start_paused = true)]
async fn a_scheduler_that_was_pushed_out_pushes_nobody() -> Result<()> {
    let place = Place::embedded().await?;
    let stop = CancellationToken::new();
    let leases: Api<Record> = Api::namespaced(place.admin().await?, namespace::SYSTEM);
    let holder = async || {
        let lease = leases.get("kai-scheduler").await?;
        Ok::<_, kube::Error>(lease.spec.and_then(|spec| spec.holder_identity))
    };
    let first = scheduler(&place, &stop).await?;
    sleep(Duration::from_secs(10)).await;
    let older = holder().await?;
    let second = scheduler(&place, &stop).await?;
    sleep(Duration::from_secs(10)).await;
    let newer = holder().await?;
    ensure!(newer.is_some() && newer != older, "{newer:?} holds it after {older:?}");
    for _ in 0..60 {
        sleep(Duration::from_secs(1)).await;
        let now = holder().await?;
        ensure!(now == newer, "{now:?} took it back from {newer:?}");
    }
    stop.cancel();
    first.await??;
    second.await??;
    place.stop().await;
    Ok(())
}
