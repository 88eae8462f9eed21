//! The shared devices on the screen: what the pods have of each, with whom, and what does not protect them.

use crate::print::page::Page;
use crate::workload::devices::{self, OnDevice};
use crate::workload::{Workload, is_over};

/// More devices than anybody reads.
const SHOWN: usize = 32;

/// Adds a row for each device.
pub(super) fn add(page: &mut Page, workload: &Workload) {
    for (i, on) in workload.devices.iter().take(SHOWN).enumerate() {
        page.row(if i == 0 { "Devices" } else { "" }, &device_line(on));
        if let Some(group) = &on.group {
            page.row("", &format!("  group {group}{}", company(on)));
        }
    }
    if workload.devices.len() > SHOWN {
        let more = workload.devices.len() - SHOWN;
        page.row("", &format!("and {more} more: kubectl kai describe -o json"));
    }
    let live = workload.pods.iter().filter(|pod| !is_over(pod));
    if live.clone().any(devices::is_memory_unlimited) {
        let note = "nothing keeps a process to its share of the device's memory: one that takes more takes it from \
            its neighbours";
        page.row("Note", note);
    }
}

fn device_line(on: &OnDevice) -> String {
    format!("{}: {} of {}", on.pod, on.share, on.place())
}

/// Says who else is on the device, as far as it could be seen.
fn company(on: &OnDevice) -> String {
    match (on.beside.as_slice(), on.is_beside_known) {
        ([], true) => String::from(", alone on it"),
        ([], false) => String::from(", others not readable"),
        (others, true) => format!(", beside {}", others.join(", ")),
        (others, false) => {
            format!(", beside {} and others, not readable", others.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::workload::devices::{Seen, of_pod, reservations};

    fn pod(name: &str, annotations: &Value) -> Value {
        let (namespace, name) = name.split_once('/').expect("namespace/name");
        json!({
            "metadata": {"namespace": namespace, "name": name, "uid": name, "annotations": annotations,
                "labels": {"app": "kai-resource-reservation", "runai-gpu-group": "g"}},
            "spec": {"nodeName": "node-1", "containers": [{"name": "c"}]},
            "status": {"phase": "Running"},
        })
    }

    const NOTE: &str = "Note       nothing keeps a process to its share of the device's memory: one that takes more \
        takes it from its neighbours";

    /// Checks what is said about the devices of `default/ana` among these pods.
    fn check(ana: &Value, around: &[Value], is_complete: bool, expect: &[&str]) {
        let ana = pod("default/ana", ana);
        let around = around.to_vec();
        let reservations = is_complete.then(|| reservations(&around));
        let seen = Seen { reservations, around, is_complete, ..Seen::default() };
        let mut workload = Workload::of_pod(&ana);
        workload.pods.push(ana.clone());
        workload.devices = of_pod(&ana, &seen);
        let mut page = Page::new(1000);
        add(&mut page, &workload);
        let page = anstream::adapter::strip_str(&page.text).to_string();
        assert_eq!(page.lines().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_sharer_is_told_its_device_its_share_and_its_company() {
        let half = json!({"gpu-fraction": "0.5"});
        let held =
            pod("kai-resource-reservation/r", &json!({"run.ai/reserve_for_gpu_index": "GPU-1a2b"}));
        let ben = pod("default/ben", &half);
        check(
            &half,
            &[held.clone(), ben.clone()],
            true,
            &[
                "Devices    ana: 0.5 of GPU-1a2b on node-1",
                "             group g, beside default/ben 0.5",
                NOTE,
            ],
        );
        let mps = json!({"gpu-memory": "8192", "mps": "true"});
        check(
            &mps,
            &[held],
            true,
            &[
                "Devices    ana: 8Gi of GPU-1a2b on node-1",
                "             group g, alone on it",
                NOTE,
            ],
        );
        check(
            &half,
            &[],
            false,
            &[
                "Devices    ana: 0.5 of a GPU on node-1, device not readable",
                "             group g, others not readable",
                NOTE,
            ],
        );
        check(
            &half,
            &[ben],
            false,
            &[
                "Devices    ana: 0.5 of a GPU on node-1, device not readable",
                "             group g, beside default/ben 0.5 and others, not readable",
                NOTE,
            ],
        );
    }
}
