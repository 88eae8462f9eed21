//! GPUs by type, as records name and count them. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::span::Devices;
use crate::status::{Totals, is_gpu_class};
use kai_api::{mig, names::resource};

/// Units of a [`kai_api::quantity::Quantity`] in a millionth.
const NANO_IN_MICRO: i128 = 1_000;
/// So many GPUs of a type are counted of a pod, in millionths. Whoever puts a pod on a node past the scheduler may ask for any
/// amount, of a profile that names any number of slices, and sums over days and pods have to fit.
const MICRO_GPUS_MAX: i128 = 1_000_000_000_000;

/// The GPUs among amounts: those of NVIDIA and those of claims, whose classes have no `/`, under the product of their node, MIG
/// instances under their profile, with as many GPUs as it has slices.
pub(super) fn by_type(amounts: &Totals, product: Option<&str>) -> Arc<[Devices]> {
    let mut sums: BTreeMap<&str, i128> = BTreeMap::new();
    let mut add = |gpu_type, micro: i128| {
        let sum = sums.entry(gpu_type).or_default();
        *sum = sum.saturating_add(micro);
    };
    for (name, amount) in amounts.iter() {
        let micro = amount.nano() / NANO_IN_MICRO;
        if let Some(gpus) = mig::gpus(name) {
            let profile = name.strip_prefix("nvidia.com/").unwrap_or(name);
            add(profile, micro.saturating_mul(i128::from(gpus)));
        } else if name == resource::NVIDIA_GPU || !name.contains('/') && is_gpu_class(name) {
            add(product.unwrap_or(name), micro);
        } else if name == resource::AMD_GPU {
            add(name, micro);
        }
    }
    let rows = sums.into_iter().filter_map(|(gpu_type, micro)| {
        let micro = u64::try_from(micro.min(MICRO_GPUS_MAX)).ok();
        let micro_gpus = micro.filter(|micro| *micro > 0)?;
        Some(Devices { gpu_type: gpu_type.into(), micro_gpus })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::by_type;
    use crate::status::Totals;

    fn check(amounts: &Value, product: Option<&str>, expect: &[(&str, u64)]) {
        let found = by_type(&Totals::from_value(amounts), product);
        let found: Vec<(&str, u64)> =
            found.iter().map(|row| (&*row.gpu_type, row.micro_gpus)).collect();
        assert_eq!(found, expect, "{amounts}");
    }

    #[test]
    fn gpus_are_counted_by_type() {
        check(&json!({"cpu": "4", "memory": "1Gi"}), Some("H100"), &[]);
        check(&json!({"nvidia.com/gpu": "8", "cpu": "4"}), Some("H100"), &[("H100", 8_000_000)]);
        check(&json!({"nvidia.com/gpu": "333333u"}), None, &[("nvidia.com/gpu", 333_333)]);
        check(&json!({"amd.com/gpu": "2"}), Some("H100"), &[("amd.com/gpu", 2_000_000)]);
        check(&json!({"nvidia.com/mig-3g.40gb": "2"}), Some("H100"), &[("mig-3g.40gb", 6_000_000)]);
        let divided = [("mig-1c.3g.40gb", 3_000_000)];
        check(&json!({"nvidia.com/mig-1c.3g.40gb": "1"}), Some("H100"), &divided);
        let most = 1_000_000_000_000;
        let many = json!({"nvidia.com/mig-9g.1gb": "9223372036854775807"});
        check(&many, None, &[("mig-9g.1gb", most)]);
        check(&json!({"nvidia.com/gpu": "9223372036854775807"}), Some("H100"), &[("H100", most)]);
        check(
            &json!({"gpu.nvidia.com": "1", "nvidia.com/gpu": "1"}),
            Some("A100"),
            &[("A100", 2_000_000)],
        );
    }
}
