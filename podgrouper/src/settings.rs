//! Settings of grouping, as an operator of the cluster makes them.

/// Rules that hold where the two differ (`docs/grouping.md` 13, X1 to X17).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compat {
    /// Ours.
    #[default]
    Off,
    /// Those of KAI v0.17, object for object, so that both can run side by side.
    KaiV017,
}

/// Settings of the grouping rules; the flags of the daemon fill them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Key of the queue label.
    pub queue_label: String,
    /// Key of the node-pool label; empty switches node pools off.
    pub node_pool_label: String,
    /// `spec.schedulerName` of the pods that are grouped.
    pub scheduler: String,
    /// True if `PodGroups` under older names are looked for.
    pub legacy_names: bool,
    /// True if a Knative Revision is one gang.
    pub knative_gangs: bool,
    /// True if Karta definitions are asked for unknown kinds.
    pub karta: bool,
    /// Namespace and name of the `ConfigMap` with per-type defaults.
    pub defaults: Option<(String, String)>,
    /// Rules that hold where ours and KAI's differ.
    pub compat: Compat,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            queue_label: "kai.scheduler/queue".to_owned(),
            node_pool_label: "kai.scheduler/node-pool".to_owned(),
            scheduler: "kai-scheduler".to_owned(),
            legacy_names: true,
            knative_gangs: true,
            karta: true,
            defaults: None,
            compat: Compat::Off,
        }
    }
}

impl Settings {
    /// Tells whether KAI's rules hold.
    pub fn is_kai_v017(&self) -> bool {
        self.compat == Compat::KaiV017
    }
}
