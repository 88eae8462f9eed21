//! Describes what Prometheus is asked, and what its answers mean.
//!
//! Values are decimal text with exponents, so this is the edge where they are floats; they leave it as millionths.

use std::collections::BTreeMap;

use kai_engine::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::params::Params;

/// A query for what a metric summed up to over a window that ends now, where what is older may count less.
///
/// # Source
/// docs/behaviour.md 3.6.
pub(super) fn text(metric: &str, params: &Params, range: &str, now: Timestamp) -> String {
    let resolution = &params.resolution;
    let Some(half_life) = params.half_life else {
        return format!("sum_over_time(({metric})[{range}:{resolution}])");
    };
    let (now, seconds) = (now.0 / 1000, half_life.as_secs_f64());
    format!("sum_over_time(({metric} * 0.5^(({now} - time()) / {seconds}))[{range}:{resolution}])")
}

/// One series of an answer.
#[derive(Deserialize, Clone, PartialEq, Debug)]
pub(super) struct Sample {
    metric: Labels,
    /// Seconds since the epoch, and the value as text.
    value: (f64, Box<str>),
}

/// Holds the labels that are read.
#[derive(Deserialize, Clone, PartialEq, Debug)]
struct Labels {
    /// The name of a queue. Source: docs/contract.md 9.1.
    queue_name: Option<Box<str>>,
    /// The namespace of the pod that was asked, where Prometheus puts it down.
    namespace: Option<Box<str>>,
}

/// Says whose word a series is, the most trusted first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// Pods of the scheduler's own namespace told it.
    Home,
    /// Nobody knows.
    Unsaid,
    /// Pods of another namespace told it.
    Elsewhere,
}

impl Sample {
    fn origin(&self, home: &str) -> Origin {
        match self.metric.namespace.as_deref() {
            Some(namespace) if namespace == home => Origin::Home,
            None | Some("") => Origin::Unsaid,
            Some(_) => Origin::Elsewhere,
        }
    }

    /// None for what is no amount: not a number, infinite or negative.
    fn amount(&self) -> Option<f64> {
        self.value.1.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
    }
}

/// The body of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow, default)]
    data: Option<Data<'a>>,
    #[serde(default)]
    error_type: Box<str>,
    #[serde(default)]
    error: Box<str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    result_type: Box<str>,
    /// As text: the tree of one would take many times its bytes.
    #[serde(borrow)]
    result: &'a RawValue,
}

/// The series of an answer, or what is wrong with it.
pub(super) fn samples(body: &[u8]) -> Result<Vec<Sample>, String> {
    let answer: Answer<'_> = serde_json::from_slice(body)
        .map_err(|error| format!("the answer is none of Prometheus' API: {error}"))?;
    let Some(data) = answer.data else {
        return Err(format!("{}: {}", answer.error_type, answer.error));
    };
    if &*data.result_type != "vector" {
        return Err(format!("a vector was expected, a {} came", data.result_type));
    }
    serde_json::from_str(data.result.get())
        .map_err(|error| format!("the vector cannot be read: {error}"))
}

/// All series together.
pub(super) fn sum(samples: &[Sample]) -> f64 {
    samples.iter().filter_map(Sample::amount).sum()
}

/// Says what belongs to each queue by the most trusted series that there are; `home` is the scheduler's own namespace. Series
/// that differ in where they were scraped are one queue's.
///
/// # Source
/// docs/behaviour.md 3.6.
pub(super) fn by_queue(samples: &[Sample], home: &str) -> BTreeMap<Box<str>, f64> {
    let of_queues = samples.iter().filter_map(|sample| {
        Some((sample.origin(home), sample.metric.queue_name.as_deref()?, sample.amount()?))
    });
    let rows: Vec<(Origin, &str, f64)> = of_queues.collect();
    let best = rows.iter().map(|(origin, ..)| *origin).min();
    let mut queues: BTreeMap<Box<str>, f64> = BTreeMap::new();
    for (_, queue, amount) in rows.iter().filter(|(origin, ..)| Some(*origin) == best) {
        *queues.entry(Box::from(*queue)).or_default() += *amount;
    }
    queues
}

