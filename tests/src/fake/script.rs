//! The few words of shell that transcripts use, understood without a shell.
//!
//! A line is statements that `;` separates: `echo`, `printf`, `cat`, `pwd`, `sleep`, `exit`, `true`, `false`,
//! `trap '' TERM`, `kill -SIGNAL $$` and `backburner ask MESSAGE --text`, with quotes, `$NAME` and `>&2`. What is not
//! understood panics, so that no transcript means something else to a real shell.

use std::iter::Peekable;
use std::slice;
use std::str::Chars;

use backburner::jobs::{Command, End, Question, Spec, Stream};
use serde_json::{Value, json};

/// When a job ends that waits for an answer, in milliseconds: long after every transcript.
const NEVER_MS: u64 = 1 << 40;

/// What a job does if nobody stops it. Times are in milliseconds from its start.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// In order.
    pub writes: Vec<Write>,
    /// When it ends, or asks.
    pub end_ms: u64,
    /// How it ends.
    pub end: End,
    /// Whether it has to be killed, since it ignores being asked to end.
    pub ignores_term: bool,
    /// What it waits to be told: which of its questions it is, and asked so many milliseconds from its start.
    pub question: Option<Question>,
}

/// An answer that a job has got, as JSON text, and when.
#[derive(Clone, Debug)]
pub struct Answer {
    /// In milliseconds from the start of the job.
    pub at_ms: u64,
    /// What was answered.
    pub text: String,
}

/// Something that a job writes.
#[derive(Clone, Debug)]
pub struct Write {
    /// In milliseconds from the start of the job.
    pub at_ms: u64,
    /// Where it goes.
    pub stream: Stream,
    /// What is written.
    pub bytes: Vec<u8>,
}

/// Works out what a job does that has got these answers.
pub fn timeline(spec: &Spec, answers: &[Answer]) -> Timeline {
    let mut run = Run {
        spec,
        answers: answers.iter(),
        answered: 0,
        question: None,
        writes: Vec::new(),
        now_ms: 0,
        status: 0,
        ignores_term: false,
    };
    let end = match &spec.command {
        Command::Shell(line) => run.line(line),
        Command::Program(words) => run.program(words),
    };
    Timeline {
        writes: run.writes,
        end_ms: run.now_ms,
        end,
        ignores_term: run.ignores_term,
        question: run.question,
    }
}

struct Run<'a> {
    spec: &'a Spec,
    answers: slice::Iter<'a, Answer>,
    /// How many questions were answered.
    answered: usize,
    question: Option<Question>,
    writes: Vec<Write>,
    now_ms: u64,
    status: u8,
    ignores_term: bool,
}

impl Run<'_> {
    fn line(&mut self, line: &str) -> End {
        for statement in statements(line, &|name| self.variable(name)) {
            if let Some(end) = self.statement(&statement) {
                return end;
            }
        }
        End::Exited { code: self.status }
    }

    fn program(&mut self, words: &[String]) -> End {
        if !matches!(
            words[0].as_str(),
            "echo" | "printf" | "cat" | "pwd" | "sleep" | "true" | "false"
        ) {
            return End::NotStarted {
                // In the words of the native host: all servers say the same.
                detail: format!(
                    "there is no program {} on the PATH; install it or give its full path",
                    words[0]
                ),
            };
        }
        self.statement(words)
            .unwrap_or(End::Exited { code: self.status })
    }

    /// Carries out one statement; gives the end where it is the last.
    fn statement(&mut self, words: &[String]) -> Option<End> {
        let (stream, words) = match words.split_last() {
            Some((last, rest)) if last == ">&2" => (Stream::Stderr, rest),
            _ => (Stream::Stdout, words),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.status = 0;
        match words.as_slice() {
            ["echo", rest @ ..] => self.write(stream, format!("{}\n", rest.join(" "))),
            ["printf", text] => self.write(stream, unescaped(text)),
            ["cat"] => self.write(stream, self.spec.stdin.clone()),
            ["pwd"] => self.write(
                stream,
                format!("{}\n", self.spec.directory.as_deref().unwrap_or("/")),
            ),
            ["sleep", seconds] => self.now_ms += milliseconds(seconds),
            ["true"] => {}
            ["false"] => self.status = 1,
            ["trap", "", "TERM"] => self.ignores_term = true,
            ["exit", code] => {
                return Some(End::Exited {
                    code: code.parse().expect("an exit status is 0 to 255"),
                });
            }
            ["kill", signal, "$$"] => {
                return Some(End::Signalled {
                    signal: signal_name(signal),
                    core_dumped: false,
                });
            }
            ["backburner", "ask", message, "--text"] => return self.ask(stream, message),
            other => panic!("not in the vocabulary of transcripts: {other:?}"),
        }
        None
    }

    /// Goes on with the answer; where there is none, it does not end.
    fn ask(&mut self, stream: Stream, message: &str) -> Option<End> {
        let asked_ms = self.now_ms;
        let Some(answer) = self.answers.next() else {
            self.now_ms = NEVER_MS;
            self.question = Some(Question {
                key: self.answered.to_string(),
                form: form(message),
                asked_at: asked_ms,
            });
            return Some(End::Exited { code: 0 });
        };
        self.answered += 1;
        self.now_ms = answer.at_ms.max(asked_ms);
        let answer: Value = serde_json::from_str(&answer.text).expect("an answer is JSON");
        match answer["action"].as_str() {
            Some("accept") => {
                let text = answer["content"]["answer"].as_str();
                self.write(stream, format!("{}\n", text.expect("it was asked for")));
            }
            Some("decline") => self.status = 1,
            _ => self.status = 2,
        }
        None
    }

    fn write(&mut self, stream: Stream, text: String) {
        if !text.is_empty() {
            self.writes.push(Write {
                at_ms: self.now_ms,
                stream,
                bytes: text.into_bytes(),
            });
        }
    }

    fn variable(&self, name: &str) -> String {
        // `$$` is left for `kill` to see.
        if name == "$" {
            return "$$".to_owned();
        }
        let all = self.spec.environment.iter().rev();
        all.clone()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    }
}

