//! One instance of the component, and the limits that it runs under.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Engine, ResourceLimiter, Result, Store, UpdateDeadline};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use super::ticker::Ticker;
use crate::bindings::exports::backburner::server::protocol;
use crate::bindings::{Server, ServerPre};
use crate::jobs::Jobs;
use crate::limits::{
    CALLS_PER_INSTANCE, GUEST_MEMORY_BYTES, GUEST_TABLE_ELEMENTS, GUEST_TIME, KEPT_MEMORY_BYTES,
};

pub use protocol::{Context, Notice, Pending, Wake};

/// What is to be done after a call of the component.
#[derive(Debug)]
pub enum Step {
    /// Nothing.
    Nothing,
    /// Send this message; it is final.
    Reply(String),
    /// Keep the request open and resume it later.
    Wait(Pending),
    /// Send notifications, in this order, then keep the request open and resume it later.
    Notify(Notice),
    /// Resume the open request of this name as cancelled.
    Cancel(String),
}

impl From<protocol::Outcome> for Step {
    fn from(outcome: protocol::Outcome) -> Self {
        match outcome {
            protocol::Outcome::Nothing => Self::Nothing,
            protocol::Outcome::Reply(body) => Self::Reply(body),
            protocol::Outcome::Wait(pending) => Self::Wait(pending),
            protocol::Outcome::Notify(notice) => Self::Notify(notice),
            protocol::Outcome::Cancel(cancellation) => Self::Cancel(cancellation.request),
        }
    }
}

/// What the imports of one instance work with: a store and jobs, and as much of WASI as the component's standard
/// library cannot avoid. Also for a component other than ours that imports what it does.
pub struct State {
    pub(crate) store: Arc<dyn crate::store::Store>,
    pub(crate) jobs: Arc<dyn Jobs>,
    wasi: WasiCtx,
    resources: ResourceTable,
    memory: Memory,
    budget: Budget,
}

/// How much linear memory an instance has.
#[derive(Default)]
struct Memory {
    bytes: usize,
}

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> Result<bool> {
        let allowed = desired <= GUEST_MEMORY_BYTES;
        if allowed {
            self.bytes = desired;
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= GUEST_TABLE_ELEMENTS)
    }
}

/// How much of its time a call has used. Waiting in an import is the host's time, not the guest's.
struct Budget {
    started: Instant,
    host: Duration,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl State {
    /// For one instance.
    #[must_use]
    pub fn new(store: Arc<dyn crate::store::Store>, jobs: Arc<dyn Jobs>) -> Self {
        Self {
            store,
            jobs,
            wasi: wasi(),
            resources: ResourceTable::new(),
            memory: Memory::default(),
            budget: Budget {
                started: Instant::now(),
                host: Duration::ZERO,
            },
        }
    }

    /// Does the work of an import, at the host's expense.
    pub(crate) fn on_host<T>(&mut self, work: impl FnOnce(&Self) -> T) -> T {
        let started = Instant::now();
        let result = work(self);
        self.budget.host += started.elapsed();
        result
    }

    fn guest_time(&self) -> Duration {
        self.budget
            .started
            .elapsed()
            .saturating_sub(self.budget.host)
    }
}

/// Nothing but random numbers and clocks, and standard error for the message of a panic. Sockets are refused as such,
/// and not only each address.
fn wasi() -> WasiCtx {
    WasiCtx::builder()
        .inherit_stderr()
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.resources,
        }
    }
}

/// What a component may import: ours, and all of WASI, of which ours uses random numbers and what its standard library
/// cannot avoid. It is given no directory, no socket and no environment.
///
/// # Errors
/// Where the engine is set up in a way that cannot run components.
pub fn linker(engine: &Engine) -> Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    Server::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    Ok(linker)
}

/// An instance that was configured and has not trapped.
pub(crate) struct Instance {
    store: Store<State>,
    server: Server,
    calls_left: u32,
}

impl Instance {
    /// Makes one, without configuring it.
    pub(crate) fn new(server: &ServerPre<State>, state: State) -> Result<Self> {
        let mut store = Store::new(server.engine(), state);
        store.limiter(|state| &mut state.memory);
        store.epoch_deadline_callback(|cx| {
            if cx.data().guest_time() < GUEST_TIME {
                return Ok(UpdateDeadline::Continue(1));
            }
            wasmtime::bail!(
                "the guest computed for more than {} s",
                GUEST_TIME.as_secs()
            )
        });
        store.set_epoch_deadline(1);
        let server = server.instantiate(&mut store)?;
        Ok(Self {
            store,
            server,
            calls_left: CALLS_PER_INSTANCE,
        })
    }

    /// Whether it may be used again.
    pub(crate) fn is_fresh(&self) -> bool {
        self.calls_left > 0 && self.store.data().memory.bytes <= KEPT_MEMORY_BYTES
    }

    /// Calls one export with a full budget. After an error the instance must be dropped.
    ///
    /// A panic of an import is an error like a trap: it costs this call and this instance, and not the thread, which is
    /// somebody else's and may be the last one that reads messages.
    pub(crate) fn call<T>(
        &mut self,
        ticker: &Ticker,
        export: impl FnOnce(&protocol::Guest, &mut Store<State>) -> Result<T>,
    ) -> Result<T> {
        let _running = ticker.running();
        self.calls_left = self.calls_left.saturating_sub(1);
        self.store.data_mut().budget = Budget {
            started: Instant::now(),
            host: Duration::ZERO,
        };
        self.store.set_epoch_deadline(1);
        // What the panic left of the instance is dropped. What the store and the jobs share between calls is theirs to
        // keep whole.
        catch_unwind(AssertUnwindSafe(|| {
            export(self.server.backburner_server_protocol(), &mut self.store)
        }))
        .unwrap_or_else(|_reported| Err(wasmtime::format_err!("an import panicked")))
    }
}

#[cfg(test)]
mod tests;
