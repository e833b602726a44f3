//! `tasks/update`: answers to a task's questions.
//!
//! *Source:* SEP-2663, Task Update Requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::task_request::{acknowledged, task_id};
use crate::imports::{JobState, World};
use crate::input::{Asked, Open, fitting, typed};
use crate::outcome::{Context, Outcome};
use crate::rpc::members::{entries, object, present};
use crate::rpc::{Request, RpcError};
use crate::task::durable::Loaded;
use crate::task::lookup::lookup;
use crate::task::misfit;
use crate::task::record::State;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    input_responses: Option<&'a RawValue>,
}

/// Acknowledges answers to a task that exists when every one that fits an open question has reached the job. One that
/// does not fit leaves its question open, and one to anything else is ignored whatever it says.
pub(super) fn handle(
    world: &mut impl World,
    cx: &Context,
    request: &Request<'_>,
) -> Result<Outcome, RpcError> {
    let task_id = task_id(request)?;
    let params: Params<'_> = object("params", request.params)?;
    let answers = entries("inputResponses", params.input_responses)?;
    let loaded = lookup(world, cx, &task_id)?;
    if !answers.is_empty() {
        answer(world, &loaded, &answers)?;
    }
    Ok(acknowledged(request))
}

fn answer(
    world: &mut impl World,
    loaded: &Loaded,
    answers: &BTreeMap<String, &RawValue>,
) -> Result<(), RpcError> {
    // Whose end is written down asks nothing.
    if matches!(loaded.state, State::Terminal(_)) {
        return Ok(());
    }
    let id = &loaded.facts.id;
    let JobState::Running(progress) = world.inspect(id.as_str())? else {
        return Ok(());
    };
    let mut unfit = None;
    for Open { key, form } in Asked::by(&progress).open {
        let Some(answer) = answers.get(&key) else {
            continue;
        };
        let is_typed = progress.prompt.as_ref().is_some_and(|it| it.key == key);
        let fit = if is_typed {
            let line = typed(&form, answer);
            line.map(|line| world.enter(id.as_str(), &key, line.as_deref()))
        } else {
            let answer = fitting(&form, answer);
            answer.map(|answer| world.answer(id.as_str(), &key, &answer))
        };
        match fit {
            Ok(passed_on) => passed_on?,
            Err(why) => unfit = Some((key, why)),
        }
    }
    // Only the last one stays, and each commit takes its time.
    if let Some((key, why)) = unfit {
        misfit::remember(world, id, &key, &why);
    }
    Ok(())
}
