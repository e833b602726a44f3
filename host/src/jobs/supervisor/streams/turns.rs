//! Whose turn it is: announcements, which say in which order the streams were written, and packets, which say
//! how much a write was, put together. Knows no system call.
//!
//! An announcement stands for one write, and mostly a packet does. The exceptions decide the rest:
//!
//! - A write longer than a page is several packets, all but the last a page long. Whether a full packet ends
//!   its write is told by the count: there must be as many writes as announcements.
//! - A writer that finds the pipe full announces that too, so there are more announcements than writes. That
//!   is after as many packets as the pipe has room for, and there the additional ones are taken out.
//! - What was recorded without its announcement is announced later, in front of everything else.
//! - Writers may merge or split packets (`splice`, a pipe opened anew): then what is there is given in turn.

use std::collections::VecDeque;

use super::super::super::limits::WAITING_TURNS;
use super::Rest;

/// How the bytes that were taken out of a pipe were divided in it.
#[derive(Debug)]
pub(super) struct Packets {
    /// The size of each packet in bytes, the oldest first; never 0.
    pub(super) sizes: Vec<usize>,
    /// Whether there is more in the pipe.
    pub(super) reach: Reach,
    /// The size at which a packet is full, in bytes.
    pub(super) page_bytes: usize,
    /// Whether the job closed its end.
    pub(super) closed: bool,
    /// How many packets the pipe has room for.
    slots: usize,
    /// After how many packets a writer may have found the pipe full, in ascending order.
    full_after: Vec<usize>,
    /// Whether it is already known that one waits until the pipe is read.
    waiting: bool,
}

/// How far a pipe was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Until it was empty.
    Everything,
    /// As much as fitted.
    Part,
}

/// So many bytes of the stream with this index come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The stream's index.
    pub(super) of: usize,
    /// How many bytes.
    pub(super) bytes: usize,
}

/// One write, whole or as far as it is known.
#[derive(Default)]
struct Write {
    bytes: usize,
    packets: usize,
}

/// A number of writes to one stream, one after the other.
struct Run {
    of: usize,
    writes: usize,
}

/// The announcements that have not been used yet.
#[derive(Default)]
pub(super) struct Turns {
    runs: VecDeque<Run>,
    /// How many more announcements than packets there were, of each stream.
    excess: [usize; 2],
    lost: bool,
}

impl Packets {
    /// None yet, of a pipe with room for so many packets of so many bytes each.
    pub(super) fn new(page_bytes: usize, slots: usize) -> Self {
        Self {
            sizes: Vec::new(),
            reach: Reach::Everything,
            page_bytes,
            closed: false,
            slots,
            full_after: Vec::new(),
            waiting: false,
        }
    }

    /// How many writes can have been announced before the pipe is read again.
    pub(super) fn most_writes(&self) -> usize {
        self.sizes.len().saturating_add(self.slots)
    }

    /// Takes note that so many packets, the last ones, came in one step.
    fn pulled_at_once(&mut self, count: usize) {
        let known = std::mem::take(&mut self.waiting);
        if count >= self.slots && !known {
            self.full_after.push(self.sizes.len() - count + self.slots);
        }
    }

    /// Takes away packets that were recorded.
    fn remove(&mut self, gone: usize) {
        self.sizes.drain(..gone);
        self.full_after.retain(|after| *after > gone);
        for after in &mut self.full_after {
            *after -= gone;
        }
    }

    /// How many writes there are at least: a packet that is full may belong to the next one.
    fn least_writes(&self) -> usize {
        let Some((_last, others)) = self.sizes.split_last() else {
            return 0;
        };
        1 + others
            .iter()
            .filter(|size| **size != self.page_bytes)
            .count()
    }

    /// Divides the packets into this many writes, if that is possible.
    fn writes(&self, wanted: usize) -> VecDeque<Write> {
        let mut spare = wanted.saturating_sub(self.least_writes());
        let mut writes = VecDeque::with_capacity(self.sizes.len());
        let mut open = Write::default();
        for (number, size) in self.sizes.iter().enumerate() {
            open.bytes += size;
            open.packets += 1;
            let is_end = *size != self.page_bytes || number + 1 == self.sizes.len();
            if is_end || spare > 0 {
                spare -= usize::from(!is_end);
                writes.push_back(std::mem::take(&mut open));
            }
        }
        writes
    }
}

impl Turns {
    /// Takes note of announcements by streams' indexes, of which at most so many of each stream can be writes.
    pub(super) fn announce(
        &mut self,
        streams: &[usize],
        most: [usize; 2],
        packets: &mut [&mut Packets; 2],
    ) {
        let mut announced = [self.announced(0), self.announced(1)];
        for of in streams.iter().copied() {
            announced[of] += 1;
            // One too many is a writer that waits for room, and will be heard of again when it has written:
            // this one, unless one of the earlier may have been it.
            if announced[of] > most[of] && packets[of].full_after.is_empty() {
                packets[of].waiting = true;
            } else {
                self.push(of);
            }
        }
    }

    fn push(&mut self, of: usize) {
        let is_full = self.runs.len() == WAITING_TURNS;
        match self.runs.back_mut() {
            Some(last) if last.of == of => last.writes += 1,
            _ if is_full => self.lose(),
            _ => self.runs.push_back(Run { of, writes: 1 }),
        }
    }

