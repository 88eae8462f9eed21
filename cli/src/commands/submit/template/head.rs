//! Describes what a template says of itself, in comments at its beginning. Pure.
//!
//! ```text
//! # about: Trains a model on one node.
//! # param model: model to begin with
//! # param epochs = 3: passes over the data
//! ```
//!
//! A parameter has the type of its default, which is JSON: a number, `true` or `false`, or text. Without a default it is
//! text, and has to be given.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::print::error::{Exit, Problem, number};

/// The comments at the beginning of a template.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) about: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// One parameter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) default: Option<Value>,
    pub(crate) about: String,
}

impl Head {
    /// Reads the comments in front of a template.
    pub(crate) fn read(text: &str) -> Self {
        let mut head = Self::default();
        for line in text.lines().take_while(|line| line.is_empty() || line.starts_with('#')) {
            let comment = line.trim_start_matches('#').trim();
            if let Some(about) = comment.strip_prefix("about:") {
                about.trim().clone_into(&mut head.about);
            } else if let Some(parameter) = comment.strip_prefix("param ") {
                head.parameters.push(Parameter::read(parameter));
            }
        }
        head
    }

    /// The values of all parameters, from `-p` and the defaults. `used` are the variables that the template has besides
    /// those of `submit`: one that it uses and does not declare is a parameter as well.
    ///
    /// # Errors
    /// Everything that is missing, unknown or of another type.
    pub(crate) fn values(
        &self,
        template: &str,
        given: &[(String, String)],
        used: &[String],
    ) -> Result<BTreeMap<String, Value>, Vec<Problem>> {
        let (mut values, mut problems) = (BTreeMap::new(), Vec::new());
        let undeclared = used.iter().filter(|name| self.parameter(name).is_none());
        let undeclared: Vec<&str> = undeclared.map(String::as_str).collect();
        for (name, text) in given {
            let value = match self.parameter(name) {
                Some(parameter) => parameter.value(text),
                None if undeclared.contains(&name.as_str()) => Ok(json!(text)),
                None => Err(self.unknown(template, name, &undeclared)),
            };
            match value {
                Ok(value) => drop(values.insert(name.clone(), value)),
                Err(problem) => problems.push(problem),
            }
        }
        for parameter in &self.parameters {
            match &parameter.default {
                Some(default) => {
                    values.entry(parameter.name.clone()).or_insert_with(|| default.clone());
                }
                None if given.iter().all(|(name, _)| *name != parameter.name) => {
                    problems.push(missing(template, &parameter.name, &parameter.about));
                }
                None => {}
            }
        }
        for name in undeclared.iter().filter(|name| given.iter().all(|(of, _)| of != **name)) {
            problems.push(
                missing(template, name, "")
                    .line("no comment declares it, and it is none of the variables of submit"),
            );
        }
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }

    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    fn unknown(&self, template: &str, name: &str, undeclared: &[&str]) -> Problem {
        let known: Vec<&str> = self
            .parameters
            .iter()
            .map(|parameter| parameter.name.as_str())
            .chain(undeclared.iter().copied())
            .collect();
        let what = format!("{template} has no parameter \"{name}\"");
        let problem = Problem::new(number::TEMPLATE, Exit::Usage, what);
        if known.is_empty() {
            return problem.fix("leave -p out");
        }
        problem.fix(format!("-p NAME=VALUE with one of {}", known.join(", ")))
    }
}

fn missing(template: &str, name: &str, about: &str) -> Problem {
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    let what = format!("{template} needs the parameter {name}{about}");
    Problem::new(number::TEMPLATE, Exit::Usage, what).fix(format!("-p {name}=VALUE"))
}

impl Parameter {
    /// Reads `NAME [= DEFAULT]: DESCRIPTION`.
    fn read(text: &str) -> Self {
        let end = text.find([':', '=']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let name = name.trim().to_owned();
        let Some(rest) = rest.strip_prefix('=') else {
            let about = rest.trim_start_matches(':').trim().to_owned();
            return Self { name, default: None, about };
        };
        let mut json = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let (default, rest) = match json.next() {
            Some(Ok(value)) if !value.is_object() && !value.is_array() => {
                (value, &rest[json.byte_offset()..])
            }
            // A word without quotes is text.
            _ => {
                let (word, rest) = rest.split_once(": ").unwrap_or((rest, ""));
                (json!(word.trim()), rest)
            }
        };
        let about = rest.trim().trim_start_matches(':').trim().to_owned();
        Self { name, default: Some(default), about }
    }

    /// A value as it is typed, in the type of the parameter.
    fn value(&self, text: &str) -> Result<Value, Problem> {
        let wrong = |kind: &str, default: &Value| {
            let what =
                format!("-p {}={text} is not {kind}, as its default {default} is", self.name);
            Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix(format!("-p {}={default}", self.name)))
        };
        let typed: Option<Value> = serde_json::from_str(text).ok();
        match (&self.default, typed) {
            (Some(Value::Number(_)), Some(value)) if value.is_number() => Ok(value),
            (Some(default @ Value::Number(_)), _) => wrong("a number", default),
            (Some(Value::Bool(_)), Some(value)) if value.is_boolean() => Ok(value),
            (Some(default @ Value::Bool(_)), _) => wrong("true or false", default),
            (_, _) => Ok(json!(text)),
        }
    }

    /// As a list shows it: `model`, or `epochs=3`.
    pub(crate) fn show(&self) -> String {
        match &self.default {
            Some(Value::String(text)) => format!("{}={text}", self.name),
            Some(default) => format!("{}={default}", self.name),
            None => self.name.clone(),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "name": self.name, "default": self.default, "about": self.about })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, name: &str, default: Option<Value>, about: &str) {
        let expect = Parameter { name: name.into(), default, about: about.into() };
        assert_eq!(Parameter::read(line), expect, "{line}");
    }

    #[test]
    fn a_parameter_is_name_default_and_description() {
        check("model: model to begin with", "model", None, "model to begin with");
        check("epochs = 3: passes", "epochs", Some(json!(3)), "passes");
        check("image = \"a:1\": what runs", "image", Some(json!("a:1")), "what runs");
        check("fast=true", "fast", Some(json!(true)), "");
        check("mode = one: of two", "mode", Some(json!("one")), "of two");
    }

    fn values(given: &[(&str, &str)]) -> String {
        let head = Head::read(
            "# about: x\n\n# param model: which\n# param epochs = 3: passes\nkind: Job\n# param no: 1\n",
        );
        let given: Vec<(String, String)> =
            given.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        match head.values("t", &given, &["model".into(), "data".into()]) {
            Ok(values) => json!(values).to_string(),
            Err(problems) => {
                problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>().join("; ")
            }
        }
    }

    #[test]
    fn values_have_the_type_of_their_default() {
        let given = [("model", "7"), ("data", "d"), ("epochs", "5")];
        assert_eq!(values(&given), r#"{"data":"d","epochs":5,"model":"7"}"#);
        assert_eq!(
            values(&[("epochs", "many"), ("no", "1")]),
            "-p epochs=many is not a number, as its default 3 is; t has no parameter \"no\"; \
             t needs the parameter model (which); t needs the parameter data"
        );
    }
}
