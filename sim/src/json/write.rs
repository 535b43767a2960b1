//! Writes JSON, field by field.

/// What was written so far.
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
    #[inline(never)]
    pub(crate) fn comma(&mut self) {
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    #[inline(never)]
    pub(crate) fn name(&mut self, name: &str) {
        self.comma();
        self.quote(name);
        self.out.push(':');
    }

    #[inline(never)]
    pub(crate) fn open(&mut self, name: &str, bracket: char) {
        self.name(name);
        self.out.push(bracket);
    }

    pub(crate) fn close(&mut self, bracket: char) {
        self.out.push(bracket);
    }

    /// A field whose value is written as it is.
    #[inline(never)]
    pub(crate) fn plain(&mut self, name: &str, value: &str) {
        self.name(name);
        self.out.push_str(value);
    }

    #[inline(never)]
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.quote(value);
    }

    /// A text in a list.
    #[inline(never)]
    pub(crate) fn item(&mut self, value: &str) {
        self.comma();
        self.quote(value);
    }

    /// A text, wherever it stands.
    #[inline(never)]
    pub(crate) fn quote(&mut self, text: &str) {
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

#[cfg(test)]
mod tests {
    use super::super::{Value, parse};
    use super::*;

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
