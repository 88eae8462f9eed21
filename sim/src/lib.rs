//! Scenario files, a virtual world, a generator from a seed, plans as text. Pure.
