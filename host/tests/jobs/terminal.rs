//! Jobs with a terminal: what they find, what they write, and what becomes of them.

use backburner::jobs::{End, Spec, StopCause, Stream};
use uuid::Uuid;

#[cfg(target_os = "linux")]
use crate::lab::eventually;
use crate::lab::{Lab, processes_of, shell};

pub(crate) fn interactive(line: &str) -> Spec {
    Spec {
        interactive: true,
        ..shell(line)
    }
}

pub(crate) fn start(lab: &Lab, line: &str) -> Uuid {
    lab.start(&interactive(line))
}

#[test]
fn the_command_has_a_terminal_of_its_own() {
    let lab = Lab::new();
    let (id, outcome) = lab.run(&interactive(
        "test -t 0 && test -t 1 && test -t 2 && echo out >&2; stty size; : > /dev/tty && echo own",
    ));
    assert_eq!(lab.text(id), "out\r\n40 120\r\nown\r\n");
    assert_eq!(outcome.end, End::Exited { code: 0 });
    // All of it is one stream.
    let fragments = lab.fragments(id);
    assert!(fragments.iter().all(|it| it.stream == Stream::Stdout));
    // And without it there is none.
    let (id, _) = lab.run(&shell(
        "test -t 0 || echo none; read -r x < /dev/tty || echo neither; read -r x || echo end",
    ));
    assert!(lab.text(id).starts_with("none\n"), "{}", lab.text(id));
    assert!(lab.text(id).ends_with("neither\nend\n"), "{}", lab.text(id));
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_leads_its_session_and_the_foreground() {
    let lab = Lab::new();
    let line = "read -r pid name state parent group session tty front rest < /proc/$$/stat; \
                test $session = $$ && test $group = $$ && test $front = $$ && echo leads";
    let (id, _) = lab.run(&interactive(line));
    assert_eq!(lab.text(id), "leads\r\n");
}

#[test]
fn programs_are_told_of_a_plain_terminal_unless_the_job_names_one() {
    let lab = Lab::new();
    let line = "echo \"$TERM ${GPG_TTY-none}\"";
    let (id, _) = lab.run(&interactive(line));
    assert_eq!(lab.text(id), "dumb none\r\n");
    let own = ["TERM", "GPG_TTY"].map(|name| (name.to_owned(), "own".to_owned()));
    let (id, _) = lab.run(&Spec {
        environment: own.into(),
        ..interactive(line)
    });
    assert_eq!(lab.text(id), "own own\r\n");
}

#[test]
fn what_is_given_to_read_is_typed_and_does_not_end() {
    let lab = Lab::new();
    let (id, _) = lab.run(&Spec {
        stdin: "one\ntwo\n".to_owned(),
        ..interactive("stty -echo; read -r a; read -r b; read -t 1 -r c; echo \"<$a $b> $?\"")
    });
    let text = lab.text(id);
    // Of a read whose time is over, and not of one that is at the end.
    assert!(text.ends_with("<one two> 142\r\n"), "{text:?}");
}

#[test]
fn a_long_text_is_typed_as_fast_as_it_is_read() {
    let lab = Lab::new();
    let stdin: String = (0..20_000).map(|number| format!("{number}\n")).collect();
    let (id, _) = lab.run(&Spec {
        stdin: format!("{stdin}end\n"),
        ..interactive(
            "stty -echo; n=0; while read -r x && [ \"$x\" != end ]; do n=$((n + 1)); done; echo \"<$n $x>\"",
        )
    });
    let text = lab.text(id);
    assert!(text.ends_with("<20000 end>\r\n"), "{}", text.len());
}

#[test]
fn all_of_a_great_output_comes_through_a_terminal() {
    let lab = Lab::new();
    let bytes = 5_000_000;
    let (id, outcome) = lab.run(&Spec {
        output_limit_bytes: 64 << 20,
        ..interactive(&format!("head -c {bytes} /dev/zero | tr '\\0' x; echo end"))
    });
    assert_eq!(outcome.output_bytes, bytes + 5);
    assert!(lab.text(id).ends_with("xend\r\n"));
}

/// How long a process has computed, in hundredths of a second.
#[cfg(target_os = "linux")]
fn computed(pid: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let fields = fields.split_whitespace().skip(11).take(2);
    fields.flat_map(str::parse::<u64>).sum()
}

#[cfg(target_os = "linux")]
#[test]
fn a_supervisor_sleeps_while_nobody_reads_the_input() {
    let lab = Lab::new();
    let id = lab.start(&Spec {
        stdin: "line\n".repeat(50_000),
        ..interactive("stty -echo; echo \"<$PPID>\"; exec sleep 1000")
    });
    let supervisor = eventually("it says who", || {
        let text = lab.text(id);
        let (_, behind) = text.split_once('<')?;
        behind.split_once('>').map(|(pid, _)| pid.to_owned())
    });
    let begun = std::time::Instant::now();
    let (mut since, mut computed_before) = (None, 0);
    eventually("time passes", || {
        // When it would first be looked at.
        let ms = begun.elapsed().as_millis();
        if since.is_none() && ms > 1_500 {
            (since, computed_before) = (Some(ms), computed(&supervisor));
        }
        since.is_some_and(|since| ms > since + 2_000).then_some(())
    });
    let hundredths = computed(&supervisor) - computed_before;
    lab.cancel(id);
    assert!(hundredths < 20, "{hundredths}");
}

#[test]
fn what_holds_the_terminal_after_the_command_is_stopped_and_named() {
    let lab = Lab::new();
    let (id, outcome) = lab.run(&interactive("trap '' HUP; sleep 1000 & echo end"));
    assert_eq!(lab.text(id), "end\r\n");
    assert_eq!(outcome.leftovers.len(), 1, "{outcome:?}");
    assert_eq!(outcome.end, End::Exited { code: 0 });
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn what_is_not_protected_ends_with_the_terminal() {
    let lab = Lab::new();
    // In the foreground, as a shell that controls no jobs leaves it.
    let (id, outcome) = lab.run(&interactive("sleep 1000 & echo end"));
    assert_eq!(lab.text(id), "end\r\n");
    assert_eq!(outcome.leftovers, []);
    assert_eq!(outcome.end, End::Exited { code: 0 });
    assert_eq!(processes_of(id), [""; 0]);
}

#[test]
fn a_program_that_closes_its_terminal_and_opens_it_again_is_still_heard() {
    let lab = Lab::new();
    let (id, outcome) = lab.run(&interactive(
        "exec 3>/dev/null 0</dev/null 1>/dev/null 2>&1; exec 1>/dev/tty; echo again",
    ));
    assert_eq!(lab.text(id), "again\r\n");
    assert_eq!(outcome.end, End::Exited { code: 0 });
}

#[test]
fn a_job_at_its_terminal_is_cancelled_as_any_other() {
    let lab = Lab::new();
    let id = start(&lab, "echo up; read -r x");
    assert_eq!(lab.first_line(id).trim(), "up");
    lab.cancel(id);
    assert_eq!(lab.outcome(id).stopped, Some(StopCause::Cancelled));
    assert_eq!(processes_of(id), [""; 0]);
}
