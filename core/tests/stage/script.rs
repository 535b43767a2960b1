//! The language of the scripts: a command a line, and below it, indented, what came of it.
//!
//! | command | what happens |
//! |---|---|
//! | `nodes 3`, `nodes 3 log` | a group, not yet started: n1, n2, n3; it elects alone, or has a log too |
//! | `node n1 log=1x3,2x1 term=2 vote=n3 promise=150ms` | what its disk holds: three entries of term 1, one of term 2, … |
//! | `node n1 plain` | it runs outside safe mode |
//! | `boot`, `boot n1` | all nodes that are down start, or one |
//! | `elect n1` | it becomes the established leader at this instant, without a trace of how |
//! | `campaign n1`, `resign n1`, `resign n1 to=n2` | its host asks for it |
//! | `propose n1 3`, `propose n1 1 1` | its host proposes so many entries, once or several times before it looks at what the machine wants |
//! | `compact n1 5` | its host holds a snapshot up to that entry |
//! | `deliver`, `deliver n1>n2 *>n3` | what is on the way arrives in the order it was sent, all or part of it; time passes until it does |
//! | `deliver n1>n2:Release` | messages of one kind, so that they overtake others |
//! | `drop n1>n2` | what is on the way is lost |
//! | `write`, `write n1` | disks answer all that they were asked; time passes until they do |
//! | `fail n1` | its disk answers that nobody knows whether it wrote |
//! | `timeout n1` | time passes to its deadline, and its timer fires; the others' are late |
//! | `advance 150ms` | time passes and timers fire; messages and disks wait |
//! | `run 150ms` | time passes; a message takes 5 ms, a disk 1 ms |
//! | `cut n1 n2-n3 n4>n5`, `heal` | links lose what arrives on them: all of a node's, the two of a pair, one; none |
//! | `crash n1` | it loses all that is not on its disk |
//! | `forge n9>n1 Heartbeat term=3 sent=5ms` | a message arrives that nobody sent |
//! | `show` | what each node is, believes and is bound by |

use super::{Flight, Mark, Stage, words};
use tenure::log::{Position, Shape};
use tenure::raft::Replication;
use tenure::{Election, Input, NodeId, Standing, Unknown};

/// The script with what comes of each command now.
pub(crate) fn replay(text: &str) -> Result<String, String> {
    let mut stage = None;
    let mut told = String::new();
    for (number, line) in text.lines().enumerate() {
        // What came of a command the last time.
        if line.starts_with(' ') {
            continue;
        }
        told.push_str(line);
        told.push('\n');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = |error| format!("line {}: {error}: {line}", number + 1);
        perform(&mut stage, line).map_err(place)?;
        for line in stage.iter_mut().flat_map(|s| s.lanes.lines.drain(..)) {
            told.push_str(line.trim_end());
            told.push('\n');
        }
    }
    Ok(told)
}

fn perform(stage: &mut Option<Stage>, line: &str) -> Result<(), String> {
    let mut words = line.split(' ');
    let command = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    if command == "nodes" {
        let count = words.first().and_then(|count| count.parse().ok());
        let replication = match words.get(1) {
            None => None,
            Some(&"log") => Some(Replication::default()),
            Some(other) => return Err(format!("a group has no {other}")),
        };
        *stage = Some(Stage::new(count.ok_or("how many?")?, replication));
        return Ok(());
    }
    let stage = stage.as_mut().ok_or("a script begins with nodes")?;
    let (first, rest) = match words.split_first() {
        Some((first, rest)) => (*first, rest),
        None => ("", &[][..]),
    };
    match command {
        "node" => stage.configure(stage.known(first)?, rest)?,
        "boot" => {
            let down = |place: &usize| stage.nodes[*place].machine.is_none();
            for place in stage
                .several(&words)?
                .into_iter()
                .filter(down)
                .collect::<Vec<_>>()
            {
                stage.boot(place)?;
                if !words.is_empty() {
                    stage.tell(&Mark::At(place, '●'), "starts");
                }
            }
        }
        "elect" => stage.elect(stage.known(first)?)?,
        "campaign" => stage.input(stage.known(first)?, Input::Campaign),
        "resign" => {
            let to = rest.first().map(|word| word.trim_start_matches("to="));
            let to = to.map(words::node).transpose()?;
            stage.input(stage.known(first)?, Input::Resign { to });
        }
        "propose" => {
            let place = stage.known(first)?;
            let counts: Result<Vec<u32>, _> = rest.iter().map(|count| count.parse()).collect();
            let counts = counts.map_err(|error| error.to_string())?;
            let mut done = Ok(());
            stage.moved(place, |machine, now| {
                let mut each = counts.iter().map(|count| machine.propose(now, *count));
                done = each.try_for_each(|first| first.map(drop));
            });
            done.map_err(|error| error.to_string())?;
        }
        "compact" => {
            let place = stage.known(first)?;
            let index = rest.first().and_then(|index| index.parse().ok());
            let index = index.ok_or("up to where?")?;
            let mut done = Ok(Position::START);
            stage.moved(place, |machine, now| done = machine.compact(now, index));
            done.map_err(|error| error.to_string())?;
        }
        "deliver" => stage.pick(&words, |stage, index| {
            stage.now = stage.now.max(stage.flights[index].at);
            stage.deliver(index);
        })?,
        "drop" => stage.pick(&words, |stage, index| {
            let flight = stage.flights.remove(index);
            stage.arrive(flight, true);
        })?,
        "write" => {
            let waits = |place: &usize| !stage.nodes[*place].writes.is_empty();
            let places: Vec<usize> = stage.several(&words)?.into_iter().filter(waits).collect();
            if places.is_empty() {
                return Err("nothing waits to be written".into());
            }
            for place in places {
                // What is asked meanwhile waits.
                for _ in 0..stage.nodes[place].writes.len() {
                    stage.now = stage.now.max(stage.nodes[place].writes[0].at);
                    stage.write(place, Ok(()));
                }
            }
        }
        "fail" => {
            let place = stage.known(first)?;
            if stage.nodes[place].writes.is_empty() {
                return Err("its disk was asked nothing".into());
            }
            stage.write(place, Err(Unknown));
        }
        "timeout" => {
            let place = stage.known(first)?;
            let machine = stage.nodes[place].machine.as_ref().ok_or("it is down")?;
            let deadline = machine.deadline().ok_or("it waits for nothing")?;
            stage.now = stage.now.max(deadline);
            stage.fire(place);
        }
        "advance" => stage.advance(stage.now + words::span(first)?),
        "run" => stage.run(stage.now + words::span(first)?),
        "cut" => words.iter().try_for_each(|word| stage.cut(word))?,
        "heal" => stage.cuts.clear(),
        "crash" => stage.crash(stage.known(first)?),
        "forge" => {
            let (from, to) = first.split_once('>').ok_or("from whom to whom? n1>n2")?;
            let flight = Flight {
                at: stage.now,
                from: words::node(from)?,
                to: stage.known(to)?,
                message: words::message(rest)?,
            };
            stage.arrive(flight, false);
        }
        "show" => stage.show(),
        _ => return Err("no such command".into()),
    }
    Ok(())
}

