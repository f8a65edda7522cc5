"""The launch of a bot's process: our own code with limits, foreign code in isolation."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kibitz.process.isolation.backends import Isolation
from kibitz.process.isolation.launch import Launch, isolated
from kibitz.process.parent_death import child_command
from kibitz_server.housebots.process import inherited_environment


def bot_launch(
    words: Sequence[str],
    *,
    url: str,
    isolation: Isolation,
    readable: Sequence[Path] | None,
    limits: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    descriptors: Sequence[int] = (),
    memory: int | None = None,
) -> contextlib.AbstractAsyncContextManager[Launch]:
    """Give what starts ``python -m kibitz_bots WORDS``, to be started within the block and once.

    `readable` is None for a bot of ours, which gets the environment of a house bot; else the bot is
    foreign code, and runs isolated, with these files and directories to read. `limits` are those of
    `child_command`, `memory` (MiB) is for all processes of a foreign bot together, where there are
    cgroups. `env` comes on top, `descriptors` are inherited.
    """
    foreign = readable is not None
    command = child_command("kibitz_bots", *words, limits=limits, supervised=foreign)
    if readable is None:
        own = {**inherited_environment(os.environ), "PYTHONUNBUFFERED": "1", **(env or {})}
        launch = Launch(command=command, env=own, descriptors=descriptors)
        return contextlib.nullcontext(launch)
    return isolated(
        isolation,
        command,
        url=url,
        seen=readable,
        env=env or {},
        descriptors=descriptors,
        memory=memory,
    )
