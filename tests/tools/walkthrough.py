"""Lets a test follow a page of the documentation from top to bottom, like a reader.

A page has blocks: a file (with its path in bold above the block), a change of a file (`diff`),
commands (`sh`), their expected output (`text`), and interactive commands (`console`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 300.0
_KIBITZ = 'kibitz() { python -m kibitz "$@"; }\n'
"""The command run by the tests' Python, even if the command is not installed."""
_STEP = re.compile(
    r"^(?:\*\*`(?P<path>[^`\n]+)`\*\*\n\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A block of a page."""

    kind: str
    path: str | None
    body: str


def steps(page: Path) -> Iterator[Step]:
    """Yield the blocks of a page in order."""
    for found in _STEP.finditer(page.read_text(encoding="utf-8")):
        yield Step(found["kind"], found["path"], found["body"])


def compare(expected: str, printed: str) -> None:
    """Fail unless the lines were printed in this order; dots match any text."""
    lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in expected.splitlines():
        wanted = re.compile(".*".join(re.escape(" ".join(p.split())) for p in line.split("...")))
        assert any(wanted.fullmatch(each) for each in lines), f"{line!r} is not in\n{printed}"


@dataclass
class Reader:
    """Follows pages in a directory. `environment` is added to the commands' environment."""

    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    printed: str = ""
    """The output of the last commands."""

    def follow(self, page: Path) -> None:
        """Execute each block of a page except interactive ones."""
        for step in steps(page):
            self.do(step)

    def do(self, step: Step) -> None:
        """Execute a block."""
        match step:
            case Step("diff", str(path), body):
                self.change(path, body)
            case Step(_, str(path), body):
                self.write(path, body)
            case Step("sh", None, body):
                self.printed = self.run(body)
            case Step("text", None, body):
                compare(body, self.printed)
            case Step(kind):
                assert kind in {"console", "json"}, f"unsupported block {kind}"

    def write(self, path: str, body: str) -> None:
        """Write a new file."""
        place = self.directory / path
        assert not place.exists(), f"{path} already exists"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(body, encoding="utf-8")

    def change(self, path: str, diff: str) -> None:
        """Apply a diff without line numbers; its context must occur exactly once."""
        lines = [(line[:1], line[1:] + "\n") for line in diff.splitlines()]
        before = "".join(text for sign, text in lines if sign in " -")
        after = "".join(text for sign, text in lines if sign in " +")
        place = self.directory / path
        text = place.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{path} has no unique place for {diff!r}"
        place.write_text(text.replace(before, after), encoding="utf-8")

    def run(self, commands: str) -> str:
        """Run commands in a shell and return the visible output."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", _KIBITZ + commands],
            cwd=self.directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        return done.stdout

    def _environment(self) -> dict[str, str]:
        """Return the caller's environment, with this Python on the PATH and uncompiled rules."""
        inherited = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "KIBITZ_"))
        }
        own = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "KIBITZ_PLAIN": "1",
        }
        return inherited | own | dict(self.environment)
