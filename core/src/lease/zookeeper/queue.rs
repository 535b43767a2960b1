//! Names and order of the candidates: `guid-n_0000000042`, and who is before whom.
//!
//! The number is a signed 32-bit count of what was ever created in the parent. Past 2147483647 it stays as it is, or goes on
//! at -2147483648 where creations overlap; and `-` sorts before every digit. So it is compared by its distance, in which the
//! next is after the last however it is written; and two of the same number have no order that both could know, so whoever came
//! to lead is left alone, and whoever did not makes way.

use super::api::Path;
use crate::lease::Nonce;
use alloc::format;
use core::cmp::Ordering;

/// The most children that are looked at: a list of more is refused.
pub const MAX_CANDIDATES: usize = 10_000;

/// The longest name of a child, or path of the parent, in bytes.
pub const MAX_PATH: usize = 1_024;

/// What stands between who made a node and its number.
const MARK: &str = "-n_";

/// The number of a candidate's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sequence(pub(super) i32);

impl Sequence {
    /// How it stands to another: [`Less`](Ordering::Less) when it was made before.
    pub(super) const fn against(self, other: Self) -> Ordering {
        match self.0.wrapping_sub(other.0) {
            0 => Ordering::Equal,
            distance if distance < 0 => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
}

/// The path that a candidate's node is asked for with.
pub(super) fn asked(parent: &str, guid: Nonce) -> Path {
    format!("{parent}/{guid}{MARK}").into()
}

/// The path of a child.
pub(super) fn child(parent: &str, name: &str) -> Path {
    format!("{parent}/{name}").into()
}

/// The name of a path's last part.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The number of a child; `None` when it is no candidate.
pub(super) fn sequence(name: &str) -> Option<Sequence> {
    if name.len() > MAX_PATH {
        return None;
    }
    let (_, digits) = name.rsplit_once(MARK)?;
    digits.parse().ok().map(Sequence)
}

/// Whether a child was made with this guid.
pub(super) fn is_of(name: &str, guid: Nonce) -> bool {
    let made = name.get(..32).map(|hex| u128::from_str_radix(hex, 16));
    made == Some(Ok(guid.0)) && name.get(32..).is_some_and(|rest| rest.starts_with(MARK))
}

/// The way down to the parent: its first so many parts, from one on.
pub(super) fn ancestor(parent: &str, parts: u8) -> Option<&str> {
    let ends = parent.bytes().enumerate().skip(1);
    let mut slashes = ends
        .filter(|(_, byte)| *byte == b'/')
        .map(|(place, _)| place);
    let last = usize::from(parts).checked_sub(1)?;
    match slashes.nth(last) {
        Some(end) => parent.get(..end),
        None => Some(parent),
    }
}

/// Of how many parts the parent is.
pub(super) fn depth(parent: &str) -> u8 {
    let slashes = parent.bytes().filter(|byte| *byte == b'/').count();
    u8::try_from(slashes).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_made() {
        let guid = Nonce(0xab);
        let path = asked("/election", guid);
        assert_eq!(&*path, "/election/000000000000000000000000000000ab-n_");
        let made = format!("{path}0000000042");
        assert_eq!(sequence(name(&made)), Some(Sequence(42)));
        assert!(is_of(name(&made), guid) && !is_of(name(&made), Nonce(0xac)));
        assert_eq!(child("/election", name(&made)), made.as_str().into());
        for strange in ["", "lock", "x-n_", "-n_12x", "x-n_2147483648", "é-n_"] {
            assert_eq!(sequence(strange), None, "{strange}");
            assert!(!is_of(strange, guid));
        }
        assert_eq!(sequence(&format!("{}-n_1", "x".repeat(MAX_PATH))), None);
    }

    #[test]
    fn past_the_last_number_the_next_is_still_after_it() {
        let number = |digits: &str| sequence(&format!("x-n_{digits}")).unwrap();
        let (last, next) = (number("2147483647"), number("-2147483648"));
        assert_eq!(last.against(next), Ordering::Less);
        assert_eq!(next.against(last), Ordering::Greater);
        assert_eq!(
            number("0000000000").against(number("-0000000001")),
            Ordering::Greater
        );
        assert_eq!(last.against(last), Ordering::Equal);
        // As texts they would be the other way round.
        assert!("-2147483648" < "2147483647");
    }

    #[test]
    fn a_parent_is_made_part_by_part() {
        let parts: [_; 3] = core::array::from_fn(|part| ancestor("/a/bc/d", part as u8 + 1));
        assert_eq!(parts, [Some("/a"), Some("/a/bc"), Some("/a/bc/d")]);
        assert_eq!(
            (ancestor("/a", 0), depth("/a/bc/d"), depth("/a")),
            (None, 3, 1)
        );
    }
}
