//! A terminal for the command: a pair of descriptors, of which the command has one and the supervisor the other.
//!
//! The supervisor keeps the command's end open too. So its own end does not hang up while the command lives, whatever
//! that closes and opens again, and what the job has set can be looked at on every system. When the command ends, which
//! leads the terminal's session, the system hangs it up for what the command left.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

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

    /// Types a line, with Enter behind it. A control character in it is typed as a blank: it is nothing that a person
    /// is asked for, and the terminal would act on it.
    pub(super) fn type_line(&self, line: &str) {
        let blank = |it: char| if it.is_control() { ' ' } else { it };
        let mut text: String = line.chars().map(blank).collect();
        text.push(match self.manner() {
            Manner::Keys => '\r',
            Manner::Lines | Manner::HiddenLines => '\n',
        });
        self.write(text.as_bytes());
    }

    /// Types a line of which no terminal shows more than its end, in whatever manner: its echo would be in the job's
    /// output. Where that cannot be had, it is not typed. A program that takes keys may still show them by itself.
    pub(super) fn type_secret(&self, line: &str) {
        let Ok(before) = tcgetattr(&self.theirs) else {
            return;
        };
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO;
        hidden.local_modes |= LocalModes::ECHONL;
        let is_shown = self.manner() == Manner::Lines;
        if is_shown && tcsetattr(&self.theirs, OptionalActions::Now, &hidden).is_err() {
            return;
        }
        self.type_line(line);
        // Whoever asks for what can be read makes the system take what was typed, as long as nothing is shown: by
        // itself it does that later.
        let mut end = [PollFd::new(&self.theirs, PollFlags::IN)];
        let _ready = poll(&mut end, Some(&Timespec::default()));
        // What the program has set meanwhile stays.
        if let Ok(now) = tcgetattr(&self.theirs)
            && is_shown
            && now.local_modes == hidden.local_modes
        {
            let _stays = tcsetattr(&self.theirs, OptionalActions::Now, &before);
        }
    }

    /// Types what stands for the end of the file.
    pub(super) fn type_end(&self) {
        const CTRL_D: u8 = 4;
        let settings = tcgetattr(&self.theirs);
        let code = match settings.map(|settings| settings.special_codes[SpecialCodeIndex::VEOF]) {
            // For keys this code has another meaning, and there 0 is none.
            Ok(code) if code != 0 && self.manner() != Manner::Keys => code,
            _ => CTRL_D,
        };
        self.write(&[code]);
    }

    /// Writes all of it now: what the terminal does not take at once is not typed later, when the job may wait for
    /// something else. It takes far more than a line where somebody waits for one.
    fn write(&self, mut text: &[u8]) {
        while !text.is_empty() {
            match rustix::io::write(&self.ours, text) {
                Ok(taken) => text = &text[taken..],
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
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
        for off in [LocalModes::empty(), LocalModes::ECHO] {
            let terminal = Terminal::open().expect("the system has terminals");
            let end = terminal.command_end().expect("there is room");
            let mut settings = tcgetattr(&end).expect("it is a terminal");
            settings.local_modes -= off;
            tcsetattr(&end, OptionalActions::Now, &settings).expect("it is a terminal");
            for _ in 0..100 {
                terminal.type_secret("hunter2");
                let mut taken = [0; 64];
                let length = rustix::io::read(&end, &mut taken).expect("there is a line");
                assert_eq!(&taken[..length], b"hunter2\n");
                let shown = rustix::io::read(&terminal.ours, &mut taken);
                let shown = shown.map(|length| taken[..length].to_vec());
                let expect = if off.is_empty() {
                    Ok(b"\r\n".to_vec())
                } else {
                    Err(Errno::AGAIN)
                };
                assert_eq!(shown, expect);
                let now = tcgetattr(&end).expect("it is a terminal");
                assert_eq!(now.local_modes, settings.local_modes);
            }
        }
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
