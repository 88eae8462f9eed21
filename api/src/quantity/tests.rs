//! Quantities as the API machinery reads and prints them.

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::{Format, LENGTH_MAX, Quantity, QuantityError};

#[track_caller]
fn read(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn reads_every_form() {
    let cases: [(&str, i64, i64); 24] = [
        ("0", 0, 0),
        ("1", 1000, 1),
        ("+1", 1000, 1),
        ("-1", -1000, -1),
        ("1.5", 1500, 2),
        (".5", 500, 1),
        ("5.", 5000, 5),
        ("1500m", 1500, 2),
        ("100u", 1, 1),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("2k", 2_000_000, 2000),
        ("3M", 3_000_000_000, 3_000_000),
        ("1G", 1_000_000_000_000, 1_000_000_000),
        ("1Ki", 1_024_000, 1024),
        ("0.5Ki", 512_000, 512),
        ("1Mi", 1_048_576_000, 1_048_576),
        ("8Gi", 8_589_934_592_000, 8_589_934_592),
        ("1e3", 1_000_000, 1000),
        ("1E3", 1_000_000, 1000),
        ("1e+3", 1_000_000, 1000),
        ("12e-1", 1200, 2),
        ("1e-400", 1, 1),
        ("0e2000000000", 0, 0),
    ];
    for (text, milli, value) in cases {
        assert_eq!(read(text).milli(), Ok(milli), "{text}");
        assert_eq!(read(text).value(), Ok(value), "{text}");
    }
    assert_eq!(read("1E"), read("1e18"));
    assert_eq!(read("1Ei"), read("1152921504606846976"));
}

/// As floats of other languages are printed in full.
#[test]
fn digits_below_the_smallest_amount_only_round_up() {
    let cases = [
        ("0.1000000000000000055511151231257827021181583404541015625", 100_000_001),
        ("-0.1000000000000000055511151231257827021181583404541015625", -100_000_001),
        ("1.00000000000000000000000000000000000000000000000000Ki", 1_024_000_000_000),
        ("1.50000000000000000000000000000000000000000000000001Ki", 1_536_000_000_001),
        ("1000000000000000000000000000000000000000000000000e-48", 1_000_000_000),
        ("0.00000000000000000000000000000000000000000000000001e49", 100_000_000),
        ("0.12345678900000000000000000000000000000000000000000e3", 123_456_789_000),
        ("333333333333333333333333333333333333333333e-90", 1),
    ];
    for (text, nano) in cases {
        assert_eq!(read(text).nano(), nano, "{text}");
    }
    let large = "340282366920938463463374607431.1111111111111111";
    assert_eq!(large.parse::<Quantity>(), Err(QuantityError::TooLarge(large.to_owned())));
}

#[test]
fn refuses_what_is_not_a_quantity() {
    let texts = [
        "NaN",
        "nan",
        "inf",
        "-Inf",
        "Infinity",
        " 1",
        "1 ",
        "1 Gi",
        "-",
        "+",
        ".",
        "-.",
        "--1",
        "+-1",
        "1.2.3",
        "1Kii",
        "1ki",
        "1mi",
        "1K",
        "1g",
        "1e",
        "1ee3",
        "1e5.5",
        "e3",
        "Gi",
        "0x10",
        "1_000",
        "1,5",
        "\u{661}",
        "1\0",
        "1e99999999999999999999",
    ];
    for text in texts {
        assert_eq!(text.parse::<Quantity>(), Err(QuantityError::Syntax(text.to_owned())));
    }
    assert_eq!("".parse::<Quantity>(), Err(QuantityError::Empty));
    let long = "1".repeat(LENGTH_MAX + 1);
    assert_eq!(long.parse::<Quantity>(), Err(QuantityError::TooLong(LENGTH_MAX + 1)));
    for text in ["1e400", "1e30", "999999999999999999999999999999999", "1000000000000Ei"] {
        assert_eq!(text.parse::<Quantity>(), Err(QuantityError::TooLarge(text.to_owned())));
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    assert_eq!(read("9223372036854775807").value(), Ok(i64::MAX));
    assert_eq!(read("9223372036854775808").value(), Err(QuantityError::Range));
    assert_eq!(read("9223372036854775807").milli(), Err(QuantityError::Range));
    assert_eq!(read("1e29").checked_add(read("1e29")), Err(QuantityError::Range));
    assert_eq!(read("-1e29").checked_sub(read("1e29")), Err(QuantityError::Range));
}

#[test]
fn prints_the_canonical_form() {
    let cases = [
        ("0", "0"),
        ("0Gi", "0"),
        ("-0", "0"),
        ("1.5", "1500m"),
        ("0.1", "100m"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("1000000", "1M"),
        ("1001", "1001"),
        ("0.0001", "100u"),
        ("0.00000000001", "1n"),
        ("1000E", "1000E"),
        ("-1500m", "-1500m"),
        ("1024", "1024"),
        ("1024Ki", "1Mi"),
        ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.5Mi", "512Ki"),
        ("1.0001Ki", "1025"),
        ("-2048Ki", "-2Mi"),
        ("1e3", "1e3"),
        ("1e5", "100e3"),
        ("1E6", "1e6"),
        ("12e-1", "1200e-3"),
        ("1e0", "1"),
    ];
    for (text, canonical) in cases {
        assert_eq!(read(text).to_string(), canonical, "{text}");
    }
}

#[test]
fn sums_keep_the_way_it_was_written() {
    let sum = Quantity::ZERO.checked_add(read("1Gi")).expect("small");
    assert_eq!(sum.checked_add(read("1073741824")).expect("small").to_string(), "2Gi");
    assert_eq!(read("1.5").checked_sub(read("500m")).expect("small").to_string(), "1");
    assert_eq!(Quantity::from_bytes(3 << 30).to_string(), "3Gi");
    assert_eq!(Quantity::from_milli(250).to_string(), "250m");
    assert_eq!(read("1Ki").with_format(Format::DecimalSi).to_string(), "1024");
}

#[test]
fn json_takes_numbers_and_texts() {
    for (json, canonical) in [
        ("2", "2"),
        ("\"2\"", "2"),
        ("1.5", "1500m"),
        ("-3", "-3"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        let quantity: Quantity = serde_json::from_str(json).expect(json);
        assert_eq!(serde_json::to_string(&quantity).expect("text"), format!("\"{canonical}\""));
    }
    for json in ["null", "true", "[]", "\"\"", "\"NaN\""] {
        assert!(serde_json::from_str::<Quantity>(json).is_err(), "{json}");
    }
}

fn amounts() -> impl Strategy<Value = Quantity> {
    let format = prop_oneof![
        proptest::strategy::Just(Format::DecimalSi),
        proptest::strategy::Just(Format::BinarySi),
        proptest::strategy::Just(Format::DecimalExponent),
    ];
    (any::<i64>(), -9_i32..=9, format)
        .prop_map(|(digits, power, format)| read(&format!("{digits}e{power}")).with_format(format))
}

proptest! {
    #[test]
    fn printing_and_reading_is_identity(quantity in amounts()) {
        let text = quantity.to_string();
        prop_assert!(text.len() <= LENGTH_MAX, "{}", text);
        let again = read(&text);
        // Binary suffixes have no fractions: printing rounds up to a whole unit.
        if quantity.format() == Format::BinarySi && quantity.nano().abs() >= 1_024_000_000_000 {
            prop_assert_eq!(again.value(), quantity.value());
        } else {
            prop_assert_eq!(again, quantity);
        }
        // And one without a suffix reads as decimal.
        if quantity.format() != Format::BinarySi {
            prop_assert_eq!(again.to_string(), text);
        }
    }

    #[test]
    fn a_sum_less_one_part_is_the_other(a in amounts(), b in amounts()) {
        let sum = a.checked_add(b).expect("two of 2^63 * 10^9 fit");
        prop_assert_eq!(sum.checked_sub(b), Ok(a));
    }

    #[test]
    fn what_is_read_is_printed_and_read_again(
        text in "\\PC{0,70}|[-+]?[0-9]{0,30}[.]?[0-9]{0,30}([eE][-+]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i)?",
    ) {
        let Ok(quantity) = text.parse::<Quantity>() else { return Ok(()) };
        for format in [Format::DecimalSi, Format::DecimalExponent] {
            let quantity = quantity.with_format(format);
            prop_assert_eq!(quantity.to_string().parse(), Ok(quantity));
        }
        // Whoever reads what is printed reads no less, and prints the same from then on.
        if let Ok(printed) = quantity.to_string().parse::<Quantity>() {
            prop_assert!(printed.nano().abs() >= quantity.nano().abs());
            let again = printed.with_format(quantity.format()).to_string();
            prop_assert_eq!(again, quantity.to_string());
        }
    }

    #[test]
    fn zeros_in_front_and_behind_change_nothing(
        number in "[0-9]{1,6}[.][0-9]{1,12}", suffix in "[numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]",
        before in 0_usize..10, after in 0_usize..30,
    ) {
        let longer = format!("{}{number}{}{suffix}", "0".repeat(before), "0".repeat(after));
        prop_assert_eq!(longer.parse::<Quantity>(), Ok(read(&format!("{number}{suffix}"))));
    }
}
