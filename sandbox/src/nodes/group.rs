//! Reads `--nodes`: groups of equal nodes, such as `4xH100:8,2xcpu:64,1xA100:8/1g.10gb`.

mod mig;

use thiserror::Error;

pub use mig::Mig;

/// A GPU model that simulated nodes can carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The short name that `--nodes` takes, e.g. `H100`.
    pub name: &'static str,
    /// The value of the node label `nvidia.com/gpu.product`.
    pub product: &'static str,
    /// Memory of one device in MiB, as the label `nvidia.com/gpu.memory` has it.
    pub memory_mib: u32,
}

/// The models known by name, as NVIDIA's GPU feature discovery labels them.
pub const MODELS: &[Model] = &[
    Model { name: "A10", product: "NVIDIA-A10", memory_mib: 23_028 },
    Model { name: "A100", product: "NVIDIA-A100-SXM4-80GB", memory_mib: 81_920 },
    Model { name: "B200", product: "NVIDIA-B200", memory_mib: 183_359 },
    Model { name: "H100", product: "NVIDIA-H100-80GB-HBM3", memory_mib: 81_559 },
    Model { name: "H200", product: "NVIDIA-H200", memory_mib: 143_771 },
    Model { name: "L4", product: "NVIDIA-L4", memory_mib: 23_034 },
    Model { name: "L40S", product: "NVIDIA-L40S", memory_mib: 46_068 },
    Model { name: "T4", product: "Tesla-T4", memory_mib: 15_360 },
    Model { name: "V100", product: "Tesla-V100-SXM2-32GB", memory_mib: 32_768 },
];

/// The largest number of nodes that one `--nodes` may ask for; more would only be a typing mistake.
pub const NODES_MAX: u32 = 10_000;
/// The largest number of devices on one node.
pub const GPUS_MAX: u32 = 64;
/// CPU cores that come with each GPU, and memory in GiB.
const CORES_PER_GPU: u32 = 16;
const GIB_PER_GPU: u32 = 128;
/// CPU cores of a node without GPUs when none are named, and memory in GiB per core.
const CORES_DEFAULT: u32 = 32;
const GIB_PER_CORE: u32 = 4;

/// A group of equal nodes: one comma-separated part of `--nodes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Number of nodes.
    pub count: u32,
    /// The GPU model; `None` for nodes without GPUs.
    pub model: Option<&'static Model>,
    /// Devices on each node; 0 without a model.
    pub gpus: u32,
    /// Division of each device; `None` for whole ones.
    pub mig: Option<Mig>,
    /// CPU cores of each node.
    pub cores: u32,
}

/// One simulated node, before it is an API object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The node's name, e.g. `node-1`; `cpu-1` without GPUs.
    pub name: String,
    /// The GPU model; `None` without GPUs.
    pub model: Option<&'static Model>,
    /// Devices.
    pub gpus: u32,
    /// Division of each device; `None` for whole ones.
    pub mig: Option<Mig>,
    /// CPU cores.
    pub cores: u32,
    /// Memory in GiB.
    pub memory_gib: u32,
    /// The rack, counted from 1.
    pub rack: u32,
    /// The zone, counted from 1; a zone has eight racks.
    pub zone: u32,
}

/// The reason why `--nodes` was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GroupError {
    /// A part does not have the form `COUNTxMODEL[:GPUS]`.
    #[error(
        "--nodes: {part:?} is not COUNTxMODEL:GPUS[/PROFILE] or COUNTxcpu:CORES, e.g. 4xH100:8,2xcpu:64"
    )]
    Shape {
        /// The part as typed.
        part: String,
    },
    /// The model has no row in [`MODELS`].
    #[error(
        "--nodes: {part:?} names an unknown GPU model {model:?}; known are {}, and cpu",
        names()
    )]
    Model {
        /// The part as typed.
        part: String,
        /// The model as typed.
        model: String,
    },
    /// The model has no such MIG instances, or none at all.
    #[error(
        "--nodes: {part:?}: {model} is not divided into {profile:?}; MIG is on {}, e.g. 1xA100:8/1g.10gb",
        mig::MODELS.join(", ")
    )]
    Profile {
        /// The part as typed.
        part: String,
        /// The model.
        model: &'static str,
        /// The profile as typed.
        profile: String,
    },
    /// A number is zero or beyond what a cluster can be.
    #[error("--nodes: {part:?} asks for {number} {what}, between 1 and {most} are possible")]
    Bounds {
        /// The part as typed.
        part: String,
        /// The number as typed.
        number: u32,
        /// The thing that the number counts.
        what: &'static str,
        /// The largest number allowed.
        most: u32,
    },
}

fn names() -> String {
    MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(", ")
}

/// Reads the value of `--nodes`. The empty text and `none` mean no nodes.
///
/// # Errors
/// Names the part that was not understood and what would be.
pub fn parse(text: &str) -> Result<Vec<Group>, GroupError> {
    let text = text.trim();
    if text.is_empty() || text == "none" {
        return Ok(Vec::new());
    }
    let groups: Vec<Group> = text.split(',').map(parse_one).collect::<Result<_, _>>()?;
    let total = groups.iter().fold(0_u32, |sum, group| sum.saturating_add(group.count));
    bounded(text, total, "nodes", NODES_MAX)?;
    Ok(groups)
}

