//! Files that are given to `submit -f`, and templates of users.

use std::fs;

use anyhow::Result;
use http::Method;
use kai_tests::{command_line::kai, live::Place};
use kube::Client;
use kubectl_kai::Exit;
use serde_json::Value;

use super::{corpus::WORKLOADS, drawn, requests::send, spoil};

/// Ends of a command that no input may come to.
fn is_fault(exit: Exit) -> bool {
    !matches!(exit, Exit::Ok | Exit::Usage | Exit::Refused | Exit::NotFound | Exit::Conflict)
}

#[tokio::test(flavor = "multi_thread")]
async fn manifests_come_out_as_something_that_is_taken_again() -> Result<()> {
    let place = Place::embedded().await?;
    let client = place.admin().await?;
    define(&client).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("manifest.yaml");
    let name = file.display().to_string();
    let words = ["submit", "-f", &name, "-q", "default-queue", "--dry-run=client", "-o", "yaml"];
    let (mut taken, mut broken) = (0, Vec::new());
    for (at, of_values, of_text) in drawn((0..WORKLOADS.len(), spoil::much(), spoil::damage()), 8) {
        let mut value = WORKLOADS[at].clone();
        spoil::value_among(&mut value, &WORKLOADS, of_values);
        // What is too deep for one is written as the other.
        let text = serde_saphyr::to_string(&value).unwrap_or_else(|_| value.to_string());
        let text = if of_text.seed.is_multiple_of(2) { spoil::text(&text, of_text) } else { text };
        fs::write(&file, &text)?;
        let said = kai(client.clone(), "default", words).await;
        if is_fault(said.exit) {
            broken.push(format!("{text}\n  ends with {:?}: {}", said.exit, said.talk));
        }
        if said.exit != Exit::Ok {
            if !said.data.is_empty() || !said.talk.contains("error") {
                broken.push(format!(
                    "{text}\n  is refused without a word: {} {}",
                    said.data, said.talk
                ));
            }
            continue;
        }
        taken += 1;
        fs::write(&file, &said.data)?;
        let again = kai(client.clone(), "default", words).await;
        if objects(&again.data) != objects(&said.data) {
            broken.push(format!(
                "{text}\n  comes out as\n{}\n  and then as\n{}{}",
                said.data, again.data, again.talk
            ));
        }
    }
    place.stop().await;
    assert!(taken > 10, "{taken} manifests were taken only");
    assert!(broken.is_empty(), "{} are broken:\n{}", broken.len(), broken.join("\n---\n"));
    Ok(())
}

/// Installs the definitions of the kinds that operators bring.
async fn define(client: &Client) -> Result<()> {
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/crds/workloads"))? {
        let file = entry?.path();
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let (status, answer) = send(client, Method::POST, path, fs::read_to_string(file)?).await?;
        assert!(status.is_success(), "{answer}");
    }
    Ok(())
}

fn objects(text: &str) -> Option<Vec<Value>> {
    serde_saphyr::from_multiple(text).ok()
}

/// A template of a user's, spoilt, with what `submit job` fills in.
#[tokio::test(flavor = "multi_thread")]
async fn templates_are_filled_or_refused() -> Result<()> {
    let place = Place::embedded().await?;
    let client = place.admin().await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("template.yaml");
    let name = file.display().to_string();
    let shipped = ["job", "pytorch", "ray", "mpi", "argo", "jobset"].map(|kind| {
        fs::read_to_string(format!("{}/../templates/{kind}.yaml", env!("CARGO_MANIFEST_DIR")))
            .expect("it is shipped")
    });
    let (mut taken, mut broken) = (0, Vec::new());
    for (at, damage) in drawn((0..shipped.len(), spoil::much()), 8) {
        let text = spoil::text_among(&shipped[at], &shipped, damage);
        fs::write(&file, &text)?;
        let words = [
            "submit",
            "fuzz",
            "--template",
            &name,
            "-q",
            "default-queue",
            "--gpu",
            "1",
            "--image",
            "i",
            "--dry-run=client",
            "-o",
            "yaml",
            "--",
            "true",
        ];
        let said = kai(client.clone(), "default", words).await;
        if is_fault(said.exit) || (said.exit != Exit::Ok && !said.talk.contains("error")) {
            broken.push(format!("{text}\n  ends with {:?}: {}", said.exit, said.talk));
        }
        if said.exit == Exit::Ok {
            taken += 1;
            if objects(&said.data)
                .is_none_or(|objects| objects.iter().any(|object| !object["kind"].is_string()))
            {
                broken.push(format!("{text}\n  comes out as no manifest:\n{}", said.data));
            }
        }
    }
    place.stop().await;
    assert!(taken > 10, "{taken} templates were taken only");
    assert!(broken.is_empty(), "{} are broken:\n{}", broken.len(), broken.join("\n---\n"));
    Ok(())
}
