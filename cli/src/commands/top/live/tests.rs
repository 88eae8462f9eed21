//! The view as somebody sees it: keys are pressed, and what is drawn is compared with `cli/tests/screens`, which
//! `KAI_BLESS=1` writes.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Modifier;
use serde_json::{Value, json};

use super::draw;
use super::look::Look;
use super::picture::{Parts, Picture};
use super::screen::{Act, Key, Screen};
use crate::cluster::queue::Queues;
use crate::commands::queues::{Told, Use};
use crate::commands::top::nodes::{self, Scene};
use crate::workload::devices::{Seen, reservations};
use crate::workload::{Position, Workload};

/// When the cluster is looked at.
const NOW: &str = "2026-01-01T12:00:00Z";

/// So many nodes of eight GPUs; the second is cordoned.
fn nodes_of(count: usize) -> Vec<Value> {
    let node = |at: usize| {
        json!({
            "metadata": {"name": format!("gpu-{at:02}"), "labels": {"nvidia.com/gpu.product": "H100-80GB", "nvidia.com/gpu.memory": "81559"}},
            "spec": {"unschedulable": at == 2},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}, "capacity": {"nvidia.com/gpu": "8"},
                "conditions": [{"type": "Ready", "status": "True"}]},
        })
    };
    (1..=count).map(node).collect()
}

/// A pod of a workload with whole GPUs or a part of one, on a node or on none.
fn pod(name: &str, gpus: &str, node: &str) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "namespace": "ml", "uid": name, "labels": {}, "annotations": {},
            "creationTimestamp": "2026-01-01T11:18:00Z"},
        "spec": {"containers": [{"name": "main", "resources": {}}]},
        "status": {"phase": if node.is_empty() { "Pending" } else { "Running" },
            "conditions": [{"type": "Ready", "status": "True"}]},
    });
    if !node.is_empty() {
        pod["spec"]["nodeName"] = json!(node);
    }
    if gpus.starts_with("0.") {
        pod["metadata"]["annotations"]["gpu-fraction"] = json!(gpus);
        pod["metadata"]["labels"]["runai-gpu-group"] = json!("group-1");
    } else {
        pod["spec"]["containers"][0]["resources"]["limits"] = json!({"nvidia.com/gpu": gpus});
    }
    pod
}

/// A workload of some pods in a queue.
fn work(name: &str, queue: &str, pods: Vec<Value>) -> Workload {
    let mut workload = Workload::of_pod(&pods[0]);
    workload.name = name.to_owned();
    workload.queue = queue.to_owned();
    workload.resource.kind = "PyTorchJob".to_owned();
    workload.pods = pods;
    workload
}

/// One that waits, with its place and why.
fn waits(name: &str, queue: &str, gpus: &str, place: usize, why: &str) -> Workload {
    let mut workload = work(name, queue, vec![pod(&format!("{name}-0"), gpus, "")]);
    workload.position = Some(Position { place, of: 2 });
    let told = json!({"version": 1, "code": "KAI1203", "reason": "NoCapacity", "sentence": why});
    workload.explanation = kai_api::explanation::Explanation::read(&told.to_string());
    workload
}

fn works() -> Vec<Workload> {
    let llama = (0..2).map(|at| pod(&format!("llama-{at}"), "8", &format!("gpu-0{}", at + 3)));
    vec![
        work("llama-ft", "team-a", llama.collect()),
        work("tune", "team-a", vec![pod("tune-0", "3", "gpu-01")]),
        work("nb-ana", "team-b", vec![pod("nb-ana-0", "0.5", "gpu-01")]),
        work("nb-ben", "team-b", vec![pod("nb-ben-0", "0.25", "gpu-01")]),
        waits("big", "team-a", "8", 2, "it needs 4 whole nodes at once, none is free"),
        waits("next", "team-a", "8", 1, "it needs 8 GPUs on one node, 4 GPUs are free"),
        waits("\u{1b}[31mred", "team-b", "1", 1, "queue team-b is at its limit\u{7}"),
    ]
}

fn queues() -> (Queues, Told) {
    let queue = |name: &str, parent: &str, quota: i64| {
        json!({"metadata": {"name": name, "uid": "a"}, "spec": {"parentQueue": parent,
            "resources": {"gpu": {"quota": quota, "limit": -1, "overQuotaWeight": 1}}}})
    };
    let queues = Queues::read(vec![
        queue("research", "", 24),
        queue("team-a", "research", 16),
        queue("team-b", "research", 8),
    ]);
    let of = |used: u64, pending: u64| {
        let mut held = Use::default();
        held.used.milli = used;
        held.pending.milli = pending;
        held
    };
    let uses: BTreeMap<String, Use> = [
        ("research".to_owned(), of(19_750, 17_000)),
        ("team-a".to_owned(), of(19_000, 16_000)),
        ("team-b".to_owned(), of(750, 1000)),
    ]
    .into();
    let shares = [("research".to_owned(), 32_000), ("team-a".to_owned(), 22_000)].into();
    (queues, Told { uses: Some(uses), shares: Some(shares), is_brief: false })
}

