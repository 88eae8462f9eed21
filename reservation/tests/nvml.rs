//! Answers of NVML and the device plugin, as files: their answer in, the device or the refusal out.
//!
//! `nvml/*.yaml` hold one idea each: what it is about (`what`), where the answer is from (`source`), the answer itself
//! (`nvml` and `environment`, in the form that `kai-reservation --show-devices` prints), and either the `device` with
//! its `index`, or a part of the `error`. No file was recorded on a real GPU so far: all are written from NVIDIA's NVML
//! API reference and from the documentation of its device plugin. Whoever has a GPU keeps what the program prints
//! there, with `source: recorded on ...`.

use std::error::Error;
use std::path::Path;

use kai_reservation::device::{Answer, Given, given};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    what: String,
    source: String,
    nvml: Answer,
    #[serde(default)]
    environment: Option<String>,
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    index: Option<u32>,
    #[serde(default)]
    error: Option<String>,
}

#[test]
fn the_device_is_found_or_the_reason_is_told() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nvml");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        let case: Case = serde_saphyr::from_str(&std::fs::read_to_string(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        check(&case, &path);
        count += 1;
    }
    if count == 0 {
        return Err(format!("no files in {}", folder.display()).into());
    }
    Ok(())
}

fn check(case: &Case, path: &Path) {
    let Case { what, source, nvml, environment, device, index, error } = case;
    let at = format!("{}: {what} ({source})", path.display());
    match (given(nvml, environment.as_deref()), device, error) {
        (Ok(found), Some(device), None) => {
            assert_eq!(found, Given { uuid: device.clone(), index: *index }, "{at}");
        }
        (Err(found), None, Some(part)) => {
            assert!(found.to_string().contains(part), "{at}: {found}");
        }
        (found, ..) => panic!("{at}: {found:?}"),
    }
}
