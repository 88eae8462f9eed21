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
    check("8Gix2", "Memory { memory_mib: 8192, devices: 2 }");
    check("mig:1g.10gb", r#"Mig { profile: "1g.10gb", count: 1 }"#);
    check("mig:1g.10gbx2", r#"Mig { profile: "1g.10gb", count: 2 }"#);
}

#[test]
fn devices_of_others_have_their_vendor_their_resource_or_their_class_in_front() {
    for (text, expect) in [
        ("amd:2", r#"Device { resource: "amd.com/gpu", count: 2 } amd:2"#),
        ("amd.com/gpu:1", r#"Device { resource: "amd.com/gpu", count: 1 } amd:1"#),
        ("gaudi:8", r#"Device { resource: "habana.ai/gaudi", count: 8 } gaudi:8"#),
        (
            "gpu.intel.com/xe:1",
            r#"Device { resource: "gpu.intel.com/xe", count: 1 } gpu.intel.com/xe:1"#,
        ),
        ("nvidia:0.5", r#"Share { fraction: "0.5", devices: 1 } 0.5"#),
        ("nvidia.com/gpu:4", "Whole(4) 4"),
        ("nvidia.com/mig-1g.10gb:2", r#"Mig { profile: "1g.10gb", count: 2 } mig:1g.10gbx2"#),
        (
            "dra:gpu.nvidia.com",
            r#"Claim { class: "gpu.nvidia.com", count: 1 } dra:gpu.nvidia.com:1"#,
        ),
        (
            "dra:gpu.nvidia.com:2",
            r#"Claim { class: "gpu.nvidia.com", count: 2 } dra:gpu.nvidia.com:2"#,
        ),
        ("amd:0.5", "--gpu amd:0.5 does not say how many whole devices"),
        ("gaudi:0", "--gpu gaudi:0 does not say how many whole devices"),
        ("dra:", "--gpu dra: names no class of devices"),
        ("dra:X:1", "--gpu dra:X:1 names no class of devices"),
        ("dra:c:half", "--gpu dra:c:half does not say how many whole devices"),
        ("H100:4", "Whole(4) 4"),
    ] {
        let got = match Gpu::parse_typed(text) {
            Ok((_, gpu)) => format!("{gpu:?} {gpu}"),
            Err(problem) => problem.what,
        };
        assert_eq!(got, expect, "{text}");
    }
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
    check("-1", "--gpu -1 is less than nothing | --gpu 2  (2 GPUs)");
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
    check("8Gix0", "--gpu 8Gix0 does not say on how many devices");
    check("0.1x2000", "--gpu 0.1x2000 does not say on how many devices");
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

/// Says what a pod of these annotations and containers asks for: alone, and as a sum in devices of 81559 MiB.
fn check_pod(annotations: &str, spec: &str, expect: &str) {
    let annotations: serde_json::Value = yaml(annotations);
    let pod = serde_json::json!({"metadata": {"annotations": annotations}, "spec": yaml(spec)});
    let got = format!("{} = {}", ask(&pod), Total::of_pod_on(&pod, Some(81_559)));
    assert_eq!(got, expect, "{annotations} {spec}");
}

fn yaml(text: &str) -> serde_json::Value {
    serde_saphyr::from_str(text).expect("written below")
}

#[test]
fn a_pod_asks_for_what_its_annotations_and_limits_say() {
    let one = "{containers: [{name: a}]}";
    check_pod("{}", one, "- = 0");
    check_pod("{gpu-fraction: '0.5'}", one, "0.5 = 0.5");
    check_pod("{gpu-fraction: '5e-1'}", one, "0.5 = 0.5");
    check_pod("{gpu-fraction: '0.25', gpu-fraction-num-devices: '4'}", one, "0.25x4 = 1");
    check_pod("{gpu-memory: '8192'}", one, "8Gi = 0.11");
    check_pod("{gpu-memory: '2000', gpu-fraction-num-devices: '2'}", one, "2000Mix2 = 0.06");
    for nothing in ["gpu-fraction: '1.5'", "gpu-fraction: NaN", "gpu-memory: 2Gi", "mps: 'true'"] {
        check_pod(&format!("{{{nothing}}}"), one, "- = 0");
    }
    let whole = "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: '2'}}}]}";
    check_pod("{}", whole, "2 = 2");
    check_pod("{gpu-fraction: '0.5'}", whole, "2 = 2");
    let slices = "{containers: [{name: a, resources: {limits: {nvidia.com/mig-1g.10gb: 2}}}]}";
    check_pod("{}", slices, "2x1g.10gb = 2x1g.10gb");
    let amd = "{containers: [{name: a, resources: {limits: {amd.com/gpu: 1}}}]}";
    check_pod("{}", amd, "1 = 1");
    let init = "{initContainers: [{name: s, restartPolicy: Always, resources: {limits: {nvidia.com/gpu: 1}}},
        {name: i, resources: {limits: {nvidia.com/gpu: 4}}}], containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2}}}]}";
    check_pod("{}", init, "5 = 5");
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
    total.add(&Total::of_pod(&pod), u64::MAX);
    assert_eq!((total.to_string(), total.words()), ("many".to_owned(), "many GPU".to_owned()));
}

#[test]
fn devices_of_claims_stand_in_statuses_under_their_classes() {
    let amounts = yaml("{cpu: '4', gpu.amd.com: '2', mig.example.com: '1', nvidia.com/gpu: 1500m}");
    assert_eq!((claimed_milli(&amounts), status_milli(&amounts)), (2000, Some(3500)));
    assert_eq!(status_milli(&yaml("{cpu: '4'}")), None);
    let most = "'9000000000000000'";
    let amounts = yaml(&format!("{{gpu.a: {most}, gpu.b: {most}, gpu.c: {most}}}"));
    assert_eq!((claimed_milli(&amounts), status_milli(&amounts)), (u64::MAX, Some(u64::MAX)));
}
