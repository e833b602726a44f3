//! What a job waits for at its terminal, told as its prompt, and the answer, typed.
//!
//! Looks at the job only when it has written nothing for a while: module `lookout`. Where the system shows what
//! processes wait for, that decides; elsewhere a line that stays unfinished is taken for a prompt. What the job waits
//! for is told as long as it does. What somebody answers is typed only where a look at that moment finds the same wait
//! again: nothing is ever typed that was meant for another prompt.
//!
//! A secret comes by a FIFO, is in no file, and is typed without being shown, so that it is not in the output either.

use std::os::fd::BorrowedFd;

use cap_std::fs::Dir;

use super::super::clock;
use super::super::limits::{DRAIN_ROUNDS, SILENCE_MS, UNSEEN_SILENCE_MS};
use super::super::model::{Entered, PromptRecord};
use super::super::processes::{self, Device, Wait as Seen};
use super::super::questions::Asker;
use super::lookout::{Lookout, News};
use super::streams::Rest;
use super::tail::{Echo, Tail, is_secret};
use super::terminal::{Manner, Terminal, Typed, is_key};

/// A job's terminal, and who watches it.
pub(super) struct Console {
    terminal: Terminal,
    tail: Tail,
    lookout: Lookout,
    /// How it is seen what the job waits for at a terminal.
    see: fn(Device) -> Seen,
    /// What is told now.
    told: Option<(Wait, Asker)>,
    /// Whether somebody has declined, and the job has written nothing since: whoever takes no end for an answer would
    /// be asked for ever.
    was_declined: bool,
    /// A key that was typed without Enter, and how many lines the job had finished then: whoever edits lines by itself
    /// waits for Enter, and whoever wanted the key asks something else.
    key: Option<(String, u64)>,
    /// How many lines the job had finished when a part of an answer was typed: another one would stand behind that.
    stuck_at: Option<u64>,
}

/// What a job waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait {
    text: String,
    manner: Manner,
    /// How many lines the job has finished before: what it asks in the same words behind another one is something else.
    lines: u64,
}

impl Wait {
    fn is_hidden(&self) -> bool {
        self.manner == Manner::HiddenLines || is_secret(&self.text)
    }
}

