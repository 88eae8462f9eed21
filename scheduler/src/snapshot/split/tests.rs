//! Texts taken apart, at every border.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// A source that gives so many bytes at once, so that every place in the text is a border once.
struct Dripping<'t>(&'t [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len()).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// The text of an object of arrays, taken apart and put together again without its blanks.
fn rebuilt(text: &str, step: usize) -> Result<String, Fault> {
    let mut splitter = Splitter::new(Dripping(text.as_bytes(), step));
    let mut out = Vec::new();
    splitter.open(b'{')?;
    let mut is_first = true;
    while let Some(key) = splitter.key(&mut is_first)? {
        if key == "skipped" {
            splitter.skip()?;
            continue;
        }
        let mut items = Vec::new();
        if splitter.open(b'[')? {
            let mut is_first = true;
            while splitter.item(&mut is_first)? {
                items.push(String::from_utf8_lossy(splitter.value()?).into_owned());
            }
        }
        out.push(format!("{key}: {}", items.join(" ")));
    }
    splitter.finish()?;
    Ok(out.join("; "))
}

fn check(text: &str, expect: &str) {
    for step in [1, 2, 3, 7, 1000] {
        let found = rebuilt(text, step).unwrap_or_else(|fault| fault.to_string());
        assert_eq!(found, expect, "{text} by {step}");
    }
}

#[test]
fn values_end_where_they_end() {
    check(
        r#"{"a":[{"x":"}]\"","y":[1,2]},"t\\",-1.5e3,true],"b":null}"#,
        r#"a: {"x":"}]\"","y":[1,2]} "t\\" -1.5e3 true; b: "#,
    );
    check(" { \"a\" : [ 1 , 2 ] , \"skipped\" : {\"a\":[\"]\"]} , \"b\":[]}\n ", "a: 1 2; b: ");
    check("{}", "");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    check("", "the file ends too early, after 0 bytes of JSON: an object was expected");
    check("[1]", "an object was expected, found '[' (byte 0 of the JSON)");
    check(r#"{"a":{}}"#, "an array was expected, found '{' (byte 5 of the JSON)");
    check(r#"{"a":[1 2]}"#, "a comma or ] was expected, found '2' (byte 8 of the JSON)");
    check(r#"{"a":[1,]}"#, "a value was expected, found ']' (byte 8 of the JSON)");
    check(
        r#"{"a":[{"x":1"#,
        "the file ends too early, after 12 bytes of JSON: a whole value was expected",
    );
    check(r#"{"a":[]} x"#, "the end of the file was expected, found 'x' (byte 9 of the JSON)");
    check("{a:[]}", "a key was expected, found 'a' (byte 1 of the JSON)");
    check(r#"{"a" []}"#, "a colon was expected, found '[' (byte 5 of the JSON)");
    check(
        r#"{"skipped":{"#,
        "the file ends too early, after 12 bytes of JSON: a whole value was expected",
    );
}

#[test]
fn a_value_that_never_ends_is_refused_before_it_fills_the_memory() {
    let mut splitter = Splitter::new(io::repeat(b'['));
    assert!(matches!(splitter.value(), Err(Fault::TooLong)));
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~é\\\\\"{}\\[\\]]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\\\\\"]{0,4}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn any_values_come_out_as_they_went_in(values in prop::collection::vec(json(), 0..6), step in 1_usize..40, pretty: bool) {
        let whole = serde_json::json!({ "a": values });
        let text = if pretty { format!("{whole:#}") } else { whole.to_string() };
        let mut splitter = Splitter::new(Dripping(text.as_bytes(), step));
        let mut found = Vec::new();
        splitter.open(b'{').expect("an object");
        splitter.key(&mut true).expect("a key");
        splitter.open(b'[').expect("an array");
        let mut is_first = true;
        while splitter.item(&mut is_first).expect("an item") {
            let bytes = splitter.value().expect("a value");
            found.push(serde_json::from_slice::<Value>(bytes).expect("JSON"));
        }
        prop_assert_eq!(&found, whole["a"].as_array().expect("an array"));
    }
}
