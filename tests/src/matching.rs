//! Comparing what is there with what a file wants, by the fields that the file names.

use serde_json::Value;

/// Every field that is wanted must be there; `null` wants it absent, and lists are whole.
///
/// Each finding starts with the path of the field.
pub fn differences(want: &Value, found: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    compare("", want, found, &mut findings);
    findings
}

fn compare(path: &str, want: &Value, found: &Value, findings: &mut Vec<String>) {
    match (want, found) {
        (Value::Object(table), Value::Object(_)) => {
            for (key, want) in table {
                compare(&format!("{path}.{key}"), want, &found[key], findings);
            }
        }
        (Value::Array(want), Value::Array(rows)) if want.len() == rows.len() => {
            for (index, (want, found)) in want.iter().zip(rows).enumerate() {
                compare(&format!("{path}[{index}]"), want, found, findings);
            }
        }
        _ if want == found => {}
        _ => findings.push(format!("{path} is {found}, want {want}")),
    }
}
