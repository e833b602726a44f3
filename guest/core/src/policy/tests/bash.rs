//! What bash reads in a way of its own.

use super::check;

#[test]
fn an_option_of_source_says_where_a_file_is_looked_for() {
    for line in [
        "source -p /dev stdin",
        "source -p \"$x\" y",
        "source -p x y",
        ". -p. y",
        "builtin . -p x y",
        "source \"-$x\" y",
    ] {
        check(line, "all");
    }
    check(". -- -p", "");
}
