//! Memory and processor time that a process takes, as the kernel counts them.

use std::{
    fs,
    io::{Error, Result},
    time::{Duration, Instant},
};

/// The kernel counts processor time in hundredths of a second for everybody.
const TICK: Duration = Duration::from_millis(10);
/// A process rests that used less than this in as long as [`LOOK`], several times in a row.
const REST_MAX: Duration = Duration::from_millis(30);
const LOOK: Duration = Duration::from_secs(3);
const LOOKS: u32 = 3;
/// Sets how long it may take until a process rests.
const PATIENCE: Duration = Duration::from_mins(10);

/// Amounts that a process took so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Resident memory in bytes, and the most of it.
    pub(crate) resident: u64,
    pub(crate) peak: u64,
    pub(crate) processor: Duration,
}

impl Taken {
    /// Reads what a process took.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let bytes = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            kib.map(|kib| kib * 1024).ok_or_else(|| Error::other(format!("{pid} has no {key}")))
        };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name, in parentheses, may hold blanks; the 14th and 15th field are the time of the process.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let ticks: u32 = fields.skip(11).take(2).filter_map(|text| text.parse::<u32>().ok()).sum();
        Ok(Self { resident: bytes("VmRSS:")?, peak: bytes("VmHWM:")?, processor: TICK * ticks })
    }
}

/// Has the most memory counted from now on.
pub(crate) fn forget_peak(pid: u32) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5")
}

/// Waits until a process has nothing to do.
pub(crate) async fn rest(pid: u32) -> Result<()> {
    let started = Instant::now();
    let (mut rests, mut before) = (0, Taken::of(pid)?.processor);
    while rests < LOOKS {
        if started.elapsed() > PATIENCE {
            return Err(Error::other(format!("process {pid} does not rest")));
        }
        tokio::time::sleep(LOOK).await;
        let now = Taken::of(pid)?.processor;
        rests = if now.saturating_sub(before) < REST_MAX { rests + 1 } else { 0 };
        before = now;
    }
    Ok(())
}
