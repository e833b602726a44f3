//! A terminal for the command: a pair of descriptors, of which the command has one and the supervisor the other.
//!
//! The supervisor keeps the command's end open too. So its own end does not hang up while the command lives, whatever
//! that closes and opens again, and what the job has set can be looked at on every system. When the command ends, which
//! leads the terminal's session, the system hangs it up for what the command left.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

use super::super::limits::{TAKEN_LOOKS, TAKEN_PAUSE, UNREAD_BYTES};
use super::super::processes::Device;

/// The size that programs are told: wide enough that a prompt is in one line.
const SIZE: Winsize = Winsize {
    ws_row: 40,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// How a terminal treats what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Whole lines, which are shown.
    Lines,
    /// Whole lines, which are not shown: what is typed is secret.
    HiddenLines,
    /// Each key by itself: the program shows what is typed, or does not.
    Keys,
}

/// How much of something was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// All of it, which answers what the job waits for.
    All,
    /// Nothing, or a part.
    NotAll,
}

/// A terminal.
pub(super) struct Terminal {
    ours: OwnedFd,
    theirs: OwnedFd,
}

impl Terminal {
    /// Makes a terminal that is nobody's yet.
    ///
    /// # Errors
    /// Where the system has none to give.
    pub(super) fn open() -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let theirs = other_end(&ours)?;
        tcsetwinsize(&theirs, SIZE)?;
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        erase_whole_characters(&theirs)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        Ok(Self { ours, theirs })
    }

    /// Another descriptor of the supervisor's end, which does not block.
    ///
    /// # Errors
    /// Where there is none to give.
    pub(super) fn own_end(&self) -> io::Result<OwnedFd> {
        self.ours.try_clone()
    }

    /// Another descriptor of the command's end.
    ///
    /// # Errors
    /// Where there is none to give.
    pub(super) fn command_end(&self) -> io::Result<OwnedFd> {
        self.theirs.try_clone()
    }
}

impl Terminal {
    /// What the system knows it as; `None` where it does not say.
    pub(super) fn device(&self) -> Option<Device> {
        let found = rustix::fs::fstat(&self.theirs).ok()?;
        Some(Device {
            number: found.st_rdev,
            of: found.st_dev,
        })
    }

    /// How it treats what is typed now; as lines where it does not say.
    pub(super) fn manner(&self) -> Manner {
        let Ok(settings) = tcgetattr(&self.theirs) else {
            return Manner::Lines;
        };
        let modes = settings.local_modes;
        if !modes.contains(LocalModes::ICANON) {
            Manner::Keys
        } else if modes.contains(LocalModes::ECHO) {
            Manner::Lines
        } else {
            Manner::HiddenLines
        }
    }

    /// Types a line, with Enter behind it. A control character in it is typed as a blank: it is nothing that a person is
    /// asked for, and the terminal would act on it.
    pub(super) fn type_line(&self, line: &str) -> Typed {
        let blank = |it: char| if it.is_control() { ' ' } else { it };
        let mut text: String = line.chars().map(blank).collect();
        text.push(match self.manner() {
            Manner::Keys => '\r',
            Manner::Lines | Manner::HiddenLines => '\n',
        });
        self.write(text.as_bytes())
    }

    /// Types a line of which no terminal shows more than its end, in whatever manner: its echo would be in the job's output.
    /// Where that cannot be had, it is not typed. A program that takes keys may still show them by itself.
    pub(super) fn type_secret(&self, line: &str) -> Typed {
        let (Ok(before), Ok(unread)) = (tcgetattr(&self.theirs), ioctl_fionread(&self.theirs))
        else {
            return Typed::NotAll;
        };
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO;
        hidden.local_modes |= LocalModes::ECHONL;
        let is_shown = before.local_modes.contains(LocalModes::ECHO);
        if is_shown && tcsetattr(&self.theirs, OptionalActions::Now, &hidden).is_err() {
            return Typed::NotAll;
        }
        let typed = self.type_line(line);
        // Enter is one byte more.
        let added = line.len() as u64 + 1;
        // Where that is not seen, nothing is shown from now on. What the program has set meanwhile stays.
        if is_shown
            && typed == Typed::All
            && self.takes(unread, added)
            && let Ok(now) = tcgetattr(&self.theirs)
            && now.local_modes == hidden.local_modes
        {
            let _stays = tcsetattr(&self.theirs, OptionalActions::Now, &before);
        }
        typed
    }

