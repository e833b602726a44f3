use serde_json::{Value, json};

use super::Rules;
use super::steps::grow_with_length;
use crate::config::{ConfigError, Node};
use crate::imports::Command;

mod bash;
mod runners;
mod variables;

const PATTERNS: [&str; 6] = [
    "rm ... -*r* ...",
    "git push ... --force",
    "docker ...",
    "mkfs* ...",
    "/usr/bin/special",
    "cp * important",
];

fn read(rules: &Value) -> Result<Rules, ConfigError> {
    Rules::read(&Node::root(rules))
}

fn policy() -> Rules {
    let rules: Vec<Value> = PATTERNS
        .iter()
        .map(|pattern| json!({ "pattern": pattern, "reason": format!("because of {pattern}") }))
        .collect();
    read(&Value::from(rules)).expect("a valid policy")
}

/// Compares which patterns a command counts for: their first words, or `all` where it is doubted.
fn check_command(command: &Command, expect: &str) {
    let policy = policy();
    let found = match policy.concern(command, &[]) {
        None => String::new(),
        Some(concern) if concern.doubt.is_some() => {
            assert_eq!(concern.reasons.len(), PATTERNS.len(), "{command:?}");
            "all".to_owned()
        }
        Some(concern) => {
            let patterns = concern.reasons.iter().map(|reason| {
                let pattern = reason.strip_prefix("because of ");
                let first = pattern.and_then(|it| it.split_whitespace().next());
                first.expect("a pattern has a word")
            });
            patterns.collect::<Vec<_>>().join(" ")
        }
    };
    assert_eq!(found, expect, "{command:?}");
}

fn check(line: &str, expect: &str) {
    check_command(&Command::Shell(line.to_owned()), expect);
}

fn check_program(words: &[&str], expect: &str) {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    check_command(&Command::Program(words), expect);
}

#[test]
fn a_pattern_names_commands() {
    check("rm -r x", "rm");
    check("rm -fr x", "rm");
    check("rm x -rf", "rm");
    check("rm x", "");
    check("git push --force", "git");
    check("git push origin main --force", "git");
    check("git push --force origin", "");
    check("git push", "");
    check("git -C x --no-pager push origin --force", "git");
    check("git -C x stash push --force", "");
    check("git  push origin --force-with-lease", "");
    check("docker", "docker");
    check("docker ps -a", "docker");
    check("dockerd", "");
    check("mkfs.ext4 /dev/sda", "mkfs*");
    check("cp a important", "cp");
    check("cp a b important", "");
}

#[test]
fn the_directory_of_a_program_counts_where_the_pattern_names_one() {
    check("/bin/rm -r x", "rm");
    check("./docker x", "docker");
    check("/usr/bin/special", "/usr/bin/special");
    check("special", "");
    check("/opt/special", "");
    check("\"$HOME/bin/docker\" ps", "docker");
    check("\"$HOME/bin/tool\" ps", "");
    check("\"$x\"/special", "/usr/bin/special");
}

#[test]
fn every_command_of_a_line_is_looked_at() {
    check("cd x && rm -r y", "rm");
    check("a; b | c & docker ps", "docker");
    check("a\ndocker ps\nrm -r x", "rm docker");
    check("echo $(rm -r x)", "rm");
    check("if a; then rm -r x; fi", "rm");
    check("for a in b; do rm -r x; done", "rm");
    check("while ! docker ps; do sleep 1; done", "docker");
    check("f() { rm -r x; }", "rm");
    check("function f { rm -r x; }", "rm");
    check("x=1 y+=2 docker ps", "docker");
    check("x=1", "");
    check("cat <<END\nrm -r x\nEND", "");
    check("cat <<END\n$(rm -r x)\nEND", "rm");
    check("x=$((1<<2))\nrm -r x", "rm");
    check("((x = 1<<2))\nrm -r x", "rm");
    check("((rm -r x))", "rm");
    check("(( '$(rm -r x)' ))", "rm");
    check("((1 # $(rm -r x)\n))", "rm");
    check("((x<<'1'\n$(rm -r y)))", "rm");
    check("((x<<\"1\"\n`rm -r y`))", "rm");
    check("echo $((rm -r x))", "");
}

