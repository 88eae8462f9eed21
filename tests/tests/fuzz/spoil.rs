//! Spoils inputs: what a careless or hostile author might have written in their place.

use fastrand::Rng;
use proptest::prelude::{Strategy, any, prop_oneof};
use serde_json::{Map, Number, Value, json};

/// Texts that have broken somebody's reader.
const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "0",
    "-1",
    "1",
    "2",
    "0.5",
    "1.5",
    "NaN",
    "inf",
    "1e400",
    "-0",
    "0x10",
    "1_000",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999999999999999999",
    "1Gi",
    "1.5Gi",
    "100m",
    "1n",
    "16Ei",
    "true",
    "null",
    "~",
    "[]",
    "{}",
    "a/b",
    "a/b/c",
    "/",
    "..",
    "../..",
    "*",
    "a b",
    "ä\u{202e}b",
    "\u{0}",
    "\u{1b}[31m",
    "\n",
    "2026-01-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "0000-00-00T00:00:00Z",
    "2026-01-01T00:00:00.999999999+14:00",
    "1h",
    "-1h",
    "1h1",
    "99999999h",
    "nvidia.com/gpu",
    "kai-scheduler",
    "default",
    "spec",
    "metadata",
    "name",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Numbers at the edges of what is counted; none so large that a list of so many would have to be made in earnest.
const NUMBERS: &[i64] = &[
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    100,
    1000,
    1024,
    1025,
    65_535,
    65_536,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    i32::MIN as i64,
    i64::MAX,
    i64::MIN,
    1 << 53,
];

/// Numbers that are no integers, or of more than 64 bits; each is one that JSON says exactly.
const FLOATS: &[f64] = &[0.5, -1.5, 1e3, 1e20, -1e21];

/// Lengths of texts: what names, labels and their keys may have and one more, and what nobody reads.
const LENGTHS: &[usize] = &[63, 64, 253, 254, 1024, 1025, 65_536];

const BRACKETS: &[(&str, &str)] =
    &[("(", ")"), ("[", "]"), ("{", "}"), ("{a: ", "}"), ("!", ""), ("- ", "")];

/// A value or a text that is larger is spoilt no more: a case is to take milliseconds, and a stack of two megabytes.
const PLACES_MAX: usize = 5_000;
const DEPTH_MAX: usize = 40;
const TEXT_MAX: usize = 100_000;

/// Draws damage, seldom much: what is found is read with ease then.
pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    (any::<u64>(), 0_u8..6).prop_map(|(seed, times)| Damage { seed, times })
}

/// Draws damage, one time in five so much that several rules are broken at once, and one that hides behind another is met.
pub(crate) fn much() -> impl Strategy<Value = Damage> {
    let times = prop_oneof![4 => 0_u8..6, 1 => 6_u8..24];
    (any::<u64>(), times).prop_map(|(seed, times)| Damage { seed, times })
}

/// Damage that is done to an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Damage {
    /// The source of its luck.
    pub(crate) seed: u64,
    /// The number of places that are spoilt.
    pub(crate) times: u8,
}

/// Spoils a value in so many places.
pub(crate) fn value(value: &mut Value, damage: Damage) {
    let mut rng = Rng::with_seed(damage.seed);
    for _ in 0..damage.times {
        somewhere(value, &mut rng, &mut spoil_one);
    }
}

/// Spoils a value likewise, with parts of other inputs and with what is far too long, deep or large.
///
/// It is not for what is compared with another program, which has bounds of its own.
pub(crate) fn value_among(value: &mut Value, others: &[Value], damage: Damage) {
    let mut rng = Rng::with_seed(damage.seed);
    for _ in 0..damage.times {
        if places(value) > PLACES_MAX || depth(value) > DEPTH_MAX {
            return;
        }
        match (rng.u8(..8), rng.choice(others)) {
            (0..3, Some(other)) => graft(value, other, &mut rng),
            (3, _) => somewhere(value, &mut rng, &mut extreme),
            _ => somewhere(value, &mut rng, &mut spoil_one),
        }
    }
}

/// Spoils a text in so many places: characters, words and lines that are lost, doubled, changed or taken from elsewhere.
pub(crate) fn text(text: &str, damage: Damage) -> String {
    let mut rng = Rng::with_seed(damage.seed);
    let mut text = text.to_owned();
    for _ in 0..damage.times {
        text = spoil_text(&text, &mut rng);
    }
    text
}

