//! Bytes from outside, as they come and again under a frame that fits them:
//!
//!     RUSTC_BOOTSTRAP=1 cargo fuzz run decode -- -max_total_time=60      (in core/, with `cargo install cargo-fuzz`)
#![no_main]

use crc::{CRC_32_ISCSI, Crc};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;
use tenure::codec::{Coded, VERSION};
use tenure::raft::{Message, Stored, Write};

const CHECKSUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

fuzz_target!(|bytes: &[u8]| {
    read_each(bytes);
    // Random bytes never have the right checksum: without this, no body would ever be looked at.
    if let Some((kind, body)) = bytes.split_first() {
        read_each(&frame(*kind, body));
    }
});

fn read_each(bytes: &[u8]) {
    read::<Message>(bytes);
    read::<Write>(bytes);
    read::<Stored>(bytes);
}

/// Nothing panics; what is read is written as it was read, but for fields that a newer release added at the end.
fn read<T: Coded + PartialEq + Debug>(bytes: &[u8]) {
    match T::decode(bytes) {
        Err(refused) => assert!(refused.to_string().contains("; ")),
        Ok(value) => {
            let mut own = Vec::new();
            value.encode(&mut own);
            assert_eq!(T::decode(&own), Ok(value));
            assert!(own.len() <= bytes.len(), "{own:02x?} of {bytes:02x?}");
            assert!(own.len() < bytes.len() || own == bytes);
        }
    }
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![VERSION, kind];
    let mut rest = body.len();
    while rest >= 0x80 {
        frame.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    frame.push(rest as u8);
    frame.extend_from_slice(body);
    let sum = CHECKSUM.checksum(&frame);
    frame.extend(sum.to_le_bytes());
    frame
}
