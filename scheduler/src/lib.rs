//! Kubernetes I/O around the engine: ingest, plan, actuate.
