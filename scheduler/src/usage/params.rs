//! `usageDBConfig`: where past use is read, and how.

use std::{fmt, str::FromStr, time::Duration};

use kai_api::{
    duration::GoDuration,
    shard::{UsageDbConfig, UsageParams},
};
use kai_engine::Timestamp;

use super::window::{Window, is_cron};

/// Holds what the task follows. Source: docs/behaviour.md 3.6.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Params {
    pub(super) address: Address,
    /// After how long use counts half; none: never.
    pub(super) half_life: Option<Duration>,
    pub(super) window: Window,
    /// From one reading to the next.
    pub(super) interval: Duration,
    /// Warns of what was read longer ago.
    pub(super) staleness: Duration,
    /// Says how long the first answer is waited for.
    pub(super) wait: Duration,
    /// By resource: what queues held, and what there was.
    pub(super) metrics: [[Box<str>; 2]; 3],
    /// Says how long a query may take.
    pub(super) timeout: Duration,
    /// Says how far the points of a query are apart, as Prometheus writes durations.
    pub(super) resolution: Box<str>,
}

/// Says where the database is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Address {
    /// As written.
    Given(Secret),
    /// In an environment variable.
    Variable(Box<str>),
    /// The address on the command line, or the database that KAI's operator sets up.
    Fallback,
}

/// Text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(Box<str>);

impl Secret {
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}

const WEEK: &str = "1w";
const MINUTE: &str = "1m";

impl Params {
    /// Reads the field; what of it has no effect is added to `problems`, one sentence each. None where nothing can be
    /// asked.
    pub(crate) fn read(config: &UsageDbConfig, problems: &mut Vec<String>) -> Option<Self> {
        if config.client_type != "prometheus" {
            problems.push(format!(
                "usageDBConfig.clientType: {:?} is not supported, only prometheus is: past use counts nothing",
                config.client_type
            ));
            return None;
        }
        let address = match (&config.connection_string, &config.connection_string_env_var) {
            (Some(_), Some(_)) => {
                problems.push(String::from(
                    "usageDBConfig: give connectionString or connectionStringEnvVar, not both: past use counts nothing",
                ));
                return None;
            }
            (Some(text), None) if !text.is_empty() => Address::Given(Secret(Box::from(&**text))),
            (None, Some(name)) if !name.is_empty() => Address::Variable(Box::from(&**name)),
            _ => Address::Fallback,
        };
        let given = config.usage_params.clone().unwrap_or_default();
        let mut reading = Reading { problems };
        let interval = reading.duration("fetchInterval", given.fetch_interval.as_deref(), 60);
        let staleness = reading.duration("stalenessPeriod", given.staleness_period.as_deref(), 300);
        let wait = reading.duration("waitTimeout", given.wait_timeout.as_deref(), 60);
        let half_life = reading.duration("halfLifePeriod", given.half_life_period.as_deref(), 0);
        let window = reading.window(&given);
        let extra = |name: &str| given.extra_params.get(name).map(String::as_str);
        let timeout = reading.duration("extraParams.usageQueryTimeout", extra(TIMEOUT), 10);
        let resolution =
            reading.prometheus("extraParams.queryResolution", extra(RESOLUTION), MINUTE);
        reading.unknown(given.extra_params.keys());
        let metrics = METRICS.map(|metrics| {
            metrics.map(|(name, default)| Box::from(extra(name).unwrap_or(default)))
        });
        Some(Self {
            address,
            half_life: (!half_life.is_zero()).then_some(half_life),
            window,
            interval: if interval.is_zero() { Duration::from_mins(1) } else { interval },
            staleness: staleness.max(interval),
            wait,
            metrics,
            timeout: if timeout.is_zero() { Duration::from_secs(10) } else { timeout },
            resolution,
        })
    }
}

const TIMEOUT: &str = "usageQueryTimeout";
const RESOLUTION: &str = "queryResolution";

/// By resource: the key that names the metric of what queues held and its default, and the same of what there was.
const METRICS: [[(&str, &str); 2]; 3] = [
    [
        ("cpuAllocationMetric", "kai_queue_allocated_cpu_cores"),
        ("cpuCapacityMetric", "sum(kube_node_status_capacity{resource=\"cpu\"})"),
    ],
    [
        ("memoryAllocationMetric", "kai_queue_allocated_memory_bytes"),
        ("memoryCapacityMetric", "sum(kube_node_status_capacity{resource=\"memory\"})"),
    ],
    [
        ("gpuAllocationMetric", "kai_queue_allocated_gpus"),
        ("gpuCapacityMetric", "sum(kube_node_status_capacity{resource=\"nvidia_com_gpu\"})"),
    ],
];

struct Reading<'p> {
    problems: &'p mut Vec<String>,
}

