//! Failures of imports, injected at a chosen call, or from one on.

/// A function that the core imports and that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Import {
    /// Of the jobs, as `enter` is, which fails in the same way.
    Answer,
    /// Of the store.
    Commit,
    /// Of the jobs.
    Forget,
    /// Of the store.
    Get,
    /// Of the jobs.
    Inspect,
    /// Of the jobs.
    Read,
    /// Of the store.
    Scan,
    /// Of the jobs.
    Start,
    /// Of the jobs.
    Stop,
}

impl Import {
    /// How it can fail by its contract; a server can also die before and after it.
    pub(crate) fn failures(self) -> &'static [Fault] {
        use Fault::*;
        match self {
            Self::Get | Self::Scan => &[Corrupt, Unclear],
            Self::Commit => &[Conflict, NoSpace, TooLarge, Corrupt, Unclear],
            Self::Start => &[AlreadyKnown, BadDirectory, BadSpec, NoSpace, Unclear],
            Self::Stop | Self::Answer | Self::Forget => &[NoSpace, Unclear],
            Self::Inspect | Self::Read => &[Unclear],
        }
    }

    /// What can go wrong with it: how it can fail, and both crashes.
    pub(crate) fn faults(self) -> impl Iterator<Item = Fault> {
        let crashes = [Fault::CrashBefore, Fault::CrashAfter];
        self.failures().iter().copied().chain(crashes)
    }

    /// Whether it needs room on the disk.
    fn writes(self) -> bool {
        matches!(self, Self::Commit | Self::Start | Self::Stop | Self::Answer)
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A commit finds that somebody else wrote in between.
    Conflict,
    /// The call fails and nothing happens, as on a full disk.
    NoSpace,
    /// A commit is too large.
    TooLarge,
    /// The store is damaged.
    Corrupt,
    /// A job is not started since somebody else stopped it before.
    AlreadyKnown,
    /// A job is not started since its directory cannot be used.
    BadDirectory,
    /// A job is not started since the host cannot do what it is told.
    BadSpec,
    /// The call fails; where its contract allows it, what it was to do has happened all the same.
    Unclear,
    /// The server's process dies before the call does anything.
    CrashBefore,
    /// The server's process dies after the call did everything, before it returned.
    CrashAfter,
}

/// How long something goes on to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// For one call.
    Once,
    /// Whenever the same import is called again.
    ForTheImport,
    /// Whatever is called; what cannot fail in this way fails in an unclear one.
    ForAll,
}

/// A call of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// What the server handled, as in [`Faults::handled`].
    pub(crate) handled: String,
    /// What it called.
    pub(crate) import: Import,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Plan {
    at: u64,
    fault: Fault,
    lasts: Lasts,
}

/// Which import call of a server goes wrong. After a crash every call fails and does nothing: what the
/// core still does then stands for what a dead process does not do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    planned: Option<Plan>,
    full_from: Option<u64>,
    /// Every call since the last [`Self::clear`], in order.
    pub(crate) calls: Vec<Call>,
    /// What of the plan came about first, since the last [`Self::clear`].
    pub(crate) fired: Option<(Call, Fault)>,
    /// What the server handles: a message, a ticket, or nothing in a sweep.
    pub(crate) handled: String,
    is_crashed: bool,
}

/// What a call has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Work.
    Work,
    /// Fail and do nothing.
    Fail(Fault),
    /// Work, then fail.
    WorkThenFail,
}

impl Faults {
    /// Lets the `calls`-th call from now on go wrong, counted from 0, once.
    pub(crate) fn plan(&mut self, calls: u64, fault: Fault) {
        self.plan_lasting(calls, fault, Lasts::Once);
    }

    /// Lets the `calls`-th call from now on go wrong, counted from 0, and later ones as long as it lasts.
    pub(crate) fn plan_lasting(&mut self, calls: u64, fault: Fault, lasts: Lasts) {
        self.planned = Some(Plan {
            at: self.next_call() + calls,
            fault,
            lasts,
        });
    }

    /// Lets the disk be full from the `calls`-th call from now on, counted from 0, until [`Self::clear`].
    pub(crate) fn fill_disk(&mut self, calls: u64) {
        self.full_from = Some(self.next_call() + calls);
    }

    /// Takes back what was planned, and brings a crashed server back to life as a new one. Gives whether it
    /// had crashed.
    pub(crate) fn clear(&mut self) -> bool {
        let was_crashed = self.is_crashed;
        *self = Self::default();
        was_crashed
    }

    /// Whether the server has died.
    pub(crate) fn is_crashed(&self) -> bool {
        self.is_crashed
    }

    /// Counts a call and says what it has to do.
    pub(crate) fn next(&mut self, import: Import) -> Verdict {
        let call = self.next_call();
        let handled = self.handled.clone();
        self.calls.push(Call {
            handled: handled.clone(),
            import,
        });
        if self.is_crashed {
            return Verdict::Fail(Fault::CrashBefore);
        }
        if import.writes() && self.full_from.is_some_and(|from| from <= call) {
            return Verdict::Fail(Fault::NoSpace);
        }
        let Some(fault) = self.planned_for(call, import) else {
            return Verdict::Work;
        };
        self.fired.get_or_insert((Call { handled, import }, fault));
        match fault {
            Fault::Unclear => Verdict::WorkThenFail,
            Fault::CrashAfter => {
                self.is_crashed = true;
                Verdict::WorkThenFail
            }
            Fault::CrashBefore => {
                self.is_crashed = true;
                Verdict::Fail(fault)
            }
            fault => Verdict::Fail(fault),
        }
    }

    /// What is to go wrong with this call.
    fn planned_for(&self, call: u64, import: Import) -> Option<Fault> {
        let Plan { at, fault, lasts } = self.planned.as_ref()?;
        let is_the_same = || {
            self.fired
                .as_ref()
                .is_some_and(|(it, _)| it.import == import)
        };
        let is_due = match lasts {
            _ if call == *at => true,
            Lasts::Once => false,
            Lasts::ForTheImport => is_the_same(),
            Lasts::ForAll => call > *at,
        };
        let is_possible = import.faults().any(|it| it == *fault);
        let fault = if is_possible { *fault } else { Fault::Unclear };
        is_due.then_some(fault)
    }

    fn next_call(&self) -> u64 {
        self.calls.len() as u64
    }
}
