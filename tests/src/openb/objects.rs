//! Machines and tasks of the trace as the engine is told of them.

use kai_engine::{
    GPU_MILLI, GpuRequest, Gpus, GroupId, Holds, Label, Lane, Node, Owner, Pod, Requirement,
    Resources, Shape, Symbol,
};

use super::tables::{Machine, Task};

const MIB: i64 = 1 << 20;
/// The label key that stands for the model of a node's GPUs.
const MODEL: Symbol = Symbol::new(1);

pub(super) fn node(machine: &Machine, model: Symbol) -> Node {
    let gpus = Gpus { count: machine.gpus, ..Gpus::default() };
    Node {
        name: machine.name.as_bytes().into(),
        allocatable: Resources::from_iter([
            (Lane::CPU, machine.cpu_milli),
            (Lane::MEMORY, machine.memory_mib * MIB),
            (Lane::GPU, i64::from(machine.gpus) * GPU_MILLI),
            // The trace knows no bound on pods.
            (Lane::PODS, 10_000),
        ]),
        gpus,
        labels: vec![Label { key: MODEL, value: model, number: None }],
        ..Node::default()
    }
}

pub(super) fn pod(task: &Task, models: &[Symbol], row: u32) -> Pod {
    let shape = shape(task, models);
    Pod { owner: Owner::Group(GroupId::new(row)), shape, uid: row.into(), ..Pod::default() }
}

/// Makes what a task asks for, on these models of GPUs.
pub(super) fn shape(task: &Task, models: &[Symbol]) -> Shape {
    let gpu = match (task.gpus, task.gpu_milli) {
        (0, _) => GpuRequest::None,
        (1, milli) if milli < 1000 => GpuRequest::Fraction { micro: milli * 1000, devices: 1 },
        (count, _) => GpuRequest::Whole(count),
    };
    let affinity = Requirement { key: MODEL, holds: Holds::In(models.to_vec()) };
    let request = [(Lane::CPU, task.cpu_milli), (Lane::MEMORY, task.memory_mib * MIB)];
    Shape {
        request: Resources::from_iter(request),
        gpu,
        node_affinity: if models.is_empty() { Vec::new() } else { vec![vec![affinity]] },
        ..Shape::default()
    }
}
