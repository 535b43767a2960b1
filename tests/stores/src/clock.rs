//! The clocks of a real server, told by the test: replies that depend on the time are compared to the millisecond, and
//! nothing has to be waited for. `clock.c` says how.

use crate::trouble::Trouble;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A wall clock that stands still until it is set, and one that never jumps, which runs until then.
pub(crate) struct Clock {
    library: PathBuf,
    path: PathBuf,
    file: File,
}

impl Clock {
    /// A clock in this folder.
    pub(crate) fn new(folder: &Path) -> Result<Self, Trouble> {
        let source = folder.join("clock.c");
        let library = folder.join("clock.so");
        let path = folder.join("clock");
        std::fs::write(&source, include_str!("clock.c"))
            .map_err(|why| Trouble::failed(source.display(), why))?;
        let compiled = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .output()
            .map_err(|_| Trouble::Missing("a C compiler, `cc`".to_owned()))?;
        if !compiled.status.success() {
            let said = String::from_utf8_lossy(&compiled.stderr);
            return Err(Trouble::failed("clock.c cannot be compiled", said));
        }
        let file = File::create(&path).map_err(|why| Trouble::failed(path.display(), why))?;
        let clock = Self {
            library,
            path,
            file,
        };
        clock.set(0)?;
        Ok(clock)
    }

    /// Lets a program that is to be started have this clock.
    pub(crate) fn give(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("TENURE_CLOCK", &self.path);
    }

    /// The wall clock shows these microseconds since 1970 from now on.
    pub(crate) fn set(&self, micros: i64) -> Result<(), Trouble> {
        self.write(micros, 0)
    }

    /// The clock that never jumps shows these microseconds from now on, above 0 and below 30 years.
    pub(crate) fn set_steady(&self, micros: i64) -> Result<(), Trouble> {
        self.write(micros, 8)
    }

    fn write(&self, micros: i64, place: u64) -> Result<(), Trouble> {
        self.file
            .write_all_at(&micros.to_ne_bytes(), place)
            .map_err(|why| Trouble::failed("the clock cannot be set", why))
    }
}
