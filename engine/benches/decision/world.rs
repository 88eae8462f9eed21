//! Clusters to measure on: GPU nodes, queues, groups of pods that wait or run.

use kai_engine::{
    Cluster, Config, Constraint, Delta, GpuRequest, Gpus, Group, GroupId, Label, Lane, Limit, Min,
    Node, NodeId, Owner, PerLane, Place, Pod, PodId, PodState, Queue, QueueId, Resources, Shape,
    Structure, SubGroup, Symbol, Timestamp, Topology, TopologyId, plan,
};

/// GPUs of a node.
pub(crate) const GPUS: u32 = 8;

/// A cluster being told.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    /// News that are told next.
    pub(crate) news: Vec<Delta>,
    groups: u32,
    pods: u32,
}

/// A group of equal pods.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) queue: u32,
    pub(crate) priority: i32,
    pub(crate) pods: u32,
    pub(crate) min: u32,
    /// True if each pod is in a sub-group of its own, and `min` of these are enough.
    pub(crate) is_divided: bool,
    pub(crate) shape: Shape,
    pub(crate) topology: Option<Constraint>,
    /// A label that all of its pods carry.
    pub(crate) label: Option<(Symbol, Symbol)>,
    /// The node of the first pod where they run; the next ones follow [`GPUS`] to a node.
    pub(crate) on: Option<Vec<u32>>,
}

impl Job {
    /// One pod of `gpus` whole GPUs in a queue.
    pub(crate) fn new(queue: u32, gpus: u16) -> Self {
        Self {
            queue,
            priority: 50,
            pods: 1,
            min: 1,
            is_divided: false,
            shape: shape(GpuRequest::Whole(gpus)),
            topology: None,
            label: None,
            on: None,
        }
    }

    /// The same as a gang of so many pods.
    pub(crate) fn gang(self, pods: u32) -> Self {
        Self { pods, min: pods, ..self }
    }

    /// The same, running: one pod on each of these nodes.
    pub(crate) fn on(self, nodes: impl IntoIterator<Item = u32>) -> Self {
        Self { on: Some(nodes.into_iter().collect()), ..self }
    }

    fn structure(&self) -> Structure {
        let Self { min, topology, .. } = *self;
        if !self.is_divided {
            return Structure::Flat { min, topology };
        }
        let sub_group = |at| SubGroup {
            name: self.sub_group(at),
            parent: None,
            min: Min::Pods(1),
            topology: None,
        };
        let sub_groups = (0..self.pods).map(sub_group).collect();
        Structure::Tree { min: Some(min), topology, sub_groups }
    }

    /// The sub-group of a pod by its number.
    fn sub_group(&self, at: u32) -> Symbol {
        if self.is_divided { Symbol::new(1 + at) } else { Symbol::EMPTY }
    }
}

/// Requests of a pod with such GPUs.
pub(crate) fn shape(gpu: GpuRequest) -> Shape {
    let request: Resources = [(Lane::CPU, 4000), (Lane::MEMORY, 32 << 30)].into_iter().collect();
    Shape { request, gpu, ..Shape::default() }
}

/// A queue that may take everything and is entitled to so many GPUs, to none without a number.
pub(crate) fn queue(uid: u32, parent: Option<u32>, quota_gpus: u32) -> Queue {
    let none = Limit::of(0);
    let gpus = Limit::of(i64::from(quota_gpus) * kai_engine::GPU_MILLI);
    let rest = if quota_gpus > 0 { Limit::UNLIMITED } else { none };
    Queue {
        parent: parent.map(QueueId::new),
        quota: PerLane([rest, rest, gpus]),
        limit: PerLane::splat(Limit::UNLIMITED),
        weight_milli: PerLane::splat(1000),
        uid: u128::from(uid),
        ..Queue::default()
    }
}

