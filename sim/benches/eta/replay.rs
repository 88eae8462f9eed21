//! A trace, played through the scheduler's own decisions: each job that waits is told when it will start, and it is noted
//! when it does.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{PoisonError, RwLock},
};

use kai_engine::{
    Actions, Cluster, Config, Delta, GPU_MILLI, GpuRequest, Gpus, Group, GroupId, Lane, Limit,
    Millis, Node, NodeId, Owner, PerLane, Pod, PodId, Queue, QueueId, Resources, Shape, Structure,
    Timestamp,
};
use kai_sim::{
    course::{Course, Future},
    forecast::{Forecast, Knowledge, Known, Outset, Range},
    past::{Past, Work},
};

use crate::trace::Job;

/// GPUs of a node.
pub(crate) const GPUS: u32 = 8;
/// Time that a forecast looks ahead.
const HORIZON: Millis = 30 * DAY;
/// Time for which runs are remembered.
const MEMORY: Millis = 30 * DAY;
/// Nothing is foretold before that much is remembered.
const WARM_UP: Millis = 7 * DAY;
const DAY: Millis = 86_400_000;

/// A trace to play, and on what.
pub(crate) struct Play<'j> {
    pub(crate) jobs: &'j [Job],
    pub(crate) nodes: u32,
    /// Of the jobs that wait each so many'th is foretold.
    pub(crate) every: usize,
}

/// A job that waited, what it was told, and when it started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) at: Timestamp,
    /// None where nothing was told.
    pub(crate) range: Option<Range>,
    pub(crate) started: Timestamp,
}

/// The outcome of a play.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) told: Vec<Told>,
    /// Jobs that started at once.
    pub(crate) at_once: usize,
    pub(crate) waited: usize,
    /// Those that were foretold and had not started when the trace was over.
    pub(crate) open: usize,
}

/// The run times that only the trace knows, by the number of a group.
#[derive(Default)]
struct Truth(RwLock<Vec<Millis>>);

impl Future for Truth {
    fn run_time(&self, group: GroupId, _: Millis) -> Option<Millis> {
        let times = self.0.read().unwrap_or_else(PoisonError::into_inner);
        times.get(row(group)).copied()
    }

    fn is_made_again(&self, _: PodId, _: GroupId) -> bool {
        true
    }
}

fn row(group: GroupId) -> usize {
    kai_engine::ids::Id::row(group)
}

/// Knowledge that a forecast may have: who is there, and what has ended.
struct Memory<'m> {
    jobs: &'m [Job],
    live: &'m BTreeMap<GroupId, usize>,
    past: &'m Past,
}

impl Knowledge for Memory<'_> {
    fn of(&self, group: GroupId) -> Known<'_> {
        let job = self.live.get(&group).and_then(|at| self.jobs.get(*at));
        let runs = job.and_then(|job| self.past.like(work(job)));
        runs.map_or_else(Known::default, |runs| Known {
            longest: None,
            seen: &runs.sorted,
            order: &runs.order,
        })
    }

    fn is_made_again(&self, _: PodId, _: GroupId) -> bool {
        true
    }
}

fn work(job: &Job) -> Work<'_> {
    Work { queue: &job.queue, name: "", gpu_milli: u64::from(job.gpus) * 1000 }
}

struct Replay<'p> {
    play: &'p Play<'p>,
    truth: &'p Truth,
    config: Config,
    course: Course<'p>,
    queues: BTreeMap<&'p str, QueueId>,
    live: BTreeMap<GroupId, usize>,
    waiting: BTreeSet<GroupId>,
    foretold: BTreeMap<GroupId, (Timestamp, Option<Range>)>,
    past: Past,
    ended: VecDeque<(Timestamp, usize)>,
    free_groups: Vec<GroupId>,
    free_pods: Vec<PodId>,
    pods: BTreeMap<GroupId, Vec<PodId>>,
    pods_made: u32,
    played: Played,
}

