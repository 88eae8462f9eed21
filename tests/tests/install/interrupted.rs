//! Installing, removing, taking over from KAI and giving back are cut at every write: the next call goes on, and comes to the same end.

use anyhow::{Result, ensure};
use kai_sandbox::server::{Options, Server};
use kai_tests::break_point::{BreakPoint, Moment, Then};
use kai_tests::command_line;
use kube::Client;
use kubectl_kai::Exit;

use super::{
    Objects,
    adopt::{of_kai, without_birth},
};

const INSTALL: &str = "install apply -y --wait=false";
const REMOVE: &str = "install remove -y --crds";
const ADOPT: &str = "install apply --adopt -y --wait=false";
const RELEASE: &str = "install release -y --wait=false";
/// Writes that either command makes at least.
const WRITES_MIN: usize = 40;
/// The same of taking over what `kai.yaml` brings, and of giving it back.
const SWITCHED_MIN: usize = 15;

/// Runs a command: how it ended, and all that it said.
async fn kai(client: Client, line: &str) -> (Exit, String) {
    let said = command_line::kai(client, "default", line.split_whitespace()).await;
    (said.exit, said.data + &said.talk)
}

async fn succeed(server: &Server, line: &str) -> Result<String> {
    let (exit, said) = kai(server.client(), line).await;
    ensure!(exit == Exit::Ok, "{line}: {said}");
    Ok(said)
}

/// Runs a command until it comes to its end, breaking each run at its next write: one run's first write is done and the
/// answer lost, the next run's second is never sent. So each write is cut once, and each run goes on from a cut one.
async fn cut(server: &Server, line: &str, after: &str) -> Result<usize> {
    let mut cuts = 0;
    loop {
        let lost = cuts % 2 == 0;
        let (number, moment) = if lost { (0, Moment::AnswerLost) } else { (1, Moment::Before) };
        let point = BreakPoint::at(number, moment, Then::Alive);
        let (exit, said) = kai(point.client(server.client()), line).await;
        if !point.is_broken() {
            ensure!(exit == Exit::Ok, "{line}, after {cuts} cuts: {said}");
            break;
        }
        ensure!(exit != Exit::Ok, "{line} hides that {:?} was cut: {said}", point.writes());
        cuts += 1;
    }
    let again = succeed(server, line).await?;
    ensure!(again.contains(after), "{line}, done after {cuts} cuts, then says: {again}");
    Ok(cuts)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_that_was_cut_goes_on() -> Result<()> {
    let server = Server::start(Options::default()).await?;
    let cuts = cut(&server, INSTALL, "Nothing to change").await?;
    ensure!(cuts > WRITES_MIN, "cut at {cuts} writes");
    server.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_was_cut_goes_on() -> Result<()> {
    let server = Server::start(Options::default()).await?;
    succeed(&server, INSTALL).await?;
    let cuts = cut(&server, REMOVE, "Nothing to remove").await?;
    ensure!(cuts > WRITES_MIN, "cut at {cuts} writes");
    server.stop().await;
    Ok(())
}

/// Whatever is cut on the way to us and back, KAI has in the end what it had.
#[tokio::test(flavor = "multi_thread")]
async fn a_switch_that_was_cut_goes_on_both_ways() -> Result<()> {
    let server = Server::start(Options::default()).await?;
    succeed(&server, "install apply -y --components crds").await?;
    let objects = Objects { client: server.client() };
    objects.apply("kai.yaml").await?;
    let before = of_kai(&objects).await?;
    let cuts = cut(&server, ADOPT, "Nothing to change").await?;
    ensure!(cuts > WRITES_MIN, "cut at {cuts} writes");
    let cuts = cut(&server, RELEASE, "Nothing to give back").await?;
    ensure!(cuts > SWITCHED_MIN, "cut at {cuts} writes");
    for (was, is) in before.iter().zip(of_kai(&objects).await?) {
        assert_eq!(without_birth(is), without_birth(was.clone()));
    }
    server.stop().await;
    Ok(())
}
