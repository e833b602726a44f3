"""The server as a client sees it, over stdio, in processes of its own."""

import json
import select
import subprocess
import sys
import time

from .support import (
    PATIENCE_SECONDS,
    PATIENT_PROGRAM,
    PROGRAM,
    DirectoryCase,
    Server,
    request,
    start,
    until,
)

UNREAD_REQUESTS = 100
"""How many requests have more replies than the pipe to us holds, and are no more than the pipe to the server holds."""


class Stdio(DirectoryCase):
    """A server on a data directory of its own."""

    def server(self, *flags: str) -> Server:
        server = Server(self.directory / "data", *flags)
        self.addCleanup(server.kill)
        return server

    def test_it_says_what_it_is(self) -> None:
        result = self.server().ask("server/discover", {})
        self.assertEqual(result["supportedVersions"], ["2026-07-28"])
        self.assertIn("io.modelcontextprotocol/tasks", result["capabilities"]["extensions"])

    def test_a_task_is_created_polled_and_its_result_fetched_by_another_server(self) -> None:
        first = self.server("--direct-limit", "0")
        id = first.run("echo out; echo err >&2; exit 3")
        self.assertEqual(first.close(), [])
        task = self.server().ended_task(id)
        self.assertEqual(task["status"], "completed")
        self.assertEqual(task["result"]["structuredContent"]["exitCode"], 3)
        text = task["result"]["content"][0]["text"]
        self.assertTrue("out" in text and "err" in text, text)

    def test_a_client_without_tasks_waits_for_its_result_and_not_for_others(self) -> None:
        server, gate = self.server(), self.gate()
        call = {"name": "run", "arguments": {"command": f"read _ < {gate}; echo waited"}}
        waiting = server.post("tools/call", call, {})
        server.ask("server/discover", {})
        gate.open()
        result = server.reply(waiting)["result"]
        self.assertIn("waited", result["content"][0]["text"])

    def test_a_cancelled_task_is_stopped(self) -> None:
        server = self.server("--direct-limit", "0", "--grace", "1")
        id = server.run("trap '' TERM; while true; do sleep 0.1; done")
        server.ask("tasks/cancel", {"taskId": id})
        self.assertEqual(server.ended_task(id)["status"], "cancelled")

    def test_a_job_goes_on_when_its_server_is_killed(self) -> None:
        first = self.server("--direct-limit", "0")
        go = self.directory / "go"
        id = first.run(f"until [ -e {go} ]; do sleep 0.05; done; echo went on; exit 7")
        first.kill()
        second = self.server()
        self.assertEqual(second.task(id)["status"], "working")
        go.touch()
        task = second.ended_task(id)
        self.assertEqual(task["result"]["structuredContent"]["exitCode"], 7)
        self.assertIn("went on", task["result"]["content"][0]["text"])

    def test_a_request_that_is_taken_back_is_not_answered(self) -> None:
        server, gate = self.server(), self.gate()
        taken_back = server.post("tools/call", {"name": "run", "arguments": {"command": f"read _ < {gate}"}}, {})
        server.notify_cancelled(taken_back)
        after = server.post("tools/call", {"name": "run", "arguments": {"command": "true"}}, {})
        self.assertEqual(server.receive()["id"], after)
        # What still waited would be answered now.
        self.assertEqual(server.close(), [])

    def test_what_waits_at_the_end_of_input_is_answered_with_what_is_known(self) -> None:
        server = self.server()
        id = server.post("tools/call", {"name": "run", "arguments": {"command": "sleep 60"}}, {})
        server.ask("server/discover", {})
        began = time.monotonic()
        (reply,) = server.close()
        self.assertLess(time.monotonic() - began, 30, "it does not wait for the job")
        self.assertEqual(reply["id"], id)
        task = reply["result"]["structuredContent"]["taskId"]
        second = self.server()
        second.ask("tasks/cancel", {"taskId": task})
        self.assertEqual(second.ended_task(task)["status"], "cancelled")

    def test_bad_input_is_refused_and_the_server_lives_on(self) -> None:
        server = self.server("--max-message-bytes", "2048")
        for bad, code in [
            (b"\xff\xfe\n", -32700),
            (b"nonsense\n", -32700),
            (b"[]\r\n", -32600),
            (b"x" * 3000 + b"\n", -32600),
        ]:
            server.send_raw(bad)
            self.assertEqual(server.receive()["error"]["code"], code, bad[:20])
        server.send_raw(b"\n\r\n")
        self.assertIn("supportedVersions", server.ask("server/discover", {}))
        self.assertEqual(server.close(), [])

    def test_requests_that_are_piped_in_and_closed_at_once_are_all_answered(self) -> None:
        server = self.server()
        ids = [server.post("tools/list", {}) for _request in range(50)]
        self.assertEqual([reply["id"] for reply in server.close()], ids)

    def hung_up_and_unread(self, program: tuple[str, str]) -> subprocess.Popen:
        """A server that serves, whose client asked a lot and waits for a job, closed its end, and has read nothing."""
        process = start(self.directory / "data", program=program)
        for undo in (process.wait, process.kill, process.stdout.close):
            self.addCleanup(undo)
        call = {"name": "run", "arguments": {"command": f"read _ < {self.gate()}"}}
        lines = [request(0, "tools/call", call, {})]
        lines += [request(id, "tools/list", {}) for id in range(1, UNREAD_REQUESTS + 1)]
        process.stdin.write(b"".join(lines))
        process.stdin.close()
        # Else `communicate` would want to write to it.
        process.stdin = None
        readable, _writable, _failed = select.select([process.stdout], [], [], PATIENCE_SECONDS)
        self.assertTrue(readable, "nothing is answered")
        return process

    def hung_up_and_long_unread(self) -> subprocess.Popen:
        """The same, for longer than a server would stay that waits for nobody. This one waits for ever."""
        process = self.hung_up_and_unread(PATIENT_PROGRAM)
        began = time.monotonic()

        def has_passed() -> bool:
            self.assertIsNone(process.poll(), "its replies are unread")
            return time.monotonic() > began + 1

        until("a while to pass", has_passed)
        return process

    def test_a_client_that_hung_up_and_reads_late_gets_every_reply_whole(self) -> None:
        process = self.hung_up_and_long_unread()
        text, _nothing = process.communicate(timeout=PATIENCE_SECONDS)
        replies = [json.loads(line) for line in text.splitlines()]
        self.assertEqual({reply["id"] for reply in replies}, set(range(UNREAD_REQUESTS + 1)))
        self.assertEqual(process.returncode, 0)

    def test_a_server_whose_replies_nobody_takes_ends_all_the_same(self) -> None:
        self.assertEqual(self.hung_up_and_unread(PROGRAM).wait(PATIENCE_SECONDS), 0)

    def test_a_server_that_waits_for_a_client_that_does_not_read_ends_when_it_is_asked_to(self) -> None:
        process = self.hung_up_and_long_unread()
        process.terminate()
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0)

    def test_a_directory_that_others_may_use_is_refused_and_left_alone(self) -> None:
        (self.directory / "data").mkdir(mode=0o755)
        words = [sys.executable, "-m", "backburner_host", "--data-dir", self.directory / "data"]
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("others may use", ended.stderr)
        self.assertEqual((self.directory / "data").stat().st_mode & 0o777, 0o755)

    def test_a_configuration_with_terminals_is_refused(self) -> None:
        configuration = self.directory / "backburner.toml"
        words = [sys.executable, "-m", "backburner_host", "--data-dir", self.directory / "data"]
        for value, status, said in (
            ("true", 1, "/terminals: the jobs of this server have no terminals; leave it out"),
            ('"true"', 1, "/terminals: "),
            ("false", 0, ""),
        ):
            configuration.write_text(f"terminals = {value}\n")
            ended = subprocess.run(
                [*words, "--config", configuration],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((ended.returncode, ended.stdout), (status, ""))
            self.assertIn(said, ended.stderr)

    def test_a_server_that_is_asked_to_end_ends_well(self) -> None:
        server = self.server()
        server.ask("server/discover", {})
        server.process.terminate()
        self.assertEqual(server.process.wait(PATIENCE_SECONDS), 0)

    def test_an_expired_task_is_swept_away(self) -> None:
        server = self.server("--direct-limit", "0", "--grace", "0")
        # Long enough to be looked at before.
        id = server.run("sleep 60", ttlSeconds=5)
        files = self.directory / "data" / "jobs" / id
        self.assertTrue(files.exists())
        until("the sweep to delete the job", lambda: not files.exists())
