//! The task against a server that answers as Prometheus does.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    routing::{MethodRouter, post},
};
use kai_api::shard::UsageDbConfig;
use prometheus::HistogramOpts;
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};

use super::*;

/// Holds what was asked, with the credentials, and how many requests are refused before one is answered.
#[derive(Default)]
struct Asked {
    queries: Vec<(String, Option<String>)>,
    refusals: u32,
}

type Shared = Arc<Mutex<Asked>>;

/// A field of a form.
fn field(form: &str, name: &str) -> String {
    let mut fields = form.split('&').filter_map(|field| field.split_once('='));
    let (_, value) = fields.find(|(key, _)| *key == name).expect("the field is sent");
    percent_encoding::percent_decode_str(value).decode_utf8().expect("text").into_owned()
}

/// Two queues on 16 GPUs and 64 cores; how much memory there was is not known.
async fn answer(
    State(asked): State<Shared>,
    headers: HeaderMap,
    form: String,
) -> (StatusCode, String) {
    let query = field(&form, "query");
    let time: i64 = field(&form, "time").parse().expect("a time in seconds");
    let mut asked = asked.lock().expect("no test holds it and panics");
    if asked.refusals > 0 {
        asked.refusals -= 1;
        let body = json!({"status": "error", "errorType": "timeout", "error": "query timed out"});
        return (StatusCode::SERVICE_UNAVAILABLE, body.to_string());
    }
    let authorization = headers.get(header::AUTHORIZATION);
    let authorization = authorization.map(|value| value.to_str().expect("text").to_owned());
    let series: &[(&str, &str)] = if query.contains("resource=\"nvidia_com_gpu\"") {
        &[("", "161280")]
    } else if query.contains("resource=\"cpu\"") {
        &[("", "645120")]
    } else if query.contains("kai_queue_allocated_gpus") {
        &[("research", "80640"), ("product", "4.032e+04"), ("product", "20160")]
    } else if query.contains("kai_queue_allocated_cpu_cores") {
        &[("research", "64512")]
    } else if query.contains("kai_queue_allocated_memory_bytes") {
        &[("research", "1e+12")]
    } else {
        &[]
    };
    asked.queries.push((query, authorization));
    let series: Vec<_> = series
        .iter()
        .enumerate()
        .map(|(at, (queue, value))| {
            let metric = match *queue {
                "" => json!({}),
                queue => json!({"queue_name": queue, "instance": at.to_string()}),
            };
            json!({"metric": metric, "value": [time, value]})
        })
        .collect();
    let data = json!({"resultType": "vector", "result": series});
    (StatusCode::OK, json!({"status": "success", "data": data}).to_string())
}

/// Answers queries under a path; gives the port.
async fn serve(queries: MethodRouter) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let router = Router::new().route("/metrics-store/api/v1/query", queries);
    let server = tokio::spawn(async move {
        axum::serve(listener, router).await.expect("it serves until it is aborted");
    });
    (port, server)
}

fn params(port: u16, usage_params: &str) -> Params {
    let config: UsageDbConfig = serde_saphyr::from_str(&format!(
        "{{clientType: prometheus, connectionString: 'http://reader:p%40ss@127.0.0.1:{port}/metrics-store/', \
          usageParams: {usage_params}}}"
    ))
    .expect("a usageDBConfig");
    let mut problems = Vec::new();
    let params = Params::read(&config, &mut problems).expect("it can be asked");
    assert_eq!(problems, Vec::<String>::new());
    params
}

async fn next(feed: &mut Feed) -> Usage {
    let answer = timeout(Duration::from_secs(30), feed.next()).await;
    answer.expect("an answer in time").expect("the task runs")
}

