//! The calls of a candidate, in the words of a client's library: what a server is asked for each, and what its answer says.

use super::super::StoreAsk;
use super::controller::Guarded;
use crate::store::Key;
use crate::store::zookeeper::{Command, Error, Mode, Operation, Reply, Stat};
use tenure::Duration;
use tenure::lease::zookeeper::controller::{Guard, Request as OfController};
use tenure::lease::zookeeper::{self as core, SessionId};

/// What a watch is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Data,
    Children,
}

/// For how long a session is asked for, where one is.
pub(super) const fn connects(ask: &StoreAsk) -> Option<Duration> {
    match ask {
        StoreAsk::ZooKeeper(core::Request::Connect { timeout })
        | StoreAsk::Controller(OfController::Connect { timeout }) => Some(*timeout),
        _ => None,
    }
}

/// What it watches, where it does.
pub(super) const fn watches(ask: &StoreAsk) -> Option<(&Key, Of)> {
    match ask {
        StoreAsk::ZooKeeper(core::Request::Data {
            path, watch: true, ..
        })
        | StoreAsk::Controller(OfController::Data {
            path, watch: true, ..
        }) => Some((path, Of::Data)),
        StoreAsk::ZooKeeper(core::Request::Children {
            path, watch: true, ..
        }) => Some((path, Of::Children)),
        _ => None,
    }
}

const fn closes(ask: &StoreAsk) -> bool {
    matches!(
        ask,
        StoreAsk::ZooKeeper(core::Request::Close { .. })
            | StoreAsk::Controller(OfController::Close { .. })
    )
}

/// What the server is asked, in which session.
pub(super) fn command(ask: &StoreAsk) -> Option<(SessionId, Command)> {
    match ask {
        StoreAsk::ZooKeeper(request) => of_queue(request),
        StoreAsk::Controller(request) => of_controller(request),
        StoreAsk::Guarded(write) => Some((write.session, of_host(write))),
        _ => None,
    }
}

fn create(path: &Key, data: Key, mode: Mode) -> Operation {
    Operation::Create {
        path: path.clone(),
        data,
        mode,
    }
}

fn set(path: &Key, data: Key, version: i32) -> Operation {
    Operation::SetData {
        path: path.clone(),
        data,
        version,
    }
}

/// An operation, if the epoch is the one it was.
fn checked(guard: &Guard, operation: Operation) -> Command {
    let check = Operation::Check {
        path: guard.path.clone(),
        version: guard.version,
    };
    Command::Multi(vec![check, operation])
}

fn of_controller(request: &OfController) -> Option<(SessionId, Command)> {
    Some(match request {
        OfController::Connect { .. } => return None,
        OfController::Close { session } => (*session, Command::Close),
        OfController::CreateParent { session, path } => {
            let create = create(path, "".into(), Mode::Persistent);
            (*session, Command::Do(create))
        }
        OfController::CreateEpoch { session, path } => {
            let create = create(path, "0".into(), Mode::Persistent);
            (*session, Command::Do(create))
        }
        OfController::Data {
            session,
            path,
            watch,
        } => {
            let (path, watch) = (path.clone(), *watch);
            (*session, Command::GetData { path, watch })
        }
        OfController::Claim {
            session,
            path,
            data,
            epoch,
            guard,
        } => {
            let own = create(path, data.to_string().into(), Mode::Ephemeral);
            let epoch = set(&guard.path, epoch.to_string().into(), guard.version);
            (*session, Command::Multi(vec![own, epoch]))
        }
        OfController::Renew {
            session,
            path,
            data,
            guard,
        } => {
            let own = set(path, data.to_string().into(), -1);
            (*session, checked(guard, own))
        }
        OfController::Delete {
            session,
            path,
            guard,
        } => {
            let delete = Operation::Delete {
                path: path.clone(),
                version: -1,
            };
            (*session, checked(guard, delete))
        }
    })
}

fn of_host(write: &Guarded) -> Command {
    let data = write.data.clone();
    let operation = if write.creates {
        create(&write.path, data, Mode::Persistent)
    } else {
        set(&write.path, data, -1)
    };
    checked(&write.guard, operation)
}

fn of_queue(request: &core::Request) -> Option<(SessionId, Command)> {
    let create = |path: &Key, data: Key, mode| Command::Do(create(path, data, mode));
    Some(match request {
        core::Request::Connect { .. } => return None,
        core::Request::Close { session } => (*session, Command::Close),
        core::Request::Create {
            session,
            path,
            data,
        } => {
            let data = data.to_string().into();
            (*session, create(path, data, Mode::EphemeralSequential))
        }
        core::Request::CreateParent { session, path } => {
            (*session, create(path, "".into(), Mode::Persistent))
        }
        core::Request::Children {
            session,
            path,
            watch,
        } => {
            let (path, watch) = (path.clone(), *watch);
            (*session, Command::GetChildren { path, watch })
        }
        core::Request::Data {
            session,
            path,
            watch,
        } => {
            let (path, watch) = (path.clone(), *watch);
            (*session, Command::GetData { path, watch })
        }
        core::Request::SetData {
            session,
            path,
            data,
            version,
        } => {
            let set = set(path, data.to_string().into(), *version);
            (*session, Command::Do(set))
        }
        core::Request::Delete { session, path } => {
            let delete = Operation::Delete {
                path: path.clone(),
                version: -1,
            };
            (*session, Command::Do(delete))
        }
    })
}

/// What that answers.
pub(super) fn reply(ask: &StoreAsk, result: Result<Reply, Error>) -> core::Reply {
    match result {
        // Of a transaction it is the last part that says something; or the first that failed.
        Ok(Reply::Multi(done)) => match done.into_iter().next_back() {
            Some(Reply::Named(path)) => core::Reply::Created(path),
            last => reply(ask, last.ok_or(Error::BadArguments)),
        },
        Ok(Reply::Failed(failed)) => {
            let first = failed.into_iter().flatten().next();
            reply(ask, Err(first.unwrap_or(Error::BadArguments)))
        }
        Ok(Reply::Created { path, .. }) => core::Reply::Created(path),
        Ok(Reply::Stat(of)) => core::Reply::Set(stat(&of)),
        Ok(Reply::Data { data, stat: of }) => core::Reply::Data(data, stat(&of)),
        Ok(Reply::Children { names, .. }) => core::Reply::Children(names),
        Ok(Reply::Done) if closes(ask) => core::Reply::Closed,
        Ok(Reply::Done) => core::Reply::Deleted,
        Err(Error::NoNode) => core::Reply::NoNode,
        Err(Error::NodeExists) => core::Reply::NodeExists,
        Err(Error::BadVersion) => core::Reply::BadVersion,
        Err(Error::SessionExpired) => core::Reply::Expired,
        // No candidate asks for what is answered so, or nothing came of it.
        _ => core::Reply::NotDone,
    }
}

const fn stat(of: &Stat) -> core::Stat {
    core::Stat {
        czxid: of.czxid.cast_unsigned(),
        version: of.version,
        owner: SessionId(of.ephemeral_owner),
    }
}
