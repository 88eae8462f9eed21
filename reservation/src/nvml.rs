//! NVIDIA's management library, opened while the program runs.

use std::ffi::OsStr;

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use crate::device::{Answer, Device};

/// Places where the library may be: by the loader's own search, then where the container runtime puts it in images
/// whose loader has no cache.
const PATHS: [&str; 4] = [
    "libnvidia-ml.so.1",
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
];

/// Asks NVML for the devices that this process sees.
pub fn ask() -> Answer {
    let mut why = String::new();
    for path in PATHS {
        match Nvml::builder().lib_path(OsStr::new(path)).init() {
            Ok(nvml) => return devices(&nvml).unwrap_or_else(|failed| failed),
            Err(NvmlError::LibloadingError(error)) if why.is_empty() => {
                why = format!("NVML cannot be opened ({error})");
            }
            Err(NvmlError::LibloadingError(_)) => {}
            Err(error) => return failed("nvmlInit_v2", &error),
        }
    }
    Answer::Absent(why)
}

fn devices(nvml: &Nvml) -> Result<Answer, Answer> {
    let count = nvml.device_count().map_err(|error| failed("nvmlDeviceGetCount_v2", &error))?;
    let device = |index| {
        let device = nvml
            .device_by_index(index)
            .map_err(|error| failed("nvmlDeviceGetHandleByIndex_v2", &error))?;
        let uuid = device.uuid().map_err(|error| failed("nvmlDeviceGetUUID", &error))?;
        let mig = match device.mig_mode() {
            // NVML_DEVICE_MIG_ENABLE.
            Ok(mode) => mode.current == 1,
            // A device or a driver older than MIG.
            Err(NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_)) => false,
            Err(error) => return Err(failed("nvmlDeviceGetMigMode", &error)),
        };
        Ok(Device { index, uuid, mig })
    };
    (0..count).map(device).collect::<Result<_, _>>().map(Answer::Devices)
}

fn failed(call: &str, error: &NvmlError) -> Answer {
    Answer::Failed { call: call.to_owned(), error: error.to_string() }
}
