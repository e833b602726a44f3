//! The programs that run others: of each, where the command begins that it is given.

use super::options::Options;
use crate::policy::variables::HOST_AND_COMMAND;

/// What a program runs of which the command is among the arguments.
#[derive(Clone, Copy, Debug)]
pub(in crate::policy) struct Runner {
    /// Those which do so alike.
    names: &'static str,
    pub(in crate::policy) options: Options,
    /// The operands before the command: for each the words that it may be, or [`ANY`]. See [`is_one_of`].
    pub(in crate::policy) path: &'static [&'static [&'static str]],
    pub(in crate::policy) begins: Begins,
    pub(in crate::policy) form: Form,
    /// Whether a shell reads what to run where no command is given.
    pub(in crate::policy) is_else_shell: bool,
    /// Whether it adds arguments from what it reads.
    pub(in crate::policy) reads: bool,
    /// What it puts the names of files, or what it reads, in the place of, if nothing else is said.
    pub(in crate::policy) marker: Option<&'static str>,
    /// Whether a `;` among its arguments begins anew.
    pub(in crate::policy) is_list: bool,
    /// Whether each variable before the command counts as one word, also without quotes: where a host, a directory or
    /// a package has to stand, asking each time would help nobody.
    pub(in crate::policy) takes_one: bool,
    /// What it adds to the lines in its options.
    pub(in crate::policy) adds: &'static str,
}

/// Where behind its own operands the command of a runner begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Begins {
    /// With the next operand.
    Next,
    /// Behind each of these words.
    Behind(&'static [&'static str]),
}

/// What the words of the command of a runner are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Form {
    /// A program with its arguments, or a shell line if it is one word.
    Words,
    /// As that, where one word is something else.
    Several,
    /// Parts of one shell line.
    Joined,
    /// Shell lines.
    Lines,
    /// What is typed: a shell line in several words, or several lines.
    Typed,
    /// Shell lines, or such of subcommands of the runner.
    LinesOrSubcommands,
    /// A subcommand of the runner, or a line of some if it is one word.
    Subcommand,
    /// A shell line, and what is none.
    First,
    /// The arguments of a shell.
    Shell,
}

/// Any operand.
const ANY: &[&str] = &[];

/// No operand, for a program of which an option alone has something run: a word that begins with a dash is none.
const NO_OPERAND: &[&str] = &["-"];

const GIT: &str =
    "-Cc= -* --git-dir= --work-tree= --namespace= --super-prefix= --config-env= --attr-source= --*";

const GIT_REBASE: &str = "-x! -CcsX= -* --exec! --git-dir= --work-tree= --namespace= --config-env= --strategy= \
        --strategy-option= --onto= --*";

const GIT_FILTER_BRANCH: &str = "-Ccd= -* --setup! --env-filter! --tree-filter! --index-filter! --parent-filter! \
        --msg-filter! --commit-filter! --tag-name-filter! --git-dir= --work-tree= \
        --namespace= --config-env= --*";

const GIT_DIFFTOOL: &str =
    "-x! -Cct= -* --extcmd! --git-dir= --work-tree= --namespace= --config-env= --tool= --*";

/// What runs a line at the other end, which may be this machine.
const GIT_REMOTE_OPTIONS: &str = "-Cco= -* --upload-pack! --receive-pack! --exec! --git-dir= --work-tree= --namespace= \
        --config-env= --*";

/// Of the others `-u` is something else.
const GIT_CLONE_OPTIONS: &str =
    "-u! -Ccobj= -* --git-dir= --work-tree= --namespace= --config-env= --*";

const GIT_REMOTE_WORDS: &[&str] = &[
    "archive",
    "clone",
    "fetch",
    "fetch-pack",
    "ls-remote",
    "pull",
    "push",
    "send-pack",
];

const SU: &str = "-c! -Ggsw= -flmpP -hV~ --command! --session-command! --group= --shell= --supp-group= \
        --whitelist-environment= --login --preserve-environment --pty --help~ --version~";

