//! Tells who has rights in the namespace of the daemons before they come there: whoever may make pods in it may give them a
//! daemon's account, and so has what the daemons may do in the whole cluster.

use serde_json::Value;

use super::manifest::Item;
use super::preflight;
use super::status::first;
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// The API group of roles and their bindings.
const GROUP: &str = "rbac.authorization.k8s.io";
/// Verbs that change nothing.
const READING: [&str; 3] = ["get", "list", "watch"];
/// Parts of objects that say something and do nothing when they are read; `exec` and `proxy` are read to do something.
const READABLE_PARTS: [&str; 4] = ["layers", "log", "scale", "status"];
/// Accounts to which OpenShift binds these roles in every namespace, and again where somebody deletes the bindings.
const OF_OPENSHIFT: [(&str, &str); 2] =
    [("builder", "system:image-builder"), ("deployer", "system:deployer")];
/// The annotation by which OpenShift names the user who asked it for a namespace; one that an administrator makes has none.
const REQUESTER: &str = "openshift.io/requester";

/// Holds where the daemons come, and with what.
struct Place<'i> {
    here: &'i str,
    items: &'i [Item],
    /// KAI lives there, whose own accounts are no strangers.
    is_of_kai: bool,
    /// Names the user who installs, where the server tells.
    me: Option<String>,
    /// No other user asked OpenShift for the namespace, and so may have kept a token of its accounts.
    is_of_admin: bool,
}

/// Checks that nobody but the daemons may change anything in their namespace, before they come there for the first time:
/// where it is not said who made it, that was perhaps somebody who waits for them. What OpenShift binds in every namespace
/// is left alone where no other user asked for this one. One request, and where others have rights two more and one for each
/// role that is bound there; what an administrator binds later is not looked at.
///
/// # Errors
/// Somebody may; the server cannot be asked.
pub(super) async fn check(
    cluster: &Cluster,
    items: &[Item],
    here: &str,
    is_of_kai: bool,
) -> Result<(), Error> {
    let is_home = preflight::homes(cluster).await?.iter().any(|home| home == here);
    if is_home {
        return Ok(());
    }
    let resource = resource("RoleBinding", "rolebindings");
    let call = Call::new("list", &resource).namespace(Some(here));
    let bindings = match cluster.list(&call, &Select::default()).await {
        Err(failure) if failure.is_forbidden() => return Ok(()),
        answer => answer.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default(),
    };
    let mut place = Place { here, items, is_of_kai, me: None, is_of_admin: false };
    let may_be_open =
        |binding: &Value| place.is_unread(binding) || place.strangers(binding).next().is_some();
    if !bindings.iter().any(may_be_open) {
        return Ok(());
    }
    place.me = cluster.me_if_told().await;
    place.is_of_admin = place.has_no_other_requester(cluster).await?;
    let mut found = Vec::new();
    for binding in &bindings {
        if place.is_unread(binding) {
            let name = clean(text(&binding["metadata"]["name"]));
            found.push(format!("rolebinding {name}, which is too large to be read"));
            continue;
        }
        let strangers: Vec<String> = place.strangers(binding).map(shown).collect();
        if !strangers.is_empty() && !place.only_reads(&binding["roleRef"], cluster).await? {
            let name = text(&binding["metadata"]["name"]);
            let role = text(&binding["roleRef"]["name"]);
            let line = format!("rolebinding {name} ({role}) for {}", first(&strangers));
            found.push(clean(&line).into_owned());
        }
    }
    if found.is_empty() { Ok(()) } else { Err(refused(here, &found)) }
}

fn resource(kind: &str, plural: &str) -> Resource {
    Resource::new(&format!("{GROUP}/v1"), kind, plural)
}

/// Says whom a binding means: `User eve`.
fn shown(subject: &Value) -> String {
    format!("{} {}", text(&subject["kind"]), text(&subject["name"]))
}

fn refused(here: &str, bindings: &[String]) -> Error {
    let what = format!("others have rights in namespace {}", clean(here));
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .line(first(bindings))
        .line("who may make pods there could use the daemons' accounts, which may write pods of all namespaces")
        .line("bindings that are meant can be made again once the scheduler is installed")
        .fix(format!(
            "kubectl delete rolebinding NAME{}   or, in a namespace of its own: kubectl kai install -n NAMESPACE",
            of_namespace(here)
        ))
        .into()
}

/// Gives kubectl's flag for a namespace.
fn of_namespace(here: &str) -> String {
    match preflight::namespace_flag(here) {
        usual if usual.is_empty() => format!(" -n {here}"),
        flag => flag,
    }
}

