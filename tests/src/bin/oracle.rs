//! `oracle DIR [--json]`: judges the engine by the `oracle/1` files in a folder.
//!
//! Exits 0 when every `must` passes, 1 when one does not, 2 when the folder cannot be read.

use std::{collections::BTreeMap, io::Write, path::PathBuf, process::ExitCode};

use clap::Parser;
use kai_tests::oracle::{Line, judge_folder};

/// Judges the engine by `oracle/1` files.
#[derive(Debug, Parser)]
struct Args {
    /// The folder; files in folders below it count too.
    dir: PathBuf,
    /// Print one JSON object instead of lines.
    #[arg(long)]
    json: bool,
    /// Leave out cases that pass.
    #[arg(long)]
    failed: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // A panic of the engine is a difference of its case, which prints it.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout().lock();
    let written = match judge_folder(&args.dir) {
        Ok((lines, unknown)) if lines.is_empty() && unknown.is_empty() => {
            let _ = writeln!(
                std::io::stderr(),
                "failed to find an oracle/1 case below {}",
                args.dir.display()
            );
            return ExitCode::from(2);
        }
        Ok((lines, unknown)) => print(&mut out, &args, &lines, &unknown).map(|()| lines),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error:#}");
            return ExitCode::from(2);
        }
    };
    let passes = |line: &Line| line.level != "must" || line.differences.is_empty();
    match written {
        Ok(lines) if lines.iter().all(passes) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(_) => ExitCode::from(2),
    }
}

fn print(
    out: &mut impl Write,
    args: &Args,
    lines: &[Line],
    unknown: &[String],
) -> std::io::Result<()> {
    let levels = totals(lines, |line| vec![format!("{}/{}", line.family, line.level)]);
    let features = totals(lines, |line| line.features.clone());
    if args.json {
        let report = serde_json::json!({
            "cases": lines,
            "levels": levels,
            "features": features,
            "notJudged": unknown,
        });
        return writeln!(out, "{report:#}");
    }
    for line in lines {
        let passes = line.differences.is_empty();
        if passes && args.failed {
            continue;
        }
        let word = if passes { "pass" } else { "FAIL" };
        writeln!(out, "{word} {} [{}] {}", line.id, line.level, line.name)?;
        for difference in &line.differences {
            writeln!(out, "     {difference}")?;
        }
    }
    for (title, totals) in [("level", levels), ("feature", features)] {
        writeln!(out, "\n{title:40} passed  of")?;
        for (key, [passed, all]) in totals {
            writeln!(out, "{key:40} {passed:6} {all:3}")?;
        }
    }
    for file in unknown {
        writeln!(out, "not judged: {file}")?;
    }
    Ok(())
}

/// Per key, how many cases passed and how many there are.
fn totals(lines: &[Line], keys: impl Fn(&Line) -> Vec<String>) -> BTreeMap<String, [usize; 2]> {
    let mut totals: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in lines {
        for key in keys(line) {
            let entry = totals.entry(key).or_default();
            entry[0] += usize::from(line.differences.is_empty());
            entry[1] += 1;
        }
    }
    totals
}
