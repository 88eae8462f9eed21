//! Describes what can come back instead of an answer, and what it means to the user.

use std::time::Duration;

use serde_json::Value;

use super::{Call, Place, roles};
use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;

/// Says why a request brought nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server said no.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// Nobody answered.
    #[error("{0}")]
    Unreachable(String),
    /// Nobody answered in time.
    #[error("no answer within {}s", .0.as_secs())]
    Slow(Duration),
    /// The credentials of the kubeconfig could not be had.
    #[error("{0}")]
    Credentials(String),
    /// The answer is not what the API answers with.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
}

/// A refusal, from the server's `Status`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The causes with their field paths.
    pub(crate) causes: Vec<String>,
}

impl Refusal {
    pub(crate) fn read(code: u16, body: &[u8]) -> Self {
        let status: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Value| clean(value.as_str().unwrap_or_default()).into_owned();
        let mut message = text(&status["message"]);
        if message.is_empty() {
            let body = String::from_utf8_lossy(body);
            let line = body.lines().next().unwrap_or_default();
            let line: String = line.chars().take(120).collect();
            message = format!("HTTP {code} {}", clean(&line));
        }
        let causes = status.pointer("/details/causes").and_then(Value::as_array);
        let cause = |c: &Value| format!("{}: {}", text(&c["field"]), text(&c["message"]));
        Self {
            code,
            reason: text(&status["reason"]),
            message,
            causes: causes.map(|all| all.iter().map(cause).collect()).unwrap_or_default(),
        }
    }

    /// The user whom the server saw, from its own words.
    fn user(&self) -> Option<&str> {
        self.message.split_once("User \"")?.1.split('"').next()
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match &error {
            kube::Error::Api(status) => Self::Refused(Refusal {
                code: status.code,
                reason: status.reason.clone(),
                message: clean(&status.message).into_owned(),
                causes: Vec::new(),
            }),
            kube::Error::Auth(source) => Self::Credentials(chain(source)),
            kube::Error::Service(source) => {
                match source.downcast_ref::<kube::client::AuthError>() {
                    Some(auth) => Self::Credentials(chain(auth)),
                    None => Self::Unreachable(chain(source.as_ref())),
                }
            }
            kube::Error::HyperError(source) => Self::Unreachable(chain(source)),
            kube::Error::ReadEvents(source) => Self::Unreachable(chain(source)),
            _ => Self::Unreadable(chain(&error)),
        }
    }
}

/// An error with its sources on one line, each said once.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let first_line = |error: &dyn std::error::Error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().trim_end().to_owned()
    };
    let mut text = first_line(error);
    let mut source = error.source();
    while let Some(error) = source {
        let more = first_line(error);
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    clean(&text).into_owned()
}

/// Says how a missing right is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The role that has it; none where no role that `install` ships has.
    pub(crate) role: Option<&'static str>,
    /// Holds what an administrator types.
    pub(crate) command: String,
}

impl Failure {
    /// Tells whether the server said no because of what the user may do.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code == 403)
    }

    /// Says who could give the right that this call lacked; none where rights are not what it failed for.
    pub(crate) fn grant(&self, call: &Call<'_>) -> Option<Grant> {
        let Self::Refused(refusal) = self else { return None };
        if refusal.code != 403 {
            return None;
        }
        let problem = forbidden(call, refusal.user().unwrap_or("USER"));
        let commands = problem.lines.iter().filter_map(|line| line.strip_prefix("  "));
        let commands: Vec<&str> = commands.collect();
        Some(Grant { role: roles::with(call), command: commands.join(" && ") })
    }

    /// Tells whether the object was changed meanwhile.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code == 409)
    }

    /// Tells whether the same request may well be answered a little later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.code == 429 || refusal.code >= 500,
            Self::Unreachable(_) | Self::Slow(_) => true,
            Self::Credentials(_) | Self::Unreadable(_) => false,
        }
    }

    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.code),
            Self::Unreachable(_) | Self::Slow(_) | Self::Credentials(_) | Self::Unreadable(_) => {
                None
            }
        }
    }

    /// Says what it means to the user.
    pub(crate) fn problem(&self, call: Option<&Call<'_>>, place: &Place) -> Problem {
        let context = place.context.as_deref().unwrap_or("none");
        match self {
            Self::Refused(refusal)
                if refusal.code == 401 && place.server.starts_with("http://") =>
            {
                refusal.problem(call).line("credentials are sent to an https:// address alone")
            }
            Self::Refused(refusal) => refusal.problem(call),
            Self::Unreachable(cause) => {
                let what = format!("failed to reach the API server {}", place.server);
                Problem::new(number::UNREACHABLE, Exit::Unreachable, what)
                    .line(format!("context: {context}"))
                    .line(format!("cause: {cause}"))
                    .fix("check the network, or choose another cluster: kubectl config get-contexts, then --context NAME")
            }
            Self::Slow(limit) => {
                let what = format!(
                    "the API server {} did not answer within {}s",
                    place.server,
                    limit.as_secs()
                );
                Problem::new(number::UNREACHABLE, Exit::Unreachable, what)
                    .line(format!("context: {context}"))
                    .fix("try again, or wait longer: --request-timeout 2m")
            }
            Self::Credentials(cause) => {
                let what = format!("failed to get credentials for context {context}");
                Problem::new(number::UNAUTHENTICATED, Exit::Forbidden, what)
                    .line(format!("cause: {cause}"))
                    .fix("log in again, or check the user in the kubeconfig: kubectl config view --minify")
            }
            Self::Unreadable(cause) => {
                let what = format!("failed to read the answer of {}", place.server);
                Problem::new(number::SERVER, Exit::Failure, what)
                    .line(format!("cause: {cause}"))
                    .fix("check that this is the address of an API server: kubectl config view --minify")
            }
        }
    }
}

