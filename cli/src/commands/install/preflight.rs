//! Looks before a plan is made, whether the API server serves what is needed.

use kai_api::names::namespace;
use serde_json::Value;

use super::manifest;
use crate::cluster::Cluster;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// The oldest API server on which policies in CEL are served.
pub(crate) const MINOR_MIN: u64 = 30;

/// Reads the minor version that an API server says of itself.
pub(crate) fn minor(version: &Value) -> Option<u64> {
    version["minor"].as_str()?.trim_end_matches('+').parse().ok()
}

/// Asks for the version of the API server.
///
/// # Errors
/// It is too old: a part of the installation would be refused when the rest is there already.
pub(super) async fn version(cluster: &Cluster) -> Result<String, Error> {
    let version = cluster.read("/version").await.map_err(|e| cluster.explain_any(&e))?;
    supported(&version)
}

fn supported(version: &Value) -> Result<String, Error> {
    let shown = clean(version["gitVersion"].as_str().unwrap_or("of an unknown version"));
    if version["major"] == "1" && minor(version).is_some_and(|minor| minor < MINOR_MIN) {
        let what = format!(
            "the API server is {shown}; 1.{MINOR_MIN} is the oldest that serves what the scheduler needs"
        );
        return Err(Problem::new(number::KIND_NOT_SERVED, Exit::Refused, what)
            .line("it has no policies in CEL (ValidatingAdmissionPolicy); nothing was changed")
            .fix(format!("upgrade the control plane to 1.{MINOR_MIN} or later"))
            .into());
    }
    Ok(shown.into_owned())
}

/// Gives the flag that names a namespace, where it is not the usual one.
pub(crate) fn namespace_flag(here: &str) -> String {
    match here {
        namespace::SYSTEM => String::new(),
        here if manifest::is_name(here) => format!(" -n {here}"),
        _ => " -n NAMESPACE".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_old_server_is_refused_before_anything_is_planned() {
        for (minor, is_refused) in [
            ("29", true),
            ("29+", true),
            ("30", false),
            ("30+", false),
            ("36", false),
            ("x", false),
        ] {
            let version =
                json!({"major": "1", "minor": minor, "gitVersion": format!("v1.{minor}")});
            assert_eq!(supported(&version).is_err(), is_refused, "{minor}");
        }
        let old = json!({"major": "1", "minor": "29", "gitVersion": "v1.29.0"});
        let said = supported(&old).expect_err("it is too old").to_string();
        assert!(said.contains("v1.29.0; 1.30 is the oldest"), "{said}");
    }

    #[test]
    fn a_namespace_is_named_where_it_is_not_the_usual_one() {
        for (here, expect) in [("kai-scheduler", ""), ("gpu", " -n gpu"), ("a;b", " -n NAMESPACE")]
        {
            assert_eq!(namespace_flag(here), expect);
        }
    }
}
