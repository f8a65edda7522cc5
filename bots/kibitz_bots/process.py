"""A bot as a process: command line, environment, signals and exit status.

Exit status: 0 if the run completed, 1 if the bot crashed, played illegally, was removed or lost its
server, 2 if it could not start (invalid arguments, refused by the server), 130 after Ctrl-C.

After Ctrl-C the bot finishes its running matches and starts no new ones; after a second Ctrl-C it
leaves them and the lobby immediately. SIGTERM and SIGHUP only close the connection: the server
keeps the seats for the lobby's grace period, and running the same command again resumes them. This
also works after a process was killed: a guest's secret is saved while it plays (see `saved_seat`)
or kept in the ``--resume-file``.

Environment:

- ``KIBITZ_TOKEN``: an account's token, sent only to the server in ``KIBITZ_SERVER``.
- ``KIBITZ_RESUME``: the secret of a player that reconnects. A server uses it to hand a seat to a
  bot that it starts.
- ``KIBITZ_SERVER``, ``KIBITZ_LOBBY`` and ``KIBITZ_NAME``: defaults for the options. The last two
  apply to new players and are ignored if ``KIBITZ_RESUME`` is set.
- ``KIBITZ_TOKEN_FD`` and ``KIBITZ_RESUME_FD``: numbers of inherited descriptors from which the
  secret is read once, up to the end of the file. Use these if bots of different people run as the
  same system user, because that user's other processes can read the environment. An external
  program behind the bot inherits neither descriptor.

Instead of a bot, you can give a program in any language after ``--``, with the protocol ``--stdio``
or ``--gomocup`` (see `adapters`): ``python -m kibitz_bots --stdio --lobby CODE -- node bot.js``.
"""

from __future__ import annotations

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
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from kibitz_bots.adapters.external_program import (
    ExternalProgram,
    WithProgram,
    add_options,
    program_options,
    program_words,
)
from kibitz_bots.loading import load
from kibitz_bots.number_types import COUNT, NATURAL, FiniteRange
from kibitz_bots.sdk import Bot
from kibitz_bots.spec import BotFactory, SpecError
from kibitz_protocol import event_loop, printable

if TYPE_CHECKING:
    from kibitz_bots.running.connection import Shutdown
    from kibitz_bots.running.saved_seat import SavedSeat
    from kibitz_protocol.wire.lobbies import ProgrammeItem, SeekTerms

URL = "ws://127.0.0.1:8765"
"""The default URL of a server."""


PR_SET_DUMPABLE = 4
EXIT_INTERRUPTED = 130
"""The exit status after Ctrl-C, as in shells."""
_ENDINGS = tuple(getattr(signal, n) for n in ("SIGTERM", "SIGHUP") if hasattr(signal, n))
"""The signals that end a process from outside its terminal; Windows has no SIGHUP."""
MIN_SECRET_LENGTH = 8
"""The minimum length of a token in the protocol."""


def _programme(text: str) -> list[ProgrammeItem]:
    from pydantic import TypeAdapter, ValidationError

    from kibitz_protocol.wire.explain import first_problem
    from kibitz_protocol.wire.lobbies import ProgrammeItem

    try:
        return TypeAdapter(list[ProgrammeItem]).validate_json(text)
    except ValidationError as error:
        raise click.BadParameter(f"expected a programme: {first_problem(error)}") from None


def _terms(text: str) -> SeekTerms:
    from pydantic import ValidationError

    from kibitz_protocol.wire.lobbies import SeekTerms

    try:
        return SeekTerms.model_validate_json(text)
    except ValidationError:
        raise click.BadParameter("expected valid seek terms") from None


