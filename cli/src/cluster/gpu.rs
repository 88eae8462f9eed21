//! Describes how many GPUs: the grammar of `--gpu` and `--gpu-memory`, and what a pod asks for.
//!
//! `4` whole devices, `0.5` of one device, `0.25x4` a quarter of each of four, `8Gi` of one device's memory, `8Gix2` of
//! each of two, `mig:1g.10gb` or `mig:1g.10gbx2`, each but MIG with a model in front: `H100:4`. Devices of others are whole:
//! `amd:2`, `gaudi:8`, `RESOURCE:2` of any device plugin, `dra:CLASS:2` of a resource claim. Decimal text is never made a
//! binary fraction.

use std::fmt;

mod total;
mod vendors;

pub(crate) use total::{
    Total, ask, claimed_milli, part_milli, share, shared, status_milli, sum, sum_known, whole,
};

use crate::print::error::{Exit, Problem, number};

/// Says what one pod asks of GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gpu {
    /// Whole devices.
    Whole(u32),
    /// A fraction, as decimal text, of each of some devices.
    Share { fraction: String, devices: u32 },
    /// Memory in MiB of each of some devices.
    Memory { memory_mib: u64, devices: u32 },
    /// MIG slices of a profile.
    Mig { profile: String, count: u32 },
    /// Whole devices of another vendor's plugin, by the name of its resource.
    Device { resource: String, count: u32 },
    /// Devices of a class, by a claim of each pod's own.
    Claim { class: String, count: u32 },
}

/// More devices than any node has; a typing error above it.
const DEVICES_MAX: u32 = 100_000;
/// More devices than a pod may share at once.
const SHARED_MAX: u32 = kai_api::shared_gpu::DEVICES_MAX;
/// Decimal places that the scheduler tells apart: thousandths of a device.
const PLACES_MAX: usize = 3;

impl Gpu {
    /// Reads the value of `--gpu` with or without a model, a vendor or a resource in front: `H100:4`, `amd:2`.
    ///
    /// # Errors
    /// Says what the value could have meant.
    pub(crate) fn parse_typed(text: &str) -> Result<(Option<String>, Self), Problem> {
        match text.split_once(':') {
            Some(("dra", claim)) => Ok((None, vendors::claim(text, claim)?)),
            Some((front, amount)) if vendors::resource(front).is_some() => {
                Ok((None, vendors::device(text, front, amount)?))
            }
            Some((model, amount)) if model != "mig" => {
                check_model(&format!("--gpu {text}"), model)?;
                Ok((Some(model.to_owned()), Self::parse(amount)?))
            }
            Some(_) | None => Ok((None, Self::parse(text)?)),
        }
    }

