//! The numbers of reasons why work waits, and the short words for them.

use kai_api::names::{event, no_reservation, reason};

/// The numbers of reasons, by the words that tables show; for schedulers that do not say the number themselves.
const NUMBERS: &[(&str, &str)] = &[
    ("NoQueue", "KAI1201"),
    ("NoLeafQueue", "KAI1201"),
    ("OverLimit", "KAI1202"),
    ("NoCapacity", "KAI1203"),
    ("OverQuota", "KAI1204"),
    ("Topology", "KAI1206"),
    ("GangIncomplete", "KAI1207"),
    ("NoPods", "KAI1207"),
    ("InvalidGpu", "KAI1211"),
    ("NoReservation", "KAI1211"),
    ("PreemptionDelay", "KAI1212"),
    ("TooLarge", "KAI1220"),
];

/// The number of a reason by its word, where it has one.
pub(crate) fn number(word: Option<&str>) -> Option<&'static str> {
    let word = word?;
    NUMBERS.iter().find(|(known, _)| *known == word).map(|(_, number)| *number)
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
}
