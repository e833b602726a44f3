//! Names for how a command ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::super::model::End;

/// How the command ended, from what the kernel said.
pub(super) fn end(status: ExitStatus) -> End {
    if let Some(number) = status.signal() {
        return End::Signalled {
            signal: signal_name(number),
            core_dumped: status.core_dumped(),
        };
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    End::Exited {
        code: code.expect("without a signal there is an exit status of eight bits"),
    }
}

/// A signal's name, also of the two that few systems have; one that has none, such as a real-time signal, is called
/// `SIG` and its number.
pub(crate) fn signal_name(number: i32) -> String {
    match number {
        #[cfg(target_os = "linux")]
        libc::SIGPWR => "SIGPWR".to_owned(),
        #[cfg(all(
            target_os = "linux",
            not(any(target_arch = "mips", target_arch = "sparc64"))
        ))]
        libc::SIGSTKFLT => "SIGSTKFLT".to_owned(),
        _ => match signal_hook::low_level::signal_name(number) {
            Some(name) => name.to_owned(),
            None => format!("SIG{number}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_of_137_is_no_sigkill() {
        assert_eq!(
            end(ExitStatus::from_raw(137 << 8)),
            End::Exited { code: 137 }
        );
        let signal = "SIGKILL".to_owned();
        assert_eq!(
            end(ExitStatus::from_raw(9)),
            End::Signalled {
                signal,
                core_dumped: false
            }
        );
    }

    #[test]
    fn a_core_dump_is_told() {
        let signal = "SIGSEGV".to_owned();
        let dumped = End::Signalled {
            signal,
            core_dumped: true,
        };
        assert_eq!(end(ExitStatus::from_raw(11 | 0x80)), dumped);
    }

    #[test]
    fn a_signal_without_a_name_has_its_number() {
        assert_eq!(signal_name(34), "SIG34");
        assert_eq!(signal_name(15), "SIGTERM");
    }
}
