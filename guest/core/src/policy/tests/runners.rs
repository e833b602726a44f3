//! Where a command begins that a program runs.

use super::{check, check_program, policy};
use crate::imports::Command;
use crate::policy::steps::grow_with_length;

fn check_all(lines: &[&str], expect: &str) {
    lines.iter().for_each(|line| check(line, expect));
}

#[test]
fn what_is_run_behind_options_with_values_may_be_unknown() {
    let lines = [
        "timeout -s KILL 5 sudo $x",
        "timeout -sKILL 5 sudo $x",
        "timeout -vs KILL 5 sudo $x",
        "timeout --signal KILL 5 sudo \"$x\"",
        "timeout --signal=KILL 5 sudo \"$x\"",
        "timeout --sig KILL 5 sudo \"$x\"",
        "env -u HOME sudo $x",
        "env -iu HOME A=1 sudo $x",
        "stdbuf -o L sudo $x",
        "stdbuf -oL sudo $x",
        "strace -f -o log sudo $x",
        "strace -fo log sudo $x",
        "find . -name '*.log' -exec sudo $x {} ;",
        "find . -type f -exec sudo \"$x\" {} \\;",
        "find . -exec ls {} \\; -exec $x {} +",
        "script -q /dev/null sudo $x",
        "script log \"$x\"",
        "ip netns exec a sudo $x",
        "ip netns exec a \"$x\"",
        "systemd-run --user \"$x\"",
        "run0 --user bob \"$x\"",
        "runuser -u bob \"$x\"",
        "runuser --user=bob \"$x\"",
        "sudo -nu bob \"$x\"",
        "sudo --user=bob \"$x\"",
        "sudo -i \"$x\"",
        "env -S sudo \"$x\"",
        "env -S 'sudo -u' bob \"$x\"",
        "echo a | xargs -I{} sudo {}",
        "echo a | xargs timeout 5",
        "start-stop-daemon --start --exec \"$x\"",
        "ssh host \"$x\"",
        "screen -dmS a \"$x\"",
        "tmux new -s a \"$x\"",
        "sem -j 2 \"$x\"",
    ];
    check_all(&lines, "all");
}

#[test]
fn a_flag_has_no_value() {
    let lines = [
        "systemd-run --user ls",
        "systemd-run --uid \"$x\" ls",
        "run0 --user \"$x\" ls",
        "nsenter -t 1 --net ls",
        "nsenter --target 1 --mount --net ls",
        "sudo --login ls",
        "sudo --login-class a ls",
        "sudo -nu \"$x\" ls",
        "sudo -nE ls \"$x\"",
        "script \"$LOG\" ls",
        "ip netns exec \"$x\" ls",
        "find \"$x\" -name y",
        "command -v \"$x\"",
        "command -pv \"$x\"",
        "sudo -l docker",
        "taskset -p \"$x\" \"$y\"",
        "screen -r \"$x\"",
        "tmux new -s bash",
        "tmux kill-session -t \"$x\"",
        "hyperfine -w 3 ls",
        "ssh -tp \"$x\" host ls",
    ];
    check_all(&lines, "");
    check("script \"$LOG\"", "all");
    check("nsenter -t 1 --net", "all");
    check("sudo --login", "all");
}

#[test]
fn an_unknown_option_may_have_a_value() {
    check("sudo --new ls", "");
    check("sudo --new=a ls \"$x\"", "");
    check("sudo -Zn ls \"$x\"", "");
    check("timeout --new 5 ls", "");
    check("sudo --new docker ps", "docker");
    check("sudo --new a docker ps", "docker");
    check("sudo -nZ a docker ps", "docker");
    let lines = [
        "sudo --new \"$x\"",
        "sudo --new a \"$x\"",
        "sudo -nZ a \"$x\"",
        "sudo -Znu bob \"$x\"",
        "sudo --new a -n --newer \"$x\"",
        "timeout --new a 5 sudo \"$x\"",
        // It may be any of too many.
        "sudo --new a --newer b --newest c ls",
    ];
    check_all(&lines, "all");
}

