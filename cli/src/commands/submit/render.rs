//! From a template to an object. Every value is printed as JSON, so no text can break out of its place.

use std::collections::{BTreeMap, HashSet};
use std::io;

use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, context};
use serde_json::Value;

use super::is_workload;
use super::particulars::spark_type;
use super::request::Request;
use super::template::{Head, Template};
use crate::cluster::gpu::Gpu;
use crate::cluster::json::{ensure, text};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::yaml;

/// The templates that are compiled in.
pub(crate) const TEMPLATES: &[(&str, &str)] = &[
    ("argo", include_str!("../../../../templates/argo.yaml")),
    ("cronjob", include_str!("../../../../templates/cronjob.yaml")),
    ("deployment", include_str!("../../../../templates/deployment.yaml")),
    ("jax", include_str!("../../../../templates/jax.yaml")),
    ("job", include_str!("../../../../templates/job.yaml")),
    ("jobset", include_str!("../../../../templates/jobset.yaml")),
    ("lws", include_str!("../../../../templates/lws.yaml")),
    ("mpi", include_str!("../../../../templates/mpi.yaml")),
    ("mpi-v1", include_str!("../../../../templates/mpi-v1.yaml")),
    ("notebook", include_str!("../../../../templates/notebook.yaml")),
    ("notebook-pod", include_str!("../../../../templates/notebook-pod.yaml")),
    ("paddle", include_str!("../../../../templates/paddle.yaml")),
    ("pod", include_str!("../../../../templates/pod.yaml")),
    ("pytorch", include_str!("../../../../templates/pytorch.yaml")),
    ("ray", include_str!("../../../../templates/ray.yaml")),
    ("raycluster", include_str!("../../../../templates/raycluster.yaml")),
    ("rayservice", include_str!("../../../../templates/rayservice.yaml")),
    ("spark", include_str!("../../../../templates/spark.yaml")),
    ("statefulset", include_str!("../../../../templates/statefulset.yaml")),
    ("tensorflow", include_str!("../../../../templates/tensorflow.yaml")),
    ("trainjob", include_str!("../../../../templates/trainjob.yaml")),
    ("xgboost", include_str!("../../../../templates/xgboost.yaml")),
];

/// Renders a template for a request: one object, or several.
///
/// # Errors
/// With the template's name and line.
pub(crate) fn render(template: &Template, request: &Request) -> Result<Vec<Value>, Error> {
    let name = template.origin.as_str();
    let environment = environment();
    let gpus = match request.gpu {
        Some(Gpu::Whole(count) | Gpu::Device { count, .. } | Gpu::Claim { count, .. }) => count,
        Some(Gpu::Share { .. } | Gpu::Memory { .. } | Gpu::Mig { .. }) | None => 0,
    };
    let values = context! {
        name => &request.name,
        image => request.image.as_deref().unwrap_or_default(),
        command => &request.command,
        entrypoint => shell(&request.command),
        workers => request.workers.0,
        workers_max => request.workers.1,
        gpus,
        max_runtime_seconds => request.max_runtime_seconds,
        retries => request.retries,
        replicas => request.particulars.replicas.unwrap_or(1),
        array => request.particulars.array.map(|array| context! {
            tasks => array.tasks,
            at_once => array.at_once,
        }),
        schedule => &request.particulars.schedule,
        time_zone => &request.particulars.time_zone,
        ttl_seconds => request.particulars.ttl_seconds,
        main_class => &request.particulars.main_class,
        spark_type => spark_type(
            request.command.first().map_or("", String::as_str),
            request.particulars.main_class.as_deref(),
        ),
    };
    let failed = |e: minijinja::Error| Error::from(unrendered(name, &e));
    let parsed = environment.template_from_named_str(name, &template.text).map_err(failed)?;
    let used = parsed.undeclared_variables(false);
    let mut problems = without_place(name, &used, request);
    problems.extend(without_image(name, &used, request));
    let ours: HashSet<String> =
        values.try_iter().into_iter().flatten().map(|key| key.to_string()).collect();
    let mut others: Vec<String> = used.difference(&ours).cloned().collect();
    others.sort();
    let parameters = Head::read(&template.text).values(name, &request.parameters, &others);
    let parameters = parameters.unwrap_or_else(|wrong| {
        problems.extend(wrong);
        BTreeMap::new()
    });
    Error::all(problems)?;
    let parameters = parameters.into_iter().map(|(name, value)| (name, scalar(value)));
    let values = context! { ..values, ..minijinja::Value::from_pairs(parameters) };
    let text = made(&parsed, values).map_err(failed)?;
    let mut objects = yaml::documents(name, &text)?;
    Error::all(
        objects.iter().enumerate().filter_map(|(at, object)| nameless(name, at, object)).collect(),
    )?;
    // A template that gives a name of its own is for more than one workload all the same.
    for object in objects.iter_mut().filter(|object| is_workload(object)) {
        ensure(object, "/metadata").insert("name".into(), request.name.clone().into());
    }
    Ok(objects)
}

/// Steps that a template takes at most: those that are compiled in take a few hundred.
const STEPS_MAX: u64 = 1_000_000;
/// Bytes that a template makes at most, as of a manifest that is fetched.
const BYTES_MAX: usize = 16 << 20;

