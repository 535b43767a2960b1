//! Back along the causes of an event.

use crate::physics::trace::{Event, Kind};

/// The nearest of the causes of an event that is wanted, among recorded events of which the first is number `first`.
pub(super) fn nearest<'e>(
    events: &'e [Event],
    first: u64,
    event: &'e Event,
    wanted: impl Fn(&Event) -> bool,
) -> Option<&'e Event> {
    let before = |event: &Event| {
        let cause = u64::try_from(event.cause).ok()?;
        events.get(cause.checked_sub(first)? as usize)
    };
    std::iter::successors(before(event), |event| before(event)).find(|event| wanted(event))
}

/// When the request was sent by whose answer a node was established, of events of which the first is number `first`. One that
/// was sent before that counts from its answer: the record was free when that came.
pub(super) fn sent(events: &[Event], first: u64, heir: &Event) -> u64 {
    let sent = |event: &Event| event.kind == Kind::Send && event.actor == heir.actor;
    nearest(events, first, heir, sent).map_or(heir.at, |sent| sent.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_found_and_nothing_before_the_first_that_was_recorded() {
        let event = |kind, cause| Event {
            cause,
            ..Event::new(kind, 0)
        };
        // Numbers 10 to 13.
        let events = [
            event(Kind::Send, 9),
            event(Kind::Deliver, 10),
            event(Kind::Send, 11),
            event(Kind::Elected, 12),
        ];
        let nearest = |kind| {
            let found = nearest(&events, 10, &events[3], |event| event.kind == kind);
            found.map(|event| event.cause)
        };
        assert_eq!(nearest(Kind::Send), Some(11));
        assert_eq!(nearest(Kind::Deliver), Some(10));
        assert_eq!((nearest(Kind::Elected), nearest(Kind::Boot)), (None, None));
    }
}
