//! Admission: who is asked before something is written.
//!
//! ```text
//! a write --> Registry::asked (rules, namespaces) --> nobody: written at once, under one lock
//!                                                \--> Asked::mutate --> Asked::validate --> written, if nothing changed meanwhile
//! ```
//!
//! Webhooks are called without the lock of the store. What the object was then may have changed: the write is made again
//! from what is there, as kube-apiserver does, or refused where the client named a resourceVersion.

mod authorizer;
mod call;
mod expression;
mod hook;
mod policy;
pub(crate) mod registration;
mod review;
mod rules;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use self::call::Webhooks;
use self::hook::Hook;
use self::policy::{Binding, Policy};
use super::convert;
use super::grants::{Grants, Rights};
use super::object;
use super::params::{FieldValidation, Params};
use super::refusal::ApiResult;
use super::request::Request;
use super::route::Target;
use super::store::{Key, Store, TableId};
use super::user::User;

/// The API group of webhooks and policies.
const GROUP: &str = "admissionregistration.k8s.io";

/// Operation of a request on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// The type of the object in a request.
#[derive(Debug)]
struct Type {
    group: String,
    version: String,
    kind: String,
}

/// A request, as those see it who are asked about it.
#[derive(Debug)]
pub(crate) struct Attributes<'a> {
    operation: Operation,
    target: &'a Target,
    kind: Type,
    /// Empty while the name is not made yet.
    name: String,
    user: &'a User,
    is_dry_run: bool,
    options: Value,
}

impl<'a> Attributes<'a> {
    /// The attributes of a write of a whole object or its status.
    pub(crate) fn new(
        operation: Operation,
        request: &'a Request,
        target: &'a Target,
        params: &Params,
    ) -> Self {
        let kind = Type {
            group: target.kind.group.clone(),
            version: target.version.clone(),
            kind: target.kind.kind.clone(),
        };
        let word = match operation {
            Operation::Create => "CreateOptions",
            Operation::Update if request.method == http::Method::PATCH => "PatchOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        let mut options = json!({ "kind": word, "apiVersion": "meta.k8s.io/v1" });
        if !params.field_manager.is_empty() {
            options["fieldManager"] = json!(params.field_manager);
        }
        let validation = match params.field_validation {
            FieldValidation::Ignore => Some("Ignore"),
            FieldValidation::Strict => Some("Strict"),
            FieldValidation::Warn => None,
        };
        if let Some(word) = validation {
            options["fieldValidation"] = json!(word);
        }
        if params.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        Self {
            operation,
            target,
            kind,
            name: target.name.clone(),
            user: &request.user,
            is_dry_run: params.dry_run,
            options,
        }
    }

    /// The same for a subresource with a type of its own, such as `Binding`.
    pub(crate) fn with_type(mut self, group: &str, version: &str, kind: &str) -> Self {
        self.kind =
            Type { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        self
    }

    /// The same for an object whose name the path does not say.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The same, only rehearsed or not.
    pub(crate) fn dry_run(mut self, is_dry_run: bool) -> Self {
        self.is_dry_run = is_dry_run;
        self
    }

    /// Tells whether the object is of the kind of the path, not of a subresource's own.
    fn is_whole(&self) -> bool {
        self.kind.kind == self.target.kind.kind && self.kind.group == self.target.kind.group
    }

    /// Labels of the namespace of the request, and the Namespace; none for objects of the cluster.
    fn namespace(&self, store: &Store, new: &Value) -> Option<(Map<String, Value>, Value)> {
        let table = TableId::new("", "namespaces");
        let is_namespace = self.target.kind.is("", "namespaces");
        let name = if is_namespace { &self.name } else { &self.target.namespace };
        if name.is_empty() && !is_namespace {
            return None;
        }
        let is_written = self.operation != Operation::Delete && self.target.subresource.is_empty();
        let stored = store.get(&table, &Key::new("", name)).map(|found| &found.value);
        let seen = if is_namespace && is_written { Some(new) } else { stored };
        let mut labels = seen.and_then(object::labels).cloned().unwrap_or_default();
        labels.entry("kubernetes.io/metadata.name").or_insert_with(|| json!(name));
        let shown = if is_namespace { None } else { stored };
        Some((labels, shown.cloned().unwrap_or_default()))
    }
}

/// View of those who are asked: objects are null where there are none.
#[derive(Debug)]
struct Question<'a> {
    object: &'a Value,
    old: &'a Value,
    /// The version of the resource in which they are.
    version: &'a str,
    /// The Namespace of the request.
    namespace: &'a Value,
    /// Rights of the user, where somebody asks about them.
    rights: Option<&'a Rights>,
}

/// All webhooks and policies, as the stored objects describe them.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Those that are called without a socket.
    webhooks: Option<Webhooks>,
    mutating: Vec<Arc<Hook>>,
    validating: Vec<Arc<Hook>>,
    policies: Vec<Arc<Policy>>,
    bindings: Vec<Arc<Binding>>,
}