#[tokio::test]
async fn past_use_is_read_from_prometheus() {
    let asked = Shared::default();
    asked.lock().expect("nobody panicked").refusals = 2;
    let (port, server) = serve(post(answer).with_state(Arc::clone(&asked))).await;
    let latency = Histogram::with_opts(HistogramOpts::new("latency", "of queries")).expect("valid");
    let (mut feed, task) = feed(String::new(), String::from("kai-scheduler"), latency.clone());
    let stop = CancellationToken::new();
    let task = tokio::spawn(task.keep(stop.clone()));
    feed.want(Some(params(port, "{halfLifePeriod: 90m, fetchInterval: 100ms}")), None);
    assert!(feed.is_awaited(), "the first answer is waited for");
    let usage = next(&mut feed).await;
    assert!(!feed.is_awaited(), "it came");
    let expect: Usage = [
        (Box::from("product"), PerLane([0, 0, 375_000])),
        (Box::from("research"), PerLane([100_000, 0, 500_000])),
    ]
    .into();
    assert_eq!(usage, expect);
    assert_eq!(next(&mut feed).await, expect, "it is asked again at the interval");
    {
        let asked = asked.lock().expect("nobody panicked");
        let (query, authorization) = &asked.queries[0];
        // Base64 of `reader:p@ss`.
        assert_eq!(authorization.as_deref(), Some("Basic cmVhZGVyOnBAc3M="));
        let (head, tail) = query.split_once("0.5^((").expect("what is older counts less");
        assert_eq!(head, "sum_over_time((sum(kube_node_status_capacity{resource=\"cpu\"}) * ");
        let (now, tail) = tail.split_once(' ').expect("a time and an age");
        assert!(now.parse::<i64>().is_ok_and(|now| now > 1_700_000_000), "{now} is no time");
        assert_eq!(tail, "- time()) / 5400))[1w:1m])");
    }
    assert!(latency.get_sample_count() >= 7, "queries are timed, refused ones too");
    feed.want(None, None);
    while !next(&mut feed).await.is_empty() {}
    // Windows last a week: this one is half over whenever the test runs.
    let start = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(84);
    let window = format!("{{windowType: tumbling, tumblingWindowStartTime: '{start:.0}'}}");
    feed.want(Some(params(port, &window)), None);
    assert!(!feed.is_awaited(), "only the start waits");
    assert_eq!(next(&mut feed).await, expect);
    let last = asked.lock().expect("nobody panicked").queries.last().cloned();
    let (query, _) = last.expect("it was asked");
    let range = query.strip_prefix("sum_over_time((kai_queue_allocated_gpus)[");
    let range = range.and_then(|rest| rest.strip_suffix("s:1m])")).expect("a range up to now");
    let seconds = 84 * 3600..85 * 3600;
    assert!(range.parse::<i64>().is_ok_and(|range| seconds.contains(&range)), "{range}");
    stop.cancel();
    task.await.expect("it ends");
    server.abort();
}

/// Nothing would be scheduled for as long as the database is away.
#[tokio::test(start_paused = true)]
async fn a_first_answer_that_does_not_come_is_waited_for_no_longer() {
    let latency = Histogram::with_opts(HistogramOpts::new("latency", "of queries")).expect("valid");
    let (mut feed, _task) = feed(String::new(), String::from("kai-scheduler"), latency);
    assert!(!feed.is_awaited(), "nothing is wanted");
    feed.want(Some(params(9, "{waitTimeout: 20s}")), None);
    for (seconds, expect) in [(0, true), (19, true), (1, false), (60, false)] {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!(feed.is_awaited(), expect, "{seconds} s later");
    }
}

/// Whoever is scraped makes as many series as it likes.
#[tokio::test]
async fn an_answer_is_read_as_far_as_there_is_memory_for_it() {
    let queries = post(async || "x".repeat(client::ANSWER_BYTES_MAX + 1));
    let (port, server) = serve(queries).await;
    let (client, _) = client::connect(&params(port, "{}"), "").expect("it is an address");
    let answer = client::ask(&client, "up", Timestamp(0), Duration::from_secs(30)).await;
    let failure = answer.expect_err("it is too long").to_string();
    assert!(failure.starts_with("the answer has more than 32 MiB"), "{failure}");
    server.abort();
}

#[tokio::test]
async fn what_is_wrong_with_an_address_is_said_without_it() {
    let check = |config: &str, expect: &str| {
        let config: UsageDbConfig = serde_saphyr::from_str(config).expect("a usageDBConfig");
        let params = Params::read(&config, &mut Vec::new()).expect("it can be asked");
        let failure = client::connect(&params, "kai-scheduler").err().expect("it is no address");
        let text = failure.to_string();
        assert!(text.contains(expect), "{text}");
        assert!(!text.contains("hush"), "{text}");
    };
    check(
        "{clientType: prometheus, connectionString: 'ftp://me:hush@prometheus'}",
        "usageDBConfig.connectionString is no address: it begins with neither http:// nor https://",
    );
    check(
        "{clientType: prometheus, connectionString: 'me:hush@prometheus'}",
        "usageDBConfig.connectionString is no address",
    );
    check(
        "{clientType: prometheus, connectionStringEnvVar: KAI_TEST_NOT_SET}",
        "the environment variable KAI_TEST_NOT_SET (usageDBConfig.connectionStringEnvVar) is not set",
    );
}

#[tokio::test]
async fn an_address_is_told_without_what_is_secret() {
    let text = "{clientType: prometheus, connectionString: 'https://me:hush@prometheus.example:9090/hush?token=hush'}";
    let config: UsageDbConfig = serde_saphyr::from_str(text).expect("a usageDBConfig");
    let params = Params::read(&config, &mut Vec::new()).expect("it can be asked");
    let (_, address) = client::connect(&params, "kai-scheduler").expect("it is an address");
    assert_eq!(address, "https://prometheus.example:9090");
}