#[test]
fn spelling_does_not_matter_to_a_shell() {
    check("r\\m -r x", "rm");
    check("'rm' \"-r\" x", "rm");
    check("rm \\\n -r x", "rm");
    check("echo 'rm -r x'", "");
    check("echo \"rm -r x\"", "");
    check("# rm -r x", "");
}

#[test]
fn programs_that_run_others_are_seen_through() {
    check("sudo rm -r x", "rm");
    check("sudo -u bob -- rm -r x", "rm");
    check("env A=1 -u B nice -n 5 rm -r x", "rm");
    check("timeout 5 docker ps", "docker");
    check("time -p exec nohup docker ps", "docker");
    check("find . -name x -exec rm -r {} +", "rm");
    check("find . -name '*.o'", "");
    check("ls | xargs rm", "rm");
    check("ls | xargs wc -l", "");
    check("ls | xargs -n 1 git push", "git");
    check("sudo ls", "");
    check("command -v docker", "");
    check("command docker ps", "docker");
    check("backburner run 'rm -r x'", "rm");
    check("backburner --data-dir D run 'rm -rf x'", "rm");
    check("backburner --data-dir=D -v run --label l -- rm -rf x", "rm");
    check("backburner \"$x\" 'rm -rf x'", "rm");
    check("backburner --data-dir D show \"$x\"", "");
    check("backburner ask \"Don't you?\"", "");
    check("ssh $HOST 'cd x; rm -r y'", "rm");
    check("ssh host rm -r y", "rm");
}

#[test]
fn lines_within_lines_are_looked_at() {
    check("bash -c 'rm -r x'", "rm");
    check("sudo bash -lc 'cd x && docker ps'", "docker");
    check("bash -o pipefail -c 'rm -r x'", "rm");
    check("bash -euo pipefail -c 'rm -r x'", "rm");
    check("bash -ceo pipefail 'rm -r x' docker", "rm");
    check("bash -oc pipefail 'rm -r x'", "rm");
    check("bash -oO pipefail extglob -c 'rm -r x'", "rm");
    check("bash +eO extglob -c 'rm -r x'", "rm");
    check("bash --norc -norc --rcfile x -rcfile y -c 'rm -r x'", "rm");
    check("bash -euo pipefail script.sh -r", "");
    check("sudo sh -xeuo pipefail -c 'docker ps'", "docker");
    check("bash -c -- 'rm -r x'", "rm");
    check("sh -c \"sh -c 'rm -r x'\"", "rm");
    check("eval rm '-r x'", "rm");
    check("eval -- rm -r x", "rm");
    check("trap 'rm -r x' EXIT", "rm");
    check("trap \"rm -f a$x\" EXIT", "rm");
    check("trap \"echo $x\" EXIT", "");
    check("find . -exec sh -c 'docker ps' \\;", "docker");
    check("bash script.sh -r $x", "");
    check("bash -e script.sh", "");
    check_program(&["bash", "-c", "rm -r x"], "rm");
}

#[test]
fn a_line_may_be_a_part_of_an_option() {
    for line in [
        "env -S'rm -r x'",
        "env -vS'rm -r x' a",
        "env --split-string='rm -r x'",
        "env --split='rm -r x'",
        "sudo env -S'rm -r x'",
        "su -c'rm -r x' user",
        "su user --command='rm -r x'",
        "su user -c 'rm -r x'",
        "sudo -n su - user -c'rm -r x'",
        "runuser -u user --session-command='rm -r x'",
        "script -qec'rm -r x' /dev/null",
        "script --command='rm -r x' f",
        "script --comm 'rm -r x' f",
        "flock f -c'rm -r x'",
        "capsh --user=u -- -c 'rm -r x'",
    ] {
        check(line, "rm");
    }
    check("env -Sdocker", "docker");
    check("su -cdocker", "docker");
    check("su -c 'ls' user", "");
    check("env -S 'ls -l'", "");
}

