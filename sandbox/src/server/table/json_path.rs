//! The JSON paths of `additionalPrinterColumns`: fields, indexes, `[*]` and `[?(@.a=="b")]`.

use serde_json::Value;

/// The values at a path; none when it leads nowhere or is not understood.
pub(super) fn find<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut found = vec![value];
    let mut rest = path.trim();
    while !rest.is_empty() {
        let Some((step, tail)) = step(rest) else { return Vec::new() };
        found = found.into_iter().flat_map(|value| take(value, &step)).collect();
        rest = tail;
    }
    found
}

enum Step {
    Field(String),
    Index(i64),
    All,
    Where { path: String, equals: Option<String> },
}

fn step(path: &str) -> Option<(Step, &str)> {
    if let Some(inner) = path.strip_prefix('[') {
        let end = closing(inner)?;
        return Some((bracket(&inner[..end])?, &inner[end + 1..]));
    }
    let rest = path.strip_prefix('.').unwrap_or(path);
    let mut name = String::new();
    let mut letters = rest.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
            '.' | '[' => return Some((field(name), &rest[at..])),
            _ => name.push(letter),
        }
    }
    Some((field(name), ""))
}

fn field(name: String) -> Step {
    if name == "*" { Step::All } else { Step::Field(name) }
}

/// Where the bracket that has just been opened closes.
fn closing(inner: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_u32, None);
    for (at, letter) in inner.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(at),
            (None, ']') => depth -= 1,
            (Some(_) | None, _) => {}
        }
    }
    None
}

fn bracket(inner: &str) -> Option<Step> {
    let inner = inner.trim();
    if inner == "*" {
        return Some(Step::All);
    }
    if let Some(name) = unquote(inner) {
        return Some(Step::Field(name.to_owned()));
    }
    if let Some(filter) = inner.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        let (path, equals) = match filter.split_once("==") {
            Some((path, text)) => {
                let text = text.trim();
                (path, Some(unquote(text).unwrap_or(text).to_owned()))
            }
            None => (filter, None),
        };
        let path = path.trim().strip_prefix('@')?.to_owned();
        return Some(Step::Where { path, equals });
    }
    inner.parse().ok().map(Step::Index)
}

fn unquote(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

fn take<'a>(value: &'a Value, step: &Step) -> Vec<&'a Value> {
    let children = || match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    match step {
        Step::Field(name) if name.is_empty() => vec![value],
        Step::Field(name) => value.get(name).into_iter().collect(),
        Step::All => children(),
        Step::Index(index) => {
            let items = value.as_array().map_or(&[][..], Vec::as_slice);
            let at = match usize::try_from(*index) {
                Ok(at) => Some(at),
                // From the end.
                Err(_) => {
                    usize::try_from(-index).ok().and_then(|back| items.len().checked_sub(back))
                }
            };
            at.and_then(|at| items.get(at)).into_iter().collect()
        }
        Step::Where { path, equals } => children()
            .into_iter()
            .filter(|child| match (find(child, path).first(), equals) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(Value::String(have)), Some(want)) => have == want,
                (Some(have), Some(want)) => have.to_string() == *want,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn paths_of_printer_columns_are_followed() {
        let value = json!({
            "metadata": { "labels": { "a.b/c": "d" } },
            "spec": { "n": 3, "list": [{ "k": "x", "v": 1 }, { "k": "y", "v": 2 }] },
        });
        let cases = [
            (".spec.n", json!([3])),
            (".spec.list[1].v", json!([2])),
            (".spec.list[-1].v", json!([2])),
            (".spec.list[*].v", json!([1, 2])),
            (".spec.list[?(@.k==\"y\")].v", json!([2])),
            (".spec.list[?(@.k=='x')].v", json!([1])),
            (".metadata.labels.a\\.b/c", json!(["d"])),
            (".metadata.labels['a.b/c']", json!(["d"])),
            (".spec.absent.n", json!([])),
        ];
        for (path, expected) in cases {
            let found: Vec<Value> = super::find(&value, path).into_iter().cloned().collect();
            assert_eq!(Value::Array(found), expected, "{path}");
        }
    }
}
