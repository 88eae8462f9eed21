//! Numbers, sets and tables that know nothing of scheduling.

pub(crate) mod buckets;
pub(crate) mod few;
pub(crate) mod few_map;
pub(crate) mod id_set;
pub mod ids;
pub(crate) mod lane_table;
pub(crate) mod min_set;
pub(crate) mod resources;
pub(crate) mod time;
