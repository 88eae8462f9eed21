//! Deltas as text.

use std::fmt::Write as _;

use kai_engine::{
    Claim, Delta, DeviceClass, GpuRequest, Group, Holds, Lane, Limit, Missing, Node, Numa, Owner,
    PerLane, Place, Pod, PodState, PodTerm, Queue, Reach, Requirement, Resources, Shape,
    SliceDevice, SliceDeviceId, Structure, Symbol,
};
use kai_scheduler::names::{Maps, Number};

use super::{NOW, spoken::Spoken};

/// A delta as a line; only what differs from the default is said.
pub(crate) fn line(delta: &Delta, names: &Spoken<'_>) -> String {
    match delta {
        Delta::Node(id, node) => format!("node {}{}", names.node(*id), node_text(node, names)),
        Delta::NodeGone(id) => format!("node {} gone", names.node(*id)),
        Delta::Queue(id, queue) => {
            format!("queue {}{}", names.queue(*id), queue_text(queue, names))
        }
        Delta::QueueGone(id) => format!("queue {} gone", names.queue(*id)),
        Delta::Group(id, group) => {
            format!("group {}{}", names.group(*id), group_text(group, names))
        }
        Delta::GroupGone(id) => format!("group {} gone", names.group(*id)),
        Delta::Pod(id, pod) => {
            let maps = names.pods.row(id.number()).and_then(|row| row.maps.as_deref());
            format!("pod {}{}{}", names.pod(*id), pod_text(pod, names), maps_text(maps))
        }
        Delta::PodGone(id) => format!("pod {} gone", names.pod(*id)),
        Delta::Topology(id, topology) => {
            format!("topology {} levels={}", names.topology(*id), symbols(&topology.levels, names))
        }
        Delta::TopologyGone(id) => format!("topology {} gone", names.topology(*id)),
        Delta::Spelling(value, text) => {
            assert_eq!(names.text(*value).as_bytes(), &**text, "a value is written as it is");
            format!("{} is a domain", names.text(*value))
        }
        Delta::Lane(lane, kind) => format!("lane {} {kind:?}", names.lane_name(*lane)),
        Delta::Budget(id, budget) => format!(
            "budget {} allows {} of {}/{}",
            names.unnamed(id.number()),
            budget.allowed,
            names.text(budget.namespace),
            requirements(&budget.selector, names)
        ),
        Delta::BudgetGone(id) => format!("budget {} gone", id.number()),
        Delta::Claim(id, claim) => {
            format!("claim {}{}", names.claim(*id), claim_text(claim, names))
        }
        Delta::NamespaceSelector(selector, namespace, is_meant) => format!(
            "selector {} {} {}",
            names.unnamed(selector.number()),
            if *is_meant { "means" } else { "means no more" },
            names.text(*namespace)
        ),
        Delta::ClaimsServed(are_served) => format!("claims served {are_served}"),
        Delta::ClaimGone(id) => format!("claim {} gone", names.claim(*id)),
        Delta::DeviceClass(id, class) => {
            format!("class {}{}", names.unnamed(id.number()), class_text(*class, names))
        }
        Delta::DeviceClassGone(id) => format!("class {} gone", id.number()),
        Delta::Slices(id, devices) => {
            format!("slices of node {} {}", names.node(*id), devices_text(devices, names))
        }
        Delta::Reach(id, reach) => {
            format!("slices of nodes {} {}", names.unnamed(id.number()), reach_text(reach, names))
        }
        Delta::Counter(id, milli) => {
            format!("counter {} holds {milli}m", names.counters.key(id.number()))
        }
        Delta::Zones(id, numa) => {
            format!("zones of node {}{}", names.node(*id), zones_text(numa.as_deref(), names))
        }
        Delta::SetAside(id, gpus) => format!("{gpus} GPUs of node {} set aside", names.node(*id)),
        outcome @ (Delta::Bound(_)
        | Delta::BindFailed(_)
        | Delta::Evicted(_)
        | Delta::EvictFailed(_)
        | Delta::EvictWithdrawn(_)) => panic!("no object is an outcome: {outcome:?}"),
    }
}

fn reach_text(reach: &Reach, names: &Spoken<'_>) -> String {
    let nodes: Vec<String> = reach.nodes.iter().map(|term| requirements(term, names)).collect();
    let nodes = if nodes.is_empty() { String::from("*") } else { nodes.join(" or ") };
    format!("{nodes} {}", devices_text(&reach.devices, names))
}

