//! Delta debugging (Zeller & Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002): leaves out halves,
//! quarters and smaller parts of a list for as long as what is left still does it, and in the end single items and pairs.

/// The longest list of which pairs are tried: there are so many of them.
const PAIRS_OF: usize = 24;

/// Shortens a list that `does` it to one of which no part that was tried can be left out.
///
/// `does` is asked about lists that are part of the given one, in its order.
pub(super) fn ddmin<T: Clone>(list: &[T], mut does: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut left = list.to_vec();
    // Mostly little of a long record matters: the empty one first, then from halves down to single items.
    if !left.is_empty() && does(&[]) {
        return Vec::new();
    }
    let mut parts = 2;
    while left.len() >= 2 {
        let size = left.len().div_ceil(parts);
        if let Some(fewer) = without_a_part(&left, size, &mut does) {
            parts = (parts - 1).max(2);
            left = fewer;
        } else if size == 1 {
            break;
        } else {
            parts = (parts * 2).min(left.len());
        }
    }
    while let Some(fewer) = without_two(&left, &mut does) {
        left = fewer;
    }
    left
}

/// The list without some part of this size, the later parts first: what comes late in a record hangs on what came before.
fn without_a_part<T: Clone>(
    list: &[T],
    size: usize,
    does: &mut impl FnMut(&[T]) -> bool,
) -> Option<Vec<T>> {
    let starts: Vec<usize> = (0..list.len()).step_by(size).collect();
    starts.into_iter().rev().find_map(|start| {
        let end = (start + size).min(list.len());
        let rest = [list.get(..start)?, list.get(end..)?].concat();
        does(&rest).then_some(rest)
    })
}

/// The list without two items that only go together, as a crash and its restart.
fn without_two<T: Clone>(list: &[T], does: &mut impl FnMut(&[T]) -> bool) -> Option<Vec<T>> {
    if list.len() > PAIRS_OF {
        return None;
    }
    for second in (1..list.len()).rev() {
        for first in (0..second).rev() {
            let mut rest = list.to_vec();
            rest.remove(second);
            rest.remove(first);
            if does(&rest) {
                return Some(rest);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(list: u32, does: impl Fn(&[u32]) -> bool) -> (Vec<u32>, usize) {
        let list: Vec<u32> = (0..list).collect();
        let mut tries = 0;
        let left = ddmin(&list, |part| {
            assert!(part.is_sorted(), "in order");
            tries += 1;
            does(part)
        });
        assert!(does(&left) || list == left);
        (left, tries)
    }

    #[test]
    fn what_is_needed_is_left_wherever_it_is() {
        for needed in [
            &[][..],
            &[0],
            &[99],
            &[3, 50],
            &[0, 1, 2, 97],
            &[10, 20, 30, 40, 50],
        ] {
            let (left, tries) = least(100, |part| needed.iter().all(|item| part.contains(item)));
            assert_eq!(left, needed);
            assert!(tries < 200, "{needed:?}: {tries}");
        }
    }

    #[test]
    fn two_that_only_go_together_are_left_out_together() {
        let together = |part: &[u32]| part.contains(&7) && part.contains(&1) == part.contains(&5);
        assert_eq!(least(9, together).0, [7]);
    }

    #[test]
    fn a_list_that_needs_all_of_it_stays_whole() {
        assert_eq!(least(6, |part| part.len() == 6).0.len(), 6);
    }
}
