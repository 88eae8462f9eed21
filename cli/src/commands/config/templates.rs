//! `kubectl kai config templates`: which there are, what they say, and where they are kept.

use std::io::Read as _;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use crate::commands::submit::library::{self, Kept, check_name};
use crate::commands::submit::render;
use crate::commands::submit::template::{Head, Parameter, Template};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use crate::print::output::clean;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use crate::settings::{TemplatePlace, user_templates};

/// Help of `--to`.
const TO: &str = "Folder, or configmap://NAMESPACE/NAME (default: your own folder)";

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Every template with its parameters
    List(SheetFlags),
    /// The text of one
    Show {
        /// Name of the template, or a file
        name: String,
    },
    /// Keep a file as a template
    Save {
        /// Name of the template
        name: String,
        /// File with the template; - is standard input
        #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        filename: PathBuf,
        #[arg(long, value_name = "PLACE", help = TO)]
        to: Option<String>,
    },
    /// Delete a template that was kept
    Delete {
        /// Name of the template
        name: String,
        /// Ask nothing
        #[arg(short, long)]
        yes: bool,
    },
}

/// Runs `config templates`.
pub(super) async fn run(action: &Action, context: &mut Context) -> Result<(), Error> {
    match action {
        Action::List(flags) => list(flags, context).await,
        Action::Show { name } => {
            let template = library::find(name, context).await?;
            context.out.talk(&format!("# {}", clean(&template.origin)));
            let lines = template.text.lines().map(|line| clean(line).into_owned());
            context.out.data(&lines.collect::<Vec<_>>().join("\n"))
        }
        Action::Save { name, filename, to } => {
            check_name(name)?;
            let text = text(filename, context)?;
            let origin = filename.display().to_string();
            let template = Template::kept(name, origin, text);
            render::check(&template)?;
            let place = place(to.as_deref(), context)?;
            let at = library::save(&place, name, &template.text, context).await?;
            context.out.talk(&format!("template {name} saved to {at}"));
            Ok(())
        }
        Action::Delete { name, yes } => {
            let Some(kept) = Kept::find(name, context).await? else {
                return Err(not_kept(name).into());
            };
            context.confirm(&format!("Delete the template {}?", clean(&kept.at)), *yes)?;
            library::delete(&kept, context).await?;
            context.out.talk(&format!("template {name} deleted from {}", clean(&kept.at)));
            Ok(())
        }
    }
}

async fn list(flags: &SheetFlags, context: &mut Context) -> Result<(), Error> {
    let format = Format::asked(context.globals.output.as_deref(), flags.jq.as_deref())?;
    let (all, unread) = library::all(context).await;
    let columns = vec![
        Column::new("NAME"),
        Column::new("PARAMETERS").drop(1),
        Column::new("ABOUT").drop(3),
        Column::new("FROM").drop(2),
    ];
    let items: Vec<_> = all.iter().map(Template::to_json).collect();
    let rows = all.iter().map(|one| Row::new(one.name.clone(), cells(one))).collect();
    let body = Body::Table(Table { columns, rows });
    let mut report = Report::new("TemplateList", json!({ "items": items }), body);
    report.warnings =
        unread.iter().map(|why| format!("templates were not read: {}", clean(why))).collect();
    let flags = flags.list();
    report.arrange(&flags)?;
    report.print(&format, &flags, &mut context.out)
}

fn cells(template: &Template) -> Vec<Cell> {
    let head = Head::read(&template.text);
    let parameters: Vec<String> = head.parameters.iter().map(Parameter::show).collect();
    let or_none = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    vec![
        template.name.clone().into(),
        or_none(parameters.join(" ")).into(),
        or_none(head.about).into(),
        template.origin.clone().into(),
    ]
}

fn text(filename: &PathBuf, context: &mut Context) -> Result<String, Error> {
    let mut text = String::new();
    let read = if filename.as_os_str() == "-" {
        context.stdin.read_to_string(&mut text)
    } else {
        std::fs::File::open(context.dir.join(filename))
            .and_then(|mut file| file.read_to_string(&mut text))
    };
    match read {
        Ok(_) => Ok(text),
        Err(e) => {
            let is_missing = e.kind() == std::io::ErrorKind::NotFound;
            let exit = if is_missing { Exit::NotFound } else { Exit::Failure };
            let what = format!("failed to read {}: {e}", filename.display());
            Err(Problem::new(number::FILE, exit, what).into())
        }
    }
}

/// The place that a template is saved to.
fn place(to: Option<&str>, context: &Context) -> Result<TemplatePlace, Problem> {
    if let Some(to) = to {
        return TemplatePlace::read(to, &context.dir);
    }
    let own = user_templates(&context.env).map(TemplatePlace::Folder);
    own.ok_or_else(|| {
        Problem::new(number::CONFIG, Exit::Failure, "neither XDG_CONFIG_HOME nor HOME is set")
            .fix("--to FOLDER   or   --to configmap://NAMESPACE/NAME")
    })
}

fn not_kept(name: &str) -> Problem {
    let what = if render::TEMPLATES.iter().any(|(known, _)| *known == name) {
        format!("template \"{name}\" is compiled in, so there is nothing to delete")
    } else {
        format!("there is no template \"{name}\"")
    };
    Problem::new(number::TEMPLATE, Exit::NotFound, what).fix("kubectl kai config templates list")
}
