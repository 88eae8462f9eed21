//! Shared GPUs while something dies: afterwards every pod sees the device that its labels name, no device is given twice,
//! and nothing is left once all are gone.
//!
//! `deaths`: the writes are found by a run in which nothing dies. Then something dies at each of them: before it, after it,
//! or with its answer lost; the scheduler, the API server, the reservation pods, or a node. `load`: many pods, and a
//! scheduler that is killed again and again. `template`: the reservation pods themselves, whole.

mod claims;
mod deaths;
mod load;
mod template;
mod world;
