//! Describes where a pod may go: selectors, affinities, tolerations, ports.

use kai_engine::{Holds, HostPort, PodTerm, Requirement, Shape, Spread, Symbol, Toleration};
use serde::Deserialize;

use crate::{
    ingest::{
        Context,
        namespace::Namespaces,
        request::{Container, Port},
        selector::{
            LISTED_MAX, LabelSelector, NAMED_MAX, NodeSelector, NodeTerm, effect, node_term,
            node_terms, symbols,
        },
    },
    server::wire::{Pairs, Text, null_as_default},
};

/// So many terms about pods of other namespaces, of all kinds: every pod of those has to be compared with them.
pub(super) const ELSEWHERE_MAX: usize = 8;
/// So many requirements about the labels of nodes: each node is compared with all of them to say why it refuses.
pub(super) const OF_NODES_MAX: usize = 256;
/// So many labels, values and namespaces in selectors of pods: each pod that they may mean is compared with them.
pub(super) const OF_PODS_MAX: usize = 512;

/// `spec.affinity`.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(in crate::ingest) struct Affinity<'a> {
    #[serde(rename = "nodeAffinity", borrow)]
    nodes: Option<NodeAffinity<'a>>,
    #[serde(rename = "podAffinity", borrow)]
    near: Option<PodAffinity<'a>>,
    #[serde(rename = "podAntiAffinity", borrow)]
    apart: Option<PodAffinity<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct NodeAffinity<'a> {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", borrow)]
    required: Option<NodeSelector<'a>>,
    #[serde(
        rename = "preferredDuringSchedulingIgnoredDuringExecution",
        borrow,
        deserialize_with = "null_as_default"
    )]
    preferred: Vec<PreferredNodes<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct PreferredNodes<'a> {
    weight: i32,
    #[serde(borrow)]
    preference: NodeTerm<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct PodAffinity<'a> {
    #[serde(
        rename = "requiredDuringSchedulingIgnoredDuringExecution",
        borrow,
        deserialize_with = "null_as_default"
    )]
    required: Vec<WireTerm<'a>>,
    #[serde(
        rename = "preferredDuringSchedulingIgnoredDuringExecution",
        borrow,
        deserialize_with = "null_as_default"
    )]
    preferred: Vec<PreferredPods<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct PreferredPods<'a> {
    weight: i32,
    #[serde(borrow)]
    pod_affinity_term: WireTerm<'a>,
}

/// One of `spec.topologySpreadConstraints`.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::ingest) struct WireSpread<'a> {
    max_skew: u32,
    #[serde(borrow)]
    topology_key: Text<'a>,
    #[serde(borrow)]
    when_unsatisfiable: Text<'a>,
    #[serde(borrow)]
    label_selector: Option<LabelSelector<'a>>,
    min_domains: Option<u32>,
    #[serde(borrow)]
    node_affinity_policy: Text<'a>,
    #[serde(borrow)]
    node_taints_policy: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    match_label_keys: Vec<Text<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct WireTerm<'a> {
    #[serde(borrow)]
    topology_key: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    namespaces: Vec<Text<'a>>,
    #[serde(borrow)]
    namespace_selector: Option<LabelSelector<'a>>,
    #[serde(borrow)]
    label_selector: Option<LabelSelector<'a>>,
}

/// One of `spec.tolerations`.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(in crate::ingest) struct WireToleration<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    operator: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow)]
    effect: Text<'a>,
}

impl WireTerm<'_> {
    /// Counts what it names, and itself.
    fn named(&self) -> usize {
        let selectors = self.namespace_selector.iter().chain(&self.label_selector);
        1 + self.namespaces.len() + selectors.map(LabelSelector::named).sum::<usize>()
    }
}

impl PodAffinity<'_> {
    fn named(&self) -> usize {
        let preferred = self.preferred.iter().map(|one| &one.pod_affinity_term);
        self.required.iter().chain(preferred).map(WireTerm::named).sum()
    }
}

impl<'a> NodeAffinity<'a> {
    fn required_terms(&self) -> &[NodeTerm<'a>] {
        self.required.as_ref().map_or(&[], |required| &required.node_selector_terms)
    }

    /// Counts the requirements of all of its terms.
    fn requirements(&self) -> usize {
        let preferred = self.preferred.iter().map(|one| &one.preference);
        self.required_terms().iter().chain(preferred).map(NodeTerm::len).sum()
    }

    fn named(&self) -> usize {
        let preferred = self.preferred.iter().map(|one| one.preference.named());
        self.required.as_ref().map_or(0, NodeSelector::named) + preferred.sum::<usize>()
    }
}

impl WireSpread<'_> {
    fn named(&self) -> usize {
        let selector = self.label_selector.as_ref().map_or(0, LabelSelector::named);
        1 + selector + self.match_label_keys.len()
    }
}