fn zones_text(numa: Option<&Numa>, names: &Spoken<'_>) -> String {
    let Some(numa) = numa else { return String::from(" gone") };
    let zones: Vec<String> =
        numa.zones.iter().map(|zone| format!("[{}]", amounts(zone, names))).collect();
    format!(" {:?} by {:?} {}", numa.policy, numa.scope, zones.join(" "))
}

fn claim_text(claim: &Claim, names: &Spoken<'_>) -> String {
    let mut text = String::new();
    for request in &claim.requests {
        let gpu = match (request.gpu, request.mixed) {
            (false, _) => "",
            (true, false) => " gpu",
            (true, true) => " gpu mixed",
        };
        let gpu = if request.admin { " admin" } else { gpu };
        let or = if request.instead { " or" } else { "" };
        let _ = write!(
            text,
            "{or} {:?} of {}{gpu}",
            request.count,
            names.unnamed(request.class.number())
        );
    }
    for alike in &claim.matches {
        let word = if alike.distinct { "distinct" } else { "alike" };
        let _ = write!(text, " {word}={}{:?}", names.text(alike.attribute), alike.requests);
    }
    if let Some(queue) = claim.queue {
        let _ = write!(text, " queue={}", names.queue(queue));
    }
    let flags = [("own", claim.own), ("synthetic", claim.synthetic), ("leaves", claim.leaves)];
    for (word, _) in flags.into_iter().filter(|(_, is_so)| *is_so) {
        let _ = write!(text, " {word}");
    }
    if claim.consumers > 0 {
        let _ = write!(text, " consumers={}", claim.consumers);
    }
    if let Some(what) = claim.unsupported {
        let _ = write!(text, " unsupported={what:?}");
    }
    if let Some(given) = &claim.allocation {
        let within: Vec<String> =
            given.within.iter().map(|term| requirements(term, names)).collect();
        let within = if within.is_empty() { String::from("*") } else { within.join(" or ") };
        let node = given.node.map_or(within, |node| names.node(node));
        let device = |(request, device): &(u16, SliceDeviceId)| {
            format!("{request}:{}", names.slice_devices.key(device.number()))
        };
        let devices: Vec<String> = given.devices.iter().map(device).collect();
        let _ = write!(text, " given@{node}[{}]", devices.join(", "));
        for one in &given.consumed {
            let amounts = one.amounts.iter();
            let amounts = amounts.map(|(name, amount)| format!("{}={amount}m", names.text(*name)));
            let _ = write!(text, " consumed[{}]", amounts.collect::<Vec<_>>().join(" "));
        }
    }
    text
}

fn class_text(class: DeviceClass, names: &Spoken<'_>) -> String {
    let backs = [class.backs, class.implicit].into_iter().flatten();
    let backs: Vec<_> = backs.map(|lane| format!(" backs {}", names.lane_name(lane))).collect();
    let why = class.unselected.map(|why| format!(" {why:?}").to_lowercase());
    backs.concat() + &why.unwrap_or_default()
}

fn devices_text(devices: &[SliceDevice], names: &Spoken<'_>) -> String {
    let devices: Vec<String> = devices.iter().map(|one| device_text(one, names)).collect();
    format!("[{}]", devices.join(", "))
}

fn device_text(device: &SliceDevice, names: &Spoken<'_>) -> String {
    let mut text = names.slice_devices.key(device.id.number()).to_string();
    let classes: Vec<String> =
        device.classes.iter().map(|class| names.unnamed(class.number())).collect();
    let _ = write!(text, " of {}", classes.join("+"));
    for (key, value) in device.attributes.iter().filter(|(key, _)| names.has_attribute(*key)) {
        let _ = write!(text, " {}={}", names.text(*key), names.text(*value));
    }
    for (counter, amount) in &device.draws {
        let _ = write!(text, " draws {}={amount}m", names.counters.key(counter.number()));
    }
    if let Some(shares) = &device.shares {
        for (name, amount) in &shares.capacity {
            let _ = write!(text, " shares {}={amount}m", names.text(*name));
        }
        for (class, amounts) in shares.taken.iter().filter(|_| !names.is_by_name) {
            let amounts: Vec<String> = amounts.iter().map(|one| format!("{one}m")).collect();
            let _ = write!(text, " {}:{}", names.unnamed(class.number()), amounts.join("+"));
        }
    }
    if device.binds {
        text.push_str(" binds");
    }
    text
}

