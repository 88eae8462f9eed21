//! The program looks for the API server at the address that each pod of its cluster is told.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use kai_api::names::env;

/// Time that the program may take to get there.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An address of IPv6 has colons, and so has the port behind it.
#[test]
fn an_api_server_is_found_by_an_ipv6_address() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = server.local_addr().expect("it is bound").port().to_string();
    let account = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/account");
    let mut program = Command::new(env!("CARGO_BIN_EXE_kai-reservation"))
        .args(["--service-account-dir", account])
        .env_clear()
        .env(env::POD_NAMESPACE, "ns")
        .env(env::POD_NAME, "own")
        // It is how 127.0.0.1 is written there, so that no network of IPv6 is needed.
        .env("KUBERNETES_SERVICE_HOST", "0:0:0:0:0:ffff:7f00:1")
        .env("KUBERNETES_SERVICE_PORT", port)
        .stderr(Stdio::piped())
        .spawn()
        .expect("built with the tests");
    let (came, comes) = channel();
    thread::spawn(move || {
        // The test may be over by then.
        let _ = came.send(server.accept().is_ok());
    });
    let has_come = comes.recv_timeout(TIMEOUT);
    program.kill().expect("it tries again until it is ended");
    let output = program.wait_with_output().expect("it was started here");
    assert_eq!(has_come, Ok(true), "{}", String::from_utf8_lossy(&output.stderr));
}
