//! What is run because of the value of a variable, or of a setting of git.

use super::{check, check_command, grow_with_length, policy};
use crate::imports::Command;

/// As [`check`], of a command that looks harmless with this variable.
fn check_variable(name: &str, value: &str, expect: &str) {
    let policy = policy();
    let environment = [(name.to_owned(), value.to_owned())];
    let command = Command::Shell("ls".to_owned());
    let found = match policy.concern(&command, &environment) {
        None => "",
        Some(concern) if concern.doubt.is_some() => "all",
        Some(concern) if concern.reasons == ["because of rm ... -*r* ..."] => "rm",
        Some(_) => "others",
    };
    assert_eq!(found, expect, "{name}={value}");
}

#[test]
fn a_variable_that_hides_what_is_run_counts_for_every_rule() {
    for (name, value) in [
        ("BASH_ENV", "x"),
        ("BASH_FUNC_ls%%", "() { rm -r x; }"),
        ("DYLD_INSERT_LIBRARIES", "x.dylib"),
        ("GIT_CONFIG_KEY_0", "core.pager"),
        ("GIT_CONFIG_KEY_12", "alias.x"),
        ("GIT_CONFIG_PARAMETERS", "'core.pager=rm -r x'"),
        ("LD_AUDIT", "./x.so"),
        ("LD_PRELOAD", "./x.so"),
        ("PS4", "$(rm -r x)"),
    ] {
        check_variable(name, value, "all");
        check(&format!("env '{name}={value}' ls"), "all");
    }
}

#[test]
fn a_line_in_a_variable_is_looked_at() {
    for name in [
        "BROWSER",
        "EDITOR",
        "GIT_ASKPASS",
        "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "KUBE_EDITOR",
        "LESSOPEN",
        "MANPAGER",
        "PAGER",
        "RSYNC_RSH",
        "SUDO_ASKPASS",
        "VISUAL",
    ] {
        for value in ["rm -r", "|rm -r x", "sh -c 'rm -r x'"] {
            check_variable(name, value, "rm");
        }
        check(&format!("{name}='rm -r' git x"), "rm");
        check(&format!("export {name}='rm -r'; y"), "rm");
        check_variable(name, "$x", "all");
        check(&format!("{name}=$x y"), "all");
    }
}

#[test]
fn a_line_in_a_setting_of_ssh_is_looked_at() {
    for line in [
        "ssh -o ProxyCommand='rm -r x' host ls",
        "ssh -oproxycommand='rm -r x' host ls",
        "ssh -o PROXYCOMMAND=\"sh -c 'rm -r x'\" host ls",
        "ssh -vo LocalCommand='rm -r x' host ls",
        "ssh -o KnownHostsCommand='rm -r x' host ls",
        "scp -o ProxyCommand='rm -r x' a b:c",
    ] {
        check(line, "rm");
    }
    check("ssh -o ProxyCommand=\"$x\" host ls", "all");
    check("ssh -o RemoteCommand='rm -r x' host", "all");
    for value in [
        "ProxyCommand=none",
        "ProxyCommand='ssh -W %h:%p bastion'",
        "StrictHostKeyChecking=no",
    ] {
        check(&format!("ssh -o {value} host ls"), "");
    }
}

