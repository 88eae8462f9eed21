//! Runs the API server alone and prints its kubeconfig, until it is interrupted:
//! `cargo run -p kai-sandbox --example serve > kubeconfig`.
#![expect(clippy::print_stdout, reason = "the kubeconfig is this program's output")]

use kai_sandbox::server::{Options, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start(Options::default()).await?;
    println!("{}", server.kubeconfig());
    tokio::signal::ctrl_c().await?;
    server.stop().await;
    Ok(())
}
