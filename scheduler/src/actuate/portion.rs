//! A share as pods are told it.

/// Millionths of a device as a decimal: exact, with at least two decimals, and never 0 for a share that is there.
///
/// # Source
/// docs/contract.md 1.4 (`receivedGPU.portion`), 10.1 D15.
pub fn portion_text(micro: u32) -> String {
    let whole = micro / 1_000_000;
    let decimals = format!("{:06}", micro % 1_000_000);
    let kept = decimals.trim_end_matches('0').len().max(2);
    format!("{whole}.{}", &decimals[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_exact_and_has_two_decimals() {
        let texts = [500_000, 1_000_000, 5_000, 333_333, 250_000, 1, 125_000].map(portion_text);
        assert_eq!(texts, ["0.50", "1.00", "0.005", "0.333333", "0.25", "0.000001", "0.125"]);
    }
}
