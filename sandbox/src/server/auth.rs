//! Users who ask: bearer tokens, impersonation, and whether the rules of RBAC allow it.

mod rbac;
mod review;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::SignedDuration;
use kai_daemon::clock;
use serde_json::{Value, json};

use super::api::Api;
use super::decode::text_to_value;
use super::grants::Attributes;
use super::object;
use super::refusal::{ApiResult, Cause, Refusal};
use super::reply::{self, Reply};
use super::request::{Request, Verb};
use super::route::Target;
use super::store::{Key, TableId};
use super::tokens::Holder;
use super::user::User;
use super::{accept, read};

pub(crate) use self::review::review;

fn unauthorized() -> Refusal {
    Refusal::new(401, "Unauthorized", "Unauthorized")
}

impl Api {
    /// Makes the administrator's token.
    pub(crate) fn add_admin(&self) -> String {
        self.tokens.add(Holder::Admin)
    }

    /// The user behind a request that came over the network.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> ApiResult<User> {
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token =
            header.and_then(|text| text.strip_prefix("Bearer ")).ok_or_else(unauthorized)?;
        let user = self.user_of(token.trim()).ok_or_else(unauthorized)?;
        self.impersonate(headers, user)
    }

    /// The user of a bearer token, while it is valid.
    pub(crate) fn user_of(&self, token: &str) -> Option<User> {
        match self.tokens.holder(token)? {
            Holder::Admin => Some(User::admin()),
            Holder::ServiceAccount { namespace, name, uid, expires } => {
                let table = TableId::new("", "serviceaccounts");
                let state = self.read();
                let account = state.store.get(&table, &Key::new(&namespace, &name))?;
                let valid = object::uid(&account.value) == uid && clock::now() < expires;
                valid.then(|| User { uid, ..User::service_account(&namespace, &name) })
            }
        }
    }

    /// The user that `Impersonate-User` and `Impersonate-Group` name, when `user` may take that name.
    pub(crate) fn impersonate(&self, headers: &HeaderMap, user: User) -> ApiResult<User> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let groups: Vec<&str> = headers
            .get_all("impersonate-group")
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        let unsupported = headers
            .keys()
            .map(http::HeaderName::as_str)
            .find(|name| name.starts_with("impersonate-extra-") || *name == "impersonate-uid");
        if let Some(name) = unsupported {
            return Err(Refusal::not_implemented(&format!("the header {name}")));
        }
        let Some(name) = text("impersonate-user") else {
            if groups.is_empty() {
                return Ok(user);
            }
            let message = "requested groups without impersonating a user";
            return Err(Refusal::new(500, "InternalError", message));
        };
        let mut wanted = vec![("users", name)];
        wanted.extend(groups.iter().map(|group| ("groups", *group)));
        for (resource, name) in wanted {
            let attributes = Attributes {
                verb: "impersonate",
                group: "",
                resource,
                subresource: "",
                namespace: "",
                name,
            };
            if !rbac::allows(&self.read(), &user, &attributes) {
                return Err(rbac::refusal(&user, &attributes));
            }
        }
        let account =
            name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
        Ok(match account {
            Some((namespace, account)) if groups.is_empty() => {
                User::service_account(namespace, account)
            }
            _ => User::new(name, &groups),
        })
    }

    /// Refuses what RBAC does not allow.
    pub(crate) fn authorize(&self, user: &User, verb: Verb, target: &Target) -> ApiResult<()> {
        let attributes = Attributes {
            verb: verb.word(),
            group: &target.kind.group,
            resource: &target.kind.plural,
            subresource: &target.subresource,
            namespace: if target.kind.is("", "namespaces") {
                &target.name
            } else {
                &target.namespace
            },
            name: &target.name,
        };
        if rbac::allows(&self.read(), user, &attributes) {
            Ok(())
        } else {
            Err(rbac::refusal(user, &attributes))
        }
    }
}

/// POST to `serviceaccounts/token`: a bearer token for the account.
pub(crate) fn token(api: &Api, request: &Request, target: &Target) -> ApiResult<Reply> {
    const SECONDS_DEFAULT: i64 = 3600;
    let mut body = text_to_value(&accept::content_type(&request.headers), &request.body)?;
    if !body.is_object() {
        return Err(Refusal::bad_request("the body of the request is not an object"));
    }
    let account = read::find(&api.read(), target)?;
    let seconds =
        body.pointer("/spec/expirationSeconds").and_then(Value::as_i64).unwrap_or(SECONDS_DEFAULT);
    if !(600..=1 << 32).contains(&seconds) {
        let detail = "may not specify a duration less than 10 minutes";
        let cause = Cause::invalid("spec.expirationSeconds", &json!(seconds), detail);
        return Err(Refusal::invalid("authentication.k8s.io", "TokenRequest", "", &[cause]));
    }
    let expires = clock::now() + SignedDuration::from_secs(seconds);
    let token = api.tokens.add(Holder::ServiceAccount {
        namespace: target.namespace.clone(),
        name: target.name.clone(),
        uid: object::uid(&account.value).to_owned(),
        expires,
    });
    body["kind"] = json!("TokenRequest");
    body["apiVersion"] = json!("authentication.k8s.io/v1");
    let metadata = json!({
        "name": target.name, "namespace": target.namespace, "creationTimestamp": object::now_text(),
    });
    body["metadata"] = metadata;
    object::child_mut(&mut body, "spec").insert("expirationSeconds".to_owned(), json!(seconds));
    body["status"] = json!({ "token": token, "expirationTimestamp": object::time_text(expires) });
    Ok(reply::json(201, &body))
}
