//! Ports of nodes that pods with a place use: who wants one asks for the nodes where it is taken, and looks at no pod there.

use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{NodeId, Symbol},
    },
    state::booking::Sign,
    told::pod::HostPort,
};

/// A port: its number, its protocol and its address; without one it stands for the port of any address that somebody names.
type Port = (u16, Symbol, Option<Symbol>);

/// A port that is used on so many nodes has these as a set, which is added to another at once, until it is used on half as many.
const DENSE: usize = 64;

/// To count a pod at a port costs as much as so many comparisons.
const COUNTED: u64 = 8;

/// Numbers of pods that use a port of a node.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Users {
    staying: u32,
    /// About to leave and not nominated again.
    leaving: u32,
}

/// Nodes on which ports are taken.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct TakenPorts {
    /// By pods that stay.
    pub(crate) now: IdSet<NodeId>,
    /// By pods that are about to leave.
    pub(crate) until_left: IdSet<NodeId>,
}

impl TakenPorts {
    fn assign(&mut self, node: NodeId, users: Users) {
        self.now.assign(node, users.staying > 0);
        self.until_left.assign(node, users.leaving > 0);
    }

    fn add(&mut self, node: NodeId, users: Users) {
        if users.staying > 0 {
            self.now.insert(node);
        }
        if users.leaving > 0 {
            self.until_left.insert(node);
        }
    }
}

/// Host ports in use, by node.
#[derive(Clone, Default, Debug)]
pub(crate) struct HostPorts {
    users: BTreeMap<(Port, NodeId), Users>,
    /// Numbers of nodes where a port is in use.
    nodes: BTreeMap<Port, usize>,
    /// Nodes of ports that are in use on [`DENSE`] of them or were since they were on half as many.
    dense: BTreeMap<Port, TakenPorts>,
}

impl PartialEq for HostPorts {
    /// Equal users; of which ports the nodes are kept as a set too does not count.
    fn eq(&self, other: &Self) -> bool {
        self.users == other.users && self.nodes == other.nodes
    }
}

impl HostPorts {
    /// Enters a pod with these ports on a node, or takes it back; gives the comparisons that it took.
    ///
    /// # Cost
    /// A few searches for each port.
    pub(super) fn count(
        &mut self,
        ports: &[HostPort],
        node: NodeId,
        leaves: bool,
        sign: Sign,
    ) -> u64 {
        for HostPort { port, protocol, address } in ports {
            self.count_port((*port, *protocol, Some(*address)), node, leaves, sign);
            if *address != Symbol::EMPTY {
                self.count_port((*port, *protocol, None), node, leaves, sign);
            }
        }
        COUNTED * ports.len() as u64
    }

    fn count_port(&mut self, port: Port, node: NodeId, leaves: bool, sign: Sign) {
        let row = self.users.entry((port, node)).or_default();
        let was = *row;
        sign.count(if leaves { &mut row.leaving } else { &mut row.staying });
        let users = *row;
        let (is_new, is_gone) = (was == Users::default(), users == Users::default());
        if is_gone {
            self.users.remove(&(port, node));
        }
        if let Some(taken) = self.dense.get_mut(&port) {
            taken.assign(node, users);
        }
        if is_new || is_gone {
            self.count_node(port, is_new);
        }
    }

    /// Counts a node more, or less, where a port is in use.
    fn count_node(&mut self, port: Port, is_new: bool) {
        let nodes = self.nodes.entry(port).or_default();
        *nodes = *nodes + usize::from(is_new) - usize::from(!is_new);
        let nodes = *nodes;
        if nodes == 0 {
            self.nodes.remove(&port);
        }
        if nodes < DENSE / 2 {
            self.dense.remove(&port);
        } else if nodes >= DENSE && !self.dense.contains_key(&port) {
            let mut taken = TakenPorts::default();
            for (node, users) in self.of(port) {
                taken.add(node, users);
            }
            self.dense.insert(port, taken);
        }
    }

    fn of(&self, port: Port) -> impl Iterator<Item = (NodeId, Users)> {
        let users = self.users.range((port, NodeId::new(0))..);
        let of_port = users.take_while(move |((one, _), _)| *one == port);
        of_port.map(|((_, node), users)| (*node, *users))
    }