fn node_text(node: &Node, names: &Spoken<'_>) -> String {
    let mut text = format!(" has={}", amounts(&node.allocatable, names));
    if node.gpus.count > 0 {
        let known = if node.gpus.memory_known { "" } else { "?" };
        let _ = write!(text, " gpus={}x{}MiB{known}", node.gpus.count, node.gpus.memory_mib);
    }
    for taint in &node.taints {
        let (key, value) = (names.text(taint.key), names.text(taint.value));
        let _ = write!(text, " taint={key}={value}:{:?}", taint.effect);
    }
    if let Some(blocked) = node.blocked {
        let _ = write!(text, " blocked={blocked:?}");
    }
    if node.mig != kai_engine::Mig::default() {
        let _ = write!(text, " mig={:?}:{}", node.mig.strategy, node.mig.enabled);
    }
    if node.worker.gpu || node.worker.cpu {
        let _ = write!(text, " worker=gpu:{},cpu:{}", node.worker.gpu, node.worker.cpu);
    }
    text
}

fn queue_text(queue: &Queue, names: &Spoken<'_>) -> String {
    let lanes = |of: &PerLane<Limit>| {
        let text = |limit: Limit| limit.amount().map_or(String::from("-"), |one| one.to_string());
        of.0.map(text).join("/")
    };
    let mut text = format!(
        " quota={} limit={} weight={}",
        lanes(&queue.quota),
        lanes(&queue.limit),
        queue.weight_milli.0.map(|one| one.to_string()).join("/")
    );
    if let Some(parent) = queue.parent {
        let _ = write!(text, " parent={}", names.queue(parent));
    }
    if queue.priority != 100 {
        let _ = write!(text, " priority={}", queue.priority);
    }
    if queue.usage_micro != PerLane::default() {
        let _ = write!(text, " usage={}", queue.usage_micro.0.map(|one| one.to_string()).join("/"));
    }
    for (name, value) in
        [("preempt", queue.preempt_min_runtime), ("reclaim", queue.reclaim_min_runtime)]
    {
        if let Some(value) = value {
            let _ = write!(text, " {name}-min-runtime={value}ms");
        }
    }
    text
}

fn group_text(group: &Group, names: &Spoken<'_>) -> String {
    let queue = group.queue.map_or(String::from("-"), |queue| names.queue(queue));
    let kind = if group.preemptible { "preemptible" } else { "fixed" };
    let mut text = format!(" queue={queue} priority={} {kind}", group.priority);
    match &group.structure {
        Structure::Flat { min, topology } => {
            let _ = write!(text, " min={min}{}", constraint(topology.as_ref(), names));
        }
        Structure::Tree { min, topology, sub_groups } => {
            let _ = write!(text, " min={min:?}{}", constraint(topology.as_ref(), names));
            for one in sub_groups {
                let parent = one.parent.map_or(String::new(), |parent| format!("<{parent}"));
                let topology = constraint(one.topology.as_ref(), names);
                let name = names.text(one.name);
                let _ = write!(text, " [{name}{parent} {:?}{topology}]", one.min);
            }
        }
        Structure::Malformed => text.push_str(" malformed"),
    }
    for (name, stamp) in [
        ("started", group.last_start),
        ("evicted", group.last_eviction),
        ("stale", group.stale_since),
    ] {
        if let Some(stamp) = stamp {
            let _ = write!(text, " {name}={}s", (stamp.0 - NOW.0) / 1000);
        }
    }
    if group.preemption_delay != 0 {
        let _ = write!(text, " delay={}ms", group.preemption_delay);
    }
    if let Some(grace) = group.staleness_grace {
        let _ = write!(text, " grace={grace}ms");
    }
    if group.held {
        text.push_str(" held");
    }
    text
}

fn constraint(constraint: Option<&kai_engine::Constraint>, names: &Spoken<'_>) -> String {
    let Some(constraint) = constraint else { return String::new() };
    let level = |level: Option<kai_engine::Level>| level.map_or("-", |level| names.text(level.0));
    format!(
        " topology={}:{}/{}",
        names.topology(constraint.topology),
        level(constraint.required),
        level(constraint.preferred)
    )
}

fn maps_text(maps: Option<&Maps>) -> String {
    let Some(maps) = maps else { return String::new() };
    let place = if maps.devices_by_key { "by key" } else { "in the second" };
    format!(" told-by={},{} {place}", maps.capabilities(), maps.variables())
}

