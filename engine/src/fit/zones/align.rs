//! Zones that serve a request: the rules of the kubelet's policies.

use crate::{
    base::resources::{Lane, Resources},
    told::numa::{Alignment, Numa, NumaPolicy, NumaScope, ZoneAmount},
};

/// Number of sets of zones that one request may be tried on.
const SETS_MAX: u32 = 20_000;

/// Works out what a pod would hold of zones with so much left; none where the policy refuses it.
pub(super) fn fit(
    numa: &Numa,
    mut left: Vec<Resources>,
    alignment: &Alignment,
) -> Option<Vec<ZoneAmount>> {
    let pod = std::slice::from_ref(&alignment.pod);
    let (serial, concurrent) = match numa.scope {
        NumaScope::Container => (alignment.serial.as_slice(), alignment.concurrent.as_slice()),
        NumaScope::Pod => (&[][..], pod),
    };
    let strict = numa.policy != NumaPolicy::BestEffort;
    for request in serial {
        if strict && zones_for(numa, &left, &aware(numa, request)).is_none() {
            return None;
        }
    }
    let mut held: Vec<ZoneAmount> = Vec::new();
    for request in concurrent {
        let request = aware(numa, request);
        let zones = zones_for(numa, &left, &request);
        if strict && zones.is_none() {
            return None;
        }
        let zones = zones.unwrap_or_else(|| (0..left.len()).collect());
        draw(&mut left, &zones, &request, &mut held);
    }
    Some(held)
}

/// The part of a request that some zone has a say in.
fn aware(numa: &Numa, request: &Resources) -> Vec<(Lane, i64)> {
    let known = |lane: Lane| numa.zones.iter().any(|zone| zone.amount(lane) > 0);
    request.iter().filter(|(lane, amount)| *amount > 0 && known(*lane)).collect()
}

fn zones_for(numa: &Numa, left: &[Resources], request: &[(Lane, i64)]) -> Option<Vec<usize>> {
    if request.is_empty() {
        return Some(Vec::new());
    }
    match numa.policy {
        NumaPolicy::None => Some(Vec::new()),
        NumaPolicy::BestEffort => Some(greedy(left, request)),
        NumaPolicy::SingleNumaNode => {
            (0..left.len()).find(|zone| covers(left, &[*zone], request)).map(|zone| vec![zone])
        }
        NumaPolicy::Restricted => {
            let mut widths = request.iter().map(|(lane, amount)| width(numa, *lane, *amount));
            let first = widths.next()??;
            if !widths.all(|width| width == Some(first)) {
                return None;
            }
            let mut search = ZoneSearch { left, request, chosen: Vec::new(), sets: 0 };
            search.covers_with(first, 0).then_some(search.chosen)
        }
    }
}

/// The fewest zones that could ever give so much of a resource.
fn width(numa: &Numa, lane: Lane, amount: i64) -> Option<usize> {
    let mut sizes: Vec<i64> = numa.zones.iter().map(|zone| zone.amount(lane)).collect();
    sizes.sort_unstable_by_key(|size| -size);
    let mut sum = 0;
    let enough = |size: i64| {
        sum += size;
        sum >= amount
    };
    sizes.into_iter().map(enough).position(|enough| enough).map(|at| at + 1)
}

/// A search for the first set of zones, in the order of zones, that covers a request.
struct ZoneSearch<'a> {
    left: &'a [Resources],
    request: &'a [(Lane, i64)],
    chosen: Vec<usize>,
    /// Number of sets that were tried.
    sets: u32,
}

impl ZoneSearch<'_> {
    /// Chooses so many zones more, from a zone on, that cover the request with those chosen before; says whether it could.
    fn covers_with(&mut self, count: usize, from: usize) -> bool {
        if count == 0 {
            self.sets += 1;
            return covers(self.left, &self.chosen, self.request);
        }
        let Some(last) = self.left.len().checked_sub(count) else { return false };
        for zone in from..=last {
            if self.sets >= SETS_MAX {
                return false;
            }
            self.chosen.push(zone);
            if self.covers_with(count - 1, zone + 1) {
                return true;
            }
            self.chosen.pop();
        }
        false
    }
}

fn covers(left: &[Resources], zones: &[usize], request: &[(Lane, i64)]) -> bool {
    request.iter().all(|(lane, amount)| {
        zones.iter().map(|zone| left[*zone].amount(*lane).max(0)).sum::<i64>() >= *amount
    })
}