#[test]
fn a_variable_that_runs_nothing_of_that_does_not_count() {
    for (name, value) in [
        ("BASH_ENV", ""),
        ("EDITOR", "vim"),
        ("ENV", "production"),
        ("ENV", "/app"),
        ("PS1", "$ "),
        ("HAVE_EDITOR", "rm -r"),
        ("BUILD_PAGER", "rm -r"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_EDITOR", ":"),
        ("GIT_SEQUENCE_EDITOR", "sed -i s/a/b/"),
        ("GIT_SSH_COMMAND", "ssh -i key -o StrictHostKeyChecking=no"),
        ("PAGER", "less -R"),
        ("PATH", "/usr/bin:/bin"),
        ("RUST_LOG", "debug"),
    ] {
        check_variable(name, value, "");
        check(&format!("env '{name}={value}' ls"), "");
        check(&format!("{name}='{value}' ls"), "");
    }
    for line in [
        "export PAGER",
        "unset PS4",
        "ENV=$stage npm run deploy",
        "export ENV=${ENV:-dev}",
        "echo \"EDITOR=$EDITOR\"",
        "echo \"PAGER=$PAGER\" >> .env",
        "grep -n 'LD_PRELOAD=/x' file",
        "cmake -DENABLE_EDITOR=$X ..",
        "HAVE_EDITOR=$(command -v vim)",
        "sed -i 's/^EDITOR=$x/EDITOR=vim/' f",
        "GIT_SEQUENCE_EDITOR=\"$PWD/e.sh\" git rebase -i x",
        "SSH_ASKPASS=\"$PWD/askpass.sh\" ssh host ls",
    ] {
        check(line, "");
    }
}

#[test]
fn a_variable_that_hides_what_is_run_may_be_set_by_its_name() {
    for line in [
        "read PS4 <<< '$(rm -r x)'; set -x; y",
        "read -r a BASH_ENV",
        "printf -v PS4 '$(rm -r x)'",
        "printf -vPS4 '$(rm -r x)'",
        "mapfile -t PS4 < y",
        "for PS4 in '$(rm -r x)'; do set -x; done",
        "declare -n x=PS4; x=y",
        ": ${PS4:='$(rm -r x)'}",
        ": \"${BASH_ENV=x}\"",
    ] {
        check(line, "all");
    }
    check("printf %s PS4", "");
    check("echo ${PS4:-x} ${BASH_ENV}", "");
}

#[test]
fn an_expansion_that_runs_what_a_variable_has_counts_for_every_rule() {
    for line in [
        "echo ${x@P}",
        "echo \"${x@P}\"",
        "x='$(rm -r y)'; : ${x[0]@P}",
        "echo $(( ${x@P} ))",
        "cat <<END\n${x@P}\nEND",
        "echo ${@@P}",
        "echo ${ rm -r x; }",
        "echo \"${ rm -r x; }\"",
        "echo ${| rm -r x; }",
        "echo ${\trm -r x; }",
        "echo ${\nrm -r x; }",
        "echo ${(e)x}",
    ] {
        check(line, "all");
    }
    check("echo ${x@Q} ${x@U} ${x:-P}", "");
    check("echo ${#x} ${!x} ${x:1:2} ${x/a|b/c}", "");
}

#[test]
fn a_line_of_the_history_counts_for_every_rule() {
    for line in [
        "fc -s",
        "fc -s a=b",
        "set -o history -o histexpand",
        "set -o history -o histexpand\n!!",
        "set -H\n!!",
        "bash -o histexpand -c x",
    ] {
        check(line, "all");
    }
    for line in [
        "set -euo pipefail",
        "set +o histexpand",
        "set -- -H host",
        "rg histexpand src",
        "fc -l",
    ] {
        check(line, "");
    }
}

#[test]
fn what_git_is_given_to_run_is_looked_at() {
    for line in [
        "git submodule foreach 'rm -r x'",
        "git submodule foreach --recursive rm -r x",
        "git -C y submodule --quiet foreach -q 'rm -r x || :'",
        "git rebase -x 'rm -r x' main",
        "git rebase -i --exec 'rm -r x' main",
        "git rebase --exec='rm -r x' main",
        "git rebase main -x'rm -r x'",
        "git --no-pager -c a.b=c rebase main --exec 'rm -r x'",
        "git bisect run rm -r x",
        "git bisect run sh -c 'rm -r x'",
        "git filter-branch --tree-filter 'rm -r x' HEAD",
        "git difftool -x 'rm -r' HEAD",
        "git fetch --upload-pack 'rm -r x' y",
        "git clone --upload-pack='rm -r x' y",
        "git -c core.pager='rm -r x' log",
        "git -c core.sshCommand='rm -r x' fetch",
        "git -c CORE.editor='rm -r x' commit",
        "git -c alias.y='!rm -r x' y",
        "git -c diff.c.textconv='rm -r' log",
        "git -c credential.https://x.y.helper='!rm -r x' fetch",
        "git clone --config=core.pager='rm -r x' y",
        "git config core.pager 'rm -r x'",
        "git config --global alias.y '!rm -r x'",
        "git config set alias.y '!rm -r x'",
        "sudo git -c core.pager='rm -r x' log",
        "git config alias.y --global '!rm -r x'",
        "git clone -c core.pager='rm -r x' y",
        "git --git-dir x -c core.pager='rm -r x' log",
        "git -c imap.tunnel='rm -r x' imap-send",
        "ssh -vo'ProxyCommand=rm -r x' host ls",
        "ssh -o 'ProxyCommand = rm -r x' host ls",
    ] {
        check(line, "rm");
    }
    check("git -c alias.y='push --force' y", "git");
    for line in [
        "git -c core.pager=\"$x\" log",
        "git -c \"$x\" log",
        "git --config-env=core.pager=x log",
        "git --config-env core.pager=x log",
        "git -c protocol.ext.allow=always clone 'ext::sh -c rm% -r% x'",
        "git bisect run $x",
        "git submodule foreach \"$x\"",
        "git rebase -x \"$x\"",
        "git -c \"core.$x=less\" log",
    ] {
        check(line, "all");
    }
}

#[test]
fn what_git_does_by_itself_is_no_command() {
    for line in [
        "git submodule update --init",
        "git submodule foreach 'git pull'",
        "git rebase main",
        "git rebase -i rm -r x",
        "git bisect start rm -r",
        "git commit -m 'rm -r x'",
        "git -C $dir status",
        "git -c user.name=\"$name\" -c core.pager=cat log",
        "git -c core.editor=true rebase --continue",
        "git -c http.extraHeader=\"$x\" fetch",
        "git config core.pager",
        "git config user.name rm",
        "git push origin $branch:main x",
        "git log -- core.pager",
        "git switch -c \"$branch\"",
        "git switch -c feature/$TICKET",
        "git commit -c $sha",
        "git grep -c \"$p\"",
        "git diff -c $x",
        "git add pager.ts $FILES",
        "git mv alias.js rm -r",
        "git log -S core.editor rm -r",
        "git commit -m \"core.editor=$EDITOR\"",
        "git -c core.sshCommand=\"ssh -i ~/.ssh/key\" fetch",
        "git config core.sshCommand \"ssh -i k -F /dev/null\"",
        "git clone -c core.sshCommand=\"ssh -i k\" x",
        "git config mergetool.x.path \"$HOME/bin/x\"",
        "git \"$x\" y",
    ] {
        check(line, "");
    }
}

#[test]
fn a_program_without_a_shell_has_variables_as_well() {
    let command = Command::Program(vec!["ls".to_owned()]);
    check_command(&command, "");
    let environment = [("LD_PRELOAD".to_owned(), "x".to_owned())];
    assert!(policy().concern(&command, &environment).is_some());
}

#[test]
fn many_variables_and_settings_are_looked_at_in_time() {
    let policy = policy();
    for (first, part) in [
        ("", "EDITOR=x "),
        ("", "EDITOR="),
        ("env ", "PAGER='a b' "),
        ("git ", "-c core.pager=x "),
        ("git ", "core.pager "),
        ("git rebase ", "-x y "),
        ("git submodule foreach ", "git submodule foreach "),
        ("echo ", "${x@P"),
        ("echo ", "${ x "),
    ] {
        grow_with_length(part, 500, |times| {
            let line = format!("{first}{}", part.repeat(times));
            policy.concern(&Command::Shell(line), &[]);
        });
    }
}
