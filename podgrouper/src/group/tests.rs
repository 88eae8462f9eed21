//! The golden vectors of the rules.
