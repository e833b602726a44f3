"""The component in this process: its limits, what happens when it traps, and the file of its compiled form."""

import ctypes
import dataclasses
import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import wasmtime
from wasmtime import Engine, Instance, Module, _ffi

from backburner_host import byte_lists, limits
from backburner_host.capabilities import JobsFailure, Outcome, Progress, Prompt, Spec, StartError
from backburner_host.guest import Cancellation, ConfigError, Guest, Program, _Ticker
from backburner_host.jobs import SupervisedJobs
from backburner_host.memory_store import MemoryStore

from .support import DirectoryCase, component, program

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


def request(method: str, **params: object) -> str:
    """A request with the id 7."""
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params | {"_meta": META}})


class AtTerminal(SupervisedJobs):
    """Jobs that wait at a terminal, which an embedder may have."""

    typed: list[tuple[str, str | None]]

    def start(self, id: str, spec: Spec) -> None:
        self.typed = []
        super().start(id, dataclasses.replace(spec, interactive=False))

    def inspect(self, id: str) -> Progress | Outcome | None:
        state = super().inspect(id)
        if not isinstance(state, Progress) or self.typed:
            return state
        return dataclasses.replace(state, prompt=Prompt("p1", "Which branch?", False, state.started_at))

    def enter(self, id: str, key: str, line: str | None) -> None:
        self.typed.append((key, line))


class BrokenStore(MemoryStore):
    """A store that raises what no store may raise."""

    def get(self, key: str) -> None:
        raise RuntimeError("the store is broken")