/// Tells whether a table holds webhooks or policies.
pub(crate) fn is_table(table: &TableId) -> bool {
    &*table.group == GROUP
}

impl Registry {
    /// One of a server without webhooks and policies.
    pub(crate) fn new(webhooks: Option<Webhooks>) -> Self {
        Self { webhooks, ..Self::default() }
    }

    /// Reads the stored objects, in the order of their names, anew.
    pub(crate) fn again(&self, store: &Store) -> Self {
        let all = |plural: &str| {
            let table = store.table(&TableId::new(GROUP, plural));
            table.into_iter().flat_map(|table| table.in_namespace("")).map(|found| &found.value)
        };
        let hooks = |plural| {
            let entries = all(plural).flat_map(|value| object::array(value, "/webhooks"));
            entries.map(|entry| Arc::new(Hook::read(entry, self.webhooks.as_ref()))).collect()
        };
        Self {
            webhooks: self.webhooks.clone(),
            mutating: hooks("mutatingwebhookconfigurations"),
            validating: hooks("validatingwebhookconfigurations"),
            policies: all("validatingadmissionpolicies")
                .map(|value| Arc::new(Policy::read(value)))
                .collect(),
            bindings: all("validatingadmissionpolicybindings")
                .map(|value| Arc::new(Binding::read(value)))
                .collect(),
        }
    }

    /// Finds who is asked about a request, as far as rules and namespaces say; `None`: nobody.
    pub(crate) fn asked(
        &self,
        store: &Store,
        grants: &Grants,
        attributes: &Attributes<'_>,
        new: &Value,
    ) -> Option<Asked> {
        let is_empty = self.mutating.is_empty()
            && self.validating.is_empty()
            && (self.policies.is_empty() || self.bindings.is_empty());
        let (no_webhook, no_policy) =
            (rules::is_kept_from_webhooks(attributes), rules::is_kept_from_policies(attributes));
        if is_empty || (no_webhook && no_policy) {
            return None;
        }
        let namespace = attributes.namespace(store, new);
        let labels = namespace.as_ref().map(|(labels, _)| labels);
        let hooks = |all: &[Arc<Hook>]| -> Vec<AskedHook> {
            let matching = all.iter().filter(|_| !no_webhook).filter_map(|hook| {
                let version = hook.scope.version(attributes, labels)?.to_owned();
                Some(AskedHook { hook: Arc::clone(hook), version })
            });
            matching.collect()
        };
        let mut policies = Vec::new();
        for policy in self.policies.iter().filter(|_| !no_policy) {
            let Some(version) = policy.scope.version(attributes, labels) else { continue };
            let own = self.bindings.iter().filter(|binding| {
                binding.policy == policy.name && binding.scope.version(attributes, labels).is_some()
            });
            policies
                .extend(own.map(|one| (Arc::clone(policy), Arc::clone(one), version.to_owned())));
        }
        let (mutating, validating) = (hooks(&self.mutating), hooks(&self.validating));
        let asks_rights = mutating.iter().chain(&validating).any(|one| one.hook.asks_rights)
            || policies.iter().any(|(policy, ..)| policy.asks_rights);
        let asked = Asked {
            mutating,
            validating,
            policies,
            namespace: namespace.map(|(_, namespace)| namespace).unwrap_or_default(),
            rights: asks_rights.then(|| grants.rights(store, attributes.user, "")),
        };
        let is_nobody =
            asked.mutating.is_empty() && asked.validating.is_empty() && asked.policies.is_empty();
        (!is_nobody).then_some(asked)
    }
}

/// A webhook that is asked, and the version of the resource that it wants to see.
#[derive(Debug)]
struct AskedHook {
    hook: Arc<Hook>,
    version: String,
}

