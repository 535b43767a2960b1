//! Breaks the lines of JSON for people: what is short stays on one line, so that a list of faults has one fault a line.

/// What is no longer than this, without white space, is not broken.
const SHORT: usize = 84;

/// Indents JSON that has no white space outside its texts. Ends with a line feed.
pub(crate) fn indent(json: &str) -> String {
    let (mut out, mut depth, mut short) = (String::new(), 0, 0);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    let mut quotes = Quotes::default();
    for (at, letter) in json.char_indices() {
        if quotes.within(letter) {
            out.push(letter);
            continue;
        }
        match letter {
            '{' | '[' => {
                out.push(letter);
                // The file itself is always broken.
                if short > 0 || (at > 0 && length(&json[at..]) <= SHORT) {
                    short += 1;
                    if json[at..].starts_with('{') && !json[at..].starts_with("{}") {
                        out.push(' ');
                    }
                    continue;
                }
                depth += 1;
                line(&mut out, depth);
            }
            '}' | ']' => {
                if short > 0 {
                    short -= 1;
                    if letter == '}' && !out.ends_with('{') {
                        out.push(' ');
                    }
                } else {
                    depth -= 1;
                    line(&mut out, depth);
                }
                out.push(letter);
            }
            ',' if short == 0 => {
                out.push(',');
                line(&mut out, depth);
            }
            ',' => out.push_str(", "),
            ':' => out.push_str(": "),
            _ => out.push(letter),
        }
    }
    out.push('\n');
    out
}

/// How long the value is that begins here, up to its closing bracket.
fn length(json: &str) -> usize {
    let (mut depth, mut quotes) = (0, Quotes::default());
    for (at, letter) in json.char_indices() {
        if quotes.within(letter) {
            continue;
        }
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 1 => return at + 1,
            '}' | ']' => depth -= 1,
            _ if at > SHORT => break,
            _ => {}
        }
    }
    json.len()
}

/// Whether the present letter belongs to a text.
#[derive(Default)]
struct Quotes {
    open: bool,
    escaped: bool,
}

impl Quotes {
    /// Hands over the next letter; its own quotes belong to a text.
    fn within(&mut self, letter: char) -> bool {
        let was_open = self.open;
        let ends = letter == '"' && !self.escaped;
        self.escaped = was_open && letter == '\\' && !self.escaped;
        self.open ^= ends;
        was_open || self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_stays_on_one_line_and_texts_stay_as_they_are() {
        let long = "x".repeat(SHORT);
        let json = format!(
            r#"{{"a":[{{"at":"1s","cut":["n1","n2"]}},{{"at":"2s","heal":"all"}}],"b":"{{,:\"[{long}","c":["{long}",2],"d":{{}}}}"#
        );
        let expected = format!(
            "{{\n  \"a\": [{{ \"at\": \"1s\", \"cut\": [\"n1\", \"n2\"] }}, {{ \"at\": \"2s\", \"heal\": \"all\" }}],\n  \
             \"b\": \"{{,:\\\"[{long}\",\n  \"c\": [\n    \"{long}\",\n    2\n  ],\n  \"d\": {{}}\n}}\n"
        );
        assert_eq!(indent(&json), expected);
    }
}
