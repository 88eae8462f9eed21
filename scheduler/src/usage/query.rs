//! Describes what Prometheus is asked, and what its answers mean.
//!
//! Values are decimal text with exponents, so this is the edge where they are floats; they leave it as millionths.

use std::collections::BTreeMap;

use kai_engine::Timestamp;
use serde::Deserialize;

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
    metric: BTreeMap<Box<str>, Box<str>>,
    /// Seconds since the epoch, and the value as text.
    value: (f64, Box<str>),
}

impl Sample {
    /// None for what is no amount: not a number, infinite or negative.
    fn amount(&self) -> Option<f64> {
        self.value.1.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
    }
}

/// The body of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    data: Option<Data>,
    #[serde(default)]
    error_type: Box<str>,
    #[serde(default)]
    error: Box<str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result_type: Box<str>,
    result: serde_json::Value,
}

/// The series of an answer, or what is wrong with it.
pub(super) fn samples(body: &[u8]) -> Result<Vec<Sample>, String> {
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|error| format!("the answer is none of Prometheus' API: {error}"))?;
    let Some(data) = answer.data else {
        return Err(format!("{}: {}", answer.error_type, answer.error));
    };
    if &*data.result_type != "vector" {
        return Err(format!("a vector was expected, a {} came", data.result_type));
    }
    serde_json::from_value(data.result)
        .map_err(|error| format!("the vector cannot be read: {error}"))
}

/// All series together.
pub(super) fn sum(samples: &[Sample]) -> f64 {
    samples.iter().filter_map(Sample::amount).sum()
}

/// Says what belongs to each queue. Series that differ in where they were scraped are one queue's.
pub(super) fn by_queue(samples: &[Sample]) -> BTreeMap<Box<str>, f64> {
    let mut queues = BTreeMap::new();
    for sample in samples {
        if let (Some(queue), Some(amount)) = (sample.metric.get(QUEUE), sample.amount()) {
            *queues.entry(queue.clone()).or_default() += amount;
        }
    }
    queues
}

/// The label of a queue's name. Source: docs/contract.md 9.1.
const QUEUE: &str = "queue_name";

/// A part in millionths; more than a thousand times the whole says nothing more.
pub(super) fn micro(part: f64, whole: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded here")]
    let micro = (part / whole * 1e6).round().clamp(0.0, 1e9) as u64;
    micro
}

#[cfg(test)]
mod tests {
    use super::{by_queue, micro, samples, sum};

    fn check(body: &str, expect: Result<(&str, f64), &str>) {
        let read = samples(body.as_bytes());
        let read = read.map(|samples| (format!("{:?}", by_queue(&samples)), sum(&samples)));
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

    #[test]
    fn parts_are_millionths() {
        assert_eq!([micro(1.0, 3.0), micro(0.0, 5.0), micro(5.0, 5.0)], [333_333, 0, 1_000_000]);
        assert_eq!(micro(1e300, 1e-300), 1_000_000_000);
    }
}
