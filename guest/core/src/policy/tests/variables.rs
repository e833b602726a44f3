//! What is run because of the value of a variable, or of a setting of git.

use serde_json::json;

use super::{check, check_command, grow_with_length, policy, read};
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
        "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH_COMMAND",
        "KUBE_EDITOR",
        "LESSOPEN",
        "MANPAGER",
        "PAGER",
        "RSYNC_RSH",
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
fn a_program_in_a_variable_is_looked_at() {
    for name in [
        "GIT_ASKPASS",
        "GIT_PROXY_COMMAND",
        "GIT_SSH",
        "SUDO_ASKPASS",
    ] {
        let command = Command::Shell("ls".to_owned());
        let environment = [(name.to_owned(), "docker".to_owned())];
        let policy = policy();
        let concern = policy.concern(&command, &environment);
        assert_eq!(
            concern.expect("it is named").reasons,
            ["because of docker ..."]
        );
        check(&format!("{name}=/usr/bin/docker git x"), "docker");
        check(&format!("export {name}=docker; y"), "docker");
        check(&format!("{name}=\"$x\" y"), "all");
    }
}

/// What is set here is a variable, but nothing in it is run.
const NOTHING_SET: &[&str] = &[
    "ENV=$stage npm run deploy",
    "export ENV=${ENV:-dev}",
    "make deploy ENV=$STAGE",
    "export ENV=/app",
    "helm upgrade x ./c --set ENV=eu/prod",
    "export PS1='$ '",
    "PROMPT_COMMAND= bash -c ls",
    "HAVE_EDITOR=$(command -v vim)",
    "HAS_PAGER=$x BUILD_EDITOR=ON ENABLE_EDITOR=$x USE_PAGER=$x WITH_PAGER=$x make",
    "TEXTEDITOR=$x y",
    "local x=PS4",
    "systemd-run -E PAGER -E A=\"$x\" --setenv=B=docker ls",
    "strace -E PAGER=less -E LD_PRELOAD_X=\"$x\" ls",
    "for x in LD_PRELOAD PATH; do echo $x; done",
    "export GIT_CONFIG_KEY_0=\"http.$x.extraHeader\" GIT_CONFIG_VALUE_0=\"$y\"",
];

/// Nothing is set here: it is an argument of a program that does not set variables.
const NO_ASSIGNMENTS: &[&str] = &[
    "echo \"EDITOR=$EDITOR\"",
    "echo \"PAGER=$PAGER\" >> .env",
    "grep -n 'LD_PRELOAD=/x' file",
    "cmake -DENABLE_EDITOR=$X ..",
    "cmake -DBUILD_EDITOR=ON ..",
    "sed -i 's/^EDITOR=$x/EDITOR=vim/' f",
    "sed -i \"s/^EDITOR=$x/EDITOR=vim/\" f",
    "env A=b grep \"EDITOR=$x\" f",
    "git commit -m \"EDITOR=$x\"",
    "find . -name \"EDITOR=$x\"",
];

/// A program whose name is known, in a directory that is not.
const KNOWN_PROGRAMS: &[&str] = &[
    "GIT_SEQUENCE_EDITOR=\"$PWD/e.sh\" git rebase -i x",
    "GIT_EDITOR=$PWD/e.sh git commit",
    "EDITOR=\"$HOME/bin/edit --wait\" git commit",
    "SSH_ASKPASS=\"$PWD/askpass.sh\" ssh host ls",
    "GIT_SSH=$PWD/ssh.sh git fetch",
    "git config mergetool.x.path \"$HOME/bin/x\"",
    "git config gpg.program \"$HOME/bin/gpg\"",
    "git -c core.editor=\"$PWD/e.sh\" commit",
    "GIT_SSH_COMMAND=\"ssh -i $HOME/.ssh/key\" git fetch",
    "LESSOPEN='|-lesspipe %s' less x",
];

#[test]
fn what_runs_nothing_is_not_asked_about() {
    for line in [NOTHING_SET, NO_ASSIGNMENTS, KNOWN_PROGRAMS].concat() {
        check(line, "");
    }
}

