//! Ages and durations as kubectl shows them.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Writes seconds as `95s`, `3m20s`, `25m`, `5h4m`, `11h`, `2d4h`, `12d`, `2y30d`: two units while the first is small; `<invalid>` for a
/// moment to come.
///
/// # Source
/// `HumanDuration` of k8s.io/apimachinery.
pub fn human(seconds: i64) -> String {
    // A clock that is a second behind the one that stamped the object.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let two = |whole: i64, unit: char, rest: i64, below: char| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{below}") }
    };
    match seconds {
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, 'm', s % MINUTE, 's'),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, 'h', s / MINUTE % 60, 'm'),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, 'd', s / HOUR % 24, 'h'),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, 'y', s / DAY % 365, 'd'),
        s => format!("{}y", s / YEAR),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_read_as_kubectl_prints_them() {
        let cases = [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (200, "3m20s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (18_240, "5h4m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (187_200, "2d4h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (65_664_000, "2y30d"),
        ];
        for (seconds, text) in cases {
            assert_eq!(super::human(seconds), text, "{seconds} s");
        }
    }
}