/// Counts of what a pod says of where it may go, by kind.
#[derive(Clone, Copy, Debug)]
pub(in crate::ingest) struct Counts {
    pub(in crate::ingest) near: usize,
    pub(in crate::ingest) apart: usize,
    pub(in crate::ingest) spread: usize,
    pub(in crate::ingest) preferred_pods: usize,
    pub(in crate::ingest) preferred_nodes: usize,
    pub(in crate::ingest) required_nodes: usize,
    /// Requirements about the labels of nodes, of all kinds.
    pub(in crate::ingest) of_nodes: usize,
    pub(in crate::ingest) tolerations: usize,
    pub(in crate::ingest) ports: usize,
    /// Labels, values and namespaces in selectors of pods.
    pub(in crate::ingest) named_of_pods: usize,
    /// The same in all selectors.
    pub(in crate::ingest) named: usize,
}

/// Everything of a pod that says where it may go.
#[derive(Clone, Copy, Debug)]
pub(in crate::ingest) struct Constraints<'w, 'a> {
    pub(in crate::ingest) namespace: &'w str,
    pub(in crate::ingest) labels: &'w Pairs<'a>,
    pub(in crate::ingest) spread: &'w [WireSpread<'a>],
    pub(in crate::ingest) node_selector: &'w Pairs<'a>,
    pub(in crate::ingest) affinity: Option<&'w Affinity<'a>>,
    pub(in crate::ingest) tolerations: &'w [WireToleration<'a>],
    pub(in crate::ingest) containers: &'w [Container<'a>],
    pub(in crate::ingest) init_containers: &'w [Container<'a>],
}

impl Constraints<'_, '_> {
    /// Counts it, without keeping any of it.
    pub(in crate::ingest) fn count(&self) -> Counts {
        let affinity = self.affinity;
        let near = affinity.and_then(|all| all.near.as_ref());
        let apart = affinity.and_then(|all| all.apart.as_ref());
        let nodes = affinity.and_then(|all| all.nodes.as_ref());
        let required = |of: Option<&PodAffinity<'_>>| of.map_or(0, |terms| terms.required.len());
        let preferred = |of: Option<&PodAffinity<'_>>| of.map_or(0, |terms| terms.preferred.len());
        let of_pods = near.into_iter().chain(apart).map(PodAffinity::named).sum::<usize>();
        let of_spread = self.spread.iter().map(WireSpread::named).sum::<usize>();
        Counts {
            near: required(near),
            apart: required(apart),
            spread: self.spread.len(),
            preferred_pods: preferred(near) + preferred(apart),
            preferred_nodes: nodes.map_or(0, |nodes| nodes.preferred.len()),
            required_nodes: nodes.map_or(0, |nodes| nodes.required_terms().len()),
            of_nodes: self.node_selector.iter().count()
                + nodes.map_or(0, NodeAffinity::requirements),
            tolerations: self.tolerations.len(),
            ports: self.wire_ports().count(),
            named_of_pods: of_pods + of_spread,
            named: 2 * self.node_selector.iter().count()
                + nodes.map_or(0, NodeAffinity::named)
                + of_pods
                + of_spread,
        }
    }

    /// Fills in all of a shape but what it requests. Of what names more than is compared nothing is kept but the first
    /// tolerations and ports: names are kept for as long as the process runs.
    pub(in crate::ingest) fn read(
        &self,
        context: &mut Context,
        namespaces: &mut Namespaces,
        shape: &mut Shape,
    ) {
        let tolerations = self.tolerations.iter().take(LISTED_MAX);
        shape.tolerations = tolerations.map(|wire| toleration(context, wire)).collect();
        shape.ports = self.ports(context);
        let counts = self.count();
        if counts.named > NAMED_MAX {
            return;
        }
        if counts.of_nodes <= OF_NODES_MAX {
            self.read_of_nodes(context, shape);
        }
        if counts.named_of_pods <= OF_PODS_MAX {
            self.read_of_pods(context, namespaces, shape);
        }
    }

    fn read_of_nodes(&self, context: &mut Context, shape: &mut Shape) {
        shape.node_selector = symbols(&mut context.names, self.node_selector);
        let Some(nodes) = self.affinity.and_then(|affinity| affinity.nodes.as_ref()) else {
            return;
        };
        if let Some(required) = &nodes.required {
            shape.node_affinity = node_terms(&mut context.names, required);
        }
        for one in &nodes.preferred {
            let term = node_term(&mut context.names, &one.preference);
            shape.preferred_nodes.push((one.weight, term));
        }
    }

