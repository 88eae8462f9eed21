//! The `PodGroup` that a rule wants.

use std::collections::{BTreeMap, BTreeSet};

use crate::object::OwnerRef;
use kai_api::duration::GoDuration;

/// `spec.preemptibility` of a `PodGroup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preemptibility {
    /// May be preempted.
    Preemptible,
    /// May not be preempted, and stays within its queue's quota.
    NonPreemptible,
}

impl Preemptibility {
    /// Reads the two values of the API, case-sensitively.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "preemptible" => Some(Self::Preemptible),
            "non-preemptible" => Some(Self::NonPreemptible),
            _ => None,
        }
    }

    /// The value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preemptible => "preemptible",
            Self::NonPreemptible => "non-preemptible",
        }
    }
}

/// A topology constraint; empty strings are unset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    /// Name of the Topology object.
    pub name: String,
    /// `requiredTopologyLevel`.
    pub required: String,
    /// `preferredTopologyLevel`.
    pub preferred: String,
}

impl Topology {
    /// Tells whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty() && self.required.is_empty() && self.preferred.is_empty()
    }

    /// Tells whether the name and at least one level are set.
    pub fn is_complete(&self) -> bool {
        let has_level = !self.required.is_empty() || !self.preferred.is_empty();
        has_level && !self.name.is_empty()
    }
}

/// Minimum of a group or subgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Min {
    /// Pods.
    Members(i64),
    /// Direct child subgroups.
    Subgroups(i64),
}

/// One entry of `spec.subGroups`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subgroup {
    /// Name, unique in the `PodGroup`.
    pub name: String,
    /// Name of the parent subgroup, if it is not a child of the root.
    pub parent: Option<String>,
    /// Pods of a leaf, children of a parent.
    pub min: Min,
    /// Topology constraint.
    pub topology: Option<Topology>,
    /// Names of the pods of the group's namespace known to belong here.
    pub pods: BTreeSet<String>,
}

impl Subgroup {
    /// A leaf below the root.
    pub fn leaf(name: impl Into<String>, members: i64) -> Self {
        Self {
            name: name.into(),
            parent: None,
            min: Min::Members(members),
            topology: None,
            pods: BTreeSet::new(),
        }
    }

    /// An inner subgroup below the root.
    pub fn parent(name: impl Into<String>, subgroups: i64) -> Self {
        Self { min: Min::Subgroups(subgroups), ..Self::leaf(name, 0) }
    }

    /// The same subgroup below `parent`.
    #[must_use]
    pub fn below(mut self, parent: impl Into<String>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// The same subgroup with a constraint.
    #[must_use]
    pub fn with_topology(mut self, topology: Option<Topology>) -> Self {
        self.topology = topology;
        self
    }
}

/// A `PodGroup` as a rule wants it, before it is merged with what the cluster has.
#[derive(Debug, Clone, PartialEq)]
pub struct Desired {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`, that of the pod.
    pub namespace: String,
    /// The one owner reference.
    pub owner: OwnerRef,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// `spec.queue`.
    pub queue: String,
    /// `spec.priorityClassName`.
    pub priority_class: String,
    /// `spec.preemptibility`.
    pub preemptibility: Option<Preemptibility>,
    /// `spec.preemptionDelay`.
    pub preemption_delay: Option<GoDuration>,
    /// `spec.stalenessGracePeriod`.
    pub staleness_grace: Option<GoDuration>,
    /// `spec.topologyConstraint`.
    pub topology: Topology,
    /// `spec.minMember`; not written when `min_subgroups` is set.
    pub min_member: i64,
    /// `spec.minSubGroup`.
    pub min_subgroups: Option<i64>,
    /// `spec.subGroups`.
    pub subgroups: Vec<Subgroup>,
    /// Oddities that were passed over; for the log.
    pub notes: Vec<String>,
    /// The part of the gang that another scheduler places; for one event per `PodGroup`.
    pub foreign: Option<String>,
}

impl Desired {
    /// The subgroup that holds a pod of the group's namespace.
    pub fn subgroup_of(&self, pod_namespace: &str, pod_name: &str) -> Option<&str> {
        if pod_namespace != self.namespace {
            return None;
        }
        let holds = |subgroup: &&Subgroup| subgroup.pods.contains(pod_name);
        self.subgroups.iter().find(holds).map(|subgroup| subgroup.name.as_str())
    }

    /// Puts a pod into the subgroup of this name; false when there is none.
    pub fn route(&mut self, pod_name: &str, subgroup: &str) -> bool {
        let row = self.subgroups.iter_mut().find(|row| row.name == subgroup);
        if let Some(row) = row {
            row.pods.insert(pod_name.to_owned());
            return true;
        }
        false
    }
}