fn pod_text(pod: &Pod, names: &Spoken<'_>) -> String {
    let owner = match pod.owner {
        Owner::Group(group) => format!("group:{}", names.group(group)),
        Owner::Foreign => String::from("foreign"),
        Owner::Reservation => String::from("reservation"),
    };
    let mut text = format!(" {owner} {}", state(&pod.state, names));
    if pod.sub_group != Symbol::EMPTY {
        let _ = write!(text, " sub-group={}", names.text(pod.sub_group));
    }
    let _ = write!(text, " asks={}", amounts(&pod.shape.request, names));
    if pod.shape.overhead != Resources::default() {
        let _ = write!(text, " overhead={}", amounts(&pod.shape.overhead, names));
    }
    if pod.shape.gpu != GpuRequest::None {
        let _ = write!(text, " gpu={}", gpu_text(&pod.shape.gpu, names));
    }
    if pod.rank != kai_engine::PodRank::default() {
        let _ = write!(text, " rank={:?}", pod.rank);
    }
    text.push_str(&alignment_text(&pod.shape, names));
    for (key, value) in &pod.shape.node_selector {
        let _ = write!(text, " on={}={}", names.text(*key), names.text(*value));
    }
    for term in &pod.shape.node_affinity {
        let _ = write!(text, " near={}", requirements(term, names));
    }
    text.push_str(&company_text(&pod.shape, names));
    for toleration in &pod.shape.tolerations {
        let name = |symbol: Option<Symbol>| symbol.map_or("*", |symbol| names.text(symbol));
        let (key, value) = (name(toleration.key), name(toleration.value));
        let _ = write!(text, " tolerates={key}={value}:{:?}", toleration.effect);
    }
    for port in &pod.shape.ports {
        let (protocol, address) = (names.text(port.protocol), names.text(port.address));
        let _ = write!(text, " port={protocol}:{address}:{}", port.port);
    }
    for claim in &pod.claims {
        let _ = write!(text, " claim={}:{}", names.claim(*claim), names.of_claim(*claim));
    }
    text.push_str(&needs_text(&pod.shape, names));
    for (key, value) in &pod.labels {
        let _ = write!(text, " label={}={}", names.text(*key), names.text(*value));
    }
    text
}

fn gpu_text(gpu: &GpuRequest, names: &Spoken<'_>) -> String {
    let (what, profiles) = match gpu {
        GpuRequest::Mig(profiles) => ("Mig", profiles),
        GpuRequest::LegacyMig(profiles) => ("LegacyMig", profiles),
        GpuRequest::None
        | GpuRequest::Whole(_)
        | GpuRequest::Fraction { .. }
        | GpuRequest::Memory { .. } => return format!("{gpu:?}"),
    };
    let each = profiles.iter().map(|(lane, count)| format!("{}:{count}", names.lane_name(*lane)));
    format!("{what}({})", each.collect::<Vec<_>>().join(","))
}

fn alignment_text(shape: &Shape, names: &Spoken<'_>) -> String {
    let Some(alignment) = &shape.alignment else { return String::new() };
    let list = |all: &[Resources]| {
        let each = all.iter().map(|one| format!("[{}]", amounts(one, names)));
        each.collect::<Vec<_>>().concat()
    };
    format!(
        " aligns={}/{}/{}",
        amounts(&alignment.pod, names),
        list(&alignment.concurrent),
        list(&alignment.serial)
    )
}

/// Says what a shape asks of other pods, and what it wishes for.
fn company_text(shape: &Shape, names: &Spoken<'_>) -> String {
    let mut text = String::new();
    let company = |term: &PodTerm| {
        let (selector, namespaces) =
            (requirements(&term.selector, names), symbols(&term.namespaces, names));
        let selecting = term.namespace_selector;
        let selecting = selecting.map(|one| format!("+{}", names.unnamed(one.number())));
        let key = names.text(term.topology_key);
        format!("{selector}@{key}{namespaces}{}", selecting.unwrap_or_default())
    };
    for (word, terms) in [("with", &shape.pod_affinity), ("apart", &shape.pod_anti_affinity)] {
        for term in terms {
            let _ = write!(text, " {word}={}", company(term));
        }
    }
    for (weight, term) in &shape.preferred_nodes {
        let _ = write!(text, " likes{weight:+}={}", requirements(term, names));
    }
    for (weight, term) in &shape.preferred_pods {
        let _ = write!(text, " likes{weight:+}={}", company(term));
    }
    for one in &shape.spread {
        let _ = write!(
            text,
            " spread={}@{}[{}] skew={} domains={}",
            requirements(&one.selector, names),
            names.text(one.topology_key),
            names.text(one.namespace),
            one.skew_max,
            one.domains_min
        );
        let words = [
            ("everywhere", !one.honors_selection),
            ("tolerated", one.honors_taints),
            ("soft", !one.required),
        ];
        for (word, _) in words.into_iter().filter(|(_, is_so)| *is_so) {
            let _ = write!(text, ",{word}");
        }
    }
    text
}

