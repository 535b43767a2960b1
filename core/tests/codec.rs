//! The codec from outside: every message and record survives the way through bytes, and no other bytes are taken for one.

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Debug;
use tenure::codec::{Coded, DecodeError, VERSION};
use tenure::log::Position;
use tenure::raft::{Message, Record};
use tenure::random::Random;
use tenure::{Duration, Instant, NodeId};

fn bytes(of: &impl Coded) -> Vec<u8> {
    let mut out = Vec::new();
    of.encode(&mut out);
    out
}

/// CRC-32C bit by bit, from its definition: a second opinion on the codec's own.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut rest = !0u32;
    for byte in bytes {
        rest ^= u32::from(*byte);
        for _ in 0..8 {
            rest = (rest >> 1) ^ if rest & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    (!rest).to_le_bytes()
}

/// A frame with a short body of any content.
fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    assert!(body.len() < 0x80);
    let mut frame = [&[VERSION, kind, body.len() as u8], body].concat();
    frame.extend(checksum(&frame));
    frame
}

/// One of each kind, with fields that differ.
fn messages() -> Vec<Message> {
    let (term, asked, sent) = (300, 299, Instant::from_micros(1_234_567));
    let last = Position::new(298, 70_000);
    let (promise, remainder) = (Duration::from_millis(150), Duration::from_micros(42));
    vec![
        Message::RequestPreVote { term, last, sent },
        Message::PreVoteGranted {
            term,
            remainder,
            sent,
        },
        Message::PreVoteRefused { asked, term },
        Message::RequestVote { term, last },
        Message::VoteGranted { term },
        Message::VoteRefused { asked, term },
        Message::Heartbeat { term, sent },
        Message::HeartbeatAck {
            term,
            sent,
            promise,
        },
        Message::HeartbeatRefused { asked, term },
        Message::Release { term, to: None },
        Message::Release {
            term,
            to: Some(NodeId(2)),
        },
    ]
}

fn records() -> Vec<Record> {
    vec![
        Record::default(),
        Record {
            term: 300,
            vote: Some(NodeId(2)),
            promise: Duration::from_millis(150),
            generation: 1,
        },
    ]
}