#[test]
fn what_is_set_for_a_command_is_looked_at() {
    for line in [
        "sudo EDITOR='docker ps' visudo",
        "doas PAGER='docker ps' man x",
        "env -u A -- PAGER='docker ps' man x",
        "env -S'PAGER=docker man' x",
        "systemd-run -E PAGER=docker man x",
        "systemd-run -tEPAGER='docker ps' man x",
        "systemd-run --setenv=PAGER='docker ps' man x",
        "run0 --setenv GIT_ASKPASS=docker git x",
        "strace -f -E PAGER=docker man x",
        "strace --env=PAGER=docker man x",
        "watchexec -E PAGER=docker man x",
        "backburner run --env PAGER=docker -- man x",
        "tmux new -e PAGER=docker man x",
        "tmux popup -e PAGER=docker man x",
        "timeout 5 env MANPAGER='docker ps' man x",
        "local -x HGEDITOR='docker ps'",
        "declare -gx PAGER='docker ps'",
        "PAGER=docker",
        "EDITOR=\"$HOME/docker --wait\" git commit",
        "LESSOPEN='|-docker ps %s' less x",
        "LESSOPEN='||docker ps %s' less x",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='docker ps' git log",
    ] {
        check(line, "docker");
    }
    for line in [
        "export GIT_CONFIG_KEY_0=core.pager; export GIT_CONFIG_VALUE_0=docker",
        "run0 --setenv=GIT_ASKPASS=\"$x\" ls",
        "systemd-run --setenv=PAGER=\"$x\" ls",
        "systemd-run -E BASH_ENV=x ls",
        "GIT_CONFIG_KEY_0=\"$k\" GIT_CONFIG_VALUE_0=\"$v\" git log",
        "declare -n x=PS4",
        "local -n x=PS4",
        "for LD_PRELOAD in ./x.so; do ls; done",
    ] {
        check(line, "all");
    }
}

#[test]
fn a_setting_in_two_variables_is_looked_at() {
    let concern = |key: &str, value: &str| {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = [
            pair("GIT_CONFIG_VALUE_3", value),
            pair("GIT_CONFIG_KEY_3", key),
        ];
        let policy = policy();
        let concern = policy.concern(&Command::Shell("git log".to_owned()), &environment);
        concern.map(|it| (it.reasons.len(), it.doubt.is_some()))
    };
    assert_eq!(concern("core.pager", "docker ps"), Some((1, false)));
    assert_eq!(concern("alias.log", "!docker ps"), Some((1, false)));
    assert_eq!(concern("core.pager", "less"), None);
    assert_eq!(concern("user.name", "docker ps"), None);
    assert_eq!(concern("protocol.ext.allow", "always"), Some((6, true)));
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
        "ssh -vo'ProxyCommand=rm -r x' host ls",
        "ssh -4oProxyCommand='rm -r x' host ls",
        "ssh -o 'ProxyCommand rm -r x' host ls",
        "ssh -o 'ProxyCommand = rm -r x' host ls",
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
    for line in [
        "echo \"ProxyCommand $x\" >> config",
        "grep 'ProxyCommand rm -r' config",
        "grep -o x ProxyCommand=rm",
        "git commit -m \"ProxyCommand=$x\"",
    ] {
        check(line, "");
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
        "for LD_PRELOAD_X in a b; do x; done",
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
        "set -eo histexpand",
        "fc",
    ] {
        check(line, "all");
    }
    for line in [
        "set -euo pipefail",
        "set +o histexpand",
        "set -- -H host",
        "set -e -- -o histexpand",
        "bash -c x histexpand",
        "rg histexpand src",
        "fc -l",
        "fc -ln -10",
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
    ] {
        check(line, "rm");
    }
    check("git -c alias.y='push --force' y", "git");
    check("git -c alias.p=push p --force", "git");
    check("git -c alias.p=push other --force", "");
    check("git -c alias.P=push p --force", "git");
    check("git -c alias.p=push -c alias.p=log p --force", "");
}