impl Reading<'_> {
    fn problem(&mut self, field: &str, what: &str) {
        self.problems.push(format!("usageDBConfig.usageParams.{field}: {what}"));
    }

    /// A duration in Go's form; nothing below zero.
    fn duration(&mut self, field: &str, text: Option<&str>, default_seconds: u64) -> Duration {
        let default = Duration::from_secs(default_seconds);
        let Some(text) = text else { return default };
        match GoDuration::from_str(text) {
            Ok(duration) => Duration::from_nanos(u64::try_from(duration.nanos()).unwrap_or(0)),
            Err(error) => {
                self.problem(field, &format!("{error}: {default:?} is used"));
                default
            }
        }
    }

    /// A duration in Prometheus' form, above zero.
    fn prometheus(&mut self, field: &str, text: Option<&str>, default: &str) -> Box<str> {
        let Some(text) = text else { return Box::from(default) };
        if prometheus_millis(text).is_some_and(|millis| millis > 0) {
            return Box::from(text);
        }
        let what = format!(
            "failed to read duration {text:?}: a form like 30s, 1h30m or 1w was expected: {default} is used"
        );
        self.problem(field, &what);
        Box::from(default)
    }

    fn window(&mut self, given: &UsageParams) -> Window {
        let size = self.prometheus("windowSize", given.window_size.as_deref(), WEEK);
        match given.window_type.as_deref() {
            None | Some("" | "sliding") => Window::Sliding(size),
            Some("tumbling") => Window::Tumbling {
                start: given
                    .tumbling_window_start_time
                    .as_ref()
                    .map(|time| Timestamp(time.0.as_millisecond())),
                size: prometheus_millis(&size).unwrap_or(1),
            },
            Some("cron") => match given.cron_string.as_deref() {
                Some(text) if is_cron(text) => Window::Cron(Box::from(text)),
                text => {
                    let what = format!(
                        "{:?} is no cron expression: the window slides",
                        text.unwrap_or("")
                    );
                    self.problem("cronString", &what);
                    Window::Sliding(size)
                }
            },
            Some(other) => {
                let what =
                    format!("{other:?} is none of sliding, tumbling, cron: the window slides");
                self.problem("windowType", &what);
                Window::Sliding(size)
            }
        }
    }

    fn unknown<'k>(&mut self, keys: impl Iterator<Item = &'k String>) {
        let mut known: Vec<&str> = METRICS.iter().flatten().map(|(name, _)| *name).collect();
        known.extend([TIMEOUT, RESOLUTION]);
        for key in keys.filter(|key| !known.contains(&key.as_str())) {
            self.problem(&format!("extraParams.{key}"), "has no effect here");
        }
    }
}

