//! A process ends with any panic but those that are caught.

use std::{env, os::unix::process::ExitStatusExt as _, process::Command, thread};

use kai_daemon::process::{catching, end_on_panic};

/// Says what the process that a test starts is to do.
const VARIABLE: &str = "KAI_TEST_PANICS";
const SIGABRT: i32 = 6;

/// Does what the variable says; nothing in a run of all tests.
#[test]
fn as_told() {
    let Ok(told) = env::var(VARIABLE) else { return };
    end_on_panic();
    assert_eq!(catching(|| 7), Some(7));
    let inner = || catching(|| panic!("of the inner")).map_or(1, |()| 2);
    assert_eq!(catching(inner), Some(1));
    assert_eq!(catching(|| panic!("of the outer")), None::<()>);
    if told == "thread" {
        // Nobody looks at what became of it.
        drop(thread::spawn(|| panic!("of nobody")).join());
    }
}

#[test]
fn a_panic_that_nobody_catches_ends_the_process() {
    for (told, signal) in [("none", None), ("thread", Some(SIGABRT))] {
        let mut again = Command::new(env::current_exe().expect("this test is a program"));
        let output = again.args(["--exact", "as_told", "--nocapture"]).env(VARIABLE, told).output();
        let output = output.expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), signal, "{told}: {said}");
        assert_eq!(said.contains("of nobody"), signal.is_some(), "{said}");
        assert!(!said.contains("of the"), "caught: {said}");
    }
}