OPTIONS = (
    click.option(
        "--server",
        "--url",
        "url",
        default=URL,
        show_default=True,
        envvar="KIBITZ_SERVER",
        metavar="URL",
        help="The server; defaults to KIBITZ_SERVER.",
    ),
    click.option("--lobby", help="The lobby to join; defaults to KIBITZ_LOBBY."),
    click.option(
        "--ladder",
        metavar="NAME",
        help="Play on the standing ladder NAME until stopped.",
    ),
    click.option(
        "--seek", type=_terms, metavar="JSON", hidden=True, help="Seek opponents on these terms."
    ),
    click.option(
        "--seek-wait",
        type=COUNT,
        default=300,
        metavar="S",
        hidden=True,
        help="Timeout for seeking.",
    ),
    click.option("--rounds", type=COUNT, hidden=True, help="End after this many rounds of seeks."),
    click.option("--invite", help="The lobby's invite code, if it requires one."),
    click.option("--name", help="The player name; defaults to KIBITZ_NAME."),
    click.option("--matches", type=COUNT, help="End after this many matches."),
    click.option(
        "--at-once", type=click.IntRange(1, 1000), help="Maximum number of concurrent matches."
    ),
    click.option(
        "--token-file", type=click.Path(path_type=Path), help="File with the account token."
    ),
    click.option(
        "--resume-file",
        type=click.Path(path_type=Path),
        help="File for the secret that lets the bot reconnect as the same player.",
    ),
    click.option(
        "--warm",
        type=_programme,
        metavar="JSON",
        hidden=True,
        help="Warm up for these items of a programme before connecting.",
    ),
    click.option(
        "--hold",
        type=NATURAL,
        metavar="FD",
        hidden=True,
        help="An inherited socket: write a byte when warm, connect after an answer.",
    ),
    click.option(
        "--pace",
        type=FiniteRange(0, 60),
        default=0.0,
        metavar="S",
        hidden=True,
        help="Minimum seconds per move, so that people can follow.",
    ),
    click.option(
        "--on-fault",
        type=click.Choice(["resign", "exit"]),
        default="resign",
        show_default=True,
        help="After a crash or illegal answers, resign that match or exit.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Log more to stderr."),
)
"""A bot process's options; hidden ones are for commands that start bots."""


@click.command("connect", cls=WithProgram, short_help="Connect a bot to a server.")
@click.argument("spec", metavar="[BOT]", required=False)
@functools.partial(add_options, options=OPTIONS)
@program_options
@click.option(
    "--game",
    "games",
    multiple=True,
    help="A game that the program plays (repeatable); default: all.",
)
@click.pass_context
def connect(
    context: click.Context, /, spec: str | None, games: tuple[str, ...], **options: Any
) -> None:
    """Connect BOT, a house bot like chinese-checkers/random or a file like mybot.py.

    To connect a program in any language, give it after --, with --stdio or --gomocup.

    Plays until the lobby closes; on a standing ladder, until stopped. After Ctrl-C the bot finishes
    its running matches; after a second Ctrl-C it leaves immediately. The exit status is 1 if the
    bot failed, 2 if it could not start.

    \b
    kibitz connect mybot.py --lobby CODE
    kibitz connect mybot.py --ladder NAME
    kibitz connect --stdio --lobby CODE -- node bot.js
    kibitz connect --gomocup --lobby CODE -- ./pbrain-engine
    """

    def factory(stack: contextlib.ExitStack) -> BotFactory:
        program = ExternalProgram.from_options(program_words(), options, games)
        return _factory_of(spec, program, stack, is_program=options["kind"] is not None)

    words = [word for word in (spec, options["kind"], *program_words()) if word is not None]
    # `main` passes False: the process that started this one has the resume secret.
    context.exit(_start(factory, options, words, saves=context.obj is not False))


@click.command(cls=WithProgram)
@functools.partial(add_options, options=OPTIONS)
@click.pass_context
def _given_bot(context: click.Context, /, **options: Any) -> None:
    """Connect this program's bot to a kibitz server and play."""

    def factory(stack: contextlib.ExitStack) -> BotFactory:
        if command := program_words():
            raise SpecError(f"expected options only, not {command[0]!r}")
        return cast(BotFactory, context.obj)

    context.exit(_start(factory, options, sys.argv[:1], saves=True))


