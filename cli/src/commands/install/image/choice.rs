//! Decides which image the daemons get where the command line names none: an upgrade changes it, a repair does not.

use kai_api::names::{label, value};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::commands::install::manifest::{IMAGE, Item};
use crate::commands::install::plan;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

const MINE: &str = env!("CARGO_PKG_VERSION");

/// A Deployment of ours as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Runs {
    name: String,
    /// The version of the program that installed it.
    version: String,
    image: String,
}

impl Runs {
    /// Reads a Deployment that has the place of one of ours; `None` where it is somebody else's.
    fn read(item: &Item, live: &Value) -> Option<Self> {
        let labels = &live["metadata"]["labels"];
        let component = &item.object["metadata"]["labels"][label::COMPONENT];
        if labels[label::MANAGED_BY] == value::KAI_OPERATOR
            || labels[label::PART_OF] != value::PRODUCT
            || labels[label::COMPONENT] != *component
        {
            return None;
        }
        let image = live.pointer("/spec/template/spec/containers/0/image")?.as_str()?;
        Some(Self {
            name: item.name().to_owned(),
            version: labels[label::VERSION].as_str().unwrap_or("unknown").to_owned(),
            image: image.to_owned(),
        })
    }
}

/// Reads which images our Deployments among the objects have now.
pub(in super::super) async fn running(
    cluster: &Cluster,
    items: &[Item],
) -> Result<Vec<Runs>, Error> {
    let mut all = Vec::new();
    for item in items.iter().filter(|item| item.resource.kind == "Deployment") {
        let call = plan::call(item, "get");
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        let live = live.filter(|live| !plan::is_ending(live));
        all.extend(live.and_then(|live| Runs::read(item, &live)));
    }
    Ok(all)
}

/// Chooses the image where none was named; `None` where that is the published one of this version.
///
/// # Errors
/// The daemons have an image of somebody's own, and there is none of this version that takes its place.
pub(in super::super) fn choose(running: &[Runs]) -> Result<Option<String>, Error> {
    let is_published = |runs: &Runs| runs.image == published(&runs.version);
    let Some(first) = running.first() else { return Ok(None) };
    if running.iter().all(|runs| runs.version == MINE && runs.image == first.image) {
        return Ok(Some(first.image.clone()));
    }
    if running.iter().all(is_published) {
        return Ok(None);
    }
    let what = "which image are the daemons to have? What runs has one of its own";
    let problem = Problem::new(number::MISSING, Exit::Usage, what);
    let line = |runs: &Runs| {
        let (image, version) = (clean(&runs.image), clean(&runs.version));
        format!("{} has {image}, of version {version}; this program is {MINE}", runs.name)
    };
    let problem = running.iter().take(3).fold(problem, |problem, runs| problem.line(line(runs)));
    Err(problem.fix("--image IMAGE, or --image-archive FILE --registry HOST/REPO").into())
}

/// Gives the image that a version is published as.
fn published(version: &str) -> String {
    let name = IMAGE.rsplit_once(':').map_or(IMAGE, |(name, _)| name);
    format!("{name}:{version}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::install::manifest::{Options, items};

    fn runs(version: &str, image: &str) -> Runs {
        Runs { name: "d".into(), version: version.into(), image: image.into() }
    }

    /// A second run took the image away that the first had pushed, and with it the scheduler.
    #[test]
    fn what_runs_keeps_its_image() {
        let own = "registry.example/kai@sha256:3f2a";
        assert_eq!(published(MINE), IMAGE);
        for (running, expect) in [
            (vec![], Some(None)),
            (vec![runs(MINE, own), runs(MINE, own)], Some(Some(own.to_owned()))),
            (vec![runs(MINE, IMAGE)], Some(Some(IMAGE.to_owned()))),
            (vec![runs("0.0.9", &published("0.0.9"))], Some(None)),
            // What an upgrade that was interrupted leaves.
            (vec![runs(MINE, IMAGE), runs("0.0.9", &published("0.0.9"))], Some(None)),
            (vec![runs("0.0.9", own)], None),
            (vec![runs(MINE, own), runs(MINE, IMAGE)], None),
            (vec![runs(MINE, own), runs("0.0.9", own)], None),
        ] {
            assert_eq!(choose(&running).ok(), expect, "{running:?}");
        }
        let said = choose(&[runs("0.0.9", own)]).expect_err("it has one of its own");
        assert_eq!(said.exit(), Exit::Usage);
        assert!(said.to_string().contains(own) && said.to_string().contains("--image"), "{said}");
    }

    #[test]
    fn a_deployment_of_kai_has_no_image_of_ours() {
        let items = items(&Options::default());
        let item = items.iter().find(|item| item.name() == "kai-scheduler-default");
        let item = item.expect("the scheduler");
        let mut live = item.object.clone();
        let read = Runs::read(item, &live).expect("it is ours");
        assert_eq!(read, Runs { name: item.name().into(), ..runs(MINE, IMAGE) });
        live["metadata"]["labels"][label::MANAGED_BY] = json!(value::KAI_OPERATOR);
        assert_eq!(Runs::read(item, &live), None);
        live["metadata"]["labels"] = json!({"app": "kai-scheduler-default"});
        assert_eq!(Runs::read(item, &live), None);
    }
}