#[test]
fn a_tool_runs_a_command_only_behind_its_words_for_that() {
    let nothing = [
        "perf script",
        "perf script -i perf.data",
        "perf report \"$x\"",
        "fd -e sh",
        "fd bash",
        "fd ssh",
        "fd docker",
        "nix-shell -p bash",
        "nix-shell -p docker",
        "nix build docker",
        "poetry add fish",
        "npm run script",
        "npm install script",
        "npm install docker",
        "npm rm docker",
        "npm --prefix $x install docker",
        "yarn script",
        "uv pip install docker",
        "conda install docker",
        "direnv allow docker",
        "mise install docker",
        "ip netns add docker",
        "find . -name docker",
        "find . -exec ls {} \\; -name docker",
        "sudo apt install docker",
        "sshpass -p \"$P\" ssh host ls",
        "make 2>&1 | ts \"$FMT\"",
        "npm \"$x\"",
    ];
    check_all(&nothing, "");
    let unknown = [
        "uv run \"$x\"",
        "uv run --with a \"$x\"",
        "uv --directory a run -q -- \"$x\"",
        "uv tool run \"$x\"",
        "poetry run \"$x\"",
        "perf stat \"$x\"",
        "perf stat -e cycles -r 5 \"$x\"",
        "direnv exec . \"$x\"",
        "npm exec -- \"$x\"",
        "npm x --package=a \"$x\"",
        "npm $x",
        "conda run -n a \"$x\"",
        "mise exec node@20 -- \"$x\"",
        "nix develop .#a --command \"$x\"",
        "nix-shell -p a --run \"$x\"",
        "fd -x \"$x\"",
        "fd --exec-batch sudo {}",
        "fd -Hx\"$x\"",
    ];
    check_all(&unknown, "all");
    let docker = [
        "uv tool run docker",
        "uvx docker x",
        "npx -y docker x",
        "npm \"$x\" docker",
        "npm exec --package=a -- docker",
        "mise exec node@20 -- docker x",
        "nix shell a -c docker",
        "fd -Hxdocker",
        "fd --exec=docker",
        "perf record -g -- docker x",
        "ts docker x",
    ];
    check_all(&docker, "docker");
}

#[test]
fn the_words_of_a_command_are_told_in_many_forms() {
    let lines = [
        "env -S 'sh -c' 'rm -r x'",
        "env -S '-i rm -r x'",
        "env --split 'sudo -u' bob rm -r x",
        "find . -exec ls {} \\; -exec rm -r {} +",
        "find . -ok sh -c 'rm -r x' \\;",
        "su bob -- -c 'rm -r x'",
        "su - bob -c 'rm -r x'",
        "runuser -ubob rm -r x",
        "ssh host 'cd a' \\&\\& rm -r x",
        "tmux new -d -s bash 'rm -r x'",
        "tmux new -d \\; send-keys -t a 'rm -r x' Enter",
        "tmux if-shell true 'rm -r x'",
        "screen -S a -X stuff 'rm -r x'",
        "hyperfine ls 'rm -r x'",
        "hyperfine --prepare 'rm -r x' ls",
        "coproc N { rm -r x; }",
        "coproc rm -r x",
        "parallel rm -r ::: a b",
        "parallel ::: 'ls a' 'rm -r x'",
        "npm run a -- sh -c 'rm -r x'",
        "timeout 5 x86_64 -R rm -r x",
        "env A=1 nice timeout 5 sudo strace rm -r x",
    ];
    check_all(&lines, "rm");
    check_program(&["find", ".", "-exec", "docker", "{}", ";", "-a"], "docker");
    check_program(&["sudo", "--new", "docker"], "docker");
}

