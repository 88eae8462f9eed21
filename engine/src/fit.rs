//! May this pod run on that node, and which node is the best?

pub(crate) mod best_node;
pub(crate) mod devices;
pub(crate) mod filter;
pub(crate) mod pod_affinity;
pub(crate) mod preferences;
pub(crate) mod spread;
pub(crate) mod why;
pub(crate) mod zones;
