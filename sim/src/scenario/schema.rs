//! The JSON Schema of the file format, made from the table that the reader walks. Not part of the module for browsers.

use super::format::{END, Entry, FILE, Kind, Usual};
use super::names::{OTHER_RULES, RULES};
use crate::json::{Writer, indent};

const DURATION: &str = r#""type":"string","pattern":"^[0-9]+(\\.[0-9]+)?(us|ms|s|min|h)$""#;
const RATE: &str =
    r#""type":"string","pattern":"^[+-]?0*(100(\\.0+)?|[0-9]{1,2}(\\.[0-9]{1,4}0*)?)%$""#;
const JUMP: &str = r#""type":"string","pattern":"^[+-]?[0-9]+(\\.[0-9]+)?(us|ms|s|min|h)$""#;
const PERCENTAGE: &str =
    r#""type":"string","pattern":"^0*(100(\\.0+)?|[0-9]{1,2}(\\.[0-9]{1,4}0*)?)%$""#;

/// The schema, as JSON, indented: it is published, and read.
pub(super) fn schema() -> String {
    let mut out = String::from(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Tenure scenario, version 1","#,
    );
    value(&mut out, &Kind::Object(FILE));
    out.push('}');
    indent(&out)
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
        Kind::Rule => {
            // Of any scheme: some have rules of one name.
            let mut names = RULES.to_vec();
            for name in OTHER_RULES.iter().copied().flatten() {
                if !names.contains(name) {
                    names.push(name);
                }
            }
            out.push_str(r#""enum":"#);
            list(out, &names, |out, name| quote(out, name));
        }
        Kind::Server => out.push_str(r#""type":"string","pattern":"^[bs][1-9][0-9]{0,3}$""#),
        Kind::Node([]) => out.push_str(r#""type":"string","pattern":"^n[1-9][0-9]{0,3}$""#),
        Kind::Node(roles) | Kind::Member(roles) => {
            let letters = match kind {
                Kind::Member(_) => "[bns]",
                _ => "n",
            };
            out.push_str(&format!(
                r#""anyOf":[{{"type":"string","pattern":"^{letters}[1-9][0-9]{{0,3}}$"}},{{"enum":"#
            ));
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
