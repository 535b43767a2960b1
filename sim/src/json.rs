//! JSON: a reader that keeps the place of every value, so that a refusal can name the line, and a writer. Small on
//! purpose: they ride in the WASM module, of which a general library would be half.

/// The deepest nesting that is read: scenarios need four levels.
const MAX_DEPTH: usize = 16;

/// The most fields an object may have: scenarios need fourteen, and each is compared with those before it.
const MAX_FIELDS: usize = 64;

/// A value and where it begins, in bytes.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) value: Value,
}

/// A value.
#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Field>),
}

/// A named value, and where its name begins.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) node: Node,
}

/// Where a text is no JSON, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) at: usize,
    pub(crate) reason: &'static str,
}

/// Reads one value that is the whole text.
pub(crate) fn parse(text: &str) -> Result<Node, Mistake> {
    let mut parser = Parser { text, at: 0 };
    let node = parser.node(0)?;
    parser.blank();
    if parser.at < text.len() {
        return Err(parser.mistake("more follows after the end"));
    }
    Ok(node)
}

/// The path to the value or field name that begins at a byte, as `faults[3].at`; empty for the whole.
pub(crate) fn path_to(root: &Node, at: usize) -> String {
    let mut path = String::new();
    let mut node = root;
    loop {
        // Of all items, the one the byte lies in is the last that begins before it.
        match &node.value {
            Value::List(items) => {
                let Some(place) = items.iter().rposition(|item| item.at <= at) else {
                    return path;
                };
                path.push('[');
                path.push_str(&place.to_string());
                path.push(']');
                node = &items[place];
            }
            Value::Object(fields) => {
                let Some(field) = fields.iter().rfind(|field| field.at <= at) else {
                    return path;
                };
                if !path.is_empty() {
                    path.push('.');
                }
                path.extend(
                    field
                        .name
                        .chars()
                        .filter(|letter| !letter.is_control())
                        .take(40),
                );
                node = &field.node;
            }
            _ => return path,
        }
        if node.at >= at {
            return path;
        }
    }
}

/// Line and column of a byte, both counted from 1.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let (mut line, mut column) = (1, 1);
    for byte in text.bytes().take(at) {
        if byte == b'\n' {
            (line, column) = (line + 1, 1);
        } else if byte & 0xc0 != 0x80 {
            // The bytes that continue a letter do not count.
            column += 1;
        }
    }
    (line, column)
}

/// Writes JSON, field by field.
pub(crate) struct Writer {
    pub(crate) out: String,
}

impl Writer {
    /// Begins an object.
    pub(crate) fn object() -> Self {
        Self {
            out: String::from("{"),
        }
    }

    /// Ends the object that was begun with.
    pub(crate) fn finish(mut self) -> String {
        self.out.push('}');
        self.out
    }

