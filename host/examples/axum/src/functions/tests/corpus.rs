//! The corpus of transcripts, played against a server with a store in memory and functions as jobs: it says what every
//! other host says.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use backburner::Server;
use backburner::store::MemoryStore;
use backburner_tests::fake::{Answer, Timeline, timeline};
use backburner_tests::party::{Library, core};
use backburner_tests::transcript::{Failure, Transcript, check, differences, play};
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep_until};

use super::super::*;

/// Finds the shell of transcripts, which runs everything.
fn shell(spec: &Spec) -> Result<Begin, StartError> {
    if let Some(directory) = spec.directory.as_ref().filter(|it| !Path::new(it).is_dir()) {
        return Err(StartError::NoDirectory(directory.into()));
    }
    let spec = spec.clone();
    Ok(Box::new(|output| Box::pin(act(output, spec))))
}

/// Does in real time what a job of transcripts does.
async fn act(output: Output, spec: Spec) -> End {
    let begin = Instant::now();
    let mut answers = Vec::new();
    let mut written = 0;
    loop {
        let Timeline {
            writes,
            end_ms,
            end,
            question,
            ..
        } = timeline(&spec, &answers);
        let at = |ms| begin + Duration::from_millis(ms);
        for write in &writes[written..] {
            sleep_until(at(write.at_ms)).await;
            output.write(write.stream, &write.bytes);
        }
        written = writes.len();
        let Some(question) = question else {
            sleep_until(at(end_ms)).await;
            return end;
        };
        sleep_until(at(question.asked_at)).await;
        let asked = output.ask(&question.form).await;
        let text = asked.expect("a transcript asks little");
        let at_ms = u64::try_from(begin.elapsed().as_millis()).expect("a test is short");
        answers.push(Answer { at_ms, text });
    }
}

fn with_functions(transcript: &Transcript) -> Result<Vec<String>, Failure> {
    let runtime = Runtime::new().expect("a test has threads");
    let store = Arc::new(MemoryStore::new());
    let jobs = Arc::new(FunctionJobs::new(shell, runtime.handle().clone()));
    let config = transcript.config.to_string();
    let server = move || {
        let builder = Server::builder()
            .store(Arc::clone(&store))
            .jobs(Arc::clone(&jobs))
            .config(&config);
        builder.build().expect("the configuration is right")
    };
    play(transcript, &mut Library::of(runtime, server))
}

#[test]
fn the_corpus_is_answered_as_by_every_other_host() {
    let core = check(|transcript| play(transcript, &mut core(&transcript.config.to_string())));
    let core = core.unwrap_or_else(|problems| panic!("the core:\n{problems}\n"));
    let said = check(with_functions).unwrap_or_else(|problems| panic!("\n{problems}\n"));
    let problems = differences(&core, &said);
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
