//! What crosses the rooms lives beside this crate: `tests/tests` (Rust), `tests/wasm` and `tests/browser` (TypeScript),
//! over the gallery in `scenarios/` at the root, which page, command and tests share.

pub mod faults;

use std::path::{Path, PathBuf};

/// The folder of the gallery.
#[must_use]
pub fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

/// The scenario files of a folder, by name, with their texts.
///
/// # Errors
/// When the folder or a file of it cannot be read.
pub fn scenarios(folder: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            found.push((name, std::fs::read_to_string(&path)?));
        }
    }
    found.sort();
    Ok(found)
}
