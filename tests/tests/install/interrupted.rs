//! Installing and removing are cut at every write: the next call goes on, and comes to the same end.

use anyhow::{Result, ensure};
use kai_sandbox::server::{Options, Server};
use kai_tests::break_point::{BreakPoint, Moment, Then};
use kai_tests::command_line;
use kube::Client;
use kubectl_kai::Exit;

const INSTALL: &str = "install apply -y --wait=false";
const REMOVE: &str = "install remove -y --crds";
/// Writes that either command makes at least.
const WRITES_MIN: usize = 40;

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
async fn cut(server: &Server, line: &str, after: &str) -> Result<()> {
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
    ensure!(cuts > WRITES_MIN, "{line} was cut at {cuts} of its writes");
    let again = succeed(server, line).await?;
    ensure!(again.contains(after), "{line}, done after {cuts} cuts, then says: {again}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_that_was_cut_goes_on() -> Result<()> {
    let server = Server::start(Options::default()).await?;
    cut(&server, INSTALL, "Nothing to change").await?;
    server.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_was_cut_goes_on() -> Result<()> {
    let server = Server::start(Options::default()).await?;
    succeed(&server, INSTALL).await?;
    cut(&server, REMOVE, "Nothing to remove").await?;
    server.stop().await;
    Ok(())
}
