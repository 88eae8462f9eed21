//! A terminal for tests: a command draws on it, keys are pressed, and the screen is read as somebody sees it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Sets how long something may take to be seen.
const SEEN_WITHIN: Duration = Duration::from_secs(30);

/// A terminal of 80 by 24 in which a command runs.
pub(crate) struct Pty {
    keys: File,
    /// The side of the command, kept open so that its settings can be looked at.
    line: File,
    screen: Arc<Mutex<vt100::Parser>>,
    pub(crate) child: Child,
}

impl Pty {
    /// Runs a command in it.
    pub(crate) fn run(command: &mut Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("it has a size");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let line = OpenOptions::new().read(true).write(true).open(path).expect("it is there");
        let side = || line.try_clone().expect("a handle");
        let child = command
            .envs([("TERM", "xterm-256color"), ("LANG", "C.UTF-8")])
            .stdin(side())
            .stdout(side())
            .stderr(side())
            .spawn()
            .expect("built with the tests");
        let keys = File::from(master);
        let mut drawn = keys.try_clone().expect("a handle");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 0)));
        let shared = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = drawn.read(&mut bytes) {
                shared.lock().expect("nobody panics with it").process(&bytes[..count]);
            }
        });
        Self { keys, line, screen, child }
    }

    fn text(&self) -> String {
        self.screen.lock().expect("nobody panics with it").screen().contents()
    }

    /// Waits until all of some texts are seen, and none of others.
    pub(crate) fn wait(&self, texts: &[&str], gone: &[&str]) {
        let end = Instant::now() + SEEN_WITHIN;
        loop {
            let seen = self.text();
            if texts.iter().all(|text| seen.contains(text))
                && !gone.iter().any(|text| seen.contains(text))
            {
                return;
            }
            assert!(Instant::now() < end, "not {texts:?} without {gone:?}:\n{seen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it reads keys");
    }

    /// Waits for the end, and checks that the terminal is as it was.
    pub(crate) fn end(mut self) -> ExitStatus {
        let status = self.child.wait().expect("it ends");
        let end = Instant::now() + SEEN_WITHIN;
        loop {
            let is_back = {
                let parser = self.screen.lock().expect("nobody panics with it");
                !parser.screen().alternate_screen() && !parser.screen().hide_cursor()
            };
            if is_back {
                break;
            }
            assert!(Instant::now() < end, "the first screen is not back");
            std::thread::sleep(Duration::from_millis(50));
        }
        let modes = tcgetattr(&self.line).expect("it is a terminal").local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "lines are read again");
        status
    }
}