/// Spoils a text likewise, with words and ends of other inputs and with brackets about brackets.
pub(crate) fn text_among<T: AsRef<str>>(text: &str, others: &[T], damage: Damage) -> String {
    let mut rng = Rng::with_seed(damage.seed);
    let mut text = text.to_owned();
    for _ in 0..damage.times {
        if text.len() > TEXT_MAX {
            break;
        }
        let other = rng.choice(others).map_or("", T::as_ref);
        text = match rng.u8(..8) {
            0 => spliced(&text, other, &mut rng),
            1..4 => {
                let words = parts(other, &mut rng);
                let word = rng.choice(&words).copied().unwrap_or_default();
                let parts = parts(&text, &mut rng);
                spoil_parts(parts, word, &mut rng)
            }
            4 => bracketed(&text, &mut rng),
            _ => spoil_text(&text, &mut rng),
        };
    }
    text
}

/// Spoils bytes in so many places: some are lost, doubled or changed, or all that follow are lost.
pub(crate) fn bytes(bytes: &[u8], damage: Damage) -> Vec<u8> {
    let mut rng = Rng::with_seed(damage.seed);
    let mut bytes = bytes.to_vec();
    for _ in 0..damage.times {
        if bytes.is_empty() {
            break;
        }
        let at = rng.usize(..bytes.len());
        let end = (at + rng.usize(1..16)).min(bytes.len());
        match rng.u8(..8) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.extend_from_within(at..end),
            2 => bytes[at..end].fill(u8::MAX),
            3 => bytes[at..end].fill(0),
            4 => bytes.truncate(at),
            _ => bytes[at] ^= 1_u8 << rng.u8(..8),
        }
    }
    bytes
}

/// The number of values within a value, itself included.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(rows) => rows.iter().map(places).sum(),
        Value::Object(table) => table.values().map(places).sum(),
        _ => 0,
    }
}

/// The number of values that are in each other, itself included.
fn depth(value: &Value) -> usize {
    1 + match value {
        Value::Array(rows) => rows.iter().map(depth).max().unwrap_or(0),
        Value::Object(table) => table.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// A change of one value.
type Change<'a> = &'a mut dyn FnMut(&mut Value, &mut Rng);

/// Changes one of the values within a value, itself included.
fn somewhere(value: &mut Value, rng: &mut Rng, change: Change<'_>) {
    let mut left = rng.usize(..places(value));
    change_at(value, &mut left, rng, change);
}

fn change_at(value: &mut Value, left: &mut usize, rng: &mut Rng, change: Change<'_>) -> bool {
    if *left == 0 {
        change(value, rng);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(rows) => rows.iter_mut().any(|row| change_at(row, left, rng, change)),
        Value::Object(table) => table.values_mut().any(|row| change_at(row, left, rng, change)),
        _ => false,
    }
}

/// A value within another, with the key that it stands under; a row has that of its list.
struct Part<'a> {
    key: &'a str,
    value: &'a Value,
    is_row: bool,
}

fn part_at<'a>(part: Part<'a>, left: &mut usize) -> Option<Part<'a>> {
    if *left == 0 {
        return Some(part);
    }
    *left -= 1;
    let Part { key, value, .. } = part;
    match value {
        Value::Array(rows) => {
            rows.iter().find_map(|value| part_at(Part { key, value, is_row: true }, left))
        }
        Value::Object(table) => {
            table.iter().find_map(|(key, value)| part_at(Part { key, value, is_row: false }, left))
        }
        _ => None,
    }
}

/// Puts a part of another input where its key is, mostly, or else anywhere.
fn graft(value: &mut Value, other: &Value, rng: &mut Rng) {
    let mut left = rng.usize(..places(other));
    let Some(part) = part_at(Part { key: "", value: other, is_row: false }, &mut left) else {
        return;
    };
    if rng.u8(..4) == 0 || !put(value, &part, rng) {
        somewhere(value, rng, &mut |place, _| plant(place, &part));
    }
}

/// Puts a part under its own key somewhere, and a row into a list there; false where that key is nowhere, or always passed over.
fn put(value: &mut Value, part: &Part<'_>, rng: &mut Rng) -> bool {
    match value {
        Value::Array(rows) => rows.iter_mut().any(|row| put(row, part, rng)),
        Value::Object(table) => table.iter_mut().any(|(key, value)| {
            if key != part.key || rng.bool() {
                return put(value, part, rng);
            }
            match value {
                Value::Array(rows) if part.is_row => rows.push(part.value.clone()),
                value => *value = part.value.clone(),
            }
            true
        }),
        _ => false,
    }
}

fn plant(place: &mut Value, part: &Part<'_>) {
    let value = part.value.clone();
    match place {
        Value::Object(table) => drop(table.insert(part.key.to_owned(), value)),
        Value::Array(rows) => rows.push(value),
        place => *place = value,
    }
}

/// Puts something far off in a value's place: a number that few types hold, a text at a bound of names, or lists in lists.
fn extreme(value: &mut Value, rng: &mut Rng) {
    *value = match rng.u8(..4) {
        0 => json!(u64::MAX),
        1 => json!(FLOATS[rng.usize(..FLOATS.len())]),
        2 => json!("a".repeat(LENGTHS[rng.usize(..LENGTHS.len())])),
        _ => (0..rng.u8(1..140)).fold(value.take(), |inner, _| Value::Array(vec![inner])),
    };
}

