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
    use serde_json::{Value, json};

    use super::{Ingest, Kind};
    use crate::{Args, ingest::Rules};

    /// Compares how many objects of a kind are gone after a list with one that cannot be read and without the other.
    fn check(kind: Kind, rest: &Value, unreadable: &Value) {
        let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
        let mut ingest = Ingest::new(Rules::new(&args));
        let object = |number: u32, rest: &Value| {
            let uid = format!("00000000-0000-0000-0000-{number:012}");
            let mut object = rest.clone();
            object["metadata"] = json!({ "name": uid, "namespace": "ml", "uid": uid });
            object.to_string()
        };
        ingest.begin(kind);
        for number in [1, 2] {
            let readable = object(number, rest);
            ingest.applied(kind, readable.as_bytes()).expect("it can be read");
        }
        ingest.end(kind);
        ingest.context.deltas.clear();
        ingest.begin(kind);
        let unreadable = object(1, unreadable);
        ingest.applied(kind, unreadable.as_bytes()).expect_err("it is not what its kind says");
        ingest.end(kind);
        let is_gone = |delta: &&Delta| {
            matches!(
                delta,
                Delta::PodGone(_)
                    | Delta::NodeGone(_)
                    | Delta::QueueGone(_)
                    | Delta::GroupGone(_)
                    | Delta::ClaimGone(_)
            )
        };
        let gone = ingest.context.deltas.iter().filter(is_gone).count();
        assert_eq!(gone, 1, "{kind}: the one that was not listed");
    }

    #[test]
    fn what_cannot_be_read_any_more_is_not_gone() {
        let running = |phase: Value| json!({ "spec": { "nodeName": "n1", "containers": [] }, "status": { "phase": phase } });
        check(Kind::Pod, &running(json!("Running")), &running(json!({ "is": "Running" })));
        for kind in [Kind::Node, Kind::Queue, Kind::PodGroup, Kind::ResourceClaim] {
            check(kind, &json!({}), &json!({ "spec": "text", "status": "text" }));
        }
    }
}
