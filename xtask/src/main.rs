//! The project's own tasks: `cargo xtask ci|tidy|generate|bench|hunt|simulate|seeded|image|dist`.
//!
//! One language and one tool for everything that a shell script would otherwise do (see `DESIGN.md`).

mod bench;
mod ci;
mod dist;
mod hunt;
mod image;
mod repository;
mod seeded;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tasks of the kubectl-kai repository")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything a change must pass: format, lints, tests, generated files, licences
    Ci(ci::Arguments),
    /// The repository's own rules (also run by `cargo test`)
    Tidy,
    /// Write CRDs, completions and the reference from their source
    Generate,
    /// Run benchmarks: instruction counts, wall times and growth slopes
    Bench(bench::Arguments),
    /// Try the properties with new seeds, and keep what fails
    Hunt(hunt::Arguments),
    /// Simulate whole clusters from seeds, and check every promise after every write
    Simulate {
        /// Arguments of the simulation, see `cargo xtask simulate -- --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Put bugs into a copy of the tree, one at a time, and see who notices
    Seeded(seeded::Arguments),
    /// Build an image of all programs as an archive, without Docker
    Image(image::Arguments),
    /// Pack the command line for those who download it
    Dist(dist::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Ci(arguments) => ci::run(&arguments),
        Task::Tidy => tidy::run(),
        // A program of its own, because it knows the whole command line, which takes minutes to build.
        Task::Generate => repository::cargo_with(&["run", "--quiet", "--bin", "generate"]),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Hunt(arguments) => hunt::run(&arguments),
        Task::Simulate { arguments } => {
            let mut words =
                vec!["run", "--quiet", "--profile", "simulate", "--bin", "simulate", "--"];
            words.extend(arguments.iter().map(String::as_str));
            repository::cargo_with(&words)
        }
        Task::Seeded(arguments) => seeded::run(&arguments),
        Task::Image(arguments) => image::run(&arguments),
        Task::Dist(arguments) => dist::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            repository::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
