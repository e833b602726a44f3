//! What gets in the way of an action: imports that fail, servers that die, other servers.

use std::collections::BTreeSet;

use backburner_core::Context;

use super::{Action, Simulation};
use crate::support::FakeWorld;
use crate::support::coverage::{case, coarse};
use crate::support::interference::{self, Call, Interference};
use crate::support::messages::run;

impl Simulation {
    /// Plans what goes wrong when the calls that were just made are made from this world. False where nothing does.
    pub(super) fn plan(&mut self, before: &mut FakeWorld) -> bool {
        let calls = &self.world.faults.calls;
        if calls.is_empty() {
            return false;
        }
        if self.random.once_in(12) {
            before
                .faults
                .fill_disk(self.random.below(calls.len() as u64));
            return true;
        }
        let cases = (0..).zip(calls).flat_map(|(at, call)| {
            let faults = call.import.faults();
            faults.map(move |fault| (at, case(call, fault)))
        });
        let known: BTreeSet<_> = self.covered.iter().map(|case| coarse(*case)).collect();
        let (old, new): (Vec<_>, Vec<_>) =
            cases.partition(|(_, case)| known.contains(&coarse(*case)));
        // Some are so rare that no chance is to be missed.
        let (cases, odds) = if new.is_empty() { (old, 5) } else { (new, 2) };
        if !self.random.once_in(odds) {
            return false;
        }
        let kinds: BTreeSet<_> = cases.iter().map(|(_, case)| coarse(*case)).collect();
        let kind = *self.random.pick(&Vec::from_iter(kinds));
        let cases: Vec<_> = cases
            .into_iter()
            .filter(|(_, case)| coarse(*case) == kind)
            .collect();
        let (at, (_, _, fault)) = *self.random.pick(&cases);
        before.faults.plan(at, fault);
        true
    }

    /// Has another server do something in the middle of what comes next.
    pub(super) fn interrupt(&mut self, host: usize, action: &Action) {
        let call = self.elsewhere(action);
        let skew = *self.random.pick(&[0, 0, 0, 20_000, 3_600_000]);
        let now = self.world.clock + skew;
        self.promises.latest = self.promises.latest.max(now);
        self.world.interference = Some(Interference {
            after_calls: self.random.below(8),
            cx: Context {
                now,
                principal: self.hosts[host].principal.clone(),
            },
            config: interference::CONFIG,
            call,
        });
    }

    /// What another server does meanwhile, for another client of the same principal: often the same.
    fn elsewhere(&mut self, action: &Action) -> Call {
        if self.random.once_in(4) {
            return Call::Sweep;
        }
        if let Action::Send(body, _) = action
            && self.random.once_in(3)
        {
            return Call::Message(body.clone());
        }
        let live: Vec<_> = self
            .world
            .store
            .keys("task/")
            .iter()
            .map(|key| key[5..].to_owned())
            .collect();
        if self.random.once_in(2) || live.is_empty() {
            let (arguments, _) = self.arguments();
            let (id, client) = self.request();
            return Call::Message(run(id, client, &arguments));
        }
        let id = self.random.pick(&live).clone();
        let method = *self
            .random
            .pick(&["tasks/get", "tasks/update", "tasks/cancel"]);
        Call::Message(self.tasks_request(method, &id))
    }
}