const SYSTEMD: &str = "-CHMpu= -E+ -dGPqrtv -S$ --shell$ --background= --capsule= --description= --gid= --host= \
        --machine= --nice= --property= --service-type= --setenv+ --slice= --uid= --unit= --working-directory= \
        --on-active= --on-boot= --on-startup= --on-unit-active= --on-unit-inactive= --on-calendar= \
        --path-property= --socket-property= --timer-property= --user --system --scope --pipe --pty \
        --wait --collect --quiet --no-block --no-ask-password --remain-after-exit --same-dir \
        --send-sighup --slice-inherit --on-clock-change --on-timezone-change --expand-environment=";

const TMUX_WINDOW_OPTIONS: &str = "-LTcFnt= -e+ -2CDNPabdkluv";

const TMUX_WINDOW_WORDS: &[&str] = &[
    "new-w|indow",
    "neww",
    "respawn-p|ane",
    "respawn-w|indow",
    "respawnp",
    "respawnw",
];

const TMUX_SPLIT_OPTIONS: &str = "-LTcFltp= -e+ -2CDINPZbdhuv";

const TMUX_SPLIT_WORDS: &[&str] = &["sp|lit-window", "splitw"];

const TMUX_RUN_OPTIONS: &str = "-HLNSTcefFnpstwxy= -12ABCDEIMOPXZabdhIkloquv";

const TMUX_RUN_WORDS: &[&str] = &["i|f-shell", "pi|pe-pane", "pipep", "ru|n-shell"];

const TMUX_SEND_OPTIONS: &str = "-LSTcfNt= -2CDFHKMRXluv";

const TMUX_SEND_WORDS: &[&str] = &["send", "send-k|eys"];

/// Of those which ask before they run a subcommand.
const TMUX_ASK_OPTIONS: &str = "-ILSTcfpt= -12CDFNbeikluvy";

const TMUX_ASK_WORDS: &[&str] = &["command-p|rompt", "confirm|-before"];

const TMUX_SET_OPTIONS: &str = "-BLSTcft= -2CDFNRUagloqpsuvw";

const PERF_STAT_OPTIONS: &str = "-CDGIMeoprtx= -ABSTadgijnqv --event= --pid= --tid= --repeat= --output= --cpu= \
        --field-separator= --delay= --interval-print= --interval-count= --interval-clear --timeout= --cgroup= --pre! \
        --post! --metrics= --topdown --all-cpus --append --no-aggr --big-num --quiet --verbose \
        --no-inherit --detailed --json-output";

const PERF_RECORD_OPTIONS: &str = "-CDFGcejkmoprtu= -ABINPRSTWabdginqsvz --event= --filter= --pid= --tid= --output= \
        --cpu= --freq= --count= --mmap-pages= --call-graph= --delay= --cgroup= --uid= --clockid= --switch-output? \
        --switch-output-event= --all-cpus --append --quiet --verbose --no-inherit --group --stat --data --timestamp";

const PERF_FTRACE_OPTIONS: &str =
    "-CDEGKNTgmpt= -F? -abnv --pid= --tid= --cpu= --tracer= --delay= --all-cpus --verbose";

const PERF_RECORD_WORDS: &[&str] = &[
    "c2c",
    "kmem",
    "kvm",
    "kwork",
    "lock",
    "mem",
    "sched",
    "stat",
    "timechart",
    "trace",
];

const PERF_CONTENTION_OPTIONS: &str =
    "-CEFGLMSYikpx= -Dabfgloqtv --cpu= --entries= --key= --pid= --tid= --verbose";

const SETARCH: &str = "-BFILRSTXZv3: -hV~ --32bit: --fdpic-funcptrs: --short-inode: --addr-compat-layout: \
        --addr-no-randomize: --whole-seconds: --sticky-timeouts: --read-implies-exec: --mmap-page-zero: --3gb: --4gb: \
        --uname-2.6: --verbose: --show~ --list~ --help~ --version~";