/// A part in millionths; more than a thousand times the whole says nothing more.
pub(super) fn micro(part: f64, whole: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded here")]
    let micro = (part / whole * 1e6).round().clamp(0.0, 1e9) as u64;
    micro
}

#[cfg(test)]
mod tests {
    use super::{Labels, Sample, by_queue, micro, samples, sum};

    fn check(body: &str, expect: Result<(&str, f64), &str>) {
        let read = samples(body.as_bytes());
        let read = read.map(|samples| (format!("{:?}", by_queue(&samples, "kai")), sum(&samples)));
        match (read, expect) {
            (Ok(read), Ok((queues, sum))) => {
                assert_eq!(read.0, queues, "{body}");
                assert!((read.1 - sum).abs() < 1e-9, "{body}: {}", read.1);
            }
            (read, expect) => {
                assert_eq!(
                    read.map_err(|error| error.contains(expect.unwrap_err())),
                    Err(true),
                    "{body}"
                );
            }
        }
    }

    #[test]
    fn answers_are_read_as_prometheus_writes_them() {
        let vector = |result: &str| {
            format!(
                r#"{{"status":"success","data":{{"resultType":"vector","result":[{result}]}}}}"#
            )
        };
        check(&vector(""), Ok(("{}", 0.0)));
        check(
            &vector(
                r#"{"metric":{"queue_name":"a","instance":"1"},"value":[1767225600.781,"120"]},
                   {"metric":{"queue_name":"a","instance":"2"},"value":[1767225600.781,"1.5e+02"]},
                   {"metric":{"queue_name":"b"},"value":[1767225600.781,"NaN"]},
                   {"metric":{"queue_name":"c"},"value":[1767225600.781,"+Inf"]}"#,
            ),
            Ok((r#"{"a": 270.0}"#, 270.0)),
        );
        check(&vector(r#"{"metric":{},"value":[1767225600,"16"]}"#), Ok(("{}", 16.0)));
        check(
            r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#,
            Err("a vector was expected, a matrix came"),
        );
        check(
            r#"{"status":"error","errorType":"bad_data","error":"1:2: parse error"}"#,
            Err("bad_data: 1:2: parse error"),
        );
        check("<html>", Err("none of Prometheus' API"));
    }

    /// A tenant that is scraped may tell any metric; Prometheus says from which namespace it came.
    #[test]
    fn of_a_queue_the_most_trusted_series_count() {
        let check = |namespaces: &[&str], expect: &str| {
            let amounts = ["1", "10", "100"].into_iter();
            let samples: Vec<Sample> = namespaces
                .iter()
                .zip(amounts)
                .map(|(namespace, amount)| {
                    let namespace = (!namespace.is_empty()).then(|| Box::from(*namespace));
                    let metric = Labels { queue_name: Some(Box::from("a")), namespace };
                    Sample { metric, value: (0.0, Box::from(amount)) }
                })
                .collect();
            assert_eq!(format!("{:?}", by_queue(&samples, "kai")), expect, "{namespaces:?}");
        };
        check(&["kai", "mallory", ""], r#"{"a": 1.0}"#);
        check(&["mallory", "kai", "kai"], r#"{"a": 110.0}"#);
        check(&["", "mallory", ""], r#"{"a": 101.0}"#);
        // Where Prometheus asks a collector for all of them, nothing else is known.
        check(&["collectors", "collectors"], r#"{"a": 11.0}"#);
    }

    #[test]
    fn parts_are_millionths() {
        assert_eq!([micro(1.0, 3.0), micro(0.0, 5.0), micro(5.0, 5.0)], [333_333, 0, 1_000_000]);
        assert_eq!(micro(1e300, 1e-300), 1_000_000_000);
    }
}