/// Plays a trace.
pub(crate) fn play(play: &Play<'_>) -> Played {
    let truth = Truth::default();
    let Some(first) = play.jobs.first() else { return Played::default() };
    let (cluster, queues) = cluster(play);
    // A run of the trace was never broken off, so nothing is evicted for it here.
    let actions = Actions { allocate: true, ..Actions::NONE };
    let config = Config { actions, ..Config::default() };
    let course = Course::new(cluster, config.clone(), Timestamp(first.came), &truth);
    let mut replay = Replay {
        play,
        truth: &truth,
        config,
        course,
        queues,
        live: BTreeMap::new(),
        waiting: BTreeSet::new(),
        foretold: BTreeMap::new(),
        past: Past::default(),
        ended: VecDeque::new(),
        free_groups: Vec::new(),
        free_pods: Vec::new(),
        pods: BTreeMap::new(),
        pods_made: 0,
        played: Played::default(),
    };
    replay.run(first.came);
    replay.played
}

/// Nodes of eight GPUs, and a queue each that is entitled to the part of them that its work takes in all.
fn cluster<'p>(play: &'p Play<'_>) -> (Cluster, BTreeMap<&'p str, QueueId>) {
    let mut cluster = Cluster::default();
    for number in 0..play.nodes {
        let amounts = [
            (Lane::CPU, 128_000),
            (Lane::MEMORY, 1 << 40),
            (Lane::GPU, i64::from(GPUS) * GPU_MILLI),
            (Lane::PODS, 110),
        ];
        let node = Node {
            name: format!("node-{number:04}").into_bytes().into(),
            allocatable: amounts.into_iter().collect(),
            gpus: Gpus { count: 8, memory_mib: 24_000, memory_known: true },
            ..Node::default()
        };
        cluster.apply(Delta::Node(NodeId::new(number), Box::new(node)));
    }
    let mut demand: BTreeMap<&str, i128> = BTreeMap::new();
    for job in play.jobs {
        *demand.entry(&job.queue).or_default() += i128::from(job.ran) * i128::from(job.gpus);
    }
    let all: i128 = demand.values().sum::<i128>().max(1);
    let gpus = i128::from(play.nodes * GPUS);
    let mut queues = BTreeMap::new();
    for (number, (name, demand)) in (0..).zip(demand) {
        let quota = i64::try_from(gpus * demand / all).unwrap_or(0);
        let unlimited = Limit::UNLIMITED;
        let facts = Queue {
            quota: PerLane([unlimited, unlimited, Limit::of(quota * GPU_MILLI)]),
            limit: PerLane::splat(unlimited),
            weight_milli: PerLane::splat(u64::try_from(quota.max(1)).unwrap_or(1) * 1000),
            uid: u128::from(number),
            ..Queue::default()
        };
        cluster.apply(Delta::Queue(QueueId::new(number), Box::new(facts)));
        queues.insert(name, QueueId::new(number));
    }
    (cluster, queues)
}

