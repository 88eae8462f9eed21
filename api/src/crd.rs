//! The definitions of the seven kinds, as objects and as the files of `deploy/crds`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::bind_request::BindRequest;
use crate::config::Config;
use crate::daily_record::DailyRecord;
use crate::pod_group::PodGroup;
use crate::queue::Queue;
use crate::schema::finish;
use crate::shard::SchedulingShard;
use crate::topology::Topology;

/// The seven definitions for the API server, in the order in which they are applied.
///
/// # Cost
/// Builds them anew: a few milliseconds.
pub fn all() -> Vec<CustomResourceDefinition> {
    vec![
        finish(Queue::crd(), false),
        finish(PodGroup::crd(), false),
        finish(BindRequest::crd(), false),
        finish(Topology::crd(), true),
        finish(SchedulingShard::crd(), false),
        finish(Config::crd(), false),
        finish(DailyRecord::crd(), true),
    ]
}

/// The first line of every generated file.
const HEADER: &str = "# Generated from api/src by `cargo xtask generate`; edits are lost.\n";

/// The seven definitions as files: name and YAML text.
///
/// # Panics
/// If a definition can't be written as YAML: a programming error.
pub fn files() -> Vec<(String, String)> {
    let file = |crd: &CustomResourceDefinition| {
        let name = format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural);
        // Through JSON: one order of keys, and no keys for what is absent.
        let value = serde_json::to_value(crd).expect("a definition is JSON");
        let text = serde_saphyr::to_string(&value).expect("JSON is YAML");
        (name, format!("{HEADER}{text}"))
    };
    all().iter().map(file).collect()
}
