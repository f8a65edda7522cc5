"""The launch of a player: a house bot, a Python file, or a program in any language.

Files and programs are untrusted code and run in isolation. House bots are trusted; only their
parameters come from users, so resource limits suffice.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from kibitz.options.program import Program
from kibitz.process.isolation.backends import Isolation
from kibitz.process.isolation.launch import Launch, isolated
from kibitz.process.isolation.sandbox import directories_of_command, directories_of_file
from kibitz.process.parent_death import child_command
from kibitz_bots.adapters.launcher import launch_command
from kibitz_bots.llm.settings import environment_of
from kibitz_server.housebots.process import inherited_environment


@dataclass(frozen=True, kw_only=True)
class Place:
    """A player's server, lobby, name and number of simultaneous matches."""

    url: str
    lobby: str
    name: str | None
    """The player's name; None for an account, which has its own."""
    at_once: int

    @property
    def words(self) -> list[str]:
        """These values as options of `kibitz_bots`."""
        name = [] if self.name is None else ["--name", self.name]
        return ["--url", self.url, "--lobby", self.lobby, *name, "--at-once", str(self.at_once)]

    @property
    def env(self) -> dict[str, str]:
        """These values as environment variables, for a program that connects to the server
        itself."""
        name = {} if self.name is None else {"KIBITZ_NAME": self.name}
        return {"KIBITZ_SERVER": self.url, "KIBITZ_LOBBY": self.lobby} | name


def player_launch(
    player: str | Program,
    place: Place,
    *,
    base: Path,
    isolation: Isolation,
    env: Mapping[str, str],
    descriptors: Sequence[int],
    words: Sequence[str] = (),
    limits: Sequence[str] = (),
    memory: int | None = None,
) -> AbstractAsyncContextManager[Launch]:
    """Provide the command and environment of a player, to be started once within the block.

    Paths are relative to `base`. `env` is added to `place.env`, `descriptors` are inherited, and
    `words` are further options of `kibitz_bots`. `limits` are passed to `child_command`. `memory`
    (MiB) limits all processes of an untrusted bot together if cgroups are available. Both apply to
    bots; a program has its own limits.
    """
    if isinstance(player, str) and not is_foreign(player):
        command = child_command("kibitz_bots", *place.words, *words, player, limits=limits)
        own = {
            **inherited_environment(os.environ),
            "PYTHONUNBUFFERED": "1",
            **environment_of(player, os.environ),
            **env,
        }
        return contextlib.nullcontext(Launch(command=command, env=own, descriptors=descriptors))
    if isinstance(player, str):
        bot = [*place.words, *words, str(base / player)]
        command = child_command("kibitz_bots", *bot, limits=limits, supervised=True)
        env = {**environment_of(player, os.environ), **env}
    elif player.connects:
        command = launch_command(player.foreign.command, player.foreign.limits, supervised=True)
        env, memory = {**place.env, **env}, None
    else:
        bot = [*place.words, *words, *player.foreign.argv()]
        command, memory = child_command("kibitz_bots", *bot, supervised=True), None
    return isolated(
        isolation,
        command,
        url=place.url,
        seen=readable_paths(player, base),
        env=env,
        descriptors=descriptors,
        memory=memory,
    )


def is_foreign(player: str | Program) -> bool:
    """Return whether a player is a file or a program, and so may be untrusted."""
    return isinstance(player, Program) or player.endswith(".py")


def readable_paths(player: str | Program, base: Path) -> list[Path]:
    """Return the paths that an untrusted player may read in addition to the system and Python.

    None for a house bot. A program may read the directory it is started in.
    """
    if isinstance(player, Program):
        return [base, *directories_of_command(player.foreign.command, base)]
    return directories_of_file(base / player) if is_foreign(player) else []
