//! The server's words, which are for a model, in those of the command line. Pure.
//!
//! A word that the server says differently one day passes through as it is.

/// What the server says, and what that is to a person; the longer one first where one is part of another.
const WORDS: [(&str, &str); 22] = [
    ("another `cwd`", "another directory"),
    // What follows names the directory and says what to do.
    (", its directory cannot be used: ", ": "),
    (
        "; correct `cwd`, then call again with",
        ", and run it again with",
    ),
    ("; correct `cwd`, then call again", ""),
    ("call again", "run it again"),
    ("`idempotencyKey`", "`--key`"),
    ("idempotencyKey", "--key"),
    ("`timeoutSeconds`", "`--timeout`"),
    ("timeoutSeconds", "--timeout"),
    ("`ttlSeconds`", "`--ttl`"),
    ("ttlSeconds", "--ttl"),
    ("`label`", "`--label`"),
    ("`cwd`", "`--cwd`"),
    ("`env`", "`--env`"),
    ("`stdin`", "`--stdin`"),
    ("argument `interactive`", "`--interactive`"),
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
        " bytes long as JSON, where a line feed, a quote and a backslash are two bytes,",
    ),
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
    fn what_is_wrong_with_a_directory_is_said_once() {
        let said = "the command was not run, its directory cannot be used: the directory /a does not exist; create it or \
                    name another one; correct `cwd`, then call again";
        let expect = "the command was not run: the directory /a does not exist; create it or name another one";
        assert_eq!(plain(said), expect);
        let with_key = format!("{said} with a new idempotencyKey");
        assert_eq!(
            plain(&with_key),
            format!("{expect}, and run it again with a new --key")
        );
        let other = "`idempotencyKey` \"k\" already stands for another call, with another `cwd`";
        assert_eq!(
            plain(other),
            "`--key` \"k\" already stands for another call, with another directory"
        );
    }

    #[test]
    fn a_person_runs_and_does_not_call() {
        let said = "the disk is full; free some space there, then call again";
        assert_eq!(
            plain(said),
            "the disk is full; free some space there, then run it again"
        );
    }

    #[test]
    fn a_length_is_that_of_the_json_and_says_so() {
        let said = "the arguments are 9 bytes long as JSON, they have to be at most 8 together";
        assert_eq!(
            plain(said),
            "the arguments are 9 bytes long as JSON, where a line feed, a quote and a backslash are two bytes, they \
             have to be at most 8 together"
        );
    }

    #[test]
    fn a_request_of_the_protocol_is_not_named() {
        let said = "look later: with the Tasks extension by tasks/get with this id, in a terminal by `show a`";
        assert_eq!(plain(said), "look later: by `show a`");
    }
}
