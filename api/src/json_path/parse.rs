//! Templates and paths, read.

use serde_json::Value;

use super::{Error, Filter, Operand, Operator, Part, Path, Pick, Step};

fn wrong(part: &str) -> Error {
    Error { part: part.to_owned() }
}

/// Reads a template to its end.
pub(super) fn template(text: &str) -> Result<Vec<Part>, Error> {
    let mut rest = text;
    let parts = parts(&mut rest, false)?;
    Ok(parts)
}

/// Reads parts up to the end, or to the `{end}` of the range that they are in.
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
        let close = end(inner, '}').ok_or_else(|| wrong(&rest[open..]))?;
        let expression = inner[..close].trim();
        *rest = &inner[close + 1..];
        if expression == "end" {
            return if in_range { Ok(parts) } else { Err(wrong("{end}")) };
        } else if let Some(range) =
            expression.strip_prefix("range").filter(|path| path.is_empty() || path.starts_with(' '))
        {
            let path = path(range.trim())?;
            let body = self::parts(rest, true)?;
            parts.push(Part::Range(path, body));
        } else if let Some(text) = quoted(expression) {
            parts.push(Part::Text(unescaped(text)));
        } else if let Ok(number) = expression.parse::<i64>() {
            parts.push(Part::Text(number.to_string()));
        } else {
            parts.push(Part::Path(path(expression)?));
        }
    }
    if in_range { Err(wrong("{range …} without {end}")) } else { Ok(parts) }
}

/// Finds where what is open closes, past quoted text and what was opened meanwhile.
fn end(text: &str, close: char) -> Option<usize> {
    let (mut quote, mut is_escaped, mut depth) = (None, false, 0_u32);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if is_escaped => is_escaped = false,
            (_, '\\') => is_escaped = true,
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, letter) if letter == close && depth == 0 => return Some(at),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (Some(_) | None, _) => {}
        }
    }
    None
}

fn quoted(text: &str) -> Option<&str> {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    ['"', '\''].into_iter().find_map(inner)
}

/// Replaces `\n`, `\t` and escaped letters, from left to right.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

/// Reads a path: `$` or `@`, and steps.
pub(super) fn path(text: &str) -> Result<Path, Error> {
    let mut steps = Vec::new();
    let mut rest = text;
    loop {
        // However often and wherever it is said, it is the object or the entry; spaces part steps.
        rest = rest.trim_start_matches([' ', '$', '@']);
        if rest.is_empty() {
            return Ok(Path(steps));
        }
        if let Some(inner) = rest.strip_prefix('[') {
            let close = end(inner, ']').ok_or_else(|| wrong(text))?;
            steps.push(bracket(inner[..close].trim(), text)?);
            rest = &inner[close + 1..];
            continue;
        }
        let Some(tail) = rest.strip_prefix('.') else { return Err(wrong(text)) };
        if let Some(after) = tail.strip_prefix('.') {
            if steps.last() == Some(&Step::Deep) {
                return Err(wrong(text));
            }
            steps.push(Step::Deep);
            // A name may follow at once, or after a dot of its own.
            let is_parted = after.is_empty() || after.starts_with(['.', '[', ' ']);
            rest = if is_parted { after } else { tail };
            continue;
        }
        let (name, tail) = name(tail);
        match name.as_str() {
            // `{.}`, and `.[0]`.
            "" => {}
            "*" => steps.push(Step::Each),
            _ => steps.push(Step::Field(name)),
        }
        rest = tail;
    }
}

/// A name up to the next step; a backslash keeps a dot in it: `.metadata.labels.kai\.scheduler/queue`.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
            '.' | '[' | ']' | ' ' | ',' | '$' | '@' | '{' | '}' => return (name, &text[at..]),
            letter => name.push(letter),
        }
    }
    (name, "")
}

/// Reads what stands in brackets; `path` is for the error.
fn bracket(text: &str, path: &str) -> Result<Step, Error> {
    if text == "*" {
        return Ok(Step::Each);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        return self::filter(filter.trim()).map(Step::Filter);
    }
    let mut picks = Vec::new();
    let mut rest = Some(text);
    while let Some(list) = rest {
        let comma = end(list, ',');
        let one = comma.map_or(list, |at| &list[..at]).trim();
        rest = comma.map(|at| &list[at + 1..]);
        picks.push(pick(one).ok_or_else(|| wrong(path))?);
    }
    Ok(Step::Pick(picks))
}

fn pick(text: &str) -> Option<Pick> {
    if let Some(name) = quoted(text) {
        return Some(Pick::Name(unescaped(name)));
    }
    let bound = |text: &str| match text.trim() {
        "" => Some(None),
        number => number.parse().ok().map(Some),
    };
    let mut bounds = text.split(':');
    match (bounds.next()?, bounds.next(), bounds.next(), bounds.next()) {
        (at, None, None, None) => at.trim().parse().ok().map(Pick::At),
        (from, Some(to), step, None) => {
            let step = match step.map(str::trim) {
                None | Some("") => 1,
                Some(step) => step.parse().ok().filter(|step| *step > 0)?,
            };
            Some(Pick::Slice { from: bound(from)?, to: bound(to)?, step })
        }
        _ => None,
    }
}

/// The operators; those that begin another come after it.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

fn filter(text: &str) -> Result<Filter, Error> {
    let at = ['=', '!', '<', '>'].into_iter().filter_map(|first| end(text, first)).min();
    let Some(at) = at else { return Ok(Filter { left: operand(text)?, test: None }) };
    let found = OPERATORS
        .iter()
        .find_map(|(sign, operator)| text[at..].strip_prefix(sign).map(|right| (*operator, right)));
    let (operator, right) = found.ok_or_else(|| wrong(text))?;
    Ok(Filter { left: operand(&text[..at])?, test: Some((operator, operand(right)?)) })
}

fn operand(text: &str) -> Result<Operand, Error> {
    let text = text.trim();
    // A path that says nothing else begins at the entry: `?(.type=="Ready")`.
    if text.starts_with(['@', '.']) {
        return path(text).map(Operand::Entry);
    }
    if text.starts_with('$') {
        return path(text).map(Operand::Object);
    }
    if let Some(literal) = quoted(text) {
        return Ok(Operand::Literal(Value::String(unescaped(literal))));
    }
    match serde_json::from_str(text) {
        Ok(literal @ (Value::Bool(_) | Value::Number(_))) => Ok(Operand::Literal(literal)),
        Ok(_) | Err(_) => Err(wrong(text)),
    }
}
