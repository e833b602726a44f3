use super::read;
use crate::policy::steps::grow_with_length;

/// Compares the commands of a line, one in each line: `?` is what is not known, `*` a part of a file's name.
fn check(line: &str, expect: &[&str]) {
    let script = read(line, 0);
    let commands: Vec<String> = script
        .commands
        .iter()
        .map(|words| {
            let words = words.iter().map(|word| word.line().replace("${_}", "?"));
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(commands, expect, "{line}");
    assert_eq!(script.doubt, None, "{line}");
}

fn check_doubt(line: &str) {
    assert!(read(line, 0).doubt.is_some(), "{line}");
}

#[test]
fn separators_part_commands() {
    check("a b", &["a b"]);
    check("", &[]);
    check(" \t\n;", &[]);
    check(
        "a;b&&c||d|e&f\ng |& h",
        &["a", "b", "c", "d", "e", "f", "g", "h"],
    );
    check("(a; b) && { c; }", &["a", "b", "{ c", "}"]);
    check("f() { a b; }", &["f", "{ a b", "}"]);
}

#[test]
fn quotes_keep_words_together() {
    check("a 'b; c' \"d && e\" f\\;g", &["a b; c d && e f;g"]);
    check("r\\m 'r'm \"r\"m", &["rm rm rm"]);
    check("a ''", &["a "]);
    check("a \\\n b", &["a b"]);
    check("a\\\nb", &["ab"]);
    check("\"a\\\"b\\c\"", &["a\"b\\c"]);
    check("$'a' $\"b\" $'c\\x41'", &["a b c?41"]);
}

#[test]
fn what_a_shell_runs_first_is_among_the_commands() {
    check("a $(b c) d", &["b c", "a ? d"]);
    check("a \"x$(b \"c d\")\"", &["b c d", "a x?"]);
    check("a `b \\`c\\``", &["c", "b ?", "a ?"]);
    check("a ${x:-$(b)} $x \"$@\"", &["b", "a ? ? ?"]);
    check("a <(b) >(c)", &["b", "c", "a ? ?"]);
}

#[test]
fn arithmetic_is_no_command_but_what_is_expanded_in_it() {
    check("a $((1 + $(b)))", &["b", "a ?"]);
    check("x=$((1<<2))\nb", &["x=?", "b"]);
    check("a \"$((1 << (2 + `b`) ))\" c", &["b", "a ? c"]);
    check("a $((x['c'] + \"$(b)\" ))", &["b", "a ?"]);
    for line in [
        "a $((x[')'] + \"$(b))\" ))",
        "a $(( ' ))\nb\n: ' ))",
        "a \"$(( \" ))\"; b; a \"$(( \" ))\"",
        "a $(( m[\"((\\\"\"] )); b # \\\"))",
    ] {
        check_doubt(line);
    }
    check("((x<<=2)); b", &["x", "b"]);
    check("((i = $(a))); b", &["a", "i = ?", "b"]);
    check(
        "for ((i=0; i<9; i++)); do a; done",
        &["for", "i=0", "i", "i++", "do a", "done"],
    );
    check("((a); (b)) c", &["a", "b", "c"]);
    check("a $((b); (c)) d", &["b", "c", "a ? d"]);
    check_doubt("a $((1 + (2))");
}

#[test]
fn redirections_are_no_arguments() {
    check("a >b 2>&1 <c >>d >|e &>f g", &["a g"]);
    check("a <<<b c", &["a c"]);
    check("a b2>c", &["a b2"]);
    check("> a b", &["b"]);
    check("a > \"$(b)\" c", &["b", "a c"]);
}

#[test]
fn a_here_document_is_no_command() {
    check("a <<END b\nc; d\nEND\ne", &["a b", "e"]);
    check("a <<'END'\n$(c)\nEND\ne", &["a", "e"]);
    check("a <<END\n$(c) `d` \\$(e)\nEND", &["a", "c", "d"]);
    check("a <<-END <<X\n\tb\n\tEND\nc\nX\nd", &["a", "d"]);
    check("a \\\n <<END\n$(b)\nEND\nc", &["a", "b", "c"]);
    check("a <<E\\\nND\n$(b)\nEND\nc", &["a", "b", "c"]);
    check("a <<\\END\n$(b)\nEND\nc", &["a", "c"]);
    check("a '2'<<END\n$(b)\nEND\nc", &["a 2", "b", "c"]);
    check("a <<'END'\nEN\\\nEND\nc", &["a", "c"]);
    for line in [
        "a <<END\nb",
        "a <<END",
        "a <<END\nEND \n",
        "a <<END\nEND\\\n\nb\nEND",
        "a <<END\nEN\\\nD\nb\nEND",
        "a[1<<2]=3\nb",
        "x=$[1<<2]\nb",
    ] {
        check_doubt(line);
    }
}

#[test]
fn comments_are_no_commands() {
    check("a # b; c\nd a#b", &["a", "d a#b"]);
}

#[test]
fn names_of_files_and_lists_are_not_known() {
    check("a *.o b?c [ab]", &["a *.o b*c *ab]"]);
    check("[ -f x ] && [[ a ]]", &["[ -f x ]", "[[ a ]]"]);
    check(
        "a {} { x@{1} -{r,f} {1..3}",
        &["a {} { x@{1} -?{r,f} ?{1..3}"],
    );
}

#[test]
fn what_cannot_be_read_is_doubted() {
    for line in [
        "a 'b",
        "a \"b",
        "a $(b",
        "(a",
        "a)",
        "`a",
        "a ${b",
        "a <<$x\nb",
        "$'a",
    ] {
        check_doubt(line);
    }
    check_doubt(&"$(".repeat(50));
    check_doubt(&"(".repeat(100_000));
}

#[test]
fn a_long_line_is_read_in_time() {
    for part in [
        "[",
        "{",
        "a ",
        "'",
        "\\",
        "$",
        "<<a\n",
        "[]",
        "`",
        "\"",
        "$(",
        "${",
        "((",
        "$((",
        "((a) ",
        "((1))",
        "(('a",
        "$((1))",
        "((a)\n",
        "$((`",
        "a[1<<2] ",
        "(( # ((((\n) )\n",
        "$(( # ((\n) )\n",
    ] {
        grow_with_length(part, 6 * 1024 / part.len(), |times| {
            read(&part.repeat(times), 0);
        });
    }
    let closed = |part: &str, end: &str| {
        grow_with_length(part, 2_000, |times| {
            read(&format!("{}{}", part.repeat(times), end.repeat(times)), 0);
        });
    };
    closed("$((", "))");
    closed("((", "))");
    closed("(( $( ", ") ))");
    closed("(( # $( ", ") ))");
    closed("((<<1\n $( ", ") ))");
    closed("(( # ((\n) )\n", "# ) )\n");
}
