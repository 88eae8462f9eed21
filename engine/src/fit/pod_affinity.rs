//! Where a pod may go for the sake of the pods that are there: affinity, anti-affinity, host ports.
//!
//! # Source
//! spec/scheduling.md 10.2, check 6, and the Kubernetes filters `InterPodAffinity` and `NodePorts`. Pods that are
//! leaving count now and not later (14.3, Q38).

use std::collections::BTreeSet;

use crate::{
    base::ids::{GroupId, NodeId, PodId, Symbol},
    decided::{plan::Misfit, when::When},
    fit::spread::Standing,
    state::{Cluster, rows::Phase, shape::ShapeRow},
    told::pod::PodTerm,
};

/// Domains by node label: key and value.
type Spots = BTreeSet<(Symbol, Symbol)>;

/// What the company of others means for one pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct Company {
    /// Node labels that its affinity terms name: a node has to have each.
    near: Vec<Symbol>,
    /// The domains of the pods that it wants to be near; none where it is the first of them.
    near_by: Option<Spots>,
    /// Domains that its own terms forbid now and later.
    far: Spots,
    /// Domains that the terms of others forbid now and later.
    barred: Spots,
    /// Domains that are forbidden until pods left.
    far_now: Spots,
    /// How topology spread stands.
    pub(crate) spread: Vec<Standing>,
}

impl Cluster {
    /// Looks round for a pod, where it or others are particular about company.
    ///
    /// # Cost
    /// In the number of pods on nodes, for pods with terms; in the number of pods with anti-affinity, for all others.
    #[inline]
    pub(crate) fn company(&mut self, pod: PodId) -> Option<Company> {
        let social = self.shapes[self.pods[pod].shape].is_social();
        (social || !self.antisocial.is_empty()).then(|| self.look_round(pod))
    }

    #[inline(never)]
    fn look_round(&mut self, pod: PodId) -> Company {
        let id = self.pods[pod].shape;
        self.know_domains(id);
        let shape = &self.shapes[id];
        let mut company = Company::default();
        let terms = &shape.facts.pod_affinity;
        if !terms.is_empty() {
            let spots = self.spots_of_those_meant(pod, terms);
            let first = spots.is_empty() && self.is_meant_by_all(pod, terms, pod);
            company.near = terms.iter().map(|term| term.topology_key).collect();
            company.near_by = (!first).then_some(spots);
        }
        for term in &shape.facts.pod_anti_affinity {
            let mut leaving = Spots::new();
            let mut staying = Spots::new();
            self.each_match(pod, term, &mut |other, spot| {
                let spots = if self.leaves(other) { &mut leaving } else { &mut staying };
                spots.insert(spot);
            });
            company.far.extend(staying);
            company.far_now.extend(leaving);
        }
        for other in self.antisocial.iter().filter(|other| **other != pod) {
            for term in &self.shapes[self.pods[*other].shape].facts.pod_anti_affinity {
                if self.matches(pod, term, *other) {
                    let spots =
                        self.nodes_of(*other).filter_map(|node| self.spot(node, term.topology_key));
                    let far = if self.leaves(*other) {
                        &mut company.far_now
                    } else {
                        &mut company.barred
                    };
                    far.extend(spots);
                }
            }
        }
        company.spread = self.spread_standings(pod);
        company
    }

    /// Whether a pod of a group that is to be placed is not welcome somewhere for its labels: what holds for it need not
    /// hold for groups with others.
    ///
    /// # Cost
    /// In the number of pods with anti-affinity times that of the pods to be placed.
    pub(crate) fn is_shunned(&self, group: GroupId) -> bool {
        if self.antisocial.is_empty() {
            return false;
        }
        let pods = self.to_place(group);
        // Groups that are particular themselves are no class with others.
        let social = pods.iter().any(|pod| self.shapes[self.pods[*pod].shape].is_social());
        let minds = |other: &PodId, pod: PodId| {
            let terms = &self.shapes[self.pods[*other].shape].facts.pod_anti_affinity;
            terms.iter().any(|term| self.matches(pod, term, *other))
        };
        !social && pods.into_iter().any(|pod| self.antisocial.iter().any(|other| minds(other, pod)))
    }

