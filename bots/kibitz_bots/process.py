"""A bot as a process: the command line, the environment, signals and the exit status.

Exit status: 0 when the run reached its end, 1 when the bot crashed, played illegally, was removed
or lost its server, 2 when it could not begin (bad arguments, a refusal at the door).

Ctrl-C plays the running matches to their end and begins no new ones; a second Ctrl-C leaves them
and the lobby at once. SIGTERM closes the connection and nothing else: the seats are kept for as
long as the table's grace, and another process with the resume secret can go on: start it again
with the same ``--resume-file``.

Environment: ``KIBITZ_TOKEN`` (an account's token), ``KIBITZ_RESUME`` (the secret of a player that
comes back, which is how a server hands a seat to a bot that it starts), ``KIBITZ_SERVER``,
``KIBITZ_LOBBY`` and ``KIBITZ_NAME`` where the options say nothing; the last two are for newcomers,
so they mean nothing beside ``KIBITZ_RESUME``. Whoever starts bots of several people gives no secret
in the environment, which other processes of the same user can read: ``KIBITZ_TOKEN_FD`` and
``KIBITZ_RESUME_FD`` are numbers of inherited descriptors from which the secret is read, once and to
the end. A program that the bot is a bridge to inherits neither.

A program in any language takes the place of the bot after ``--``, spoken to as ``--stdio`` or
``--gomocup`` says (see `bridges`): ``python -m kibitz_bots --stdio --lobby CODE -- node bot.js``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import functools
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from kibitz_bots.adapters import external_program
from kibitz_bots.loading import load
from kibitz_bots.sdk import Bot
from kibitz_bots.spec import BotFactory, SpecError
from kibitz_protocol import printable

if TYPE_CHECKING:
    from kibitz_bots.connection import Shutdown
    from kibitz_protocol.wire.lobbies import ProgrammeItem

URL = "ws://127.0.0.1:8765"
"""Where a server is looked for when nothing is said."""
PR_SET_DUMPABLE = 4
MIN_SECRET_LENGTH = 8
"""Characters of the shortest token that the protocol takes."""


def parser(*, spec: bool) -> argparse.ArgumentParser:
    """Return the command line of a bot; with `spec` its first argument names the bot."""
    made = argparse.ArgumentParser(description="Connect a bot to a kibitz server and play.")
    if spec:
        made.add_argument(
            "spec", metavar="SPEC", nargs="?", help="game/name[:k=v,..], or a path to a .py file"
        )
        external_program.add_options(made)
    made.add_argument("--url", "--server", help=f"the server (default {URL})")
    made.add_argument("--lobby", help="the lobby to join")
    made.add_argument("--invite", help="the lobby's invite code, where it has one")
    made.add_argument("--name", help="the name at the table")
    made.add_argument("--matches", type=_positive, help="end after so many matches")
    made.add_argument("--at-once", type=_positive, help="how many matches at the same time")
    made.add_argument("--token-file", type=Path, help="a file that holds an account's token")
    made.add_argument(
        "--resume-file",
        type=Path,
        help="a file that keeps the secret for coming back as the same player; read if it is there",
    )
    made.add_argument(
        "--warm",
        type=_programme,
        metavar="JSON",
        help="a programme to warm up for before connecting: a list of items, as a lobby has it",
    )
    made.add_argument(
        "--hold",
        type=int,
        metavar="FD",
        help="an inherited socket: write a byte when warm, and connect once there is an answer",
    )
    made.add_argument(
        "--on-fault",
        choices=("resign", "exit"),
        default="resign",
        help="after a crash or illegal answers: give up that match only, or end",
    )
    made.add_argument("-v", "--verbose", action="store_true", help="say more on stderr")
    return made


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, not {text!r}")
    return int(text)


def _programme(text: str) -> list[ProgrammeItem]:
    from pydantic import TypeAdapter, ValidationError

    from kibitz_protocol.wire.lobbies import ProgrammeItem

    try:
        return TypeAdapter(list[ProgrammeItem]).validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise argparse.ArgumentTypeError(f"expected a programme: {path}: {first['msg']}") from None


def main(
    argv: Sequence[str] | None = None,
    *,
    bot: type[Bot] | BotFactory | None = None,
    around: Callable[[Bot], Bot] | None = None,
) -> int:
    """Run a bot process and return its exit status.

    `bot` is given by ``Bot.main``; `around` is put around every bot that is made.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    words, command = split(given)
    arguments = parser(spec=bot is None).parse_args(words)
    _log(verbose=arguments.verbose)
    with contextlib.ExitStack() as stack:
        try:
            if bot is not None and command:
                raise SpecError(f"expected options only, not {command[0]!r}")
            # Before code of others runs in this process, or is started by it.
            token = _token(arguments.token_file, os.environ)
            resume = _resume(arguments.resume_file, os.environ)
            make = _around(bot or _factory_of(arguments, command, stack), around)
        except SpecError as error:
            return _fail(error)
        return _run(make, arguments, token, resume)


