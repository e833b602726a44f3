//! `subscriptions/listen`: what changes, told as it changes, until the client or the server ends it.
//!
//! Offers two of the kinds of notifications that there are: that the tools have changed, and the tasks of the caller's
//! that it names, each time they change, the first time at once. A subscription is a request that stays open, and all that
//! is known of it is in its ticket.
//!
//! *Source:* MCP 2026-07-28, Subscriptions; SEP-2663, Task Status Notifications.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::call_tool::Call;
use super::list_tools::fingerprint;
use super::ticket::Ticket;
use crate::config::Config;
use crate::imports::World;
use crate::input::Modes;
use crate::limits::{LISTENED_TASKS, TELL_AGAIN_MS};
use crate::meta::{self, Client};
use crate::outcome::{Context, Outcome, Pending, Wake};
use crate::rpc::members::{object, present, read};
use crate::rpc::notice::on_subscription;
use crate::rpc::{Id, RpcError, reply};
use crate::task::TaskId;
use crate::task::asking::{View, Viewer};
use crate::task::detail::{Detail, detail};
use crate::task::lookup::{lookup, own};

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    notifications: Option<&'a RawValue>,
}

/// What the client asks for; other kinds of notifications than these never come, and are not acknowledged.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filter<'a> {
    #[serde(default, borrow)]
    tools_list_changed: Option<&'a RawValue>,
    #[serde(default, borrow)]
    task_ids: Option<&'a RawValue>,
}

/// What it gets of that.
#[derive(Serialize)]
struct Acknowledged<'a> {
    notifications: Agreed<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Agreed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tools_list_changed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_ids: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct NoMembers {}

/// A subscription.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listening {
    /// The request that opened it, whose id is its own.
    request: Id,
    /// Where it is told that the tools have changed: what they were when it was last told.
    tools: Option<u64>,
    /// The tasks that have not ended.
    tasks: Vec<Watched>,
    /// How its client can ask its person.
    modes: Modes,
}

/// A task of a subscription.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Watched {
    task: TaskId,
    /// `None` where nothing has been told of it.
    told: Option<Told>,
}

/// What was last told of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    /// When, in milliseconds since 1970.
    at: u64,
    message: String,
    /// The keys of what the client was to ask its person.
    asked: Vec<String>,
}

/// Opens a subscription.
pub(super) fn handle(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    call: Call<'_>,
) -> Result<Outcome, RpcError> {
    let params: Params<'_> = object("params", call.request.params)?;
    let filter: Filter<'_> = object("notifications", params.notifications)?;
    let task_ids = task_ids(&filter, call.client)?;
    let mut listening = Listening {
        request: call.request.id.clone(),
        tools: wants_tools(&filter)?.then(|| fingerprint(config)),
        tasks: Vec::new(),
        modes: meta::declared(call.request)?.modes()?,
    };
    if let Some(texts) = &task_ids {
        listening.tasks = watched(world, cx, texts)?;
    }
    let acknowledgement = listening.acknowledgement(task_ids.is_some());
    let mut messages = vec![acknowledgement];
    messages.extend(listening.look(config, world, cx));
    Ok(listening.wait(cx, messages))
}

/// Tells what has changed meanwhile, and goes on; or ends the subscription.
pub(super) fn resume(
    config: &Config,
    world: &mut impl World,
    cx: &Context,
    (mut listening, why): (Listening, Wake),
) -> Outcome {
    if why == Wake::Shutdown {
        return Outcome::Reply(reply::end_of_subscription(&listening.request));
    }
    let mut messages = Vec::new();
    listening.compare_tools(config, &mut messages);
    messages.extend(listening.look(config, world, cx));
    listening.wait(cx, messages)
}

fn wants_tools(filter: &Filter<'_>) -> Result<bool, RpcError> {
    let Some(raw) = filter.tools_list_changed else {
        return Ok(false);
    };
    read(raw).map_err(|_| {
        RpcError::InvalidParams("`toolsListChanged` has to be true or false".to_owned())
    })
}

/// The ids of the tasks that are asked for, each once; `None` where no tasks are.
fn task_ids(filter: &Filter<'_>, client: Client) -> Result<Option<Vec<String>>, RpcError> {
    let Some(raw) = filter.task_ids else {
        return Ok(None);
    };
    if client == Client::Plain {
        return Err(RpcError::TasksUndeclared);
    }
    match read(raw) {
        Ok(ids) => distinct(ids).map(Some),
        Err(_) => Err(RpcError::InvalidParams(
            "`taskIds` has to be an array of strings".to_owned(),
        )),
    }
}

