"""The script that installs this package, with programs that only pretend to."""

import shutil
import subprocess
from pathlib import Path

from .support import DirectoryCase, component

HERE = Path(__file__).resolve().parent.parent

PYTHON3 = """#!/bin/sh
# Makes what an environment has, and says so.
echo made >> "$LOG"
rm -rf environment
mkdir -p environment/bin
cp "$FAKE/environment-python" environment/bin/python
"""

ENVIRONMENT_PYTHON = """#!/bin/sh
# Installs nothing; fails as a pip that was interrupted where a test says so.
case "$*" in *"pip install"*) echo installed >> "$LOG"; test ! -e "$FAKE/fail" ;; esac
"""


class Install(DirectoryCase):
    """What it makes again, and what it keeps."""

    def setUp(self) -> None:
        super().setUp()
        self.package, self.bench = self.directory / "package", self.directory / "bench"
        self.fake, self.log = self.directory / "fake", self.directory / "log"
        for directory in (self.package, self.fake):
            directory.mkdir()
        for name in ("install.sh", "pyproject.toml"):
            shutil.copy(HERE / name, self.package)
        for name, text in {"python3": PYTHON3, "environment-python": ENVIRONMENT_PYTHON}.items():
            (self.fake / name).write_text(text)
            (self.fake / name).chmod(0o755)

    def install(self, status: int = 0) -> list[str]:
        """What it did."""
        self.log.write_text("")
        environment = {
            "PATH": f"{self.fake}:/usr/bin:/bin",
            "FAKE": str(self.fake),
            "LOG": str(self.log),
            "BACKBURNER_COMPONENT": str(component()),
        }
        words = ["sh", self.package / "install.sh", self.bench]
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return self.log.read_text().split()

    def test_an_environment_is_made_once(self) -> None:
        self.assertEqual(self.install(), ["made", "installed"])
        self.assertEqual(self.install(), ["installed"])

    def test_one_that_was_interrupted_is_made_anew(self) -> None:
        (self.bench / "environment").mkdir(parents=True)
        self.assertEqual(self.install(), ["made", "installed"])
        (self.fake / "fail").touch()
        self.assertEqual(self.install(status=1), ["installed"])
        (self.fake / "fail").unlink()
        self.assertEqual(self.install(), ["made", "installed"])

    def test_one_for_other_requirements_is_made_anew(self) -> None:
        self.install()
        with open(self.package / "pyproject.toml", "a") as file:
            file.write("# another version\n")
        self.assertEqual(self.install(), ["made", "installed"])
