//! What bash reads in a way of its own.

use super::check;

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
