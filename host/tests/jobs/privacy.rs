//! What a job gets from its server and its machine, and what others get to see of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use backburner::jobs::{Jobs, Spec, StopReason};

use crate::lab::{Lab, fresh_id, program, shell};

#[test]
fn a_job_inherits_three_descriptors_and_no_more() {
    // The client leaks one that is open across an exec.
    let lab = Lab::with_prelude("exec 9</etc/passwd");
    let (id, _) = lab.run(&program(&["ls", "/proc/self/fd"]));
    // The fourth is the directory that is being listed.
    assert_eq!(lab.text(id), "0\n1\n2\n3\n");
}

#[test]
fn a_supervisor_keeps_nothing_of_its_server_open() {
    let lab = Lab::with_prelude("exec 9</etc/passwd");
    let id = lab.start(&shell("ls -l /proc/$PPID/fd; echo; sleep 60"));
    crate::lab::eventually("the list is complete", || {
        lab.text(id).contains("\n\n").then_some(())
    });
    assert!(!lab.text(id).contains("passwd"), "{}", lab.text(id));
}

#[test]
fn a_supervisor_uses_less_than_two_mebibytes_of_its_own() {
    let lab = Lab::new();
    let line =
        "yes | head -c 1000000; grep ^Private_Dirty /proc/$PPID/smaps_rollup; echo; sleep 60";
    let id = lab.start(&shell(line));
    crate::lab::eventually("it was measured", || {
        lab.text(id).ends_with("\n\n").then_some(())
    });
    let text = lab.text(id);
    let kilobytes = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("Private_Dirty:"));
    let kilobytes = kilobytes.and_then(|rest| rest.trim().strip_suffix(" kB"));
    let kilobytes: u64 = kilobytes
        .expect("the system tells")
        .parse()
        .expect("a number");
    assert!(kilobytes <= 2048, "{kilobytes} kB");
}

#[test]
fn a_job_has_no_terminal_and_a_session_of_its_own() {
    let lab = Lab::new();
    let line = "(: < /dev/tty) 2>/dev/null && echo terminal; cut -d ' ' -f 6 /proc/$$/stat";
    let (id, _) = lab.run(&shell(line));
    let stat = fs::read_to_string("/proc/self/stat").expect("it is there");
    let (_, after_name) = stat.rsplit_once(") ").expect("the name is in parentheses");
    // 0 where the leader of this session is outside of this container.
    let own = after_name.split(' ').nth(3).expect("the session is there");
    assert!(!lab.text(id).contains("terminal"));
    assert_ne!(lab.text(id).trim(), own);
}

#[test]
fn signals_have_their_default_effect_whatever_the_client_ignored() {
    let lab = Lab::with_prelude("trap '' HUP PIPE INT CHLD");
    let (id, outcome) = lab.run(&shell(
        "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status; exit 3",
    ));
    assert_eq!(outcome.end, backburner::jobs::End::Exited { code: 3 });
    for line in lab
        .text(id)
        .lines()
        .filter(|line| !line.starts_with("SigCgt"))
    {
        let mask = line.split_once('\t').expect("a name and a mask").1;
        let mask = u64::from_str_radix(mask, 16).expect("it is hexadecimal");
        assert_eq!(mask & !SIGNALS_OF_THE_C_LIBRARY, 0, "{line}");
    }
}

/// 32 and 33, which it keeps for its threads and lets nobody change.
const SIGNALS_OF_THE_C_LIBRARY: u64 = 0b11 << 31;

#[test]
fn the_environment_is_the_servers_with_the_jobs_own_on_top() {
    let lab = Lab::with_prelude("export FROM_SERVER=1 BOTH=server");
    let mut spec = shell("echo $FROM_SERVER $BOTH $TWICE $BACKBURNER_TASK_ID");
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    spec.environment = vec![
        variable("BOTH", "job"),
        variable("TWICE", "1"),
        variable("TWICE", "2"),
    ];
    let (id, _) = lab.run(&spec);
    assert_eq!(lab.text(id), format!("1 job 2 {id}\n"));
}

#[test]
fn a_job_knows_the_data_directory_unless_it_is_given_another() {
    let lab = Lab::new();
    let mut spec = shell("echo $BACKBURNER_DIR");
    let (id, _) = lab.run(&spec);
    assert_eq!(
        lab.text(id),
        format!("{}\n", lab.data_directory().display())
    );
    spec.environment = vec![("BACKBURNER_DIR".to_owned(), "/of/the/job".to_owned())];
    let (id, _) = lab.run(&spec);
    assert_eq!(lab.text(id), "/of/the/job\n");
}

#[test]
fn a_job_runs_in_its_directory() {
    let lab = Lab::new();
    let spec = Spec {
        directory: Some("/usr".into()),
        ..program(&["pwd"])
    };
    let (id, _) = lab.run(&spec);
    assert_eq!(lab.text(id), "/usr\n");
    let (id, _) = lab.run(&Spec {
        directory: None,
        ..program(&["pwd"])
    });
    let here = std::env::current_dir().expect("we are somewhere");
    assert_eq!(lab.text(id).trim(), here.to_string_lossy());
}

#[test]
fn no_secret_is_in_a_process_listing() {
    let lab = Lab::new();
    let mut spec = shell("tr '\\0' ' ' < /proc/$PPID/cmdline; echo; sleep 0");
    spec.environment = vec![("TOKEN".into(), "secret".into())];
    spec.stdin = "secret".into();
    let (id, _) = lab.run(&spec);
    let listed = lab.text(id);
    assert!(
        listed.contains("supervise") && !listed.contains("secret"),
        "{listed}"
    );
}

#[test]
fn files_are_private_whatever_the_umask() {
    let lab = Lab::with_prelude("umask 000");
    // The engine's own umask is that of the whole test program, so only what is asked for protects.
    let (_, _) = lab.run(&shell("echo out; sleep 60 & exit 0"));
    let stopped = fresh_id();
    lab.jobs
        .stop(stopped, StopReason::Cancelled)
        .expect("it can be stopped");
    check_private(&lab.data_directory().join("jobs"));
}

fn check_private(directory: &Path) {
    let mode = |path: &Path| {
        fs::symlink_metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
    };
    assert_eq!(mode(directory) & 0o777, 0o700, "{}", directory.display());
    for entry in fs::read_dir(directory).expect("it is there") {
        let entry = entry.expect("it is readable");
        let kind = entry.file_type().expect("it has one");
        if kind.is_dir() {
            check_private(&entry.path());
        } else if !kind.is_symlink() {
            assert_eq!(
                mode(&entry.path()) & 0o777,
                0o600,
                "{}",
                entry.path().display()
            );
        }
    }
}