/// Integers of every length, the ends of their range among them.
fn integer() -> impl Strategy<Value = u64> {
    prop_oneof![
        (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift),
        Just(u64::MAX),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let node = proptest::option::of(integer().prop_map(NodeId));
    let fields = (integer(), integer(), integer(), integer(), node);
    (0..messages().len(), fields).prop_map(|(which, (term, other, index, micros, to))| {
        let (asked, last, sent) = (
            other,
            Position::new(other, index),
            Instant::from_micros(micros),
        );
        let (promise, remainder) = (Duration::from_micros(other), Duration::from_micros(index));
        let mut message = messages()[which];
        match &mut message {
            Message::RequestPreVote {
                term: a,
                last: b,
                sent: c,
            } => (*a, *b, *c) = (term, last, sent),
            Message::PreVoteGranted {
                term: a,
                remainder: b,
                sent: c,
            } => (*a, *b, *c) = (term, remainder, sent),
            Message::PreVoteRefused { asked: a, term: b }
            | Message::VoteRefused { asked: a, term: b }
            | Message::HeartbeatRefused { asked: a, term: b } => (*a, *b) = (asked, term),
            Message::RequestVote { term: a, last: b } => (*a, *b) = (term, last),
            Message::VoteGranted { term: a } => *a = term,
            Message::Heartbeat { term: a, sent: b } => (*a, *b) = (term, sent),
            Message::HeartbeatAck {
                term: a,
                sent: b,
                promise: c,
            } => (*a, *b, *c) = (term, sent, promise),
            Message::Release { term: a, to: b } => (*a, *b) = (term, to),
        }
        message
    })
}

fn record() -> impl Strategy<Value = Record> {
    let vote = proptest::option::of(integer().prop_map(NodeId));
    (integer(), vote, integer(), any::<u32>()).prop_map(|(term, vote, micros, generation)| Record {
        term,
        vote,
        promise: Duration::from_micros(micros),
        generation,
    })
}

fn round_trip<T: Coded + PartialEq + Debug>(value: T) -> Result<(), TestCaseError> {
    // What the buffer held before stays, and is no part of the frame.
    let mut out = vec![0xaa; 3];
    value.encode(&mut out);
    prop_assert_eq!(&out[..3], [0xaa; 3]);
    prop_assert!(out.len() - 3 <= T::MAX_BYTES);
    prop_assert_eq!(T::decode(&out[3..]), Ok(value));
    Ok(())
}

fn refuses_what_is_cut_or_longer<T: Coded + PartialEq + Debug>(
    value: T,
) -> Result<(), TestCaseError> {
    let whole = bytes(&value);
    for at in 0..whole.len() {
        prop_assert_eq!(T::decode(&whole[..at]), Err(DecodeError::Truncated { at }));
    }
    let longer = [whole.as_slice(), &[0]].concat();
    let at = whole.len();
    prop_assert_eq!(T::decode(&longer), Err(DecodeError::Trailing { at }));
    Ok(())
}

/// Up to three wrong bits are sure to be noticed; so is a run of them within 32.
fn refuses_what_is_altered<T: Coded + PartialEq + Debug>(
    value: T,
    places: [proptest::sample::Index; 2],
) -> Result<(), TestCaseError> {
    let whole = bytes(&value);
    let bits = whole.len() * 8;
    for bit in 0..bits {
        let mut altered = whole.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(T::decode(&altered).is_err(), "bit {bit} of {whole:02x?}");
        for other in places.map(|place| place.index(bits)) {
            altered[other / 8] ^= 1 << (other % 8);
        }
        prop_assert!(altered == whole || T::decode(&altered).is_err());
    }
    for at in 0..whole.len() - 3 {
        let mut torn = whole.clone();
        torn[at..at + 4].fill(0);
        prop_assert!(torn == whole || T::decode(&torn).is_err());
    }
    Ok(())
}

proptest! {
    #[test]
    fn messages_survive_the_way_through_bytes(message in message()) {
        round_trip(message)?;
    }

    #[test]
    fn records_survive_the_way_through_bytes(record in record()) {
        round_trip(record)?;
    }

    #[test]
    fn what_was_cut_is_told_where(message in message(), record in record()) {
        refuses_what_is_cut_or_longer(message)?;
        refuses_what_is_cut_or_longer(record)?;
    }

    #[test]
    fn what_was_altered_is_refused(
        message in message(),
        record in record(),
        places: [proptest::sample::Index; 2],
    ) {
        refuses_what_is_altered(message, places)?;
        refuses_what_is_altered(record, places)?;
    }

    #[test]
    fn neither_is_taken_for_the_other(message in message(), record in record()) {
        let refused = Record::decode(&bytes(&message));
        prop_assert!(matches!(refused, Err(DecodeError::UnknownKind(_))));
        let refused = Message::decode(&bytes(&record));
        prop_assert!(matches!(refused, Err(DecodeError::UnknownKind(_))));
    }

    /// Whatever a frame that is intact holds: a message it is read as, or a named refusal; and a message has one encoding
    /// but for fields that a newer release added at its end.
    #[test]
    fn any_body_is_read_or_refused(kind in 0u8..16, body in proptest::collection::vec(any::<u8>(), 0..48)) {
        let frame = frame(kind, &body);
        if let Ok(message) = Message::decode(&frame) {
            let own = bytes(&message);
            prop_assert!(frame[3..].starts_with(&own[3..own.len() - 4]), "{message:?}");
        }
    }
}

#[test]
fn random_bytes_are_never_read_and_never_panic() {
    let mut random = Random::from_seed(1);
    for _ in 0..100_000 {
        let length = random.below(64) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        // Half of them look like a frame at first sight.
        if random.below(2) == 0 && length > 7 {
            bytes[..3].copy_from_slice(&[VERSION, random.below(16) as u8, length as u8 - 7]);
        }
        assert!(Message::decode(&bytes).is_err(), "{bytes:02x?}");
        assert!(Record::decode(&bytes).is_err(), "{bytes:02x?}");
    }
}

/// What a crash leaves where a record was: nothing, zeros, or the old end behind the new beginning.
#[test]
fn a_torn_record_is_never_none() {
    assert_eq!(Record::decode(&[]), Err(DecodeError::Truncated { at: 0 }));
    for length in 1..=Record::MAX_BYTES {
        assert!(Record::decode(&vec![0; length]).is_err());
    }
    let [old, new] = [299, 300].map(|term| {
        bytes(&Record {
            term,
            ..records()[1]
        })
    });
    for at in 1..old.len() {
        let torn = [&new[..at], &old[at..]].concat();
        if torn != new && torn != old {
            let at = old.len() - 4;
            assert_eq!(Record::decode(&torn), Err(DecodeError::Damaged { at }));
        }
    }
}

/// A length is believed only as far as there are bytes, and never above the limit.
#[test]
fn lengths_are_bounded_before_anything_is_done_with_them() {
    let limit = Message::MAX_BYTES;
    for length in [limit as u64 - 6, 1 << 32, u64::MAX >> 1] {
        let mut bytes = vec![VERSION, 1];
        let mut rest = length;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        let refused = DecodeError::TooLong { length, limit };
        assert_eq!(Message::decode(&bytes), Err(refused));
    }
    let length = limit as u64 + 1;
    let refused = DecodeError::TooLong { length, limit };
    assert_eq!(Message::decode(&vec![0; limit + 1]), Err(refused));
}

/// A frame of the greatest length: what a release that added many fields may send.
#[test]
fn a_reader_takes_frames_up_to_the_limit() {
    let mut frame = bytes(&Message::VoteGranted { term: 7 });
    let longest = Message::MAX_BYTES - 8;
    frame.splice(2..3, [longest as u8 | 0x80, (longest >> 7) as u8]);
    frame.truncate(5);
    frame.resize(4 + longest, 0xff);
    frame.extend(checksum(&frame));
    assert_eq!(frame.len(), Message::MAX_BYTES);
    assert_eq!(
        Message::decode(&frame),
        Ok(Message::VoteGranted { term: 7 })
    );
}

/// Law C8.
#[test]
fn a_reserved_buffer_never_grows() {
    let mut buffer = Vec::with_capacity(Message::MAX_BYTES);
    let messages = messages();
    let counted = allocation_counter::measure(|| {
        for message in &messages {
            buffer.clear();
            message.encode(&mut buffer);
            assert_eq!(Message::decode(&buffer), Ok(*message));
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// The bytes of each kind, on record: a release that no longer writes them, or reads them as something else, is seen in
/// review.
#[test]
fn the_bytes_of_each_kind_are_on_record() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/codec.txt");
    let mut told = String::from(
        "Each kind and its bytes: version, kind, length · body · checksum. A change here is a change of the format.\n",
    );
    let mut kinds = BTreeSet::new();
    let mut tell = |frame: Vec<u8>, what: String| {
        let hex = |part: &[u8]| {
            part.iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let (head, rest) = frame.split_at(3);
        let (body, sum) = rest.split_at(rest.len() - 4);
        assert_eq!(sum, checksum(&frame[..frame.len() - 4]));
        told += &format!(
            "\n{what}\n    {} · {} · {}\n",
            hex(head),
            hex(body),
            hex(sum)
        );
        kinds.insert(frame[1]);
    };
    for message in messages() {
        tell(bytes(&message), format!("{message:?}"));
    }
    for record in records() {
        tell(bytes(&record), format!("{record:?}"));
    }
    for kind in 0..=u8::MAX {
        let empty = frame(kind, &[]);
        let refused = [Message::decode(&empty).err(), Record::decode(&empty).err()];
        let known = refused != [Some(DecodeError::UnknownKind(kind)); 2];
        assert_eq!(known, kinds.contains(&kind), "kind {kind:#04x}");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &told).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        told == recorded,
        "other bytes than on record: set UPDATE_GOLDEN=1 if that is meant\n{told}"
    );
}