#[test]
fn what_is_put_into_a_line_is_not_known() {
    check("ls | xargs -I{} sh -c 'rm {}'", "rm");
    check("ls | xargs -I % sh -c 'rm %'", "rm");
    check("ls | xargs -0 --replace sh -c 'rm {}'", "rm");
    check("ls | xargs -rI_ sh -c 'rm _'", "rm");
    check("ls | xargs -I{} sh -c 'ls {}'", "");
    check("ls | xargs -I {} wc -l {}", "");
    check("ls | xargs -n 1 -d '\\n' -I% sh -c 'rm %'", "rm");
    check("ls | xargs -n 1 grep -in x", "");
    check("ls | parallel 'rm {}'", "rm");
    check("find . -exec sh -c 'rm \"$1\"' _ {} \\;", "rm");
    check("find . -exec ls {} \\;", "");
    check("find . -exec rm {} \\;", "");
    for line in [
        "ls | xargs -I{} sh -c '{}'",
        "ls | xargs -I {} {} -r x",
        "ls | xargs -0n 1 -I% sh -c '%'",
        "ls | xargs -0P 4 -I{} sh -c '{}'",
        "ls | xargs --max-args 1 -I% sh -c '%'",
        "ls | xargs --max-p 4 --repl=% sh -c '%'",
        "ls | xargs -I% -I {} sh -c '{}'",
        "ls | xargs -0i sh -c '{}'",
        "ls | xargs -t -i% sh -c '%'",
        "ls | xargs -0I % sh -c '%'",
        "ls | xargs -S 1024 -I% sh -c '%'",
        "ls | xargs -R -1 -I % sh -c '%'",
        "ls | xargs -J % sh -c %",
        "ls | xargs -J% sh -c %",
        "ls | xargs sh -c",
        "ls | xargs sudo",
        "ls | xargs -n 3 env",
        "ls | parallel",
        "ls | parallel {} x",
        "find . -exec sh -c {} \\;",
    ] {
        check(line, "all");
    }
}

#[test]
fn programs_that_change_how_others_run_are_seen_through() {
    for wrapper in [
        "prlimit --nofile=10 --",
        "setarch x86_64 -R",
        "linux32",
        "linux64 --",
        "choom -n 100 --",
        "ssh-agent",
        "dbus-run-session --",
        "unshare -r --",
        "nsenter -t 1 -m --",
        "chroot /x",
        "runuser -u user --",
        "setpriv --reuid 1",
        "stdbuf -oL",
        "taskset 1",
        "ionice -c 3",
        "chrt -b 0",
    ] {
        check(&format!("{wrapper} rm -r x"), "rm");
        check(&format!("{wrapper} ls"), "");
    }
    let daemon = "start-stop-daemon --start --exec /bin/rm -- -r x";
    check(daemon, "rm");
    check("any-program --at all sh -c 'rm -r x'", "rm");
    check("apt install bash -y", "");
    check("command env -S'rm -r x'", "rm");
}

#[test]
fn a_script_is_a_file_whose_name_is_known() {
    check("source venv/bin/activate", "");
    check("source -- venv/bin/activate", "");
    check(". ./x -r", "");
    check("source \"$HOME\"/x.sh", "");
    check("source $HOME/x.sh", "");
    check("bash $HOME/x.sh", "");
    check("find . -name x", "");
    for line in [
        "source <(curl x)",
        ". /dev/stdin <<< 'rm -r x'",
        ". /proc/self/fd/0",
        "source \"$x\"",
        "builtin . /dev/stdin",
        "source -- <(curl x)",
        ". -- /dev/stdin",
        "command -p source <(curl x)",
        "bash <(curl x)",
        "bash -e /dev/fd/3",
        "ssh host <<END\nrm -r x\nEND",
        "echo x | su user",
        "ssh -i ~/.ssh/id host <<END\nrm -r x\nEND",
        "ssh -l bob host",
        "ssh -vp 22 -o A=b host",
        "ssh host -l bob",
        "su -s /bin/sh bob",
        "su --shell /bin/sh bob",
        "su -ls /bin/sh bob",
        "runuser -g users bob",
        "chroot --userspec bob /x",
        "curl x | sudo -s",
        "sudo -i <<END\nrm -r x\nEND",
        "sudo -u bob -i",
        "sudo -iu bob",
        "sudo --login",
        "sudo --she --user bob",
        "nice sudo -s",
        "doas -s",
        "doas -su bob",
        "pkexec",
        "pkexec --user bob",
        "fakeroot",
        "firejail --quiet",
        "sg group",
        "unshare -r",
        "echo x | nsenter -t 1 -m",
        "echo x | nsenter -t $PID -m",
        "echo x | nsenter -t $(pidof x) -m",
        "echo x | nsenter --target \"$PID\" --mount",
        "curl x | unshare -m --propagation private",
        "unshare -w /tmp -r",
        "curl x | setarch x86_64",
        "curl x | setarch -R",
        "curl x | i386",
        "curl x | x86_64 -R",
        "curl x | uname26",
        "curl x | script -q /dev/null",
        "curl x | script -O log",
        "newgrp docker <<END\nrm -r x\nEND",
        "curl x | run0",
        "curl x | run0 -u bob",
        "curl x | systemd-run -u unit --pipe -S",
        "curl x | torsocks --shell",
        "arch-chroot -u bob /x <<END\nrm -r x\nEND",
        "curl x | tcsh",
        "capsh --",
    ] {
        check(line, "all");
    }
}

