//! Objects that are there and cannot be read: what was known of them stays true until it is known better.

use super::{
    Ingest, Kind,
    kind::{decode, key},
    object::Named,
};

impl Ingest {
    /// Notes that an object is there, whatever it says now. The end of a full list would take it for gone otherwise, and give
    /// the room of a pod that runs to others.
    pub(super) fn unread(&mut self, kind: Kind, bytes: &[u8]) {
        let Ok(Named { metadata: meta }) = decode::<Named<'_>>(bytes) else { return };
        let generation = self.context.generation(kind);
        let names = &mut self.context.names;
        macro_rules! seen {
            ($table:ident, $key:expr) => {
                if let Some(row) = names.$table.find($key) {
                    names.$table[row].presence.generation = generation;
                }
            };
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "nobody holds room through the others")]
        match kind {
            Kind::Pod => seen!(pods, &meta.uid),
            Kind::Node => seen!(nodes, &meta.name),
            Kind::Queue => seen!(queues, &meta.name),
            Kind::PodGroup => seen!(groups, &key(&meta)),
            Kind::ResourceClaim => seen!(claims, &key(&meta)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::Delta;
    use serde_json::json;

    use super::{Ingest, Kind};
    use crate::{Args, ingest::Rules};

    #[test]
    fn what_cannot_be_read_any_more_is_not_gone() {
        let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
        let mut ingest = Ingest::new(Rules::new(&args));
        let pod = |uid: &str, phase: serde_json::Value| {
            json!({
                "metadata": { "name": uid, "namespace": "ml", "uid": uid },
                "spec": { "nodeName": "n1", "containers": [] },
                "status": { "phase": phase },
            })
            .to_string()
        };
        let uids = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"];
        ingest.begin(Kind::Pod);
        for uid in uids {
            let running = pod(uid, json!("Running"));
            ingest.applied(Kind::Pod, running.as_bytes()).expect("the pod can be read");
        }
        ingest.end(Kind::Pod);
        ingest.context.deltas.clear();
        ingest.begin(Kind::Pod);
        let unreadable = pod(uids[0], json!({ "is": "Running" }));
        ingest.applied(Kind::Pod, unreadable.as_bytes()).expect_err("its phase is no text");
        ingest.end(Kind::Pod);
        let gone = ingest.context.deltas.iter().filter(|one| matches!(one, Delta::PodGone(_)));
        assert_eq!(gone.count(), 1, "the one that was not listed");
    }
}