/// What `backburner ask MESSAGE --text` asks.
fn form(message: &str) -> String {
    let schema = json!({
        "type": "object", "properties": { "answer": { "type": "string" } }, "required": ["answer"],
    });
    json!({ "mode": "form", "message": message, "requestedSchema": schema }).to_string()
}

fn milliseconds(seconds: &str) -> u64 {
    let seconds: f64 = seconds.parse().expect("`sleep` takes seconds");
    std::time::Duration::from_secs_f64(seconds)
        .as_millis()
        .try_into()
        .expect("nobody sleeps so long")
}

fn signal_name(option: &str) -> String {
    match option {
        "-9" | "-KILL" => "SIGKILL".to_owned(),
        "-SEGV" => "SIGSEGV".to_owned(),
        other => panic!("not in the vocabulary of transcripts: kill {other}"),
    }
}

fn unescaped(text: &str) -> String {
    text.replace("%%", "%")
        .replace("\\n", "\n")
        .replace("\\r", "\r")
        .replace("\\t", "\t")
        .replace("\\033", "\u{1b}")
}

/// Splits a line into statements and these into words, as a shell does.
fn statements(line: &str, variable: &dyn Fn(&str) -> String) -> Vec<Vec<String>> {
    let mut statements = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            _ if quote == Some(character) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            '$' if quote != Some('\'') => {
                word.get_or_insert_default()
                    .push_str(&variable(&name(&mut rest)));
            }
            ' ' | ';' if quote.is_none() => {
                let last = statements.last_mut().expect("there is always one");
                last.extend(word.take());
                if character == ';' {
                    statements.push(Vec::new());
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    let last = statements.last_mut().expect("there is always one");
    last.extend(word.take());
    statements.retain(|words| !words.is_empty());
    statements
}

/// The name of a variable, whose `$` was read; `$` itself for the shell's process id.
fn name(rest: &mut Peekable<Chars<'_>>) -> String {
    if rest.next_if_eq(&'$').is_some() {
        return "$".to_owned();
    }
    let mut name = String::new();
    while let Some(next) = rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_') {
        name.push(next);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, output: &str, end: &End) {
        let spec = Spec {
            command: Command::Shell(line.to_owned()),
            directory: None,
            environment: vec![("NAME".to_owned(), "value".to_owned())],
            stdin: "given".to_owned(),
            interactive: false,
            timeout_ms: None,
            lifetime_ms: None,
            grace_ms: 0,
            output_limit_bytes: 1024,
        };
        let timeline = timeline(&spec, &[]);
        let bytes: Vec<u8> = timeline
            .writes
            .into_iter()
            .flat_map(|write| write.bytes)
            .collect();
        assert_eq!(String::from_utf8_lossy(&bytes), output, "{line}");
        assert_eq!(timeline.end, *end, "{line}");
    }

    #[test]
    fn the_vocabulary_means_what_it_means_to_a_shell() {
        let exited = |code| End::Exited { code };
        check("echo one; sleep 2; echo two", "one\ntwo\n", &exited(0));
        check(
            "echo 'a;  b' \"c $NAME\" '$NAME'",
            "a;  b c value $NAME\n",
            &exited(0),
        );
        check(
            "printf 'a\\rb\\n'; exit 3; echo never",
            "a\rb\n",
            &exited(3),
        );
        check("cat; false", "given", &exited(1));
        let killed = End::Signalled {
            signal: "SIGKILL".to_owned(),
            core_dumped: false,
        };
        check("echo x >&2; kill -9 $$; echo never", "x\n", &killed);
    }
}
