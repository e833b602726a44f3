//! One pipe, and what was taken out of it and is not recorded yet.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::super::super::limits::{TAKEN_BYTES, TAKEN_WRITES};
use super::announcer::Basin;
use super::turns::{Packets, Reach};

/// The reading side of one stream.
pub(super) struct Tap {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    given: usize,
    filled: usize,
    /// How the bytes that are not given yet were divided.
    pub(super) packets: Packets,
}

impl Tap {
    /// A tap on an ordinary pipe, which does not block.
    pub(super) fn plain(pipe: OwnedFd) -> Self {
        // Without packets and announcements there is nothing to compare.
        Self::new(pipe, Packets::new(1, usize::MAX))
    }

    /// A tap on a pipe that keeps writes apart and does not block, to be emptied through this basin.
    pub(super) fn announced(pipe: OwnedFd, basin: &Basin) -> Self {
        let slots = basin.bytes / basin.page_bytes;
        Self::new(pipe, Packets::new(basin.page_bytes, slots))
    }

    /// A tap from which nothing comes.
    pub(super) fn closed() -> Self {
        Self::of(None, Packets::new(1, usize::MAX))
    }

    fn new(pipe: OwnedFd, packets: Packets) -> Self {
        Self::of(Some(pipe), packets)
    }

    fn of(pipe: Option<OwnedFd>, packets: Packets) -> Self {
        Self {
            pipe,
            // Memory that is never written is never there: a quiet job does not pay for it.
            bytes: vec![0; TAKEN_BYTES],
            given: 0,
            filled: 0,
            packets,
        }
    }

    /// The pipe, until the job closed its end.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Whether nothing more fits until something is given.
    pub(super) fn is_full(&self) -> bool {
        self.packets.reach == Reach::Part
    }

    /// Takes what is in the pipe, all or nothing where writes are announced. How many packets that is.
    pub(super) fn pull(&mut self, basin: Option<&Basin>) -> usize {
        let before = self.packets.sizes.len();
        let wanted = basin.map_or(1, |basin| basin.bytes);
        let fits = before < TAKEN_WRITES && self.bytes.len() - self.filled >= wanted;
        self.packets.reach = if fits { Reach::Everything } else { Reach::Part };
        if fits {
            match basin {
                Some(basin) => self.pull_through(basin),
                None => self.pull_directly(),
            }
        }
        self.packets.sizes.len() - before
    }

    /// Empties the pipe in one step into the basin, and that one packet by packet.
    fn pull_through(&mut self, basin: &Basin) {
        let Some(pipe) = &self.pipe else { return };
        let mut left = match basin.fill_from(pipe) {
            Ok(0) => return self.hang_up(),
            Ok(moved) => moved,
            // Empty, or a signal came, and then there is another turn.
            Err(_) => 0,
        };
        while left > 0 {
            let space = &mut self.bytes[self.filled..];
            match rustix::io::read(&basin.out, space) {
                Ok(taken) if taken > 0 => {
                    self.add(taken);
                    left = left.saturating_sub(taken);
                }
                Err(Errno::INTR) => {}
                // Never so, since what was moved is there; waiting for it would be worse than its loss.
                _ => break,
            }
        }
    }

    fn pull_directly(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        match rustix::io::read(pipe, &mut self.bytes[self.filled..]) {
            Ok(0) => self.hang_up(),
            Ok(taken) => self.add(taken),
            // Empty, or a signal came, and then there is another turn.
            Err(_) => {}
        }
    }

    fn hang_up(&mut self) {
        self.pipe = None;
        self.packets.closed = true;
    }

    fn add(&mut self, bytes: usize) {
        self.filled += bytes;
        self.packets.sizes.push(bytes);
    }

    /// The next bytes, which are thereby given.
    pub(super) fn give(&mut self, bytes: usize) -> &[u8] {
        let start = self.given;
        self.given += bytes;
        &self.bytes[start..self.given]
    }

    /// Makes room where bytes have been given.
    pub(super) fn compact(&mut self) {
        self.bytes.copy_within(self.given..self.filled, 0);
        self.filled -= self.given;
        self.given = 0;
    }

    /// Forgets what was taken.
    pub(super) fn discard(&mut self) {
        self.packets.sizes.clear();
        self.filled = 0;
        self.given = 0;
    }
}