impl Place<'_> {
    /// Finds an object of ours in the namespace.
    fn has_own(&self, kind: &str, name: &str) -> bool {
        self.items.iter().any(|item| {
            item.resource.kind == kind && item.namespace() == Some(self.here) && item.name() == name
        })
    }

    /// Tells whether a binding that stays was not read whole: whom it means is not known.
    fn is_unread(&self, binding: &Value) -> bool {
        let is_replaced = self.has_own("RoleBinding", text(&binding["metadata"]["name"]));
        binding["roleRef"].is_null() && !is_replaced
    }

    /// The subjects of a binding that are none of the daemons; none of a binding that is replaced by one of ours.
    fn strangers<'b>(&'b self, binding: &'b Value) -> impl Iterator<Item = &'b Value> {
        let is_replaced = self.has_own("RoleBinding", text(&binding["metadata"]["name"]));
        let role = &binding["roleRef"];
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        subjects.filter(move |subject| {
            !is_replaced && !self.is_known(subject) && !self.is_of_openshift(subject, role)
        })
    }

    /// Tells whether a subject is an account of a daemon, or who installs.
    fn is_known(&self, subject: &Value) -> bool {
        let name = text(&subject["name"]);
        match text(&subject["kind"]) {
            "ServiceAccount" => {
                let namespace = text(&subject["namespace"]);
                let is_here = namespace.is_empty() || namespace == self.here;
                is_here && (self.is_of_kai || self.has_own("ServiceAccount", name))
            }
            "User" => self.me.as_deref() == Some(name),
            _ => false,
        }
    }

    /// Tells whether OpenShift bound one of its own accounts, which are nobody's in a namespace that no other user asked for.
    fn is_of_openshift(&self, subject: &Value, role: &Value) -> bool {
        let is_account =
            subject["kind"] == "ServiceAccount" && text(&subject["namespace"]) == self.here;
        // Everybody with rights in the namespace can make a Role of any name there.
        let is_of_cluster = role["kind"] == "ClusterRole";
        let pair = (text(&subject["name"]), text(&role["name"]));
        self.is_of_admin && is_account && is_of_cluster && OF_OPENSHIFT.contains(&pair)
    }

    /// Tells whether OpenShift names nobody else as the user who asked for the namespace; not where it may not be read.
    async fn has_no_other_requester(&self, cluster: &Cluster) -> Result<bool, Error> {
        let resource = Resource::new("v1", "Namespace", "namespaces").cluster_wide();
        let call = Call::new("get", &resource).name(self.here);
        let live = match cluster.get(&call).await {
            Err(failure) if failure.is_forbidden() => return Ok(false),
            answer => answer.map_err(|e| cluster.explain(&call, &e))?,
        };
        let annotations = live.as_ref().map(|live| &live["metadata"]["annotations"]);
        let requester = annotations.map_or("", |annotations| text(&annotations[REQUESTER]));
        Ok(requester.is_empty() || self.me.as_deref() == Some(requester))
    }

    /// Tells whether a role lets nobody change anything, nor read secrets. One that is missing, or that ours will
    /// replace, says nothing yet of what it will allow.
    async fn only_reads(&self, role: &Value, cluster: &Cluster) -> Result<bool, Error> {
        let name = text(&role["name"]);
        let (resource, namespace) = match text(&role["kind"]) {
            "ClusterRole" => (resource("ClusterRole", "clusterroles").cluster_wide(), None),
            _ => (resource("Role", "roles"), Some(self.here)),
        };
        if name.is_empty() || self.has_own(&resource.kind, name) {
            return Ok(false);
        }
        let call = Call::new("get", &resource).namespace(namespace).name(name);
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        Ok(live.is_some_and(|live| {
            let mut rules = live["rules"].as_array().into_iter().flatten();
            rules.all(is_harmless)
        }))
    }
}

