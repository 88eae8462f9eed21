//! Devices of claims and NUMA zones: B14.

use kai_engine::{
    Alignment, Claim, ClaimId, Config, Delta, DeviceClass, DeviceClassId, DeviceCount,
    DeviceRequest, GPU_MILLI, Lane, NodeId, Numa, NumaPolicy, NumaScope, Resources, SliceDevice,
    SliceDeviceId, ids::Id,
};

use super::{Case, Expect, Kind};
use crate::world::{GPUS, Job, World};

pub(crate) const KINDS: &[Kind] = &[
    Kind {
        id: "B14-claims",
        sizes: &[100, 200, 500],
        slope_max: Some(1.1),
        what: "5N pods with a claim of one device each on N nodes that publish 8",
        case: claims,
    },
    Kind {
        id: "B14-zones",
        sizes: &[100, 200, 500],
        slope_max: Some(1.1),
        what: "4N pods of two aligned GPUs on N nodes of two NUMA zones",
        case: zones,
    },
];

fn claims(size: u32) -> Case {
    let class = DeviceClassId::new(0);
    let mut world = World::default();
    world.departments(0).nodes_with(size, |_, mut node| {
        // Nothing but the slices offers GPUs here.
        node.allocatable = node.allocatable.iter().filter(|(lane, _)| *lane != Lane::GPU).collect();
        node.gpus.count = 0;
        node
    });
    world.news.push(Delta::DeviceClass(class, DeviceClass::default()));
    for row in 0..size {
        let device = |at: u32| {
            SliceDevice::new(SliceDeviceId::new(row * GPUS + at), true, Box::new([class]))
        };
        world.news.push(Delta::Slices(NodeId::new(row), (0..GPUS).map(device).collect()));
    }
    let count = size * 5;
    for row in 0..count {
        let count = DeviceCount::Exactly(1);
        let request =
            DeviceRequest { class, count, instead: false, gpu: true, mixed: false, admin: false };
        let claim = Claim { requests: vec![request], own: true, ..Claim::default() };
        world.news.push(Delta::Claim(ClaimId::new(row), Box::new(claim)));
    }
    world.jobs(count, |at| Job::new(2 + at % 4, 0));
    for delta in &mut world.news {
        if let Delta::Pod(id, pod) = delta {
            pod.claims = vec![ClaimId::new(u32::try_from(id.row()).unwrap_or(u32::MAX))];
        }
    }
    world.tell();
    world.case(Config::default(), Expect::placed(count))
}

fn zones(size: u32) -> Case {
    let gpus = |count: u32| -> Resources {
        std::iter::once((Lane::GPU, i64::from(count) * GPU_MILLI)).collect()
    };
    let mut world = World::default();
    world.departments(0).nodes(size);
    for row in 0..size {
        let zones = vec![gpus(GPUS / 2), gpus(GPUS / 2)];
        let numa = Numa { policy: NumaPolicy::SingleNumaNode, scope: NumaScope::Pod, zones };
        world.news.push(Delta::Zones(NodeId::new(row), Some(Box::new(numa))));
    }
    let alignment = Alignment { pod: gpus(2), concurrent: vec![gpus(2)], serial: Vec::new() };
    world.jobs(size * 4, |at| {
        let mut job = Job::new(2 + at % 4, 2);
        job.shape.alignment = Some(Box::new(alignment.clone()));
        job
    });
    world.tell();
    world.case(Config::default(), Expect::placed(size * 4))
}
