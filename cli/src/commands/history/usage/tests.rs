//! Sums of usage by every key.

use kai_api::daily_record::WorkloadRecord;

use super::*;

/// An entry by name, user, day of the month, and GPU-seconds by queue and type.
fn entry(name: &str, user: &str, day: i8, usage: &[(&str, &str, u64)]) -> Entry {
    let row = |(queue, gpu_type, seconds): &(&str, &str, u64)| UsageRow {
        queue: (*queue).to_owned(),
        gpu_type: (*gpu_type).to_owned(),
        micro_gpu_seconds: seconds * 1_000_000,
        held_micro_gpus: 0,
    };
    Entry {
        namespace: format!("of-{user}"),
        day: jiff::civil::date(2026, 11, day),
        uid: name.to_owned(),
        record: WorkloadRecord {
            name: name.to_owned(),
            kind: "Job".to_owned(),
            user: (!user.is_empty()).then(|| user.to_owned()),
            queue: "q".to_owned(),
            usage: usage.iter().map(row).collect(),
            ..WorkloadRecord::default()
        },
    }
}

fn month() -> Vec<Entry> {
    vec![
        entry("a", "ana", 1, &[("q", "H100", 7200), ("r", "H100", 1800)]),
        entry("a", "ana", 2, &[("r", "A100", 3600)]),
        entry("b", "bo", 2, &[("q", "H100", 1)]),
        entry("c", "", 3, &[]),
    ]
}

/// Each line as its keys, workloads, hours and cost.
fn check(by: &[By], prices: &[&str], expect: &[&str]) {
    let prices: Vec<String> = prices.iter().map(|word| (*word).to_owned()).collect();
    let prices = Prices::read(&prices).expect("prices");
    let (lines, whole) = sums(&month(), by, &prices);
    let sheet = sheet(&lines, &whole, by, &prices);
    let rows = sheet
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" "));
    assert_eq!(rows.collect::<Vec<_>>(), expect);
}

/// A day of very many workloads sums up those that are gone, an entry for each of its objects.
#[test]
fn workloads_that_are_summed_up_are_counted() {
    let mut entries = month();
    for (second, count) in [(1, 100), (2, 40)] {
        let mut others = entry(OTHERS, "ana", 2, &[("q", "H100", 7200), ("r", "H100", 3600)]);
        let created = jiff::Timestamp::from_second(second).expect("a time");
        others.record.created = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(created));
        others.record.workloads = count;
        entries.push(others);
    }
    let prices = Prices::read(&[]).expect("none");
    let (lines, whole) = sums(&entries, &[By::Queue], &prices);
    assert_eq!(whole.workloads(), 3 + 140);
    assert_eq!(lines[&vec!["q".to_owned()]].micro_gpu_seconds, 21_601 * 1_000_000);
}

#[test]
fn usage_is_added_up_by_what_is_asked_for() {
    check(&[By::User], &[], &["ana 1 3.500 100%", "bo 1 <0.001 0%", "- 1 0.000 0%"]);
    check(
        &[By::Queue, By::GpuType],
        &["gpu=1", "H100=4"],
        &[
            "q H100 2 2.000 57% 8.00",
            "r A100 1 1.000 29% 1.00",
            "r H100 1 0.500 14% 2.00",
            "q - 1 0.000 0% 0.00",
        ],
    );
    check(
        &[By::Day],
        &[],
        &["2026-11-01 1 2.500 71%", "2026-11-02 2 1.000 29%", "2026-11-03 1 0.000 0%"],
    );
}

#[test]
fn lines_add_up_to_one_whole_by_any_key() {
    let all = [By::User, By::Queue, By::Kind, By::GpuType, By::Day, By::Namespace, By::Workload];
    let prices = Prices::read(&["gpu=3.333333".to_owned()]).expect("prices");
    for one in all {
        for other in all {
            let (lines, whole) = sums(&month(), &[one, other], &prices);
            let mut cost = Cost::default();
            for sum in lines.values() {
                cost.add(sum.cost);
            }
            let micro: u128 = lines.values().map(|sum| sum.micro_gpu_seconds).sum();
            assert_eq!((micro, cost), (12_601_000_000, whole.cost), "{one:?} {other:?}");
        }
    }
}