impl Replay<'_> {
    fn run(&mut self, begin: Millis) {
        let mut next = 0;
        while next < self.play.jobs.len() {
            let came = Timestamp(self.play.jobs[next].came);
            // What ends before the next one comes, and what starts then.
            while self.course.now < came && self.course.pass(came) {
                self.clear();
                self.decide();
            }
            self.course.now = self.course.now.max(came);
            let mut newcomers = Vec::new();
            while let Some(job) =
                self.play.jobs.get(next).filter(|job| job.came <= self.course.now.0)
            {
                newcomers.extend(self.admit(next, job));
                next += 1;
            }
            self.decide();
            for group in newcomers {
                if !self.waiting.contains(&group) {
                    self.played.at_once += 1;
                    continue;
                }
                self.played.waited += 1;
                let is_due = self.played.waited.is_multiple_of(self.play.every);
                if is_due && self.course.now.0 - begin > WARM_UP {
                    self.foretell(group);
                }
            }
        }
        while !self.foretold.is_empty() && self.course.pass(Timestamp(i64::MAX)) {
            self.clear();
            self.decide();
        }
        self.played.open = self.foretold.len();
    }

    /// Forgets those who have ended, but for how long they ran.
    fn clear(&mut self) {
        let cluster = &self.course.cluster;
        let gone: Vec<GroupId> =
            self.live.keys().copied().filter(|group| cluster.group(*group).is_none()).collect();
        for group in gone {
            let Some(at) = self.live.remove(&group) else { continue };
            let job = &self.play.jobs[at];
            self.past.add(work(job), job.ran);
            self.ended.push_back((self.course.now, at));
            self.free_groups.push(group);
            self.free_pods.extend(self.pods.remove(&group).unwrap_or_default());
        }
        while let Some((_, at)) =
            self.ended.front().copied().filter(|(when, _)| when.0 < self.course.now.0 - MEMORY)
        {
            self.ended.pop_front();
            let job = &self.play.jobs[at];
            self.past.forget(work(job), job.ran);
        }
    }

    /// Lets the scheduler decide, and notes who starts.
    fn decide(&mut self) {
        self.course.settle();
        let course = &self.course;
        let started: Vec<GroupId> =
            self.waiting.iter().copied().filter(|group| course.is_running(*group)).collect();
        for group in started {
            self.waiting.remove(&group);
            let started = self.course.runs_since(group).unwrap_or(self.course.now);
            if let Some((at, range)) = self.foretold.remove(&group) {
                self.played.told.push(Told { at, range, started });
            }
        }
    }

    /// Lets a job in: a gang of pods of a node's GPUs each.
    fn admit(&mut self, at: usize, job: &Job) -> Option<GroupId> {
        let queue = *self.queues.get(&*job.queue)?;
        let next = u32::try_from(self.live.len()).ok()?;
        let group = self.free_groups.pop().unwrap_or(GroupId::new(next));
        let mut times = self.truth.0.write().unwrap_or_else(PoisonError::into_inner);
        if times.len() <= row(group) {
            times.resize(row(group) + 1, 0);
        }
        times[row(group)] = job.ran;
        drop(times);
        let pods = job.gpus.div_ceil(GPUS).max(1);
        let uid = u128::try_from(at).ok()?;
        let facts = Group {
            queue: Some(queue),
            priority: 50,
            preemptible: true,
            uid,
            created: Timestamp(job.came),
            structure: Structure::Flat { min: pods, topology: None },
            ..Group::default()
        };
        self.course.cluster.apply(Delta::Group(group, Box::new(facts)));
        let each = u16::try_from(job.gpus.div_ceil(pods)).ok()?;
        let request: Resources = [(Lane::CPU, 1000), (Lane::MEMORY, 1 << 30)].into_iter().collect();
        let shape = Shape { request, gpu: GpuRequest::Whole(each), ..Shape::default() };
        for number in 0..pods {
            let pod = self.free_pods.pop().unwrap_or_else(|| {
                self.pods_made += 1;
                PodId::new(self.pods_made - 1)
            });
            let facts = Pod {
                owner: Owner::Group(group),
                shape: shape.clone(),
                created: Timestamp(job.came),
                uid: uid << 16 | u128::from(number),
                ..Pod::default()
            };
            self.course.cluster.apply(Delta::Pod(pod, Box::new(facts)));
            self.pods.entry(group).or_default().push(pod);
        }
        self.live.insert(group, at);
        self.waiting.insert(group);
        Some(group)
    }

    fn foretell(&mut self, group: GroupId) {
        let memory = Memory { jobs: self.play.jobs, live: &self.live, past: &self.past };
        let now = self.course.now;
        let outset = Outset { cluster: &self.course.cluster, config: &self.config, now };
        let horizon = Timestamp(now.0 + HORIZON);
        let forecast = Forecast::new(outset, &memory, &BTreeSet::from([group]), horizon);
        self.foretold.insert(group, (now, forecast.at.get(&group).copied()));
    }
}
