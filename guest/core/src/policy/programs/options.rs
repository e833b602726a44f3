//! Which options of programs matter to what these run.

/// Some options of a program.
struct Options {
    program: &'static str,
    /// Those of one letter.
    letters: &'static str,
    /// Those of the letters whose value is the rest of their word, and never the next one.
    attached: &'static str,
    /// The long ones, without their dashes. Who types them may shorten them.
    names: &'static [&'static str],
}

/// The options that hold a shell line which may be a part of the same word.
const LINE_OPTIONS: [Options; 7] = [
    options("env", "S", &["split-string"]),
    options("flock", "c", &["command"]),
    options("runuser", "c", &["command", "session-command"]),
    options("script", "c", &["command"]),
    options("sg", "c", &[]),
    options("start-stop-daemon", "ax", &["exec", "startas"]),
    options("su", "c", &["command", "session-command"]),
];

/// The options of runners that have a value of their own, as far as it matters which words are a command. It is the next
/// word where it is not in the same one.
const VALUE_OPTIONS: [Options; 15] = [
    options("arch-chroot", "u", &[]),
    options("chroot", "", &["groups", "userspec"]),
    options("doas", "aCu", &[]),
    options("fakeroot", "bfils", &["faked", "fd-base", "lib"]),
    options("nsenter", "GNSt", NSENTER_VALUES).or_attached("CTUWimnpruw"),
    options("pkexec", "", &["user"]),
    options("run0", "Dgu", SYSTEMD_VALUES),
    options("runuser", "Ggsw", SU_VALUES),
    options("script", "BEIOTmo", SCRIPT_VALUES).or_attached("t"),
    options("ssh", "BDEFIJLOPQRSWbceilmopw", &[]),
    options("su", "Ggsw", SU_VALUES),
    options("sudo", "CDRTUacghprtu", SUDO_VALUES),
    options("systemd-run", "CEHMpu", SYSTEMD_VALUES),
    options("unshare", "GRSlw", UNSHARE_VALUES),
    // Also those of the BSDs.
    options("xargs", "EIJLPRSadns", XARGS_VALUES).or_attached("eil"),
];

const NSENTER_VALUES: &[&str] = &["net-socket", "setgid", "setuid", "target"];

const SCRIPT_VALUES: &[&str] = &[
    "echo",
    "log-in",
    "log-io",
    "log-out",
    "log-timing",
    "logging-format",
    "output-limit",
];

const SU_VALUES: &[&str] = &["group", "shell", "supp-group", "whitelist-environment"];

const SUDO_VALUES: &[&str] = &[
    "auth-type",
    "chdir",
    "chroot",
    "close-from",
    "command-timeout",
    "group",
    "host",
    "login-class",
    "other-user",
    "prompt",
    "role",
    "type",
    "user",
];

const SYSTEMD_VALUES: &[&str] = &[
    "background",
    "capsule",
    "chdir",
    "description",
    "gid",
    "group",
    "host",
    "machine",
    "nice",
    "property",
    "service-type",
    "setenv",
    "slice",
    "uid",
    "unit",
    "user",
    "working-directory",
];

const UNSHARE_VALUES: &[&str] = &[
    "boottime",
    "load-interp",
    "map-group",
    "map-groups",
    "map-user",
    "map-users",
    "monotonic",
    "owner",
    "propagation",
    "root",
    "setgid",
    "setgroups",
    "setuid",
    "wd",
];

const XARGS_VALUES: &[&str] = &[
    "arg-file",
    "delimiter",
    "max-args",
    "max-chars",
    "max-procs",
    "process-slot-var",
];

/// The options with which a runner runs a shell where it is given no command.
const SHELL_OPTIONS: [Options; 4] = [
    options("doas", "s", &[]),
    options("sudo", "is", &["login", "shell"]),
    options("systemd-run", "S", &["shell"]),
    options("torsocks", "", &["shell"]),
];

/// What makes something run later, or makes words stand for others, in a way that is not followed: with one of these
/// options, or always where there are none.
const HIDING: [Options; 10] = [
    options("alias", "", &[]),
    options("at", "", &[]),
    options("batch", "", &[]),
    options("bind", "x", &[]),
    options("compgen", "CF", &[]),
    options("complete", "CF", &[]),
    options("enable", "f", &[]),
    options("hash", "p", &[]),
    options("mapfile", "C", &[]),
    options("readarray", "C", &[]),
];

