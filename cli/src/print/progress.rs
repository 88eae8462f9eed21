//! One moving line on stderr while something takes time; only a terminal sees it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(120);
/// Shows what turns, the time so far, and what is waited for, cut at the width of the terminal.
const TEMPLATE: &str = "{spinner} {elapsed:>4}  {wide_msg}";
/// The pictures where only ASCII can be shown; the last one would stay.
const ASCII: &str = "|/-\\ ";

/// Starts the line. It is gone when the bar is dropped.
pub(super) fn start(ascii: bool) -> ProgressBar {
    let style = ProgressStyle::with_template(TEMPLATE);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner();
    bar.set_style(if ascii { style.tick_chars(ASCII) } else { style });
    bar.enable_steady_tick(TICK);
    bar
}