fn spoil_one(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::Object(table) if rng.bool() => spoil_table(table, rng),
        Value::Array(rows) if rng.bool() => spoil_list(rows, rng),
        Value::String(text) if rng.bool() => *text = spoil_text(text, rng),
        Value::Number(number) if rng.bool() => *number = near(number, rng),
        value => *value = other(value, rng),
    }
}

/// Something else in a value's place, mostly of its own kind.
fn other(value: &Value, rng: &mut Rng) -> Value {
    match (rng.u8(..8), value) {
        (0, _) => Value::Null,
        (1, _) => json!({}),
        (2, _) => json!([]),
        (3, _) => json!(rng.bool()),
        (4, _) | (_, Value::Number(_)) => json!(NUMBERS[rng.usize(..NUMBERS.len())]),
        (5, _) | (_, Value::String(_)) => json!(TEXTS[rng.usize(..TEXTS.len())]),
        (6, _) => json!([value]),
        _ => json!({"name": value}),
    }
}

fn near(number: &Number, rng: &mut Rng) -> Number {
    let number = number.as_i64().unwrap_or_default();
    Number::from(match rng.u8(..4) {
        0 => number.wrapping_add(1),
        1 => number.wrapping_sub(1),
        2 => number.wrapping_neg(),
        _ => number.wrapping_mul(1000),
    })
}

fn spoil_table(table: &mut Map<String, Value>, rng: &mut Rng) {
    let keys: Vec<String> = table.keys().cloned().collect();
    let Some(key) = rng.choice(&keys) else {
        table.insert(TEXTS[rng.usize(..TEXTS.len())].to_owned(), json!("new"));
        return;
    };
    match rng.u8(..4) {
        0 => drop(table.remove(key)),
        1 => {
            let value = table[key].clone();
            table.insert(TEXTS[rng.usize(..TEXTS.len())].to_owned(), value);
        }
        2 => {
            let value = rng.choice(&keys).map(|other| table[other].clone());
            table.insert(key.clone(), value.unwrap_or_default());
        }
        _ => drop(table.insert(TEXTS[rng.usize(..TEXTS.len())].to_owned(), json!("new"))),
    }
}

fn spoil_list(rows: &mut Vec<Value>, rng: &mut Rng) {
    if rows.is_empty() {
        rows.push(json!({}));
        return;
    }
    let at = rng.usize(..rows.len());
    match rng.u8(..4) {
        0 => drop(rows.remove(at)),
        1 => rows.push(rows[at].clone()),
        2 => rows.swap(0, at),
        _ => rows.extend(vec![rows[at].clone(); 20]),
    }
}

fn spoil_text(text: &str, rng: &mut Rng) -> String {
    let parts = parts(text, rng);
    let word = TEXTS[rng.usize(..TEXTS.len())];
    spoil_parts(parts, word, rng)
}

/// Lines, words or letters of a text.
fn parts<'a>(text: &'a str, rng: &mut Rng) -> Vec<&'a str> {
    match rng.u8(..3) {
        0 => text.split_inclusive('\n').collect(),
        1 => text.split_inclusive(|c: char| !c.is_alphanumeric()).collect(),
        _ => text.split("").filter(|part| !part.is_empty()).collect(),
    }
}

/// Joins the beginning of one text and the end of another.
fn spliced(text: &str, other: &str, rng: &mut Rng) -> String {
    let (mut begin, mut rest) = (parts(text, rng), parts(other, rng));
    begin.truncate(rng.usize(..=begin.len()));
    let end = rest.split_off(rng.usize(..=rest.len()));
    begin.concat() + &end.concat()
}

/// Puts a text into brackets, or behind what is like them, up to 128 times.
fn bracketed(text: &str, rng: &mut Rng) -> String {
    let (open, close) = BRACKETS[rng.usize(..BRACKETS.len())];
    let times = 1_usize << rng.u8(..8);
    format!("{}{text}{}", open.repeat(times), close.repeat(times))
}

fn spoil_parts<'a>(mut parts: Vec<&'a str>, word: &'a str, rng: &mut Rng) -> String {
    if parts.is_empty() {
        return word.to_owned();
    }
    let (at, other) = (rng.usize(..parts.len()), rng.usize(..parts.len()));
    match rng.u8(..6) {
        0 => drop(parts.remove(at)),
        1 => parts.insert(at, parts[other]),
        2 => parts.swap(at, other),
        3 => parts[at] = word,
        4 => parts.truncate(at),
        _ => parts.insert(at, word),
    }
    parts.concat()
}