/// Webhooks and policies that are asked about one request; each with the version of the resource that it wants to see.
#[derive(Debug)]
pub(crate) struct Asked {
    mutating: Vec<AskedHook>,
    validating: Vec<AskedHook>,
    policies: Vec<(Arc<Policy>, Arc<Binding>, String)>,
    namespace: Value,
    /// Rights of the user in the cluster, where somebody asks about them.
    rights: Option<Rights>,
}

/// Changes that the server itself makes to an object after a webhook changed it.
pub(crate) type Settle<'a> = &'a (dyn Fn(&mut Value) -> ApiResult<()> + Send + Sync);

impl Asked {
    /// Lets webhooks change the object, one after the other; those that want to see what came after them are asked once
    /// more. `object` is null when something is deleted. Gives their warnings.
    ///
    /// # Errors
    /// The refusal of the request.
    pub(crate) async fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: &mut Value,
        old: &Value,
        settle: Settle<'_>,
    ) -> ApiResult<Vec<String>> {
        let mut warnings = Vec::new();
        // Those that were asked since the last change, and want to hear of the next one.
        let mut waiting = Vec::new();
        let mut due = BTreeSet::new();
        for is_again in [false, true] {
            for (index, asked) in self.mutating.iter().enumerate() {
                if is_again && !due.contains(&index) {
                    continue;
                }
                let before = object.clone();
                warnings.extend(self.change(asked, attributes, object, old).await?);
                if *object != before {
                    settle(object)?;
                    due.extend(waiting.drain(..));
                }
                if asked.hook.is_reinvoked && !is_again {
                    waiting.push(index);
                }
            }
        }
        Ok(warnings)
    }

    /// Asks one webhook and makes its change; gives its warnings.
    async fn change(
        &self,
        AskedHook { hook, version }: &AskedHook,
        attributes: &Attributes<'_>,
        object: &mut Value,
        old: &Value,
    ) -> ApiResult<Vec<String>> {
        let mut seen = shown(attributes, object, version).into_owned();
        let seen_old = shown(attributes, old, version);
        let question = self.question(&seen, &seen_old, version);
        let Some(answer) = hook.ask(attributes, &question).await? else { return Ok(Vec::new()) };
        let Some(patch) = answer.patch.filter(|patch| !patch.0.is_empty()) else {
            return Ok(answer.warnings);
        };
        if object.is_null() {
            return Err(hook.unusable("there is no object to change in a deletion"));
        }
        json_patch::patch(&mut seen, &patch).map_err(|error| hook.unusable(&error.to_string()))?;
        *object = if attributes.is_whole() {
            convert::store(seen, &attributes.target.kind)
        } else {
            seen
        };
        Ok(answer.warnings)
    }

    /// Asks policies, then all validating webhooks at once; gives their warnings.
    ///
    /// # Errors
    /// The first refusal, in the order of names.
    pub(crate) async fn validate(
        &self,
        attributes: &Attributes<'_>,
        object: &Value,
        old: &Value,
    ) -> ApiResult<Vec<String>> {
        let mut warnings = self.ask_policies(attributes, object, old)?;
        let all = self.validating.iter().map(|AskedHook { hook, version }| async move {
            let (object, old) =
                (shown(attributes, object, version), shown(attributes, old, version));
            let question = self.question(&object, &old, version);
            hook.ask(attributes, &question).await
        });
        for answer in futures::future::join_all(all).await {
            warnings.extend(answer?.into_iter().flat_map(|answer| answer.warnings));
        }
        Ok(warnings)
    }

    fn question<'a>(&'a self, object: &'a Value, old: &'a Value, version: &'a str) -> Question<'a> {
        let (namespace, rights) = (&self.namespace, self.rights.as_ref());
        Question { object, old, version, namespace, rights }
    }

    fn ask_policies(
        &self,
        attributes: &Attributes<'_>,
        object: &Value,
        old: &Value,
    ) -> ApiResult<Vec<String>> {
        let (mut warnings, mut seen) = (Vec::new(), policy::Seen::default());
        for (policy, binding, version) in &self.policies {
            let (object, old) =
                (shown(attributes, object, version), shown(attributes, old, version));
            let question = self.question(&object, &old, version);
            warnings.extend(policy::apply(policy, binding, attributes, &question, &mut seen)?);
        }
        Ok(warnings)
    }
}

/// An object in the version in which it is wanted.
fn shown<'a>(attributes: &Attributes<'_>, value: &'a Value, version: &str) -> Cow<'a, Value> {
    if value.is_null() || !attributes.is_whole() {
        return Cow::Borrowed(value);
    }
    convert::serve(value, &attributes.target.kind, version)
}