    /// Whether the system has taken what was typed: it does so later, and shows it by what is set then. That adds so much to
    /// what was still to be read.
    fn takes(&self, mut unread: u64, added: u64) -> bool {
        for _ in 0..TAKEN_LOOKS {
            // Who asks for what can be read, and finds nothing, has made the system take everything.
            let mut end = [PollFd::new(&self.theirs, PollFlags::IN)];
            if poll(&mut end, Some(&Timespec::default())) == Ok(0) {
                return true;
            }
            match ioctl_fionread(&self.theirs) {
                Ok(now) if now > UNREAD_BYTES => return false,
                Ok(now) if now >= unread + added => return true,
                // The program reads.
                Ok(now) => unread = unread.min(now),
                Err(_) => return false,
            }
            std::thread::sleep(TAKEN_PAUSE);
        }
        false
    }

    /// Types what stands for the end of the file.
    pub(super) fn type_end(&self) -> Typed {
        const CTRL_D: u8 = 4;
        let settings = tcgetattr(&self.theirs);
        let code = match settings.map(|settings| settings.special_codes[SpecialCodeIndex::VEOF]) {
            // For keys this code has another meaning, and there 0 is none.
            Ok(code) if code != 0 && self.manner() != Manner::Keys => code,
            _ => CTRL_D,
        };
        self.write(&[code])
    }

    /// Writes all of it now: what the terminal does not take at once is not typed later, when the job may wait for something
    /// else. It takes far more than a line where somebody waits for one.
    fn write(&self, mut text: &[u8]) -> Typed {
        while !text.is_empty() {
            match rustix::io::write(&self.ours, text) {
                Ok(taken) => text = &text[taken..],
                Err(Errno::INTR) => {}
                Err(_) => return Typed::NotAll,
            }
        }
        Typed::All
    }
}

/// Opens the end for the command. Without becoming the supervisor's own: then it could be nobody else's.
fn other_end(ours: &OwnedFd) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    // Not by its name, which may be another one's where `/dev/pts` is that of another container.
    #[cfg(target_os = "linux")]
    if let Ok(theirs) = rustix::pty::ioctl_tiocgptpeer(
        ours,
        OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC,
    ) {
        return Ok(theirs);
    }
    let name = rustix::pty::ptsname(ours, Vec::new())?;
    let how = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(name, how, Mode::empty())?)
}

/// Has a character that is taken back be a character, also where it is several bytes.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn erase_whole_characters(end: &OwnedFd) -> io::Result<()> {
    use rustix::termios::InputModes;
    let mut settings = tcgetattr(end)?;
    settings.input_modes |= InputModes::IUTF8;
    Ok(tcsetattr(end, OptionalActions::Now, &settings)?)
}

