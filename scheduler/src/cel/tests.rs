//! Selectors hold or not, and what is costly is stopped.

use std::sync::Arc;

use super::{Attribute, COST_MAX, Described, STACK_BYTES, Selector, Verdict};

fn device() -> Described {
    let own = || Box::from("gpu.example.com");
    Described {
        driver: own(),
        attributes: vec![
            (own(), Box::from("driverVersion"), Attribute::Version(Box::from("1.2.3"))),
            (own(), Box::from("index"), Attribute::Int(3)),
            (own(), Box::from("mig"), Attribute::Bool(false)),
            (own(), Box::from("model"), Attribute::Text(Box::from("A100"))),
        ],
        capacity: vec![(own(), Box::from("memory"), Box::from("80Gi"))],
    }
}

fn judge(expression: &str, cost_max: u64) -> (Verdict, u64) {
    let expression = Arc::from(expression);
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let judged = thread.spawn(move || Selector::new(&expression).judge(&device(), cost_max));
    judged.expect("a thread starts").join().expect("it does not panic")
}

#[test]
fn selectors_see_drivers_attributes_and_capacities() {
    for (expression, expect) in [
        (r#"device.driver == "gpu.example.com""#, true),
        (r#"device.driver == "nic.example.com""#, false),
        (r#"device.attributes["gpu.example.com"].model == "A100""#, true),
        (r#"device.attributes["gpu.example.com"].index >= 4"#, false),
        (r#"!device.attributes["gpu.example.com"].mig"#, true),
        (r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0"#, true),
        (r#"device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Ti"))"#, false),
        (
            r#"device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.2.0"))"#,
            true,
        ),
        // A domain that the device does not have is empty; a name that it does not have is an error.
        (r#""model" in device.attributes["other.example.com"]"#, false),
        (r#"!("model" in device.attributes["other.example.com"])"#, true),
        (r#"device.attributes["other.example.com"].model == "A100""#, false),
        (r#"device.attributes["gpu.example.com"].model.matches("^A[0-9]{3}$")"#, true),
        (
            r#"has(device.attributes["gpu.example.com"].model) && ["A100", "H100"].exists(m, m == device.attributes["gpu.example.com"].model)"#,
            true,
        ),
        (r#"["a", "b"].map(x, x + "!").join(",") == "a!,b!" && lists.range(3).size() == 3"#, true),
        (r#"{"k": [1, 2]}["k"].sum() == 3 && (1 > 2 || 2 > 1) && !(false ? true : false)"#, true),
        (
            r#"sets.contains([1, 2, 3], [2]) && "10.0.0.1".startsWith("10.") && math.greatest(1, 2) == 2"#,
            true,
        ),
        (r#"ip.isCanonical("10.0.0.1") && ip("10.0.0.1").family() == 4"#, true),
    ] {
        let wanted = if expect { Verdict::Holds } else { Verdict::Fails };
        let (verdict, cost) = judge(expression, COST_MAX);
        assert_eq!(verdict, wanted, "{expression}");
        assert!(cost < COST_MAX / 50, "{expression} costs {cost}");
    }
    for broken in [
        "device.driver ==",
        "google.protobuf.Int32Value{value: 1} == 1",
        &"!".repeat(20_000),
        &format!("1{} > 0", "+1".repeat(5_000)),
    ] {
        assert!(matches!(judge(broken, COST_MAX).0, Verdict::Fault(_)), "{broken:.40}");
    }
}

/// Goes over the keys of a map in their order, so that an expression has one meaning and one cost.
#[test]
fn maps_have_an_order() {
    for expression in [
        "{'b': 1, 'a': 2, 'c': 3}.map(k, k).join('') == 'abc'",
        "{'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': 1, 'b': 2, 'cc': 3}.exists(k, k.size() == 1)",
        "!{'b': 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': 2, 'cc': 3}.all(k, k.size() == 2)",
        "'%s'.format([{'a': 1}]).size() > 0",
        "{2: 'two', 1: 'one'}.map(k, k)[0] == 1",
    ] {
        let first = judge(expression, COST_MAX);
        assert_eq!(first.0, Verdict::Holds, "{expression}");
        for _ in 0..16 {
            assert_eq!(judge(expression, COST_MAX), first, "{expression}");
        }
    }
    assert_eq!(judge("'%s'.format([{'a': 1, 'b': 2}]) != ''", COST_MAX).0, Verdict::Fails);
}

/// Bounds what the interpreter does by what is charged, in whatever way it is made large.
#[test]
fn what_is_costly_is_stopped() {
    let numbers = |count: usize| {
        let all: Vec<String> = (0..count).map(|one| one.to_string()).collect();
        format!("[{}]", all.join(","))
    };
    let (forty, many) = (numbers(40), numbers(300));
    let doubled = (0..40).fold(String::from("x"), |text, _| format!("[{text}].map(x, x + x)[0]"));
    let nested = (0..30).fold(String::from("[1]"), |text, _| format!("[{text}].map(x, [x, x])[0]"));
    let costly = [
        format!(
            "{forty}.all(a, {forty}.all(b, {forty}.all(c, {forty}.all(d, a + b + c + d >= 0))))"
        ),
        format!("{many}.all(a, {many}.all(b, {many}.exists(c, c < 0 || a < 0) || true))"),
        format!("{many}.map(a, {many}.map(b, {many})).size() > 0"),
        doubled.replacen('x', "\"xxxxxxxxxx\"", 1) + ".size() > 0",
        format!("{nested}.size() > 0"),
        String::from("lists.range(1000000000).size() > 0"),
        format!("{many}.all(a, {many}.all(b, 'aaaaaaaaaaaaaaaa'.matches('(a*)*b') || true))"),
        format!(
            "{many}.map(a, string(a)).join('{}').replace('a', '{}').size() > 0 && lists.range(99999).distinct().size() > 0",
            "a".repeat(900),
            "b".repeat(900)
        ),
        // An error is no way around: what decides lazily may take it for true.
        format!(
            "{forty}.all(a, {forty}.all(b, {forty}.all(c, {forty}.all(d, a > 0))) || true) || true"
        ),
    ];
    for expression in costly {
        let (verdict, cost) = judge(&expression, COST_MAX);
        assert_eq!(verdict, Verdict::Costly, "{expression:.80} costs {cost}");
        assert!(cost <= 4 * COST_MAX, "{expression:.80} costs {cost}");
    }
    let large = judge(r#""x".matches("(\\w{200}){200}")"#, COST_MAX);
    assert_eq!(
        large.0,
        Verdict::Fails,
        "a regular expression may not be large once it is compiled"
    );
    let small = format!("{forty}.all(a, a >= 0)");
    assert_eq!(judge(&small, COST_MAX).0, Verdict::Holds);
    assert_eq!(judge(&small, 100).0, Verdict::Costly);
}