fn parse_one(part: &str) -> Result<Group, GroupError> {
    let shape = || GroupError::Shape { part: part.to_owned() };
    let (count, rest) = part.trim().split_once(['x', 'X', '*']).ok_or_else(shape)?;
    let count = bounded(part, count.parse().map_err(|_| shape())?, "nodes", NODES_MAX)?;
    let (rest, profile) = match rest.split_once('/') {
        Some((rest, profile)) => (rest, Some(profile)),
        None => (rest, None),
    };
    let (name, number) = match rest.split_once(':') {
        Some((name, number)) => (name, Some(number.parse::<u32>().map_err(|_| shape())?)),
        None => (rest, None),
    };
    if name.eq_ignore_ascii_case("cpu") {
        if profile.is_some() {
            return Err(shape());
        }
        let cores = bounded(part, number.unwrap_or(CORES_DEFAULT), "cores", 1024)?;
        return Ok(Group { count, model: None, gpus: 0, mig: None, cores });
    }
    let model = MODELS
        .iter()
        .find(|model| model.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| GroupError::Model { part: part.to_owned(), model: name.to_owned() })?;
    let gpus = bounded(part, number.unwrap_or(8), "GPUs on a node", GPUS_MAX)?;
    let refused = |profile: &str| GroupError::Profile {
        part: part.to_owned(),
        model: model.name,
        profile: profile.to_owned(),
    };
    let mig =
        profile.map(|text| Mig::read(text, model).ok_or_else(|| refused(text))).transpose()?;
    Ok(Group { count, model: Some(model), gpus, mig, cores: gpus * CORES_PER_GPU })
}

fn bounded(part: &str, number: u32, what: &'static str, most: u32) -> Result<u32, GroupError> {
    if number == 0 || number > most {
        return Err(GroupError::Bounds { part: part.to_owned(), number, what, most });
    }
    Ok(number)
}

/// The nodes of all groups in order: names counted on, racks filled with `rack_nodes` nodes each.
///
/// # Panics
/// When `rack_nodes` is 0.
pub fn expand(groups: &[Group], rack_nodes: u32) -> Vec<Spec> {
    assert!(rack_nodes > 0, "a rack holds at least one node");
    let (mut with_gpus, mut without) = (0, 0);
    let mut specs: Vec<Spec> = Vec::new();
    for group in groups {
        for _ in 0..group.count {
            let counter = if group.model.is_some() { &mut with_gpus } else { &mut without };
            *counter += 1;
            let prefix = if group.model.is_some() { "node" } else { "cpu" };
            let position = u32::try_from(specs.len()).expect("NODES_MAX fits in 32 bits");
            let rack = position / rack_nodes;
            specs.push(Spec {
                name: format!("{prefix}-{counter}"),
                model: group.model,
                gpus: group.gpus,
                mig: group.mig.clone(),
                cores: group.cores,
                memory_gib: match group.model {
                    Some(_) => group.gpus * GIB_PER_GPU,
                    None => group.cores * GIB_PER_CORE,
                },
                rack: rack + 1,
                zone: rack / 8 + 1,
            });
        }
    }
    specs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = match parse(text) {
            Ok(groups) => expand(&groups, 2)
                .iter()
                .map(|spec| {
                    let model = spec.model.map_or("-", |model| model.name);
                    let Spec { name, gpus, cores, memory_gib, rack, .. } = spec;
                    let mig = spec.mig.as_ref();
                    let mig =
                        mig.map_or(String::new(), |mig| format!("/{}x{}", mig.each, mig.profile));
                    format!("{name} {model}:{gpus}{mig} {cores}c {memory_gib}Gi r{rack}")
                })
                .collect::<Vec<_>>()
                .join("; "),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expect, "--nodes {text}");
    }

    #[test]
    fn groups_become_nodes() {
        check(
            "2xH100:8,1xcpu",
            "node-1 H100:8 128c 1024Gi r1; node-2 H100:8 128c 1024Gi r1; cpu-1 -:0 32c 128Gi r2",
        );
        check("1xl4:1, 1*A100:4", "node-1 L4:1 16c 128Gi r1; node-2 A100:4 64c 512Gi r1");
        check("1xcpu:8", "cpu-1 -:0 8c 32Gi r1");
        check("1xA100:2/3g.40gb", "node-1 A100:2/2x3g.40gb 32c 256Gi r1");
        check("none", "");
    }

    #[test]
    fn mistakes_are_named() {
        let shape = " is not COUNTxMODEL:GPUS[/PROFILE] or COUNTxcpu:CORES, e.g. 4xH100:8,2xcpu:64";
        check("H100:8", &format!("--nodes: \"H100:8\"{shape}"));
        check("4xH100:many", &format!("--nodes: \"4xH100:many\"{shape}"));
        check("1xcpu:8/1g.10gb", &format!("--nodes: \"1xcpu:8/1g.10gb\"{shape}"));
        for (part, model, profile) in
            [("1xT4:1/1g.10gb", "T4", "1g.10gb"), ("1xA100:1/5g.10gb", "A100", "5g.10gb")]
        {
            check(
                part,
                &format!(
                    "--nodes: {part:?}: {model} is not divided into {profile:?}; MIG is on A100, B200, H100, H200, e.g. \
                     1xA100:8/1g.10gb"
                ),
            );
        }
        check("4xH100:8,", &format!("--nodes: \"\"{shape}"));
        check(
            "0xH100:8",
            "--nodes: \"0xH100:8\" asks for 0 nodes, between 1 and 10000 are possible",
        );
        check(
            "1xH100:65",
            "--nodes: \"1xH100:65\" asks for 65 GPUs on a node, between 1 and 64 are possible",
        );
        check(
            "1xK80:2",
            "--nodes: \"1xK80:2\" names an unknown GPU model \"K80\"; known are A10, A100, B200, \
             H100, H200, L4, L40S, T4, V100, and cpu",
        );
    }
}
