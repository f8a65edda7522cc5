"""Chooses the tool that isolates untrusted bots on this machine, by a trial run.

bwrap    bubblewrap: separate processes, mounts and network; run by root, also a separate user
setpriv  a separate user for each bot; requires root
none     no isolation: all entrants are trusted

An installed tool may still fail, as in many containers. So the choice depends on a trial: a small
program runs in the tool and must see Python, kibitz and the bots' files, but not the event's
directory or tokens.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from kibitz.process.isolation import entrypoint, uids
from kibitz.process.isolation.sandbox import Sandbox, command_line

Tool: TypeAlias = Literal["bwrap", "setpriv", "none"]
Wish: TypeAlias = Literal["auto", "bwrap", "setpriv", "none"]
WISHES: Final[tuple[Wish, ...]] = get_args(Wish)
BEST_FIRST: Final[tuple[Tool, ...]] = ("bwrap", "setpriv")
TRY_SECONDS: Final = 30.0
HOW: Final[dict[Tool, str]] = {
    "bwrap": "isolated by bwrap, with their own files and processes",
    "setpriv": "isolated by setpriv, with separate users but a shared network",
    "none": "trusted, and not isolated from each other or from this machine",
}
"""Descriptions of how entrants are isolated, by tool."""
_TRIAL = """
import importlib.util, json, os, sys
import kibitz.process.parent_death, pydantic_core
said = json.loads(sys.argv[1])
for name in ("kibitz_bots", "kibitz_protocol", "kibitz_games", "kibitz_search", "websockets"):
    spec = importlib.util.find_spec(name)
    if spec is None or not os.access(spec.origin, os.R_OK):
        sys.exit(f"the package {name} cannot be read by another user")
for path in said["seen"]:
    if not os.access(path, os.R_OK):
        sys.exit(f"{path} cannot be read by another user")
for path in said["hidden"]:
    if os.path.isdir(path) and os.access(path, os.R_OK) and os.listdir(path):
        sys.exit(f"{path} can be read by the bots")
    if os.path.isfile(path) and os.access(path, os.R_OK) and os.path.getsize(path):
        sys.exit(f"{path} can be read by the bots")
print("tried")
"""


class BackendError(ValueError):
    """The requested tool does not work here; the message says why."""


@dataclass(frozen=True)
class Isolation:
    """The isolation of untrusted bots."""

    tool: Tool
    why: str = ""
    """Why no better tool is used; empty if this is the best tool or the requested one."""
    hidden: Sequence[Path] = field(default=())
    """Paths hidden from all bots."""
    elsewhere: bool = False
    """Whether the server is on another machine, so that bots need a network."""

    @property
    def sentence(self) -> str:
        """A one-line description."""
        sentence = f"entrants are {HOW[self.tool]}"
        if self.tool == "bwrap":
            far = ", and the network is open to them because the server is on another machine"
            sentence += (
                far if self.elsewhere else ", and can reach only the server over the network"
            )
        return f"{sentence} ({self.why})" if self.why else sentence


TRUSTED: Final = Isolation("none")


def choose(
    wish: Wish, seen: Sequence[Path], hidden: Sequence[Path], covered: Sequence[Path] = ()
) -> Isolation:
    """Return the best isolation that works, or the requested one.

    Bots must be able to read `seen` and must not be able to read `hidden`; `covered` is hidden if
    the tool supports that. Raises `BackendError` if the requested tool does not work.
    """
    out_of_sight = [*hidden, *(path for path in covered if not _contains(path, seen))]
    if wish == "none":
        return Isolation("none", hidden=out_of_sight)
    tried: list[str] = []
    for tool in BEST_FIRST if wish == "auto" else (wish,):
        trouble = unusable(tool, seen, hidden)
        if trouble is None:
            return Isolation(tool, "; ".join(tried), out_of_sight)
        tried.append(f"{tool}: {trouble}")
    if wish != "auto":
        raise BackendError(f"--jail {wish} does not work here: {tried[0].partition(': ')[2]}")
    return Isolation("none", "; ".join(tried), out_of_sight)


def _contains(directory: Path, paths: Sequence[Path]) -> bool:
    return any(path.resolve().is_relative_to(directory.resolve()) for path in paths)


def unusable(tool: Tool, seen: Sequence[Path], hidden: Sequence[Path]) -> str | None:
    """Return why a tool cannot be used here, None if it can."""
    if shutil.which(tool) is None:
        return "not installed"
    if tool == "setpriv" and not uids.may_change():
        return "only root can give each bot its own user"
    sandbox = Sandbox(tool=tool, hidden=tuple(hidden), readable=tuple(seen), network=False)
    words = json.dumps({"seen": [*map(str, seen)], "hidden": [*map(str, hidden)]})
    # As for a real bot, the entry point runs in the sandbox and starts Python.
    trial = [sys.executable, "-I", "-S", entrypoint.__file__, "--"]
    trial += [sys.executable, "-P", "-c", _TRIAL, words]
    with uids.allocate(uids.may_change()) as user:
        command = command_line(sandbox, user, trial)
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TRY_SECONDS,
                cwd="/",
                errors="replace",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.returncode == 0 and done.stdout.strip() == "tried":
        return None
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"it exited with status {done.returncode}"