/// Adds the zone that covers most of what is still missing until nothing is missing, or no zone helps.
fn greedy(left: &[Resources], request: &[(Lane, i64)]) -> Vec<usize> {
    let mut rest: Vec<(Lane, i64)> = request.to_vec();
    let mut chosen: Vec<usize> = Vec::new();
    loop {
        let covered = |zone: usize| -> i64 {
            rest.iter().map(|(lane, amount)| left[zone].amount(*lane).clamp(0, *amount)).sum()
        };
        let best = (0..left.len())
            .filter(|zone| !chosen.contains(zone))
            .map(|zone| (std::cmp::Reverse(covered(zone)), zone))
            .min();
        let Some((std::cmp::Reverse(1..), zone)) = best else { break };
        for (lane, amount) in &mut rest {
            *amount -= left[zone].amount(*lane).clamp(0, *amount);
        }
        chosen.push(zone);
        if rest.iter().all(|(_, amount)| *amount == 0) {
            break;
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Takes a request from zones in order, as much as possible of each.
fn draw(
    left: &mut [Resources],
    zones: &[usize],
    request: &[(Lane, i64)],
    held: &mut Vec<ZoneAmount>,
) {
    for (lane, amount) in request {
        let mut rest = *amount;
        for zone in zones {
            let part = left[*zone].amount(*lane).clamp(0, rest);
            if part == 0 {
                continue;
            }
            rest -= part;
            left[*zone].add(*lane, -part);
            let zone = u16::try_from(*zone).expect("a node has fewer than 2^16 zones");
            match held.iter_mut().find(|one| (one.zone, one.lane) == (zone, *lane)) {
                Some(one) => one.amount += part,
                None => held.push(ZoneAmount { zone, lane: *lane, amount: part }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SETS_MAX, ZoneSearch, fit};
    use crate::{
        Lane, Resources,
        told::numa::{Alignment, Numa, NumaPolicy, NumaScope},
    };

    /// Zones and requests as `cpu gpu`; what is held as `zone:cpu gpu` pairs.
    fn check(policy: NumaPolicy, zones: &[[i64; 2]], requests: &[[i64; 2]], expect: Option<&str>) {
        let amounts =
            |[cpu, gpu]: &[i64; 2]| Resources::from_iter([(Lane::CPU, *cpu), (Lane::GPU, *gpu)]);
        let zones: Vec<Resources> = zones.iter().map(amounts).collect();
        let numa = Numa { policy, scope: NumaScope::Container, zones: zones.clone() };
        let concurrent = requests.iter().map(amounts).collect();
        let alignment = Alignment { concurrent, ..Alignment::default() };
        let held = fit(&numa, zones, &alignment).map(|held| {
            let one = |one: &crate::ZoneAmount| {
                let what = if one.lane == Lane::CPU { "cpu" } else { "gpu" };
                format!("{}:{what}{}", one.zone, one.amount)
            };
            held.iter().map(one).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(held.as_deref(), expect, "{policy:?} {requests:?}");
    }

    /// An init container ends before the others start, and has what other pods left of zones.
    #[test]
    fn init_containers_ask_for_what_is_left() {
        let gpus = |count: i64| Resources::from_iter([(Lane::GPU, count)]);
        let (policy, scope) = (NumaPolicy::SingleNumaNode, NumaScope::Container);
        let numa = Numa { policy, scope, zones: vec![gpus(4), gpus(4)] };
        let fits = |init: i64| {
            let (concurrent, serial) = (vec![gpus(1)], vec![gpus(init)]);
            let alignment = Alignment { concurrent, serial, ..Alignment::default() };
            fit(&numa, vec![gpus(2), gpus(2)], &alignment).is_some()
        };
        assert_eq!([2, 3].map(fits), [true, false]);
    }

    /// Containers that find zones one by one need not find one for all of them.
    #[test]
    fn a_pod_is_aligned_as_a_whole_where_that_is_the_scope() {
        let cores = |count: i64| Resources::from_iter([(Lane::CPU, count)]);
        let concurrent = vec![cores(3), cores(3)];
        let alignment = Alignment { pod: cores(6), concurrent, ..Alignment::default() };
        let fits = |scope: NumaScope| {
            let zones = vec![cores(4), cores(4)];
            let numa = Numa { policy: NumaPolicy::SingleNumaNode, scope, zones: zones.clone() };
            fit(&numa, zones, &alignment).is_some()
        };
        assert_eq!([NumaScope::Container, NumaScope::Pod].map(fits), [true, false]);
    }

    /// A node may report so many zones that no search goes through all sets of them.
    #[test]
    fn no_more_sets_of_zones_are_tried_than_may_be() {
        let left = vec![Resources::from_iter([(Lane::CPU, 1)]); 24];
        let request = [(Lane::CPU, 13_i64)];
        let mut search = ZoneSearch { left: &left, request: &request, chosen: Vec::new(), sets: 0 };
        assert!(!search.covers_with(12, 0));
        assert_eq!(search.sets, SETS_MAX);
    }

    #[test]
    fn policies_choose_zones() {
        use NumaPolicy::{BestEffort, Restricted, SingleNumaNode};
        let two = [[4, 2], [4, 2]];
        check(SingleNumaNode, &two, &[[3, 1]], Some("0:cpu3 0:gpu1"));
        check(SingleNumaNode, &two, &[[5, 0]], None);
        check(SingleNumaNode, &two, &[[3, 0], [3, 0]], Some("0:cpu3 1:cpu3"));
        check(SingleNumaNode, &two, &[[3, 0], [3, 0], [3, 0]], None);
        check(Restricted, &two, &[[6, 4]], Some("0:cpu4 1:cpu2 0:gpu2 1:gpu2"));
        // One resource needs one zone and the other two.
        check(Restricted, &two, &[[6, 1]], None);
        check(Restricted, &two, &[[9, 0]], None);
        // One zone is enough for each resource, and it is the second one.
        check(Restricted, &[[4, 1], [16, 1]], &[[8, 1]], Some("1:cpu8 1:gpu1"));
        check(BestEffort, &two, &[[6, 1]], Some("0:cpu4 1:cpu2 0:gpu1"));
        check(BestEffort, &[[1, 0], [4, 0]], &[[4, 0]], Some("1:cpu4"));
        check(BestEffort, &two, &[[9, 0]], Some("0:cpu4 1:cpu4"));
    }
}