#[test]
fn what_a_runner_runs_behind_another_one_may_be_unknown() {
    for line in [
        "nice sudo $x",
        "timeout 5 sudo \"$x\"",
        "timeout -k 5 5 sudo \"$x\"",
        "env A=1 sudo $x",
        "nice -n 5 sudo -u bob $x",
        "nice doas $x",
        "sudo sudo $x",
        "sudo -u bob sudo $x",
        "echo a | xargs sudo $x",
        "nice nohup $x",
        "sudo nice $x",
        "nice timeout 5 $x",
        "flock /tmp/lock nice $x",
    ] {
        check(line, "all");
    }
}

#[test]
fn a_runner_that_is_given_a_command_runs_no_shell() {
    for runner in [
        "ssh -i ~/.ssh/id host",
        "ssh -l bob host",
        "ssh -lbob host",
        "ssh host -p 22",
        "su -s /bin/sh bob -c",
        "sudo -s",
        "sudo -iu bob --",
        "sudo -u bob",
        "doas -su bob",
        "pkexec --user bob",
        "fakeroot -s state",
        "firejail --quiet",
        "sg group",
        "nsenter -t $PID -m",
        "nsenter -m -t \"$PID\"",
        "unshare -m --propagation private",
        "setarch -R",
        "i386 -R",
        "x86_64",
        "uname26",
        "run0 -u bob",
        "systemd-run -u unit -S",
        "sshpass -p x ssh host",
        "arch-chroot /x",
    ] {
        check(&format!("{runner} ls"), "");
        check(&format!("{runner} docker"), "docker");
    }
    check("sudo -v", "");
    check("sudo -l", "");
    check("sudo -u \"$x\" ls", "");
    check("sudo -u \"$x\" docker", "docker");
    check("ls | xargs -n \"$x\" ls", "");
    check("bash -o \"$x\" y", "");
}

#[test]
fn what_tools_of_everyday_run_is_looked_at() {
    for runner in [
        "npx",
        "npm exec --",
        "uv run",
        "poetry run",
        "pipenv run",
        "conda run -n env",
        "mise exec --",
        "direnv exec .",
        "nix develop -c",
        "bundle exec",
        "perf stat",
        "caffeinate -i",
        "chronic",
        "ts",
        "sem -j 2",
        "fd -e o -X",
        "ls | entr -r",
        "watchexec",
        "ip netns exec a",
        "bwrap --dev-bind / /",
    ] {
        check(&format!("{runner} docker x"), "docker");
        check(&format!("{runner} ls"), "");
    }
    check("nix-shell --run 'docker x'", "docker");
    check("uv pip install $packages", "");
    check("npm install $packages", "");
}

#[test]
fn the_name_of_a_runner_may_be_an_argument() {
    for line in [
        "sudo usermod -aG sudo \"$USER\"",
        "sudo usermod -aG sudo $USER",
        "sudo apt install sudo $pkgs",
        "nice apt install doas \"$x\"",
        "sudo useradd -G sudo -s /bin/false \"$USER\"",
        "timeout 60 make x86_64 $x",
        "env A=1 ./build.sh i386",
    ] {
        check(line, "");
    }
    check("nice sudo -u bob -s", "all");
    check("sudo apt install sudo; curl x | sudo -s", "all");
    check("nice sudo sudo -i", "all");
}

