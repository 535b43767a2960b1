//! The smallest sequence that still fails, by leaving out ever smaller parts of it.

/// Leaves out what is not needed for `fails`; the last step always is. Stops at the first error, with what it has.
pub(crate) fn shrink<T: Clone, E>(
    steps: &[T],
    mut fails: impl FnMut(&[T]) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    let mut steps = steps.to_vec();
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        let mut shorter = false;
        while at + size <= steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..at + size);
            if !fewer.is_empty() && fails(&fewer)? {
                steps = fewer;
                shorter = true;
            } else {
                at += size;
            }
        }
        // One by one until nothing more goes: what one step made necessary may have gone after it.
        size = if size == 1 && shorter { 1 } else { size / 2 };
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn only_what_is_needed_is_left() {
        let steps: Vec<u32> = (0..100).collect();
        let fails = |steps: &[u32]| Ok::<_, Infallible>(steps.contains(&17) && steps.contains(&93));
        assert_eq!(shrink(&steps, fails), Ok(vec![17, 93]));
    }

    #[test]
    fn what_leans_on_each_other_goes_one_after_the_other() {
        // Each is needed as long as the one after it is there, but for the last.
        let whole = |steps: &[u32]| {
            let chained = steps.windows(2).all(|pair| pair[1] == pair[0] + 1);
            Ok::<_, Infallible>(chained && steps.last() == Some(&9))
        };
        let steps: Vec<u32> = (0..10).collect();
        assert_eq!(shrink(&steps, whole), Ok(vec![9]));
    }
}
