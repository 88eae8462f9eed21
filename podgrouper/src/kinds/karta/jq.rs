//! The JQ expressions of Karta definitions.

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data};
use jaq_json::{Val, read};
use serde_json::Value;

use crate::facts::Stop;

/// An expression that gives more values than this is cut off.
const VALUES_MAX: usize = 10_000;

/// Functions that would end this process, print, or read its environment or clock.
const ACTS: [&str; 9] =
    ["halt", "halt_error", "env", "now", "debug", "debug_empty", "stderr", "stderr_empty", "input"];

/// All values that an expression gives for an object.
pub(super) fn values(expression: &str, input: &Value) -> Result<Vec<Value>, Stop> {
    let wrong = |why: String| Stop::bad(format!("Karta expression {expression:?}: {why}"));
    let input = read::parse_single(input.to_string().as_bytes())
        .map_err(|error| wrong(error.to_string()))?;
    let defs = jaq_core::defs()
        .chain(jaq_std::defs().filter(|def| !ACTS.contains(&def.name)))
        .chain(jaq_json::defs());
    let funs = jaq_core::funs()
        .chain(jaq_std::funs().filter(|(name, ..)| !ACTS.contains(name)))
        .chain(jaq_json::funs());
    let arena = Arena::default();
    let modules = Loader::new(defs)
        .load(&arena, File { code: expression, path: () })
        .map_err(|_| wrong("it does not parse".to_owned()))?;
    let filter = Compiler::default()
        .with_funs(funs)
        .compile(modules)
        .map_err(|_| wrong("it uses a name that is not defined".to_owned()))?;
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let mut found = Vec::new();
    for value in filter.id.run((context, input)).take(VALUES_MAX) {
        let value = value.map_err(|exception| match exception.get_err() {
            Ok(error) => wrong(error.to_string()),
            Err(_) => wrong("it breaks off".to_owned()),
        })?;
        found.push(
            serde_json::from_str(&value.to_string()).map_err(|error| wrong(error.to_string()))?,
        );
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::values;

    #[test]
    fn an_expression_reads_and_cannot_act() {
        let pod = json!({"metadata": {"labels": {"job-name": "a", "role": "b"}}, "n": [1, 2, 3]});
        let read = |text: &str| values(text, &pod).map_err(|_| ());
        assert_eq!(read(r#".metadata.labels["job-name"]"#), Ok(vec![json!("a")]));
        assert_eq!(read(r#".metadata.labels.role == "b""#), Ok(vec![json!(true)]));
        assert_eq!(read(".n | map(select(. > 1)) | add"), Ok(vec![json!(5)]));
        assert_eq!(read(".n[]"), Ok(vec![json!(1), json!(2), json!(3)]));
        for text in ["halt", "halt_error", "env", ".[", "undefined", ".n.x"] {
            assert_eq!(read(text), Err(()), "{text}");
        }
    }
}
