//! The codec from outside: every message, every write and whatever a disk holds survives the way through bytes, and no
//! other bytes are taken for one.

mod wire;

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Debug;
use tenure::codec::{Coded, DATAGRAM, DecodeError, VERSION};
use tenure::log::{Position, ShapeError};
use tenure::membership::{MAX_MEMBERS, Member, MembershipError, Part};
use tenure::raft::{Entries, LogWrite, Message, Record, Stored, Write};
use tenure::random::Random;
use tenure::{Duration, Instant, NodeId};
use wire::{Parts, disk, disks, distinct, group, message, messages, record, write, writes};

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
    fn writes_survive_the_way_through_bytes(write in write()) {
        round_trip(write)?;
    }

    #[test]
    fn disks_survive_the_way_through_bytes(disk in disk()) {
        round_trip(disk)?;
    }

    #[test]
    fn what_was_cut_is_told_where(message in message(), write in write(), disk in disk()) {
        refuses_what_is_cut_or_longer(message)?;
        refuses_what_is_cut_or_longer(write)?;
        refuses_what_is_cut_or_longer(disk)?;
    }

    #[test]
    fn what_was_altered_is_refused(
        message in message(),
        write in write(),
        disk in disk(),
        places: [proptest::sample::Index; 2],
    ) {
        refuses_what_is_altered(message, places)?;
        refuses_what_is_altered(write, places)?;
        refuses_what_is_altered(disk, places)?;
    }

    #[test]
    fn none_is_taken_for_another(message in message(), write in write(), disk in disk()) {
        let frames = [bytes(&message), bytes(&write), bytes(&disk)];
        for (which, frame) in frames.iter().enumerate() {
            let refused = [
                Message::decode(frame).err(),
                Write::decode(frame).err(),
                Stored::decode(frame).err(),
            ];
            for (read_as, refused) in refused.into_iter().enumerate() {
                let expected = (read_as != which).then_some(DecodeError::UnknownKind(frame[1]));
                prop_assert_eq!(refused, expected);
            }
        }
    }

    /// Whatever a frame that is intact holds: a message it is read as, or a named refusal; and a message has one encoding
    /// but for fields that a newer release added at its end.
    #[test]
    fn any_body_is_read_or_refused(kind in 0u8..0x18, body in proptest::collection::vec(any::<u8>(), 0..48)) {
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
            bytes[..3].copy_from_slice(&[VERSION, random.below(0x18) as u8, length as u8 - 7]);
        }
        assert!(Message::decode(&bytes).is_err(), "{bytes:02x?}");
        assert!(Write::decode(&bytes).is_err(), "{bytes:02x?}");
        assert!(Stored::decode(&bytes).is_err(), "{bytes:02x?}");
    }
}

/// What a crash leaves where a record was: nothing, zeros, or the old end behind the new beginning.
#[test]
fn a_torn_record_is_never_none() {
    assert_eq!(Stored::decode(&[]), Err(DecodeError::Truncated { at: 0 }));
    for length in 1..=4_096 {
        assert!(Stored::decode(&vec![0; length]).is_err());
    }
    let [old, new] = [299, 300].map(|term| {
        bytes(&Stored::from(Record {
            term,
            ..record(&distinct())
        }))
    });
    for at in 1..old.len() {
        let torn = [&new[..at], &old[at..]].concat();
        if torn != new && torn != old {
            let at = old.len() - 4;
            assert_eq!(Stored::decode(&torn), Err(DecodeError::Damaged { at }));
        }
    }
}

/// A length is believed only as far as there are bytes, and never above the limit.
#[test]
fn lengths_are_bounded_before_anything_is_done_with_them() {
    // Four kinds carry configurations, and those of a later release may be long too.
    let long = [0x0b, 0x0f, 0x11, 0x15];
    for kind in 1..=0x16 {
        let limit = match kind > 0x15 || long.contains(&kind) {
            true => Message::MAX_BYTES,
            false => DATAGRAM,
        };
        for length in [limit as u64 - 6, 1 << 32, u64::MAX >> 1] {
            let mut bytes = vec![VERSION, kind];
            let mut rest = length;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
            let refused = DecodeError::TooLong { length, limit };
            assert_eq!(Message::decode(&bytes), Err(refused));
        }
    }
    // What a disk holds is as long as it is.
    let bytes = [&[VERSION, 0x81][..], &[0xff; 9], &[1]].concat();
    assert!(matches!(
        Stored::decode(&bytes),
        Err(DecodeError::TooLong { .. })
    ));
    let bytes = [&[VERSION, 0x81][..], &[0xff; 7], &[1]].concat();
    let at = bytes.len();
    assert_eq!(Stored::decode(&bytes), Err(DecodeError::Truncated { at }));
}

