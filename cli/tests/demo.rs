//! The demo on a pipe: it comes out as told, and each line stands in the chapter that it tells of.

use std::process::Command;

#[test]
fn a_piped_demo_tells_of_a_start_in_its_own_chapter() {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
        .args(["sandbox", "--demo"])
        .env_clear()
        .output()
        .expect("built with the tests");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let mut chapter = String::new();
    let mut told = 0;
    for line in text.lines() {
        if line.starts_with(|first: char| first.is_ascii_digit()) {
            chapter.clear();
        }
        if let Some(start) = line.strip_prefix("     - ").filter(|line| line.ends_with("running")) {
            let (workload, _) = start.split_once(':').expect("a workload's news");
            // A workflow goes on by itself: its later steps start whenever their turn comes.
            assert!(workload == "etl" || chapter.contains(workload), "{line} in:\n{text}");
            told += 1;
        }
        chapter += line;
        chapter.push('\n');
    }
    assert!(told >= 4, "{text}");
}
