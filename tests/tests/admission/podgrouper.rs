//! A podgrouper that tests start and stop.

use std::net::TcpListener;

use anyhow::Result;
use kai_api::names::component;
use kai_podgrouper::Args;
use kai_tests::control_plane::{ControlPlane, client};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::NAMESPACE;

/// A podgrouper in this process, as one outside of the cluster.
pub(super) struct Podgrouper {
    stop: CancellationToken,
    task: JoinHandle<Result<(), kai_podgrouper::Error>>,
    metrics: u16,
}

impl Podgrouper {
    pub(super) async fn start(plane: &ControlPlane, flags: &[&str]) -> Result<Self> {
        let kubeconfig = plane.kubeconfig_of_account(NAMESPACE, component::PODGROUPER).await?;
        let client = client(&kubeconfig).await?;
        let metrics = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let fixed =
            ["kai-podgrouper", "--health-probe-bind-address=0", "--namespace=kai-scheduler"];
        let address = format!("--metrics-bind-address=127.0.0.1:{metrics}");
        let words = fixed.iter().chain(flags).map(|word| (*word).to_owned());
        let args = Args::try_from_words(words.chain([address]))?;
        let stop = CancellationToken::new();
        let task = tokio::spawn(kai_podgrouper::run(args, client, stop.clone()));
        Ok(Self { stop, task, metrics })
    }

    pub(super) async fn stop(self) -> Result<()> {
        self.stop.cancel();
        Ok(self.task.await??)
    }

    /// Ends it between two instructions: it gives nothing back, not the Lease either.
    pub(super) async fn kill(self) {
        self.task.abort();
        // What a task that was ended says is not news.
        let _ = self.task.await;
    }

    /// Reads how many questions were asked. The first reading says it of now; a later one may be answered with the text of
    /// the one before, for nine times as long as that took to make.
    pub(super) async fn asked(&self) -> Result<u64> {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", self.metrics)).await?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let lines = text.lines().filter(|line| line.starts_with("kai_admission_requests_total{"));
        let count =
            |line: &str| line.rsplit_once(' ').and_then(|(_, count)| count.parse::<u64>().ok());
        Ok(lines.filter_map(count).sum::<u64>())
    }
}