/// A name may stand in several rows: then each is looked at.
#[rustfmt::skip]
const RUNNERS: &[Runner] = &[
    runner("arch-chroot", "-u= -Nr -h~ --help~").path(&[ANY]).or_shell().takes_one(),
    runner("backburner", "-hV~ --data-dir= --config= --label= --cwd= --env+ --key= --ttl= --timeout= --stdin --detach \
        --quiet --json --help~ --version~").path(&[&["run"]]).takes_one(),
    runner("builtin catchsegv coproc eatmydata nohup gnohup toybox busybox", ""),
    runner("bun", "").path(&[&["x"]]).takes_one(),
    runner("bundle", "").path(&[&["exec"]]).takes_one(),
    runner("bunx", "-p= --package= --bun --silent --verbose"),
    runner("bwrap", "--bind== --bind-try== --dev-bind== --dev-bind-try== --ro-bind== --ro-bind-try== --setenv== \
        --symlink== --file== --bind-data== --ro-bind-data== --chmod== --bind-fd== --ro-bind-fd== --overlay=== \
        --tmpfs= --proc= --dev= --mqueue= --dir= --chdir= --unsetenv= --uid= --gid= --hostname= --args= \
        --argv0= --lock-file= --sync-fd= --remount-ro= --seccomp= --add-seccomp-fd= --exec-label= \
        --file-label= --block-fd= --info-fd= --json-status-fd= --userns= --userns2= --pidns= \
        --userns-block-fd= --cap-add= --cap-drop= --perms= --size= --overlay-src= --tmp-overlay= --ro-overlay= --*")
        .takes_one(),
    runner("caffeinate", "-disum -tw="),
    runner("capsh", "-* --*").behind(&["--", "-+", "=+"]).form(Form::Shell),
    runner("choom", "-n= -p~ --adjust= --pid~"),
    runner("chpst", "-ubeUnlLmdopfcrt/= -P012vV"),
    runner("chronic", "-ev"),
    runner("chroot gchroot", "--groups= --userspec= --skip-chdir --help~ --version~").path(&[ANY]).or_shell().takes_one(),
    runner("chrt", "-TPD= -p~ -abdefimoRrv --sched-runtime= --sched-period= --sched-deadline= --pid~ \
        --all-tasks --batch --deadline --ext --fifo --idle --other --reset-on-fork --rr --verbose").path(&[ANY])
        .takes_one(),
    // Some take no priority. Which of these, is not looked at: of `chrt -i $P ls` a variable may be the command.
    runner("chrt", "-bdeio: -TPD= -p~ -afmRrv --sched-runtime= --sched-period= --sched-deadline= --pid~ --all-tasks \
        --batch: --deadline: --ext: --fifo --idle: --other: --reset-on-fork --rr --verbose").path(&[ANY]).takes_one(),
    runner("command", "-p -vV~"),
    runner("conda mamba micromamba", "-np= -v --name= --prefix= --root-prefix= --cwd= --no-capture-output \
        --live-stream --clean-env --verbose").path(&[&["run"]]).takes_one(),
    // Of a group or a loop the name stands before it.
    runner("coproc", "").behind(&["{", "while", "until", "if"]),
    runner("dbus-launch", "--autolaunch= --config-file= --*"),
    runner("dbus-run-session", "--config-file= --dbus-daemon="),
    runner("direnv", "").path(&[&["exec"], ANY]).takes_one(),
    runner("doas", "-s$ -aCu= -Ln"),
    runner("dumb-init", "-r= -cv --rewrite= --single-child --verbose"),
    runner("entr", "-acdnprsxz"),
    runner("env genv", "-S^ --split-string^ -CLPUau= -i0v --argv0= --chdir= --unset= --block-signal --debug \
        --default-signal --ignore-environment --ignore-signal --list-signal-handling --null"),
    runner("exec", "-a= -cl"),
    runner("fakeroot", "-bfils= -u -hv~ --faked= --fd-base= --lib= --unknown-is-real --help~ --version~").or_shell(),
    runner("faketime", "-fm --exclude-monotonic").path(&[ANY]),
    runner("fd fdfind", "-xX> --exec> --exec-batch> -dEetcSjoC= -* --*").behind(&[]).puts_in().is_list().takes_one(),
    runner("find gfind", "-* --*").behind(&["-exec", "-execdir", "-ok", "-okdir"]).puts_in().is_list(),
    runner("firejail", "-?h~ --* --help~ --list~ --tree~ --version~").or_shell(),
    runner("flock", "-c! -Ew= -Fenosux --command! --conflict-exit-code= --timeout= --wait= --close \
        --exclusive --fcntl --nb --no-fork --nonblock --shared --unlock --verbose").path(&[ANY]).takes_one(),
    runner("envdir envuidgid function gosu setuidgid su-exec", "").path(&[ANY]).takes_one(),
    runner("git", GIT).path(&[&["bisect"], &["run"]]).takes_one(),
    runner("git", GIT).path(&[&["submodule"], &["foreach"]]).takes_one(),
    runner("git", GIT_REBASE).path(&[&["rebase"]]).behind(&[]).takes_one(),
    runner("git", GIT_FILTER_BRANCH).path(&[&["filter-branch"]]).behind(&[]).takes_one(),
    runner("git", GIT_DIFFTOOL).path(&[&["difftool"]]).behind(&[]).takes_one(),
    runner("git", GIT_CLONE_OPTIONS).path(&[&["clone"]]).behind(&[]).takes_one(),
    runner("git", GIT_REMOTE_OPTIONS).path(&[GIT_REMOTE_WORDS]).behind(&[]).takes_one(),
    runner("hyperfine", "-psc! -wmMrnSuD= -iNE -L== -P=== --prepare! --setup! --cleanup! --conclude! --warmup= \
        --runs= --min-runs= --max-runs= --command-name= --shell= --export-json= --export-markdown= \
        --export-csv= --export-orgmode= --export-asciidoc= --style= --output= --input= --time-unit= --sort= \
        --parameter-step-size= --parameter-list== --parameter-scan=== --ignore-failure --show-output")
        .form(Form::Lines).takes_one(),
    runner("aarch64 alpha arm arm64 armv6l armv7l armv8l athlon i386 i486 i586 i686 ia64 linux32 linux64 loongarch64 \
        mips mips32 mips64 parisc parisc32 parisc64 ppc ppc32 ppc64 ppc64le ppcle riscv32 riscv64 s390 s390x sparc \
        sparc32 sparc64 uname26 x86_64", SETARCH).or_shell(),
    runner("ifne", "-n"),
    runner("ionice", "-cn= -pPu~ -t --class= --classdata= --pid~ --pgid~ --uid~ --ignore"),
    runner("ip", "-n= -*").path(&[&["net|ns"], &["e|xec"], ANY]).takes_one(),
    runner("ip", "-n= -*").path(&[&["v|rf"], &["e|xec"], ANY]).takes_one(),
    runner("ltrace", "-aAeFlnopsuxwD= -bcCfhiLrStTV"),
    runner("mise", "-c! --command! -Cj= --cd= --jobs=").path(&[&["exec", "x"]]).behind(&["--"]).takes_one(),
    runner("mispipe", "").form(Form::Lines),
    runner("newgrp", "-c! -l -hV~ --command! --help~ --version~").path(&[ANY]).or_shell().takes_one(),
    runner("nice gnice", "-n= -0123456789 --adjustment="),
    runner("niceload", "-p~ --pid~ --prg~ --sensor! -ILMflnst= -BHNSqv --factor= --io= --load= --mem= --nice= \
        --recheck= --suspend= --battery --hard --noswap --quiet --soft --verbose --help~ --version~"),
    runner("nix", NIX).path(&[&["develop", "env", "shell"]]).behind(&["-c", "--command"]).takes_one(),
    runner("nix-shell", "--run! --command! -* --*").behind(&[]),
    runner("nocache", "-n="),
    runner("npm", "-c! -pwC= -yq --call! --package= --prefix= --workspace= --yes --no --silent --workspaces")
        .path(&[&["exec", "x"]]).takes_one(),
    runner("npm", "-wC= --prefix= --workspace= --silent").path(&[&["explore"], ANY]).takes_one(),
    runner("npx", "-c! -p= -yq --call! --package= --prefix= --workspace= --yes --no --no-install --quiet"),
    runner("nsenter", "-GNSt= -CTUWimnpruw? -aFZcek -hV~ --net-socket= --setgid= --setuid= --target= --all --net \
        --mount --uts --ipc --pid --cgroup --user --time --root --wd --wdns --env --no-fork --preserve-credentials \
        --keep-caps --join-cgroup --follow-context --help~ --version~").or_shell().takes_one(),
    runner("numactl", "-CFILMNPSfimopw= -absHltduDTV --cpunodebind= --physcpubind= --interleave= --membind= \
        --preferred= --weighted-interleave= --localalloc --all --balancing"),
    runner("parallel", PARALLEL).form(Form::Joined).puts_in().reads().or_shell().takes_one(),
    // That of moreutils runs lines.
    runner("parallel", PARALLEL).behind(&["--"]).form(Form::Lines).takes_one(),
    runner("pdm pipenv poetry", "-pCP= -qvn --project= --directory= --python= --pypi-mirror= --quiet --verbose \
        --no-interaction --site").path(&[&["run"]]).takes_one(),
    runner("perf", PERF_STAT_OPTIONS).path(&[&["stat"]]).takes_one(),
    runner("perf", PERF_RECORD_OPTIONS).path(&[&["record"]]).takes_one(),
    runner("perf", PERF_RECORD_OPTIONS).path(&[PERF_RECORD_WORDS, &["rec|ord"]]).takes_one(),
    runner("perf", PERF_RECORD_OPTIONS).path(&[&["kvm"], &["stat"], &["rec|ord"]]).takes_one(),
    runner("perf", PERF_RECORD_OPTIONS).path(&[&["script"], &["rec|ord"], ANY]).takes_one(),
    runner("perf", PERF_CONTENTION_OPTIONS).path(&[&["lock"], &["con|tention"]]).takes_one(),
    runner("perf", "-CDFGeimoptu= -STafsv --time --event= --expr= --pid= --tid= --uid= --cpu= --output= --duration= \
        --filter-pids= --delay= --max-stack= --all-cpus --summary --with-summary --verbose")
        .path(&[&["trace"]]).takes_one(),
    runner("perf", PERF_FTRACE_OPTIONS).path(&[&["ftrace"]]).takes_one(),
    runner("perf", PERF_FTRACE_OPTIONS).path(&[&["ftrace"], &["trace", "latency", "profile"]]).takes_one(),
    runner("pipx", "--spec= --python= --pip-args= --verbose --quiet").path(&[&["run"]]).takes_one(),
    runner("pkexec", "--user= --disable-internal-agent --keep-cwd --help~ --version~").or_shell(),
    runner("pnpm", "-CF= -crw --dir= --filter= --package= --recursive --shell-mode --silent --workspace-root")
        .path(&[&["dlx", "exec"]]).takes_one(),
    runner("pnpm", "-CF= -crw --dir= --filter= --workspace-concurrency= --parallel --no-bail --no-sort --reverse")
        .path(&[&["recursive", "multi", "m"], &["exec"]]).takes_one(),
    runner("prlimit", "-o= -p~ -cdefilmnqrstuvxy? --output= --pid~ --*"),
    runner("proxychains proxychains4", "-f= -q"),
    runner("rlwrap", "-CDFHMOPQSbefglqstwz= -admp? -AENRTXUWcGhIinorv"),
    runner("rsync", "-e! --rsh! -BfMT@= -* --*").behind(&[]).adds(HOST_AND_COMMAND).takes_one(),
    runner("run0", "-Dgu= --background= --chdir= --description= --group= --host= --machine= --nice= \
        --property= --setenv+ --slice= --unit= --user= --pipe --pty --no-ask-password --slice-inherit \
        --help~ --version~").or_shell(),
    runner("runcon", "-c: -rtlu@ --role@ --type@ --user@ --range@ --compute:").path(&[ANY]).takes_one(),
    runner("runuser", "-u@ --user@ -c! -Ggsw= -flmpPT -hV~ --command! --session-command! --group= --shell= \
        --supp-group= --whitelist-environment= --login --preserve-environment --pty --fast --help~ --version~")
        .path(&[ANY]).or_shell().takes_one(),
    runner("scp sftp", "-S! -BDFJPRXbcilos= -*").behind(&[]).adds(HOST_AND_COMMAND).takes_one(),
    // Behind `-x` or `-wipe` the name of a session may stand, which is taken for a command.
    runner("screen", "-ScehpstT= -r~ -dDmAaiLlnOqUv"),
    runner("screen", "-ScehpstT= -XdDmAaiLlnOqUv").path(&[&["stuff", "exec", "screen"]]).form(Form::Joined),
    runner("script", SCRIPT).path(&[ANY]).or_shell().takes_one(),
    runner("script", SCRIPT).behind(&["--"]).form(Form::Joined).takes_one(),
    runner("sem", PARALLEL).form(Form::Joined).takes_one(),
    runner("setarch", SETARCH).path(&[ANY]).or_shell().takes_one(),
    runner("setlock", "-NXnx").path(&[ANY]).takes_one(),
    runner("setpriv", "-d~ --dump~ --reuid= --regid= --ruid= --rgid= --euid= --egid= --groups= --securebits= \
        --pdeathsig= --inh-caps= --ambient-caps= --bounding-set= --selinux-label= --apparmor-profile= \
        --landlock-access= --landlock-rule= --ptracer= --clear-groups --keep-groups --init-groups \
        --no-new-privs --reset-env"),
    runner("setsid", "-cfw --ctty --fork --wait"),
    runner("sg", "-c! --help~ --version~").path(&[ANY]).form(Form::Joined).or_shell().takes_one(),
    runner("softlimit", "-acdflmoprst=").takes_one(),
    runner("ssh", "-GNOQVW~ -BDEFIJLPRSbceilmopw= -1246AaCfgKkMnqsTtvXxYy").path(&[ANY]).form(Form::Joined).or_shell()
        .takes_one(),
    runner("ssh-agent", "-aEOPt= -DTcdksU"),
    runner("sshpass", "-Pdfp= -eVvh"),
    runner("start-stop-daemon", "-ax> --exec> --startas> -ugsnpkcrdNPIOR= -SKTHbmoqtvCD --user= --group= \
        --signal= --name= --pidfile= --chuid= --chroot= --chdir= --nicelevel= --procsched= --iosched= \
        --umask= --retry= --output= --ppid= --pid= --start --stop --status --background --make-pidfile \
        --oknodo --quiet --test --verbose --no-close --notify-await --remove-pidfile").behind(&[]),
    runner("stdbuf gstdbuf", "-eio= --error= --input= --output="),
    runner("strace", "-aeIOopPsSuUXb= -E+ -ACDFNTVYZcdfhiknqrtvwxyz --attach= --columns= --const-print-style= \
        --env+ --output= --trace= --signal= --status= --string-limit= --summary-columns= --summary-sort-by= \
        --trace-path= --user= --detach-on= --inject= --fault= --kvm= --raw= --read= --write= --abbrev= \
        --verbose= --follow-forks --summary --summary-only --summary-wall-clock --output-separately --quiet \
        --debug --stack-traces --syscall-number --relative-timestamps --absolute-timestamps --timestamps \
        --failed-only --successful-only --decode-fds --no-abbrev --daemonize --tips --seccomp-bpf \
        --instruction-pointer --strings-in-hex").takes_one(),
    runner("su", SU).path(&[ANY]).form(Form::Shell).or_shell().takes_one(),
    runner("sudo", "-is$ --login$ --shell$ -lvKV~ --list~ --validate~ --remove-timestamp~ -CDRTUacghprtu= \
        -AbBEHknNPS -e~ --edit~ --auth-type= --chdir= --chroot= --close-from= --command-timeout= --group= --host= \
        --login-class= --other-user= --prompt= --role= --type= --user= --askpass --background --bell \
        --preserve-env --preserve-groups --set-home --non-interactive --no-update --reset-timestamp --stdin"),
    runner("systemd-cat", "-tp= --identifier= --priority= --stderr-priority= --level-prefix= --namespace="),
    runner("systemd-inhibit", "--what= --who= --why= --mode= --list~ --no-ask-password --no-pager --no-legend"),
    runner("systemd-run", SYSTEMD),
    runner("taskset", "-p~ -ac --pid~ --all-tasks --cpu-list").path(&[ANY]).takes_one(),
    runner("time gtime", "-fo= -apqv --format= --output= --append --portability --quiet --verbose"),
    runner("timeout gtimeout", "-ks= -fpv --kill-after= --signal= --foreground --preserve-status --verbose").path(&[ANY]),
    runner("tini", "-ep= -ghlsvw"),
    runner("tmux", "-c! -LSTf= -2CDNluv").path(&[NO_OPERAND]).takes_one(),
    runner("tmux", "-LSTcfFnstxy= -e+ -2ACDENPXdluv").path(&[&["new", "new-s|ession"]]).is_list().takes_one(),
    runner("tmux", TMUX_WINDOW_OPTIONS).path(&[TMUX_WINDOW_WORDS]).is_list().takes_one(),
    runner("tmux", TMUX_SPLIT_OPTIONS).path(&[TMUX_SPLIT_WORDS]).is_list().takes_one(),
    runner("tmux", "-LSTbcdhstwxy= -e+ -2BCDEkNuv").path(&[&["popup", "display-po|pup"]]).is_list().takes_one(),
    runner("tmux", TMUX_RUN_OPTIONS).path(&[TMUX_RUN_WORDS]).form(Form::LinesOrSubcommands).is_list().takes_one(),
    runner("tmux", TMUX_SEND_OPTIONS).path(&[TMUX_SEND_WORDS]).form(Form::Typed).is_list().takes_one(),
    runner("tmux", TMUX_ASK_OPTIONS).path(&[TMUX_ASK_WORDS]).form(Form::Subcommand).is_list().takes_one(),
    runner("tmux", TMUX_SET_OPTIONS).path(&[&["set-h|ook"], ANY]).form(Form::Subcommand).is_list().takes_one(),
    runner("tmux", TMUX_SET_OPTIONS).path(&[&["set", "set-o|ption"], &["default-c|ommand"]]).form(Form::Lines).is_list()
        .takes_one(),
    runner("tmux", "-LNSTcf= -2CDlnruv").path(&[&["bi|nd-key"], ANY]).form(Form::Subcommand).is_list().takes_one(),
    runner("torsocks", "--shell$ -Papu= -diqv --address= --port= --user= --pass= --isolate --debug --quiet"),
    runner("trap", "-lpP~").form(Form::First),
    // Of one word it is the format of time that another program of this name prints.
    runner("ts", TASK_SPOOLER).form(Form::Several),
    runner("tsp", TASK_SPOOLER),
    runner("unbuffer", "-p"),
    runner("unshare", "-GRSlw= -CTUcfimnpru -hV~ --boottime= --load-interp= --map-group= --map-groups= --map-user= \
        --map-users= --monotonic= --owner= --propagation= --root= --setgid= --setgroups= --setuid= --wd= \
        --mount --uts --ipc --net --pid --user --cgroup --time --fork --kill-child --mount-proc \
        --mount-binfmt --map-auto --map-current-user --map-root-user --keep-caps --help~ --version~").or_shell(),
    runner("uv", UV).path(&[&["run"]]).takes_one(),
    runner("uv", UV).path(&[&["tool"], &["run"]]).takes_one(),
    runner("uvx", UV).takes_one(),
    runner("valgrind", "-dhqv --*"),
    runner("watch", "-nqs= -d? -bcegprtwx --interval= --equexit= --differences --beep --color --no-color --errexit \
        --chgexit --precise --no-rerun --no-title --no-wrap --exec").form(Form::Joined),
    runner("watchexec", "-CFWdefijosw= -E+ -1NVchnpqrv --exts= --watch= --watch-non-recursive= --filter= \
        --ignore= --debounce= --delay-run= --env+ --map-signal= --on-busy-update= --project-origin= --shell= \
        --signal= --stop-signal= --stop-timeout= --workdir= --filter-file= --ignore-file= --clear --restart \
        --postpone --notify --quiet --no-vcs-ignore --no-project-ignore --no-global-ignore \
        --no-default-ignore --no-discover-ignore --print-events --only-emit-events --verbose").form(Form::Joined),
    // Also with the options of the BSDs.
    runner("xargs gxargs", "-IJ% -i& --replace& -ELPRSadns= -el? -0oprtx --arg-file= --delimiter= --max-args= --max-chars= \
        --max-procs= --process-slot-var= --eof --exit --interactive --max-lines --no-run-if-empty --null --open-tty \
        --show-limits --verbose").reads(),
    runner("xvfb-run", "-efnpsw= -ahl --auth-file= --error-file= --server-args= --server-num= --wait= \
        --xauth-protocol= --auto-servernum --auto-display --listen-tcp"),
    runner("yarn", "-p= -q --cwd= --package= --silent --quiet").path(&[&["dlx", "exec"]]).takes_one(),
    runner("yarn", "-q --cwd= --silent --quiet").path(&[&["workspace"], ANY, &["exec"]]).takes_one(),
    runner("yarn", "-ARWaimptv -j= --cwd= --include= --exclude= --from= --jobs= --all --parallel --verbose \
        --interlaced --topological --topological-dev --recursive --worktree --no-private --dry-run --since")
        .path(&[&["workspaces"], &["foreach"], &["exec"]]).takes_one(),
];

