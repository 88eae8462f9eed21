//! The user who asks.

/// Somebody who sends requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct User {
    /// The name, for example `system:serviceaccount:ns:name`.
    pub(crate) name: String,
    /// The UID of a `ServiceAccount`, or empty.
    pub(crate) uid: String,
    /// The groups.
    pub(crate) groups: Vec<String>,
}

impl User {
    /// A user with groups; `system:authenticated` is added.
    pub(crate) fn new(name: &str, groups: &[&str]) -> Self {
        let mut groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
        let authenticated = "system:authenticated".to_owned();
        if !groups.contains(&authenticated) {
            groups.push(authenticated);
        }
        Self { name: name.to_owned(), uid: String::new(), groups }
    }

    /// The administrator, whom RBAC does not bind.
    pub(crate) fn admin() -> Self {
        Self::new("kubernetes-admin", &["system:masters"])
    }

    /// A `ServiceAccount`.
    pub(crate) fn service_account(namespace: &str, name: &str) -> Self {
        let of_namespace = format!("system:serviceaccounts:{namespace}");
        Self::new(
            &format!("system:serviceaccount:{namespace}:{name}"),
            &["system:serviceaccounts", &of_namespace],
        )
    }

    /// Tells whether RBAC does not bind this user.
    pub(crate) fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == "system:masters")
    }
}
