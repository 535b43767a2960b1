//! The JSON Schema of the file format, made from the table that the reader walks. Not part of the module for browsers.

use super::format::{END, Entry, FILE, Kind, Usual};
use crate::json::Writer;

const DURATION: &str = r#""type":"string","pattern":"^[0-9]+(\\.[0-9]+)?(us|ms|s|min|h)$""#;
const RATE: &str = r#""type":"string","pattern":"^[+-]?[0-9]+(\\.[0-9]+)?%$""#;
const JUMP: &str = r#""type":"string","pattern":"^[+-]?[0-9]+(\\.[0-9]+)?(us|ms|s|min|h)$""#;
const PERCENTAGE: &str = r#""type":"string","pattern":"^[0-9]+(\\.[0-9]+)?%$""#;

/// The schema, as JSON.
pub(super) fn schema() -> String {
    let mut out = String::from(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Tenure scenario, version 1","#,
    );
    value(&mut out, &Kind::Object(&FILE));
    out.push('}');
    out
}

/// The members that say what a value may be, without braces.
fn value(out: &mut String, kind: &Kind) {
    match kind {
        Kind::Text => out.push_str(r#""type":"string""#),
        Kind::Flag => out.push_str(r#""type":"boolean""#),
        Kind::Seed => {
            out.push_str(r#""type":["string","integer"],"pattern":"^[0-9]+$","minimum":0,"maximum":9007199254740991"#)
        }
        Kind::Count(least, most) => {
            out.push_str(&format!(
                r#""type":"integer","minimum":{least},"maximum":{most}"#
            ));
        }
        Kind::Span(..) | Kind::Moment => out.push_str(DURATION),
        Kind::Share => out.push_str(PERCENTAGE),
        Kind::Rate => out.push_str(RATE),
        Kind::Jump => out.push_str(JUMP),
        Kind::Name(names) => {
            out.push_str(r#""enum":"#);
            list(out, names, |out, name| quote(out, name));
        }
        Kind::Node(roles) => {
            out.push_str(r#""anyOf":[{"type":"string","pattern":"^n[1-9][0-9]{0,3}$"},{"enum":"#);
            list(out, roles, |out, role| quote(out, role));
            out.push_str("}]");
        }
        Kind::Range(least, most) => array(
            out,
            &Kind::Span(*least, *most),
            r#""minItems":2,"maxItems":2"#,
        ),
        Kind::Link => array(out, &END, r#""minItems":2,"maxItems":2"#),
        Kind::NameOrLink(name) => {
            out.push_str(r#""anyOf":[{"const":"#);
            quote(out, name);
            out.push_str("},{");
            value(out, &Kind::Link);
            out.push_str("}]");
        }
        Kind::List(of, most) => array(out, of, &format!(r#""maxItems":{most}"#)),
        Kind::Object(entries) => object(out, entries),
        Kind::Choice(entries) => {
            object(out, entries);
            // The field that is always there, and one other.
            out.push_str(r#","minProperties":2,"maxProperties":2"#);
        }
    }
}

fn array(out: &mut String, of: &Kind, length: &str) {
    out.push_str(r#""type":"array","items":{"#);
    value(out, of);
    out.push_str("},");
    out.push_str(length);
}

fn object(out: &mut String, entries: &[Entry]) {
    out.push_str(r#""type":"object","additionalProperties":false,"required":"#);
    let needed: Vec<_> = entries
        .iter()
        .filter(|entry| matches!(entry.usual, Usual::Needed(_)))
        .collect();
    list(out, &needed, |out, entry| quote(out, entry.name));
    out.push_str(r#","properties":{"#);
    for (place, entry) in entries.iter().enumerate() {
        out.push_str(if place == 0 { "" } else { "," });
        quote(out, entry.name);
        out.push_str(r#":{"description":"#);
        quote(out, entry.about);
        out.push(',');
        value(out, &entry.kind);
        default(out, entry);
        out.push('}');
    }
    out.push('}');
}

fn default(out: &mut String, entry: &Entry) {
    let plain = matches!(entry.kind, Kind::Flag | Kind::Count(..));
    match entry.usual {
        Usual::Needed(_) | Usual::Absent => {}
        Usual::Is(text) if plain => out.push_str(&format!(r#","default":{text}"#)),
        Usual::Is(text) => out.push_str(&format!(r#","default":"{text}""#)),
        Usual::Are(low, high) => out.push_str(&format!(r#","default":["{low}","{high}"]"#)),
    }
}

fn list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (place, item) in items.iter().enumerate() {
        out.push_str(if place == 0 { "" } else { "," });
        write(out, item);
    }
    out.push(']');
}

fn quote(out: &mut String, text: &str) {
    let mut writer = Writer {
        out: std::mem::take(out),
    };
    writer.quote(text);
    *out = writer.out;
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;
    use crate::json::{Node, Value, parse};

    /// Whether a value fits a schema, as far as its structure goes: patterns and bounds of numbers are not looked at.
    fn fits(schema: &Node, node: &Node) -> bool {
        let members = members(schema);
        members.iter().all(|(keyword, of)| match *keyword {
            "type" => match &of.value {
                Value::List(types) => types.iter().any(|name| is_of(node, text(name))),
                _ => is_of(node, text(of)),
            },
            "enum" => items(of).iter().any(|name| text(name) == text(node)),
            "const" => text(of) == text(node),
            "anyOf" => items(of).iter().any(|schema| fits(schema, node)),
            "items" => items(node).iter().all(|item| fits(of, item)),
            "minItems" => items(node).len() >= text(of).parse().unwrap(),
            "maxItems" => items(node).len() <= text(of).parse().unwrap(),
            "minProperties" => self::members(node).len() >= text(of).parse().unwrap(),
            "maxProperties" => self::members(node).len() <= text(of).parse().unwrap(),
            "required" => items(of).iter().all(|name| {
                self::members(node)
                    .iter()
                    .any(|(known, _)| *known == text(name))
            }),
            "properties" => {
                let known = self::members(of);
                self::members(node).iter().all(|(name, node)| {
                    known
                        .iter()
                        .any(|(known, schema)| known == name && fits(schema, node))
                })
            }
            "$schema" | "title" | "description" | "default" | "pattern" | "minimum" | "maximum" => {
                true
            }
            "additionalProperties" => matches!(of.value, Value::Flag(false)),
            _ => panic!("{keyword}"),
        })
    }

    fn is_of(node: &Node, name: &str) -> bool {
        let found = match node.value {
            Value::Null => "null",
            Value::Flag(_) => "boolean",
            Value::Number(_) => "integer",
            Value::Text(_) => "string",
            Value::List(_) => "array",
            Value::Object(_) => "object",
        };
        found == name
    }

    fn text(node: &Node) -> &str {
        match &node.value {
            Value::Text(text) | Value::Number(text) => text,
            _ => "",
        }
    }

    fn items(node: &Node) -> &[Node] {
        match &node.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    fn members(node: &Node) -> Vec<(&str, &Node)> {
        match &node.value {
            Value::Object(fields) => fields
                .iter()
                .map(|field| (field.name.as_str(), &field.node))
                .collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn what_is_written_fits_and_what_is_refused_for_its_structure_does_not() {
        let schema = parse(&schema()).unwrap();
        let fits = |text: &str| fits(&schema, &parse(text).unwrap());
        let sample = r#"{"tenure": 1, "scheme": "raft", "rulesOff": ["pre-vote"], "title": {"en": "x"}, "expect": {"token-rises": "holds"},
            "faults": [{"at": "1s", "heal": "all"}, {"at": "1s", "cut": ["n1", "leader"]},
            {"at": "2s", "partition": [["n1"], ["rest"]]}, {"at": "3s", "disk": {"node": "n1"}}]}"#;
        assert!(fits(sample));
        assert!(fits(&Scenario::parse(sample).unwrap().to_json()));
        for bad in [
            r#"{"tenure": 1}"#,
            r#"{"tenure": 1, "scheme": "paxos"}"#,
            r#"{"tenure": 1, "scheme": "raft", "nods": 3}"#,
            r#"{"tenure": 1, "scheme": "raft", "faults": [{"at": "1s"}]}"#,
            r#"{"tenure": 1, "scheme": "raft", "faults": [{"at": "1s", "crash": "n1", "pause": "n1"}]}"#,
            r#"{"tenure": 1, "scheme": "raft", "faults": [{"at": "1s", "cut": ["n1"]}]}"#,
            r#"{"tenure": 1, "scheme": "raft", "faults": [{"at": "1s", "heal": 3}]}"#,
        ] {
            assert!(!fits(bad) && Scenario::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_scenario_of_the_gallery_fits() {
        let schema = parse(&schema()).unwrap();
        let gallery = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
        for entry in std::fs::read_dir(gallery).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(fits(&schema, &parse(&text).unwrap()), "{}", path.display());
            }
        }
    }
}
