//! A terminal for tests: a program on a pseudo-terminal, keys typed into it, and what its screen shows.

use std::{
    io::{Read as _, Write as _},
    process::{Child, ExitStatus},
    sync::{Arc, Mutex},
    thread::{self, sleep},
    time::{Duration, Instant},
};

pub use pty_process::blocking::Command;
use pty_process::{Size, blocking::Pty};

/// Sets how long a screen may take to show what is waited for.
const SHOWN_WITHIN: Duration = Duration::from_secs(30);

/// A program that believes to run on a terminal; it ends with the test.
pub struct Terminal {
    child: Child,
    keys: Arc<Pty>,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Terminal").field("child", &self.child).finish_non_exhaustive()
    }
}

impl Terminal {
    /// Starts a program on a terminal of so many columns and rows.
    ///
    /// # Panics
    ///
    /// Panics where the system has no pseudo-terminal, or no such program.
    pub fn start(command: Command, columns: u16, rows: u16) -> Self {
        let (pty, pts) = pty_process::blocking::open().expect("the system has pseudo-terminals");
        pty.resize(Size::new(rows, columns)).expect("it has a size");
        let child = command.env("TERM", "xterm-256color").spawn(pts).expect("it starts");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let keys = Arc::new(pty);
        let (output, shown) = (Arc::clone(&keys), Arc::clone(&screen));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal whose program has ended answers with an error.
            while let Ok(count @ 1..) = (&*output).read(&mut bytes) {
                shown.lock().expect("nobody panics with it").process(&bytes[..count]);
            }
        });
        Self { child, keys, screen }
    }

    /// Types keys; `\r` is Enter, `\t` Tab, `\x03` Ctrl-C, `\x1b` Escape.
    ///
    /// # Panics
    ///
    /// Panics where the program has closed its terminal.
    pub fn press(&self, keys: &str) {
        (&*self.keys).write_all(keys.as_bytes()).expect("the terminal is open");
    }

    /// Gives what the screen shows, a line each, without blanks at the ends.
    ///
    /// # Panics
    ///
    /// Panics where the thread that reads has.
    pub fn screen(&self) -> String {
        let parser = self.screen.lock().expect("nobody panics with it");
        let (_, columns) = parser.screen().size();
        let lines: Vec<String> =
            parser.screen().rows(0, columns).map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until the screen shows this, and gives it then.
    ///
    /// # Panics
    ///
    /// Panics with the screen when that takes too long.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits until the screen is as it should be, and gives it then.
    ///
    /// # Panics
    ///
    /// Panics with the screen when that takes too long.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + SHOWN_WITHIN;
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < end, "the screen does not show {what}:\n{screen}");
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the program has ended.
    ///
    /// # Panics
    ///
    /// Panics where the system cannot tell.
    pub fn end(mut self) -> ExitStatus {
        self.child.wait().expect("it was started here")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}
