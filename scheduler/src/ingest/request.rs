//! Amounts: what containers request and what nodes have.
//!
//! An amount of zero asks for nothing and offers nothing: it is left out as it is read. Of a hostile object that names
//! thousands of resources only so many are kept, what queues count before all others, and a pod that was cut waits.

use std::str::FromStr;

use kai_api::{names::resource, quantity::Quantity};
use kai_engine::{GPU_MILLI, Lane, Resources};
use serde::{Deserialize, Deserializer, de::Visitor};

use super::Context;
use crate::server::wire::{Text, null_as_default};

/// Amounts by resource name, none of them zero.
#[derive(Clone, Default, Debug)]
pub(super) struct Amounts<'a> {
    entries: Vec<(Text<'a>, Amount)>,
    /// There were more than are kept.
    is_cut: bool,
}

/// One exact amount; what cannot be read is nothing on a node and too much in a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount(Option<Quantity>);

/// No node has more of anything: 64 Ti bytes, 70 Tera milli-cores.
const AMOUNT_MAX: i64 = 1 << 46;
/// Pods that ask for as much CPU or memory wait: queues sum these, and the sum over a million pods fits into 63 bits.
const SUMMED_MAX: i64 = 1 << 43;
/// An object with more resources than this is cut: the bound keeps a hostile object cheap.
const NAMES_MAX: usize = 256;
/// So many resources beside the usual ones may all containers of a pod name together.
const POD_NAMES_MAX: usize = 512;
/// Says what is kept of every object, however many resources it names.
const ALWAYS_KEPT: [&str; 5] =
    [resource::CPU, resource::MEMORY, resource::PODS, resource::NVIDIA_GPU, resource::AMD_GPU];

impl Amount {
    /// The amount as written; none where it cannot be read.
    pub(super) fn quantity(self) -> Option<Quantity> {
        self.0
    }

    fn is_zero(self) -> bool {
        self.0.is_some_and(|quantity| quantity.is_zero())
    }

    /// In the engine's unit of a lane.
    pub(super) fn on(self, lane: Lane) -> i64 {
        match lane {
            Lane::CPU => self.in_units(|quantity| quantity.milli().ok()),
            Lane::GPU => self.value().saturating_mul(GPU_MILLI).min(AMOUNT_MAX),
            _ => self.value(),
        }
    }

    /// Whole units, rounded up.
    pub(super) fn value(self) -> i64 {
        self.in_units(|quantity| quantity.value().ok())
    }

    fn in_units(self, convert: impl Fn(&Quantity) -> Option<i64>) -> i64 {
        let amount = self.0.as_ref().map_or(0, |quantity| convert(quantity).unwrap_or(AMOUNT_MAX));
        amount.clamp(0, AMOUNT_MAX)
    }
}

impl Amounts<'_> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Amount)> {
        self.entries.iter().map(|(name, amount)| (&**name, *amount))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Spelling;
        impl Visitor<'_> for Spelling {
            type Value = Amount;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a quantity")
            }

            fn visit_str<E>(self, text: &str) -> Result<Amount, E> {
                Ok(Amount(Quantity::from_str(text).ok()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Amount, E> {
                Ok(Amount(i64::try_from(number).ok().map(Quantity::from_value)))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Amount, E> {
                Ok(Amount(Some(Quantity::from_value(number))))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Amount, E> {
                Ok(Amount(Quantity::from_str(&number.to_string()).ok()))
            }
        }
        deserializer.deserialize_any(Spelling)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Amounts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Amounts<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a map of quantities")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Amounts::default())
            }

            fn visit_map<A>(self, mut map: A) -> Result<Self::Value, A::Error>
            where
                A: serde::de::MapAccess<'de>,
            {
                let mut amounts = Amounts::default();
                while let Some((name, amount)) = map.next_entry::<Text<'de>, Amount>()? {
                    let is_kept = ALWAYS_KEPT.contains(&&*name);
                    if amount.is_zero() {
                        continue;
                    }
                    if is_kept || amounts.entries.len() < NAMES_MAX {
                        amounts.entries.push((name, amount));
                    } else {
                        amounts.is_cut = true;
                    }
                }
                Ok(amounts)
            }
        }
        deserializer.deserialize_any(Entries)
    }
}

/// Holds what a container asks for.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Container<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) resources: Requirements<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) ports: Vec<Port<'a>>,
    #[serde(borrow)]
    pub(super) restart_policy: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) volume_mounts: Vec<Named<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) env: Vec<Variable<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) env_from: Vec<VariableSource<'a>>,
}

