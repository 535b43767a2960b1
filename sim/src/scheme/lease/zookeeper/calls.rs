//! The calls of a candidate, in the words of a client's library: what a server is asked for each, and what its answer says.

use crate::store::Key;
use crate::store::zookeeper::{Command, Error, Mode, Operation, Reply, Stat};
use tenure::lease::zookeeper::{self as core, SessionId};

/// What the server is asked, in which session.
pub(super) fn command(request: &core::Request) -> Option<(SessionId, Command)> {
    let create = |path: &Key, data: Key, mode| {
        Command::Do(Operation::Create {
            path: path.clone(),
            data,
            mode,
        })
    };
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
            let set = Operation::SetData {
                path: path.clone(),
                data: data.to_string().into(),
                version: *version,
            };
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
pub(super) fn reply(request: &core::Request, result: Result<Reply, Error>) -> core::Reply {
    match result {
        Ok(Reply::Created { path, .. }) => core::Reply::Created(path),
        Ok(Reply::Stat(of)) => core::Reply::Set(stat(&of)),
        Ok(Reply::Data { data, stat: of }) => core::Reply::Data(data, stat(&of)),
        Ok(Reply::Children { names, .. }) => core::Reply::Children(names),
        Ok(Reply::Done) if matches!(request, core::Request::Close { .. }) => core::Reply::Closed,
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
