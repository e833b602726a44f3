//! The few system calls that have no safe form, each with the proof that it is used safely. Nothing else of the host
//! has unsafe code but `engine/code.rs`, which takes the compiled component as it is.
#![expect(
    unsafe_code,
    reason = "fork, signal dispositions and what happens between fork and exec have no safe interface"
)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Pid;

/// Which of the two processes returned from a [`fork`].
pub(crate) enum Side {
    /// The one that called.
    Parent,
    /// The new one.
    Child,
}

/// Duplicates a process that has one thread.
///
/// # Errors
/// As `fork(2)`: no memory, or too many processes. Also where there are several threads and the system says so.
pub(crate) fn fork() -> io::Result<Side> {
    if has_other_threads() {
        return Err(io::Error::other("this process has several threads"));
    }
    // SAFETY: the process has one thread: on Linux that has just been seen, and nobody is left who could start another
    // one; elsewhere only a supervisor calls this, as the first thing that its process does. No other thread can hold
    // a lock whose copy would stay locked in the child, and the child may do whatever the parent might have done.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Side::Child),
        _ => Ok(Side::Parent),
    }
}

/// Whether this process has more than one thread, as far as the system says.
fn has_other_threads() -> bool {
    let threads = std::fs::read_dir("/proc/self/task");
    threads.is_ok_and(|threads| threads.count() > 1)
}

/// Closes every descriptor but the standard three.
///
/// A client may leak descriptors into its server, and a server's descriptor that is not marked for closing
/// would keep a socket or a lock open for as long as the job runs.
pub(crate) fn close_inherited() {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: called before this process opened anything, so no owner of a descriptor from 3 on
        // exists, and the raw call has no other effect.
        let closed = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
        if closed == 0 {
            return;
        }
    }
    let open = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let end = i32::try_from(open.unwrap_or(4096).min(65_536)).unwrap_or(4096);
    for descriptor in 3..end {
        // SAFETY: as above: nobody in this process owns it. A failure means that it was not open.
        unsafe { libc::close(descriptor) };
    }
}

/// Gives every signal its default effect and lets all of them in, whatever a client set up: an inherited
/// `SIG_IGN` for SIGCHLD would lose exit codes, and one for SIGPIPE changes what the job's programs do.
pub(crate) fn reset_signals() {
    for number in 1..=64 {
        // SAFETY: `SIG_DFL` runs no code of ours. Numbers that the system keeps for itself or does not
        // have are refused without an effect.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
    // SAFETY: an all-zero `sigset_t` is a valid value to be overwritten by `sigemptyset`, both pointers
    // are to it, and the old mask is not asked for.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// What a command leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// A process group of its own in the supervisor's session, which has no terminal.
    Group,
    /// A session of its own, whose terminal is what it has as its standard input.
    Session,
}

/// Has the command start with default signals, lead what it is to lead, and die with the supervisor where the system
/// can do that.
pub(crate) fn prepare_child(command: &mut Command, supervisor: Pid, leads: Leads) {
    if leads == Leads::Group {
        command.process_group(0);
    }
    // SAFETY: the closure runs in the child between fork and exec and calls only `signal`, `sigprocmask`, `setsid`,
    // `ioctl`, `prctl` and `getppid`, which are async-signal-safe; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || between_fork_and_exec(supervisor, leads)) };
}

fn between_fork_and_exec(supervisor: Pid, leads: Leads) -> io::Result<()> {
    reset_signals();
    if leads == Leads::Session {
        // The leader of a session leads its group, too.
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    }
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The supervisor may have died before the line above, and then no signal would ever come.
    if rustix::process::getppid() == Some(supervisor) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    }
}

/// The `fcntl` command that chooses which signal announces I/O, which the crate `libc` does not have.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// A signal that nobody else uses, of the kind that the kernel queues instead of merging.
#[cfg(target_os = "linux")]
pub(crate) fn write_signal() -> i32 {
    libc::SIGRTMIN() + 1
}

/// Has the kernel queue `signal` for this process at each write into a pipe whose reading end `pipe` is, with
/// the number of that descriptor. Reading from it does not block any more.
///
/// # Errors
/// As `fcntl(2)`.
#[cfg(target_os = "linux")]
pub(crate) fn announce_writes(pipe: std::os::fd::BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let settings = [
        (F_SETSIG, signal),
        (libc::F_SETOWN, own),
        (libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK),
    ];
    for (command, value) in settings {
        // SAFETY: the descriptor is open for the length of the borrow, and each of these commands takes
        // a number and no pointer.
        if unsafe { libc::fcntl(pipe.as_raw_fd(), command, value) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Keeps these signals from being delivered, and gives a descriptor from which they are read instead, in the
/// form of `signalfd(2)` and without blocking.
///
/// # Errors
/// As `signalfd(2)`.
#[cfg(target_os = "linux")]
pub(crate) fn queue_signals(signals: &[i32]) -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;
    // SAFETY: an all-zero `sigset_t` is a valid value to be overwritten by `sigemptyset`; all pointers are
    // to it, and the old mask is not asked for. This process has one thread, so its mask is everybody's.
    let queue = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if queue == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor has just been opened and is nobody else's.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(queue) })
}

/// Makes a FIFO that only its owner may use.
///
/// # Errors
/// As `mkfifo(2)`.
pub(crate) fn make_fifo(
    directory: std::os::fd::BorrowedFd<'_>,
    name: &std::ffi::CStr,
) -> io::Result<()> {
    #[cfg(not(target_vendor = "apple"))]
    {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        Ok(rustix::fs::mkfifoat(directory, name, mode)?)
    }
    #[cfg(target_vendor = "apple")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open for the length of the borrow, and the name ends with a NUL.
        let made = unsafe { libc::mkfifoat(directory.as_raw_fd(), name.as_ptr(), 0o600) };
        if made == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_several_threads_is_not_duplicated() {
        // The harness has one thread, and each test another one.
        let refused = fork().err().expect("there are two at least");
        assert!(refused.to_string().contains("several threads"), "{refused}");
    }
}