const PARALLEL: &str = "-CDEIJLNPSUadjns= -il? -MT0kmqrtuvXx --jobs= --max-procs= --arg-file= --colsep= \
        --delay= --timeout= --joblog= --results= --retries= --sshlogin= --sshloginfile= --tmpdir= --workdir= \
        --env= --halt= --load= --memfree= --nice= --max-args= --max-replace-args= --delimiter= --tagstring= \
        --id= --bg --fg --wait --bar --dry-run --eta --group --keep-order --line-buffer --no-notice --null --pipe \
        --progress --quote --resume --tag --ungroup --verbose --no-run-if-empty --will-cite --lb \
        --header= --rpl= --block= --recstart= --recend= --trim= --return= --trc= --basefile= --ssh= \
        --wd= --slf= --jl= --shuf --plus --link --pipe-part --files -hV~ --help~ --version~ \
        --citation~ --number-of-cores~ --number-of-cpus~ --number-of-sockets~ --number-of-threads~";

const TASK_SPOOLER: &str = "-BEfmnrisSdzCKlTRVh -DLNWGO=";

const SCRIPT: &str = "-c! -BEIOTmo= -adefkpqr -hV~ --command! --echo= --log-in= --log-io= --log-out= --log-timing= \
        --logging-format= --output-limit= --append --flush --force --quiet --return --help~ --version~";