#[test]
fn what_git_is_given_to_run_in_other_ways_is_looked_at() {
    for line in [
        "git config -t path core.pager 'docker ps'",
        "git -c alias.x='!sudo' x docker ps",
        "git -c alias.x='!sh -c' x 'docker ps'",
        "git -c alias.x='!cd a; sudo' x -n docker \"don't\"",
        "git config --file f --add core.pager 'docker ps'",
        "git config mergetool.x.path docker",
        "git -C dir --git-dir d -c core.pager=docker log",
        "git clone -c core.pager=docker x",
        "git clone --config core.pager=docker x",
        "git clone -ccore.pager=docker x",
        "git clone -u 'docker ps' x",
        "git grep -O'docker ps' x",
        "git grep --open-files-in-pager='docker ps' x",
        "git -c core.sshCommand=docker fetch",
    ] {
        check(line, "docker");
    }
    for line in [
        "git -c \"$x=docker ps\" log",
        "git -c core.pager=\"$x\" log",
        "git -c \"$x\" log",
        "git --config-env=core.pager=x log",
        "git --config-env core.pager=x log",
        "git -c protocol.ext.allow=always clone 'ext::sh -c rm% -r% x'",
        "git bisect run $x",
        "git submodule foreach \"$x\"",
        "git rebase -x \"$x\"",
        "git -c \"core.$x=less\" log",
        "git config alias.x '!sudo'",
        "git -c alias.x='!sudo' x \"$y\"",
    ] {
        check(line, "all");
    }
}

/// Words that look like settings, or stand behind a `-c` that means something else; and settings that run what is
/// known.
const NO_SETTINGS: &[&str] = &[
    "git switch -c \"$b\"",
    "git switch -c feature/$TICKET",
    "git commit -c $sha",
    "git branch -c \"$a\" \"$b\"",
    "git grep -c \"$p\"",
    "git grep -O x",
    "git blame -c \"$F\"",
    "git shortlog -sn -c \"$x\"",
    "git ls-files -c \"$d\"",
    "git diff -c $x",
    "git add pager.rs docker",
    "git mv pager.js docker",
    "git grep core.pager docker",
    "git log -S core.editor docker",
    "git add pager.ts $FILES",
    "git diff HEAD -- pager.go \"$F\"",
    "git grep -n alias.x $DIR",
    "git commit -m \"core.editor=$EDITOR\"",
    "git config --get alias.x docker",
    "git config get alias.x docker",
    "git config --unset-all alias.x docker",
    "git config \"submodule.$name.update\" none",
    "git -c \"http.$url.extraHeader=$x\" fetch",
    "git -c \"remote.$name.fetch=$x\" fetch",
    "git -c core.sshCommand=\"ssh -i ~/.ssh/key\" fetch",
    "git config core.sshCommand \"ssh -i k -F /dev/null\"",
    "git clone -c core.sshCommand=\"ssh -i k\" x",
    "GIT_SSH_COMMAND=\"ssh -i ~/.ssh/key\" git fetch",
    "git config --global credential.helper '!gh auth git-credential'",
    "git config --global core.pager ''",
    "git -c alias.x='!echo' x docker ';' docker",
    "git -c alias.x='!sudo' y docker",
    "git fetch -u x",
    "git push -u origin main",
    "git clone -c \"user.name=$x\" y",
    "git -c protocol.ext.allow=never fetch",
];

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
        "git mv alias.js rm -r",
        "git log -S core.editor rm -r",
        "git config mergetool.x.path \"$HOME/bin/x\"",
        "git \"$x\"",
    ] {
        check(line, "");
    }
    for line in NO_SETTINGS {
        check(line, "");
    }
}

/// Whether a rule with this pattern alone has a person asked about a line.
fn is_asked(pattern: &str, line: &str) -> bool {
    let rules = json!([{ "pattern": pattern, "reason": "r" }]);
    let rules = read(&rules).expect("a valid policy");
    let line = Command::Shell(line.to_owned());
    rules.concern(&line, &[]).is_some()
}

#[test]
fn an_option_of_git_with_a_quoted_value_leaves_the_subcommand_known() {
    for line in [
        "git -C \"$x\" status",
        "git -C \"$x\" --git-dir=\"$y\" log push",
        "git --work-tree \"$x\" stash push",
        "git --shallow-file \"$x\" status",
        "git -C \"$x\" \"s$y\"",
        "ls | xargs -I{} git -C {} status",
    ] {
        assert!(!is_asked("git push ...", line), "{line}");
    }
    for line in [
        "git $x",
        "git \"$x\"",
        "git -C $x $y",
        "git -C \"$x\" $y",
        "git -C \"$x\" \"$y\"",
        "git -C \"$x\" push",
        "git -C \"$x\" \"p$y\"",
        "git --shallow-file x push",
        "git --shallow-file \"$x\" push",
        "git --attr-source x push",
    ] {
        assert!(is_asked("git push ...", line), "{line}");
    }
    check("git --shallow-file x submodule foreach 'rm -r x'", "rm");
    check("git --attr-source x clone --upload-pack='rm -r x' y", "rm");
}

