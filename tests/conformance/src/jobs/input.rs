//! What a job is given: its command, its directory, its environment, its standard input.

use super::{
    Spec, StartErrorKind, State, ended_by_itself, inspect, not_startable, outcome, output, program,
    shell, start, wit,
};
use crate::check::{Check, Need, Step};
use crate::expect::{Halt, same};
use crate::limits::SPEC_BYTES;
use crate::run::Run;

/// A job, and what it writes before it exits with status 0.
type Case = (Spec, String);

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "jobs/command",
        promise: "A shell line is run by a shell, whatever it begins with, and a program gets its arguments unchanged.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, commands())),
            Step::Do(|run| judge(run, commands())),
        ],
    },
    Check {
        name: "jobs/stdin",
        promise: "A job reads what it was given and then end of file, however much that is.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, inputs())),
            Step::Do(|run| judge(run, inputs())),
        ],
    },
    Check {
        name: "jobs/spec-size",
        promise: "A spec with 2 MiB of text in all is carried out.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, largest())),
            Step::Do(|run| judge(run, largest())),
        ],
    },
    Check {
        name: "jobs/environment",
        promise: "A job has the variables of the host process and those of its spec, of which a later one wins.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, variables())),
            Step::Do(|run| judge(run, variables())),
        ],
    },
    Check {
        name: "jobs/directory",
        promise: "A job runs in the directory of its spec, and in the host's own where there is none.",
        needs: &[Need::Processes],
        steps: &[
            Step::Do(|run| begin(run, directories())),
            Step::Do(|run| judge(run, directories())),
        ],
    },
    Check {
        name: "jobs/bad-directory",
        promise: "A directory that cannot be entered is `bad-directory`, and the id is still unknown.",
        needs: &[Need::Processes],
        steps: &[Step::Do(bad_directory), Step::Do(free_id)],
    },
    Check {
        name: "jobs/bad-spec",
        promise: "A spec that cannot be carried out is `bad-spec`, and the id is still unknown.",
        needs: &[Need::Processes],
        steps: &[Step::Do(bad_spec), Step::Do(free_id)],
    },
    Check {
        name: "jobs/interactive",
        promise: "A spec that is interactive is carried out in a terminal, or it is `bad-spec` and the id is still unknown.",
        needs: &[],
        steps: &[Step::Do(interactive), Step::Do(judge_interactive)],
    },
];

fn begin(run: &mut Run, cases: Vec<Case>) -> Result<(), Halt> {
    for ((spec, _), number) in cases.into_iter().zip(0..) {
        start(&run.job(number), &spec)?;
    }
    Ok(())
}

fn judge(run: &mut Run, cases: Vec<Case>) -> Result<(), Halt> {
    for ((spec, wanted), number) in cases.into_iter().zip(0..) {
        let id = run.job(number);
        ended_by_itself(&id, 0)?;
        let what = format!("the output of {:?}", spec.command);
        same(&what, output(&id)?.text().as_str(), wanted.as_str())?;
    }
    Ok(())
}

fn commands() -> Vec<Case> {
    let words = [
        "printf",
        "<%s>",
        "a b",
        "$HOME",
        "",
        "*",
        "'\"\\",
        "ä😀",
        "-n",
        "line\nline",
    ];
    let arguments = words[2..].iter().map(|word| format!("<{word}>")).collect();
    vec![
        (program(&words), arguments),
        (
            shell("echo $((1 + 2)) | cat; printf '%s' \"ä😀\" # end"),
            "3\nä😀".to_owned(),
        ),
        (
            shell("if true; then\n  echo lines\nfi"),
            "lines\n".to_owned(),
        ),
        (
            shell("-no-such-command 2>/dev/null; echo dash"),
            "dash\n".to_owned(),
        ),
        (shell(""), String::new()),
    ]
}

fn inputs() -> Vec<Case> {
    let with = |stdin: &str, spec: Spec| Spec {
        stdin: stdin.to_owned(),
        ..spec
    };
    let large = "0123456789".repeat(100_000);
    vec![
        (
            with("one\ntwo ä😀\0", program(&["cat"])),
            "one\ntwo ä😀\0".to_owned(),
        ),
        (program(&["cat"]), String::new()),
        (with(&large, shell("echo $(wc -c)")), "1000000\n".to_owned()),
        // What nobody reads does no harm.
        (
            with(&large, shell("exec <&-; echo unread")),
            "unread\n".to_owned(),
        ),
        (
            with(&large, shell("head -c 3; sleep 0.1")),
            "012".to_owned(),
        ),
    ]
}

