//! Random numbers from one source, so that a simulation can draw them from a seed.
//!
//! What spreads attempts over time, or names what is new, is drawn from here; what must not be guessed is not.

use std::cell::Cell;

use uuid::Uuid;

thread_local! {
    static IS_SEEDED: Cell<bool> = const { Cell::new(false) };
}

/// Has all that this thread draws follow from `seed`.
pub fn seed(seed: u64) {
    fastrand::seed(seed);
    IS_SEEDED.set(true);
}

/// Tells whether this thread draws from a seed.
pub fn is_seeded() -> bool {
    IS_SEEDED.get()
}

/// Draws a number from 0 up to, and without, 1.
pub fn part() -> f64 {
    fastrand::f64()
}

/// Draws a whole number of a range.
pub fn among(range: std::ops::Range<u32>) -> u32 {
    fastrand::u32(range)
}

/// Makes a UUID (version 4) that nothing else has.
pub fn uuid() -> Uuid {
    if is_seeded() {
        uuid::Builder::from_random_bytes(fastrand::u128(..).to_le_bytes()).into_uuid()
    } else {
        Uuid::new_v4()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_what_is_drawn() {
        let drawn = |number| {
            seed(number);
            (uuid(), among(0..1000), part().to_bits())
        };
        let first = drawn(1);
        assert_eq!(first, drawn(1));
        assert_ne!(first, drawn(2));
        assert_eq!(first.0.get_version_num(), 4);
    }
}
