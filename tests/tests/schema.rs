//! The published JSON Schema is the one that the reader's own table makes. What fits it is for a validator of its own to
//! say: `tests/wasm/schema.test.ts`.
//!
//! After a change of the format: `UPDATE_SCHEMA=1 cargo test -p tenure-tests --test schema`.

use tenure_sim::Scenario;
use tenure_tests::gallery;

#[test]
fn the_published_schema_is_that_of_the_reader() {
    let published = gallery().join("schema/v1.json");
    let schema = Scenario::json_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::create_dir_all(gallery().join("schema")).unwrap();
        std::fs::write(&published, &schema).unwrap();
    }
    let recorded = std::fs::read_to_string(&published).unwrap_or_default();
    assert_eq!(
        schema, recorded,
        "the format changed; if it was meant to: UPDATE_SCHEMA=1 cargo test -p tenure-tests --test schema"
    );
}