    /// Takes note that announcements are missing.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// Compares what was announced with what was read after it, in one step the last `pulled` packets.
    pub(super) fn compare(&mut self, of: usize, packets: &mut Packets, pulled: usize) {
        let announced = self.announced(of);
        // What had been read by then was announced, and nothing else: nobody but those had waited.
        if announced == packets.sizes.len() - pulled + self.excess[of] {
            packets.full_after.truncate(self.excess[of]);
        }
        packets.pulled_at_once(pulled);
        let excess = announced.saturating_sub(packets.sizes.len());
        // What is announced has been written, so what is in excess once stays so.
        self.excess[of] = self.excess[of].max(excess);
    }

    /// Whether all packets are announced and all announcements have their packet, for certain.
    pub(super) fn agree_with(&self, packets: [&Packets; 2]) -> bool {
        let agrees = |(of, packets): (usize, &Packets)| {
            let excess = self.excess[of];
            let possible = [packets.sizes.len(), packets.least_writes()].map(|it| it + excess);
            // Each time that the pipe was full, somebody may have waited.
            excess == packets.full_after.len() && possible.contains(&self.announced(of))
        };
        !self.lost && packets.into_iter().enumerate().all(agrees)
    }

    /// Says what comes in which order, and forgets it. What is left is what waits for packets or
    /// announcements that are still to be read, as `rest` says.
    pub(super) fn resolve(&mut self, packets: &mut [&mut Packets; 2], rest: Rest) -> Vec<Turn> {
        if std::mem::take(&mut self.lost) {
            self.runs.clear();
            // It is a part of what has just been forgotten.
            self.excess = [0; 2];
        }
        let mut writes = [0, 1].map(|of| self.writes(of, packets[of]));
        let mut turns = self.announced_turns(packets, &mut writes, rest);
        // What is left was not announced. With everything read, nobody would announce it any more; and
        // whatever is left, something has to be given each time.
        if turns.is_empty() || (rest == Rest::Nothing && self.runs.is_empty()) {
            for of in [0, 1] {
                add(&mut turns, of, writes[of].drain(..));
            }
        }
        for of in [0, 1] {
            let left: usize = writes[of].iter().map(|write| write.packets).sum();
            packets[of].remove(packets[of].sizes.len() - left);
        }
        turns
    }

    /// What was announced, up to what waits for packets that did not fit.
    fn announced_turns(
        &mut self,
        packets: &[&mut Packets; 2],
        writes: &mut [VecDeque<Write>; 2],
        rest: Rest,
    ) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Some(run) = self.runs.front_mut() {
            let possible = run.writes.min(writes[run.of].len());
            add(&mut turns, run.of, writes[run.of].drain(..possible));
            run.writes -= possible;
            let is_open = rest == Rest::More || packets[run.of].reach == Reach::Part;
            if run.writes > 0 && is_open {
                break;
            }
            self.runs.pop_front();
        }
        turns
    }

    /// The writes of a stream, with what was announced in excess of them taken out of the runs.
    fn writes(&mut self, of: usize, packets: &mut Packets) -> VecDeque<Write> {
        let excess = std::mem::take(&mut self.excess[of]);
        let writes = packets.writes(self.announced(of).saturating_sub(excess));
        if packets.reach == Reach::Everything {
            self.drop_excess(of, &writes, packets, excess);
        }
        writes
    }

    fn announced(&self, of: usize) -> usize {
        let own = self.runs.iter().filter(|run| run.of == of);
        own.map(|run| run.writes).sum()
    }

    /// Takes out announcements that were no writes: that the pipe was closed, that it was full, or what was
    /// recorded before it was announced.
    fn drop_excess(
        &mut self,
        of: usize,
        writes: &VecDeque<Write>,
        packets: &mut Packets,
        excess: usize,
    ) {
        let mut left = excess;
        if packets.closed && left > 0 {
            self.remove(of, self.announced(of) - 1, 1);
            left -= 1;
        }
        let used = left.min(packets.full_after.len());
        for after in packets.full_after.drain(..used) {
            self.remove(of, writes_in(writes, after), 1);
        }
        left -= used;
        self.remove(of, 0, left);
    }

    /// Takes out this many announcements of a stream, after the first `kept` of them.
    fn remove(&mut self, of: usize, mut kept: usize, mut excess: usize) {
        for run in self.runs.iter_mut().filter(|run| run.of == of) {
            let removable = run.writes.saturating_sub(kept).min(excess);
            kept = kept.saturating_sub(run.writes);
            run.writes -= removable;
            excess -= removable;
        }
    }
}

/// How many writes these first packets are.
fn writes_in(writes: &VecDeque<Write>, packets: usize) -> usize {
    let mut used = 0;
    let whole = writes.iter().take_while(|write| {
        used += write.packets;
        used <= packets
    });
    whole.count()
}

/// Adds writes of a stream to what comes next.
fn add(turns: &mut Vec<Turn>, of: usize, writes: impl Iterator<Item = Write>) {
    let bytes = writes.map(|write| write.bytes).sum();
    match turns.last_mut() {
        _ if bytes == 0 => {}
        Some(last) if last.of == of => last.bytes += bytes,
        _ => turns.push(Turn { of, bytes }),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