    fn read_of_pods(&self, context: &mut Context, namespaces: &mut Namespaces, shape: &mut Shape) {
        shape.spread = self.spread.iter().map(|wire| self.spread(context, wire)).collect();
        let Some(affinity) = self.affinity else { return };
        shape.pod_affinity = self.terms(context, namespaces, affinity.near.as_ref());
        shape.pod_anti_affinity = self.terms(context, namespaces, affinity.apart.as_ref());
        let near = affinity.near.iter().flat_map(|near| &near.preferred).map(|one| (one, 1));
        let apart = affinity.apart.iter().flat_map(|apart| &apart.preferred).map(|one| (one, -1));
        for (one, sign) in near.chain(apart) {
            let term = pod_term(context, namespaces, &one.pod_affinity_term, self.namespace);
            shape.preferred_pods.push((one.weight.saturating_mul(sign), term));
        }
    }

    /// Source: the API's `TopologySpreadConstraint`.
    fn spread(&self, context: &mut Context, wire: &WireSpread<'_>) -> Spread {
        let mut selector = selector(context, wire.label_selector.as_ref());
        for key in &wire.match_label_keys {
            if let Some(value) = self.labels.value(key) {
                let key = context.names.symbol(key);
                let value = context.names.symbol(value);
                context.ask_for_pod_label(key);
                selector.push(Requirement { key, holds: Holds::In(vec![value]) });
            }
        }
        Spread {
            topology_key: context.names.symbol(&wire.topology_key),
            skew_max: wire.max_skew,
            domains_min: wire.min_domains.unwrap_or(1),
            namespace: context.names.symbol(self.namespace),
            selector,
            honors_selection: &*wire.node_affinity_policy != "Ignore",
            honors_taints: &*wire.node_taints_policy == "Honor",
            required: &*wire.when_unsatisfiable != "ScheduleAnyway",
        }
    }

    fn terms(
        &self,
        context: &mut Context,
        namespaces: &mut Namespaces,
        affinity: Option<&PodAffinity<'_>>,
    ) -> Vec<PodTerm> {
        let Some(affinity) = affinity else { return Vec::new() };
        affinity
            .required
            .iter()
            .map(|term| pod_term(context, namespaces, term, self.namespace))
            .collect()
    }

    fn wire_ports(&self) -> impl Iterator<Item = &Port<'_>> {
        let sidecars = self.init_containers.iter().filter(|one| &*one.restart_policy == "Always");
        let ports = self.containers.iter().chain(sidecars).flat_map(|one| &one.ports);
        ports.filter(|port| port.on_host != 0)
    }

    fn ports(&self, context: &mut Context) -> Vec<HostPort> {
        let mut ports = Vec::new();
        for port in self.wire_ports().take(LISTED_MAX) {
            let protocol = if port.protocol.is_empty() { "TCP" } else { &*port.protocol };
            let address = if &*port.host_ip == "0.0.0.0" { "" } else { &*port.host_ip };
            ports.push(HostPort {
                port: port.on_host,
                protocol: context.names.symbol(protocol),
                address: context.names.symbol(address),
            });
        }
        ports.sort_unstable();
        ports
    }
}

fn toleration(context: &mut Context, wire: &WireToleration<'_>) -> Toleration {
    let exists = &*wire.operator == "Exists";
    Toleration {
        key: (!wire.key.is_empty()).then(|| context.names.symbol(&wire.key)),
        value: (!exists).then(|| context.names.symbol(&wire.value)),
        effect: effect(&wire.effect),
    }
}

/// Reads a term of a pod of the namespace `own`. Selectors of namespaces beyond the bound are not asked: the pod is refused.
fn pod_term(
    context: &mut Context,
    namespaces: &mut Namespaces,
    term: &WireTerm<'_>,
    own: &str,
) -> PodTerm {
    let topology_key = context.names.symbol(&term.topology_key);
    let mut named: Vec<Symbol> =
        term.namespaces.iter().map(|name| context.names.symbol(name)).collect();
    let mut namespace_selector = None;
    if let Some(wire) = &term.namespace_selector {
        if namespaces.count_read() < ELSEWHERE_MAX {
            let requirements = wire.requirements(&mut context.names);
            let own = context.names.symbol(own);
            namespace_selector = namespaces.selector(context, requirements, own);
        }
        if namespace_selector.is_none() {
            // No namespace has an empty name.
            named.push(Symbol::EMPTY);
        }
    } else if named.is_empty() {
        named.push(context.names.symbol(own));
    }
    named.sort_unstable();
    named.dedup();
    let selector = selector(context, term.label_selector.as_ref());
    PodTerm { topology_key, namespaces: named, namespace_selector, selector }
}

/// Works out what has to hold for the labels of pods; no selector selects no pod.
fn selector(context: &mut Context, wire: Option<&LabelSelector<'_>>) -> Vec<Requirement> {
    let selector = match wire {
        None => {
            vec![Requirement { key: Symbol::EMPTY, holds: Holds::In(Vec::new()) }]
        }
        Some(selector) => selector.requirements(&mut context.names),
    };
    for requirement in &selector {
        context.ask_for_pod_label(requirement.key);
    }
    selector
}
