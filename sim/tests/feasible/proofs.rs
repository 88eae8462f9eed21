//! Every proof that no eviction helps is true: an exhaustive search over victims finds none that do. And where some do, none
//! of them can be spared.

use kai_engine::{
    Actions, Change, Config as Settings, Delta, DeviceId, EvictionKind, GPU_MILLI, Group, Limit,
    Owner, Place, Pod, PodId, PodState, Proof, QueueId, Shortage,
    entitlement::{Holding, Reclaimer, may_take},
};
use kai_sim::{generate::Seed, world::World};
use proptest::prelude::*;

use crate::{
    CYCLES_MAX, config,
    packing::{Ask, Company, Gpu, Room, asks, cluster, fits, queue, shape, taking, wait},
};

/// At most so many pods run, and wait.
const RUNNING_MAX: u64 = 5;
const WAITING_MAX: u64 = 3;

/// A pod that runs in a group of its own.
struct Runner {
    pod: PodId,
    queue: QueueId,
    preemptible: bool,
    ask: Ask,
    node: usize,
    /// Cores that it holds of the node.
    cores_milli: i64,
    gpus_milli: Vec<i64>,
}

/// A world in which some pods run and a gang waits.
struct Story {
    world: World,
    /// Free room of each node.
    rooms: Vec<Room>,
    runners: Vec<Runner>,
    gang: Vec<Ask>,
    company: Company,
    queue: QueueId,
}

impl Story {
    fn tell(seed: u64, alike: Option<bool>) -> Self {
        let mut draw = Seed::new(seed);
        let (mut world, rooms) = cluster(&mut draw);
        let mut quota =
            || Limit::of(i64::try_from(draw.below(4)).expect("it is small") * GPU_MILLI);
        let lender = queue(&mut world, "lender", quota());
        let owner = queue(&mut world, "owner", quota());
        let company =
            *draw.pick(&[Company::Any, Company::Apart, Company::RacksApart, Company::Together]);
        let mut story =
            Self { world, rooms, runners: Vec::new(), gang: Vec::new(), company, queue: owner };
        for number in 0..=draw.below(RUNNING_MAX) {
            let queue = if draw.one_in(3) { owner } else { lender };
            story.run(&mut draw, number, queue);
        }
        let pods = 1 + draw.below(WAITING_MAX);
        let is_drawn_alike = draw.one_in(2);
        let alike = alike.unwrap_or(is_drawn_alike);
        story.gang = asks(&mut draw, pods, alike);
        let facts = Group {
            queue: Some(owner),
            priority: 90,
            preemptible: draw.one_in(2),
            uid: 99,
            ..Group::default()
        };
        wait(&mut story.world, &story.gang, company, &facts);
        story
    }

    /// A pod runs wherever there is room.
    fn run(&mut self, draw: &mut Seed, number: u64, queue: QueueId) {
        let ask = asks(draw, 1, true)[0];
        let node = usize::try_from(draw.below(self.rooms.len() as u64)).expect("it is small");
        let before = self.rooms[node].clone();
        let Some(after) = taking(&before, ask).into_iter().next() else { return };
        let taken =
            before.gpus_milli.iter().zip(&after.gpus_milli).map(|(before, after)| before - after);
        let gpus_milli: Vec<i64> = taken.collect();
        let world = &mut self.world;
        let id = world.names.node(&format!("node-{node}"));
        let devices: Vec<DeviceId> = match ask.gpu {
            Gpu::Part(..) => (0..gpus_milli.len())
                .filter(|gpu| gpus_milli[*gpu] > 0)
                .map(|gpu| world.names.device(&format!("node-{node}/{gpu}")))
                .collect(),
            Gpu::None | Gpu::Whole(_) => Vec::new(),
        };
        let place = Place { node: id, devices: devices.into(), reserved: None };
        let preemptible = !draw.one_in(4);
        let name = format!("runner-{number}");
        let (group, pod) = (world.names.group(&name), world.names.pod(&name));
        let uid = u128::from(number);
        let facts =
            Group { queue: Some(queue), priority: 50, preemptible, uid, ..Group::default() };
        world.tell(Delta::Group(group, Box::new(facts)));
        let shape = shape(world, &ask, Company::Any);
        let owner = Owner::Group(group);
        let state = PodState::Running(place);
        world.tell(Delta::Pod(pod, Box::new(Pod { owner, shape, state, uid, ..Pod::default() })));
        let cores_milli = ask.cores_milli;
        self.runners.push(Runner { pod, queue, preemptible, ask, node, cores_milli, gpus_milli });
        self.rooms[node] = after;
    }

    /// Gives what is free once some runners are gone.
    fn without(&self, gone: &[usize]) -> Vec<Room> {
        let mut rooms = self.rooms.clone();
        for runner in gone.iter().map(|at| &self.runners[*at]) {
            let room = &mut rooms[runner.node];
            room.cores_milli += runner.cores_milli;
            for (free, held) in room.gpus_milli.iter_mut().zip(&runner.gpus_milli) {
                *free += held;
            }
        }
        rooms
    }

    /// Tells whether the gang fits once runners are lost for good and others may be moved.
    fn fits(&self, lost: &[usize], moved: &[usize]) -> bool {
        let gone: Vec<usize> = lost.iter().chain(moved).copied().collect();
        let others: Vec<Ask> = moved.iter().map(|at| self.runners[*at].ask).collect();
        fits(&self.without(&gone), &self.gang, self.company, &others)
    }

