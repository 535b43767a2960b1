//! The statements as PostgreSQL takes them, from version 14 on: a host sends them as they are, each with its parameters.
//!
//! | parameter | type | |
//! |---|---|---|
//! | name | `text` | of the election: chosen by the host, the same on every node, and no other election's |
//! | holder, metadata | `text` | of the [`Claimant`](crate::lease::Claimant); an empty holder is nobody, `None` in a row that is read |
//! | nonce | `text` | as [`Nonce`](crate::lease::Nonce) is displayed and parsed |
//! | epoch | `bigint` | never above [`MAX_EPOCH`](super::MAX_EPOCH) |
//! | ttl | `bigint` | in microseconds |
//!
//! [`TAKE`], [`RENEW`], [`RELEASE`] and [`READ`] are those of the [row](super); [`OPEN`], [`LOCK`], [`DRAW`], [`PROBE`],
//! [`RELEASE`], [`UNLOCK`] and [`LOOK`] those of the [session](super::session).
//!
//! Each is a transaction of its own, at the level READ COMMITTED, on the primary. Times are the database's `clock_timestamp()`,
//! read when the row is locked; `now()` is when the transaction began, and may be long before that.

/// The table. A row is never deleted: its epoch would begin anew. It is updated again and again, for which a page has room.
pub const TABLE: &str = "\
CREATE TABLE IF NOT EXISTS elections (
  name text PRIMARY KEY,
  holder text NOT NULL,
  metadata text NOT NULL,
  nonce text NOT NULL,
  epoch bigint NOT NULL,
  expires timestamptz NOT NULL
) WITH (fillfactor = 50)";

/// Takes the row if it is free. `$1` name, `$2` holder, `$3` metadata, `$4` nonce, `$5` ttl. Gives the epoch, or no row.
pub const TAKE: &str = "\
INSERT INTO elections AS held (name, holder, metadata, nonce, epoch, expires)
VALUES ($1, $2, $3, $4, 1, clock_timestamp() + $5::bigint * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE
  SET holder = excluded.holder, metadata = excluded.metadata, nonce = excluded.nonce, epoch = held.epoch + 1,
      expires = clock_timestamp() + $5::bigint * interval '1 microsecond'
  WHERE (held.holder = '' OR held.expires <= clock_timestamp()) AND held.epoch < 9223372036854775807
RETURNING epoch";

/// Holds it on. `$1` name, `$2` nonce, `$3` epoch, `$4` ttl. Gives a row, or none.
pub const RENEW: &str = "\
UPDATE elections SET expires = clock_timestamp() + $4::bigint * interval '1 microsecond'
WHERE name = $1 AND nonce = $2 AND epoch = $3 AND holder <> '' AND expires > clock_timestamp()
RETURNING 1";

/// Gives it up. `$1` name, `$2` nonce, `$3` epoch. The highest epoch stays: after it nobody takes the row.
pub const RELEASE: &str = "\
UPDATE elections SET holder = '', metadata = '', expires = clock_timestamp(),
  epoch = epoch + (epoch < 9223372036854775807)::int
WHERE name = $1 AND nonce = $2 AND epoch = $3";

/// Looks. `$1` name. Gives holder, metadata, nonce, epoch, and how long it is held on, in microseconds.
pub const READ: &str = "\
SELECT holder, metadata, nonce, epoch,
  greatest(extract(epoch FROM expires - clock_timestamp()) * 1000000, 0)::bigint AS remains
FROM elections WHERE name = $1";

/// Begins a session: the server ends it when nothing is asked in it for `$1`, a number of milliseconds as `text`. A machine that is gone
/// without a word would hold the lock for as long as its TCP connection seems to be there: hours.
pub const OPEN: &str = "SELECT set_config('idle_session_timeout', $1, false)";

/// Takes the lock of an election for this session, if no other has it. `$1` name. Gives whether it did.
pub const LOCK: &str = "SELECT pg_try_advisory_lock(hashtextextended($1, 127978993709669))";

/// Draws an epoch, in the session that has the lock. `$1` name, `$2` holder, `$3` metadata, `$4` nonce, `$5` ttl, `$6` the
/// nonce of who needs no waiting for, or ''. Gives the epoch, and whether the holder before is none that gave the row up; or no
/// row after the highest epoch.
pub const DRAW: &str = "\
INSERT INTO elections AS held (name, holder, metadata, nonce, epoch, expires)
VALUES ($1, $2, $3, $4, 1, now())
ON CONFLICT (name) DO UPDATE
  SET holder = excluded.holder, metadata = excluded.metadata, nonce = excluded.nonce, epoch = held.epoch + 1,
      expires = now() + CASE WHEN held.holder = '' OR held.nonce = $6 THEN 0 ELSE $5::bigint END * interval '1 microsecond'
  WHERE held.epoch < 9223372036854775807
RETURNING epoch, expires > now() AS interrupted";

/// Whether this very session has the lock still, and the row is as it drew it; never on a standby. `$1` name, `$2` nonce, `$3` epoch. Gives a
/// row, or none.
pub const PROBE: &str = "\
SELECT 1 FROM elections WHERE name = $1 AND nonce = $2 AND epoch = $3 AND holder <> '' AND NOT pg_is_in_recovery() AND EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid = pg_backend_pid()
    AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 127978993709669))";

/// Gives the lock up. `$1` name.
pub const UNLOCK: &str = "SELECT pg_advisory_unlock(hashtextextended($1, 127978993709669))";

/// Looks. `$1` name. Gives holder, metadata, nonce, epoch, and whether a session has the lock.
pub const LOOK: &str = "\
SELECT holder, metadata, nonce, epoch, EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 127978993709669)) AS locked
FROM elections WHERE name = $1";