/// Counts of what repeats in a body: a few bytes do not ask for memory.
#[test]
fn counts_are_bounded_by_what_is_there() {
    let many = [&[0xff; 9][..], &[1]].concat();
    let start = [0, 0];
    for (body, refused) in [
        // Runs of a log, and configurations in one.
        (
            [&start[..], &many].concat(),
            DecodeError::Truncated { at: 15 },
        ),
        (
            [&start[..], &[0, 0], &many].concat(),
            DecodeError::Truncated { at: 17 },
        ),
        // Members: more than there may be.
        (
            [&start[..], &[0, 1], &many].concat(),
            DecodeError::OutOfRange { at: 7 },
        ),
        (
            [&start[..], &[0, 1, 0x80, 0x20]].concat(),
            DecodeError::Truncated { at: 9 },
        ),
    ] {
        let frame = frame(0x81, &body);
        let counted = allocation_counter::measure(|| {
            assert_eq!(Stored::decode(&frame), Err(refused));
        });
        assert_eq!(counted.bytes_total, 0, "{refused}");
    }
}

/// A group of the most members with the longest names, in each kind that can carry one; and of a hundred, in a datagram.
#[test]
fn configurations_fit_where_it_is_said() {
    let of = |count: usize, first: u64| {
        let member = |id| Member {
            id: NodeId(id),
            part: Part::Voter,
        };
        Parts {
            membership: group((first..).take(count).map(member)),
            term: u64::MAX,
            number: u64::MAX,
            asked: u64::MAX,
            at: Position::new(u64::MAX, u64::MAX),
            sent: Instant::from_micros(u64::MAX),
            span: Duration::from_micros(u64::MAX),
            node: Some(NodeId(u64::MAX)),
            generation: u32::MAX,
            index: u64::MAX,
        }
    };
    let longest = |parts: &Parts| {
        let said = messages(parts).iter().map(|said| bytes(said).len()).max();
        let written = writes(parts).iter().map(|write| bytes(write).len()).max();
        (said.unwrap(), written.unwrap())
    };
    let (said, written) = longest(&of(MAX_MEMBERS, u64::MAX - MAX_MEMBERS as u64));
    println!("{said} and {written} bytes");
    assert!(said <= 46_000 && said + 2_000 < Message::MAX_BYTES);
    assert!(written <= 46_000 && written + 2_000 < Write::MAX_BYTES);
    for parts in [of(100, u64::MAX - 100), of(350, 16_000 - 350)] {
        let (said, _) = longest(&parts);
        assert!(said <= DATAGRAM, "{said}");
    }
    // Those that carry none have room for fields to come.
    for message in messages(&of(MAX_MEMBERS, 1)) {
        let length = bytes(&message).len();
        assert!(!(100..=DATAGRAM).contains(&length), "{message:?}");
    }
}

/// What is intact and makes no sense as a log or a group, each named.
#[test]
fn logs_and_groups_that_cannot_be_are_refused_by_name() {
    let shape = |reason| DecodeError::ImpossibleLog { at: 3, reason };
    let members = |reason| DecodeError::ImpossibleMembership { at: 7, reason };
    for (body, refused) in [
        // Base, runs.
        (
            &[1, 0, 0, 0, 0][..],
            shape(ShapeError::NoSuchBase(Position::new(1, 0))),
        ),
        (&[0, 0, 1, 0, 1], shape(ShapeError::TermZero)),
        (
            &[0, 0, 2, 2, 1, 1, 1],
            shape(ShapeError::TermFell { from: 2, to: 1 }),
        ),
        (&[0, 0, 1, 1, 0], DecodeError::NotCanonical { at: 6 }),
        (&[0, 0, 2, 1, 1, 1, 1], DecodeError::NotCanonical { at: 8 }),
        // Base, no runs, a group at the base.
        (&[0, 0, 0, 1, 0], members(MembershipError::NoVoters)),
        (&[0, 0, 0, 1, 1, 5, 0], members(MembershipError::NoVoters)),
        (&[0, 0, 0, 1, 1, 5, 3], members(MembershipError::NoVoters)),
        (
            &[0, 0, 0, 1, 2, 5, 1, 5, 1],
            members(MembershipError::Repeated(NodeId(5))),
        ),
        (
            &[0, 0, 0, 1, 2, 6, 1, 5, 1],
            DecodeError::NotCanonical { at: 10 },
        ),
        (&[0, 0, 0, 1, 1, 5, 5], DecodeError::OutOfRange { at: 9 }),
        // No group at the base, one at index 0, then two at one index.
        (&[0, 0, 0, 0, 1, 0], DecodeError::OutOfRange { at: 8 }),
        (
            &[0, 0, 0, 0, 2, 7, 1, 5, 1, 7, 1, 5, 1],
            DecodeError::OutOfRange { at: 12 },
        ),
    ] {
        assert_eq!(Stored::decode(&frame(0x81, body)), Err(refused), "{body:?}");
    }
    // Entries and what happens to a log are one of two and of four.
    let after = Message::decode(&frame(0x11, &[1, 1, 0, 0, 2, 0, 0]));
    assert_eq!(after, Err(DecodeError::OutOfRange { at: 7 }));
    let write = Write::decode(&frame(0x80, &[4, 0, 0, 0, 0]));
    assert_eq!(write, Err(DecodeError::OutOfRange { at: 3 }));
}