/// Says what the volumes of a shape allow, and what is missing.
fn needs_text(shape: &Shape, names: &Spoken<'_>) -> String {
    let mut text = String::new();
    for volume in shape.volumes.iter() {
        let terms: Vec<_> = volume.terms.iter().map(|term| requirements(term, names)).collect();
        let word = if volume.bound { "volume" } else { "unbound" };
        let _ = write!(text, " {word}={}", terms.join("or"));
        if let Some(storage) = &volume.storage {
            let offered = storage.offered.iter().map(|term| requirements(term, names));
            let offered: Vec<_> = offered.collect();
            let _ = write!(text, " storage={}:{}", names.text(storage.class), offered.join("or"));
        }
    }
    for missing in &shape.missing {
        let (what, name) = match missing {
            Missing::Claim(name) => ("claim", *name),
            Missing::Ephemeral(name) => ("ephemeral-claim", *name),
            Missing::NotOwned(name) => ("own-claim", *name),
            Missing::Deleted(name) => ("deleted-claim", *name),
            Missing::Lost(name, _) => ("volume-of-claim", *name),
            Missing::Unbound => ("immediate-volume", Symbol::EMPTY),
            Missing::ConfigMap(name) => ("config-map", *name),
            Missing::Request(text) => ("request", *text),
            Missing::Turn => ("turn", Symbol::EMPTY),
        };
        let _ = write!(text, " missing={what}:{}", names.text(name));
    }
    text
}

fn state(state: &PodState, names: &Spoken<'_>) -> String {
    let on = |place: &Place| {
        let devices: Vec<_> = place.devices.iter().map(|one| names.shared(*one)).collect();
        let devices =
            if devices.is_empty() { String::new() } else { format!("/{}", devices.join(",")) };
        let zones = place.reserved.iter().flat_map(|reserved| &reserved.zones);
        let zones: Vec<String> = zones
            .map(|one| format!(" holds {}:{}:{}", one.zone, names.lane_name(one.lane), one.amount))
            .collect();
        let zones = zones.concat();
        format!("@{}{devices}{zones}", names.node(place.node))
    };
    match state {
        PodState::Bound(place) => format!("bound{}", on(place)),
        PodState::Running(place) => format!("running{}", on(place)),
        PodState::Releasing(place) => format!("releasing{}", on(place)),
        PodState::Lingering(place) => format!("lingering{}", on(place)),
        PodState::Stuck(place) => format!("stuck{}", on(place)),
        PodState::Gated => String::from("gated"),
        PodState::Pending => String::from("pending"),
        PodState::Succeeded => String::from("succeeded"),
        PodState::Failed => String::from("failed"),
    }
}

fn amounts(amounts: &Resources, names: &Spoken<'_>) -> String {
    let text = |(lane, amount): (Lane, i64)| format!("{}:{amount}", names.lane_name(lane));
    amounts.iter().map(text).collect::<Vec<_>>().join(",")
}

fn symbols(all: &[Symbol], names: &Spoken<'_>) -> String {
    let all: Vec<_> = all.iter().map(|symbol| names.text(*symbol)).collect();
    format!("[{}]", all.join(","))
}

fn requirements(all: &[Requirement], names: &Spoken<'_>) -> String {
    let text = |one: &Requirement| {
        let holds = match &one.holds {
            Holds::In(values) => format!("in{}", symbols(values, names)),
            Holds::NotIn(values) => format!("not-in{}", symbols(values, names)),
            Holds::Exists => String::from("exists"),
            Holds::Absent => String::from("absent"),
            Holds::Above(number) => format!(">{number}"),
            Holds::Below(number) => format!("<{number}"),
        };
        format!("{}:{holds}", names.text(one.key))
    };
    format!("({})", all.iter().map(text).collect::<Vec<_>>().join(" "))
}