def main(argv: Sequence[str] | None = None, *, bot: type[Bot] | BotFactory | None = None) -> int:
    """Run a bot process and return its exit status.

    ``Bot.main`` passes `bot`. Without `bot`, this process was started by another one that has the
    resume secret, so no seat is saved.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    printable.replace_unencodable()  # a bot may print any text
    command, obj = (connect, False) if bot is None else (_given_bot, bot)
    try:
        status: int = command.main(given, standalone_mode=False, obj=obj)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return status


def _start(
    factory: Callable[[contextlib.ExitStack], BotFactory],
    options: Mapping[str, Any],
    words: Sequence[str],
    *,
    saves: bool,
) -> int:
    """Run bots from `factory` with `options` and return the exit status.

    `words` identify the bot: these arguments and the contents of files among them distinguish its
    versions. `saves` says whether to save the seat, for a person who may restart the process.
    """
    if options["ladder"] is not None and options["lobby"] is not None:
        return _fail("expected a lobby or a ladder, not both")
    _log(verbose=options["verbose"])
    with contextlib.ExitStack() as stack:
        try:
            # Must happen before this process runs or starts untrusted code.
            token = _token(options["token_file"], os.environ, options["url"])
            resume = _resume(options["resume_file"], os.environ)
            make = factory(stack)
        except SpecError as error:
            return _fail(error)
        seat = None
        if saves and token is None and resume is None and options["resume_file"] is None:
            from kibitz_bots.running.saved_seat import take_seat

            name = options["name"] or _newcomer_setting("KIBITZ_NAME", os.environ)
            seat = take_seat(options["url"], name, words)
        if seat is not None:
            stack.callback(seat.close)
        return _run(make, {**options, "words": words}, token, resume, seat)


def run(bot: type[Bot] | BotFactory, argv: Sequence[str] | None = None) -> NoReturn:
    """Connect a bot to a server, play according to the command line, and exit the process.

    `bot` is a class or a function that creates a bot for every match. `argv` are the arguments
    after the program's name, by default those of the process: ``--server URL --lobby CODE``. The
    exit status is 0 if the lobby was played to its end, 1 if the bot failed, 2 if it could not
    start.
    """
    sys.exit(main(argv, bot=bot))


def _factory_of(
    spec: str | None, program: ExternalProgram, stack: contextlib.ExitStack, *, is_program: bool
) -> BotFactory:
    """Return the bot factory for the command line; raise `SpecError` if the bot is invalid."""
    named = [*([] if spec is None else [spec]), *program.command]
    if is_program and spec is None:
        _deny_inspection()
        return program.factory(stack)
    if is_program:
        raise SpecError(f"--{program.kind} takes a program after --, not {spec!r}")
    if stray := [*program.general, *program.gomocup_options]:
        raise SpecError(f"{stray[0]} is for a program: add --stdio or --gomocup")
    if len(named) > 1:
        raise SpecError(f"expected --stdio or --gomocup for the program {named[-1]!r}")
    if not named:
        raise SpecError("expected a bot: game/name, a .py file, or a program after --stdio --")
    return load(named[0])


def _run(
    make: BotFactory,
    options: Mapping[str, Any],
    token: str | None,
    resume: str | None,
    seat: SavedSeat | None,
) -> int:
    from kibitz_bots.running.connection import NothingToPlay
    from kibitz_protocol.client.errors import HelloRefusedError, RefusedError, SessionError
    from kibitz_protocol.wire.refusals import Code

    saved = None if seat is None else seat.resume
    try:
        return event_loop.run(_play(make, options, token, resume or saved, seat))
    except HelloRefusedError as error:
        if seat is None or saved is None or error.code is not Code.UNAUTHORIZED:
            return _fail(error)
        # The server no longer has the earlier player: join as a new one.
        seat.forget()
        return _run(make, options, token, resume, seat)
    except (RefusedError, NothingToPlay, SpecError) as error:
        return _fail(error)
    except SessionError as error:
        _fail(error)
        return 1


async def _play(
    make: BotFactory,
    options: Mapping[str, Any],
    token: str | None,
    resume: str | None,
    seat: SavedSeat | None,
) -> int:
    from kibitz_bots.running.connection import Shutdown, Sought, run
    from kibitz_bots.running.source_digest import source_digest

    ladder, stop = options["ladder"], Shutdown()
    finds = ladder is not None or options["seek"] is not None
    _on_signal(stop.interrupt, signal.SIGINT)
    for number in _ENDINGS:
        _on_signal(stop.detach, number)
    tally = await run(
        make,
        options["url"],
        lobby=options["lobby"]
        or (None if finds else _newcomer_setting("KIBITZ_LOBBY", os.environ)),
        ladder=ladder,
        seek=None
        if options["seek"] is None
        else Sought(options["seek"], options["seek_wait"], options["rounds"]),
        source=None if ladder is None else source_digest(options["words"]),
        invite=options["invite"],
        name=options["name"] or _newcomer_setting("KIBITZ_NAME", os.environ),
        token=token,
        resume=resume,
        matches=options["matches"],
        at_once=options["at_once"],
        on_fault=options["on_fault"],
        pace_s=options["pace"],
        stop=stop,
        warm=options["warm"],
        hold=None
        if options["hold"] is None
        else functools.partial(_wait_for_start, options["hold"], stop),
        keep=_keeper(options["resume_file"], seat),
    )
    if seat is not None and not stop.detached:
        seat.forget()
    if tally.failure:
        _fail(tally.failure)
    if stop.interrupted:
        return EXIT_INTERRUPTED
    return 0 if tally.clean else 1


def _keeper(path: Path | None, seat: SavedSeat | None) -> Callable[[str], None] | None:
    """Return a function that saves the secret for reconnecting from another process."""
    if path is not None:
        return functools.partial(_write_secret, path)
    return None if seat is None else seat.keep


async def _wait_for_start(descriptor: int, stop: Shutdown) -> None:
    """Report that this bot is warm and wait for the others: compilers would slow down turns."""
    loop = asyncio.get_running_loop()
    try:
        with socket.socket(fileno=descriptor) as holder:
            holder.setblocking(False)
            await loop.sock_sendall(holder, b"w")
            going = asyncio.ensure_future(loop.sock_recv(holder, 1))
            stopping = asyncio.ensure_future(stop.draining.wait())
            await asyncio.wait((going, stopping), return_when=asyncio.FIRST_COMPLETED)
            for task in (going, stopping):
                task.cancel()
            await asyncio.gather(going, stopping, return_exceptions=True)
    except OSError as error:
        raise SpecError(f"--hold {descriptor}: expected an inherited socket: {error}") from None


def _newcomer_setting(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the value of an environment variable whose changes affect only new players.

    It is ignored if ``KIBITZ_RESUME`` is set. It is not ignored with ``KIBITZ_RESUME_FD``: a parent
    that passes a descriptor also chose the rest of the environment.
    """
    return None if environment.get("KIBITZ_RESUME") else environment.get(name) or None


