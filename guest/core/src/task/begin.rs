//! From an order to a task whose job runs: one commit, one start, or the task of an earlier call.

use super::durable::{Loaded, write};
use super::idempotency::{self, Claim, claim};
use super::keys::{self, Owner};
use super::order::Order;
use super::permit::{Permit, UsedFor};
use super::record::{Facts, Live, State, TaskRecord};
use super::start::{Remains, Start, start};
use super::{Durable, TaskId, spec};
use crate::imports::{
    Change, Expectation, JobSpec, StartError, Store, StoreError, StoreErrorKind, World,
};
use crate::limits::{CONFLICT_ATTEMPTS, END_BYTES, STORE_VALUE_BYTES};
use crate::outcome::Context;
use crate::rpc::RpcError;
use crate::wording::About;

/// What became of an order.
#[derive(Debug)]
pub(crate) enum Begun {
    /// A task whose job was started now.
    Task(Durable<Facts>),
    /// A task whose job was not started: somebody else decided over it before, and its state says so.
    Overtaken(Durable<Facts>),
    /// The task of an earlier call with the same idempotency key.
    Earlier(Loaded),
    /// Nothing yet: the idempotency key stands for this task, which has expired and whose job is being stopped.
    /// It is free when that job has ended.
    Ending(TaskId),
    /// Nothing: a person has to confirm it first, and no earlier call made it.
    Unconfirmed,
    /// Nothing: the confirmation was used before, for this.
    UsedUp(UsedFor),
    /// Nothing, for a reason that the caller can do something about.
    Refused(Refused),
}

/// Why an order was not carried out.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The job could not be started, and this is what is left of its task.
    NotStarted(StartError, Remains),
    /// The idempotency key stands for a task that another order made.
    OtherOrder(OtherOrder),
    /// The idempotency key is longer than this many bytes.
    KeyTooLong(usize),
    /// The order is longer than what the store takes beside its end.
    OrderTooLong,
}

/// The order that made the task for which an idempotency key stands.
#[derive(Debug)]
pub(crate) struct OtherOrder {
    /// The arguments in which it differs; none where its record is damaged.
    pub(crate) differences: Vec<&'static str>,
    /// Where its job runs, an absolute path; `None` where that is not known.
    pub(crate) directory: Option<String>,
}

/// Where the entry of an idempotency key is, and what has to be true of it.
type Slot<'a> = Option<(&'a str, Expectation)>;

/// Records the order and starts its job, or finds the task of an earlier call.
///
/// # Errors
/// [`RpcError::Store`] and [`RpcError::Jobs`]; nobody was told of a task by this call.
pub(crate) fn begin(
    world: &mut impl World,
    cx: &Context,
    order: &Order,
) -> Result<Begun, RpcError> {
    let owner = Owner::new(&cx.principal)?;
    let slot = match &order.idempotency_key {
        None => None,
        Some(key) => match owner.idempotency_key(order.tool_name(), key) {
            Some(slot) => Some(slot),
            None => {
                let limit = owner.idempotency_key_bytes(order.tool_name());
                return Ok(Begun::Refused(Refused::KeyTooLong(limit)));
            }
        },
    };
    for _ in 0..CONFLICT_ATTEMPTS {
        if let Some(begun) = attempt(world, cx, order, slot.as_deref())? {
            return Ok(begun);
        }
    }
    Err(RpcError::Internal(match order.about() {
        About::Run => "other servers keep using this idempotencyKey: try again",
        About::Configured => {
            "other servers keep using the key of this call, which is made of the arguments: try again"
        }
    }))
}

/// One attempt; `None` where what it read has changed, by somebody else's writing or its own.
fn attempt(
    world: &mut impl World,
    cx: &Context,
    order: &Order,
    slot: Option<&str>,
) -> Result<Option<Begun>, RpcError> {
    // Before the key is looked at: both are written at once, so where this says that the confirmation was used, the key
    // already stands for the task.
    let used_for = match &order.permit {
        Permit::Once(confirmation) => confirmation.used_for(world)?,
        Permit::Unneeded | Permit::Missing => None,
    };
    let claim = match slot {
        None => None,
        Some(slot) => Some((slot, claim(world, cx.now, (slot, order.about()))?)),
    };
    match claim {
        None | Some((_, Claim::Free(_))) if let Some(used_for) = used_for => {
            Ok(Some(Begun::UsedUp(used_for)))
        }
        None => create(world, cx, order, None),
        Some((slot, Claim::Free(expect))) => create(world, cx, order, Some((slot, expect))),
        Some((_, Claim::Taken(loaded))) => join(world, order, *loaded),
        // Whoever has to be asked first takes longer than what is ending.
        Some((_, Claim::Ending(_))) if order.permit == Permit::Missing => {
            Ok(Some(Begun::Unconfirmed))
        }
        Some((_, Claim::Ending(id))) => Ok(Some(Begun::Ending(id))),
    }
}

fn create(
    world: &mut impl World,
    cx: &Context,
    order: &Order,
    slot: Slot<'_>,
) -> Result<Option<Begun>, RpcError> {
    let mut others = Vec::new();
    match &order.permit {
        Permit::Unneeded => {}
        Permit::Missing => return Ok(Some(Begun::Unconfirmed)),
        Permit::Once(confirmation) => others.push(confirmation.use_up()),
    }
    let record = record(TaskId::from_random_bytes(world.random_bytes()), cx, order);
    // A task whose end cannot be written down would have none.
    if record.to_text().len() > STORE_VALUE_BYTES - END_BYTES {
        return Ok(Some(Begun::Refused(Refused::OrderTooLong)));
    }
    others.extend(indexes(&record.facts, slot)?);
    match write(world, record, Expectation::Absent, others) {
        Ok(facts) => Ok(Some(match start(world, cx.now, &facts, order) {
            Start::Started => Begun::Task(facts),
            Start::Overtaken => Begun::Overtaken(facts),
            Start::Failed(error, remains) => Begun::Refused(Refused::NotStarted(error, remains)),
        })),
        Err(error) => refusal(error),
    }
}

