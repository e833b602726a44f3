use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::digest::digest_of_arguments;
use super::secret::Secret;
use super::{Answered, Brought, PutAgain, Question, Rounds, Subject, Trust, signed};
use crate::imports::{Change, Entropy, Entry, Store, StoreError, Versioned};
use crate::input::Form;
use crate::tool::given::Given;

/// A store with one key and random bytes that count.
#[derive(Default)]
struct Safe {
    value: Option<String>,
    random: u8,
}

impl Store for Safe {
    fn get(&mut self, _key: &str) -> Result<Option<Versioned>, StoreError> {
        let value = self.value.clone();
        Ok(value.map(|value| Versioned { value, version: 1 }))
    }

    fn scan(
        &mut self,
        _prefix: &str,
        _after: Option<&str>,
        _limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        for change in changes {
            if let Change::Put { value, .. } = change {
                self.value = Some(value);
            }
        }
        Ok(())
    }
}

impl Entropy for Safe {
    fn random_bytes(&mut self) -> [u8; 16] {
        self.random += 1;
        [self.random; 16]
    }
}

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).expect("an object")
}

fn question(key: &str, trust: Trust) -> Question {
    Question {
        key: key.to_owned(),
        form: Form::yes_or_no(format!("May {key} be?"), "yes", "Yes"),
        trust,
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("it is a value")
}

/// The rounds of a call of `tool` by `me`, which bring these responses and this state.
fn take_up<'a>(
    safe: &mut Safe,
    arguments: &'a Map<String, Value>,
    responses: &[(&str, &'a RawValue)],
    state: Option<&str>,
) -> Rounds<'a> {
    let responses = responses.iter().map(|(key, raw)| ((*key).to_owned(), *raw));
    let brought = Brought {
        responses: responses.collect(),
        state: state.map(str::to_owned),
    };
    let subject = Subject {
        principal: "me",
        tool: "tool",
        now: 1_000,
    };
    Rounds::take_up(safe, subject, &Given::from(arguments.clone()), brought)
        .expect("it is a state of this call")
}

#[test]
fn the_order_of_arguments_makes_no_difference_and_all_else_does() {
    let digest = |text: &str| {
        digest_of_arguments(&Given::from(object(
            serde_json::from_str(text).expect("JSON"),
        )))
    };
    let same = digest(r#"{"a":{"c":[1,{"e":null,"d":"x"}],"b":true}}"#);
    let again = r#" { "a" : { "b" : true, "c" : [ 1, { "d" : "\u0078", "e" : null } ] } } "#;
    assert_eq!(digest(again), same);
    for other in [
        "{}",
        r#"{"a":{"c":[1,{"d":"x","e":null}],"b":false}}"#,
        r#"{"a":{"c":[{"d":"x","e":null},1],"b":true}}"#,
        r#"{"a":{"c":[1,{"d":"x"}],"b":true}}"#,
        r#"{"a":{"c":[1,{"d":"x","e":null}]},"b":true}"#,
        r#"{"a":{"c":[1.5,{"d":"x","e":null}],"b":true}}"#,
    ] {
        assert_ne!(digest(other), same, "{other}");
    }
    assert_ne!(digest(r#"{"a":"1"}"#), digest(r#"{"a":1}"#));
    assert_ne!(digest(r#"{"a":"b\":\"c"}"#), digest(r#"{"a":"b"}"#));
    assert_ne!(digest(r#"{"a":[],"b":[]}"#), digest(r#"{"a":[[]]}"#));
}

#[test]
fn which_argument_is_written_how_makes_a_difference() {
    let digest = |text: &str| {
        let arguments: BTreeMap<String, &RawValue> = serde_json::from_str(text).expect("JSON");
        digest_of_arguments(&Given::read(arguments).expect("they can be read"))
    };
    let same = digest(r#"{"a":1.50,"b":1.5}"#);
    assert_eq!(digest(r#"{"b":1.5, "a":1.50}"#), same);
    for other in [
        r#"{"a":1.5,"b":1.50}"#,
        r#"{"a":1.5,"b":1.5}"#,
        r#"{"a":1.50,"b":1.50}"#,
        r#"{"a":1.500,"b":1.5}"#,
    ] {
        assert_ne!(digest(other), same, "{other}");
    }
}

#[test]
fn only_what_the_key_signed_is_read() {
    let mut safe = Safe::default();
    let secret = Secret::read_or_make(&mut safe).expect("the store works");
    let other = Secret::read_or_make(&mut Safe {
        random: 100,
        ..Safe::default()
    })
    .expect("the store works");
    let text = signed::sign(&secret, "a text, with ümläuts");
    assert_eq!(
        signed::verified(&secret, &text).as_deref(),
        Some("a text, with ümläuts")
    );
    assert_eq!(signed::verified(&other, &text), None);
    for wrong in ["", ".", "a", "a.b", &text[1..], &text[..text.len() - 1]] {
        assert_eq!(signed::verified(&secret, wrong), None, "{wrong}");
    }
    assert_eq!(signed::verified(&secret, &format!("{text}=")), None);
    assert_eq!(signed::verified(&secret, &format!("{text}.")), None);
    assert_eq!(signed::verified(&secret, &format!("{text}A")), None);
}

#[test]
fn a_key_is_made_once_and_not_printed() {
    let mut safe = Safe::default();
    assert_eq!(Secret::read(&mut safe), Ok(None));
    let made = Secret::read_or_make(&mut safe).expect("the store works");
    assert_eq!(Secret::read(&mut safe), Ok(Some(made.clone())));
    assert_eq!(Secret::read_or_make(&mut safe), Ok(made.clone()));
    assert_eq!(format!("{made:?}"), "Secret");
    assert_eq!(made.bytes()[..16], [1; 16]);
    assert_eq!(made.bytes()[16..], [2; 16]);
}

#[test]
fn a_damaged_key_is_not_replaced() {
    for value in [
        "",
        "{}",
        r#"{"secret/1":"AAAA"}"#,
        r#"{"secret/1":"%"}"#,
        r#"{"secret/2":"A"}"#,
    ] {
        let mut safe = Safe {
            value: Some(value.to_owned()),
            random: 0,
        };
        assert!(Secret::read_or_make(&mut safe).is_err(), "{value}");
        assert_eq!(safe.value.as_deref(), Some(value));
    }
}

#[test]
fn answers_are_gathered_over_rounds() {
    let mut safe = Safe::default();
    let arguments = object(json!({ "a": 1 }));
    let yes = raw(&json!({ "action": "accept", "content": { "yes": true } }));
    let no = raw(&json!({ "action": "accept", "content": { "yes": false } }));
    let (one, two) = (question("one", Trust::Asked), question("two", Trust::Asked));
    let with = |answer: bool| Answered::With(object(json!({ "yes": answer })));

    let mut first = take_up(&mut safe, &arguments, &[], None);
    assert_eq!(first.answer(&one), Answered::Not);
    assert_eq!(first.confirmation(), None);
    let asked = first
        .ask(&mut safe, one.clone(), PutAgain::No)
        .expect("it is signed");

    let state = Some(asked.request_state.as_str());
    let mut second = take_up(
        &mut safe,
        &arguments,
        &[("one", &yes), ("two", &yes)],
        state,
    );
    assert_eq!(second.answer(&one), with(true));
    assert_eq!(second.answer(&two), Answered::Not, "nobody asked it yet");
    let confirmation = second.confirmation().expect("it was asked before");
    let asked = second
        .ask(&mut safe, two.clone(), PutAgain::No)
        .expect("it is signed");

    let state = Some(asked.request_state.as_str());
    let mut third = take_up(&mut safe, &arguments, &[("one", &no), ("two", &no)], state);
    assert_eq!(third.answer(&one), with(true), "what was answered stays");
    assert_eq!(third.answer(&two), with(false));
    assert_eq!(third.confirmation(), Some(confirmation));
}

#[test]
fn an_answer_belongs_to_what_was_asked() {
    let mut safe = Safe::default();
    let arguments = object(json!({}));
    let yes = raw(&json!({ "action": "accept", "content": { "yes": true } }));
    let (one, mut other) = (question("one", Trust::Asked), question("one", Trust::Asked));
    other.form = Form::yes_or_no("May something else be?".to_owned(), "yes", "Yes");
    let first = take_up(&mut safe, &arguments, &[], None);
    let asked = first
        .ask(&mut safe, one.clone(), PutAgain::No)
        .expect("it is signed");
    let state = Some(asked.request_state.as_str());
    let mut second = take_up(&mut safe, &arguments, &[("one", &yes)], state);
    assert_eq!(second.answer(&other), Answered::Not);
    other.trust = Trust::Fitting;
    let with = Answered::With(object(json!({ "yes": true })));
    assert_eq!(second.answer(&other), with);
}

#[test]
fn a_question_that_is_put_again_is_the_same_question() {
    let mut safe = Safe::default();
    let arguments = object(json!({}));
    let yes = raw(&json!({ "action": "accept", "content": { "yes": true } }));
    let one = question("one", Trust::Asked);
    let first = take_up(&mut safe, &arguments, &[], None);
    let again = PutAgain::Yes("Sorry.".to_owned());
    let asked = first
        .ask(&mut safe, one.clone(), again)
        .expect("it is signed");
    let text = serde_json::to_value(&asked).expect("it is JSON");
    let message = &text["inputRequests"]["one"]["params"]["message"];
    assert_eq!(message, "Sorry.\n\nMay one be?");
    let state = Some(asked.request_state.as_str());
    let mut second = take_up(&mut safe, &arguments, &[("one", &yes)], state);
    assert_eq!(
        second.answer(&one),
        Answered::With(object(json!({ "yes": true })))
    );
}

#[test]
fn what_is_no_answer_is_a_bad_one() {
    let mut safe = Safe::default();
    let arguments = object(json!({}));
    let one = question("one", Trust::Fitting);
    let check = |response: Value, expect: Answered| {
        let response = raw(&response);
        let mut rounds = take_up(
            &mut Safe::default(),
            &arguments,
            &[("one", &response)],
            None,
        );
        assert_eq!(rounds.answer(&one), expect, "{response}");
    };
    check(json!({ "action": "decline" }), Answered::Declined);
    check(
        json!({ "action": "cancel", "content": { "yes": true } }),
        Answered::Cancelled,
    );
    for bad in [
        json!(1),
        json!(null),
        json!(["accept"]),
        json!({}),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "yes": "true" } }),
        json!({ "action": "maybe", "content": { "yes": true } }),
    ] {
        let response = raw(&bad);
        let mut rounds = take_up(
            &mut Safe::default(),
            &arguments,
            &[("one", &response)],
            None,
        );
        let answered = rounds.answer(&one);
        assert!(
            matches!(answered, Answered::Badly(_)),
            "{bad}: {answered:?}"
        );
    }
    let mut rounds = take_up(&mut safe, &arguments, &[], None);
    assert_eq!(rounds.answer(&one), Answered::Not);
}
