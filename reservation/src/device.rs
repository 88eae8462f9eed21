//! Finds the device that the pod was given, from what NVML says and what the device plugin put into the environment.
//! Pure.

use serde::{Deserialize, Serialize};

/// Start of the UUID of a whole GPU.
const WHOLE: &str = "GPU-";
/// Start of the UUID of a slice of a GPU.
const SLICE: &str = "MIG-";

/// Answer of NVML about the devices that the container sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Answer {
    /// There is no library to ask: why it could not be opened.
    Absent(String),
    /// The library is there, and a call failed.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// The call, as NVIDIA names it.
        call: String,
        /// The answer.
        error: String,
    },
    /// The devices, in NVML's order.
    Devices(Vec<Device>),
}

/// A device as NVML tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Device {
    /// Its number among those that the container sees.
    pub index: u32,
    /// `GPU-` and the UUID.
    pub uuid: String,
    /// True if it is split into MIG devices.
    #[serde(default)]
    pub mig: bool,
}

/// The device that the pod holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// `GPU-` and the UUID.
    pub uuid: String,
    /// Its number among those that the container sees; unknown where the environment named it.
    pub index: Option<u32>,
}

/// The reason why it is not clear which device the pod was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unclear {
    /// NVML is there and broken: the device may be as well.
    #[error(
        "NVML failed in {call}: {error}; look at the driver on this node: nvidia-smi, and dmesg for Xid errors"
    )]
    Driver {
        /// The call, as NVIDIA names it.
        call: String,
        /// The answer.
        error: String,
    },
    /// Not one device, by NVML.
    #[error(
        "NVML shows {0} devices and a reservation holds exactly one; the pod must ask for nvidia.com/gpu: 1, \
         and the device plugin must show a container no more than it was given"
    )]
    Count(usize),
    /// The device is split.
    #[error(
        "{0} is split into MIG devices: no share of it can be given; take MIG off, or ask for the slices by name"
    )]
    Split(String),
    /// NVML is absent and the environment does not help.
    #[error("{library}, and NVIDIA_VISIBLE_DEVICES {environment}; {FIX}")]
    Environment {
        /// The reason why NVML could not be asked.
        library: String,
        /// The problem with the variable.
        environment: String,
    },
}

/// Advice where neither source names a device.
const FIX: &str = "give reservation pods the runtime class of the NVIDIA container runtime (Config \
    binder.resourceReservation.runtimeClassName), or let the device plugin list devices by UUID";

/// The one device that the pod was given. `environment` is the variable `NVIDIA_VISIBLE_DEVICES`.
///
/// NVML decides where it can be asked: it sees what the container sees. The environment says what the device plugin
/// meant, which is enough where the library was not put into the container.
///
/// # Errors
/// There is not exactly one device, it is split, or nobody names it by its UUID.
pub fn given(answer: &Answer, environment: Option<&str>) -> Result<Given, Unclear> {
    match answer {
        Answer::Devices(devices) => match &devices[..] {
            [one] if one.mig => Err(Unclear::Split(one.uuid.clone())),
            [one] => Ok(Given { uuid: one.uuid.clone(), index: Some(one.index) }),
            _ => Err(Unclear::Count(devices.len())),
        },
        Answer::Failed { call, error } => {
            Err(Unclear::Driver { call: call.clone(), error: error.clone() })
        }
        Answer::Absent(library) => of_environment(environment)
            .map(|uuid| Given { uuid, index: None })
            .map_err(|environment| Unclear::Environment { library: library.clone(), environment }),
    }
}

/// The UUID that the variable names, plain or as a name of the container device interface
/// (`k8s.device-plugin.nvidia.com/gpu=GPU-...`); or what is wrong with it.
fn of_environment(value: Option<&str>) -> Result<String, String> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return Err(String::from("is not set"));
    };
    let mut names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(format!("is {value:?}, which is not one device"));
    };
    let device = name.rsplit_once('=').map_or(name, |(_, device)| device);
    if device.starts_with(SLICE) {
        return Err(format!("is {value:?}, a MIG device, of which no share can be given"));
    }
    let is_uuid = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    };
    match device.strip_prefix(WHOLE) {
        Some(rest) if is_uuid(rest) => Ok(device.to_owned()),
        _ => Err(format!("is {value:?}, which names no device by its UUID")),
    }
}