    /// Finds the nodes where a pod that wants these ports is not alone with one; gives the comparisons that it took.
    ///
    /// # Cost
    /// For each port two searches, and a step for each 64 nodes.
    pub(crate) fn taken(&self, ports: &[HostPort]) -> (TakenPorts, u64) {
        let (mut taken, mut compared) = (TakenPorts::default(), 0);
        for HostPort { port, protocol, address } in ports {
            // A port of all addresses is that of each.
            let own = if *address == Symbol::EMPTY { None } else { Some(*address) };
            for address in [own, Some(Symbol::EMPTY)] {
                let port = (*port, *protocol, address);
                compared += 1;
                if let Some(dense) = self.dense.get(&port) {
                    compared += 1;
                    taken.now.unite(&dense.now);
                    taken.until_left.unite(&dense.until_left);
                    continue;
                }
                for (at, (node, users)) in self.of(port).enumerate() {
                    compared += u64::from(at.is_multiple_of(8));
                    taken.add(node, users);
                }
            }
        }
        (taken, compared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Symbol = Symbol::EMPTY;

    fn port(port: u16, address: Symbol) -> HostPort {
        HostPort { port, protocol: Symbol::new(1), address }
    }

    #[test]
    fn a_port_of_all_addresses_is_that_of_each() {
        let [one, other] = [2, 3].map(Symbol::new);
        for (theirs, ours, is_taken) in [
            (port(80, ALL), port(80, ALL), true),
            (port(80, ALL), port(80, one), true),
            (port(80, one), port(80, ALL), true),
            (port(80, one), port(80, one), true),
            (port(80, one), port(80, other), false),
            (port(80, ALL), port(81, ALL), false),
            (port(80, ALL), HostPort { protocol: other, ..port(80, ALL) }, false),
        ] {
            let mut ports = HostPorts::default();
            let node = NodeId::new(7);
            for leaves in [false, true] {
                ports.count(&[theirs], node, leaves, Sign::Plus);
                let (taken, _) = ports.taken(&[ours]);
                let found = if leaves { &taken.until_left } else { &taken.now };
                assert_eq!(found.contains(node), is_taken, "{theirs:?} {ours:?}");
                assert_eq!(taken.now.is_empty() && taken.until_left.is_empty(), !is_taken);
                ports.count(&[theirs], node, leaves, Sign::Minus);
            }
            assert_eq!(ports, HostPorts::default());
        }
    }

    /// A user may have pods with 256 ports on every node.
    #[test]
    fn a_port_of_many_nodes_costs_no_look_at_each() {
        let (mut ports, own) = (HostPorts::default(), [port(80, ALL)]);
        let nodes = || (0..4000).map(NodeId::new);
        for (before, node) in nodes().enumerate() {
            let (taken, compared) = ports.taken(&own);
            assert_eq!(taken.now.len(), before);
            assert!(compared <= 16, "{compared} comparisons");
            ports.count(&own, node, false, Sign::Plus);
        }
        for (gone, node) in nodes().enumerate() {
            ports.count(&own, node, false, Sign::Minus);
            assert_eq!(ports.taken(&own).0.now.len(), 3999 - gone);
        }
        assert_eq!(ports, HostPorts::default());
    }

    /// However many nodes a port is used on, it is not free before its pods are gone.
    #[test]
    fn a_port_of_many_nodes_is_taken_until_its_pods_have_left() {
        let (mut ports, own) = (HostPorts::default(), [port(80, ALL)]);
        let nodes = || (0..128).map(NodeId::new);
        for (before, node) in nodes().enumerate() {
            let (taken, _) = ports.taken(&own);
            assert_eq!((taken.now.len(), taken.until_left.len()), (0, before));
            ports.count(&own, node, true, Sign::Plus);
        }
        for (stays, node) in nodes().enumerate() {
            ports.count(&own, node, true, Sign::Minus);
            ports.count(&own, node, false, Sign::Plus);
            let (taken, _) = ports.taken(&own);
            assert_eq!((taken.now.len(), taken.until_left.len()), (stays + 1, 127 - stays));
        }
    }
}