const NIX: &str = "-fIEj= --option== --arg== --argstr== --override-input== --file= --expr= --include= --store= \
        --max-jobs= --cores= --log-format= --extra-experimental-features= --experimental-features= --inputs-from= \
        --reference-lock-file= --output-lock-file= --profile= --phase= --impure --offline --refresh \
        --verbose";

const UV: &str = "-pwC= -mqvns --with= --with-editable= --with-requirements= --from= --python= --project= \
        --directory= --env-file= --extra= --group= --package= --index= --index-url= --config-file= --cache-dir= \
        --no-extra= --no-group= --only-group= --module --script --quiet --verbose --no-sync \
        --frozen --locked --isolated --no-project --active --all-extras --all-groups --dev --no-dev \
        --only-dev --exact --no-cache --offline --no-config --no-env-file --refresh --reinstall --upgrade \
        --no-progress";

const fn runner(names: &'static str, options: &'static str) -> Runner {
    Runner {
        names,
        options: Options(options),
        path: &[],
        begins: Begins::Next,
        form: Form::Words,
        is_else_shell: false,
        reads: false,
        marker: None,
        is_list: false,
        takes_one: false,
        adds: "",
    }
}

impl Runner {
    /// The first one of its names.
    pub(in crate::policy) fn name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or_default()
    }

    const fn path(self, path: &'static [&'static [&'static str]]) -> Self {
        Self { path, ..self }
    }

    const fn behind(self, words: &'static [&'static str]) -> Self {
        let begins = Begins::Behind(words);
        Self { begins, ..self }
    }

    const fn form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    const fn or_shell(self) -> Self {
        let is_else_shell = true;
        Self {
            is_else_shell,
            ..self
        }
    }

    const fn reads(self) -> Self {
        let reads = true;
        Self { reads, ..self }
    }

    const fn puts_in(self) -> Self {
        let marker = Some("{}");
        Self { marker, ..self }
    }

    const fn is_list(self) -> Self {
        let is_list = true;
        Self { is_list, ..self }
    }

    const fn adds(self, adds: &'static str) -> Self {
        Self { adds, ..self }
    }

    const fn takes_one(self) -> Self {
        let takes_one = true;
        Self { takes_one, ..self }
    }
}

/// Whether a text is one of these words of [`Runner::path`]. Of one with a `|` what is behind that may be cut short.
pub(in crate::policy) fn is_one_of(words: &[&str], text: &str) -> bool {
    words.iter().any(|word| match word.split_once('|') {
        None => *word == text,
        Some((least, more)) => text
            .strip_prefix(least)
            .is_some_and(|it| more.starts_with(it)),
    })
}

/// What is known of the program of this name as one that runs others; nothing where it is none.
pub(in crate::policy) fn runners(name: &str) -> impl Iterator<Item = &'static Runner> {
    let is_it = move |runner: &&Runner| runner.names.split(' ').any(|other| other == name);
    RUNNERS.iter().filter(is_it)
}