/// A node of eight GPUs.
pub(crate) fn node(row: u32) -> Node {
    let gib = 1 << 30;
    let amounts = [
        (Lane::CPU, 128_000),
        (Lane::MEMORY, 1024 * gib),
        (Lane::GPU, i64::from(GPUS) * kai_engine::GPU_MILLI),
        (Lane::PODS, 110),
    ];
    Node {
        name: format!("node-{row:06}").into_bytes().into(),
        allocatable: amounts.into_iter().collect(),
        gpus: Gpus { count: 8, memory_mib: 81_500, memory_known: true },
        ..Node::default()
    }
}

/// A label of a node.
pub(crate) fn label(key: u32, value: u32) -> Label {
    Label { key: Symbol::new(key), value: Symbol::new(value), number: None }
}

impl World {
    /// So many equal nodes.
    pub(crate) fn nodes(&mut self, count: u32) -> &mut Self {
        self.nodes_with(count, |_, node| node)
    }

    /// So many nodes, each changed by its number.
    pub(crate) fn nodes_with(
        &mut self,
        count: u32,
        change: impl Fn(u32, Node) -> Node,
    ) -> &mut Self {
        self.news.extend(
            (0..count).map(|row| Delta::Node(NodeId::new(row), Box::new(change(row, node(row))))),
        );
        self
    }

    /// A queue by its number.
    pub(crate) fn queue(&mut self, id: u32, parent: Option<u32>, quota_gpus: u32) -> &mut Self {
        let facts = queue(id, parent, quota_gpus);
        self.news.push(Delta::Queue(QueueId::new(id), Box::new(facts)));
        self
    }

    /// Four leaves 2 to 5 in two departments 0 and 1, each entitled to a quarter of so many GPUs.
    pub(crate) fn departments(&mut self, gpus: u32) -> &mut Self {
        for id in 0..6 {
            let (parent, quota) = if id < 2 { (None, gpus / 2) } else { (Some(id % 2), gpus / 4) };
            self.queue(id, parent, quota);
        }
        self
    }

    /// A topology of these label keys, from the widest.
    pub(crate) fn topology(&mut self, keys: impl IntoIterator<Item = u32>) -> &mut Self {
        let levels = keys.into_iter().map(Symbol::new).collect();
        self.news.push(Delta::Topology(TopologyId::new(0), Box::new(Topology { levels })));
        self
    }

    /// A group with its pods.
    pub(crate) fn job(&mut self, job: &Job) -> &mut Self {
        let group = GroupId::new(self.groups);
        let facts = Group {
            queue: Some(QueueId::new(job.queue)),
            priority: job.priority,
            preemptible: true,
            uid: u128::from(self.groups),
            structure: job.structure(),
            last_start: job.on.is_some().then_some(Timestamp(0)),
            ..Group::default()
        };
        self.news.push(Delta::Group(group, Box::new(facts)));
        for at in 0..job.pods {
            let state = job.on.as_ref().map_or(PodState::Pending, |nodes| {
                PodState::Running(Place::on(NodeId::new(nodes[at as usize])))
            });
            let pod = Pod {
                owner: Owner::Group(group),
                sub_group: job.sub_group(at),
                shape: job.shape.clone(),
                state,
                uid: u128::from(self.pods),
                labels: job.label.into_iter().collect(),
                ..Pod::default()
            };
            self.news.push(Delta::Pod(PodId::new(self.pods), Box::new(pod)));
            self.pods += 1;
        }
        self.groups += 1;
        self
    }

    /// So many jobs, each by its number.
    pub(crate) fn jobs(&mut self, count: u32, job: impl Fn(u32) -> Job) -> &mut Self {
        for at in 0..count {
            self.job(&job(at));
        }
        self
    }

    /// Tells the news.
    pub(crate) fn tell(&mut self) -> &mut Self {
        for delta in self.news.drain(..) {
            self.cluster.apply(delta);
        }
        self
    }

    /// Tells the news and plans once, so that what is measured is the next cycle.
    pub(crate) fn settle(&mut self, config: &Config) -> &mut Self {
        self.tell();
        plan(&mut self.cluster, config, Timestamp(0));
        self
    }
}