/// A host that appends its writes to a file: whatever a crash leaves of it folds to what was written whole.
#[test]
fn a_file_of_writes_folds_to_what_a_disk_holds() {
    let record = |term| Record {
        term,
        ..Record::default()
    };
    let append = |term, after, count| Write {
        record: record(term),
        log: LogWrite::Append {
            after,
            entries: Entries::Run { term, count },
        },
    };
    let writes = [
        append(1, Position::START, 3),
        append(2, Position::new(1, 2), 5),
        append(2, Position::new(2, 7), 1),
    ];
    let mut file = bytes(&Stored::default());
    let mut ends = vec![(file.len(), Stored::default())];
    for write in &writes {
        write.encode(&mut file);
        let mut stored = ends.last().unwrap().1.clone();
        stored.apply(write).unwrap();
        ends.push((file.len(), stored));
    }
    for cut in ends[0].0..=file.len() {
        let (mut stored, mut rest) = Stored::decode_first(&file[..cut]).unwrap();
        while let Ok((write, after)) = Write::decode_first(rest) {
            stored.apply(&write).unwrap();
            rest = after;
        }
        let whole = ends.iter().rfind(|(end, _)| *end <= cut).unwrap();
        assert_eq!((cut - rest.len(), &stored), (whole.0, &whole.1));
        let at = rest.len();
        let torn = Write::decode_first(rest).err();
        assert_eq!(torn, Some(DecodeError::Truncated { at }));
    }
}

/// A frame of the greatest length: what a release that added many fields may send.
#[test]
fn a_reader_takes_frames_up_to_the_limit() {
    let mut frame = bytes(&Message::VoteGranted { term: 7 });
    let longest = DATAGRAM - 8;
    frame.splice(2..3, [longest as u8 | 0x80, (longest >> 7) as u8]);
    frame.truncate(5);
    frame.resize(4 + longest, 0xff);
    frame.extend(checksum(&frame));
    assert_eq!(frame.len(), DATAGRAM);
    assert_eq!(
        Message::decode(&frame),
        Ok(Message::VoteGranted { term: 7 })
    );
}

/// Law C8.
#[test]
fn a_reserved_buffer_never_grows() {
    let mut buffer = Vec::with_capacity(Message::MAX_BYTES);
    for message in messages(&distinct()) {
        let counted = allocation_counter::measure(|| {
            buffer.clear();
            message.encode(&mut buffer);
        });
        assert_eq!(counted.count_total, 0, "{message:?}");
        // To read a configuration makes one.
        let brings = format!("{message:?}").contains("Membership");
        let counted = allocation_counter::measure(|| {
            assert_eq!(Message::decode(&buffer).as_ref(), Ok(&message));
        });
        assert_eq!(counted.count_total > 0, brings, "{message:?}");
    }
}

/// The bytes of each kind, on record: a release that no longer writes them, or reads them as something else, is seen in
/// review.
#[test]
fn the_bytes_of_each_kind_are_on_record() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/codec.txt");
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
    for message in messages(&distinct()) {
        tell(bytes(&message), format!("{message:?}"));
    }
    for write in writes(&distinct()) {
        tell(bytes(&write), format!("{write:?}"));
    }
    for disk in disks(&distinct()) {
        tell(bytes(&disk), format!("{disk:?}"));
    }
    for kind in 0..=u8::MAX {
        let empty = frame(kind, &[]);
        let refused = [
            Message::decode(&empty).err(),
            Write::decode(&empty).err(),
            Stored::decode(&empty).err(),
        ];
        let known = refused != [Some(DecodeError::UnknownKind(kind)); 3];
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