#[test]
fn a_long_chain_of_runners_is_read_in_time() {
    let policy = policy();
    for (first, part) in [
        ("rm ", "sudo --new "),
        ("", "sudo --new "),
        ("sudo ", "--new x "),
        ("sudo ", "-Z "),
        ("find . ", "-exec sudo "),
        ("find . ", "-exec rm \\; "),
        ("fd ", "-x rm -r x "),
        ("", "coproc "),
        ("", "ip netns exec "),
        ("", "timeout 5 "),
        ("", "env -S "),
        ("tmux ", "new rm \\; "),
        ("tmux ", "bind a "),
        ("parallel ", "-- rm "),
        ("tmux ", "run "),
        ("tmux ", "confirm "),
        ("tmux ", "send \"a'\" "),
        ("hyperfine ", "ls --runs 1 "),
        ("rsync ", "-e ssh "),
        ("start-stop-daemon ", "-Z a "),
        ("scp ", "--x a "),
        ("nix develop ", "-Z a "),
        ("mise exec ", "-Z a "),
        ("nice script ", "-Z a "),
    ] {
        grow_with_length(part, 1_500, |times| {
            let line = format!("rm -r x; {first}{}", part.repeat(times));
            policy.concern(&Command::Shell(line), &[]);
        });
    }
}

