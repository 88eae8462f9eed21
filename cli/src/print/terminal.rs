//! `top -i`: the whole terminal, drawn cell by cell. What it looked like before comes back when the view ends, however it
//! ends: by its end, by an error, or by a panic.

use std::io::{self, Stdout, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use tokio::sync::mpsc;

use crate::print::error::{Error, Exit, Problem, number};

/// Tells whether the terminal is ours now.
static IS_OURS: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal while it is ours.
pub(crate) struct Terminal {
    screen: ratatui::Terminal<CrosstermBackend<Stdout>>,
}

impl Terminal {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// It is none, or cannot be switched.
    pub(crate) fn open() -> Result<Self, Error> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        enable_raw_mode().map_err(|error| failed(&error))?;
        IS_OURS.store(true, Ordering::SeqCst);
        let opened = execute!(io::stdout(), EnterAlternateScreen, Hide)
            .and_then(|()| ratatui::Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(screen) => Ok(Self { screen }),
            Err(error) => {
                restore();
                Err(failed(&error))
            }
        }
    }

    /// Draws a picture; only what differs from the one before is written, and the terminal shows it at once.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Frame<'_>)) -> Result<(), Error> {
        execute!(io::stdout(), BeginSynchronizedUpdate)
            .and_then(|()| self.screen.draw(paint).map(|_| ()))
            .and_then(|()| execute!(io::stdout(), EndSynchronizedUpdate))
            .map_err(|error| failed(&error))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back as it was.
fn restore() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        // Nobody can be told when the terminal itself is gone.
        let _gone = execute!(io::stdout(), EndSynchronizedUpdate, LeaveAlternateScreen, Show);
        let _gone = disable_raw_mode();
        let _gone = io::stdout().flush();
    }
}

/// Reads what is typed, in a thread of its own that ends with the process.
pub(crate) fn events() -> mpsc::UnboundedReceiver<Event> {
    let (told, events) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if told.send(event).is_err() {
                return;
            }
        }
    });
    events
}

fn failed(error: &io::Error) -> Error {
    let what = format!("failed to draw on the terminal: {error}");
    Problem::new(number::FILE, Exit::Failure, what).into()
}

#[cfg(test)]
#[path = "../../tests/terminal/mod.rs"]
mod pty;

#[cfg(test)]
mod tests {
    use std::mem::ManuallyDrop;
    use std::process::Command;

    use super::pty::Pty;
    use super::*;

    /// Set where the test below is to panic: in a process that has a terminal.
    const PANICS: &str = "PANICS_IN_A_TERMINAL";

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_tells_why() {
        if std::env::var_os(PANICS).is_some() {
            // In a release build nothing is dropped: a panic ends the process.
            let mut terminal = ManuallyDrop::new(Terminal::open().expect("it is a terminal"));
            terminal.draw(|frame| frame.render_widget("the view", frame.area())).expect("it draws");
            // Somebody looks at it and presses a key.
            events().blocking_recv();
            panic!("it broke");
        }
        let this = "print::terminal::tests::a_panic_gives_the_terminal_back_before_it_tells_why";
        let program = std::env::current_exe().expect("it runs");
        let mut command = Command::new(program);
        let mut again = Pty::run(command.args(["--exact", this, "--nocapture"]).env(PANICS, "1"));
        again.wait(&["the view"], &[]);
        again.press("x");
        again.wait(&["it broke"], &["the view"]);
        assert!(!again.end().success());
    }
}
