//! Who starts the processes, kills one, and tells what they say.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// How long an election may take before something is wrong. It takes a quarter of a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// Elects, kills, elects, restarts.
pub(crate) fn watch() -> Result<(), Box<dyn Error>> {
    let mut group = Group::new()?;
    for node in 0..group.sockets.len() {
        group.start(node)?;
    }
    let first = group.wait_for("a leader", News::leads)?;
    println!("{first}");

    group.kill(first.node)?;
    let killed = Instant::now();
    println!("node {} is killed", first.node);

    let second = group.wait_for("another leader", |news| {
        news.leads() && news.node != first.node && news.token > first.token
    })?;
    println!("{second}, {} ms later", killed.elapsed().as_millis());

    group.start(first.node)?;
    let back = group.wait_for("the killed one to follow", |news| {
        !news.leads() && news.node == first.node && news.token >= second.token
    })?;
    println!("{back}: it is back");
    Ok(())
}

/// What a node said: who leads, and with which token.
struct News {
    node: usize,
    leader: usize,
    token: u64,
}

impl News {
    fn read(node: usize, line: &str) -> Option<Self> {
        let (leader, token) = line.split_once(' ')?;
        Some(Self {
            node,
            leader: leader.parse().ok()?,
            token: token.parse().ok()?,
        })
    }

    fn leads(&self) -> bool {
        self.leader == self.node
    }
}

impl Display for News {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            node,
            leader,
            token,
        } = self;
        if self.leads() {
            write!(f, "node {node} leads with token {token}")
        } else {
            write!(f, "node {node} follows node {leader}, token {token}")
        }
    }
}

struct Group {
    /// One for each node, bound to a port that was free. They stay with this process and are lent to the nodes, so that no
    /// other program can take a port while its node is dead.
    sockets: Vec<UdpSocket>,
    processes: Vec<Option<Child>>,
    /// Where the nodes keep their records.
    folder: PathBuf,
    news: (Sender<News>, Receiver<News>),
}

impl Group {
    fn new() -> Result<Self, Box<dyn Error>> {
        let folder = env::temp_dir().join(format!("tenure-three-processes-{}", process::id()));
        let sockets = (0..3)
            .map(|_| UdpSocket::bind("127.0.0.1:0"))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            sockets,
            processes: (0..3).map(|_| None).collect(),
            folder,
            news: channel(),
        })
    }

    fn start(&mut self, node: usize) -> Result<(), Box<dyn Error>> {
        let mut command = Command::new(env::current_exe()?);
        command
            .arg(node.to_string())
            .arg(self.folder.join(node.to_string()));
        for socket in &self.sockets {
            command.arg(socket.local_addr()?.to_string());
        }
        let socket = OwnedFd::from(self.sockets[node].try_clone()?);
        let mut child = command
            .stdin(Stdio::from(socket))
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe to the node")?).lines();
        let told = self.news.0.clone();
        thread::spawn(move || {
            let news = lines
                .map_while(Result::ok)
                .filter_map(|line| News::read(node, &line));
            news.for_each(|news| drop(told.send(news)));
        });
        self.processes[node] = Some(child);
        Ok(())
    }

    /// SIGKILL: the node does nothing more, not even say goodbye.
    fn kill(&mut self, node: usize) -> Result<(), Box<dyn Error>> {
        if let Some(mut child) = self.processes[node].take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    fn wait_for(&self, what: &str, wanted: impl Fn(&News) -> bool) -> Result<News, Box<dyn Error>> {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let news = self
                .news
                .1
                .recv_timeout(left)
                .map_err(|_| format!("waited {PATIENCE:?} for {what}"))?;
            if wanted(&news) {
                return Ok(news);
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for node in 0..self.processes.len() {
            let _ = self.kill(node);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}
