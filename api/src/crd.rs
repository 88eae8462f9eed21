//! The definitions of the six kinds, as objects and as the files of `deploy/crds`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::bind_request::BindRequest;
use crate::config::Config;
use crate::pod_group::PodGroup;
use crate::queue::Queue;
use crate::schema::finish;
use crate::shard::SchedulingShard;
use crate::topology::Topology;

/// The six definitions for the API server, in the order in which they are applied.
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
    ]
}