/// Every one of them runs docker, whatever stands between.
const HIDDEN: &[&str] = &[
    "gtimeout 5 genv A=b gnice -n 5 gnohup docker ps",
    "gtime -p gstdbuf -oL gchroot /x docker ps",
    "gfind . -exec docker ps \\; | gxargs ls",
    "ls | gxargs docker ps",
    "perf record -g docker ps",
    "perf record -F 99 -ag docker ps",
    "perf stat -d docker ps",
    "perf record -I docker ps",
    "perf trace --time docker ps",
    "perf lock record docker ps",
    "perf sched rec -a docker ps",
    "perf c2c record -F 99 docker ps",
    "perf ftrace docker ps",
    "perf ftrace latency -T a docker ps",
    "tmux split-window -l 20 'docker ps'",
    "tmux popup -E -w 80% -h 80% 'docker ps'",
    "tmux splitw -hf 'docker ps'",
    "tmux neww -S -n a 'docker ps'",
    "tmux -c 'docker ps'",
    "tmux send-keys -t a C-c 'docker ps' Enter",
    "tmux send-keys -t a docker Space ps Enter",
    "tmux bind-key -n r run-shell -b 'docker ps'",
    "tmux bind r splitw -h 'docker ps'",
    "hyperfine -N 'docker ps'",
    "hyperfine -L n 1,2 'docker ps'",
    "unshare -rR /x docker ps",
    "unshare -fpS 0 docker ps",
    "numactl -l docker ps",
    "script -q -t 0 /dev/null docker ps",
    "script -q -- docker ps",
    "ip vrf exec blue docker ps",
    "npm explore a -- docker ps",
    "yarn workspace a exec docker ps",
    "yarn workspaces foreach -A exec docker ps",
    "pnpm recursive exec docker ps",
    "pnpm m exec docker ps",
    "bwrap --overlay a b c docker ps",
    "rlwrap -a docker ps",
    "rlwrap -e '' docker ps",
    "parallel -M docker ps ::: a",
    "screen -xRS a docker ps",
    "screen -dRR docker ps",
    "ts -g a docker ps",
    "ts -d docker ps",
    "runcon -c docker ps",
    "runcon -t a docker ps",
    "systemd-run --expand-environment no docker ps",
    "runuser bob -- -c 'docker ps'",
    "coproc N while docker ps; do :; done",
    "s390x docker ps",
    "ppc64le docker ps",
    "sparc32 docker ps",
    "setarch -R docker ps",
    "setarch x86_64 -R docker ps",
    "setarch --addr-no-randomize docker ps",
    "nix --option a b develop -c docker",
    "chrt -b docker ps",
    "chrt -b 0 docker ps",
    "chrt -r 10 docker ps",
    "backburner run --timeout 5 --stdin docker ps",
    "parallel --header : docker ps ::: a",
    "parallel --shuf docker ps ::: a",
    "hyperfine --time-unit second 'docker ps'",
    "perf stat --pre 'docker ps' ls",
    "perf stat --post='docker ps' ls",
    "perf record --switch-output docker ps",
    "perf kvm record docker ps",
    "perf kvm --host record -a docker ps",
    "perf kvm stat record docker ps",
    "perf script record NAME docker ps",
    "perf script -v rec NAME docker ps",
    "perf lock contention -ab docker ps",
    "perf lock con -b -E 5 docker ps",
    "perf sched reco docker ps",
    "perf sched recor docker ps",
    "ip net e a docker ps",
    "ip vr exe a docker ps",
    "dbus-launch --config-file f docker ps",
    "dbus-launch --autolaunch id docker ps",
    "capsh -+ -c 'docker ps'",
    "capsh =+ -c 'docker ps'",
    "tmux bind p popup -E 'docker ps'",
    "tmux bind p send-keys 'docker ps' Enter",
    "tmux bind p new-session 'docker ps'",
    "tmux bind -N note p new-session -n a -s b 'docker ps'",
    "tmux bind c new-window -n a -c '#{pane_current_path}' 'docker ps'",
    "tmux bind r 'popup -E \"docker ps\"'",
    "tmux bind r 'new-window ls ; popup -E \"docker ps\"'",
    "tmux if-shell true 'popup -E \"docker ps\"'",
    "tmux if-shell true 'copy-mode' 'popup -E \"docker ps\"'",
    "tmux run -C 'neww \"docker ps\"'",
    "tmux new-s 'docker ps'",
    "tmux new-w 'docker ps'",
    "tmux respawn-p -k 'docker ps'",
    "tmux sp -h 'docker ps'",
    "tmux send-k 'docker ps' Enter",
    "tmux display-po 'docker ps'",
    "tmux ru 'docker ps'",
    "tmux bin p ru 'docker ps'",
    "tsp docker ps",
    "tsp -L name docker ps",
    "parallel -j 2 -- ls 'docker ps'",
    "ifne docker ps",
    "ifne -n docker ps",
    "mispipe ls 'docker ps'",
    "envdir dir docker ps",
    "envuidgid bob docker ps",
    "setlock -n lock docker ps",
    "niceload -n 5 docker ps",
    "niceload --sensor 'docker ps' ls",
    "newgrp -c 'docker ps' group",
    "firejail --net=none docker ps",
    "screen -x docker",
    "screen -wipe docker",
    "hyperfine ls --prepare='docker ps'",
    "hyperfine ls -p'docker ps'",
    "hyperfine ls -Np'docker ps'",
    "rsync -e 'docker ps' a b:c",
    "rsync -avze 'docker ps' a b:c",
    "rsync --rsh='docker ps' a b:c",
    "rsync -av a b:c --rsh docker",
    "scp -S docker a b:c",
    "sftp -oA=b -S docker b",
    "tmux confirm-before -p 'really?' \"run 'docker ps'\"",
    "tmux confirm 'neww \"docker ps\"'",
    "tmux command-prompt -p name: \"neww 'docker ps %%'\"",
    "tmux bind x confirm-before \"run 'docker ps'\"",
    "tmux set-hook -g after-new-window \"run 'docker ps'\"",
    "tmux set-hook -g after-new-window run-shell 'docker ps'",
    "tmux set -g default-command 'docker ps'",
    "tmux set-option -g default-command 'docker ps'",
    "tmux send-keys -t x \"docker run 'a\" Enter",
    "hyperfine ls --export-json x 'docker ps'",
    // The second letter may be the value of the first.
    "sudo -Zl docker ps",
    "ssh -ZN host docker ps",
    "unshare -Zh docker ps",
];

