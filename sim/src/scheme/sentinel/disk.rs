//! The disk of a sentinel: one file, which each write replaces whole.

use crate::physics::disk::Kept;
use crate::scheme::Logged;
use tenure::log::Shape;
use tenure::sentinel::File;

/// There is no log.
static NOTHING: Shape = Shape::new();

impl Kept for File {
    type Write = Self;

    fn fold(&mut self, write: &Self) -> bool {
        self.clone_from(write);
        true
    }
}

impl Logged for File {
    fn log(&self) -> &Shape {
        &NOTHING
    }
}
