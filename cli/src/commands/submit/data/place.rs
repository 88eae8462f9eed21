//! Describes where a template keeps variables, volumes and the secrets of its image.

use serde_json::Value;

use crate::cluster::kinds::Shape;
use crate::cluster::manifest::{Site, place_name};
use crate::print::error::{Exit, Problem, number};

/// Pointers into an object.
#[derive(Debug)]
pub(super) struct Place {
    /// The container that works; none where a template only stands around others.
    pub(super) container: Option<String>,
    /// The object with `volumes`.
    pub(super) volumes: String,
    /// The object with `imagePullSecrets`; none where another template has it.
    pub(super) pull_secrets: Option<String>,
    /// Tells whether `imagePullSecrets` are bare names.
    pub(super) names_are_text: bool,
}

impl Place {
    /// Finds the places of a template.
    ///
    /// # Errors
    /// It has no container.
    pub(super) fn of(object: &Value, site: &Site) -> Result<Self, Problem> {
        let plain = Self {
            container: site.containers.first().cloned(),
            volumes: site.spec.clone(),
            pull_secrets: Some(site.spec.clone()),
            names_are_text: false,
        };
        match (&plain.container, site.shape) {
            // Steps mount volumes of their own, and the workflow pulls for all of them.
            (Some(_), Shape::Argo) => Ok(Self { pull_secrets: None, ..plain }),
            (Some(_), _) | (None, Shape::Argo) => Ok(plain),
            (None, Shape::Spark) => Ok(Self {
                container: Some(site.spec.clone()),
                volumes: site.around().to_owned(),
                pull_secrets: Some(site.around().to_owned()),
                names_are_text: true,
            }),
            (None, _) => {
                let what = format!(
                    "{} has no container for variables, volumes or secrets",
                    place_name(object, site)
                );
                Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what)
                    .fix("say them in the manifest itself"))
            }
        }
    }
}
