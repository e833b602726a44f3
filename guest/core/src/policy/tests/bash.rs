//! What bash reads in a way of its own.

use super::{check, grow_with_length, policy};
use crate::imports::Command;

#[test]
fn arithmetic_hides_no_command() {
    for line in [
        "((i++)); docker ps",
        "((i++)) && docker ps",
        "(( i = (1 + 2) + (3) ))\ndocker ps",
        "(( \")\" )); docker ps",
        "if ((i > 1)); then docker ps; fi",
        "for ((;;)); do docker ps; done",
        "for ((i=0; i<9; i++)) { docker ps; }",
        "((echo a); docker ps)",
        "((echo a) && (docker ps))",
        "((echo a); (docker ps))",
        "( (echo a); docker ps)",
        "((docker ps) )",
        "((echo a) | docker ps)",
        "((\necho a); docker ps)",
        "echo $((echo a); docker ps)",
        "echo $((echo a) | (docker ps))",
        "echo $((1 + $(docker ps)))",
        "echo \"$((1 + `docker ps`))\"",
        "(( i = $(docker ps) ))",
        "(( i += '$(docker ps)' ))",
    ] {
        check(line, "docker");
    }
    for line in [
        "((m[')']++)); docker ps",
        "((cat <<E\n))\nE\n); docker ps)",
        "(( $(docker ps) ))",
        "(( $(docker ps) + 1 ))",
        "(( `docker ps` ))",
        "((echo a # ))\n); docker ps)",
    ] {
        check(line, "all");
    }
}

#[test]
fn an_unknown_word_of_a_test_or_a_list_names_no_command() {
    for line in [
        "[[ -n $a && $b == c ]]",
        "[[ $a == b && \"$c\" == d && $e -gt 1 ]] && ls",
        "if [[ -f $a && $b ]]; then ls; elif [[ -d a && $b ]]; then ls; fi",
        "while [[ a && $b ]]; do ls; done",
        "ls; [[ a && $b ]]\n[[ a && $b ]]",
        "ls && [[ a && $b ]] || ls",
        "([[ a && $b ]] && ls)",
        "a=(\"$x\" b)",
        "a=(\n  \"$x\"\n  b # c\n  *.txt\n)\nls \"${a[@]}\"",
        "a+=($(ls)); b=(*.o) c=($x)\n[[ a && $b ]]",
        "local -a a=(\"$@\")",
        "declare -r a=($x) b=($y)",
        "x=1 a=($y)",
        "ls || a=($y)",
        "declare -A m=([a]=1 [\"$b c\"]=$d [$e]=f [${g[0]}]=h)",
        "echo \"${a[ 1 ]}\" [a-c]* x[0-9] 'x[ # y'",
        "[ -f x ] && [ $a = b ] # c",
        "(ls # x\n)",
    ] {
        check(line, "");
    }
}

#[test]
fn a_test_or_a_list_hides_no_command() {
    for line in [
        "[[ -n $(docker ps) && $b ]]",
        "[[ a && $b == \"$(docker ps)\" ]]",
        "[[ a && $b == `docker ps` ]]",
        "[[ a && docker ps ]]",
        "[[ a && $b ]] && docker ps",
        "[[ a && $b ]]; docker ps",
        "[[ a && $b ]]&&docker ps",
        "a=($(docker ps))",
        "a=(\"x $(docker ps)\" `ls`)",
        "a=([$(docker ps)]=b)",
        "a=(\"$x\") docker ps",
        "a=(x # )\n); docker ps",
        "a=(docker ps)",
        "a=(<(docker ps))",
    ] {
        check(line, "docker");
    }
    for value in ["PS4=('$(rm -r x)')", "EDITOR=(rm -r)", "a=() BASH_ENV=(x)"] {
        check(value, "all");
    }
}

