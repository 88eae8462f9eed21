//! A trace of jobs: when each came, for how long it ran, on how many GPUs, and whose it was.

use kai_engine::Millis;

/// A job of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// When it came.
    pub(crate) came: Millis,
    /// For how long it ran.
    pub(crate) ran: Millis,
    pub(crate) gpus: u32,
    pub(crate) queue: String,
}

/// Reads lines of `timestamp,duration,num_gpus,..,queue`, as the Philly trace has them; the first names the columns.
///
/// # Errors
/// Names the first line that is none.
pub(crate) fn read(text: &str) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty()) {
        let job = job(line).ok_or_else(|| format!("line {}: {line}", number + 1))?;
        jobs.push(job);
    }
    jobs.sort_by_key(|job| job.came);
    Ok(jobs)
}

fn job(line: &str) -> Option<Job> {
    let cells: Vec<&str> = line.trim_end().split(',').collect();
    let [came, ran, gpus, .., queue] = cells.as_slice() else { return None };
    let seconds: i64 = ran.split('.').next()?.parse().ok()?;
    Some(Job {
        came: moment(came)?,
        ran: seconds.max(1) * 1000,
        gpus: gpus.parse().ok()?,
        queue: (*queue).to_owned(),
    })
}

/// Milliseconds since 1970 of `2017-10-09 07:01:55`.
fn moment(text: &str) -> Option<Millis> {
    let numbers: Option<Vec<i64>> =
        text.split(['-', ' ', 'T', ':']).map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = *numbers?.as_slice() else { return None };
    // Days before a month of a year that begins with March, so that the leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}