/// Holds what a kubelet has given to a container, which may be more or less than is asked for once a pod is resized.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ContainerStatus<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    resources: Option<Requirements<'a>>,
    #[serde(borrow)]
    allocated_resources: Amounts<'a>,
}

/// Something that refers to another by its name.
#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Named<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) optional: Option<bool>,
}

/// One of `env`, only whether it comes from a config map.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Variable<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) value_from: Option<VariableSource<'a>>,
}

/// Says where variables come from, only config maps.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct VariableSource<'a> {
    #[serde(borrow, alias = "configMapKeyRef")]
    pub(super) config_map_ref: Option<Named<'a>>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(super) struct Requirements<'a> {
    #[serde(borrow)]
    pub(super) requests: Amounts<'a>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Port<'a> {
    #[serde(rename = "hostPort")]
    pub(super) on_host: u16,
    #[serde(borrow)]
    pub(super) protocol: Text<'a>,
    #[serde(rename = "hostIP", borrow)]
    pub(super) host_ip: Text<'a>,
}

/// Everything of a pod that asks for amounts.
#[derive(Debug)]
pub(super) struct Asking<'w, 'a> {
    pub(super) containers: &'w [Container<'a>],
    pub(super) init_containers: &'w [Container<'a>],
    pub(super) overhead: &'w Amounts<'a>,
    /// `spec.resources`, which replaces the sum for what it names.
    pub(super) pod: &'w Amounts<'a>,
    /// Statuses of containers and of init containers.
    pub(super) given: [&'w [ContainerStatus<'a>]; 2],
    /// `status.resources` and `status.allocatedResources`, which are of the pod as a whole.
    pub(super) given_whole: (Option<&'w Requirements<'a>>, &'w Amounts<'a>),
    /// The kubelet has said that it will never give what a resize asks for.
    pub(super) is_infeasible: bool,
}

impl<'a> Asking<'_, 'a> {
    /// The request of the whole pod.
    ///
    /// # Source
    /// docs/behaviour.md 2.2, and KEP-2837 and KEP-5419 for requests of the pod as a whole.
    pub(super) fn request(&self, context: &mut Context) -> Resources {
        let is_overlong = is_overlong(self.all());
        let mut running = Resources::default();
        for container in self.containers {
            add(&mut running, &self.of(context, container, is_overlong));
        }
        let mut initial = Initial::default();
        for container in self.init_containers {
            let own = self.of(context, container, is_overlong);
            initial.begin(&own, &*container.restart_policy == "Always");
        }
        let (sidecars, peak) = initial.end();
        add(&mut running, &sidecars);
        raise(&mut running, &peak);
        let mut whole = amounts(context, self.pod);
        if let (Some(applied), allocated) = self.given_whole
            && whole.iter().next().is_some()
        {
            // Of the others its kubelet says what containers have together, which counts by container.
            let given = given(context, applied, allocated);
            let is_named = |lane: Lane| whole.amount(lane) > 0;
            let named: Resources = given.iter().filter(|(lane, _)| is_named(*lane)).collect();
            self.resize(&mut whole, &named);
        }
        for (lane, amount) in whole.iter() {
            running.add(lane, amount - running.amount(lane));
        }
        add(&mut running, &amounts(context, self.overhead));
        running
    }

    /// Works out what a container takes.
    fn of(&self, context: &mut Context, container: &Container<'a>, is_overlong: bool) -> Resources {
        let mut own = if is_overlong {
            kept(context, &container.resources.requests)
        } else {
            amounts(context, &container.resources.requests)
        };
        let mut statuses = self.given.into_iter().flatten();
        let status = statuses.find(|status| *status.name == *container.name);
        let Some(status) = status else { return own };
        let Some(actual) = &status.resources else { return own };
        let given = given(context, actual, &status.allocated_resources);
        self.resize(&mut own, &given);
        own
    }

    /// Makes of what is asked for what is taken: the most of it and of what the kubelet has given, until both are the same; what
    /// was given alone, where more will never be given. Only CPU and memory can change while a pod runs.
    ///
    /// # Source
    /// KEP-1287, "Scheduler and API server interaction".
    fn resize(&self, own: &mut Resources, given: &Resources) {
        for lane in [Lane::CPU, Lane::MEMORY] {
            let more = given.amount(lane) - own.amount(lane);
            if more > 0 || self.is_infeasible {
                own.add(lane, more);
            }
        }
    }

    /// All amounts that are named anywhere.
    fn all(&self) -> impl Iterator<Item = &Amounts<'_>> {
        let containers = self.containers.iter().chain(self.init_containers);
        let containers = containers.map(|container| &container.resources.requests);
        containers.chain([self.overhead, self.pod])
    }

    /// Says why the request cannot be counted as it is written, where that is so: such a pod must not run.
    pub(super) fn uncounted(&self, context: &Context) -> Option<String> {
        if self.all().any(|amounts| amounts.is_cut) {
            return Some(format!(
                "a container asks for more than {NAMES_MAX} resources, which is more than are counted: ask for fewer"
            ));
        }
        if is_overlong(self.all()) {
            return Some(format!(
                "its containers ask for more than {POD_NAMES_MAX} resources, which is more than are counted: ask for fewer"
            ));
        }
        let mut names = self.all().flat_map(Amounts::iter).map(|(name, _)| name);
        names.find(|name| !context.names.counts(name)).map(|name| {
            format!(
                "resource {name} is on no node, and pods ask for too many such resources to count it: ask for one \
                 that a node has"
            )
        })
    }
}