/// What a failed commit of a record means.
fn refusal(error: StoreError) -> Result<Option<Begun>, RpcError> {
    match error.kind {
        StoreErrorKind::Conflict => Ok(None),
        StoreErrorKind::TooLarge => Ok(Some(Begun::Refused(Refused::OrderTooLong))),
        StoreErrorKind::NoSpace | StoreErrorKind::Corrupt | StoreErrorKind::Other => {
            Err(error.into())
        }
    }
}

fn record(id: TaskId, cx: &Context, order: &Order) -> TaskRecord {
    TaskRecord {
        facts: Facts {
            id,
            principal: cx.principal.clone(),
            created_at: cx.now,
            ttl_ms: order.ttl_ms,
            label: order.label.clone(),
            idempotency_key: order.idempotency_key.clone(),
            confirmed_at: matches!(order.permit, Permit::Once(_)).then_some(cx.now),
            in_servers_directory: order.in_servers_directory,
            spec: spec::to_text(order.spec.clone()),
            tool: order.tool.clone().map(Box::new),
        },
        state: State::Live(Live {
            shared: false,
            cancel_requested: false,
            seen_at: None,
        }),
    }
}

fn indexes(facts: &Facts, slot: Slot<'_>) -> Result<Vec<Change>, RpcError> {
    let put = |key: String, value: String, expect| Change::Put { key, value, expect };
    let owner = Owner::new(&facts.principal)?.task(facts.created_at, &facts.id);
    let mut changes = vec![
        put(keys::live(&facts.id), "{}".to_owned(), Expectation::Absent),
        put(owner, "{}".to_owned(), Expectation::Absent),
    ];
    if let Some(moment) = facts.expires_at() {
        let key = keys::expiry(moment, &facts.id);
        changes.push(put(key, "{}".to_owned(), Expectation::Absent));
    }
    if let Some((slot, expect)) = slot {
        changes.push(put(slot.to_owned(), idempotency::entry(&facts.id), expect));
    }
    Ok(changes)
}

/// Gives the task of an earlier call for this one's, and never starts its job: one that is not known may have run,
/// and its files were deleted.
fn join(store: &mut impl Store, order: &Order, loaded: Loaded) -> Result<Option<Begun>, RpcError> {
    let Some(recorded) = loaded.facts.job_spec() else {
        return Ok(Some(Begun::Refused(Refused::OtherOrder(OtherOrder {
            differences: Vec::new(),
            directory: None,
        }))));
    };
    let differences = differences(&loaded, &recorded, order);
    if !differences.is_empty() {
        return Ok(Some(Begun::Refused(Refused::OtherOrder(OtherOrder {
            differences,
            directory: recorded.directory,
        }))));
    }
    match loaded.state {
        State::Live(live) if !live.shared => share(store, &loaded, live),
        State::Live(_) | State::Terminal(_) => Ok(Some(Begun::Earlier(loaded))),
    }
}

/// Says in the record that somebody is told of the task, before anybody is: the first call may still fail to start the
/// job, and would then remove the task. A job that shows is no sign that it has not failed yet.
fn share(store: &mut impl Store, loaded: &Loaded, live: Live) -> Result<Option<Begun>, RpcError> {
    let record = TaskRecord {
        facts: Facts::clone(&loaded.facts),
        state: State::Live(Live {
            shared: true,
            ..live
        }),
    };
    let expect = Expectation::WrittenBy(loaded.version);
    match write(store, record, expect, Vec::new()) {
        Ok(_) => Ok(None),
        Err(error) => refusal(error),
    }
}

/// The arguments in which an order differs from the one that made a task. Its time to live is in both specs. Of a
/// configured tool they are what its arguments make, and the directory where that is each server's own: all else is the
/// configuration's, and may be another by now.
fn differences(loaded: &Loaded, recorded: &JobSpec, order: &Order) -> Vec<&'static str> {
    let mut differences = spec::differences(recorded, &order.spec);
    let facts = &loaded.facts;
    if order.tool.is_some() {
        let are_in_servers_directory = facts.in_servers_directory && order.in_servers_directory;
        let is_meant = |name: &str| match name {
            "cwd" => are_in_servers_directory,
            "command" => !spec::are_of_one_program(recorded, &order.spec),
            name => spec::MADE_OF_ARGUMENTS.contains(&name),
        };
        differences.retain(|name| is_meant(name));
        return differences;
    }
    // The call of which it is not known where it would run named no directory. So where the other one named none
    // either, they may be one call. Two servers that know their directories do not make one call of two: the same key,
    // such as `test`, in another project is not to give this one's result.
    let may_be_the_same = match (&recorded.directory, &order.spec.directory) {
        (Some(_), Some(_)) | (None, None) => false,
        (None, Some(_)) => order.in_servers_directory,
        (Some(_), None) => facts.in_servers_directory,
    };
    if may_be_the_same {
        differences.retain(|name| *name != "cwd");
    }
    if facts.label != order.label {
        differences.push("label");
    }
    differences
}
