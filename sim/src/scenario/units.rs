//! Numbers with units as people write them: `"150ms"`, `"1.5s"`, `"0.5%"`. Integers inside, without a float on the way.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Separates code, reason and remedy in the text of an error on its way through the parser.
pub(super) const SEPARATOR: char = '\u{1f}';

/// A duration in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span(pub(super) u64);

/// A share in parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Percent(pub(super) u32);

/// A seed: a number of 64 bits, which JSON numbers cannot hold, so written as text; a small number is read too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seed(pub(super) u64);

const SPAN_UNITS: [(&str, u64); 4] = [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("min", 60_000_000)];
const PERCENT_UNITS: [(&str, u64); 1] = [("%", 10_000)];

/// Text of an error that carries its code, reason and remedy.
pub(super) fn explain(code: &str, reason: &str, remedy: &str) -> String {
    let mut text = String::new();
    for part in [code, reason, remedy] {
        text.push_str(part);
        text.push(SEPARATOR);
    }
    text
}

/// A decimal number and a unit, as a whole number of the smallest unit.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let scale = units.iter().find(|(name, _)| *name == unit)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes() {
        let digit = u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        // More digits than the smallest unit has places are not rounded but refused.
        if place % 10 != 0 && digit != 0 {
            return None;
        }
        place /= 10;
        value = value.checked_add(digit * place)?;
    }
    Some(value)
}

fn write(value: u64, units: &[(&str, u64)]) -> String {
    let unit = units.iter().rev().find(|(_, scale)| value.is_multiple_of(*scale) && (value > 0 || *scale == 1_000));
    let (name, scale) = unit.unwrap_or(&units[0]);
    let mut text = (value / scale).to_string();
    text.push_str(name);
    text
}

impl Span {
    pub(super) fn parse(text: &str) -> Option<Self> {
        parse(text, &SPAN_UNITS).map(Self)
    }
}

impl Percent {
    fn parse(text: &str) -> Option<Self> {
        u32::try_from(parse(text, &PERCENT_UNITS)?).ok().filter(|ppm| *ppm <= 1_000_000).map(Self)
    }
}

/// A value read from text.
struct FromText<T> {
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
    refuse: fn(&str) -> String,
}

impl<T> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::custom((self.refuse)(text)))
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    quoted.extend(text.chars().take(40));
    quoted.push('"');
    quoted
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(FromText {
            expected: "a duration with a unit, as \"150ms\"",
            parse: Self::parse,
            refuse: |text| {
                explain("bad-duration", &(quoted(text) + " is not a duration"), "write a number and one of us, ms, s, min, as \"150ms\"")
            },
        })
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(FromText {
            expected: "a percentage, as \"0.5%\"",
            parse: Self::parse,
            refuse: |text| {
                explain("bad-percentage", &(quoted(text) + " is not a percentage"), "write a number from 0 to 100 and %, as \"0.5%\"")
            },
        })
    }
}

struct SeedVisitor;

impl Visitor<'_> for SeedVisitor {
    type Value = Seed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a seed, as \"7\"")
    }

    fn visit_u64<E: Error>(self, seed: u64) -> Result<Seed, E> {
        Ok(Seed(seed))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Seed, E> {
        super::parse_seed(text).map(Seed).ok_or_else(|| {
            E::custom(explain("bad-seed", &(quoted(text) + " is not a seed"), "write a whole number below 2^64 in quotes, as \"7\""))
        })
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(SeedVisitor)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(&write(self.0, &SPAN_UNITS))
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        let (whole, mut fraction) = (self.0 / 10_000, self.0 % 10_000);
        let mut text = whole.to_string();
        if fraction > 0 {
            text.push('.');
            while fraction > 0 {
                text.push(char::from(b'0' + (fraction / 1_000) as u8));
                fraction = fraction % 1_000 * 10;
            }
        }
        text.push('%');
        output.serialize_str(&text)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(&self.0.to_string())
    }
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
            ("1.50ms", 1_500),
            ("18446744073709551615us", u64::MAX),
        ] {
            assert_eq!(Span::parse(text), Some(Span(micros)), "{text}");
        }
        for text in ["", "150", "ms", "1.ms", ".5s", "-1s", "1 s", "1h", "1e3ms", "0.0001ms", "1.2.3s", "18446744073709551616us", "1s ", "١s"] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }

    #[test]
    fn percentages_are_read_exactly() {
        for (text, ppm) in [("0%", 0), ("1%", 10_000), ("0.5%", 5_000), ("100%", 1_000_000), ("0.0001%", 1)] {
            assert_eq!(Percent::parse(text), Some(Percent(ppm)), "{text}");
        }
        for text in ["1", "101%", "0.00001%", "-1%", "%"] {
            assert_eq!(Percent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for micros in [0, 1, 999, 1_000, 1_500, 150_000, 1_000_000, 60_000_000, 90_000_000, u64::MAX] {
            let text = write(micros, &SPAN_UNITS);
            assert_eq!(Span::parse(&text), Some(Span(micros)), "{text}");
        }
        assert_eq!(write(0, &SPAN_UNITS), "0ms");
        for ppm in [0, 1, 5_000, 10_000, 12_300, 1_000_000] {
            let text = serde_json::to_string(&Percent(ppm)).unwrap();
            assert_eq!(serde_json::from_str::<Percent>(&text).unwrap(), Percent(ppm), "{text}");
        }
    }
}
