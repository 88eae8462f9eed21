//! Tells whom the server takes the user of the kubeconfig for, and how the metadata of objects holds a name.

use serde_json::{Value, json};

use super::json::{ensure, text};
use super::{Call, Cluster, Failure, Resource, names};
use crate::print::error::{Error, Exit, Problem, number};

impl Cluster {
    /// Asks the server for the name of the user who asks.
    ///
    /// # Errors
    /// It cannot be asked, or does not say.
    pub(crate) async fn me(&self) -> Result<String, Error> {
        let reviews = reviews();
        let call = Call::new("create", &reviews);
        let name = self.ask(&call).await.map_err(|failure| self.explain(&call, &failure))?;
        name.ok_or_else(|| {
            let what = "the server does not say whom it takes you for";
            Problem::new(number::SERVER, Exit::Failure, what).fix("--owner USER").into()
        })
    }

    /// The same, for who goes on without an answer.
    pub(crate) async fn me_if_told(&self) -> Option<String> {
        let reviews = reviews();
        self.ask(&Call::new("create", &reviews)).await.ok()?
    }

    async fn ask(&self, call: &Call<'_>) -> Result<Option<String>, Failure> {
        let review =
            json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
        let answer = self.create(call, &review, false).await?;
        let name = text(&answer.body["status"]["userInfo"]["username"]).to_owned();
        Ok(Some(name).filter(|name| !name.is_empty()))
    }
}

fn reviews() -> Resource {
    Resource::new("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews")
        .cluster_wide()
}

/// Tells whether a name found in metadata is that of a user. Who writes it by hand may have put `_` for each sign that a
/// label cannot hold.
pub(crate) fn is_name_of(found: &str, user: &str) -> bool {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    found == user || found == user.chars().map(legal).collect::<String>()
}

/// Writes a user down in metadata: as the label `user`, which KAI reads, or as the annotation of that name where a label
/// cannot hold the name.
pub(crate) fn sign(object: &mut Value, meta: &str, user: &str) {
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let fits = user.len() <= 63
        && user.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && is_end(user.chars().next())
        && is_end(user.chars().last());
    let (map, other) = if fits { ("labels", "annotations") } else { ("annotations", "labels") };
    if let Some(Value::Object(meta)) = object.pointer_mut(meta)
        && let Some(Value::Object(map)) = meta.get_mut(other)
    {
        map.remove(names::USER);
        if map.is_empty() {
            meta.remove(other);
        }
    }
    ensure(object, &format!("{meta}/{map}")).insert(names::USER.into(), json!(user));
}

/// Tells whether metadata names a user.
pub(crate) fn is_signed(object: &Value, meta: &str) -> bool {
    ["labels", "annotations"]
        .iter()
        .any(|map| object.pointer(&format!("{meta}/{map}/{}", names::USER)).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(user: &str, expect: &Value) {
        let mut object = json!({"metadata": {"labels": {"user": "before"}}});
        sign(&mut object, "/metadata", user);
        assert_eq!(object["metadata"], *expect, "{user}");
        assert!(is_signed(&object, "/metadata") && !is_signed(&object, "/spec"));
    }

    #[test]
    fn a_name_is_a_label_where_a_label_can_hold_it() {
        check("ana", &json!({"labels": {"user": "ana"}}));
        check("kubernetes-admin", &json!({"labels": {"user": "kubernetes-admin"}}));
        let whole = |user: &str| json!({"annotations": {"user": user}});
        check("ana@example.com", &whole("ana@example.com"));
        check("system:serviceaccount:ml:ci", &whole("system:serviceaccount:ml:ci"));
        check("ana_", &whole("ana_"));
        check(&"a".repeat(64), &whole(&"a".repeat(64)));
    }

    #[test]
    fn a_name_is_found_as_it_is_and_as_a_label_has_it() {
        for (found, expect) in
            [("ana@example.com", true), ("ana_example.com", true), ("ana", false), ("", false)]
        {
            assert_eq!(is_name_of(found, "ana@example.com"), expect, "{found}");
        }
    }
}
