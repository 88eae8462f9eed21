//! Spoils inputs: what a careless or hostile author might have written in their place.

use fastrand::Rng;
use proptest::prelude::{Strategy, any};
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
    65_535,
    65_536,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    i32::MIN as i64,
    i64::MAX,
    i64::MIN,
    1 << 53,
];

/// Draws damage, seldom much: what is found is read with ease then.
pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    (any::<u64>(), 0_u8..6).prop_map(|(seed, times)| Damage { seed, times })
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
        let places = places(value);
        let at = rng.usize(..places);
        let mut left = at;
        spoil_at(value, &mut left, &mut rng);
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

/// The number of values within a value, itself included.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(rows) => rows.iter().map(places).sum(),
        Value::Object(table) => table.values().map(places).sum(),
        _ => 0,
    }
}

fn spoil_at(value: &mut Value, left: &mut usize, rng: &mut Rng) -> bool {
    if *left == 0 {
        spoil_one(value, rng);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(rows) => rows.iter_mut().any(|row| spoil_at(row, left, rng)),
        Value::Object(table) => table.values_mut().any(|row| spoil_at(row, left, rng)),
        _ => false,
    }
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
    let mut parts: Vec<&str> = match rng.u8(..3) {
        0 => text.split_inclusive('\n').collect(),
        1 => text.split_inclusive(|c: char| !c.is_alphanumeric()).collect(),
        _ => text.split("").filter(|part| !part.is_empty()).collect(),
    };
    let word = TEXTS[rng.usize(..TEXTS.len())];
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
