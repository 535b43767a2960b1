//! What is asked for on the command line.

use crate::{KINDS, TAKEOVERS};
use lexopt::{Arg, Parser, ValueExt};

/// What to compare.
pub(crate) struct Options {
    /// How many commands to each store.
    pub(crate) commands: u64,
    /// Where the random draws begin.
    pub(crate) seed: u64,
    /// How many leaders are killed of each kind of server that elects its own.
    pub(crate) kills: usize,
    /// The stores by name; all when there is none.
    only: Vec<String>,
}

impl Options {
    pub(crate) fn from_args() -> Result<Self, String> {
        Self::parse(Parser::from_env()).map_err(|why| {
            format!("{why}\nUsage: npm run test:stores -- [--commands N] [--kills N] [--only NAME[,NAME…]] [--seed N]")
        })
    }

    fn parse(mut parser: Parser) -> Result<Self, lexopt::Error> {
        let mut options = Self {
            commands: 20_000,
            seed: 1,
            kills: 20,
            only: Vec::new(),
        };
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("commands") => options.commands = parser.value()?.parse()?,
                Arg::Long("kills") => options.kills = parser.value()?.parse()?,
                Arg::Long("seed") => options.seed = parser.value()?.parse()?,
                Arg::Long("only") => options.only = names(&parser.value()?.string()?)?,
                other => return Err(other.unexpected()),
            }
        }
        if options.commands == 0 {
            return Err("--commands 0 compares nothing: name a number above 0".into());
        }
        if options.kills == 0 {
            return Err("--kills 0 compares nothing: name a number above 0".into());
        }
        Ok(options)
    }

    /// Whether a store is to be compared.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }
}

fn names(list: &str) -> Result<Vec<String>, lexopt::Error> {
    let stores = KINDS.iter().map(|kind| kind.report.name);
    let takeovers = TAKEOVERS.iter().map(|kind| kind.report.name);
    let known: Vec<&str> = stores.chain(takeovers).collect();
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(names),
        Some(name) => Err(format!(
            "there is no store \"{name}\": choose from {}",
            known.join(", ")
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        let words = std::iter::once("stores").chain(args.iter().copied());
        Options::parse(Parser::from_iter(words)).map_err(|why| why.to_string())
    }

    #[test]
    fn what_is_not_understood_is_refused_with_what_is() {
        let all = parse(&[]).unwrap();
        assert!((all.commands, all.wants("redis")) == (20_000, true));
        let some = parse(&["--commands", "7", "--only", "redis"]).unwrap();
        assert!((some.commands, some.wants("redis"), some.wants("etcd")) == (7, true, false));
        let unknown = parse(&["--only", "redsi"]).err().unwrap();
        assert!(unknown.contains("\"redsi\"") && unknown.contains("redis"));
        assert!((all.kills, parse(&["--kills", "7"]).unwrap().kills) == (20, 7));
        assert!(parse(&["--only", "sentinel-takeover"]).is_ok());
        assert!(parse(&["--commands", "0"]).is_err());
        assert!(parse(&["--kills", "0"]).is_err());
        assert!(parse(&["--comands", "1"]).is_err());
    }
}