    /// Whether a pod may join the company on a node: now, later, or why not.
    pub(crate) fn joins(
        &self,
        shape: &ShapeRow,
        company: &Company,
        node: NodeId,
    ) -> Result<When, Misfit> {
        let near = company.near.iter().all(|key| {
            let is_near = |spot| company.near_by.as_ref().is_none_or(|spots| spots.contains(&spot));
            self.spot(node, *key).is_some_and(is_near)
        });
        if !near {
            return Err(Misfit::Affinity);
        }
        let labels = self.nodes.facts[node].as_ref().map_or(&[][..], |facts| &facts.labels);
        let within = |spots: &Spots| {
            !spots.is_empty()
                && labels.iter().any(|label| spots.contains(&(label.key, label.value)))
        };
        if within(&company.far) {
            return Err(Misfit::AntiAffinity);
        }
        if within(&company.barred) {
            return Err(Misfit::Barred);
        }
        if !self.spreads(&company.spread, node) {
            return Err(Misfit::Spread);
        }
        let mut room = if within(&company.far_now) { When::Later } else { When::Now };
        if !shape.facts.ports.is_empty() {
            for other in &self.nodes.pods[node] {
                if self.clash(shape, *other) {
                    if !self.leaves(*other) {
                        return Err(Misfit::Port);
                    }
                    room = When::Later;
                }
            }
        }
        Ok(room)
    }

    fn clash(&self, shape: &ShapeRow, other: PodId) -> bool {
        let theirs = &self.shapes[self.pods[other].shape].facts.ports;
        shape.facts.ports.iter().any(|ours| {
            theirs.iter().any(|theirs| {
                let address = ours.address == theirs.address
                    || ours.address == Symbol::EMPTY
                    || theirs.address == Symbol::EMPTY;
                ours.port == theirs.port && ours.protocol == theirs.protocol && address
            })
        })
    }

    /// The domains, by the labels that affinity terms name, of pods that stay and that all of the terms mean.
    ///
    /// # Source
    /// The Kubernetes filter `InterPodAffinity`: a pod that only some of the terms mean counts for none of them.
    fn spots_of_those_meant(&self, pod: PodId, terms: &[PodTerm]) -> Spots {
        let mut spots = Spots::new();
        for (node, pods) in self.nodes.pods.iter() {
            let mut others = pods.iter().filter(|other| **other != pod);
            // A pod that leaves is no company to seek.
            if others.any(|other| !self.leaves(*other) && self.is_meant_by_all(*other, terms, pod))
            {
                spots.extend(terms.iter().filter_map(|term| self.spot(node, term.topology_key)));
            }
        }
        spots
    }

    /// Whether all of some terms of `of` mean `pod`.
    fn is_meant_by_all(&self, pod: PodId, terms: &[PodTerm], of: PodId) -> bool {
        terms.iter().all(|term| self.matches(pod, term, of))
    }

    /// The domains of pods that a term means, of those that stay.
    pub(crate) fn each_stayer(
        &self,
        pod: PodId,
        term: &PodTerm,
        found: &mut dyn FnMut((Symbol, Symbol)),
    ) {
        self.each_match(pod, term, &mut |other, spot| {
            if !self.leaves(other) {
                found(spot);
            }
        });
    }

    fn each_match(
        &self,
        pod: PodId,
        term: &PodTerm,
        found: &mut dyn FnMut(PodId, (Symbol, Symbol)),
    ) {
        for (node, pods) in self.nodes.pods.iter() {
            if pods.is_empty() {
                continue;
            }
            let Some(spot) = self.spot(node, term.topology_key) else { continue };
            for other in pods.iter().filter(|other| **other != pod) {
                if self.matches(*other, term, pod) {
                    found(*other, spot);
                }
            }
        }
    }

    /// Whether a term of `of` means `pod`.
    pub(crate) fn matches(&self, pod: PodId, term: &PodTerm, of: PodId) -> bool {
        let facts = &self.pods[pod];
        let here = if term.namespaces.is_empty() {
            facts.namespace == self.pods[of].namespace
        } else {
            term.namespaces.contains(&facts.namespace)
        };
        here && facts.is_selected(&term.selector)
    }

    /// The domain of a node by one of its labels.
    pub(crate) fn spot(&self, node: NodeId, key: Symbol) -> Option<(Symbol, Symbol)> {
        let facts = self.nodes.facts.get(node)?.as_ref()?;
        facts.labels.iter().find(|label| label.key == key).map(|label| (key, label.value))
    }

    /// Whether a pod is about to leave its node and was not promised it again.
    fn leaves(&self, pod: PodId) -> bool {
        let state = &self.pods.state[pod];
        state.phase == Phase::Releasing && state.nominee.is_none()
    }

    fn nodes_of(&self, pod: PodId) -> impl Iterator<Item = NodeId> + use<> {
        let state = &self.pods.state[pod];
        let node = |place: &Option<crate::Place>| place.as_ref().map(|place| place.node);
        [node(&state.nominee), node(&state.place)].into_iter().flatten()
    }
}
