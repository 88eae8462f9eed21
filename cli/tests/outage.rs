//! An API server that goes away: a proxy before the sandbox cuts every connection, refuses so many attempts, and lets the
//! next through. What follows a log or waits goes on as if nothing had been.

mod stage;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use stage::Sandbox;

/// Attempts that are refused before the server is back: more than one command makes at once.
const REFUSED: usize = 40;

/// A way to the server that can be cut.
struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    open: Vec<TcpStream>,
    /// Attempts still to be refused.
    refuse: usize,
    /// True while nothing of what is sent arrives, and no connection ends.
    is_stalled: bool,
}

impl Proxy {
    fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let mut state = shared.lock().expect("nobody panics with it");
                if state.refuse > 0 {
                    state.refuse -= 1;
                    continue;
                }
                let server = TcpStream::connect(server).expect("the sandbox listens");
                for stream in [&client, &server] {
                    state.open.push(stream.try_clone().expect("a handle"));
                }
                let [from, to] = [&client, &server].map(|s| s.try_clone().expect("a handle"));
                let [forth, back] = [&shared, &shared].map(Arc::clone);
                thread::spawn(move || pass(client, server, &forth));
                thread::spawn(move || pass(to, from, &back));
            }
        });
        Self { port, state }
    }

    /// Ends all connections, and refuses the next attempts.
    fn cut(&self) {
        let mut state = self.state.lock().expect("nobody panics with it");
        state.refuse = REFUSED;
        for stream in state.open.drain(..) {
            let _ended = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets nothing through any more.
    fn stall(&self) {
        self.state.lock().expect("nobody panics with it").is_stalled = true;
    }

    fn is_through(&self) -> bool {
        self.state.lock().expect("nobody panics with it").refuse == 0
    }
}

/// Passes on what comes until either side ends.
fn pass(mut from: TcpStream, mut to: TcpStream, state: &Mutex<State>) {
    let mut bytes = [0; 16_384];
    while let Ok(count) = from.read(&mut bytes) {
        while state.lock().expect("nobody panics with it").is_stalled {
            thread::sleep(Duration::from_millis(50));
        }
        if count == 0 || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _closed = to.shutdown(Shutdown::Both);
}

/// A cluster, and the command through the proxy before it.
struct World {
    _sandbox: Sandbox,
    kubeconfig: String,
    proxy: Proxy,
}

impl World {
    fn start() -> Self {
        let (sandbox, kubeconfig) = Sandbox::start("2xH100:8");
        let text = std::fs::read_to_string(&kubeconfig).expect("the sandbox wrote it");
        let address = text.split("127.0.0.1:").nth(1).expect("its server is on this machine");
        let port: String = address.chars().take_while(char::is_ascii_digit).collect();
        let proxy = Proxy::start(SocketAddr::from(([127, 0, 0, 1], port.parse().expect("a port"))));
        let through =
            text.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", proxy.port));
        let path = format!("{kubeconfig}-through");
        std::fs::write(&path, through).expect("the folder is the sandbox's own");
        Self { _sandbox: sandbox, kubeconfig: path, proxy }
    }

    fn command(&self, words: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
            .args(words.split_whitespace())
            .env_clear()
            .env("KUBECONFIG", &self.kubeconfig)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("built with the tests")
    }

    fn run(&self, words: &str) {
        let output = self.command(words).wait_with_output().expect("it ran");
        assert!(output.status.success(), "{words}: {output:?}");
    }
}

#[test]
fn a_log_that_is_followed_through_an_outage_is_whole() {
    let world = World::start();
    world.run("submit job ranks --workers 2 --gpu 1 --image busybox -- sleep 100");
    let mut logs = world.command("logs -f ranks");
    let mut lines = BufReader::new(logs.stdout.take().expect("it is piped")).lines();
    let mut said: Vec<String> = Vec::new();
    while !said.iter().any(|line| line.contains("second 20:")) {
        said.push(lines.next().expect("the log goes on").expect("it is text"));
    }
    world.proxy.cut();
    said.extend(lines.map(|line| line.expect("it is text")));
    let output = logs.wait_with_output().expect("it ended");
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(world.proxy.is_through(), "the outage ended");
    for rank in ["0", "1"] {
        let own: Vec<&str> = said
            .iter()
            .filter_map(|line| line.strip_prefix(&format!("[{rank}] second ")))
            .collect();
        let expect: Vec<String> = (1..=100).map(|second| format!("{second}: working")).collect();
        assert_eq!(own, expect, "{rank}\n{talk}");
    }
    assert!(output.status.success() && talk.contains("trying again until it answers"), "{talk}");
}

#[test]
fn what_is_waited_for_is_waited_for_through_an_outage() {
    let world = World::start();
    world.run("submit job long --gpu 1 --image busybox -- sleep 100");
    let mut wait = world.command("wait long");
    let mut talk = BufReader::new(wait.stderr.take().expect("it is piped"));
    let mut first = String::new();
    while !first.contains("Running") {
        assert!(talk.read_line(&mut first).expect("it is text") > 0, "{first}");
    }
    world.proxy.cut();
    let mut rest = String::new();
    talk.read_to_string(&mut rest).expect("it is text");
    let ended = wait.wait().expect("it ended");
    let back = rest.find("the API server answers again");
    assert!(ended.success(), "{rest}");
    assert!(rest.contains("trying again") && back < rest.find("Succeeded"), "{rest}");
}

#[test]
fn the_time_to_wait_is_over_when_it_is_over() {
    let world = World::start();
    world.run("submit job long --gpu 1 --image busybox -- sleep 1000");
    let begin = Instant::now();
    let mut wait = world.command("wait long --timeout 4s");
    let mut talk = BufReader::new(wait.stderr.take().expect("it is piped"));
    let mut first = String::new();
    while !first.contains("long") {
        assert!(talk.read_line(&mut first).expect("it is text") > 0, "{first}");
    }
    // From here on the server says nothing, and its connections stay open.
    world.proxy.stall();
    let mut rest = String::new();
    talk.read_to_string(&mut rest).expect("it is text");
    let ended = wait.wait().expect("it ended");
    assert_eq!(ended.code(), Some(124), "{rest}");
    assert!(rest.contains("still waiting after"), "{rest}");
    assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
}