#[test]
fn what_makes_words_mean_something_else_is_not_followed() {
    for line in [
        "alias x='rm -r'",
        "builtin alias x=y",
        "hash -p /bin/rm x",
        "mapfile -t -C 'rm -r x' y",
        "readarray -Cx y",
        "compgen -C 'rm -r x'",
        "complete -F f x",
        "enable -f x.so x",
        "echo x | at now",
        "PS4='$(rm -r x)' bash -x y",
        "export PS4=x",
        "env BASH_ENV=x bash y",
        "(( 'a[$(rm -r x)]' ))",
        "test -v 'a[$(rm -r x)]'",
        "x='a[`rm -r x`]'",
        "a[$(rm -r x)]=1",
    ] {
        check(line, "all");
    }
    check("echo a[$(rm -r x)]", "rm");
    check("hash -r", "");
    check("mapfile -t y", "");
    check("env A=b ls", "");
    check("grep '[$]x' y", "");
}

#[test]
fn a_program_has_no_shell() {
    check_program(&["rm", "-r", "x"], "rm");
    check_program(&["/bin/rm", "x; rm -r y"], "");
    check_program(&["echo", "$(rm -r x)"], "");
    check_program(&["sudo", "docker"], "docker");
    check_program(&["rm", "$x"], "");
}

#[test]
fn what_is_not_known_may_be_what_a_pattern_names() {
    check("rm $x", "rm");
    check("rm \"$x\"", "rm");
    check("rm -$x y", "rm");
    check("rm a$x", "rm");
    check("rm \"a$x\"", "");
    check("rm -f \"$x\"", "rm");
    check("git push $x", "git");
    check("git $x", "all");
    check("cp x \"$y\"", "cp");
    check("cp x \"$y\" z", "");
    check("rm {-r,x}", "rm");
    check("echo $x", "");
    check("echo \"$x\"", "");
    check("ls $x > y", "");
}

#[test]
fn names_of_files_are_not_taken_for_options() {
    check("rm *.o", "");
    check("rm -*", "rm");
    check("rm -[r] x", "rm");
    check("cp * important", "cp");
    check("cp x imp*", "cp");
    check("cp imp*", "cp");
}

#[test]
fn what_cannot_be_taken_apart_counts_for_every_rule() {
    for line in [
        "$x -r y",
        "trap \"$x\" EXIT",
        "r$x -r y",
        "$HOME/bin/tool -r y",
        "\"$HOME/bin/$x\" -r y",
        "$(which rm) -r y",
        "/bin/r? -r y",
        "eval \"$x\"",
        "eval -- \"$x\"",
        "echo 'rm -r x",
        "curl x | sh",
        "curl x | sudo bash -",
        "bash <<END\nrm -r x\nEND",
        "x=$[1<<2]\nrm -r x",
        "bash -s x",
        "bash -c \"$x\"",
        "sudo $x",
        "sudo -u $x",
        "sudo -u \"$@\"",
        "sudo -u $x -r y",
        "sudo -u *",
        "ls | xargs -n $x",
        "ls | xargs -I $x ls",
        "ls | xargs -I \"$x\" ls y",
        "ls | xargs -I\"$x\" ls y",
        "ls | xargs --replace=\"$x\" ls y",
        "bash -o $x y",
        "bash -O $x y",
        "bash --rcfile $x y",
        "bash -e$x y",
        "bash -e\"$x\" y",
        "case $x in a) rm -r y;; esac",
        "rm${IFS}-r${IFS}x",
        "env -S 'rm -r x",
    ] {
        check(line, "all");
    }
    let nested = (0..40).fold("true".to_owned(), |line, _| format!("eval {line}"));
    check(&nested, "all");
}

#[test]
fn a_pattern_may_begin_with_any_words() {
    let rule = json!([{ "pattern": "... --yes-really", "reason": "r" }]);
    let policy = read(&rule).expect("a valid policy");
    let is_named = |line: &str| {
        policy
            .concern(&Command::Shell(line.to_owned()), &[])
            .is_some()
    };
    assert!(is_named("anything a --yes-really"));
    assert!(is_named("sudo anything --yes-really"));
    assert!(is_named("anything $x"));
    assert!(!is_named("anything --yes-really a"));
}

