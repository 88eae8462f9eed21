//! A way to the API server that can be cut: it ends every connection, refuses so many attempts, and lets the next through.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Attempts that are refused before the server is back: more than one command makes at once.
const REFUSED: usize = 40;

/// A way to the server that can be cut.
pub(crate) struct Proxy {
    port: u16,
    pub(crate) state: Arc<Mutex<State>>,
}

/// Says what becomes of connections.
#[derive(Default)]
pub(crate) struct State {
    open: Vec<TcpStream>,
    /// Attempts still to be refused.
    refuse: usize,
    /// True while nothing of what is sent arrives, and no connection ends.
    pub(crate) is_stalled: bool,
}

impl Proxy {
    /// Starts one before a server of this machine, and gives the kubeconfig that leads through it.
    pub(crate) fn before(kubeconfig: &str) -> (Self, PathBuf) {
        let text = std::fs::read_to_string(kubeconfig).expect("the sandbox wrote it");
        let address = text.split("127.0.0.1:").nth(1).expect("its server is on this machine");
        let port: String = address.chars().take_while(char::is_ascii_digit).collect();
        let proxy = Self::start(SocketAddr::from(([127, 0, 0, 1], port.parse().expect("a port"))));
        let through =
            text.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", proxy.port));
        let path = Path::new(&format!("{kubeconfig}-through")).to_path_buf();
        std::fs::write(&path, through).expect("the folder is the sandbox's own");
        (proxy, path)
    }

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

    /// Ends all connections after a while, and refuses the next attempts.
    pub(crate) fn cut_after(&self, delay: Duration) {
        let state = Arc::clone(&self.state);
        thread::spawn(move || {
            thread::sleep(delay);
            let mut state = state.lock().expect("nobody panics with it");
            state.refuse = REFUSED;
            for stream in state.open.drain(..) {
                let _ended = stream.shutdown(Shutdown::Both);
            }
        });
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
