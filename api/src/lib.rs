//! CRD types, names of labels, annotations and resources; quantities. No client, no tokio.
