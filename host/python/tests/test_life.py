"""When a job is stopped, in time that the tests make."""

import unittest

from backburner_host.life import KILL, TERMINATE, WAIT, Life
from backburner_host.limits import KILL_AGAIN_MS, LINGER_MS

START = 1000


def life(grace_ms: int, timeout_ms: int | None = None, lifetime_ms: int | None = None) -> Life:
    """A job that was started at `START`."""
    return Life({"grace_ms": grace_ms, "timeout_ms": timeout_ms, "lifetime_ms": lifetime_ms}, START)


class LifeOfAJob(unittest.TestCase):
    """The state machine."""

    def test_a_stopped_job_is_terminated_and_after_its_grace_killed_again_and_again(self) -> None:
        job = life(500)
        self.assertIsNone(job.wake_at_ms())
        self.assertEqual(job.stop("cancelled", 2000), TERMINATE)
        self.assertEqual(job.wake_at_ms(), 2500)
        self.assertEqual([job.tick(2499), job.tick(2500), job.tick(2501)], [WAIT, KILL, WAIT])
        self.assertEqual(job.tick(2500 + KILL_AGAIN_MS), KILL)
        self.assertEqual(job.stopped, "cancelled")

    def test_without_a_grace_it_is_killed_at_once(self) -> None:
        self.assertEqual(life(0).stop("shut-down", 2000), KILL)

    def test_the_first_cause_stays(self) -> None:
        job = life(500)
        job.stop("timed-out", 2000)
        self.assertEqual(job.stop("cancelled", 2001), WAIT)
        self.assertEqual(job.stopped, "timed-out")

    def test_the_earlier_of_timeout_and_lifetime_is_the_cause(self) -> None:
        self.assertEqual(life(1, 10, 20).overdue(START + 10), "timed-out")
        self.assertEqual(life(1, 30, 20).overdue(START + 20), "expired")
        self.assertIsNone(life(1, 10).overdue(START + 9))

    def test_a_deadline_does_not_touch_a_command_that_has_ended(self) -> None:
        job = life(500, 10)
        job.command_ended(START + 5)
        self.assertIsNone(job.overdue(START + 20))
        self.assertIsNone(job.stopped)

    def test_what_outlives_the_command_lingers_and_is_then_ended(self) -> None:
        job = life(500)
        job.command_ended(2000)
        self.assertEqual(job.tick(2000 + LINGER_MS - 1), WAIT)
        self.assertFalse(job.has_leftovers)
        self.assertEqual(job.tick(2000 + LINGER_MS), TERMINATE)
        self.assertTrue(job.has_leftovers)
        self.assertIsNone(job.stopped, "the command ended by itself")

    def test_a_stop_hurries_leftovers_and_is_not_their_commands_cause(self) -> None:
        job = life(500)
        job.command_ended(2000)
        self.assertEqual(job.stop("cancelled", 2001), TERMINATE)
        self.assertIsNone(job.stopped)