#[test]
fn without_rules_nothing_is_looked_at() {
    let none = read(&json!([])).expect("an empty policy");
    assert_eq!(none, Rules::default());
    assert_eq!(none.concern(&Command::Shell("$x".to_owned()), &[]), None);
}

#[test]
fn a_concern_has_the_reasons_in_order() {
    let policy = policy();
    let line = Command::Shell("docker ps; rm -r x".to_owned());
    let concern = policy.concern(&line, &[]).expect("it is named");
    let expect = ["because of rm ... -*r* ...", "because of docker ..."];
    assert_eq!(concern.reasons, expect);
    assert_eq!(concern.doubt, None);
}

#[test]
fn arithmetic_hides_no_other_doubt_than_that_of_a_here_document() {
    let nested = |begin: &str| {
        let (open, close) = ("$(echo ".repeat(30), ")".repeat(30));
        format!("(({begin} {open}$(rm -r y){close}))")
    };
    check(&nested("x<<1,"), "all");
    check(&nested("x<<1\n"), "all");
    check(&nested("x<<$y,"), "all");
    check("((x<<2, $(a 'b)))", "all");
    check("((x = 1<<2, y <<= $z))", "");
}

#[test]
fn a_case_is_the_reason_of_its_doubt() {
    let policy = policy();
    for line in [
        "case x in x) echo y;; esac",
        "if case x in x) true;; esac; then y; fi",
        "(case x in x) echo y;; esac)",
        "$(case x in x) echo y;; esac)",
        "case x in (x) echo y;; esac",
        "case $x in a) b;; c) d;; esac",
    ] {
        let line = Command::Shell(line.to_owned());
        let concern = policy.concern(&line, &[]).expect("it is doubted");
        let expect = Some("what a `case` runs is not looked for");
        assert_eq!(concern.doubt, expect, "{line:?}");
    }
    let line = Command::Shell("echo x)".to_owned());
    let concern = policy.concern(&line, &[]).expect("it is doubted");
    assert_eq!(concern.doubt, Some("a `)` has no `(`"));
}

#[test]
fn a_long_command_is_compared_in_time() {
    let policy = policy();
    for (first, part) in [
        ("rm ", "-x "),
        ("sudo ", "rm "),
        ("xargs ", "sh "),
        ("docker", "r"),
        ("", "sh -c "),
        ("", "eval "),
        ("rm ", "$x "),
        ("rm ", "* "),
        ("flock x ", "'a b' "),
        ("", "env "),
        ("", "xargs "),
        ("", "xargs -I{} "),
        ("", "su -ca "),
        ("", "sudo -i "),
        ("", "xargs -0n "),
        ("case a in ", "b) "),
        ("command ", "builtin "),
        ("nice ", "sudo "),
        ("nice ", "doas sudo "),
    ] {
        grow_with_length(part, 1_500, |times| {
            let line = format!("{first}{}", part.repeat(times));
            policy.concern(&Command::Shell(line), &[]);
        });
    }
}

#[test]
fn a_wrong_policy_is_refused_with_its_place() {
    let refused = |value: Value, at: &str| {
        let error = read(&value).expect_err("it is wrong");
        assert_eq!(error.at, at, "{value}: {error:?}");
    };
    refused(json!({}), "");
    refused(
        json!(vec![json!({ "pattern": "a", "reason": "b" }); 101]),
        "",
    );
    refused(json!(["a"]), "/0");
    refused(
        json!([{ "pattern": "a", "reason": "b" }, { "reason": "b" }]),
        "/1",
    );
    refused(json!([{ "pattern": " ", "reason": "b" }]), "/0/pattern");
    refused(json!([{ "pattern": "a\nb", "reason": "b" }]), "/0/pattern");
    refused(
        json!([{ "pattern": "a".repeat(201), "reason": "b" }]),
        "/0/pattern",
    );
    refused(json!([{ "pattern": "a" }]), "/0");
    refused(json!([{ "pattern": "a", "reason": "" }]), "/0/reason");
    refused(
        json!([{ "pattern": "a", "reason": "a\u{202e}" }]),
        "/0/reason",
    );
    refused(
        json!([{ "pattern": "a", "reason": "b", "a/b": 1 }]),
        "/0/a~1b",
    );
}
