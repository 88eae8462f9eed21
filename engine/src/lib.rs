//! The scheduling engine: a pure function from cluster state to a plan.