def _on_signal(react: Callable[[], object], number: signal.Signals) -> None:
    hangup = number not in (signal.SIGINT, signal.SIGTERM)
    if hangup and signal.getsignal(number) is signal.SIG_IGN:
        return  # keep ignoring the signal under `nohup`
    with contextlib.suppress(NotImplementedError):  # the system has no such signals
        asyncio.get_running_loop().add_signal_handler(number, react)


def _token(path: Path | None, environment: Mapping[str, str], server: str) -> str | None:
    """Return the account token: from the file, the descriptor, or ``KIBITZ_TOKEN`` for `server`."""
    from kibitz_protocol.client.environment_token import TokenError, environment_token

    if path is not None:
        return _secret(path, "token")
    if inherited := _inherited_secret("KIBITZ_TOKEN_FD", environment):
        return inherited
    try:
        return environment_token(server, environment)
    except TokenError as error:
        raise SpecError(str(error)) from None


def _resume(path: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the resume secret: from the parent, or else from the file if it exists."""
    if handed := _inherited_secret("KIBITZ_RESUME_FD", environment):
        return handed
    if secret := environment.get("KIBITZ_RESUME"):
        return secret
    return _secret(path, "resume secret") if path is not None and path.exists() else None


def _inherited_secret(name: str, environment: Mapping[str, str]) -> str | None:
    """Read the secret from an inherited descriptor, which no child process inherits."""
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
    """Hide this process's memory, environment and descriptors from the user's other processes.

    This protects its secret from programs that it starts and from other bots, but not from root.
    """
    with contextlib.suppress(OSError, AttributeError):  # the system has no such call
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _write_secret(path: Path, secret: str) -> None:
    """Write a secret to a file that only its owner can read."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(secret + "\n")
    except OSError as error:
        raise SpecError(f"{path}: cannot save the resume secret: {error}") from None


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
    """Log directly to the terminal, so that log lines are not recorded as the bot's output."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(printable.LogFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("kibitz_bots")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
