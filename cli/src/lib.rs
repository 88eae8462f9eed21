//! The `kubectl kai` plugin.