impl Stage {
    /// The place of a node of the group.
    fn known(&self, word: &str) -> Result<usize, String> {
        let place = self.place(words::node(word)?);
        place.ok_or_else(|| format!("{word} is not of the group"))
    }

    /// The nodes that are named, or all.
    fn several(&self, names: &[&str]) -> Result<Vec<usize>, String> {
        if names.is_empty() {
            return Ok((0..self.nodes.len()).collect());
        }
        names.iter().map(|name| self.known(name)).collect()
    }

    fn configure(&mut self, place: usize, words: &[&str]) -> Result<(), String> {
        let node = &mut self.nodes[place];
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let number = || value.parse().map_err(|_| format!("{value} is no number"));
            let disk = &mut node.disk;
            match key {
                "plain" => node.config.safe_mode = false,
                "term" => disk.get_or_insert_default().record.term = number()?,
                "vote" => disk.get_or_insert_default().record.vote = Some(words::node(value)?),
                "promise" => disk.get_or_insert_default().record.promise = words::span(value)?,
                "log" => {
                    let run = |run: &str| {
                        let (term, count) = run.split_once('x')?;
                        Some((term.parse().ok()?, count.parse().ok()?))
                    };
                    let runs: Option<Vec<_>> = value.split(',').map(run).collect();
                    let runs =
                        runs.ok_or_else(|| format!("{value} is no log, which is 1x3,2x1"))?;
                    let log = Shape::from_runs(runs).map_err(|error| error.to_string())?;
                    disk.get_or_insert_default().log = log;
                }
                _ => return Err(format!("a node has no {key}")),
            }
        }
        Ok(())
    }

    /// Whatever is on the way now and is meant by one of `links`, in the order it was sent.
    fn pick(
        &mut self,
        links: &[&str],
        mut each: impl FnMut(&mut Self, usize),
    ) -> Result<(), String> {
        let means = |word: &str, id: NodeId| word == "*" || words::node(word) == Ok(id);
        let meant = |flight: &Flight| {
            let fits = |link: &&str| {
                let (link, kind) = link.split_once(':').unwrap_or((link, ""));
                link.split_once('>').is_some_and(|(from, to)| {
                    means(from, flight.from)
                        && means(to, NodeId(flight.to as u64 + 1))
                        && words::words(&flight.message).starts_with(kind)
                })
            };
            links.is_empty() || links.iter().any(fits)
        };
        let places = 0..self.flights.len();
        let meant: Vec<usize> = places
            .filter(|index| meant(&self.flights[*index]))
            .collect();
        if meant.is_empty() {
            return Err("nothing of that is on the way".into());
        }
        // What is sent meanwhile is added behind.
        for (gone, index) in meant.into_iter().enumerate() {
            each(self, index - gone);
        }
        Ok(())
    }

    fn cut(&mut self, word: &str) -> Result<(), String> {
        if let Some((from, to)) = word.split_once('>') {
            self.cuts.push((self.known(from)?, self.known(to)?));
            return Ok(());
        }
        if let Some((one, other)) = word.split_once('-') {
            let (one, other) = (self.known(one)?, self.known(other)?);
            self.cuts.extend([(one, other), (other, one)]);
            return Ok(());
        }
        let place = self.known(word)?;
        for other in (0..self.nodes.len()).filter(|other| *other != place) {
            self.cuts.extend([(place, other), (other, place)]);
        }
        Ok(())
    }

    fn elect(&mut self, place: usize) -> Result<(), String> {
        let before = std::mem::take(&mut self.lanes);
        self.input(place, Input::Campaign);
        self.settle();
        self.lanes = before;
        let machine = self.nodes[place].machine.as_ref().ok_or("it is down")?;
        let Standing::Leading(tenure) = machine.standing(self.now) else {
            return Err("it was not elected".into());
        };
        let (token, until) = (words::words(&tenure.token), words::words(&tenure.until));
        self.tell(
            &Mark::At(place, '●'),
            &format!("leads term {token}, established until {until}"),
        );
        Ok(())
    }
}
