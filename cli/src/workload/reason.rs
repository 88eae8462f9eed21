//! The numbers of reasons why work waits, and the short words for them.

use kai_api::names::{event, no_reservation, reason};

/// What each number of a verdict means.
const CODES: &[(&str, &str)] = &[
    ("KAI1201", "its queue does not exist, or is no queue that runs work"),
    ("KAI1202", "its queue has reached its limit"),
    ("KAI1203", "too little is free for all that has to start together"),
    ("KAI1204", "work that may not be evicted stays within the quota of its queue"),
    ("KAI1205", "enough GPUs are free, and not where one pod could use them together"),
    ("KAI1206", "no domain of its topology has room for it"),
    ("KAI1207", "pods of its gang are missing"),
    ("KAI1208", "it is held by gates or by its node pool"),
    ("KAI1209", "the nodes refuse it for another reason than room"),
    ("KAI1210", "a volume, or something that it refers to, is missing"),
    ("KAI1211", "no GPU can be shared as it asks for"),
    ("KAI1212", "it may not evict others yet"),
];

/// A line of an explanation; a number that stands alone gets its sentence.
pub(crate) fn explained(line: &str) -> String {
    match CODES.iter().find(|(code, _)| *code == line.trim()) {
        Some((code, sentence)) => format!("{code}: {sentence}"),
        None => line.to_owned(),
    }
}

/// Words in a message that tell more than the reason's code, and the word for it, the gravest first.
const TELLING: &[(&str, &str)] = &[
    // No node is as large, so it waits until one comes.
    ("is topped at", "TooLarge"),
    ("resources is topped", "TooLarge"),
    ("Reason: OverLimit", "OverLimit"),
    ("Reason: NonPreemptibleOverQuota", "OverQuota"),
    ("topology constraint error", "Topology"),
    ("Requested topology", "Topology"),
    ("couldn't be satisfied for job", "Topology"),
    ("has queues below it", "NoLeafQueue"),
];

/// The short word for a reason of the contract; that of a shared device is only in the message.
pub(super) fn word<'a>(code: &'a str, message: &str) -> &'a str {
    if no_reservation::ALL.iter().any(|words| message.contains(words)) {
        return "NoReservation";
    }
    // Several errors have no code of their own: the message begins with that of the first.
    let first = message.split(':').next().unwrap_or_default();
    for known in [code, first] {
        match known {
            reason::OVER_LIMIT => return "OverLimit",
            reason::NON_PREEMPTIBLE_OVER_QUOTA => return "OverQuota",
            reason::QUEUE_DOES_NOT_EXIST => return "NoQueue",
            reason::PREEMPTION_DELAY => return "PreemptionDelay",
            event::BINDING_ERROR => return "BindFailed",
            _ => {}
        }
    }
    if let Some((_, word)) = TELLING.iter().find(|(words, _)| message.contains(words)) {
        return word;
    }
    match code {
        "Not enough resources for the workload" | "PodSchedulingErrors" | "Unschedulable" => {
            if message.contains("annotation gpu-") || message.contains("annotation mps") {
                return "InvalidGpu";
            }
            "NoCapacity"
        }
        other => other.split_whitespace().next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_the_message_says() {
        for (code, message, expect) in [
            ("OverLimit", "own quota has reached the allowable limit of GPUs", "OverLimit"),
            ("Unschedulable", "OverLimit: own quota has reached the allowable limit", "OverLimit"),
            (
                "PodSchedulingErrors",
                "1 node does not have enough capacity. Reason: OverLimit, Details: own quota",
                "OverLimit",
            ),
            ("NonPreemptibleOverQuota", "Non-preemptible workload is over quota.", "OverQuota"),
            (
                "PodSchedulingErrors",
                "The pod n/p requires GPU: 9. Max GPU resources available in a single node in the default node-pool is topped at 8",
                "TooLarge",
            ),
            (
                "PodSchedulingErrors",
                "topology t, requirement rack couldn't be satisfied for job <n/pg>",
                "Topology",
            ),
            ("QueueDoesNotExist", "Queue 'x' does not exist", "NoQueue"),
            ("PodSchedulingErrors", "no nodes with enough resources were found", "NoCapacity"),
            ("PodSchedulingErrors", "annotation gpu-fraction: \"2\"", "InvalidGpu"),
            ("Something new", "x", "Something"),
        ] {
            assert_eq!(word(code, message), expect, "{code}: {message}");
        }
    }

    #[test]
    fn a_number_alone_gets_its_sentence() {
        assert_eq!(
            explained("KAI1203"),
            "KAI1203: too little is free for all that has to start together"
        );
        assert_eq!(explained("reclaim does not help"), "reclaim does not help");
    }
}
