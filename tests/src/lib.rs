//! Tests that cross crates, and the harness they share.