    /// Reads the value of `--gpu`.
    ///
    /// # Errors
    /// Says what the value could have meant.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        if let Some(mig) = text.strip_prefix("mig:") {
            return mig_slices(mig).ok_or_else(|| {
                wrong(text, "is not a MIG profile", None)
                    .fix("--gpu mig:1g.10gb   or   --gpu mig:1g.10gbx2")
            });
        }
        let is_memory = |text: &str| {
            text.ends_with(|c: char| c.is_ascii_alphabetic())
                && text.starts_with(|c: char| c.is_ascii_digit())
        };
        if is_memory(text) {
            return Self::parse_memory("--gpu", text);
        }
        if let Some((amount, devices)) =
            text.split_once('x').filter(|(amount, _)| is_memory(amount))
        {
            let devices = device_count(text, devices)?;
            return Self::parse_memory("--gpu", amount).map(|gpu| gpu.on(devices));
        }
        let (amount, devices) = match text.split_once('x') {
            Some((amount, devices)) => (amount, Some(devices)),
            None => (text, None),
        };
        if text.strip_prefix('-').is_some_and(|amount| decimal(amount).is_some()) {
            return Err(wrong(text, "is less than nothing", Some(0..text.chars().count()))
                .fix("--gpu 2  (2 GPUs)   or   --gpu 0.5  (half of one)"));
        }
        let Some((whole, places)) = decimal(amount) else {
            return Err(wrong(text, "is not a number", Some(0..text.chars().count()))
                .fix("--gpu 2  (2 GPUs)   or   --gpu 0.5  (half of one)   or   --gpu 0.25x4"));
        };
        let is_zero = whole == 0 && places.is_empty();
        if is_zero {
            return Err(wrong(text, "asks for no GPU", Some(0..text.chars().count())).fix(
                "leave --gpu out for work without GPUs, or ask for a part of one: --gpu 0.5",
            ));
        }
        match devices {
            Some(devices) => Self::shares(text, whole, places, devices),
            None if places.is_empty() => Self::whole(text, whole),
            None if whole > 0 => Err(above_one(text, whole, places)),
            None => Self::share(text, places, 1),
        }
    }

    fn whole(text: &str, count: u64) -> Result<Self, Problem> {
        u32::try_from(count).ok().filter(|count| *count <= DEVICES_MAX).map(Self::Whole).ok_or_else(
            || {
                wrong(text, "is more than any node has", None)
                    .fix("--gpu 8 --workers N  (N pods of 8 GPUs)")
            },
        )
    }

    fn shares(text: &str, whole: u64, places: &str, devices: &str) -> Result<Self, Problem> {
        let count = device_count(text, devices)?;
        if whole == 0 {
            return Self::share(text, places, count);
        }
        let problem =
            wrong(text, "is not a part of each device", Some(0..text.len() - devices.len() - 1));
        if places.is_empty() {
            let total = whole.saturating_mul(u64::from(count));
            return Err(
                problem.fix(format!("--gpu {total}  ({total} GPUs)   or   --gpu 0.5x{count}"))
            );
        }
        Err(problem.fix(format!("--gpu 0.5x{count}  (half of each of {count} devices)")))
    }

    fn share(text: &str, places: &str, devices: u32) -> Result<Self, Problem> {
        if places.len() > PLACES_MAX {
            return Err(wrong(text, "is finer than a thousandth of a GPU", None)
                .fix(format!("--gpu 0.{}", &places[..PLACES_MAX])));
        }
        Ok(Self::Share { fraction: format!("0.{places}"), devices })
    }

    /// The same amount of each of so many devices.
    fn on(self, devices: u32) -> Self {
        match self {
            Self::Memory { memory_mib, .. } => Self::Memory { memory_mib, devices },
            Self::Share { fraction, .. } => Self::Share { fraction, devices },
            whole @ (Self::Whole(_)
            | Self::Mig { .. }
            | Self::Device { .. }
            | Self::Claim { .. }) => whole,
        }
    }

    /// Says how queues count it, where that is not as GPUs.
    pub(crate) fn note(&self) -> Option<String> {
        let Self::Device { resource, .. } = self else { return None };
        let is_gpu = resource == crate::cluster::names::AMD_GPU;
        (!is_gpu).then(|| {
            format!(
                "{resource} is no GPU to KAI: the GPU quotas and limits of queues do not count it"
            )
        })
    }

    /// Tells whether it is part of a device, or of several.
    pub(crate) fn is_share(&self) -> bool {
        matches!(self, Self::Share { .. } | Self::Memory { .. })
    }

    /// Reads the value of `--gpu-memory`: `8Gi`, `500Mi`, `8G`, or a number of MiB; rounds up to MiB.
    ///
    /// # Errors
    /// Names the flag, the value and the forms.
    pub(crate) fn parse_memory(flag: &str, text: &str) -> Result<Self, Problem> {
        let forms = format!("{flag} 8Gi   or   {flag} 500Mi");
        let wrong = |why: &str| {
            Problem::new(number::GPU, Exit::Usage, format!("{flag} {text} {why}"))
                .fix(forms.clone())
        };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let bytes_per_unit: u128 = match &text[digits.len()..] {
            "" | "Mi" | "MiB" => 1 << 20,
            "Gi" | "GiB" => 1 << 30,
            "Ti" | "TiB" => 1 << 40,
            "M" | "MB" => 1_000_000,
            "G" | "GB" => 1_000_000_000,
            _ => return Err(wrong("is not an amount of memory")),
        };
        let (whole, places) = decimal(digits).ok_or_else(|| wrong("is not an amount of memory"))?;
        if places.len() > 6 {
            return Err(wrong("has too many decimal places"));
        }
        let scale = 10_u128.pow(u32::try_from(places.len()).unwrap_or(0));
        let part: u128 = if places.is_empty() { 0 } else { places.parse().unwrap_or(0) };
        let bytes =
            (u128::from(whole) * scale + part).saturating_mul(bytes_per_unit).div_ceil(scale);
        match u64::try_from(bytes.div_ceil(1 << 20)) {
            Ok(0) => Err(wrong("asks for no memory")),
            Ok(memory_mib) if memory_mib <= 1 << 30 => Ok(Self::Memory { memory_mib, devices: 1 }),
            Ok(_) | Err(_) => Err(wrong("is more than any GPU has")),
        }
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(count) => write!(f, "{count}"),
            Self::Share { fraction, devices: 1 } => f.write_str(fraction),
            Self::Share { fraction, devices } => write!(f, "{fraction}x{devices}"),
            Self::Memory { memory_mib, devices: 1 } => write!(f, "{memory_mib}Mi"),
            Self::Memory { memory_mib, devices } => write!(f, "{memory_mib}Mix{devices}"),
            Self::Mig { profile, count: 1 } => write!(f, "mig:{profile}"),
            Self::Mig { profile, count } => write!(f, "mig:{profile}x{count}"),
            Self::Device { resource, count } => write!(f, "{}:{count}", vendors::front(resource)),
            Self::Claim { class, count } => write!(f, "dra:{class}:{count}"),
        }
    }
}