#[test]
fn no_option_or_subcommand_keeps_a_command_hidden() {
    check_all(HIDDEN, "docker");
    check("fd -Ht d x -x rm -xdr", "rm");
    check("fd -x rm -r x \\; -x docker ps", "rm docker");
}

/// None of them runs docker, or what is not known.
const ORDINARY: &[&str] = &[
    "perf record -g -p \"$PID\"",
    "fd -e $EXT x",
    "fd -d $N x",
    "script -qc ls $LOG",
    "sem -j $(nproc) ls",
    "softlimit -m $M ls",
    "setarch $(uname -m) -R ls",
    "parallel -j $(nproc) ls ::: a",
    "ssh -N -L 1:h:1 host",
    "ssh -fNL 1:h:1 host",
    "ssh -V",
    "ssh -O exit host",
    "ssh -G host",
    "unshare --help",
    "script --version",
    "sudo -e \"$f\"",
    "sudo --edit \"$f\"",
    "strace -p $PID",
    "chrt -r $PRIORITY ls",
    "screen -r docker",
    "backburner --version",
    "hyperfine ls -w 3 --export-json=x.json",
    "hyperfine ls --export-json=\"$FILE\"",
    "hyperfine ls --export-json \"$F\"",
    "hyperfine 'ls' --export-markdown $OUT",
    "hyperfine -N ls --warmup $N",
    "hyperfine ls -r $N -L n \"$a\"",
    "tmux send-keys -t x \"don't\" Enter",
    "tmux send-keys -l \"it's docker\"",
    "tmux confirm-before -p docker kill-session",
    "tmux command-prompt -I '#W' \"rename-window '%%'\"",
    "tmux set-hook -g after-new-window 'select-layout tiled'",
    "tmux set -g default-command 'less x'",
    "tmux set -g status off",
    "rsync -avz -e \"ssh -p 22\" a b:c",
    "rsync -e ssh a \"$HOST\":c",
    "rsync -e \"ssh -i $KEY -p $PORT\" --exclude docker a b:c",
    "rsync -av $SRC $HOST:$DST",
    "rsync a b",
    "scp -i \"$KEY\" -S ssh a b:c",
    "scp a $HOST:c",
    "sudo -lZ docker ps",
    "nice -- -x",
    "parallel -V",
    "parallel -h",
    "parallel --citation",
    "parallel --number-of-cores",
    "arch-chroot --help",
    "firejail -h",
    "firejail '-?'",
    "firejail --list",
    "firejail --tree",
    "newgrp --help",
    "newgrp --version",
    "sg --help",
    "sg --version",
    "tsp -c 5",
    "niceload -p \"$PID\"",
    "tmux bind -n C-d detach-client",
    "tmux bind p select-window -t \"$WINDOW\"",
    "tmux bind r new-window -n docker",
    "tmux if -F '#{pane_in_mode}' 'send-keys q' 'copy-mode'",
    "perf sched re docker",
    "perf lock report docker",
    "perf kvm stat report docker",
];

#[test]
fn what_is_no_command_is_not_asked_about() {
    check_all(ORDINARY, "");
    // README says so.
    check("ip -netns a netns exec b docker ps", "");
    check("ip -family inet netns exec b docker ps", "");
    check("tmux bind x { run 'docker ps' }", "");
    check("tmux set -g status-right '#(docker ps)'", "");
    check("tmux display-menu name key \"run 'docker ps'\"", "");
    // Of the policies that take no priority this would be the command.
    check("chrt -i $PRIORITY ls", "all");
    check("firejail --trace", "all");
    // The letter may be the value of the other option.
    check("ssh -Z -N host", "all");
    check("ssh -ZN host", "all");
}

#[test]
fn many_options_in_an_argument_are_read_in_time() {
    let policy = policy();
    grow_with_length("n", 2_000, |times| {
        let words = "a ".repeat(times);
        let line = format!("sudo -{} \"{words}\"", "n".repeat(times));
        policy.concern(&Command::Shell(line), &[]);
    });
}
