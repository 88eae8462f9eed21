//! The grammar by examples: what each text means, or what the answer to it says.

use super::*;

fn check(text: &str, expect: &str) {
    let got = match Gpu::parse(text) {
        Ok(gpu) => format!("{gpu:?}"),
        Err(problem) => {
            assert_eq!((problem.number, problem.exit), (number::GPU, Exit::Usage));
            format!("{} | {}", problem.what, problem.fix.unwrap_or_default())
        }
    };
    assert!(got.starts_with(expect), "{text}: {got}");
}

#[test]
fn amounts() {
    check("4", "Whole(4)");
    check("0.5", r#"Share { fraction: "0.5", devices: 1 }"#);
    check(".5", r#"Share { fraction: "0.5", devices: 1 }"#);
    check("0.250", r#"Share { fraction: "0.25", devices: 1 }"#);
    check("0.25x4", r#"Share { fraction: "0.25", devices: 4 }"#);
    check("2.0", "Whole(2)");
    check("8Gi", "Memory { memory_mib: 8192, devices: 1 }");
    check("mig:1g.10gb", r#"Mig { profile: "1g.10gb", count: 1 }"#);
    check("mig:1g.10gbx2", r#"Mig { profile: "1g.10gb", count: 2 }"#);
}

#[test]
fn what_is_no_amount_gets_a_way_out() {
    check(
        "1.5",
        "--gpu 1.5 is neither a whole number nor a fraction of one GPU | --gpu 2  (2 GPUs)   or   --gpu 0.75x2  (0.75 of",
    );
    check("0", "--gpu 0 asks for no GPU | leave --gpu out");
    check("0.0", "--gpu 0.0 asks for no GPU");
    check("NaN", "--gpu NaN is not a number");
    check("inf", "--gpu inf is not a number");
    check("-1", "--gpu -1 is not a number");
    check("", "--gpu  is not a number");
    check("1e3", "--gpu 1e3 is not a number");
    check("0x1", "--gpu 0x1 asks for no GPU");
    check("2x4", "--gpu 2x4 is not a part of each device | --gpu 8  (8 GPUs)");
    check("0.5x0", "--gpu 0.5x0 does not say on how many devices");
    check("0.12345", "--gpu 0.12345 is finer than a thousandth of a GPU | --gpu 0.123");
    check("99999999999999999999", "--gpu 99999999999999999999 is not a number");
    check("4000000", "--gpu 4000000 is more than any node has");
    check("H100", "--gpu H100 is not a number");
    check("8Zi", "--gpu 8Zi is not an amount of memory");
    check("mig:big", "--gpu mig:big is not a MIG profile");
}

#[test]
fn memory_is_rounded_up_to_mib() {
    for (text, mib) in
        [("8Gi", 8192), ("500Mi", 500), ("8192", 8192), ("1.5Gi", 1536), ("8G", 7630), ("1MB", 1)]
    {
        assert_eq!(
            Gpu::parse_memory("--gpu-memory", text),
            Ok(Gpu::Memory { memory_mib: mib, devices: 1 })
        );
    }
    for text in ["0", "", "Gi", "-1Gi", "8 Gi", "NaN", "9999999Ti"] {
        assert!(Gpu::parse_memory("--gpu-memory", text).is_err(), "{text}");
    }
}

#[test]
fn totals_are_exact() {
    let mut total = Total::default();
    let pod = serde_json::json!({
        "metadata": {"annotations": {"gpu-fraction": "0.1", "gpu-fraction-num-devices": "3"}},
    });
    total.add(&Total::of_pod(&pod), 10);
    assert_eq!(total.to_string(), "3");
    let pod = serde_json::json!({"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}});
    total.add(&Total::of_pod(&pod), 1);
    assert_eq!(total.to_string(), "5");
}