impl Console {
    /// Watches the terminal of a job that has just been started.
    pub(super) fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            tail: Tail::default(),
            lookout: Lookout::new(clock::monotonic_ms()),
            see: processes::wait_for_terminal,
            told: None,
            was_declined: false,
            key: None,
            stuck_at: None,
        }
    }

    /// Takes what the job wrote.
    pub(super) fn hear(&mut self, bytes: &[u8], now_ms: u64) {
        self.tail.add(bytes);
        self.was_declined = false;
        let news = match self.told {
            None => News::Wrote,
            Some(_) => News::WroteAsked,
        };
        self.lookout.hear(news, now_ms);
    }

    /// What becomes readable when there is an answer.
    pub(super) fn waker(&self) -> Option<BorrowedFd<'_>> {
        self.told.as_ref().map(|(_, asker)| asker.waker())
    }

    /// When to call [`Console::look`]; `None` for never.
    pub(super) fn look_at_ms(&self) -> Option<u64> {
        self.lookout.at_ms()
    }

    /// Tells nothing more: the job is being stopped, or has ended.
    pub(super) fn close(&mut self) {
        self.told = None;
        self.lookout.close();
    }

    /// Looks whether the job waits, if it is time to, and tells what it waits for, or takes that back.
    /// `hear_more` has to hear what it wrote.
    pub(super) fn look(
        &mut self,
        job: &Dir,
        now_ms: u64,
        hear_more: impl FnMut(&mut Self) -> Rest,
    ) {
        if self.lookout.at_ms().is_none_or(|at_ms| now_ms < at_ms) {
            return;
        }
        let seen = self.seen();
        let found = self.wait(seen, now_ms);
        // What is not seen has to be silent for longer.
        let key = self
            .key
            .take_if(|_| found.is_some() || seen != Seen::Unseen);
        if let Some(wait) = &found
            && let Some((key, lines)) = key
            && wait.manner == Manner::Keys
            && wait.lines == lines
            && ["", key.as_str()].contains(&wait.text.as_str())
        {
            if self.hears_all(hear_more) && self.wait(seen, now_ms).as_ref() == Some(wait) {
                self.terminal.type_line("");
                self.tail.answered(Echo::None);
                self.lookout.hear(News::Answered, now_ms);
            }
            return;
        }
        match &self.told {
            Some((wait, _)) if found.as_ref() == Some(wait) => {}
            Some(_) if self.lookout.doubt(now_ms) => return,
            _ => {
                self.told = None;
                self.told = found.and_then(|wait| tell(job, wait));
            }
        }
        self.lookout.go_on(now_ms);
    }

    /// What the job is seen to do.
    fn seen(&self) -> Seen {
        self.terminal.device().map_or(Seen::Unseen, self.see)
    }

    /// What the job waits for that was seen to do this; `None` where that is nothing.
    fn wait(&self, seen: Seen, now_ms: u64) -> Option<Wait> {
        if self.was_declined || self.stuck_at == Some(self.tail.lines()) {
            return None;
        }
        let manner = self.terminal.manner();
        let silent_ms = self.lookout.silent_ms(now_ms);
        waits(seen, manner, &self.tail, silent_ms).then(|| Wait {
            text: self.tail.prompt(),
            manner,
            lines: self.tail.lines(),
        })
    }

    /// What somebody has answered; `None` where nobody has. Of one that was damaged there is nothing to type, and what
    /// the job waits for is told anew.
    pub(super) fn answer(&self) -> Option<Option<Entered>> {
        let (wait, asker) = self.told.as_ref()?;
        let entered = if wait.is_hidden() {
            asker.secret()
        } else {
            asker.entered()
        };
        match entered {
            Ok(None) => None,
            Ok(entered) => Some(entered),
            Err(_) => Some(None),
        }
    }

    /// Whether the job still waits for what is told. `hear_more` has to hear what it wrote.
    pub(super) fn still_waits(
        &mut self,
        now_ms: u64,
        hear_more: impl FnMut(&mut Self) -> Rest,
    ) -> bool {
        // In this order: a look takes a while, and what is seen then may be the wait behind the next prompt.
        let seen = self.seen();
        let is_all = self.hears_all(hear_more);
        let told = self.told.as_ref().map(|(wait, _)| wait);
        is_all && told.is_some() && self.wait(seen, now_ms).as_ref() == told
    }

    fn hears_all(&mut self, mut hear_more: impl FnMut(&mut Self) -> Rest) -> bool {
        (0..DRAIN_ROUNDS).any(|_| hear_more(self) == Rest::Nothing)
    }

    /// Types an answer to what was just seen to be waited for still, or throws it away with `None`. Tells nothing more by
    /// then. What could not be typed is asked again, but for what was typed in part.
    pub(super) fn finish(&mut self, entered: Option<Entered>, now_ms: u64) {
        let Some((wait, asker)) = self.told.take() else {
            return;
        };
        let is_line = matches!(entered, Some(Entered::Line(_)));
        let key = match &entered {
            Some(Entered::Line(line)) if wait.manner == Manner::Keys && is_key(line) => {
                Some((line.clone(), self.tail.lines()))
            }
            _ => None,
        };
        let typed = match entered {
            Some(Entered::Line(line)) if wait.is_hidden() => self.terminal.type_secret(&line),
            Some(Entered::Line(line)) => self.terminal.type_line(&line),
            Some(Entered::End) => self.terminal.type_end(),
            None => Typed::Nothing,
        };
        match typed {
            Typed::All => {
                self.key = key;
                self.tail.answered(match wait.manner {
                    Manner::Lines if is_line => Echo::Line,
                    _ => Echo::None,
                });
                self.was_declined = !is_line;
                if wait.is_hidden() {
                    asker.leave_typed();
                }
            }
            Typed::Part => self.stuck_at = Some(self.tail.lines()),
            Typed::Nothing => {}
        }
        self.lookout.hear(News::Answered, now_ms);
    }
}

/// Tells what a job waits for. Where that fails, as on a full disk, the next look tries again.
fn tell(job: &Dir, wait: Wait) -> Option<(Wait, Asker)> {
    let record = PromptRecord {
        text: wait.text.clone(),
        hidden: wait.is_hidden(),
        takes_keys: wait.manner == Manner::Keys,
        asked_at: crate::clock::now_ms(),
    };
    let asker = Asker::prompt(job, &record).ok()?;
    Some((wait, asker))
}