/// The screen of a cluster of so many nodes.
fn screen(count: usize) -> Screen {
    let (objects, works, (queues, told)) = (nodes_of(count), works(), queues());
    let mut reservation = pod("reservation", "0.5", "gpu-01");
    reservation["metadata"]["namespace"] = json!("kai-resource-reservation");
    reservation["metadata"]["labels"]["app"] = json!("kai-resource-reservation");
    reservation["metadata"]["annotations"]["run.ai/reserve_for_gpu_index"] = json!("GPU-1a2b3c4d");
    let mut pods: Vec<Value> = works.iter().flat_map(|work| work.pods.clone()).collect();
    pods.retain(|pod| pod["spec"]["nodeName"].is_string());
    pods.push(reservation);
    let seen =
        Seen { is_complete: true, reservations: Some(reservations(&pods)), ..Seen::default() };
    let scene = Scene { nodes: Some(&objects), pods: pods.iter().collect(), seen: &seen };
    let parts = Parts {
        place: "prod",
        namespace: None,
        nodes: &nodes::nodes(&scene),
        queues: &queues,
        told: &told,
        works: &works,
        notes: Vec::new(),
    };
    let mut screen = Screen::default();
    screen.show(Picture::of(parts));
    screen
}

/// Says what is seen after some keys: `<w>` is the key w, `<Down>` the arrow.
fn seen(screen: &mut Screen, size: [u16; 2], look: Look, keys: &[Key]) -> String {
    let [width, height] = size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("it is in memory");
    let now: Timestamp = NOW.parse().expect("it is a time");
    let mut paint = |screen: &mut Screen| {
        terminal.draw(|frame| draw::draw(screen, look, now, frame)).expect("it is in memory");
    };
    paint(screen);
    for key in keys {
        let _act = screen.press(*key);
        paint(screen);
    }
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for row in buffer.content().chunks(usize::from(width)) {
        let mut line = String::new();
        let mut is_reversed = false;
        for cell in row {
            if cell.modifier.contains(Modifier::REVERSED) != is_reversed {
                is_reversed = !is_reversed;
                line.push(if is_reversed { '[' } else { ']' });
            }
            line += cell.symbol();
        }
        if is_reversed {
            line.push(']');
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

const PLAIN: Look = Look { is_ascii: false, is_colored: true };
const ASCII: Look = Look { is_ascii: true, is_colored: false };

#[test]
fn screens_look_as_drawn() {
    use Key::{Char, Down, Enter, Escape, Tab};
    let typed = |text: &str| text.chars().map(Char).collect::<Vec<_>>();
    for (name, nodes, size, look, keys) in [
        ("waiting-80x24", 4, [80, 24], PLAIN, vec![]),
        ("all-80x24", 4, [80, 24], PLAIN, vec![Char('w')]),
        ("nodes-80x24", 4, [80, 24], PLAIN, vec![Tab]),
        ("queues-80x24", 4, [80, 24], PLAIN, vec![Tab, Tab, Down]),
        ("filter-80x24", 4, [80, 24], PLAIN, [typed("/team-b"), vec![Enter, Char('w')]].concat()),
        ("typing-80x24", 4, [80, 24], PLAIN, typed("/zzz")),
        ("help-80x24", 4, [80, 24], PLAIN, vec![Char('?')]),
        ("ascii-80x24", 4, [80, 24], ASCII, vec![Char('w'), Down]),
        ("crowd-80x24", 300, [80, 24], PLAIN, vec![Tab, Down, Down, Key::PageDown]),
        ("waiting-200x60", 300, [200, 60], PLAIN, vec![]),
        ("all-200x60", 4, [200, 60], PLAIN, vec![Char('w'), Escape]),
        ("low-80x8", 4, [80, 8], PLAIN, vec![]),
    ] {
        let drawn = seen(&mut screen(nodes), size, look, &keys);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
        let file = folder.join(format!("{name}.txt"));
        if std::env::var_os("KAI_BLESS").is_some() {
            std::fs::write(&file, &drawn).expect("the sources are writable");
        }
        let expect = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(drawn == expect, "{name} is drawn as\n{drawn}");
        assert!(!drawn.contains('\u{1b}'), "{name} has what a terminal would obey");
        if look.is_ascii {
            assert!(drawn.is_ascii(), "{name} is ASCII");
        }
    }
}

/// Checks which command some keys ask for.
fn check(keys: &[Key], expect: &str) {
    let mut screen = screen(4);
    seen(&mut screen, [80, 24], PLAIN, &[]);
    let acts: Vec<Act> = keys.iter().map(|key| screen.press(*key)).collect();
    let said = match acts.last() {
        Some(Act::Ask(asked)) => asked.title(),
        Some(Act::Quit) => "quit".to_owned(),
        Some(Act::Interrupt) => "interrupt".to_owned(),
        Some(Act::Nothing) | None => String::new(),
    };
    assert_eq!(said, expect, "{keys:?}");
}

#[test]
fn keys_ask_about_what_is_chosen() {
    use Key::{BackTab, Char, Down, Enter, Escape, Home, Interrupt, Right, Tab, Up};
    check(&[Char('e')], "kubectl kai explain pytorchjob/next -n ml");
    check(&[Down, Char('d')], "kubectl kai describe pytorchjob/big -n ml");
    check(&[Down, Up, Enter], "kubectl kai describe pytorchjob/next -n ml");
    check(&[Char('w'), Char('l')], "kubectl kai logs pytorchjob/next --tail 200 -n ml");
    check(&[Char('w'), Home, Char('l')], "kubectl kai logs pytorchjob/llama-ft --tail 200 -n ml");
    check(&[Tab, Enter], "kubectl kai top gpus --node gpu-01");
    check(&[Tab, Right, Char('e')], "kubectl kai explain node/gpu-02");
    check(&[BackTab, Char('e')], "kubectl kai explain queue/research");
    check(&[BackTab, Down, Char('d')], "kubectl kai explain queue/team-a");
    check(&[Char('q')], "quit");
    check(&[Char('/'), Char('q')], "");
    check(&[Char('/'), Char('q'), Interrupt], "interrupt");
    check(&[Char('e'), Char('q')], "");
    check(&[Char('?'), Escape, Char('q')], "quit");
    check(&[Char('/'), Char('z'), Char('z'), Enter, Char('e')], "");
}

#[test]
fn what_is_chosen_stays_chosen_when_others_come() {
    let mut screen = screen(4);
    seen(&mut screen, [80, 24], PLAIN, &[Key::Down]);
    let chosen = screen.work().map(|work| work.name.clone());
    let mut picture = screen.picture.clone();
    let mut first = picture.works[0].clone();
    (first.name, first.waits, first.place) = ("aaa".to_owned(), true, Some(0));
    picture.works.push(first);
    screen.show(picture);
    assert_eq!(screen.work().map(|work| work.name.clone()), chosen);
}

#[test]
fn a_workload_keeps_its_letter_while_it_holds_devices() {
    let mut screen = screen(4);
    let letter = |screen: &Screen, name: &str| {
        let at = screen.picture.works.iter().position(|work| work.name == name);
        screen.letters[at.expect("it is there")]
    };
    let before = letter(&screen, "tune");
    assert_eq!(letter(&screen, "llama-ft"), Some('a'), "the largest is the first");
    let mut picture = screen.picture.clone();
    let mut large = picture.works[0].clone();
    (large.name, large.held_milli) = ("larger".to_owned(), 99_000);
    picture.works.push(large);
    picture.works.retain(|work| work.name != "llama-ft");
    screen.show(picture);
    assert_eq!(letter(&screen, "tune"), before);
    assert_eq!(letter(&screen, "larger"), Some('a'), "a letter that is free again");
}

#[test]
fn only_what_the_view_shows_is_kept_of_pods_and_templates() {
    let mut pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n", "volumes": [],
        "tolerations": [], "containers": [{"name": "c", "env": [], "resources": {"limits": {}}}]}});
    super::read::slim(&mut pod);
    assert_eq!(
        pod,
        json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n",
            "containers": [{"name": "c", "resources": {"limits": {}}}]}})
    );
    let mut ran = json!({"status": {"phase": "Failed", "qosClass": "Burstable",
        "containerStatuses": [{"name": "c", "imageID": "i", "state": {"terminated": {"exitCode": 3}}}]}});
    super::read::slim(&mut ran);
    let mut runs = json!({"metadata": {"uid": "u", "generation": 3}, "spec": {"containers": []},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"},
            {"type": "PodBound", "status": "False"}],
        "containerStatuses": [{"name": "c", "restartCount": 0, "state": {"running": {}}}]}});
    super::read::slim(&mut runs);
    assert_eq!(
        runs,
        json!({"metadata": {"uid": "u"}, "spec": {"containers": []}, "status": {"phase": "Running",
            "conditions": [{"type": "PodBound", "status": "False"}], "containerStatuses": []}})
    );
    let container = json!({"name": "c", "state": {"terminated": {"exitCode": 3}}});
    assert_eq!(ran, json!({"status": {"phase": "Failed", "containerStatuses": [container]}}));
    let mut node = json!({"spec": {"taints": [1]}, "status": {"images": [1], "allocatable": {}}});
    super::read::slim(&mut node);
    assert_eq!(node, json!({"spec": {"taints": [1]}, "status": {"allocatable": {}}}));
    let mut job = json!({"spec": {"replicas": 2, "tasks": [{"template": {"spec": {"volumes": [1],
        "containers": [{"name": "c", "env": [1], "resources": {"limits": {}}}]}}}]}});
    super::read::slim(&mut job);
    let spec = json!({"containers": [{"name": "c", "resources": {"limits": {}}}]});
    assert_eq!(job, json!({"spec": {"replicas": 2, "tasks": [{"template": {"spec": spec}}]}}));
}