def run(bot: type[Bot] | BotFactory, argv: Sequence[str] | None = None) -> NoReturn:
    """Connect a bot to a server and play, as the command line says; then end this process.

    `bot` is a class, or a function that makes a new bot for every match. `argv` are the words after
    the program's name, those of the process where it is None: ``--server URL --lobby CODE``. The
    status is 0 when the lobby was played to its end, 1 when the bot failed, 2 when it could not
    begin.
    """
    sys.exit(main(argv, bot=bot))


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Cut a command line in two at its first ``--``, which is in neither part."""
    at = words.index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])


def _factory_of(
    arguments: argparse.Namespace, command: Sequence[str], stack: contextlib.ExitStack
) -> BotFactory:
    """Return what makes the bots that a command line names, or raise `SpecError`."""
    program = external_program.from_arguments(arguments, command)
    if program is not None and arguments.spec is None:
        _deny_inspection()
        return program.factory(stack)
    named = [*([] if arguments.spec is None else [arguments.spec]), *command]
    if program is not None:
        raise SpecError(f"--{program.kind} takes a program after --, not {arguments.spec!r}")
    if len(named) > 1:
        raise SpecError(f"expected --stdio or --gomocup for the program {named[-1]!r}")
    if not named:
        raise SpecError("expected a bot: game/name, a .py file, or a program after --stdio --")
    return load(named[0])


def _around(make: BotFactory, around: Callable[[Bot], Bot] | None) -> BotFactory:
    return make if around is None else lambda: around(make())


def _run(
    make: BotFactory, arguments: argparse.Namespace, token: str | None, resume: str | None
) -> int:
    from kibitz_bots.connection import NothingToPlay
    from kibitz_protocol.client.errors import RefusedError, SessionError

    try:
        return asyncio.run(_play(make, arguments, token, resume))
    except (RefusedError, NothingToPlay, SpecError) as error:
        return _fail(error)
    except SessionError as error:
        _fail(error)
        return 1


async def _play(
    make: BotFactory, arguments: argparse.Namespace, token: str | None, resume: str | None
) -> int:
    from kibitz_bots.connection import Shutdown, run

    stop = Shutdown()
    _on_signal(stop.interrupt, signal.SIGINT)
    _on_signal(stop.detach, signal.SIGTERM)
    tally = await run(
        make,
        arguments.url or os.environ.get("KIBITZ_SERVER") or URL,
        lobby=arguments.lobby or _newcomer_setting("KIBITZ_LOBBY", os.environ),
        invite=arguments.invite,
        name=arguments.name or _newcomer_setting("KIBITZ_NAME", os.environ),
        token=token,
        resume=resume,
        matches=arguments.matches,
        at_once=arguments.at_once,
        on_fault=arguments.on_fault,
        stop=stop,
        warm=arguments.warm,
        hold=None
        if arguments.hold is None
        else functools.partial(_wait_for_start, arguments.hold, stop),
        keep=arguments.resume_file and functools.partial(_write_secret, arguments.resume_file),
    )
    if tally.failure:
        _fail(tally.failure)
    return 0 if tally.clean else 1


async def _wait_for_start(descriptor: int, stop: Shutdown) -> None:
    """Wait for others to be warm too, so that nobody's first turn competes with a compiler."""
    loop = asyncio.get_running_loop()
    try:
        with socket.socket(fileno=descriptor) as holder:
            holder.setblocking(False)
            await loop.sock_sendall(holder, b"w")
            going = asyncio.ensure_future(loop.sock_recv(holder, 1))
            stopping = asyncio.ensure_future(stop.draining.wait())
            await asyncio.wait((going, stopping), return_when=asyncio.FIRST_COMPLETED)
            for each in (going, stopping):
                each.cancel()
            await asyncio.gather(going, stopping, return_exceptions=True)
    except OSError as error:
        raise SpecError(f"--hold {descriptor}: expected an inherited socket: {error}") from None


