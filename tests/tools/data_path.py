"""The path of one move through the server: the files it enters and how often it changes file.

A match of five in a row with two players and a spectator runs on a `virtual_server`. One accepted
move is recorded from the bytes of its frame to the last write to a socket.
`python -m tests.tools.data_path` prints the path.

*Files* are the modules of server, protocol and games in which a Python function runs. Kernels are
not counted, because they are machine code. A *change of file* is a call from a function of one of
these modules into a function of another one, or the return from such a call.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import kibitz_games
import kibitz_protocol
import kibitz_server
from kibitz.builtin_games import load_games
from kibitz.output import echo
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, virtual_server

PACKAGES = [
    str(Path(str(package.__file__)).parent)
    for package in (kibitz_server, kibitz_protocol, kibitz_games)
]
"""The folders whose modules count."""


@dataclass
class DataPath:
    """The calls between modules during a block, and the returns from them."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    """Module and function, for each call that came from another module."""
    files: set[str] = field(default_factory=set)
    returns: int = 0

    @property
    def changes(self) -> int:
        return len(self.calls) + self.returns


class Recorder:
    """Records the calls between modules while its block runs."""

    def __init__(self) -> None:
        self.path = DataPath()

    def __enter__(self) -> DataPath:
        sys.setprofile(self._called)
        return self.path

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        module = _module(frame.f_code)
        # Numba reports its kernels with frames that have no caller.
        if event not in ("call", "return") or module is None or frame.f_back is None:
            return
        caller = _caller(frame)
        if event == "call":
            self.path.files.add(module)
            if module != caller:
                self.path.calls.append((module, frame.f_code.co_name))
        elif caller not in (None, module):
            self.path.returns += 1


def _module(code: CodeType) -> str | None:
    """Return the module of a function, None for functions outside of `PACKAGES`."""
    if code.co_name == "<module>":
        return None
    for package in PACKAGES:
        if code.co_filename.startswith(package + "/"):
            name = code.co_filename[len(package) + 1 : -3].replace("/", ".")
            return f"{Path(package).name}.{name}"
    return None


def _caller(frame: FrameType) -> str | None:
    """Return the module that a call came from, skipping callers outside of `PACKAGES`."""
    outer = frame.f_back
    while outer is not None:
        module = _module(outer.f_code)
        if module is not None:
            return module
        outer = outer.f_back
    return None


def path_of_a_move(directory: Path) -> DataPath:
    """Play a match up to its sixth move and record that move; `directory` must be empty."""
    make_template(directory)
    with virtual_server(load_games("compiled"), directory) as server:
        host, *players = (server.guest_client(name) for name in ("host", "one", "two"))
        item = {"game": "five-in-a-row", "options": {}, "seats": 2, "games": 1, "rotate": False}
        settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
        lobby = host.ask("host", settings=settings)["lobby"]
        for player in players:
            player.ask("join", lobby=lobby)
        for player in players:
            player.ask("ready", lobby=lobby)
        host.ask("watch", match=f"{lobby}-1-1")
        server.advance(1.0)
        for _ in range(5):
            move(players)
        with Recorder() as path:
            move(players)
    return path


def move(players: list[ScriptedClient]) -> None:
    """Let the player to move put a stone where it does not win."""
    turns = [
        (message["ply"], player, message)
        for player in players
        for message in player.messages()
        if message["type"] == "your_turn"
    ]
    ply, player, turn = max(turns, key=lambda each: each[0])
    player.ask("move", match=turn["match"], ply=ply, action={"x": ply, "y": ply % 2})


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = path_of_a_move(Path(directory))
    for number, (module, function) in enumerate(path.calls, 1):
        echo(f"{number:3} {module}.{function}")
    echo(f"{len(path.files)} files, {path.changes} changes of file")
    for module, count in Counter(module for module, _ in path.calls).most_common():
        echo(f"{count:4} {module}")


if __name__ == "__main__":
    main()
