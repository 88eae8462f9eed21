//! kubectl's template language for `-o jsonpath=`: text, `{.a.b[0]}`, `{.items[*].metadata.name}`, `{"\n"}`,
//! `{range .items[*]}…{end}`.

use serde_json::Value;

use crate::print::error::{Error, Exit, Problem, number};

/// A template, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Self>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(i64),
    All,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Names the part that is not understood.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut rest = text;
        let parts = parts(&mut rest, false)?;
        Ok(Self(parts))
    }

    /// What the template prints of an object.
    pub(crate) fn apply(&self, object: &Value) -> String {
        let mut out = String::new();
        apply(&self.0, object, &mut out);
        out
    }
}

fn wrong(part: &str) -> Error {
    Problem::new(number::VALUE, Exit::Usage, format!("-o jsonpath: \"{part}\" is not understood"))
        .fix("-o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'")
        .into()
}

fn parts(rest: &mut &str, in_range: bool) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let Some(open) = rest.find('{') else {
            parts.push(Part::Text(std::mem::take(rest).to_owned()));
            break;
        };
        if open > 0 {
            parts.push(Part::Text(rest[..open].to_owned()));
        }
        let inner = &rest[open + 1..];
        let close = closing(inner).ok_or_else(|| wrong(&rest[open..]))?;
        let expression = inner[..close].trim();
        *rest = &inner[close + 1..];
        if expression == "end" {
            return if in_range { Ok(parts) } else { Err(wrong("{end}")) };
        } else if let Some(path) = expression.strip_prefix("range ") {
            let path = steps(path.trim())?;
            let body = self::parts(rest, true)?;
            parts.push(Part::Range(path, body));
        } else if let Some(quoted) = expression.strip_prefix(['"', '\'']) {
            let text = quoted.get(..quoted.len().saturating_sub(1)).unwrap_or_default();
            parts.push(Part::Text(unescape(text)));
        } else {
            parts.push(Part::Path(steps(expression)?));
        }
    }
    if in_range { Err(wrong("{range …} without {end}")) } else { Ok(parts) }
}

/// The closing brace, past quoted text.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '}') => return Some(i),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"").replace("\\\\", "\\")
}

fn steps(path: &str) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix(['$', '@']).unwrap_or(path);
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('[') {
            let close = tail.find(']').ok_or_else(|| wrong(path))?;
            let index = &tail[..close];
            steps.push(match index.strip_prefix(['\'', '"']) {
                Some(quoted) => Step::Field(quoted.trim_end_matches(['\'', '"']).to_owned()),
                None if index == "*" => Step::All,
                None => Step::Index(index.parse().map_err(|_| wrong(path))?),
            });
            rest = &tail[close + 1..];
            continue;
        }
        let Some(tail) = rest.strip_prefix('.') else { return Err(wrong(path)) };
        // A backslash keeps a dot in a key: `.metadata.labels.kai\.scheduler/queue`.
        let mut field = String::new();
        let mut chars = tail.char_indices();
        let mut end = tail.len();
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => field.extend(chars.next().map(|(_, c)| c)),
                '.' | '[' => {
                    end = i;
                    break;
                }
                c => field.push(c),
            }
        }
        match field.as_str() {
            "" => {}
            "*" => steps.push(Step::All),
            _ => steps.push(Step::Field(field)),
        }
        rest = &tail[end..];
    }
    Ok(steps)
}

fn walk<'a>(value: &'a Value, steps: &[Step]) -> Vec<&'a Value> {
    let Some((step, rest)) = steps.split_first() else { return vec![value] };
    let next: Vec<&Value> = match (step, value) {
        (Step::Field(name), Value::Object(map)) => map.get(name).into_iter().collect(),
        (Step::All, Value::Array(items)) => items.iter().collect(),
        (Step::All, Value::Object(map)) => map.values().collect(),
        (Step::Index(index), Value::Array(items)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let at = if *index < 0 { index + length } else { *index };
            usize::try_from(at).ok().and_then(|at| items.get(at)).into_iter().collect()
        }
        _ => Vec::new(),
    };
    next.into_iter().flat_map(|value| walk(value, rest)).collect()
}

fn apply(parts: &[Part], here: &Value, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(steps) => {
                let texts: Vec<String> = walk(here, steps)
                    .into_iter()
                    .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                    .collect();
                out.push_str(&texts.join(" "));
            }
            Part::Range(steps, body) => {
                for item in walk(here, steps) {
                    apply(body, item, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_kubectl_prints_it() {
        let object = serde_json::json!({
            "items": [{"metadata": {"name": "a", "labels": {"kai.scheduler/queue": "q"}}}, {"metadata": {"name": "b"}}],
            "n": 2,
        });
        for (template, text) in [
            ("{.items[*].metadata.name}", "a b"),
            ("{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "a\nb\n"),
            ("{.items[0].metadata.labels.kai\\.scheduler/queue}", "q"),
            ("{.items[-1].metadata.name}{'\\t'}{.n}", "b\t2"),
            ("n={$.n} {.nothing}.", "n=2 ."),
        ] {
            assert_eq!(
                Template::parse(template).expect(template).apply(&object),
                text,
                "{template}"
            );
        }
        for template in ["{.a", "{range .items}", "{end}", "{a}"] {
            assert!(Template::parse(template).is_err(), "{template}");
        }
    }
}
