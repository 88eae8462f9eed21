//! Checks that commands print under `-o json` what the schemas that they ship say.

mod stage;

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use stage::Sandbox;

#[expect(clippy::too_many_lines, reason = "an arm for each keyword of a schema")]
/// Checks a value by the keywords that our schemas use, and says where it differs.
///
/// # Panics
/// A keyword is not known: what is not checked must not pass for checked.
fn differs(value: &Value, schema: &Value, root: &Value, at: &str) -> Option<String> {
    let Value::Object(keywords) = schema else {
        return (*schema == Value::Bool(false)).then(|| format!("{at}: nothing is allowed"));
    };
    let each = |(keyword, rule): (&String, &Value)| -> Option<String> {
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "format" | "default" => None,
            "$ref" => {
                let path = rule.as_str()?.trim_start_matches('#');
                differs(value, root.pointer(path).expect("the schema is complete"), root, at)
            }
            "const" => (value != rule).then(|| format!("{at}: {value} is not {rule}")),
            "enum" => {
                let all = rule.as_array().expect("a list");
                (!all.contains(value)).then(|| format!("{at}: {value} is none of {rule}"))
            }
            "type" => {
                let types = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
                let is = types.iter().any(|kind| is_of(value, kind.as_str().unwrap_or_default()));
                (!is).then(|| format!("{at}: {value} is no {rule}"))
            }
            "minimum" => {
                let low = value.as_f64().zip(rule.as_f64()).is_some_and(|(value, low)| value < low);
                low.then(|| format!("{at}: {value} is below {rule}"))
            }
            "maximum" => {
                let high =
                    value.as_f64().zip(rule.as_f64()).is_some_and(|(value, high)| value > high);
                high.then(|| format!("{at}: {value} is above {rule}"))
            }
            "minItems" | "maxItems" => {
                let count = value.as_array().map_or(0, Vec::len) as u64;
                let bound = rule.as_u64().expect("a number");
                let fits = if keyword == "minItems" { count >= bound } else { count <= bound };
                (!fits).then(|| format!("{at}: {count} items, {keyword} {bound}"))
            }
            "anyOf" | "oneOf" => {
                let some = rule.as_array().expect("a list").iter();
                let fits = some.filter(|one| differs(value, one, root, at).is_none()).count();
                (fits == 0).then(|| format!("{at}: {value} is none of what it may be"))
            }
            "items" => {
                let items = value.as_array()?.iter().enumerate();
                items
                    .into_iter()
                    .find_map(|(i, item)| differs(item, rule, root, &format!("{at}[{i}]")))
            }
            "required" => {
                let names = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
                let fields = value.as_object()?;
                let missing = names.into_iter().find(|name| !fields.contains_key(*name));
                missing.map(|name| format!("{at}: {name} is missing"))
            }
            "properties" => {
                value.as_object()?.iter().find_map(|(name, inner)| match rule.get(name) {
                    Some(rule) => differs(inner, rule, root, &format!("{at}.{name}")),
                    None if keywords.contains_key("additionalProperties") => None,
                    None => Some(format!("{at}: {name} is not in the schema")),
                })
            }
            "additionalProperties" => {
                let known = keywords.get("properties");
                let others = value.as_object()?.iter();
                let mut others = others.filter(|(name, _)| {
                    known.is_none_or(|known| known.get(name.as_str()).is_none())
                });
                others.find_map(|(name, inner)| differs(inner, rule, root, &format!("{at}.{name}")))
            }
            other => panic!("{at}: the keyword {other} is not known here"),
        }
    };
    keywords.iter().find_map(each)
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("a type {other} is not known"),
    }
}

fn run(kubeconfig: &str, words: &str) -> Value {
    let mut command = assert_cmd::Command::cargo_bin("kubectl-kai").expect("built with the tests");
    let home = tempfile::tempdir().expect("a temporary folder");
    command.env_clear().env("KUBECONFIG", kubeconfig).env("HOME", home.path());
    command.env("KAI_QUEUE", "default-queue").args(words.split(' '));
    let output = command.output().expect("it starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{words}: {error}\n{}", String::from_utf8_lossy(&output.stderr))
    })
}

/// Asks again and again, for a minute at most.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_is_printed_is_what_the_schemas_say() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8");
    for submit in [
        "submit job half --gpu 0.5 --image busybox -o json -- sleep 600",
        "submit pytorch wide --workers 2 --gpu 8 --image busybox -o json -- sleep 600",
    ] {
        run(&kubeconfig, submit);
    }
    wait_until("the first of them runs", || {
        run(&kubeconfig, "list -o json")["items"][0]["status"] == "Running"
    });
    wait_until("records are written", || {
        !run(&kubeconfig, "history -o json")["items"][0].is_null()
    });
    for (command, kind) in [
        ("list", "WorkloadList"),
        ("list --group-by kind", "WorkloadGroupList"),
        ("list --pods", "PodList"),
        ("describe half", "WorkloadDescription"),
        ("describe wide", "WorkloadDescription"),
        ("queues", "QueueList"),
        ("top", "NodeList"),
        ("top nodes", "NodeList"),
        ("top queues", "QueueList"),
        ("top workloads", "WorkloadList"),
        ("version", "Version"),
        ("version --client", "Version"),
        ("history", "WorkloadHistory"),
        ("history usage --by user,day --price gpu=1", "GpuUsage"),
        ("explain half", "Explanation"),
        ("explain wide", "Explanation"),
        ("explain --order", "TurnList"),
        ("simulate job x --gpu 8 --image busybox", "Simulation"),
        ("submit job x --gpu 8 --image busybox --dry-run=plan", "Plan"),
        ("config view", "Settings"),
        ("install status", "InstallStatus"),
        ("doctor", "DoctorReport"),
    ] {
        let printed = run(&kubeconfig, &format!("{command} -o json"));
        assert_eq!(printed["kind"], kind, "{command}");
        let empty = printed["items"].as_array().is_some_and(Vec::is_empty);
        assert!(!empty, "{command} shows something");
        let schema = run(&kubeconfig, &format!("help schema {kind}"));
        assert_eq!(differs(&printed, &schema, &schema, ""), None, "{command}");
    }
}
