//! Makes `docs/settings.md`: names on objects, values of the chart, flags and metrics of the daemons, each from what reads it.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use kai_daemon::metrics::Described;

use super::{Generated, chart};

const NAMES: &str = include_str!("../../../api/src/names.rs");
/// Modules of `names.rs` that are about what users see, each with its title.
const MODULES: [(&str, &str); 7] = [
    ("label", "Labels"),
    ("annotation", "Annotations"),
    ("node", "Labels of nodes"),
    ("resource", "Resources"),
    ("env", "Environment variables of pods that share GPUs"),
    ("condition", "Conditions"),
    ("event", "Reasons of events"),
];

pub(super) fn file() -> Generated {
    let mut text = String::from(
        "# Names, settings and metrics\n\nWritten by `cargo xtask generate` from the code that reads them. What they mean \
         together is in [the contract](contract.md).\n\n",
    );
    for (module, title) in MODULES {
        let _ = write!(text, "## {title}\n\n| name | meaning |\n|---|---|\n");
        for (name, about) in constants(module) {
            let _ = writeln!(text, "| `{name}` | {about} |");
        }
        text.push('\n');
    }
    let _ = write!(text, "## Values of the chart\n\n{}\n", chart::effects());
    let scheduler = kai_scheduler::Args::command();
    let podgrouper = kai_podgrouper::Args::command();
    for command in [&scheduler, &podgrouper] {
        flags(command, &mut text);
    }
    let of_scheduler = kai_scheduler::serve::metrics::Metrics::new("kai").described();
    let of_podgrouper = kai_podgrouper::described("kai").expect("kai begins a name");
    text.push_str(
        "## Metrics\n\nThe prefix `kai_` is `--metrics-namespace`. `process_*` are those of Prometheus' clients.\n\n",
    );
    for (daemon, metrics) in [("kai-scheduler", of_scheduler), ("kai-podgrouper", of_podgrouper)] {
        table_of(daemon, &metrics, &mut text);
    }
    Generated { path: "docs/settings.md".to_owned(), text: text.trim_end().to_owned() + "\n" }
}

/// The constants of a module with their values and what is written above them, in order.
fn constants(module: &str) -> Vec<(String, String)> {
    let begin = format!("pub mod {module} {{\n");
    let (_, body) = NAMES.split_once(&begin).expect("names.rs has this module");
    let (body, _) = body.split_once("\n}\n").expect("a module ends");
    let (mut found, mut about) = (Vec::new(), Vec::new());
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            about.push(text.trim());
            continue;
        }
        let value = line.strip_prefix("pub const ").and_then(|line| line.split_once(": &str = \""));
        if let Some((_, value)) = value {
            let value = value.trim_end_matches("\";");
            found.push((value.to_owned(), cell(&about.join(" ").replace(['[', ']'], ""))));
        }
        about.clear();
    }
    found
}

fn flags(command: &clap::Command, text: &mut String) {
    let name = command.get_name();
    let _ = write!(text, "## Flags of {name}\n\n| flag | default | meaning |\n|---|---|---|\n");
    let shown = |argument: &&clap::Arg| !argument.is_hide_set() && argument.get_long().is_some();
    for argument in command.get_arguments().filter(shown) {
        let long = argument.get_long().unwrap_or_default();
        let defaults: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default = defaults.join(",");
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let about = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `--{long}` | {} | {} |", cell(&default), cell(&about));
    }
    text.push('\n');
}

fn table_of(daemon: &str, metrics: &[Described], text: &mut String) {
    let _ =
        write!(text, "### {daemon}\n\n| metric | kind | labels | meaning |\n|---|---|---|---|\n");
    for Described { name, kind, labels, help } in metrics {
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        let (labels, help) = (labels.join(", "), cell(help));
        let _ = writeln!(text, "| `{name}` | {kind} | {labels} | {help} |");
    }
    text.push('\n');
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_what_there_is() {
        let text = file().text;
        for line in [
            "| `kai.scheduler/queue` | The queue of a workload; on a shared `ResourceClaim`, the queue that may use it. |",
            "| `workqueue_depth` | gauge | `controller`, `name` | Keys that wait for a worker |",
            "| `rest_client_requests_total` | counter | `code`, `method`, `host` |",
            "| `kai_e2e_scheduling_latency_milliseconds` | gauge |",
            "| `--leader-elect` |",
            "| `global.registry` |",
        ] {
            assert!(text.contains(line), "{line}");
        }
        let names = text.lines().filter(|line| line.starts_with("| `")).count();
        assert!(names > 250, "{names} rows");
        for (module, _) in MODULES {
            assert!(constants(module).len() > 2, "{module}");
            assert!(constants(module).iter().all(|(_, about)| !about.is_empty()), "{module}");
        }
    }
}
