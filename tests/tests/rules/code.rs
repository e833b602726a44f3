//! Just enough of Rust's grammar to look at code and not at what is in strings and comments.

use std::iter::Peekable;
use std::str::Chars;

/// `text` with the contents of strings, characters and comments replaced by blanks; lines stay where they are.
pub(crate) fn bare(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let before = bare.chars().next_back().unwrap_or(' ');
        match (character, rest.peek()) {
            ('/', Some('/')) => skip(&mut rest, &mut bare, |_, next| next == Some('\n')),
            ('/', Some('*')) => skip_block_comment(&mut rest, &mut bare),
            ('"', _) => skip_string(&mut rest, &mut bare),
            ('r', Some('"' | '#')) if !is_word(before) => skip_raw_string(&mut rest, &mut bare),
            ('\'', _) => skip_character(&mut rest, &mut bare),
            (other, _) => bare.push(other),
        }
    }
    bare
}

/// A function and how many lines it has, from `fn` to its closing brace.
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// The line where it begins, from 1.
    pub(crate) line: usize,
    /// The number of its lines.
    pub(crate) length: usize,
}

/// The functions of a source, those inside of others as well.
pub(crate) fn functions(text: &str) -> Vec<Function> {
    let bare = bare(text);
    let starts = bare
        .match_indices("fn ")
        .filter(|(place, _)| !is_word(bare[..*place].chars().next_back().unwrap_or(' ')));
    let found = starts.filter_map(|(place, _)| {
        let rest = &bare[place + 3..];
        let name: String = rest
            .chars()
            .take_while(|character| is_word(*character))
            .collect();
        let body = body(rest)?;
        let line = bare[..place].matches('\n').count() + 1;
        (!name.is_empty()).then(|| Function {
            name,
            line,
            length: body.matches('\n').count() + 1,
        })
    });
    found.collect()
}

/// The text up to the end of the function; `None` for one without a body.
fn body(rest: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (place, character) in rest.char_indices() {
        match character {
            ';' if depth == 0 && !is_in_brackets(&rest[..place]) => return None,
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&rest[..place]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a type such as `[u8; 16]` is open.
fn is_in_brackets(text: &str) -> bool {
    text.matches('[').count() > text.matches(']').count()
}

pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Skips until `ends`, which sees the character that was skipped and the next one.
fn skip(
    rest: &mut Peekable<Chars<'_>>,
    bare: &mut String,
    mut ends: impl FnMut(char, Option<char>) -> bool,
) {
    while let Some(character) = rest.next() {
        if character == '\n' {
            bare.push('\n');
        }
        if ends(character, rest.peek().copied()) {
            return;
        }
    }
}

fn skip_string(rest: &mut Peekable<Chars<'_>>, bare: &mut String) {
    bare.push('"');
    let mut is_escaped = false;
    skip(rest, bare, |character, _| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    });
    bare.push('"');
}

fn skip_raw_string(rest: &mut Peekable<Chars<'_>>, bare: &mut String) {
    let mut hashes = 0;
    while rest.next_if_eq(&'#').is_some() {
        hashes += 1;
    }
    if rest.next_if_eq(&'"').is_none() {
        // A raw identifier, such as `r#type`.
        return;
    }
    let mut seen = None;
    skip(rest, bare, |character, _| {
        seen = match (character, seen) {
            ('"', _) => Some(0),
            ('#', Some(count)) => Some(count + 1),
            _ => None,
        };
        seen == Some(hashes)
    });
    bare.push_str("\"\"");
}

fn skip_block_comment(rest: &mut Peekable<Chars<'_>>, bare: &mut String) {
    let mut depth = 1;
    let mut before = ' ';
    rest.next();
    skip(rest, bare, |character, _| {
        match (before, character) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {}
        }
        before = character;
        depth == 0
    });
}

/// Skips a character literal, and leaves a lifetime alone.
fn skip_character(rest: &mut Peekable<Chars<'_>>, bare: &mut String) {
    bare.push('\'');
    let mut ahead = rest.clone();
    let length = match (ahead.next(), ahead.next()) {
        (Some('\\'), Some(_)) => 2 + ahead.take_while(|character| *character != '\'').count(),
        (Some(_), Some('\'')) => 1,
        _ => return,
    };
    rest.nth(length);
}

#[test]
fn only_code_is_left() {
    let check = |text: &str, expected: &str| assert_eq!(bare(text), expected, "{text}");
    check("a // b \" {\nc", "a \nc");
    check("a /* { /* } */ { */ b", "a  b");
    check(r#"a("{ \" }", b)"#, r#"a("", b)"#);
    check("a(r#\"{ \" }\"#, b)", "a(\"\", b)");
    check("a('{', '\\'', '\\u{7b}', b)", "a(', ', ', b)");
    check("fn a<'b>(c: &'b str) {}", "fn a<'b>(c: &'b str) {}");
}

#[test]
fn functions_are_measured() {
    let text = "trait A {\n    fn one();\n    fn two(a: [u8; 2]) {\n        '}';\n    }\n}\n";
    let found = functions(text);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.name.as_str(), it.line, it.length))
        .collect();
    assert_eq!(found, [("two", 3, 3)]);
}