#[test]
fn an_option_of_git_with_a_value_without_quotes_may_be_any_subcommand() {
    for line in [
        "git -C $x status",
        "git --git-dir=$x status",
        "git -C */ status",
        "git -C \"$x\" --namespace $y status",
    ] {
        assert!(is_asked("git push ...", line), "{line}");
        assert!(!is_asked("rm ...", line), "{line}");
        assert!(!is_asked("git push ... --force", line), "{line}");
    }
    // Where it is no word, the next one is the value.
    assert!(is_asked("git push", "git -C $x dir push"));
    assert!(is_asked("git push", "git -C $x dir --no-pager push"));
    check("git -C $x dir submodule foreach 'rm -r y'", "rm");
    assert!(is_asked("git push ... --force", "git -C $x"));
}

#[test]
fn a_word_of_git_that_may_be_an_option_counts_for_every_rule() {
    for line in [
        "git \"$x\" push origin",
        "git \"$x\" -c core.pager='rm -r x' log",
        "git \"$x\" submodule foreach 'rm -r x'",
        "git \"-$x\" y push",
        "git -C x \"--$y\" z push",
        "git --of-tomorrow y push",
        "git \"$x\" y",
    ] {
        check(line, "all");
    }
}

#[test]
fn what_an_alias_of_git_is_called_with_stays_in_its_words() {
    for line in [
        "git -c alias.x='!sh -c' x \"docker $y\"",
        "git -c alias.x='!sh -c' x \"ls; docker '$y'\"",
        "git -c alias.x='!sh -c' x \"$y; docker\"",
        "git -c alias.x='!docker' x a*",
    ] {
        assert!(is_asked("docker ...", line), "{line}");
    }
    let line = "git -c alias.x='!sh -c' x \"docker rm $y\"";
    assert!(is_asked("docker rm ...", line));
    check("git -c alias.x='!rm -r \"$d\"' x", "rm");
    check("git -c \"alias.x=!rm -r $d\" x", "rm");
    check("git -c \"alias.x=!r$y -r d\" x", "all");
    check("git -c alias.x='!echo' x \"a; $y\"", "");
    check("git -c alias.x='!echo' x \"a $y\" $z b*", "");
}

#[test]
fn what_an_alias_of_git_calls_may_be_another_one() {
    for line in [
        "git -c alias.a=b -c alias.b=push a --force",
        "git -c alias.b=push -c alias.a=b a --force",
        "git -c alias.b=push -c alias.a='!git b' a --force",
        "git -c alias.a=b -c ALIAS.b.command=push a --force",
        "git -c \"alias.$n=push\" foo",
        "git -c alias.a$n=push foo",
        "git -c \"$n=push\" foo",
        "git -c \"$n\" foo",
    ] {
        check(line, "all");
    }
    for line in [
        "git -c alias.a='-c alias.b=push b' a --force",
        "git -c alias.b.command=push b --force",
        "git -c alias.b=push \"b$x\" --force",
        "git -c alias.b=push -C $x b --force",
        "git clone -c alias.b=push x",
        "git config alias.b push",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.b GIT_CONFIG_VALUE_0=push git b --force",
    ] {
        check(line, "git");
    }
    check("git -c alias.b='!rm' \"b$x\" -r y", "rm");
    check("git -c alias.b=push -c alias.b=log b --force", "");
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
        ("export ", "EDITOR=x "),
        ("", "EDITOR="),
        ("env ", "PAGER='a b' "),
        ("git ", "-c core.pager=x "),
        ("git config ", "core.pager "),
        ("git clone ", "-c core.pager=x "),
        ("git grep ", "-Oless "),
        ("", "GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=x "),
        ("ssh ", "-o ProxyCommand=x "),
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
    for setting in ["-c alias.a=x ", "-c alias.a='!x' "] {
        grow_with_length(setting, 500, |times| {
            let line = format!("git {}a {}", setting.repeat(times), "b ".repeat(times));
            policy.concern(&Command::Shell(line), &[]);
        });
    }
}
