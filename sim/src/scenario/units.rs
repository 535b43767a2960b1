//! Numbers with units as people write them: `"150ms"`, `"1.5s"`, `"0.5%"`. Integers inside, without a float on the way.

use crate::physics::clock::TRUE_PACE;

const SPANS: [(&str, u64); 5] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
];
const SHARES: [(&str, u64); 1] = [("%", 10_000)];

/// A duration as people write it, in microseconds; `None` when it is none.
#[must_use]
pub fn parse_span(text: &str) -> Option<u64> {
    parse(text, &SPANS)
}

/// A share in parts per million, at most all.
pub(super) fn parse_share(text: &str) -> Option<u32> {
    u32::try_from(parse(text, &SHARES)?)
        .ok()
        .filter(|ppm| *ppm <= 1_000_000)
}

/// What follows the sign, if there is one.
pub(super) fn unsigned(text: &str) -> &str {
    match text.as_bytes().first() {
        Some(b'-' | b'+') => text.get(1..).unwrap_or_default(),
        _ => text,
    }
}

/// A rate as it is read.
pub(super) fn write_rate(pace: u32) -> String {
    with_sign(pace < TRUE_PACE, write_share(pace.abs_diff(TRUE_PACE)))
}

/// A jump as it is read.
pub(super) fn write_jump(micros: i64) -> String {
    with_sign(micros < 0, write_span(micros.unsigned_abs()))
}

#[inline(never)]
fn with_sign(negative: bool, mut text: String) -> String {
    text.insert(0, if negative { '-' } else { '+' });
    text
}

/// A duration as it is read, in the largest unit that is exact.
pub(super) fn write_span(micros: u64) -> String {
    let exact = |(_, scale): &&(&str, u64)| micros.is_multiple_of(*scale);
    let (name, scale) = SPANS
        .iter()
        .rev()
        .find(exact)
        .filter(|_| micros > 0)
        .unwrap_or(&SPANS[1]);
    (micros / scale).to_string() + name
}

/// A share as it is read.
pub(super) fn write_share(ppm: u32) -> String {
    let mut text = (ppm / 10_000).to_string();
    let mut fraction = ppm % 10_000;
    if fraction > 0 {
        text.push('.');
    }
    while fraction > 0 {
        text.push(char::from(b'0' + (fraction / 1_000) as u8));
        fraction = fraction % 1_000 * 10;
    }
    text.push('%');
    text
}

/// A decimal number and a unit, as a whole number of the smallest unit.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit() && byte != b'.')?;
    let (number, unit) = text.split_at_checked(end)?;
    let scale = units.iter().find(|(name, _)| *name == unit)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes() {
        let digit = u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        // More digits than the smallest unit has places are refused rather than rounded.
        if (place == 0 || !place.is_multiple_of(10)) && digit != 0 {
            return None;
        }
        place /= 10;
        value = value.checked_add(digit * place)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_exactly() {
        for (text, micros) in [
            ("150ms", 150_000),
            ("0us", 0),
            ("1.5s", 1_500_000),
            ("0.001ms", 1),
            ("2min", 120_000_000),
            ("1.5h", 5_400_000_000),
            ("1.50ms", 1_500),
            ("18446744073709551615us", u64::MAX),
        ] {
            assert_eq!(parse_span(text), Some(micros), "{text}");
        }
        let bad = [
            "",
            "150",
            "ms",
            "1.ms",
            ".5s",
            "-1s",
            "1 s",
            "1d",
            "1e3ms",
            "0.0001ms",
            "0.01us",
            "0.00001ms",
            "1.00000001s",
            "1.2.3s",
            "18446744073709551616us",
            "1s ",
            "١s",
        ];
        for text in bad {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }

    #[test]
    fn shares_are_read_exactly() {
        for (text, ppm) in [
            ("0%", 0),
            ("1%", 10_000),
            ("0.5%", 5_000),
            ("100%", 1_000_000),
            ("0.0001%", 1),
        ] {
            assert_eq!(parse_share(text), Some(ppm), "{text}");
        }
        for text in ["1", "101%", "100.0001%", "0.00001%", "-1%", "%"] {
            assert_eq!(parse_share(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for micros in [
            0,
            1,
            999,
            1_000,
            1_500,
            150_000,
            1_000_000,
            60_000_000,
            90_000_000,
            3_600_000_000,
            u64::MAX,
        ] {
            assert_eq!(parse_span(&write_span(micros)), Some(micros), "{micros}");
        }
        assert_eq!(
            (write_span(0).as_str(), write_span(90_000_000).as_str()),
            ("0ms", "90s")
        );
        for ppm in [0, 1, 5_000, 10_000, 12_300, 1_000_000] {
            assert_eq!(parse_share(&write_share(ppm)), Some(ppm), "{ppm}");
        }
    }
}