/// Holds what a template has made so far.
struct Made(Vec<u8>);

impl io::Write for Made {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > BYTES_MAX - self.0.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Renders a template, which need have no end, into a text that has one.
fn made(
    parsed: &minijinja::Template<'_, '_>,
    values: minijinja::Value,
) -> Result<String, minijinja::Error> {
    let mut made = Made(Vec::new());
    parsed.render_captured_to(values, &mut made)?;
    String::from_utf8(made.0)
        .map_err(|e| minijinja::Error::new(ErrorKind::BadSerialization, e.to_string()))
}

/// The lack of what tells the API server where an object belongs.
fn nameless(name: &str, at: usize, object: &Value) -> Option<Problem> {
    let field =
        ["apiVersion", "kind"].into_iter().find(|field| text(&object[*field]).is_empty())?;
    let what = format!("{name}: object {} has no {field}", at + 1);
    let problem = Problem::new(number::TEMPLATE, Exit::Refused, what);
    Some(problem.fix("an object has apiVersion, kind and metadata"))
}

/// The value of a parameter for a template.
fn scalar(value: Value) -> minijinja::Value {
    match value {
        Value::Bool(value) => value.into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, number) => number.unwrap_or_default().into(),
        },
        Value::String(text) => text.into(),
        Value::Null | Value::Array(_) | Value::Object(_) => minijinja::Value::UNDEFINED,
    }
}

/// Checks that a text is a template, whatever its values will be.
///
/// # Errors
/// With the template's name and line.
pub(crate) fn check(template: &Template) -> Result<(), Problem> {
    let parsed = environment();
    let parsed = parsed.template_from_named_str(&template.origin, &template.text);
    parsed.map(drop).map_err(|e| unrendered(&template.origin, &e))
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(STEPS_MAX));
    environment.set_auto_escape_callback(|_| AutoEscape::Json);
    environment
}

fn unrendered(name: &str, error: &minijinja::Error) -> Problem {
    let place = error.line().map_or_else(String::new, |line| format!(":{line}"));
    let why = match error.kind() {
        ErrorKind::OutOfFuel => "takes more than 1,000,000 steps",
        ErrorKind::WriteFailure => "makes more than 16 MiB",
        _ => error.detail().unwrap_or("cannot be rendered"),
    };
    let what = format!("{name}{place}: {why}");
    Problem::new(number::TEMPLATE, Exit::Refused, what).fix(LANGUAGE)
}

/// The image that a template has a place for and nobody named.
fn without_image(name: &str, used: &HashSet<String>, request: &Request) -> Option<Problem> {
    (request.image.is_none() && used.contains("image")).then(|| {
        Problem::new(number::MISSING, Exit::Usage, format!("{name} needs an image"))
            .fix("--image IMAGE, or once for all: kubectl kai config set image IMAGE")
    })
}

/// The place where the language of templates is told.
const LANGUAGE: &str = "templates/README.md lists what a template may use";

/// Says what was asked for and the template has no place for: left out in silence it would be missed later.
fn without_place(name: &str, used: &HashSet<String>, request: &Request) -> Vec<Problem> {
    [
        (!request.command.is_empty(), ["command", "entrypoint"].as_slice(), "-- COMMAND"),
        (request.workers != (1, 1), &["workers", "workers_max"], "--workers"),
        (request.max_runtime_seconds.is_some(), &["max_runtime_seconds"], "--max-runtime"),
        (request.retries > 0, &["retries"], "--retries"),
        (request.particulars.ttl_seconds.is_some(), &["ttl_seconds"], "--ttl"),
        (request.particulars.replicas.is_some(), &["replicas"], "--replicas"),
        (request.particulars.array.is_some(), &["array"], "--array"),
        (request.particulars.schedule.is_some(), &["schedule"], "--schedule"),
    ]
    .into_iter()
    .filter(|(asked, places, _)| *asked && !places.iter().any(|place| used.contains(*place)))
    .map(|(_, places, flag)| {
        let what = format!("{name} has no place for {flag}");
        let problem = Problem::new(number::TEMPLATE, Exit::Refused, what);
        if TEMPLATES.iter().any(|(own, _)| name == format!("template {own}")) {
            return problem
                .fix("leave it out, or submit a kind that takes it: job, pytorch, jobset");
        }
        problem.fix(format!("leave it out, or write {{{{ {} }}}} into the template", places[0]))
    })
    .collect()
}

/// Words as one line for a POSIX shell.
pub(super) fn shell(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_has_an_end() {
        let nested = |depth: usize, text: &str| {
            let (begin, end) = ("{% for a in all %}".repeat(depth), "{% endfor %}".repeat(depth));
            format!("{{% set all = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] %}}{begin}{text}{end}")
        };
        let (steps, bytes) = (nested(30, ""), nested(4, &"a line\n".repeat(1_000)));
        let request = Request { workers: (1, 1), ..Request::default() };
        for (text, why) in
            [(&steps, "takes more than 1,000,000 steps"), (&bytes, "makes more than 16 MiB")]
        {
            let template = Template::kept("t", "t.yaml".to_owned(), text.clone());
            let said = render(&template, &request).expect_err(why).to_string();
            assert!(said.contains("t.yaml") && said.contains(why), "{said}");
        }
    }
}