/// Init containers, one after the other, with the sidecars that run beside them.
#[derive(Debug, Default)]
pub(super) struct Initial {
    /// All sidecars so far.
    sidecars: Resources,
    /// The most of those that ran beside the same sidecars: these are added once, however many there are.
    alone: Resources,
    /// The most that ran at a time before the last sidecar.
    peak: Resources,
}

impl Initial {
    /// Another one begins.
    pub(super) fn begin(&mut self, own: &Resources, is_sidecar: bool) {
        if !is_sidecar {
            raise(&mut self.alone, own);
            return;
        }
        if self.alone.iter().next().is_some() {
            self.close();
        }
        add(&mut self.sidecars, own);
    }

    /// Adds the sidecars so far to those that ran beside them. A lane of which none of those asks for anything costs nothing: the
    /// sidecars have no less of it beside the containers later.
    fn close(&mut self) {
        let mut together = std::mem::take(&mut self.alone);
        let beside = |(lane, _): (Lane, i64)| (lane, self.sidecars.amount(lane));
        let beside: Resources = together.iter().map(beside).collect();
        add(&mut together, &beside);
        raise(&mut self.peak, &together);
    }

    /// All sidecars, and the most that ran at a time, but for lanes of which sidecars alone asked then: these are never more than
    /// run with the containers.
    pub(super) fn end(mut self) -> (Resources, Resources) {
        self.close();
        (self.sidecars, self.peak)
    }
}

fn is_always_kept(name: &str) -> bool {
    ALWAYS_KEPT.contains(&name) || name.starts_with(resource::MIG_PREFIX)
}

/// Tells whether a pod names more resources than are counted, once for each container.
pub(super) fn is_overlong<'w, 'a: 'w>(all: impl Iterator<Item = &'w Amounts<'a>>) -> bool {
    let mut names = all.flat_map(Amounts::iter).filter(|(name, _)| !ALWAYS_KEPT.contains(name));
    names.nth(POD_NAMES_MAX).is_some()
}

/// Works out what a kubelet has given: the most of what it applies and what it has set aside.
fn given(context: &mut Context, applied: &Requirements<'_>, allocated: &Amounts<'_>) -> Resources {
    let mut given = amounts(context, &applied.requests);
    raise(&mut given, &amounts(context, allocated));
    given
}

/// The amounts that count however many resources a pod names.
fn kept(context: &mut Context, all: &Amounts<'_>) -> Resources {
    let entries = all.entries.iter().filter(|(name, _)| is_always_kept(name)).cloned().collect();
    amounts(context, &Amounts { entries, is_cut: all.is_cut })
}

fn is_summed(lane: Lane) -> bool {
    matches!(lane, Lane::CPU | Lane::MEMORY)
}

/// The largest request that is told.
fn most(lane: Lane) -> i64 {
    if is_summed(lane) { SUMMED_MAX } else { AMOUNT_MAX }
}

/// Says that a request is more than can be counted, where that is so.
pub(super) fn excess(context: &Context, request: &Resources) -> Option<String> {
    let is_excess = |(lane, amount): &(Lane, i64)| is_summed(*lane) && *amount >= most(*lane);
    let (lane, _) = request.iter().find(is_excess)?;
    let name = context.names.lane_name(lane);
    Some(format!("it asks for more of {name} than a node can have: ask for less"))
}

