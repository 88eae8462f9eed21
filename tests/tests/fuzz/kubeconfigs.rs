//! Kubeconfig files.

use std::{collections::BTreeMap, fs};

use anyhow::Result;
use kai_tests::command_line;
use kubectl_kai::Exit;
use serde_json::{Value, json};

use super::{drawn, spoil};

/// An address at which nothing listens.
const NOWHERE: &str = "https://127.0.0.1:1";

fn kubeconfig() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a", "preferences": {},
        "clusters": [{"name": "one", "cluster": {"server": NOWHERE, "insecure-skip-tls-verify": true}}],
        "contexts": [
            {"name": "a", "context": {"cluster": "one", "user": "u", "namespace": "n"}},
            {"name": "b", "context": {"cluster": "one", "user": "v"}},
        ],
        "users": [
            {"name": "u", "user": {"token": "t"}},
            {"name": "v", "user": {"username": "x", "password": "y"}},
        ],
        "extensions": [{"name": "e", "extension": {"any": "thing"}}],
    })
}

/// Points every cluster at nowhere again: a file is tried, and not the network.
fn to_nowhere(file: &mut Value) {
    let clusters = file.get_mut("clusters").and_then(Value::as_array_mut);
    for cluster in clusters.into_iter().flatten() {
        if let Some(cluster) = cluster.get_mut("cluster").and_then(Value::as_object_mut) {
            cluster.retain(|key, _| key != "proxy-url");
            if cluster.get("server").is_some_and(Value::is_string) {
                cluster.insert("server".to_owned(), json!(NOWHERE));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_used_or_refused_by_name() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config");
    let name = file.display().to_string();
    let (mut taken, mut broken) = (0, Vec::new());
    for (damage, of_text) in drawn((spoil::damage(), spoil::damage()), 8) {
        let mut value = kubeconfig();
        let is_other = of_text.seed.is_multiple_of(3);
        value["current-context"] = json!(if is_other { "b" } else { "a" });
        spoil::value(&mut value, damage);
        to_nowhere(&mut value);
        // Text that is broken names no other server: it is no JSON any more, or it is the same value.
        let text =
            spoil::text(&value.to_string(), spoil::Damage { times: of_text.times / 4, ..of_text });
        let is_same = text.matches(NOWHERE).count() == text.matches("://").count();
        let text = if is_same && of_text.seed.is_multiple_of(2) {
            text
        } else {
            // People have YAML there.
            serde_saphyr::to_string(&value)?
        };
        fs::write(&file, &text)?;
        let env = BTreeMap::from([("HOME".to_owned(), folder.path().display().to_string())]);
        let said = command_line::kai_in(env, ["list", "--kubeconfig", &name]).await;
        match said.exit {
            Exit::Unreachable => taken += 1,
            Exit::Failure | Exit::Usage | Exit::NotFound | Exit::Refused
                if said.talk.contains(&name) && said.talk.matches("error[KAI").count() == 1 => {}
            exit => broken.push(format!("{text}\n  {exit:?}: {}", said.talk)),
        }
    }
    assert!(taken > 10, "{taken} files were used only");
    assert!(broken.is_empty(), "{} end otherwise:\n{}", broken.len(), broken.join("\n"));
    Ok(())
}
