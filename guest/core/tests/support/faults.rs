//! Failures of imports, injected at a chosen call, or from one on.

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call fails and nothing happens, as on a full disk.
    NoSpace,
    /// The call fails; where its contract allows it, what it was to do has happened all the same.
    Unclear,
    /// The server's process dies before the call does anything.
    CrashBefore,
    /// The server's process dies after the call did everything, before it returned.
    CrashAfter,
}

/// Which import call of a server goes wrong. After a crash every call fails and does nothing: what the
/// core still does then stands for what a dead process does not do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    planned: Option<(u64, Fault)>,
    full_from: Option<u64>,
    calls: u64,
    is_crashed: bool,
}

/// What a call does with a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It needs no room there.
    Read,
    /// It needs room there.
    Write,
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
        self.planned = Some((self.calls + calls, fault));
    }

    /// Lets the disk be full from the `calls`-th call from now on, counted from 0, until [`Self::clear`].
    pub(crate) fn fill_disk(&mut self, calls: u64) {
        self.full_from = Some(self.calls + calls);
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
    pub(crate) fn next(&mut self, access: Access) -> Verdict {
        let call = self.calls;
        self.calls += 1;
        if self.is_crashed {
            return Verdict::Fail(Fault::CrashBefore);
        }
        let is_full = self.full_from.is_some_and(|from| from <= call);
        match self.planned {
            _ if is_full && access == Access::Write => Verdict::Fail(Fault::NoSpace),
            Some((at, fault)) if at == call => {
                self.is_crashed = matches!(fault, Fault::CrashBefore | Fault::CrashAfter);
                match fault {
                    Fault::NoSpace | Fault::CrashBefore => Verdict::Fail(fault),
                    Fault::Unclear | Fault::CrashAfter => Verdict::WorkThenFail,
                }
            }
            _ => Verdict::Work,
        }
    }
}