pub(super) fn amounts(context: &mut Context, amounts: &Amounts<'_>) -> Resources {
    let mut lanes = Vec::with_capacity(amounts.entries.len());
    for (name, amount) in amounts.iter() {
        // What has no lane is on no node, and keeps the pod waiting.
        let Some(lane) = context.pod_lane(name) else { continue };
        // A request that cannot be read must not be taken for none.
        let amount = if amount.0.is_none() { AMOUNT_MAX } else { amount.on(lane) };
        lanes.push((lane, amount.min(most(lane))));
    }
    lanes.into_iter().collect()
}

/// Has tests count the lanes that are looked up as amounts are summed up.
fn note_step() {
    #[cfg(test)]
    tests::STEPS.set(tests::STEPS.get() + 1);
}

pub(super) fn add(sum: &mut Resources, more: &Resources) {
    for (lane, amount) in more.iter() {
        note_step();
        let now = sum.amount(lane);
        sum.add(lane, now.saturating_add(amount).min(most(lane)) - now);
    }
}

pub(super) fn raise(most: &mut Resources, other: &Resources) {
    for (lane, amount) in other.iter() {
        note_step();
        let now = most.amount(lane);
        most.add(lane, (amount - now).max(0));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Lanes that were looked up on this thread as amounts were summed up.
        pub(super) static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// The sum as Kubernetes describes it: each init container with all sidecars before it.
    fn one_by_one(containers: &[(Vec<i64>, bool)]) -> (Resources, Resources) {
        let (mut sidecars, mut peak) = (Resources::default(), Resources::default());
        for (amounts, is_sidecar) in containers {
            let mut own = request(amounts);
            if *is_sidecar {
                add(&mut sidecars, &own);
            } else {
                add(&mut own, &sidecars);
                raise(&mut peak, &own);
            }
        }
        (sidecars, peak)
    }

    fn request(amounts: &[i64]) -> Resources {
        let lanes = (0..).map(Lane::new);
        lanes.zip(amounts).map(|(lane, amount)| (lane, *amount)).collect()
    }

    /// Each history of three init containers with few amounts on two lanes gives the same as one by one.
    #[test]
    fn init_containers_are_summed_as_one_by_one() {
        let containers: Vec<(Vec<i64>, bool)> =
            (0..18).map(|number| (vec![number % 3, number / 3 % 3 * 5], number >= 9)).collect();
        for one in &containers {
            for two in &containers {
                for three in &containers {
                    let all = [one.clone(), two.clone(), three.clone(), two.clone()];
                    let mut initial = Initial::default();
                    for (amounts, is_sidecar) in &all {
                        initial.begin(&request(amounts), *is_sidecar);
                    }
                    let (sidecars, mut peak) = initial.end();
                    let (expected, mut most) = one_by_one(&all);
                    assert_eq!(sidecars, expected, "{all:?}");
                    // What runs then has the sidecars in it, too.
                    raise(&mut peak, &sidecars);
                    raise(&mut most, &expected);
                    assert_eq!(peak, most, "{all:?}");
                }
            }
        }
    }

    /// Whoever has sidecars and others come by turns would have all sidecars added once for each of the others.
    #[test]
    fn sidecars_that_come_by_turns_with_others_cost_what_they_name() {
        const SIDECARS: u16 = 16;
        const LANES: u16 = 250;
        const TURNS: usize = 1_000;
        let named = |sidecar: u16| -> Resources {
            let first = Lane::FIRST_EXTENDED + sidecar * LANES;
            (first..first + LANES).map(|lane| (Lane::new(lane), 1)).collect()
        };
        let mut initial = Initial::default();
        STEPS.set(0);
        for sidecar in 0..SIDECARS {
            initial.begin(&named(sidecar), true);
        }
        for _ in 0..TURNS {
            initial.begin(&request(&[1_000]), false);
            initial.begin(&Resources::default(), true);
        }
        let (sidecars, peak) = initial.end();
        let steps = STEPS.get();
        let lanes = usize::from(SIDECARS * LANES);
        assert_eq!((sidecars.iter().count(), peak.amount(Lane::CPU)), (lanes, 1_000));
        let written = lanes + TURNS;
        assert!(steps <= 5 * written, "{steps} for {written} names");
    }
}