/// As long as a spec may be at any host.
fn largest() -> Vec<Case> {
    let (line, directory) = ("echo $(wc -c)", "/");
    let size = SPEC_BYTES - line.len() - directory.len();
    let spec = Spec {
        directory: Some(directory.to_owned()),
        stdin: "a".repeat(size),
        ..shell(line)
    };
    vec![(spec, format!("{size}\n"))]
}

fn variables() -> Vec<Case> {
    let line =
        "printf '<%s>' \"$KIT_A\" \"$KIT_B\" \"${KIT_C-none}\"; test -n \"$PATH\" && echo path";
    let variables = [
        ("KIT_A", "1"),
        ("KIT_B", "a b\n'\"$HOME ä=😀"),
        ("KIT_A", "2"),
    ];
    let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let spec = Spec {
        environment: environment.to_vec(),
        ..shell(line)
    };
    vec![
        (spec, "<2><a b\n'\"$HOME ä=😀><none>path\n".to_owned()),
        (shell(line), "<><><none>path\n".to_owned()),
    ]
}

fn directories() -> Vec<Case> {
    let in_directory = |directory: Option<&str>, line: &str| Spec {
        directory: directory.map(str::to_owned),
        ..shell(line)
    };
    vec![
        (in_directory(Some("/"), "pwd"), "/\n".to_owned()),
        (
            in_directory(Some("/dev"), "pwd; test -e null && echo there"),
            "/dev\nthere\n".to_owned(),
        ),
        (
            in_directory(None, "test -d . && echo somewhere"),
            "somewhere\n".to_owned(),
        ),
    ]
}

fn bad_directory(run: &mut Run) -> Result<(), Halt> {
    for directory in ["/no/such/directory", "/dev/null", "/dev/null/below"] {
        let spec = Spec {
            directory: Some(directory.to_owned()),
            ..shell("true")
        };
        let wanted = StartErrorKind::BadDirectory;
        not_startable(&format!("a job in {directory}"), &run.job(0), &spec, wanted)?;
        same(
            "a job that was not started",
            &inspect(&run.job(0))?,
            &State::Unknown,
        )?;
    }
    start(&run.job(0), &shell("true"))
}

fn interactive(run: &mut Run) -> Result<(), Halt> {
    let id = run.job(0);
    let spec = Spec {
        interactive: true,
        ..shell("test -t 0 && test -t 1")
    };
    let Err(error) = wit::start(&id, &spec) else {
        run.remember("it was started".to_owned());
        return Ok(());
    };
    same(
        "the error of an interactive job",
        &error.kind,
        &StartErrorKind::BadSpec,
    )?;
    same(
        "a job that was not started",
        &inspect(&id)?,
        &State::Unknown,
    )
}

fn judge_interactive(run: &mut Run) -> Result<(), Halt> {
    if run.remembered().is_empty() {
        return Ok(());
    }
    ended_by_itself(&run.job(0), 0).map(drop)
}

fn bad_spec(run: &mut Run) -> Result<(), Halt> {
    let variable = |name: &str, value: &str| Spec {
        environment: vec![(name.to_owned(), value.to_owned())],
        ..shell("true")
    };
    for (what, spec) in [
        ("a program without a name", program(&[])),
        ("an argument with NUL", program(&["echo", "a\0b"])),
        ("a shell line with NUL", shell("echo a\0b")),
        ("a variable's name with NUL", variable("A\0", "")),
        ("a variable's name with `=`", variable("A=B", "")),
        ("a variable without a name", variable("", "1")),
        ("a variable's value with NUL", variable("A", "\0")),
    ] {
        not_startable(what, &run.job(0), &spec, StartErrorKind::BadSpec)?;
        same(
            "a job that was not started",
            &inspect(&run.job(0))?,
            &State::Unknown,
        )?;
    }
    start(&run.job(0), &shell("true"))
}

/// The job that was refused at first has been started since.
fn free_id(run: &mut Run) -> Result<(), Halt> {
    same(
        "how it ended",
        &outcome(&run.job(0))?.end,
        &super::exited(0),
    )
}