/// Tells whether a rule of a role allows nothing but to read what is no secret.
fn is_harmless(rule: &Value) -> bool {
    let texts = |field: &str| rule[field].as_array().into_iter().flatten().map(text);
    let is_readable = |resource: &str| match resource.split_once('/') {
        Some((_, part)) => READABLE_PARTS.contains(&part),
        None => !matches!(resource, "*" | "secrets"),
    };
    texts("verbs").all(|verb| READING.contains(&verb)) && texts("resources").all(is_readable)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::install::fake::Fake;
    use crate::commands::install::manifest::{Options, items};

    const PATH: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/kai-scheduler";

    /// Says what is found where a subject was bound to a Role with these verbs on a resource.
    async fn check_that(subject: &Value, rule: [&str; 2], is_installed: bool, expect: &str) {
        let fake = Fake::kind();
        let all = items(&Options::default());
        let of_accounts = |item: &&Item| {
            is_installed && matches!(&*item.resource.kind, "ClusterRoleBinding" | "RoleBinding")
        };
        fake.put_all(all.iter().filter(of_accounts));
        let role = json!({"kind": "Role", "name": "theirs"});
        let binding = json!({"metadata": {"name": "bait"}, "roleRef": role, "subjects": [subject]});
        fake.put(&format!("{PATH}/rolebindings/bait"), binding);
        let rule = json!({"verbs": [rule[0]], "apiGroups": [""], "resources": [rule[1]]});
        fake.put(&format!("{PATH}/roles/theirs"), json!({ "rules": [rule] }));
        let said = match check(&fake.cluster(), &all, "kai-scheduler", false).await {
            Ok(()) => String::new(),
            Err(error) => error.to_string().lines().nth(1).unwrap_or_default().trim().to_owned(),
        };
        assert_eq!(said, expect, "{subject}");
    }

    #[tokio::test]
    async fn nobody_waits_with_rights_where_the_daemons_come() {
        let eve = json!({"kind": "User", "name": "eve"});
        let told = "rolebinding bait (theirs) for User eve";
        check_that(&eve, ["create", "pods"], false, told).await;
        check_that(&eve, ["get", "pods/exec"], false, told).await;
        check_that(&eve, ["get", "secrets"], false, told).await;
        check_that(&eve, ["list", "*"], false, told).await;
        check_that(&eve, ["list", "pods"], false, "").await;
        check_that(&eve, ["get", "pods/log"], false, "").await;
        // An administrator has had the daemons there since, and bound whom he likes.
        check_that(&eve, ["create", "pods"], true, "").await;
        let account = |name: &str| json!({"kind": "ServiceAccount", "name": name, "namespace": "kai-scheduler"});
        check_that(&account("kai-scheduler"), ["create", "pods"], false, "").await;
        let told = "rolebinding bait (theirs) for ServiceAccount bot";
        check_that(&account("bot"), ["create", "pods"], false, told).await;
        let all_accounts = json!({"kind": "Group", "name": "system:serviceaccounts:kai-scheduler"});
        check_that(&all_accounts, ["get", "imagestreams/layers"], false, "").await;
    }

    /// Whoever was there first decides how many a binding means.
    #[tokio::test]
    async fn a_binding_of_very_many_hides_nobody() {
        let fake = Fake::kind();
        let subjects = vec![json!({"kind": "User", "name": "eve"}); 20_000];
        let role = json!({"kind": "ClusterRole", "name": "edit"});
        let binding = json!({"metadata": {"name": "bait"}, "roleRef": role, "subjects": subjects});
        fake.put(&format!("{PATH}/rolebindings/bait"), binding);
        let all = items(&Options::default());
        let checked = check(&fake.cluster(), &all, "kai-scheduler", false).await;
        let said = checked.expect_err("it may mean eve").to_string();
        assert!(said.contains("rolebinding bait, which is too large to be read"), "{said}");
    }

    /// Tells whether a role of an account is refused in a namespace for which a user asked OpenShift.
    async fn check_openshift(requester: &Value, role: [&str; 2], expect: bool) {
        let fake = Fake::kind();
        let namespace = json!({"metadata": {"annotations": {(REQUESTER): requester}}});
        fake.put("/api/v1/namespaces/kai-scheduler", namespace);
        let account =
            json!({"kind": "ServiceAccount", "name": "deployer", "namespace": "kai-scheduler"});
        let binding = json!({"metadata": {"name": "system:deployers"},
            "roleRef": {"kind": role[0], "name": role[1]}, "subjects": [account]});
        fake.put(&format!("{PATH}/rolebindings/deployers"), binding);
        let all = items(&Options::default());
        let checked = check(&fake.cluster(), &all, "kai-scheduler", false).await;
        assert_eq!(checked.is_err(), expect, "{requester} {role:?}");
    }

    #[tokio::test]
    async fn accounts_of_openshift_are_nobodys_where_no_tenant_asked_for_the_namespace() {
        check_openshift(&Value::Null, ["ClusterRole", "system:deployer"], false).await;
        check_openshift(&json!("eve"), ["ClusterRole", "system:deployer"], true).await;
        check_openshift(&Value::Null, ["Role", "system:deployer"], true).await;
        check_openshift(&Value::Null, ["ClusterRole", "edit"], true).await;
    }
}
