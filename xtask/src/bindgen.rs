//! JavaScript and TypeScript bindings for a WASM module.

use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// Targets by the names that the `wasm-bindgen` command gives them.
const TARGETS: [&str; 6] = [
    "web",
    "bundler",
    "nodejs",
    "experimental-nodejs-module",
    "deno",
    "no-modules",
];

/// Reads the module `input` and writes its bindings and the bound module into the folder `outdir`.
pub(crate) fn generate(input: &Path, target: &str, outdir: &Path) -> Result<(), String> {
    if !input.is_file() {
        return Err(format!(
            "{} is not a file: build it first with `cargo build -p tenure-wasm --release --target wasm32-unknown-unknown`",
            input.display()
        ));
    }
    let mut bindgen = Bindgen::new();
    choose(&mut bindgen, target)?;
    bindgen
        .input_path(input)
        .typescript(true)
        // Names stay: what makes the module smaller goes by them, and takes them out.
        .remove_producers_section(true);
    bindgen.generate(outdir).map_err(|e| {
        format!(
            "{} cannot be bound into {}: {e:#}\nwhere it speaks of a schema, wasm-bindgen in wasm/Cargo.toml and \
             wasm-bindgen-cli-support in xtask/Cargo.toml must name one version",
            input.display(),
            outdir.display()
        )
    })
}

fn choose(bindgen: &mut Bindgen, target: &str) -> Result<(), String> {
    let chosen = match target {
        "web" => bindgen.web(true),
        "bundler" => bindgen.bundler(true),
        "nodejs" => bindgen.nodejs(true),
        "experimental-nodejs-module" => bindgen.nodejs_module(true),
        "deno" => bindgen.deno(true),
        "no-modules" => bindgen.no_modules(true),
        other => {
            return Err(format!(
                "there is no target {other:?}: choose one of {}",
                TARGETS.join(", ")
            ));
        }
    };
    chosen
        .map(|_| ())
        .map_err(|e| format!("the target {target:?} is refused: {e:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_target_is_known() {
        for target in TARGETS {
            assert_eq!(choose(&mut Bindgen::new(), target), Ok(()), "{target}");
        }
    }

    #[test]
    fn an_unknown_target_is_refused_with_the_known_ones() {
        let refused = choose(&mut Bindgen::new(), "webb").unwrap_err();
        assert!(
            refused.contains("webb") && refused.contains("no-modules"),
            "{refused}"
        );
    }

    #[test]
    fn a_missing_module_is_refused_with_the_command_that_builds_it() {
        let refused = generate("missing.wasm".as_ref(), "web", "out".as_ref()).unwrap_err();
        assert!(
            refused.contains("missing.wasm") && refused.contains("cargo build"),
            "{refused}"
        );
    }
}
