//! Templates and paths against what kubectl prints.

use serde_json::{Value, json};

use super::{Path, Template};

fn object() -> Value {
    json!({
        "items": [
            {"metadata": {"name": "a", "labels": {"kai.scheduler/queue": "q"}}, "n": 1, "on": true},
            {"metadata": {"name": "b"}, "n": 2, "on": false, "status": {"phase": "Running"}},
            {"metadata": {"name": "c]"}, "n": 10, "status": {"phase": "Pending"}},
        ],
        "want": "b",
        "half": 2.5,
        "none": null,
    })
}

fn check(template: &str, expect: &str) {
    let printed = Template::parse(template).map(|template| template.apply(&object()));
    assert_eq!(printed.as_deref(), Ok(expect), "{template}");
}

#[test]
fn paths_text_and_ranges() {
    check("{.items[*].metadata.name}", "a b c]");
    check("{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "a\nb\nc]\n");
    check("{.items[0].metadata.labels.kai\\.scheduler/queue}", "q");
    check("{.items[0].metadata.labels['kai.scheduler/queue']}", "q");
    check("{.items[-1].metadata.name}{'\\t'}{.half}", "c]\t2.5");
    check("n={$.want} {.nothing}.", "n=b .");
    check("{ .items[0].n } {.none}", "1 null");
    // The first of each, and then the second of each.
    check("{.items[*]['n','on']}", "1 2 10 true false");
    check("{.items[0].metadata['name','labels']}", "a {\"kai.scheduler/queue\":\"q\"}");
    check("{.items[0:2].n}|{.items[1:].n}|{.items[-2:-1].n}|{.items[::2].n}", "1 2|2 10|2|1 10");
    check("{.items[0,2].n}", "1 10");
    check("{.items[9].n}{.items[-9].n}{.items[5:].n}", "");
    check("{..name}{...name}", "a b c]a b c]");
    check("{@@.want}{$$@.want}", "bb");
    check("{range }{.want}{end}", "b");
    check("{.. .name}{.items [1] .n}{7}", "a b c]27");
    check("{\"a\\\\n\"}", "a\\n");
    check("{.want.deeper}", "");
    check(
        "{.items[1]}",
        "{\"metadata\":{\"name\":\"b\"},\"n\":2,\"on\":false,\"status\":{\"phase\":\"Running\"}}",
    );
}

#[test]
fn filters() {
    check("{.items[?(@.metadata.name==\"b\")].n}", "2");
    check("{.items[?(@.metadata.name=='c]')].n}", "10");
    check("{.items[?(@.metadata.name != 'a')].n}", "2 10");
    check("{.items[?(@.n>1)].metadata.name}", "b c]");
    check("{.items[?(@.n>=2)].n} {.items[?(@.n<2)].n} {.items[?(@.n<=2)].n}", "2 10 1 1 2");
    check("{.items[?(@.n<2.5)].n}", "1 2");
    check("{.items[?(@.on==true)].n}", "1");
    check("{.items[?(@.status.phase)].n}", "2 10");
    check("{.items[?(@.metadata.name==$.want)].n}", "2");
    check("{range .items[?(@.status.phase==\"Running\")]}{.metadata.name}={.n};{end}", "b=2;");
    check("{.items[?(@.metadata.labels['kai.scheduler/queue']==\"q\")].n}", "1");
    check("{.items[?(.metadata.name==\"b\")].n}{.items[?('b'==.metadata.name)].n}", "22");
    check("{.items[?(.status.phase)].n}", "2 10");
    // A number is no text.
    check("{.items[?(@.n==\"1\")].n}", "");
}

#[test]
fn what_is_not_understood_is_named() {
    for (template, part) in [
        ("{.a", "{.a"),
        ("{range .items}", "{range …} without {end}"),
        ("{end}", "{end}"),
        ("{a}", "a"),
        ("{....name}", "....name"),
        ("{.. name}", ".. name"),
        ("{.want,.half}", ".want,.half"),
        ("{.items[x]}", ".items[x]"),
        ("{.items[1:2:0]}", ".items[1:2:0]"),
        ("{.items[?(@.n==one)]}", "one"),
        ("{.items[?(@.n=1)]}", "@.n=1"),
        ("{.items[0}", "{.items[0}"),
    ] {
        let error = Template::parse(template).expect_err(template);
        assert_eq!(error.part, part, "{template}");
    }
}

#[test]
fn a_path_finds_values() {
    let path = Path::parse(" .items[?(@.n==2)].status.phase ").expect("a path");
    assert_eq!(path.find(&object()), [&json!("Running")]);
}