impl Refusal {
    fn problem(&self, call: Option<&Call<'_>>) -> Problem {
        match self.code {
            401 => Problem::new(
                number::UNAUTHENTICATED,
                Exit::Forbidden,
                "the API server does not know you",
            )
            .line(format!("it says: {}", self.message))
            .fix("log in again, or check the user in the kubeconfig: kubectl config view --minify"),
            403 if self.is_rbac() => self.forbidden(call),
            404 => Problem::new(number::SERVER, Exit::NotFound, self.message.clone()),
            409 => Problem::new(number::EXISTS, Exit::Conflict, self.message.clone())
                .fix("look at it again, then repeat the command"),
            400 | 403 | 413 | 415 | 422 => self.refused(call),
            429 => Problem::new(number::SERVER, Exit::Failure, "the API server has too much to do")
                .line(format!("it says: {}", self.message))
                .fix("try again in a few seconds"),
            _ => Problem::new(
                number::SERVER,
                Exit::Failure,
                format!("the API server failed: {}", self.message),
            )
            .fix("try again; if it stays, look at the API server or at the webhook that it names"),
        }
    }

    /// Tells whether the refusal is about rights: quota and admission answer 403 too.
    fn is_rbac(&self) -> bool {
        self.message.contains(" cannot ") && self.denial().is_none()
    }

    /// Says who denied the request at admission, and in which words; none where it was somebody else.
    fn denial(&self) -> Option<(String, &str)> {
        if let Some(rest) = self.message.strip_prefix("admission webhook \"") {
            let (webhook, words) = rest.split_once("\" denied the request")?;
            let words = words.trim_start_matches(':').trim();
            let words = if words.is_empty() { "it gave no reason" } else { words };
            return Some((format!("webhook {webhook}"), words));
        }
        let (_, rest) = self.message.split_once("ValidatingAdmissionPolicy '")?;
        let (policy, rest) = rest.split_once('\'')?;
        let (_, words) = rest.split_once("denied request: ")?;
        Some((format!("policy {policy}"), words))
    }

    fn refused(&self, call: Option<&Call<'_>>) -> Problem {
        let object = call.map_or_else(String::new, |call| {
            format!(" {} \"{}\"", call.resource.kind.to_lowercase(), call.name)
        });
        if let Some((who, words)) = self.denial() {
            let what = format!("admission refused{object}");
            return Problem::new(number::REFUSED, Exit::Refused, what)
                .line(words)
                .line(format!("says {who}"))
                .fix("change what it names, then repeat the command; nothing was stored");
        }
        let problem =
            Problem::new(number::REFUSED, Exit::Refused, format!("the API server refused{object}"));
        if self.causes.is_empty() {
            return problem.line(self.message.clone());
        }
        self.causes.iter().take(4).fold(problem, |problem, cause| problem.line(cause.clone()))
    }

    fn forbidden(&self, call: Option<&Call<'_>>) -> Problem {
        let user = self.user().unwrap_or("you");
        let Some(call) = call else {
            return Problem::new(number::FORBIDDEN, Exit::Forbidden, self.message.clone())
                .fix("ask an administrator of the cluster for this right");
        };
        forbidden(call, user)
    }
}