/// Checks that a text can be the model of a GPU, or the part of its name that people use.
///
/// # Errors
/// Names the flag as it was typed.
pub(crate) fn check_model(typed: &str, model: &str) -> Result<(), Problem> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let starts = model.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts && model.chars().all(legal) && model.len() <= 63 {
        return Ok(());
    }
    let what = format!("{typed} names no model of GPU");
    Err(Problem::new(number::GPU, Exit::Usage, what)
        .fix("--gpu H100:4  (4 GPUs of a node with H100)"))
}

/// A plain decimal: the whole part, and the decimal places without trailing zeros.
fn decimal(text: &str) -> Option<(u64, &str)> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(places) || (whole.is_empty() && places.is_empty()) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    Some((whole, places.trim_end_matches('0')))
}

/// On how many devices, from what stands behind the `x`.
fn device_count(text: &str, devices: &str) -> Result<u32, Problem> {
    let count = devices.parse::<u32>().ok().filter(|n| (1..=SHARED_MAX).contains(n));
    count.ok_or_else(|| {
        let at = text.len() - devices.len();
        wrong(text, "does not say on how many devices", Some(at..text.len()))
            .fix("--gpu 0.25x4  (a quarter of each of 4 devices)")
    })
}

fn mig_slices(text: &str) -> Option<Gpu> {
    let (profile, count) = match text.rsplit_once('x') {
        Some((profile, count)) => {
            (profile, count.parse().ok().filter(|n| (1..=DEVICES_MAX).contains(n))?)
        }
        None => (text, 1),
    };
    let (compute, memory) = profile.split_once("g.")?;
    let memory = memory.strip_suffix("gb")?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (digits(compute) && digits(memory)).then(|| Gpu::Mig { profile: profile.into(), count })
}

fn above_one(text: &str, whole: u64, places: &str) -> Problem {
    let up = whole.saturating_add(1);
    // The same amount spread over one device more, in exact thousandths.
    let thousandths =
        format!("{places:0<3}").get(..3).and_then(|p| p.parse::<u64>().ok()).unwrap_or(0);
    let each = (whole.saturating_mul(1000).saturating_add(thousandths)).div_ceil(up);
    let each = format!("0.{each:03}");
    let each = each.trim_end_matches('0');
    let at = text.find('.').unwrap_or(0);
    let problem = wrong(text, "is neither a whole number nor a fraction of one GPU", None)
        .line(format!("--gpu {text}"))
        .line(format!(
            "{}{} above 1 it must be whole",
            " ".repeat(6 + at),
            "^".repeat(text.len() - at)
        ));
    problem.fix(format!(
        "--gpu {up}  ({up} GPUs)   or   --gpu {each}x{up}  ({each} of each of {up} GPUs)"
    ))
}

fn wrong(text: &str, why: &str, caret: Option<std::ops::Range<usize>>) -> Problem {
    let problem = Problem::new(number::GPU, Exit::Usage, format!("--gpu {text} {why}"));
    match caret {
        Some(at) if !at.is_empty() => problem.line(format!("--gpu {text}")).line(format!(
            "{}{}",
            " ".repeat(6 + at.start),
            "^".repeat(at.len())
        )),
        Some(_) | None => problem,
    }
}

/// Thousandths of devices as a decimal: `1500` is `1.5`.
pub(crate) fn devices(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Decimal text in thousandths, what is finer cut off.
pub(crate) fn milli(text: &str) -> Option<u64> {
    let (whole, places) = decimal(text)?;
    let places: u64 = format!("{places:0<3}").get(..3)?.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(places)
}

#[cfg(test)]
mod tests;