/// What an unknown word names here is run, by one shell or another, or may be.
const UNKNOWN: &[&str] = &[
    "[[ a ]] && $b",
    "[[ a ]]&& $b",
    "[[ a \"]]\" && $b ]]",
    "[[ a || $b ]]",
    "[[ a && b || $c ]]",
    "[[ a && b; $c ]]",
    "[[ a && b & $c ]]",
    "[[ a && b | $c ]]",
    "[[ a && b\n$c ]]",
    "[[ a &&\n$c ]]",
    "[[ a && (b || $c) ]]",
    "[[ -n $($x) && $b ]]",
    "[[ a && $b == \"$($x)\" ]]",
    "\"[[\" a && $b ]]",
    "\\[[ a && $b ]]",
    "$x [[ a && $b ]]",
    "'if' [[ a && $b ]]",
    "x=1 [[ a && $b ]]",
    "a=(x) [[ a && $b ]]",
    ">x [[ a && $b ]]",
    "echo [[ a && $b ]]",
    "if echo [[ a && $b ]]; then ls; fi",
    "! [[ a && $b ]]",
    "! ls | [[ a && $b ]]",
    "! ls |& [[ a && $b ]]",
    "! ls |\n\n[[ a && $b ]]",
    "ls || [[ a && $b ]]",
    "ls ||\n[[ a && $b ]]",
    "ls || # x\n [[ a && $b ]]",
    "(ls) [[ a && $b ]]",
    "a=($($x))",
    "a=(b; $c)",
    "a=(b && $c)",
    "a=(b | $c)",
    "a=((b) $c)",
    "a=(($b))",
    "a=(b=($c))",
    "a=(x)$b",
    "a=(x)ls docker ps",
    "a=(x)(ls)",
    "a=(x); $b",
    "a==($b)",
    "a=b=($c)",
    "\"a\"=($b)",
    "eval a=($b)",
    "eval a=(b) c=($d)",
    "x=1 eval a=($b)",
    "echo a=($b)",
    "a=($b",
    "m[k]=($b)",
    "a=(>x\n$b)",
    "a=(<<E\n$b\nE\n)",
    "a=(x 2>&1\n$b)",
    "a=(y &>z\n$b\n)",
    "a=(y &>>z\n$b\n)",
    "[[ a &>y && $b ]]",
    "[[ x =~ ( # ) ]]; docker ps\n)",
    "! [[ x =~ (y( # )) ]]; docker ps\n))",
    "declare -A m=([ # ]=1)\ndocker ps\n)",
    "m=([\"]\" # ]=1)\ndocker ps\n)",
    "m=([ ' ]=1 ' ); docker ps #')",
    "m[ # ]=1; docker ps",
    "m[x[0] # ]=1; docker ps",
    "echo $[ x[ # ] ]; docker ps",
    "cat <<END\nx\\\nEND\n: '\nEND\ndocker ps #'",
    "cat <<-END\nx\\\n\tEND\nls",
    ">x a=($b)",
    "declare >x a=($b)",
    "declare <(x) a=($b)",
    "'x'=1 a=($b)",
    "(( $b > 0 ))",
    "fish -c 'a=($b) ls'",
];

#[test]
fn an_unknown_word_that_may_be_run_counts_for_every_rule() {
    for line in UNKNOWN {
        check(line, "all");
    }
}

#[test]
fn a_long_test_or_list_is_read_in_time() {
    let policy = policy();
    for part in [
        "[[ ",
        "[[ a && ",
        "[[ a && $b ]] && ",
        "[[ a && $b ]]\n",
        "a=($x) ",
        "a=(",
        "a=($x\n",
        "if ",
        "declare a=($x) ",
        "a=b ",
        "m[",
        "m[ ",
        "[[ # ",
        "||\n",
        "|&",
    ] {
        grow_with_length(part, 1_500, |times| {
            policy.concern(&Command::Shell(part.repeat(times)), &[]);
        });
        grow_with_length(part, 1_500, |times| {
            let line = format!("a=({}", part.repeat(times));
            policy.concern(&Command::Shell(line), &[]);
        });
    }
}

#[test]
fn fish_is_another_language() {
    check("fish -c 'begin; and docker ps; end'", "all");
    check("sudo fish -c ls", "all");
    check("fish -C 'docker ps' x", "all");
    check("tool fish -c ls", "all");
    check("fish x.fish -c", "");
    check("apt install fish -y", "");
}

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
