//! The server's words, which are for a model, in those of the command line. Pure.
//!
//! A word that the server says differently one day passes through as it is.

/// What the server says, and what that is to a person; the longer one first where one is part of another.
const WORDS: [(&str, &str); 19] = [
    ("`idempotencyKey`", "`--key`"),
    ("idempotencyKey", "--key"),
    ("`timeoutSeconds`", "`--timeout`"),
    ("timeoutSeconds", "--timeout"),
    ("`ttlSeconds`", "`--ttl`"),
    ("ttlSeconds", "--ttl"),
    ("`label`", "`--label`"),
    // The current one, where none was given.
    ("another `cwd`", "another directory"),
    ("`cwd`", "`--cwd`"),
    ("`env`", "`--env`"),
    ("`stdin`", "`--stdin`"),
    ("another `args`", "other arguments"),
    (
        "`args` is given, so `command` has to be a program alone and not ",
        "several words were given, so the first one has to be a program alone and not ",
    ),
    (
        "leave `args` out to run it as a shell line, or put every word behind the program into `args`",
        "quote all of them as one to run a shell line, or give every word of the program's by itself",
    ),
    (
        "with the Tasks extension by tasks/get with this id, in a terminal by",
        "by",
    ),
    (
        " bytes long as JSON,",
        " bytes long as JSON, where a line feed, a quotation mark and a backslash are two bytes each,",
    ),
    ("then call again", "then run it again"),
    ("call again later", "run it again later"),
    (
        ". Nothing was run. Call `run` again with this corrected.",
        "; nothing was run",
    ),
];

/// Says to a person what the server said to a model.
pub(super) fn plain(text: &str) -> String {
    let words = WORDS.iter();
    words.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_the_tool_are_options() {
        let said = "`idempotencyKey` \"k\" already stands for another call, with another `args`, another `ttlSeconds`";
        let expect =
            "`--key` \"k\" already stands for another call, with other arguments, another `--ttl`";
        assert_eq!(plain(said), expect);
        let said = "`label` is \"\", it has to be one line. Nothing was run. Call `run` again with this corrected.";
        assert_eq!(
            plain(said),
            "`--label` is \"\", it has to be one line; nothing was run"
        );
        let said = "check it before you run it again, with a new idempotencyKey if you gave one";
        assert_eq!(
            plain(said),
            "check it before you run it again, with a new --key if you gave one"
        );
    }

    #[test]
    fn a_request_of_the_protocol_is_not_named() {
        let said = "look later: with the Tasks extension by tasks/get with this id, in a terminal by `show a`";
        assert_eq!(plain(said), "look later: by `show a`");
    }
}