/// The ids without those that stand there again. Too many are refused, and not cut: the acknowledgement says which tasks
/// are listened to, but not why another one is not, and who misses one there takes it for unknown.
fn distinct(ids: Vec<String>) -> Result<Vec<String>, RpcError> {
    let mut seen = BTreeSet::new();
    let ids: Vec<String> = ids
        .into_iter()
        .filter(|id| seen.insert(id.clone()))
        .collect();
    match ids.len() {
        ..=LISTENED_TASKS => Ok(ids),
        many => Err(RpcError::InvalidParams(format!(
            "`taskIds` names {many} different tasks, a subscription may name at most {LISTENED_TASKS}: open another one \
             for the others"
        ))),
    }
}

/// Those of the tasks that the caller may see, in the order in which it named them.
fn watched(
    world: &mut impl World,
    cx: &Context,
    texts: &[String],
) -> Result<Vec<Watched>, RpcError> {
    let mut tasks = Vec::new();
    for text in texts {
        match lookup(world, cx, text) {
            Ok(loaded) => tasks.push(Watched {
                task: loaded.facts.id.clone(),
                told: None,
            }),
            Err(RpcError::UnknownTask | RpcError::ExpiredTask) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(tasks)
}

impl Listening {
    fn acknowledgement(&self, names_tasks: bool) -> String {
        let ids = || self.tasks.iter().map(|it| it.task.as_str()).collect();
        let notifications = Agreed {
            tools_list_changed: self.tools.is_some().then_some(true),
            task_ids: names_tasks.then(ids),
        };
        on_subscription(
            &self.request,
            "notifications/subscriptions/acknowledged",
            Acknowledged { notifications },
        )
    }

    /// Tells that the tools have changed, where they have.
    fn compare_tools(&mut self, config: &Config, messages: &mut Vec<String>) {
        let Some(known) = &mut self.tools else {
            return;
        };
        let now = fingerprint(config);
        if *known != now {
            *known = now;
            let method = "notifications/tools/list_changed";
            messages.push(on_subscription(&self.request, method, NoMembers {}));
        }
    }

    /// Tells of each task what has changed. One that has ended, or that is there no more, is forgotten.
    fn look(&mut self, config: &Config, world: &mut impl World, cx: &Context) -> Vec<String> {
        let viewer = Viewer {
            modes: self.modes,
            answer_command: config.answer_command.as_deref(),
        };
        let mut messages = Vec::new();
        for mut watched in std::mem::take(&mut self.tasks) {
            let found = own(world, cx, &watched.task).and_then(|it| detail(world, cx, it, viewer));
            let detail = match found {
                Ok(detail) => detail,
                Err(RpcError::UnknownTask | RpcError::ExpiredTask) => continue,
                // What cannot be looked at now is looked at again.
                Err(_) => {
                    self.tasks.push(watched);
                    continue;
                }
            };
            let is_due = watched.is_due(cx, &detail);
            if is_due {
                let method = "notifications/tasks";
                messages.push(on_subscription(&self.request, method, detail.wire(cx.now)));
            }
            if let Detail::Working(_, view) = &detail {
                if is_due {
                    watched.tell(cx, view);
                }
                self.tasks.push(watched);
            }
        }
        messages
    }

    /// Keeps the subscription open. A task that goes on is looked at again when there may be something new to tell.
    fn wait(self, cx: &Context, messages: Vec<String>) -> Outcome {
        let pending = Pending {
            request: self.request.to_json(),
            jobs: self
                .tasks
                .iter()
                .map(|it| it.task.as_str().to_owned())
                .collect(),
            deadline: match self.tasks.is_empty() {
                true => u64::MAX,
                false => cx.now.saturating_add(TELL_AGAIN_MS),
            },
            until_configured: self.tools.is_some(),
            ticket: Ticket::Listen(self).to_text(),
        };
        if messages.is_empty() {
            Outcome::Wait(pending)
        } else {
            Outcome::Notify { messages, pending }
        }
    }
}

impl Watched {
    /// Whether there is something to tell: an end and questions at once, other words at most once in a while.
    fn is_due(&self, cx: &Context, detail: &Detail) -> bool {
        match (detail, &self.told) {
            (Detail::Ended(..), _) | (_, None) => true,
            (Detail::Working(_, view), Some(told)) if keys(view) != told.asked => true,
            (Detail::Working(_, view), Some(told)) => {
                // A clock that was set back must not silence a subscription.
                let is_recent = cx
                    .now
                    .checked_sub(told.at)
                    .is_some_and(|ms| ms < TELL_AGAIN_MS);
                told.message != view.message && !is_recent
            }
        }
    }

    /// Keeps in mind what was told now.
    fn tell(&mut self, cx: &Context, view: &View) {
        self.told = Some(Told {
            at: cx.now,
            message: view.message.clone(),
            asked: keys(view),
        });
    }
}

/// The keys of what a viewer is to ask its person.
fn keys(view: &View) -> Vec<String> {
    view.requests.0.iter().map(|it| it.key.clone()).collect()
}