const fn options(
    program: &'static str,
    letters: &'static str,
    names: &'static [&'static str],
) -> Options {
    Options {
        program,
        letters,
        attached: "",
        names,
    }
}

impl Options {
    const fn or_attached(self, attached: &'static str) -> Self {
        Self { attached, ..self }
    }

    /// Whether an argument is or has one of them.
    fn are_in(&self, argument: &str) -> bool {
        match argument.strip_prefix("--") {
            Some(long) => self.have(long.split('=').next().unwrap_or_default()),
            None => option_letters(argument).contains(is_one_of(self.letters)),
        }
    }

    /// Whether this is the name of one of them, or a short form of it.
    fn have(&self, name: &str) -> bool {
        !name.is_empty() && self.names.iter().any(|whole| whole.starts_with(name))
    }

    /// The first one of a letter in this argument, and what stands behind it in the same word.
    fn first<'a>(&self, argument: &'a str) -> Option<(char, &'a str)> {
        let is_it = |letter: char| self.letters.contains(letter) || self.attached.contains(letter);
        let letters = option_letters(argument);
        let place = letters.find(is_it)?;
        let letter = letters[place..].chars().next()?;
        Some((letter, &letters[place + letter.len_utf8()..]))
    }
}

/// The options of a table that this program has; `None` where it has none of them.
fn row<'a>(table: &'a [Options], program: &str) -> Option<&'a Options> {
    table.iter().find(|options| options.program == program)
}

/// Whether the program of this name has an option that holds a shell line.
pub(in crate::policy) fn may_have_line(name: &str) -> bool {
    row(&LINE_OPTIONS, name).is_some()
}

/// Whether these arguments of it hide what is run.
pub(in crate::policy) fn hides<'a>(
    name: &str,
    mut arguments: impl Iterator<Item = &'a str>,
) -> bool {
    row(&HIDING, name).is_some_and(|options| {
        options.letters.is_empty() || arguments.any(|argument| options.are_in(argument))
    })
}

/// The shell line that is a part of this argument, together with its option; `None` where there is none.
pub(in crate::policy) fn attached_line<'a>(name: &str, argument: &'a str) -> Option<&'a str> {
    let options = row(&LINE_OPTIONS, name)?;
    match argument.strip_prefix("--") {
        Some(long) => {
            let (name, line) = long.split_once('=')?;
            options.have(name).then_some(line)
        }
        None => options
            .first(argument)
            .map(|(_, line)| line)
            .filter(|line| !line.is_empty()),
    }
}

/// Whether an argument is, or ends with, an option that is followed by a shell line.
pub(in crate::policy) fn announces_line(name: &str, argument: &str) -> bool {
    row(&LINE_OPTIONS, name).is_some_and(|options| options.are_in(argument))
}

/// The first option in this argument that has a value, and what of that stands in the same word.
pub(in crate::policy) fn option_with_value<'a>(
    name: &str,
    argument: &'a str,
) -> Option<(char, &'a str)> {
    row(&VALUE_OPTIONS, name)?.first(argument)
}

/// Whether an argument is, or ends with, an option whose value is the next word.
pub(in crate::policy) fn takes_next(name: &str, argument: &str) -> bool {
    row(&VALUE_OPTIONS, name).is_some_and(|options| match argument.strip_prefix("--") {
        Some(long) => options.have(long),
        None => options
            .first(argument)
            .is_some_and(|(letter, rest)| rest.is_empty() && options.letters.contains(letter)),
    })
}

/// Whether the program of this name has an option with which it runs a shell.
pub(in crate::policy) fn may_ask_for_shell(name: &str) -> bool {
    row(&SHELL_OPTIONS, name).is_some()
}

/// Whether with this argument it runs a shell where it is given no command.
pub(in crate::policy) fn asks_for_shell(name: &str, argument: &str) -> bool {
    row(&SHELL_OPTIONS, name).is_some_and(|options| options.are_in(argument))
}

/// The letters of a word that is a cluster of options; none where it is no such.
fn option_letters(word: &str) -> &str {
    let letters = word.strip_prefix('-').unwrap_or_default();
    if letters.starts_with('-') {
        ""
    } else {
        letters
    }
}

fn is_one_of(letters: &str) -> impl Fn(char) -> bool {
    move |letter| letters.contains(letter)
}