    /// Lists whom a plan evicts for the gang; nobody is moved.
    fn victims(&self) -> Vec<usize> {
        let actions = Actions { consolidate: false, ..Settings::default().actions };
        let config = Settings { actions, reclaim_may_relocate: false, ..Settings::default() };
        let mut world = World { config, ..self.world.clone() };
        let mut plan = world.plan();
        for _ in 1..CYCLES_MAX {
            if plan.changes.is_empty() && plan.steps.spent {
                plan = world.plan();
            }
        }
        let evicted = plan.changes.iter().filter_map(|change| match change {
            Change::Evict { pod, .. } => Some(*pod),
            Change::Place { .. } | Change::Nominate { .. } => None,
        });
        let runner = |pod: PodId| self.runners.iter().position(|runner| runner.pod == pod);
        evicted.map(|pod| runner(pod).expect("only runners run")).collect()
    }

    /// Tells whether evictions of this kind exist that let the gang in, though the proof says that there are none.
    fn refutes(&self, proof: &Proof) -> bool {
        let victims = |queue: Option<QueueId>| -> Vec<usize> {
            let is = |runner: &Runner| {
                runner.preemptible && queue.is_none_or(|queue| runner.queue == queue)
            };
            (0..self.runners.len()).filter(|at| is(&self.runners[*at])).collect()
        };
        match (proof.kind, proof.shortage) {
            // They exist, and were evicted for it before.
            (
                _,
                Shortage::Others { .. } | Shortage::Disruptions { .. } | Shortage::Runtime { .. },
            ) => false,
            (EvictionKind::Consolidate, _) => self.fits(&[], &victims(None)),
            (EvictionKind::Preempt, _) => self.fits(&victims(Some(self.queue)), &[]),
            (EvictionKind::Reclaim, Shortage::Gpus { .. }) => {
                let others =
                    victims(None).into_iter().filter(|at| self.runners[*at].queue != self.queue);
                let others: Vec<usize> = others.collect();
                orders(&others).into_iter().any(|lost| {
                    let rest =
                        others.iter().copied().filter(|at| !lost.contains(at)).collect::<Vec<_>>();
                    self.may_lose(&lost) && self.fits(&lost, &rest)
                })
            }
            (
                EvictionKind::Reclaim,
                Shortage::Pods { .. }
                | Shortage::Apart { .. }
                | Shortage::Together { .. }
                | Shortage::Domains { .. }
                | Shortage::Company,
            ) => {
                let others =
                    victims(None).into_iter().filter(|at| self.runners[*at].queue != self.queue);
                self.fits(&others.collect::<Vec<_>>(), &[])
            }
        }
    }

    /// Tells whether the gang's queue may take these from the other, in this order.
    fn may_lose(&self, lost: &[usize]) -> bool {
        let actions = Actions::NONE;
        let mut world =
            World { config: Settings { actions, ..Settings::default() }, ..self.world.clone() };
        world.plan();
        let row = |queue: QueueId| {
            let state = world.cluster.queue_state(queue);
            let facts = &world.facts.queues[&queue];
            Holding {
                parent: None,
                quota: state.quota,
                limit: state.limit,
                share: state.fair_share,
                allocated: state.allocated,
                protected: state.allocated_non_preemptible,
                leaving: kai_engine::Charge::default(),
                leaving_protected: kai_engine::Charge::default(),
                priority: state.priority,
                created: facts.created,
                uid: facts.uid,
            }
        };
        let milli = |ask: &Ask| match ask.gpu {
            Gpu::None => 0,
            Gpu::Whole(count) => i64::from(count) * GPU_MILLI,
            Gpu::Part(milli, devices) => milli * i64::from(devices),
        };
        let charge = |ask: &Ask| kai_engine::PerLane([ask.cores_milli, 0, milli(ask)]);
        let request =
            self.gang.iter().fold(kai_engine::Charge::default(), |sum, ask| sum + charge(ask));
        let group = world.names.group("gang");
        let preemptible = world.facts.groups[&group].preemptible;
        let blocks: Vec<_> = lost.iter().map(|at| charge(&self.runners[*at].ask)).collect();
        let lender = world.names.queue("lender");
        may_take(
            &row,
            &Reclaimer { queue: self.queue, request, preemptible, mig: false },
            &[(lender, blocks)],
            1000,
        )
    }
}

/// Every choice of `from` in every order.
fn orders(from: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while at < all.len() {
        let longer: Vec<Vec<usize>> = from
            .iter()
            .filter(|one| !all[at].contains(*one))
            .map(|one| all[at].iter().copied().chain([*one]).collect())
            .collect();
        all.extend(longer);
        at += 1;
    }
    all
}

proptest! {
    #![proptest_config(config())]

    /// No search of all victims finds what a proof says is not there.
    #[test]
    fn what_is_proved_impossible_is(seed: u64) {
        let story = Story::tell(seed, None);
        let plan = story.world.clone().plan();
        for proof in &plan.proofs {
            prop_assert!(!story.refutes(proof), "{proof:?} for {:?} {:?} on {:?}", story.gang, story.company, story.rooms);
        }
    }

    /// Without any one of the victims the others do not let a gang of equal pods in. A gang of unlike pods, or of parts of
    /// several devices, is tried in so many ways only, so that a victim more may leave for it than an exhaustive search finds.
    #[test]
    fn no_victim_can_be_spared(seed: u64) {
        let story = Story::tell(seed, Some(true));
        if matches!(story.gang[0].gpu, Gpu::Part(_, 2..)) {
            return Ok(());
        }
        let victims = story.victims();
        for spared in &victims {
            let others: Vec<usize> =
                victims.iter().copied().filter(|victim| victim != spared).collect();
            prop_assert!(
                !story.fits(&others, &[]),
                "{victims:?} leave for {:?} {:?} on {:?}, and {spared} could stay",
                story.gang, story.company, story.rooms
            );
        }
    }
}