    /// A comma, unless this is the first of its list or object.
    pub(crate) fn comma(&mut self) {
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    pub(crate) fn name(&mut self, name: &str) {
        self.comma();
        self.quote(name);
        self.out.push(':');
    }

    pub(crate) fn open(&mut self, name: &str, bracket: char) {
        self.name(name);
        self.out.push(bracket);
    }

    pub(crate) fn close(&mut self, bracket: char) {
        self.out.push(bracket);
    }

    /// A field whose value is written as it is.
    pub(crate) fn plain(&mut self, name: &str, value: &str) {
        self.name(name);
        self.out.push_str(value);
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.quote(value);
    }

    /// A text in a list.
    pub(crate) fn item(&mut self, value: &str) {
        self.comma();
        self.quote(value);
    }

    fn quote(&mut self, text: &str) {
        self.out.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\0'..='\u{1f}' => {
                    self.out.push_str("\\u00");
                    for digit in [letter as u32 / 16, letter as u32 % 16] {
                        self.out.push(char::from_digit(digit, 16).unwrap_or('0'));
                    }
                }
                _ => self.out.push(letter),
            }
        }
        self.out.push('"');
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn node(&mut self, depth: usize) -> Result<Node, Mistake> {
        self.blank();
        let at = self.at;
        if depth > MAX_DEPTH {
            return Err(self.mistake("this is nested too deeply"));
        }
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.object(depth)?),
            Some(b'[') => Value::List(self.list(depth)?),
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number().to_owned()),
            _ if self.word("true") => Value::Flag(true),
            _ if self.word("false") => Value::Flag(false),
            _ if self.word("null") => Value::Null,
            Some(_) => return Err(self.mistake("no value can begin here")),
            None => return Err(self.mistake("the text ends where a value is expected")),
        };
        Ok(Node { at, value })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Field>, Mistake> {
        let mut fields: Vec<Field> = Vec::new();
        self.at += 1;
        if self.taken(b'}') {
            return Ok(fields);
        }
        loop {
            self.blank();
            let at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.mistake("the name of a field is expected here"));
            }
            let name = self.string()?;
            if fields.len() == MAX_FIELDS {
                return Err(Mistake {
                    at,
                    reason: "this object has too many fields",
                });
            }
            if fields.iter().any(|field| field.name == name) {
                return Err(Mistake {
                    at,
                    reason: "this field is there twice",
                });
            }
            if !self.taken(b':') {
                return Err(self.mistake("a colon is expected here"));
            }
            let node = self.node(depth + 1)?;
            fields.push(Field { at, name, node });
            if self.taken(b'}') {
                return Ok(fields);
            }
            if !self.taken(b',') {
                return Err(self.mistake("a comma or the end of the object is expected here"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Mistake> {
        let mut items = Vec::new();
        self.at += 1;
        if self.taken(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.node(depth + 1)?);
            if self.taken(b']') {
                return Ok(items);
            }
            if !self.taken(b',') {
                return Err(self.mistake("a comma or the end of the list is expected here"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Mistake> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let plain = rest
                .bytes()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
                .unwrap_or(rest.len());
            text.push_str(rest.get(..plain).unwrap_or(""));
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.mistake("a text holds a control character")),
                None => return Err(self.mistake("a text does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Mistake> {
        const UNKNOWN: &str = "this escape is not known";
        self.at += 1;
        let letter = self.peek();
        let plain = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.unit().ok_or_else(|| self.mistake(UNKNOWN))?;
                let code = if (0xd800..0xdc00).contains(&high) && self.word("\\") {
                    let low = self.unit().filter(|low| (0xdc00..0xe000).contains(low));
                    let low = low.ok_or_else(|| self.mistake(UNKNOWN))?;
                    0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                } else {
                    high
                };
                return char::from_u32(code).ok_or_else(|| self.mistake(UNKNOWN));
            }
            _ => return Err(self.mistake(UNKNOWN)),
        };
        self.at += 1;
        Ok(plain)
    }

    /// The `u` and four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 5)?.strip_prefix('u')?;
        let unit = digits
            .bytes()
            .all(|digit| digit.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(digits, 16).ok())??;
        self.at += 5;
        Some(unit)
    }

    fn number(&mut self) -> &str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let in_number = |byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest
            .bytes()
            .position(|byte| !in_number(byte))
            .unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or("")
    }

    fn word(&mut self, word: &str) -> bool {
        let there = self
            .text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word));
        self.at += if there { word.len() } else { 0 };
        there
    }

    /// Takes a sign after blanks, if it is there.
    fn taken(&mut self, sign: u8) -> bool {
        self.blank();
        let there = self.peek() == Some(sign);
        self.at += usize::from(there);
        there
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn mistake(&self, reason: &'static str) -> Mistake {
        Mistake {
            at: self.at,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_are_read() {
        let text = r#" { "a" : [ 1 , -2.5e3 , true , false , null ] , "b" : "x\n\"\u00e9\ud83d\ude00é" , "c" : {} , "d" : [] } "#;
        let Value::Object(fields) = parse(text).unwrap().value else {
            panic!()
        };
        assert_eq!(
            fields
                .iter()
                .map(|field| field.name.as_str())
                .collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
        let Value::List(items) = &fields[0].node.value else {
            panic!()
        };
        assert!(matches!(
            items[..],
            [
                Node {
                    value: Value::Number(_),
                    ..
                },
                Node {
                    value: Value::Number(_),
                    ..
                },
                Node {
                    value: Value::Flag(true),
                    ..
                },
                Node {
                    value: Value::Flag(false),
                    ..
                },
                Node {
                    value: Value::Null,
                    ..
                },
            ]
        ));
        assert!(matches!(&fields[1].node.value, Value::Text(text) if text == "x\n\"é😀é"));
        assert_eq!(fields[1].at, text.find("\"b\"").unwrap());
    }

    #[test]
    fn every_cut_and_many_a_slip_is_a_mistake_and_never_a_panic() {
        let whole = r#"{"a": [1, {"é": "\u00e9\\"}], "b": null}"#;
        assert!(parse(whole).is_ok());
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
        for (text, reason) in [
            ("{} {}", "more follows after the end"),
            ("{\"a\": 1, \"a\": 2}", "this field is there twice"),
            ("{a: 1}", "the name of a field is expected here"),
            ("{\"a\" 1}", "a colon is expected here"),
            ("[1 2]", "a comma or the end of the list is expected here"),
            ("[1,]", "no value can begin here"),
            ("\"a\nb\"", "a text holds a control character"),
            ("\"\\x\"", "this escape is not known"),
            ("\"\\ud800\"", "this escape is not known"),
            ("\"\\u+123\"", "this escape is not known"),
            ("nul", "no value can begin here"),
        ] {
            assert_eq!(parse(text).unwrap_err().reason, reason, "{text}");
        }
        assert_eq!(
            parse(&"[".repeat(100_000)).unwrap_err().reason,
            "this is nested too deeply"
        );
        let many: Vec<String> = (0..100_000).map(|field| format!("\"{field}\":0")).collect();
        assert_eq!(
            parse(&format!("{{{}}}", many.join(",")))
                .unwrap_err()
                .reason,
            "this object has too many fields"
        );
    }

    #[test]
    fn paths_lead_to_values_and_to_names() {
        let text = r#"{"a": [1, {"b": "x"}], "c": {"d": [[2], [3, 4]]}}"#;
        let root = parse(text).unwrap();
        for (what, path) in [
            ("1", "a[0]"),
            ("{\"b", "a[1]"),
            ("\"b\"", "a[1].b"),
            ("\"x", "a[1].b"),
            ("\"c\"", "c"),
            ("4", "c.d[1][1]"),
            ("{\"a", ""),
        ] {
            assert_eq!(path_to(&root, text.find(what).unwrap()), path, "{what}");
        }
    }

    #[test]
    fn lines_and_columns_are_counted_as_people_do() {
        let text = "{\n  \"é\": x";
        assert_eq!(line_and_column(text, text.find('x').unwrap()), (2, 8));
        assert_eq!(line_and_column(text, 0), (1, 1));
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = "a\"b\\c\u{1}\u{1f}\né😀";
        let mut writer = Writer::object();
        writer.text(text, text);
        writer.open("list", '[');
        writer.item(text);
        writer.item("");
        writer.close(']');
        let written = writer.finish();
        let Value::Object(fields) = parse(&written).unwrap().value else {
            panic!()
        };
        assert!(
            fields[0].name == text
                && matches!(&fields[0].node.value, Value::Text(read) if read == text)
        );
        let Value::List(items) = &fields[1].node.value else {
            panic!()
        };
        assert!(matches!(&items[0].value, Value::Text(read) if read == text) && items.len() == 2);
    }
}