/// Whether a silent job seems to wait for what is typed.
fn waits(seen: Seen, manner: Manner, tail: &Tail, silent_ms: u64) -> bool {
    match seen {
        Seen::Reads => return true,
        // It may wait for something else as well: a prompt tells which.
        Seen::Watches => return tail.is_unfinished(),
        Seen::Elsewhere => return false,
        Seen::Unseen => {}
    }
    // Nobody hides what is typed without asking for it.
    let telling_ms = match manner {
        Manner::HiddenLines => SILENCE_MS,
        Manner::Lines | Manner::Keys => UNSEEN_SILENCE_MS,
    };
    silent_ms >= telling_ms && tail.is_unfinished()
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn tail(text: &str) -> Tail {
        let mut tail = Tail::default();
        tail.add(text.as_bytes());
        tail
    }

    #[test]
    fn an_unfinished_line_is_a_prompt_after_a_while_and_sooner_where_nothing_is_shown() {
        let (prompt, line) = (tail("Name: "), tail("listening\r\n"));
        for (manner, tail, silent_ms, wanted) in [
            (Manner::Lines, &prompt, UNSEEN_SILENCE_MS - 1, false),
            (Manner::Lines, &prompt, UNSEEN_SILENCE_MS, true),
            (Manner::Keys, &prompt, UNSEEN_SILENCE_MS - 1, false),
            (Manner::Keys, &prompt, UNSEEN_SILENCE_MS, true),
            (Manner::HiddenLines, &prompt, SILENCE_MS - 1, false),
            (Manner::HiddenLines, &prompt, SILENCE_MS, true),
            (Manner::HiddenLines, &line, 1 << 40, false),
            (Manner::Lines, &line, 1 << 40, false),
        ] {
            let found = waits(Seen::Unseen, manner, tail, silent_ms);
            assert_eq!(found, wanted, "{manner:?} {silent_ms}");
        }
    }

    #[test]
    fn who_reads_waits_and_who_watches_waits_behind_a_prompt() {
        let (prompt, line) = (tail("Name: "), tail("listening\r\n"));
        for (seen, tail, wanted) in [
            (Seen::Reads, &prompt, true),
            (Seen::Reads, &line, true),
            (Seen::Watches, &prompt, true),
            (Seen::Watches, &line, false),
            (Seen::Elsewhere, &prompt, false),
        ] {
            let found = waits(seen, Manner::Lines, tail, 1 << 40);
            assert_eq!(found, wanted, "{seen:?}");
        }
    }

    /// A console in virtual time, whose job wrote this to it.
    struct Scene {
        place: tempfile::TempDir,
        console: Console,
        /// What the job writes during a look.
        coming: Option<&'static str>,
        now_ms: u64,
    }

    impl Scene {
        fn new(text: &str) -> Self {
            let terminal = Terminal::open().expect("the system has terminals");
            let mut scene = Self {
                place: tempfile::tempdir().expect("there is room"),
                console: Console::new(terminal),
                coming: None,
                now_ms: 0,
            };
            scene.console.lookout = Lookout::new(0);
            scene.console.see = |_| Seen::Unseen;
            scene.hear(text);
            scene
        }

        fn job(&self) -> Dir {
            let opened = Dir::open_ambient_dir(self.place.path(), cap_std::ambient_authority());
            opened.expect("it is there")
        }

        fn hear(&mut self, text: &str) {
            self.console.hear(text.as_bytes(), self.now_ms);
        }

        /// Looks whenever it is time to, until this moment.
        fn pass(&mut self, to_ms: u64) {
            while let Some(at_ms) = self.console.look_at_ms().filter(|at_ms| *at_ms <= to_ms) {
                self.now_ms = at_ms;
                let job = self.job();
                let mut coming = self.coming.take();
                self.console.look(&job, at_ms, |console| {
                    if let Some(text) = coming.take() {
                        console.hear(text.as_bytes(), at_ms);
                    }
                    Rest::Nothing
                });
                self.coming = coming;
            }
            self.now_ms = to_ms;
        }

        /// The key and the text of what is told.
        fn told(&self) -> Option<(String, String)> {
            let told = super::super::super::questions::prompt(&self.job());
            told.expect("it can be read").map(|it| (it.key, it.text))
        }

        fn text(&self) -> Option<String> {
            self.told().map(|(_, text)| text)
        }

        fn enter(&mut self, line: Option<&str>) {
            let (key, _) = self.told().expect("something is told");
            let entered = super::super::super::questions::enter(&self.job(), &key, line);
            entered.expect("there is room");
            self.answer();
        }

        fn answer(&mut self) {
            if let Some(entered) = self.console.answer() {
                let is_wanted = self.console.still_waits(self.now_ms, |_| Rest::Nothing);
                self.console
                    .finish(entered.filter(|_| is_wanted), self.now_ms);
            }
        }

        fn tell(&mut self, secret: Option<&str>) {
            let (key, _) = self.told().expect("something is told");
            let told = super::super::super::questions::tell_secret(&self.job(), &key, secret);
            assert!(told.expect("it is a line"));
            self.answer();
        }

        /// What was typed.
        fn typed(&self) -> Vec<u8> {
            let end = self.console.terminal.command_end().expect("there is room");
            rustix::io::ioctl_fionbio(&end, true).expect("it is a terminal");
            let mut bytes = vec![0; 64];
            let length = rustix::io::read(&end, &mut bytes).unwrap_or(0);
            bytes.truncate(length);
            bytes
        }
    }

    #[test]
    fn a_prompt_is_told_and_answered_and_not_told_again() {
        let mut scene = Scene::new("Name: ");
        scene.pass(3_999);
        assert_eq!(scene.told(), None);
        scene.pass(4_000);
        assert_eq!(scene.text().as_deref(), Some("Name:"));
        scene.enter(Some("yes"));
        assert_eq!(scene.typed(), b"yes\n");
        // It computes, and its echo is no prompt of its own.
        scene.hear("yes\r\n");
        scene.pass(60_000);
        assert_eq!(scene.told(), None);
        scene.hear("Next: ");
        scene.pass(64_000);
        assert_eq!(scene.text().as_deref(), Some("Next:"));
    }

    #[test]
    fn what_was_answered_in_vain_is_told_under_another_key() {
        let mut scene = Scene::new("Name: ");
        scene.pass(4_000);
        let (key, _) = scene.told().expect("it waits");
        // All of it is heard before something is typed.
        scene.hear("\r\nOther: ");
        scene.enter(Some("yes"));
        assert_eq!(scene.typed(), b"");
        assert_eq!(scene.told(), None);
        scene.pass(8_000);
        let (other, text) = scene.told().expect("it waits again");
        assert_eq!(text, "Other:");
        assert_ne!(other, key);
    }

    #[test]
    fn the_same_words_behind_another_line_are_another_prompt() {
        let mut scene = Scene::new("Will delete A.\r\nContinue? ");
        scene.console.see = |_| Seen::Reads;
        scene.pass(1_000);
        let (key, _) = scene.told().expect("it waits");
        scene.hear("\r\nWill delete B.\r\nContinue? ");
        scene.enter(Some("yes"));
        assert_eq!(scene.typed(), b"");
        scene.pass(20_000);
        let (other, text) = scene.told().expect("it waits again");
        assert_eq!(text, "Continue?");
        assert_ne!(other, key);
    }

    #[test]
    fn what_is_written_during_a_look_is_heard_before_something_is_typed() {
        use std::sync::atomic::{AtomicBool, Ordering};
        static LOOKED: AtomicBool = AtomicBool::new(false);
        let mut scene = Scene::new("Name: ");
        scene.console.see = |_| Seen::Reads;
        scene.pass(1_000);
        scene.console.see = |_| {
            LOOKED.store(true, Ordering::Relaxed);
            Seen::Reads
        };
        let is_wanted = scene.console.still_waits(1_000, |console| {
            if LOOKED.swap(false, Ordering::Relaxed) {
                console.hear(b"\r\nOther: ", 1_000);
            }
            Rest::Nothing
        });
        assert!(!is_wanted);
    }

    #[test]
    fn nothing_is_typed_where_not_all_could_be_heard() {
        let mut scene = Scene::new("Name: ");
        scene.console.see = |_| Seen::Reads;
        scene.pass(1_000);
        assert!(!scene.console.still_waits(1_000, |_| Rest::More));
        assert!(scene.console.still_waits(1_000, |_| Rest::Nothing));
    }

    #[test]
    fn what_the_terminal_does_not_take_is_asked_again() {
        for text in ["Name: ", "API key: "] {
            let mut scene = Scene::new(text);
            scene.pass(4_000);
            let (key, _) = scene.told().expect("it waits");
            super::super::terminal::fill(&scene.console.terminal);
            if text == "Name: " {
                scene.enter(Some("yes"));
            } else {
                scene.tell(Some("hunter2"));
            }
            scene.pass(20_000);
            let (other, again) = scene.told().expect("it waits again");
            assert_eq!(again, text.trim());
            assert_ne!(other, key);
        }
    }

    #[test]
    fn what_hides_itself_without_a_word_is_not_typed_into() {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let mut scene = Scene::new("Name: ");
        scene.pass(4_000);
        let end = scene.console.terminal.command_end().expect("there is room");
        let mut settings = tcgetattr(&end).expect("it is a terminal");
        settings.local_modes &= !LocalModes::ECHO;
        tcsetattr(&end, OptionalActions::Now, &settings).expect("it is a terminal");
        scene.enter(Some("yes"));
        assert_eq!(scene.typed(), b"");
    }

    #[test]
    fn who_declines_is_asked_again_when_the_job_has_written() {
        let mut scene = Scene::new("Name: ");
        scene.pass(4_000);
        scene.enter(None);
        scene.pass(60_000);
        assert_eq!(scene.told(), None);
        scene.hear("Name, please: ");
        scene.pass(64_000);
        assert_eq!(scene.text().as_deref(), Some("Name, please:"));
    }

    #[test]
    fn a_prompt_is_taken_back_when_the_job_goes_on() {
        let mut scene = Scene::new("Name: ");
        scene.pass(4_000);
        scene.hear("never mind\r\n");
        scene.pass(4_200);
        assert!(scene.told().is_some(), "one look more has to agree");
        scene.pass(4_250);
        assert_eq!(scene.told(), None);
    }

    #[test]
    fn what_others_of_the_job_write_takes_nothing_back_from_who_reads() {
        let mut scene = Scene::new("Name: ");
        scene.console.see = |_| Seen::Reads;
        scene.pass(1_000);
        let told = scene.told().expect("it waits");
        // A colour, a bell: what is seen is the same.
        scene.hear("\x1b[0m\x07");
        scene.pass(10_000);
        assert_eq!(scene.told(), Some(told.clone()));
        scene.hear("\r\n[1]+  Done");
        scene.pass(20_000);
        let (key, text) = scene.told().expect("it waits");
        assert_ne!((key, text.as_str()), (told.0, "Name:"));
    }

    #[test]
    fn who_reads_something_else_by_now_gets_nothing() {
        let mut scene = Scene::new("Name: ");
        scene.console.see = |_| Seen::Reads;
        scene.pass(1_000);
        scene.console.see = |_| Seen::Elsewhere;
        scene.enter(Some("yes"));
        assert_eq!(scene.typed(), b"");
    }

    #[test]
    fn a_secret_is_typed_where_it_was_asked_for_and_is_in_no_file() {
        let mut scene = Scene::new("API key: ");
        scene.pass(4_000);
        let place = scene.place.path().join("questions");
        scene.enter(Some("by a client"));
        assert!(scene.told().is_some(), "it is still asked for");
        scene.tell(Some("hunter2"));
        assert_eq!(scene.typed(), b"hunter2\n");
        let left = std::fs::read_dir(place).expect("it is there");
        let left: Vec<_> = left.map(|it| it.expect("it is there").path()).collect();
        assert!(
            left.iter()
                .all(|it| it.extension().is_some_and(|it| it == "typed")),
            "{left:?}"
        );
        assert_eq!(left.len(), 1);
        scene.hear("\r\nPassword: ");
        scene.pass(8_000);
        scene.tell(None);
        assert_eq!(scene.typed(), b"");
        assert!(scene.console.was_declined);
    }

    #[test]
    fn a_secret_is_not_typed_where_something_else_is_asked_by_now() {
        let mut scene = Scene::new("API key: ");
        scene.pass(4_000);
        scene.hear("\r\nName: ");
        scene.tell(Some("hunter2"));
        assert_eq!(scene.typed(), b"");
    }

    #[test]
    fn nothing_is_told_of_a_job_that_is_being_stopped() {
        let mut scene = Scene::new("Name: ");
        scene.pass(4_000);
        scene.console.close();
        assert_eq!(scene.told(), None);
        scene.hear("Name: ");
        scene.pass(60_000);
        assert_eq!(scene.told(), None);
    }

    #[test]
    fn a_damaged_answer_is_asked_for_again() {
        let mut scene = Scene::new("Name: ");
        scene.pass(4_000);
        let (key, _) = scene.told().expect("it waits");
        let file = scene.place.path().join(format!("questions/{key}.answer"));
        std::fs::write(file, "damaged").expect("there is room");
        scene.answer();
        assert_eq!(scene.typed(), b"");
        scene.pass(8_000);
        let (other, _) = scene.told().expect("it waits again");
        assert_ne!(other, key);
    }

    #[test]
    fn a_secret_is_told_as_one_by_its_words_or_since_nothing_is_shown() {
        for (text, manner, hidden) in [
            ("Name: ", Manner::Lines, false),
            ("API key: ", Manner::Lines, true),
            ("API token\n> ", Manner::Keys, true),
            ("Name: ", Manner::HiddenLines, true),
        ] {
            let text = text.to_owned();
            let wait = Wait {
                text,
                manner,
                lines: 0,
            };
            assert_eq!(wait.is_hidden(), hidden, "{manner:?}");
        }
    }

    /// A job that takes keys, and what is in its terminal after this answer, and what it wrote then.
    fn keys(answer: &str, wrote: &str) -> Vec<u8> {
        keys_and(answer, wrote, |_| {})
    }

    /// As that, where something happens before the next look.
    fn keys_and(answer: &str, wrote: &str, happen: impl FnOnce(&mut Scene)) -> Vec<u8> {
        let mut scene = Scene::new("Go on? ");
        let end = scene.console.terminal.command_end().expect("there is room");
        let mut settings = rustix::termios::tcgetattr(&end).expect("it is a terminal");
        settings.local_modes -= rustix::termios::LocalModes::ICANON;
        let now = rustix::termios::OptionalActions::Now;
        rustix::termios::tcsetattr(&end, now, &settings).expect("it is a terminal");
        scene.console.see = |_| Seen::Reads;
        scene.pass(5_000);
        scene.enter(Some(answer));
        scene.hear(wrote);
        happen(&mut scene);
        scene.pass(20_000);
        let mut typed = Vec::new();
        loop {
            // Where there is nothing to read, this has the system take what was typed last.
            let mut it = [PollFd::new(&end, PollFlags::IN)];
            if poll(&mut it, Some(&Timespec::default())) == Ok(0) {
                return typed;
            }
            let mut some = [0; 64];
            let length = rustix::io::read(&end, &mut some).expect("something was typed");
            typed.extend_from_slice(&some[..length]);
        }
    }

    #[test]
    fn enter_comes_behind_a_key_only_for_whom_it_seems_to_be_meant() {
        assert_eq!(keys("y", "y"), b"y\n", "a line that it edits by itself");
        assert_eq!(keys("y", ""), b"y\n", "the same, without an echo");
        assert_eq!(keys("y", "yDelete all? "), b"y", "the next question");
        assert_eq!(keys("y", "y\r\n"), b"y", "it goes on");
        assert_eq!(keys("yes", ""), b"yes\n");
        let asked_meanwhile = keys_and("y", "y", |scene| scene.coming = Some("\r\nDelete? "));
        assert_eq!(
            asked_meanwhile, b"y",
            "the next question comes at that time"
        );
        let busy = keys_and("y", "y", |scene| {
            scene.console.see = |_| Seen::Elsewhere;
            scene.pass(10_000);
            scene.console.see = |_| Seen::Reads;
            scene.hear("");
        });
        assert_eq!(busy, b"y", "it did something else");
    }
}
