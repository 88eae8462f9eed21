//! Scenarios that no cluster can be: each is refused in a sentence that names the place, before anything is made of it.

use kai_sim::{build::build, scenario::parse};

fn check(text: &str, expect: &str) {
    let text = format!("title: a world\nwhy: it cannot be\n{text}");
    let refused = parse(&text).and_then(|scenario| build(&scenario).map(drop));
    let said = refused.map_err(|error| error.to_string());
    assert!(said.as_ref().is_err_and(|said| said.contains(expect)), "{text}\n{said:?}");
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    for (text, expect) in [
        ("nodes: { a: { cpu: -4 } }", "`-4` is not an amount"),
        ("nodes: { a: { memory: -1Gi } }", "`-1Gi` is not an amount"),
        ("queues: { q: {} }\ngroups: { g: { queue: q, gpus: -1 } }", "`-1` is not an amount"),
        ("queues: { q: {} }\ngroups: { g: { queue: q, pods: 4294967295 } }", "groups.g.pods"),
        (
            "queues: { q: {} }\ngroups: { g: { queue: q, members: { a: { pods: 4294967295 }, b: { pods: 4294967295 } } } }",
            "at most 1000000 pods",
        ),
        ("nodes: { a: { devices: { gpu: 4294967295 } } }", "at most 10000 devices"),
    ] {
        check(text, expect);
    }
}
