//! Divides the places of a port among those who connect, so that nobody keeps others out.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use tokio_util::sync::CancellationToken;

/// Bits of an IPv6 address that tell peers apart: whoever has one address has all behind them.
const PEER_BITS: u32 = 64;

/// Names who connects: an IPv4 address, or the first half of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Peer(IpAddr);

impl Peer {
    /// The peer of an address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let first = address.to_bits() >> PEER_BITS << PEER_BITS;
                Self(Ipv6Addr::from_bits(first).into())
            }
            four @ IpAddr::V4(_) => Self(four),
        }
    }
}

/// Holds the connections of a port.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    /// Counts what happens: the smaller number was before.
    happened: u64,
    rows: BTreeMap<u64, Row>,
}

#[derive(Debug)]
struct Row {
    peer: Peer,
    /// A question is being answered, or its answer read.
    is_asking: bool,
    /// The last thing that happened to it.
    since: u64,
    cut: CancellationToken,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self { most, happened: 0, rows: BTreeMap::new() }
    }

    /// Takes a place, and says by which number, and what tells that it was given to another.
    ///
    /// Everybody who comes gets one: where all are taken, one of the peer with most of them is given up.
    pub(super) fn enter(&mut self, peer: Peer) -> (u64, CancellationToken) {
        if self.rows.len() >= self.most
            && let Some(row) = self.loser(peer).and_then(|id| self.rows.remove(&id))
        {
            row.cut.cancel();
        }
        let (id, cut) = (self.next(), CancellationToken::new());
        let row = Row { peer, is_asking: false, since: id, cut: cut.clone() };
        self.rows.insert(id, row);
        (id, cut)
    }

    /// Notes that a question came, or that its answer was read.
    pub(super) fn note(&mut self, id: u64, is_asking: bool) {
        let since = self.next();
        if let Some(row) = self.rows.get_mut(&id) {
            (row.is_asking, row.since) = (is_asking, since);
        }
    }

    /// Gives a place back.
    pub(super) fn leave(&mut self, id: u64) {
        self.rows.remove(&id);
    }

    fn next(&mut self) -> u64 {
        self.happened += 1;
        self.happened
    }

    /// The place that is given up for one more of a peer: of those who then have most, one that asks nothing, else the one
    /// that has been asking for longest.
    fn loser(&self, newcomer: Peer) -> Option<u64> {
        let mut counts = BTreeMap::from([(newcomer, 1)]);
        for row in self.rows.values() {
            *counts.entry(row.peer).or_insert(0) += 1;
        }
        let count = |row: &Row| counts.get(&row.peer).copied();
        let order = |row: &Row| (Reverse(count(row)), row.is_asking, row.since);
        self.rows.iter().min_by_key(|(_, row)| order(row)).map(|(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer::of(text.parse().expect("an address"))
    }

    #[test]
    fn a_peer_is_an_address_or_the_first_half_of_a_long_one() {
        for (one, other, is_same) in [
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
            ("10.0.0.1", "::ffff:10.0.0.1", true),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
            ("2001:db8::1", "2001:db8::ffff:2", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
        ] {
            assert_eq!(peer(one) == peer(other), is_same, "{one} {other}");
        }
    }

    /// Each row: connections in the order in which they come, `?` behind those that ask; who comes then; who loses its place.
    #[test]
    fn the_peer_with_most_gives_a_place_up() {
        for (before, comes, loses) in [
            ("a b", "c", ""),
            ("a b b b", "c", "1"),
            ("a b b b", "a", "1"),
            ("a? b? b b", "c", "2"),
            ("a b? b? b?", "c", "1"),
            // Its own, where it has most: the API server and somebody behind one address take turns.
            ("b b b b", "b", "0"),
            ("a b b b", "b", "1"),
            ("b? b? b? b?", "b", "0"),
            ("a b c d", "e", "0"),
            ("a? b c d", "e", "1"),
        ] {
            let mut places = Places::new(4);
            let name = |letter: &str| peer(&format!("10.0.0.{}", letter.as_bytes()[0]));
            let cuts: Vec<_> = before
                .split(' ')
                .map(|word| {
                    let (id, cut) = places.enter(name(word));
                    if word.ends_with('?') {
                        places.note(id, true);
                    }
                    cut
                })
                .collect();
            let (_, own) = places.enter(name(comes));
            let lost = cuts.iter().enumerate().filter(|(_, cut)| cut.is_cancelled());
            let lost: Vec<String> = lost.map(|(at, _)| at.to_string()).collect();
            assert_eq!(lost.concat(), loses, "{before}, then {comes}");
            assert!(!own.is_cancelled() && places.rows.len() <= 4);
        }
    }

    #[test]
    fn who_was_answered_last_stays_longest() {
        let mut places = Places::new(2);
        let (first, first_cut) = places.enter(peer("10.0.0.1"));
        let (_, second_cut) = places.enter(peer("10.0.0.1"));
        places.note(first, true);
        places.note(first, false);
        places.enter(peer("10.0.0.1"));
        assert!(second_cut.is_cancelled() && !first_cut.is_cancelled());
        places.leave(first);
        assert_eq!(places.rows.len(), 1);
    }
}
