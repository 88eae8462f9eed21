//! The review kinds: questions about users and rights, answered and not stored.

use serde_json::{Value, json};

use super::rbac;
use crate::server::accept;
use crate::server::api::Api;
use crate::server::decode::text_to_value;
use crate::server::grants::{self, Attributes};
use crate::server::object;
use crate::server::refusal::{ApiResult, Refusal};
use crate::server::reply::{self, Reply};
use crate::server::request::Request;
use crate::server::route::Target;
use crate::server::user::User;

/// POST of a review.
pub(crate) fn review(api: &Api, request: &Request, target: &Target) -> ApiResult<Reply> {
    let mut body = text_to_value(&accept::content_type(&request.headers), &request.body)?;
    if !body.is_object() {
        return Err(Refusal::bad_request("the body of the request is not an object"));
    }
    let kind = target.kind.kind.as_str();
    body["kind"] = json!(kind);
    body["apiVersion"] = json!(target.kind.api_version(&target.version));
    body["status"] = match kind {
        "SelfSubjectAccessReview" => access(api, &request.user, &body),
        "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            let groups = object::array(&body, "/spec/groups").iter().filter_map(Value::as_str);
            let groups: Vec<&str> = groups.collect();
            access(api, &User::new(object::text(&body, "/spec/user"), &groups), &body)
        }
        "SelfSubjectRulesReview" => {
            rules(api, &request.user, object::text(&body, "/spec/namespace"))
        }
        "SelfSubjectReview" => json!({ "userInfo": info(&request.user) }),
        "TokenReview" => match api.user_of(object::text(&body, "/spec/token")) {
            Some(user) => json!({ "authenticated": true, "user": info(&user) }),
            None => json!({ "authenticated": false, "error": "the token is not valid" }),
        },
        other => return Err(Refusal::not_implemented(other)),
    };
    Ok(reply::json(201, &body))
}

fn info(user: &User) -> Value {
    let mut info = json!({ "username": user.name, "groups": user.groups });
    if !user.uid.is_empty() {
        info["uid"] = json!(user.uid);
    }
    info
}

fn access(api: &Api, user: &User, body: &Value) -> Value {
    if body.pointer("/spec/nonResourceAttributes").is_some() {
        // Documents about the server are open to everyone with a token.
        return json!({ "allowed": true, "reason": "documents about the server are open to every user" });
    }
    let text = |field: &str| object::text(body, &format!("/spec/resourceAttributes/{field}"));
    let attributes = Attributes {
        verb: text("verb"),
        group: text("group"),
        resource: text("resource"),
        subresource: text("subresource"),
        namespace: text("namespace"),
        name: text("name"),
    };
    json!({ "allowed": rbac::allows(&api.read(), user, &attributes) })
}

fn rules(api: &Api, user: &User, namespace: &str) -> Value {
    let all = json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] });
    let state = api.read();
    let resource_rules =
        if user.is_master() { vec![&all] } else { grants::rules(&state.store, user, namespace) };
    json!({
        "resourceRules": resource_rules,
        "nonResourceRules": [{ "verbs": ["get"], "nonResourceURLs": ["*"] }],
        "incomplete": false,
    })
}
