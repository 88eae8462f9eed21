//! Growth exponents by least squares on logarithms.

/// A count as a number to fit; exact below 2^53, and a benchmark that counts more is broken anyway.
#[expect(clippy::cast_precision_loss, reason = "a fitted slope needs no more than 52 bits")]
pub(super) fn as_float(count: u64) -> f64 {
    count as f64
}

/// The slope of the least-squares line through (ln x, ln y), or `None` with fewer than three points.
pub(super) fn log_log(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    straight(&logs)
}

/// The slope of the least-squares line through (x, y), or `None` with fewer than three points.
pub(super) fn straight(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let count = as_float(u64::try_from(points.len()).ok()?);
    let (mean_x, mean_y) =
        points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let (over, under) = points.iter().fold((0.0, 0.0), |sum, (x, y)| {
        (sum.0 + (x - mean_x) * (y - mean_y), sum.1 + (x - mean_x) * (x - mean_x))
    });
    (under > 0.0).then(|| over / under)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_of_a_power_is_its_exponent() {
        let squares: Vec<(f64, f64)> =
            [1.0, 2.0, 5.0, 10.0].map(|x: f64| (x, 3.0 * x * x)).to_vec();
        let slope = log_log(&squares).expect("four points have a slope");
        assert!((slope - 2.0).abs() < 1e-9, "{slope}");
        assert_eq!(log_log(&squares[..2]), None);
        let line = straight(&[(1.0, 5.0), (2.0, 8.0), (4.0, 14.0)]);
        assert!(line.is_some_and(|slope| (slope - 3.0).abs() < 1e-9), "{line:?}");
    }
}
