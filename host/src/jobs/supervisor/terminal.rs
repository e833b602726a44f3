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
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize, tcgetattr, tcsetattr,
    tcsetwinsize,
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

/// How much of something was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// All of it, which answers what the job waits for.
    All,
    /// A part, which is still there to be read.
    Part,
    /// Nothing.
    Nothing,
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

    /// Types a line, with Enter behind it, but for a single key where the program takes keys: it may want no Enter, which
    /// what asks next would take. A control character in it is typed as a blank: it is nothing that a person is asked for,
    /// and the terminal would act on it.
    pub(super) fn type_line(&self, line: &str) -> Typed {
        let enter = match self.manner() {
            Manner::Keys if is_key(line) => "",
            Manner::Keys => "\r",
            Manner::Lines | Manner::HiddenLines => "\n",
        };
        self.write(format!("{}{enter}", typeable(line)).as_bytes())
    }

    /// Types a line of which no terminal shows more than its end, in whatever manner: its echo would be in the job's output.
    /// Where that cannot be had, it is not typed. A program that takes keys may still show them by itself.
    pub(super) fn type_secret(&self, line: &str) -> Typed {
        let Ok(before) = tcgetattr(&self.theirs) else {
            return Typed::Nothing;
        };
        if !before.local_modes.contains(LocalModes::ECHO) {
            return self.type_line(line);
        }
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO;
        hidden.local_modes |= LocalModes::ECHONL;
        let is_held = self.manner() == Manner::Lines && self.has_taken_all();
        let set = |settings: &Termios| tcsetattr(&self.theirs, OptionalActions::Now, settings);
        if set(&hidden).is_err() {
            return Typed::Nothing;
        }
        if !is_held {
            // The program may read at once, and set what it likes. So it stays as it is from now on, and what is typed later
            // counts as secret until the program says otherwise.
            return self.type_line(line);
        }
        // No program is woken by less than a whole line, so all is as it was when Enter comes.
        let typed = self.write(typeable(line).as_bytes());
        // What a program that does not read has set meanwhile stays.
        if self.has_taken_all()
            && let Ok(mut now) = tcgetattr(&self.theirs)
            && now.local_modes == hidden.local_modes
        {
            now.local_modes = before.local_modes;
            let _stays = set(&now);
        }
        match typed {
            Typed::All if self.write(b"\n") == Typed::All => Typed::All,
            Typed::All | Typed::Part => Typed::Part,
            Typed::Nothing => Typed::Nothing,
        }
    }

    /// Whether the system has taken all that was typed, and there is nothing to read. It takes what was typed later, but who
    /// asks for what can be read, and finds nothing, has made it take everything.
    fn has_taken_all(&self) -> bool {
        let mut end = [PollFd::new(&self.theirs, PollFlags::IN)];
        poll(&mut end, Some(&Timespec::default())) == Ok(0)
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
    fn write(&self, text: &[u8]) -> Typed {
        let mut taken = 0;
        while taken < text.len() {
            match rustix::io::write(&self.ours, &text[taken..]) {
                Ok(more) => taken += more,
                Err(Errno::INTR) => {}
                Err(_) if taken == 0 => return Typed::Nothing,
                Err(_) => return Typed::Part,
            }
        }
        Typed::All
    }
}

/// Whether a line is a single key.
pub(super) fn is_key(line: &str) -> bool {
    line.chars().count() == 1
}

/// What is typed for a line.
fn typeable(line: &str) -> String {
    line.replace(char::is_control, " ")
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
            Typed::Part | Typed::Nothing => refusals += 1,
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::ioctl_fionread;

    use super::*;

    /// Waits until so much can be read of what was typed.
    fn until_unread(end: &OwnedFd, is_it: impl Fn(u64) -> bool) {
        let give_up_at = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let unread = ioctl_fionread(end).expect("it is a terminal");
            if is_it(unread) {
                return;
            }
            assert!(
                std::time::Instant::now() < give_up_at,
                "{unread} bytes can be read"
            );
            std::thread::yield_now();
        }
    }

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
    fn a_secret_is_shown_in_no_manner() {
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
            tcsetattr(&end, OptionalActions::Now, &settings).expect("it is a terminal");
            let mut bytes = [0; 64];
            assert_eq!(terminal.write(unread.as_bytes()), Typed::All);
            until_unread(&end, |found| found == unread.len() as u64);
            assert_eq!(terminal.type_secret("hunter2"), Typed::All);
            if unread.is_empty() && off != LocalModes::ICANON {
                // No program could have read anything by then.
                let now = tcgetattr(&end).expect("it is a terminal");
                assert_eq!(now.local_modes, settings.local_modes, "{off:?}");
            }
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
        until_unread(&end, |unread| unread > 2048);
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

    /// Programs ask for a second secret as soon as they have the first one, and put back what they found.
    #[test]
    fn what_a_program_sets_when_it_has_read_a_secret_stays() {
        for _ in 0..200 {
            let terminal = Terminal::open().expect("the system has terminals");
            let end = terminal.command_end().expect("there is room");
            let program = std::thread::spawn(move || {
                let read = rustix::io::read(&end, &mut [0; 64]).expect("there is a line");
                let found = tcgetattr(&end).expect("it is a terminal");
                let mut hidden = found.clone();
                hidden.local_modes -= LocalModes::ECHO;
                tcsetattr(&end, OptionalActions::Flush, &hidden).expect("it is a terminal");
                (read, found)
            });
            assert_eq!(terminal.type_secret("hunter2"), Typed::All);
            let (read, found) = program.join().expect("it ends");
            assert_eq!(read, "hunter2\n".len());
            assert!(
                found.local_modes.contains(LocalModes::ECHO),
                "it is shown later"
            );
            assert_eq!(terminal.manner(), Manner::HiddenLines);
        }
    }

    #[test]
    fn what_the_terminal_does_not_take_is_not_typed() {
        let terminal = Terminal::open().expect("the system has terminals");
        fill(&terminal);
        assert_eq!(terminal.type_line("yes"), Typed::Nothing);
        assert_eq!(terminal.type_secret("hunter2"), Typed::Nothing);
        assert_eq!(terminal.type_end(), Typed::Nothing);
    }

    #[test]
    fn a_key_is_typed_alone_and_more_with_enter() {
        let terminal = Terminal::open().expect("the system has terminals");
        let end = terminal.command_end().expect("there is room");
        let mut settings = tcgetattr(&end).expect("it is a terminal");
        settings.local_modes -= LocalModes::ICANON;
        tcsetattr(&end, OptionalActions::Now, &settings).expect("it is a terminal");
        let mut taken = [0; 64];
        for (line, typed) in [("ä", "ä"), ("yes", "yes\n"), ("", "\n")] {
            terminal.type_line(line);
            until_unread(&end, |unread| unread == typed.len() as u64);
            let length = rustix::io::read(&end, &mut taken).expect("there is something");
            assert_eq!(&taken[..length], typed.as_bytes());
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