def _newcomer_setting(name: str, environment: Mapping[str, str]) -> str | None:
    """Return what the environment says to a process that nobody has handed a seat."""
    resumes = environment.get("KIBITZ_RESUME") or environment.get("KIBITZ_RESUME_FD")
    return None if resumes else environment.get(name) or None


def _on_signal(react: Callable[[], object], number: signal.Signals) -> None:
    with contextlib.suppress(NotImplementedError):  # no such signals on this system
        asyncio.get_running_loop().add_signal_handler(number, react)


def _token(path: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the token of a file, else of a descriptor or the environment, else None."""
    if path is None:
        return (
            _inherited_secret("KIBITZ_TOKEN_FD", environment)
            or environment.get("KIBITZ_TOKEN")
            or None
        )
    return _secret(path, "token")


def _resume(path: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the resume secret that was handed over, else of a file that exists, else None."""
    if handed := _inherited_secret("KIBITZ_RESUME_FD", environment):
        return handed
    if secret := environment.get("KIBITZ_RESUME"):
        return secret
    return _secret(path, "resume secret") if path is not None and path.exists() else None


def _inherited_secret(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the secret that an inherited descriptor holds; nothing else inherits it."""
    number = environment.get(name)
    if not number:
        return None
    _deny_inspection()
    try:
        with open(int(number), "rb") as file:
            return _one_secret(file.read(1024).decode(), name, "secret")
    except (OSError, ValueError) as error:
        raise SpecError(f"{name}={number}: expected an inherited descriptor: {error}") from None


def _deny_inspection() -> None:
    """Keep what this process knows from others of its user: its memory, environment, descriptors.

    Neither a program that it starts nor another bot learns its secret then. (Root does.)
    """
    with contextlib.suppress(OSError, AttributeError):  # no such call on this system
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _write_secret(path: Path, secret: str) -> None:
    """Write a secret where nobody else may read it."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secret + "\n")
    except OSError as error:
        raise SpecError(f"{path}: cannot keep the resume secret: {error}") from None


def _secret(path: Path, kind: str) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: expected a file with a {kind}: {error}") from None
    return _one_secret(text, path, kind)


def _one_secret(text: str, where: object, kind: str) -> str:
    secret = text.strip()
    if len(secret) < MIN_SECRET_LENGTH or len(secret.split()) != 1:
        raise SpecError(f"{where}: expected one {kind} of at least {MIN_SECRET_LENGTH} characters")
    return secret


def _fail(error: object) -> int:
    sys.stderr.write(printable.lines(f"error: {error}\n"))
    return 2


def _log(*, verbose: bool) -> None:
    """Log to the terminal itself, so that the log is not taken for the bot's own output."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(printable.LogFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("kibitz_bots")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
