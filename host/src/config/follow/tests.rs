//! What a look at a file that was changed comes to.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use serde_json::Map;
use tempfile::TempDir;

use super::*;
use crate::engine::BadConfig;

/// A file, and who is configured with it.
struct Scene {
    _directory: TempDir,
    file: PathBuf,
    follower: Follower,
    /// With what, in order.
    configured: RefCell<Vec<String>>,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("there is room");
        let file = directory.path().join("file");
        fs::write(&file, "a = 1\n").expect("there is room");
        let mut source = Source::new(Some(file.clone()), Map::new());
        source.defaults.clear();
        Self {
            _directory: directory,
            follower: Follower::new(source.load().expect("it is right")),
            file,
            configured: RefCell::default(),
        }
    }

    fn look(&mut self) -> Option<News> {
        self.follower.look(&self.file, |json| {
            if json.contains("wrong") {
                let at = "/wrong".to_owned();
                let reason = "no such member".to_owned();
                return Err(PoolError::Config(BadConfig { at, reason }));
            }
            self.configured.borrow_mut().push(json.to_owned());
            Ok(())
        })
    }

    fn write(&mut self, text: &str) -> Option<News> {
        fs::write(&self.file, text).expect("there is room");
        self.look()
    }

    fn assert_unusable(&mut self, news: Option<News>, words: &str) {
        match news {
            Some(News::Unusable(reason)) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(self.look(), None, "it is told once");
        assert!(self.configured.borrow().is_empty());
    }

    fn assert_configured(&self, json: &[&str]) {
        assert_eq!(*self.configured.borrow(), json);
    }
}

#[test]
fn what_was_there_at_the_start_is_no_news() {
    let mut scene = Scene::new();
    assert_eq!(scene.look(), None);
    assert_eq!(scene.write("a = 1\n"), None);
    scene.assert_configured(&[]);
}

#[test]
fn each_new_text_holds_once() {
    let mut scene = Scene::new();
    assert_eq!(scene.write("a = 2\n"), Some(News::Holds));
    assert_eq!(scene.look(), None);
    assert_eq!(scene.write("a = 1\n"), Some(News::Holds));
    scene.assert_configured(&[r#"{"a":2}"#, r#"{"a":1}"#]);
}

#[test]
fn a_broken_text_is_told_with_its_place_and_configures_nobody() {
    let mut scene = Scene::new();
    let news = scene.write("a = 2\nb = \n");
    scene.assert_unusable(news, "file:2:");
    let news = scene.write("a = 2\n\nwrong = 1\n");
    scene.assert_unusable(news, "file:3:1: /wrong: no such member");
    assert_eq!(scene.write("a = 3\n"), Some(News::Holds));
    scene.assert_configured(&[r#"{"a":3}"#]);
}

#[test]
fn a_file_that_is_empty_or_gone_configures_nobody() {
    let mut scene = Scene::new();
    let news = scene.write("");
    scene.assert_unusable(news, "file: is empty, ");
    let news = scene.write(" \n");
    scene.assert_unusable(news, "file: is empty, ");
    fs::remove_file(&scene.file).expect("it is there");
    let news = scene.look();
    scene.assert_unusable(news, "no such file");
    assert_eq!(scene.write("# nothing\n"), Some(News::Holds));
    scene.assert_configured(&["{}"]);
}

#[test]
fn the_news_are_said_with_what_holds() {
    let file = Path::new("/a/file");
    assert_eq!(
        News::Holds.words(file),
        "/a/file: was read anew, and holds from now on"
    );
    let unusable = News::Unusable("/a/file:1:2: no".to_owned());
    let words = "/a/file:1:2: no; what held before goes on to hold";
    assert_eq!(unusable.words(file), words);
}

#[test]
fn that_the_system_tells_of_no_changes_is_said_once() {
    let mut scene = Scene::new();
    let file = scene.file.clone();
    let refused = || Watch::looking(&file, Some(io::Error::other("no watch is left")));
    let said = scene.follower.complaint(&file, &refused());
    let said = said.expect("a person may want to raise the limit");
    assert!(said.ends_with("no watch is left"), "{said}");
    // There is a watch for each change.
    for watch in [refused(), Watch::looking(&file, None), refused()] {
        assert_eq!(scene.follower.complaint(&file, &watch), None);
    }
}