/// Types until the terminal takes nothing more, since nobody reads.
#[cfg(test)]
pub(super) fn fill(terminal: &Terminal) {
    let mut refusals = 0;
    // The system makes room by itself for a while.
    while refusals < 50 {
        match terminal.write(&[b'x', b'\n'].repeat(1 << 12)) {
            Typed::All => refusals = 0,
            Typed::NotAll => refusals += 1,
        }
        std::thread::sleep(TAKEN_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hides_what_is_typed_or_takes_keys_is_seen() {
        let terminal = Terminal::open().expect("the system has terminals");
        let end = terminal.command_end().expect("there is room");
        assert!(rustix::termios::isatty(&end));
        assert_eq!(terminal.manner(), Manner::Lines);
        for (off, wanted) in [
            (LocalModes::ECHO, Manner::HiddenLines),
            (LocalModes::ICANON, Manner::Keys),
        ] {
            let mut settings = tcgetattr(&end).expect("it is a terminal");
            settings.local_modes &= !off;
            tcsetattr(&end, OptionalActions::Now, &settings).expect("it is a terminal");
            assert_eq!(terminal.manner(), wanted);
        }
    }

    #[test]
    fn a_secret_is_shown_in_no_manner_and_the_manner_stays() {
        for off in [LocalModes::empty(), LocalModes::ECHO, LocalModes::ICANON] {
            for unread in ["", "early\n", "early\nand earlier\n"] {
                check(off, unread);
            }
        }
    }

    /// Types a secret behind what the program has not read, in this manner, and reads all of it.
    fn check(off: LocalModes, unread: &str) {
        let terminal = Terminal::open().expect("the system has terminals");
        let end = terminal.command_end().expect("there is room");
        let mut settings = tcgetattr(&end).expect("it is a terminal");
        settings.local_modes -= off;
        tcsetattr(&end, OptionalActions::Now, &settings).expect("it is a terminal");
        let wanted = format!("{unread}hunter2\n");
        for _ in 0..100 {
            let mut bytes = [0; 64];
            assert_eq!(terminal.write(unread.as_bytes()), Typed::All);
            while ioctl_fionread(&end) != Ok(unread.len() as u64) {
                std::thread::yield_now();
            }
            assert_eq!(terminal.type_secret("hunter2"), Typed::All);
            let now = tcgetattr(&end).expect("it is a terminal");
            assert_eq!(now.local_modes, settings.local_modes, "{off:?} {unread:?}");
            let mut taken = Vec::new();
            while taken.len() < wanted.len() {
                let length = rustix::io::read(&end, &mut bytes).expect("there is a line");
                taken.extend_from_slice(&bytes[..length]);
            }
            assert_eq!(String::from_utf8_lossy(&taken), wanted);
            while let Ok(length) = rustix::io::read(&terminal.ours, &mut bytes) {
                let shown = String::from_utf8_lossy(&bytes[..length]);
                assert!(!shown.contains('2'), "{off:?} {unread:?}: {shown:?}");
            }
        }
    }

    #[test]
    fn a_secret_that_the_system_takes_much_later_is_not_shown_then() {
        let terminal = Terminal::open().expect("the system has terminals");
        let end = terminal.command_end().expect("there is room");
        // More than a program finds to read, and less than can be typed.
        let unread = "x\n".repeat(3_000);
        assert_eq!(terminal.write(unread.as_bytes()), Typed::All);
        while ioctl_fionread(&end).is_ok_and(|it| it <= UNREAD_BYTES) {
            std::thread::yield_now();
        }
        assert_eq!(terminal.type_secret("hunter2"), Typed::All);
        let (mut taken, mut shown) = (String::new(), String::new());
        let mut bytes = [0; 64];
        while !taken.ends_with("hunter2\n") {
            let length = rustix::io::read(&end, &mut bytes).expect("there is a line");
            taken += &String::from_utf8_lossy(&bytes[..length]);
            while let Ok(length) = rustix::io::read(&terminal.ours, &mut bytes) {
                shown += &String::from_utf8_lossy(&bytes[..length]);
            }
        }
        assert!(taken == format!("{unread}hunter2\n"));
        assert!(!shown.contains('2'), "{:?}", shown.replace("x\r\n", ""));
    }

    #[test]
    fn what_the_terminal_does_not_take_is_not_typed() {
        let terminal = Terminal::open().expect("the system has terminals");
        fill(&terminal);
        assert_eq!(terminal.type_line("yes"), Typed::NotAll);
        assert_eq!(terminal.type_secret("hunter2"), Typed::NotAll);
        assert_eq!(terminal.type_end(), Typed::NotAll);
    }

    #[test]
    fn a_line_is_one_whatever_is_in_it() {
        let terminal = Terminal::open().expect("the system has terminals");
        let end = terminal.command_end().expect("there is room");
        let mut taken = [0; 64];
        terminal.type_line("a\u{3}b\nc");
        let length = rustix::io::read(&end, &mut taken).expect("there is a line");
        assert_eq!(&taken[..length], b"a b c\n");
        terminal.type_end();
        assert_eq!(rustix::io::read(&end, &mut taken), Ok(0));
    }
}