/// Milliseconds of a duration as Prometheus writes it: whole numbers with units from years to milliseconds.
fn prometheus_millis(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut millis: i64 = 0;
    while !rest.is_empty() {
        let (number, tail) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let (unit, tail) =
            tail.split_at(tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len()));
        let unit: i64 = match unit {
            "y" => 365 * 86_400_000,
            "w" => 7 * 86_400_000,
            "d" => 86_400_000,
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1000,
            "ms" => 1,
            _ => return None,
        };
        millis = millis.checked_add(number.parse::<i64>().ok()?.checked_mul(unit)?)?;
        rest = tail;
    }
    Some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_contracts() {
        let config = UsageDbConfig {
            client_type: String::from("prometheus"),
            connection_string: Some(String::from("http://user:hush@prometheus:9090")),
            ..UsageDbConfig::default()
        };
        let mut problems = Vec::new();
        let params = Params::read(&config, &mut problems).expect("it can be asked");
        let seconds = [params.interval, params.staleness, params.wait, params.timeout];
        assert_eq!(seconds.map(|duration| duration.as_secs()), [60, 300, 60, 10]);
        assert_eq!((params.half_life, &*params.resolution), (None, "1m"));
        assert_eq!(params.window, Window::Sliding(Box::from("1w")));
        let metrics = params.metrics.each_ref().map(|pair| pair.each_ref().map(|one| &**one));
        assert_eq!(
            metrics,
            [
                [
                    "kai_queue_allocated_cpu_cores",
                    "sum(kube_node_status_capacity{resource=\"cpu\"})"
                ],
                [
                    "kai_queue_allocated_memory_bytes",
                    "sum(kube_node_status_capacity{resource=\"memory\"})"
                ],
                [
                    "kai_queue_allocated_gpus",
                    "sum(kube_node_status_capacity{resource=\"nvidia_com_gpu\"})"
                ],
            ]
        );
        assert!(!format!("{params:?}").contains("hush"), "an address is printed");
        assert!(problems.is_empty(), "{problems:?}");
    }

    /// Each unit of a duration of Prometheus has its length.
    #[test]
    fn a_tumbling_window_is_as_long_as_it_says() {
        const HOUR: i64 = 3_600_000;
        for (text, size) in [("1d", 24 * HOUR), ("1d12h", 36 * HOUR), ("1w", 168 * HOUR)] {
            let yaml = format!(
                "{{clientType: prometheus, connectionString: 'http://a', \
                 usageParams: {{windowType: tumbling, windowSize: {text}}}}}"
            );
            let config: UsageDbConfig = serde_saphyr::from_str(&yaml).expect("a usageDBConfig");
            let params = Params::read(&config, &mut Vec::new()).expect("it can be asked");
            assert_eq!(params.window, Window::Tumbling { start: None, size }, "{text}");
        }
    }

    /// Reads the YAML of a `usageDBConfig` and compares what is wrong with it.
    fn check(text: &str, is_read: bool, problems: &[&str]) {
        let config: UsageDbConfig = serde_saphyr::from_str(text).expect("a usageDBConfig");
        let mut told = Vec::new();
        assert_eq!(Params::read(&config, &mut told).is_some(), is_read, "{text}");
        assert_eq!(told, problems, "{text}");
    }

    #[test]
    fn what_cannot_be_followed_is_said() {
        check(
            "{clientType: fake-with-history}",
            false,
            &[
                "usageDBConfig.clientType: \"fake-with-history\" is not supported, only prometheus is: \
               past use counts nothing",
            ],
        );
        check(
            "{clientType: prometheus, connectionString: 'http://a', connectionStringEnvVar: B}",
            false,
            &[
                "usageDBConfig: give connectionString or connectionStringEnvVar, not both: past use counts nothing",
            ],
        );
        check(
            "{clientType: prometheus, usageParams: {windowType: hopping, windowSize: '0', halfLifePeriod: 1w, \
             extraParams: {color: red, queryResolution: often}}}",
            true,
            &[
                "usageDBConfig.usageParams.halfLifePeriod: failed to read duration \"1w\": a form like 30s, 1h30m, \
                 500ms, -1s or 0 was expected: 0ns is used",
                "usageDBConfig.usageParams.windowSize: failed to read duration \"0\": a form like 30s, 1h30m or 1w \
                 was expected: 1w is used",
                "usageDBConfig.usageParams.windowType: \"hopping\" is none of sliding, tumbling, cron: the window slides",
                "usageDBConfig.usageParams.extraParams.queryResolution: failed to read duration \"often\": a form \
                 like 30s, 1h30m or 1w was expected: 1m is used",
                "usageDBConfig.usageParams.extraParams.color: has no effect here",
            ],
        );
        check(
            "{clientType: prometheus, usageParams: {windowType: cron}}",
            true,
            &[
                "usageDBConfig.usageParams.cronString: \"\" is no cron expression: the window slides",
            ],
        );
        check(
            "{clientType: prometheus, connectionStringEnvVar: ADDRESS, usageParams: {windowType: tumbling, \
             windowSize: 1d12h, tumblingWindowStartTime: '2026-01-01T00:00:00Z', halfLifePeriod: 24h, \
             fetchInterval: 10s, stalenessPeriod: 1s, waitTimeout: 0s}}",
            true,
            &[],
        );
    }

    /// Without a pause between readings the database would be asked all the time, and no answer comes within no time.
    #[test]
    fn no_time_is_the_usual_time() {
        let config: UsageDbConfig = serde_saphyr::from_str(
            "{clientType: prometheus, usageParams: {fetchInterval: 0s, extraParams: {usageQueryTimeout: 0s}}}",
        )
        .expect("a usageDBConfig");
        let params = Params::read(&config, &mut Vec::new()).expect("it can be asked");
        let seconds = [params.interval, params.timeout].map(|duration| duration.as_secs());
        assert_eq!(seconds, [60, 10]);
    }

    /// Charts write what is not set as an empty text.
    #[test]
    fn an_empty_address_is_none() {
        for field in ["connectionString: ''", "connectionStringEnvVar: ''", "usageParams: {}"] {
            let text = format!("{{clientType: prometheus, {field}}}");
            let config: UsageDbConfig = serde_saphyr::from_str(&text).expect("a usageDBConfig");
            let params = Params::read(&config, &mut Vec::new()).expect("it can be asked");
            assert_eq!(params.address, Address::Fallback, "{field}");
        }
    }

    /// Operators may record them under other names.
    #[test]
    fn metrics_are_asked_for_as_they_are_called() {
        let config: UsageDbConfig = serde_saphyr::from_str(
            "{clientType: prometheus, usageParams: {extraParams: {cpuAllocationMetric: a, cpuCapacityMetric: b, \
             memoryAllocationMetric: c, memoryCapacityMetric: d, gpuAllocationMetric: e, gpuCapacityMetric: f, \
             usageQueryTimeout: 3s, queryResolution: 5m}}}",
        )
        .expect("a usageDBConfig");
        let mut problems = Vec::new();
        let params = Params::read(&config, &mut problems).expect("it can be asked");
        let metrics = params.metrics.each_ref().map(|pair| pair.each_ref().map(|one| &**one));
        assert_eq!(metrics, [["a", "b"], ["c", "d"], ["e", "f"]]);
        assert_eq!((params.timeout.as_secs(), &*params.resolution), (3, "5m"));
        assert!(problems.is_empty(), "{problems:?}");
    }
}
