//! Says in the status of the shard whether past use can be read, in a condition of its own: an operator that looks at
//! the shard sees an unreachable database without the scheduler's log.

use http::Method;
use kai_api::names::condition;
use kai_daemon::{backoff, clock};
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::server::Write;
use crate::server::call::{Failure, Form, call, read};

/// Says how it stands with the database of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// The shard that asks for it; `None` until that is known, and where a file is followed in place of shards.
    pub(super) shard: Option<String>,
    /// Holds what was found, once something was.
    pub(super) found: Found,
}

/// Says what came of asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Found {
    /// It is not known yet.
    #[default]
    Nothing,
    /// The shard wants none.
    Unwanted,
    /// It answers.
    Answer { address: String },
    /// It does not answer, or not with what was asked for.
    Failure { address: String, why: String },
}

/// Keeps the condition as it stands until `stop`, or until nobody tells.
pub(super) async fn keep(
    mut told: watch::Receiver<Standing>,
    write: Write,
    stop: CancellationToken,
) {
    let mut failures = 0;
    loop {
        let standing = told.borrow_and_update().clone();
        let done = tell(&standing, &write).await;
        let pause = match &done {
            Ok(()) => None,
            Err(failure) => {
                failures += 1;
                if failures == 1 {
                    tracing::warn!(%failure, "failed to say in the shard's status whether past use is read");
                }
                Some(backoff(failures))
            }
        };
        failures = if pause.is_some() { failures } else { 0 };
        let again = async {
            match pause {
                Some(pause) => sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            changed = told.changed() => if changed.is_err() { return },
            () = again => {}
        }
    }
}

/// Writes the condition where it is not as it stands.
async fn tell(standing: &Standing, write: &Write) -> Result<(), Failure> {
    let Some(shard) = standing.shard.as_ref().filter(|_| standing.found != Found::Nothing) else {
        return Ok(());
    };
    let path = format!("/apis/kai.scheduler/v1/schedulingshards/{shard}");
    let live = match read(&write.client, &path).await {
        Err(Failure::Refused { code: 404, .. }) => return Ok(()),
        live => live?,
    };
    let live: Value = serde_json::from_slice(&live).unwrap_or_default();
    let now = clock::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let Some(conditions) = conditions(&live, &standing.found, &now) else { return Ok(()) };
    let body = json!({
        "metadata": {"uid": live["metadata"]["uid"], "resourceVersion": live["metadata"]["resourceVersion"]},
        "status": {"conditions": conditions},
    });
    let done = call(write, Method::PATCH, &format!("{path}/status"), Form::Merge, &body).await;
    write.count("schedulingshard", done.is_ok());
    done.map(drop)
}

/// The conditions of a shard with ours among them; `None` when they are as stored but for times.
fn conditions(shard: &Value, found: &Found, now: &str) -> Option<Vec<Value>> {
    let stored = shard["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_ours = |row: &Value| row["type"] == condition::USAGE_DATABASE_REACHABLE;
    let before = stored.iter().find(|row| is_ours(row)).unwrap_or(&Value::Null);
    let (status, reason, message) = match found {
        Found::Nothing => return None,
        Found::Unwanted if before.is_null() => return None,
        Found::Unwanted => {
            return Some(stored.iter().filter(|row| !is_ours(row)).cloned().collect());
        }
        Found::Answer { address } => ("True", "reachable", format!("{address} answers")),
        Found::Failure { address, why } => (
            "False",
            "unreachable",
            format!("{address}: {why}; past use counts as it was read last, and not before it was"),
        ),
    };
    let since = before["lastTransitionTime"].as_str().filter(|_| before["status"] == status);
    let row = json!({"type": condition::USAGE_DATABASE_REACHABLE, "status": status, "reason": reason,
        "message": message, "observedGeneration": shard["metadata"]["generation"],
        "lastTransitionTime": since.unwrap_or(now)});
    if row == *before {
        return None;
    }
    let mut all = stored.to_vec();
    match all.iter_mut().find(|row| is_ours(row)) {
        Some(before) => *before = row,
        None => all.push(row),
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use super::*;
    use crate::server::answering::answering;

    /// Writes to a server with one shard, which another writes between the first read and the first write; what it was sent is
    /// added to `sent`.
    async fn write(sent: &Arc<Mutex<Vec<Value>>>) -> Write {
        let sent = Arc::clone(sent);
        answering(move |asked, body| {
            let mut sent = sent.lock().expect("nobody panics with it");
            if asked.method == Method::GET {
                let version = sent.len().to_string();
                let status = sent.iter().skip(1).next_back().map(|body| body["status"].clone());
                let metadata = json!({"uid": "u", "resourceVersion": version});
                return (200, json!({"metadata": metadata, "status": status}));
            }
            sent.push(body);
            if sent.len() == 1 { (409, json!({"message": "conflict"})) } else { (200, json!({})) }
        })
        .await
    }

    /// A finding changes seldom: a status that was not written would say otherwise for days.
    #[tokio::test(start_paused = true)]
    async fn what_was_not_written_is_written_again() {
        let sent = Arc::default();
        let write = write(&sent).await;
        let stop = CancellationToken::new();
        let standing = |found| Standing { shard: Some(String::from("s")), found };
        let found = Found::Answer { address: String::from("http://p:9090") };
        let (tell, told) = watch::channel(standing(found));
        let keeping = tokio::spawn(keep(told, write, stop.clone()));
        sleep(Duration::from_secs(1)).await;
        tell.send(standing(Found::Unwanted)).expect("it is listened to");
        sleep(Duration::from_secs(1)).await;
        stop.cancel();
        keeping.await.expect("no panic");
        let sent = sent.lock().expect("nobody panics with it");
        let seen = sent.iter().map(|body| {
            let rows = body["status"]["conditions"].as_array().map_or(0, Vec::len);
            let metadata = &body["metadata"];
            json!([metadata["uid"], metadata["resourceVersion"], rows])
        });
        let expect = [json!(["u", "0", 1]), json!(["u", "1", 1]), json!(["u", "2", 0])];
        assert_eq!(seen.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn the_condition_follows_what_was_found() {
        let answer = Found::Answer { address: String::from("http://p:9090") };
        let failure =
            Found::Failure { address: String::from("http://p:9090"), why: String::from("refused") };
        let otherwise = Found::Failure {
            address: String::from("http://p:9090"),
            why: String::from("no route"),
        };
        let others = json!([{"type": "Ready", "status": "True"}]);
        let mut shard = json!({"metadata": {"generation": 3}, "status": {"conditions": others}});
        let mut written = Vec::new();
        for (at, found) in [
            &Found::Nothing,
            &Found::Unwanted,
            &failure,
            &failure,
            &answer,
            &answer,
            &failure,
            &otherwise,
            &Found::Unwanted,
        ]
        .into_iter()
        .enumerate()
        {
            let Some(rows) = conditions(&shard, found, &format!("time {at}")) else { continue };
            assert_eq!(rows[0], others[0], "conditions of others stay");
            let [_, row] = rows.as_slice() else {
                written.push(format!("{at} gone"));
                shard["status"]["conditions"] = json!(rows);
                continue;
            };
            let text = |field: &str| row[field].as_str().expect("text").to_owned();
            assert_eq!(row["observedGeneration"], 3);
            assert!(text("message").starts_with("http://p:9090"), "{row}");
            written.push(format!("{at} {} {}", text("status"), text("lastTransitionTime")));
            shard["status"]["conditions"] = json!(rows);
        }
        let expect =
            ["2 False time 2", "4 True time 4", "6 False time 6", "7 False time 6", "8 gone"];
        assert_eq!(written, expect);
    }
}