class Component(DirectoryCase):
    """The guest."""

    def guest(self, store: MemoryStore | None = None, **config: Any) -> Guest:
        return Guest(program(), store or MemoryStore(), SupervisedJobs(self.directory), config)

    def test_a_configuration_is_refused_with_its_member(self) -> None:
        with self.assertRaisesRegex(ConfigError, "^/nonsense: ") as raised:
            self.guest(nonsense=1)
        self.assertEqual(raised.exception.at, "/nonsense")
        schema = {"type": "object", "properties": {"n": {"minimum": "1"}}}
        tool = {"name": "t", "description": "d", "shell": "true", "inputSchema": schema}
        with self.assertRaises(ConfigError) as raised:
            self.guest(tools=[tool])
        self.assertEqual(raised.exception.at, "/tools/0/inputSchema/properties/n/minimum")

    def test_a_message_is_answered_and_a_cancellation_names_its_request(self) -> None:
        guest = self.guest()
        self.assertIn("supportedVersions", guest.message("somebody", request("server/discover")))
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}}
        self.assertEqual(guest.message("somebody", json.dumps(cancelled)), Cancellation('"x"'))

    def test_what_the_jobs_of_an_embedder_wait_for_at_a_terminal_is_asked_and_typed(self) -> None:
        jobs = AtTerminal(self.directory)
        guest = Guest(program(), MemoryStore(), jobs, {"directLimitMs": 0, "terminals": True})

        def result(method: str, **params: object) -> dict[str, Any]:
            return json.loads(guest.message("somebody", request(method, **params)))["result"]

        arguments = {"command": "sleep 60", "interactive": True}
        with mock.patch.dict(META["io.modelcontextprotocol/clientCapabilities"], {"elicitation": {"form": {}}}):
            id = result("tools/call", name="run", arguments=arguments)["taskId"]
            asked = result("tasks/get", taskId=id)
            self.assertEqual(asked["status"], "input_required")
            [(key, asks)] = asked["inputRequests"].items()
            self.assertEqual(asks["params"]["message"], "Which branch?")
            result("tasks/update", taskId=id, inputResponses={key: {"action": "accept", "content": {"answer": "main"}}})
        self.assertEqual(jobs.typed, [("p1", "main")])
        result("tasks/cancel", taskId=id)

    def test_a_message_that_an_instance_traps_on_is_answered_and_the_next_one_too(self) -> None:
        guest = self.guest(BrokenStore())
        unknown = request("tasks/get", taskId="1c3f4a5e-7d21-4f0e-9a86-0d9f6a1b2c3d")
        with mock.patch("backburner_host.guest.warn"):
            reply = json.loads(guest.message("somebody", unknown))
        self.assertEqual((reply["id"], reply["error"]["code"]), (7, -32603))
        self.assertIn("result", json.loads(guest.message("somebody", request("server/discover"))))

    def test_what_a_host_says_of_a_directory_whose_name_is_no_text_is_told(self) -> None:
        call = request("tools/call", name="run", arguments={"command": "true"})
        for what, error in {
            "start": StartError("bad-directory", "the directory a\udcff is gone"),
            "inspect": JobsFailure("a\udcff cannot be read"),
        }.items():
            guest = self.guest()
            with (
                mock.patch.object(SupervisedJobs, what, side_effect=error),
                mock.patch("backburner_host.guest.warn") as warn,
            ):
                guest.message("somebody", call)
            warn.assert_not_called()

    def test_an_instance_gets_no_more_memory_than_it_may_have(self) -> None:
        with mock.patch.object(limits, "GUEST_MEMORY_BYTES", 4 << 20), mock.patch("backburner_host.guest.warn"):
            guest = self.guest()
            reply = json.loads(guest.message("somebody", request("server/discover", pad="x" * (8 << 20))))
            self.assertEqual(reply["error"]["code"], -32603)
            self.assertIn("result", json.loads(guest.message("somebody", request("server/discover"))))

    def test_an_instance_is_replaced_after_many_calls(self) -> None:
        make = mock.patch.object(Guest, "_make", autospec=True, side_effect=Guest._make)
        with mock.patch.object(limits, "CALLS_PER_INSTANCE", 3), make as made:
            guest = self.guest()
            replies = {guest.message("somebody", request("server/discover")) for _call in range(10)}
        self.assertEqual(len(replies), 1)
        # The first call of each configures it.
        self.assertEqual(made.call_count, 5)

    def test_the_compiled_component_is_kept_and_anything_else_is_replaced(self) -> None:
        Program(component(), self.directory)
        (kept,) = self.directory.iterdir()
        compiled = kept.read_bytes()
        for damaged in (b"", compiled[:1000], b"nonsense"):
            kept.write_bytes(damaged)
            Program(component(), self.directory)
            self.assertEqual(len(kept.read_bytes()), len(compiled))
        with mock.patch(
            "backburner_host.guest.Component", side_effect=AssertionError("it is not compiled again")
        ) as it:
            it.deserialize_file = wasmtime.component.Component.deserialize_file
            Program(component(), self.directory)

    def test_a_compiled_component_that_cannot_be_kept_leaves_nothing_and_is_used(self) -> None:
        full = OSError("as on a full disk")
        with mock.patch.object(Path, "rename", side_effect=full), mock.patch("backburner_host.guest.warn") as warn:
            Program(component(), self.directory)
        self.assertIn("cannot be kept", warn.call_args.args[0])
        self.assertEqual(list(self.directory.iterdir()), [])


class ByteLists(unittest.TestCase):
    """What replaces a method of wasmtime-py."""

    def test_a_list_of_bytes_arrives_as_it_was_given(self) -> None:
        engine = Engine()
        wat = '(component (import "read" (func (result (list u8)))))'
        result = wasmtime.component.Component(engine, wat).type.imports(engine)["read"].ty.result
        byte_lists.install()
        for given in (b"", bytes(range(256)), b"x" * 100_000):
            lowered = _ffi.wasmtime_component_val_t()
            result.convert_to_c(None, given, ctypes.pointer(lowered))
            self.assertEqual(result.convert_from_c(lowered), given)


class Time(unittest.TestCase):
    """The bound on what a component may compute."""

    def test_what_computes_for_ever_is_interrupted(self) -> None:
        config = wasmtime.Config()
        config.epoch_interruption = True
        engine = Engine(config)
        store = wasmtime.Store(engine)
        module = Module(engine, '(module (func (export "run") (loop (br 0))))')
        run = Instance(store, module, []).exports(store)["run"]
        store.set_epoch_deadline(2)
        with self.assertRaises(wasmtime.Trap) as caught, _Ticker(engine).running():
            run(store)
        self.assertEqual(caught.exception.trap_code, wasmtime.TrapCode.INTERRUPT)