/// The problem of a missing right, with the grant that an administrator can type.
pub(crate) fn forbidden(call: &Call<'_>, user: &str) -> Problem {
    let resource = call.resource.in_rbac();
    let place = match call.namespace {
        Some(namespace) => format!(" in namespace \"{namespace}\""),
        None => " in all namespaces".to_owned(),
    };
    let place = if call.resource.namespaced { place } else { String::new() };
    let what = format!("you may not {} {resource}{place} (user {user})", call.verb);
    let (subject, flag) = match user.strip_prefix("system:serviceaccount:") {
        Some(account) => (account.to_owned(), "serviceaccount"),
        None => (user.to_owned(), "user"),
    };
    let short =
        subject.rsplit([':', '/']).next().unwrap_or("user").split('@').next().unwrap_or("user");
    let name: String = format!("{short}-{}-{}", call.verb, call.resource.plural)
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let bound = |scoped: Option<&str>| match scoped {
        Some(namespace) => ("role", "rolebinding", format!(" -n {namespace}")),
        None => ("clusterrole", "clusterrolebinding", String::new()),
    };
    if let Some(role) = roles::with(call) {
        let (_, binding, end) =
            bound(call.namespace.filter(|_| roles::is_bound_in_namespace(call)));
        let kai = format!("{short}-{role}").to_ascii_lowercase();
        return Problem::new(number::FORBIDDEN, Exit::Forbidden, what)
            .line(format!("an administrator can grant all that {role} may:"))
            .line(format!(
                "  kubectl create {binding} {kai} --clusterrole={role} --{flag}={subject}{end}"
            ));
    }
    let (role, binding, end) = bound(call.namespace.filter(|_| call.resource.namespaced));
    Problem::new(number::FORBIDDEN, Exit::Forbidden, what)
        .line("an administrator can grant it:")
        .line(format!(
            "  kubectl create {role} {name} --verb={} --resource={resource}{end}",
            call.verb
        ))
        .line(format!("  kubectl create {binding} {name} --{role}={name} --{flag}={subject}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Resource;

    /// Says what an administrator is told to type when this was refused.
    fn check_grant(verb: &'static str, resource: &Resource, namespace: Option<&str>, expect: &str) {
        let call = Call::new(verb, resource).namespace(namespace);
        let problem = forbidden(&call, "ana@corp");
        assert!(problem.lines.iter().any(|line| line.trim() == expect), "{problem}");
    }

    #[test]
    fn a_grant_is_a_role_that_was_installed_where_there_is_one() {
        check_grant(
            "create",
            &Resource::new("batch/v1", "Job", "jobs"),
            Some("ml"),
            "kubectl create rolebinding ana-kai-submitter --clusterrole=kai-submitter --user=ana@corp -n ml",
        );
        check_grant(
            "list",
            &Resource::new("scheduling.run.ai/v2", "Queue", "queues").cluster_wide(),
            None,
            "kubectl create clusterrolebinding ana-kai-viewer --clusterrole=kai-viewer --user=ana@corp",
        );
        check_grant(
            "update",
            &Resource::new("scheduling.run.ai/v2", "Queue", "queues").cluster_wide(),
            None,
            "kubectl create clusterrolebinding ana-kai-queue-admin --clusterrole=kai-queue-admin --user=ana@corp",
        );
        check_grant(
            "patch",
            &Resource::new("kai.scheduler/v1", "Config", "configs").cluster_wide(),
            None,
            "kubectl create clusterrolebinding ana-kai-admin --clusterrole=kai-admin --user=ana@corp",
        );
        check_grant(
            "create",
            &Resource::new("v1", "Pod", "pods/exec"),
            Some("ml"),
            "kubectl create rolebinding ana-kai-submitter --clusterrole=kai-submitter --user=ana@corp -n ml",
        );
        check_grant(
            "list",
            &Resource::new("v1", "Secret", "secrets"),
            Some("ml"),
            "kubectl create role ana-list-secrets --verb=list --resource=secrets -n ml",
        );
    }

    fn check(code: u16, message: &str, expect: &str) {
        let body = serde_json::json!({ "message": message });
        let refusal = Refusal::read(code, body.to_string().as_bytes());
        let problem = refusal.problem(None);
        let got =
            format!("{}: {} | {}", problem.exit.code(), problem.what, problem.lines.join(" | "));
        assert!(got.starts_with(expect), "{message}: {got}");
    }

    #[test]
    fn who_refused_is_told_apart() {
        check(
            400,
            "admission webhook \"pods.kai.scheduler\" denied the request: annotation gpu-memory: \"0\" must be a positive integer",
            "5: admission refused | annotation gpu-memory: \"0\" must be a positive integer | says webhook pods.kai.scheduler",
        );
        check(
            403,
            "admission webhook \"other\" denied the request: you cannot have this",
            "5: admission refused | you cannot have this | says webhook other",
        );
        check(
            403,
            "admission webhook \"silent\" denied the request without explanation",
            "5: admission refused | without explanation | says webhook silent",
        );
        check(
            422,
            "queues.scheduling.run.ai \"a\" is forbidden: ValidatingAdmissionPolicy 'kai-queues' with binding 'kai-queues' denied request: queue a names itself as parent",
            "5: admission refused | queue a names itself as parent | says policy kai-queues",
        );
        check(
            403,
            "pods is forbidden: User \"ana\" cannot create resource \"pods\" in API group \"\"",
            "4: pods is forbidden",
        );
        check(
            403,
            "pods \"x\" is forbidden: exceeded quota: gpus",
            "5: the API server refused | pods \"x\" is forbidden: exceeded quota: gpus",
        );
        check(
            500,
            "Internal error occurred: failed calling webhook \"pods.kai.scheduler\": connection refused",
            "1: the API server failed: Internal error occurred: failed calling webhook",
        );
    }
}
