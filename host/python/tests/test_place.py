"""Where a server works, and so its commands that name no directory."""

import os
from pathlib import Path

from backburner_host import config

from .support import TASKS, DirectoryCase, Server

PERSON = TASKS | {"elicitation": {}}
"""What a client can do that can ask its person."""


class Place(DirectoryCase):
    """Servers that keep everything in one directory, and work in others."""

    def server_in(self, place: Path) -> Server:
        place.mkdir()
        configuration = self.directory / "backburner.toml"
        configuration.write_text('[[confirm]]\npattern = "touch ..."\nreason = "it makes a file"\n')
        flags = ("--direct-limit", "60000", "--config", str(configuration))
        server = Server(self.directory / "data", *flags, place=place)
        self.addCleanup(server.kill)
        return server

    def confirmation(self, server: Server) -> list[str]:
        """The lines that a person is told who has to confirm a command."""
        call = {"name": "run", "arguments": {"command": "touch asked"}}
        result = server.ask("tools/call", call, PERSON)
        return result["inputRequests"]["confirm"]["params"]["message"].splitlines()

    def said(self, server: Server, command: str) -> str:
        """What a command writes, and how it ended."""
        result = server.ask("tools/call", {"name": "run", "arguments": {"command": command}})
        return result["content"][0]["text"]

    def test_who_confirms_a_command_is_told_where_the_server_works_and_there_it_runs(self) -> None:
        for name in ("one", "two"):
            place = self.directory.resolve() / name
            server = self.server_in(place)
            self.assertIn(f"Directory: {place}", self.confirmation(server))
            self.assertEqual(self.said(server, "pwd -P").splitlines()[-1], str(place))
            self.assertEqual(server.close(), [])

    def test_a_configuration_is_read_in_a_directory_whose_name_is_no_text(self) -> None:
        place = self.directory / os.fsdecode(b"a\xff")
        place.mkdir()
        (place / "backburner.toml").write_text("directLimitMs = 7\n")
        self.assertEqual(config.read(place / "backburner.toml"), {"directLimitMs": 7})

    def test_a_server_in_a_directory_whose_name_is_no_text_works_there_all_the_same(self) -> None:
        place = self.directory / os.fsdecode(b"a\xff")
        server = self.server_in(place)
        self.assertIn("Directory: the server's own", self.confirmation(server))
        self.assertIn("made 0", self.said(server, ">here; echo made $?"))
        self.assertTrue((place / "here").exists())
