"""Options for connecting, shared by several commands: the server and the player's identity."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from kibitz_protocol.client.client import Client
from kibitz_protocol.client.environment_token import (
    DEFAULT_SERVER,
    TokenError,
    environment_token,
)
from kibitz_protocol.wire.visibility import WantedViews

URL = DEFAULT_SERVER
"""The default server URL."""
OPENING_SECONDS = 0.5
"""How long to retry a server that refuses connections before reporting an error, in seconds."""
Command = TypeVar("Command", bound=Callable[..., Any])

server_option = click.option(
    "--server",
    default=URL,
    show_default=True,
    envvar="KIBITZ_SERVER",
    metavar="URL",
    help="The server (or KIBITZ_SERVER).",
)

fresh_option = click.option(
    "--fresh",
    is_flag=True,
    help="Connect as a new player, even if a session is saved.",
)


def identity_options(command: Command) -> Command:
    """Add ``--name`` and ``--token-file``."""
    named = click.option("--name", help="Your name, if the server admits guests.")(command)
    return click.option(
        "--token-file",
        type=click.Path(path_type=Path),
        help="File with an account's token (or KIBITZ_TOKEN, for KIBITZ_SERVER).",
    )(named)


def token(path: Path) -> str:
    """Read a token from a file."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path}: cannot read the token: {error}") from None
    if len(text.split()) != 1 or not 8 <= len(text) <= 128:
        raise click.BadParameter(f"{path}: expected one token of 8 to 128 characters")
    return text


def account(path: Path | None, server: str) -> str | None:
    """Return the token from a file, else from the environment if it belongs to `server`."""
    if path is not None:
        return token(path)
    try:
        return environment_token(server, os.environ)
    except TokenError as error:
        raise click.UsageError(str(error)) from None


def client(
    server: str,
    name: str | None,
    token_file: Path | None,
    kind: Literal["bot", "human"] = "human",
    patience: float | None = 120.0,
    *,
    resume: str | None = None,
    seated: bool = False,
    views: WantedViews = "turn",
) -> Client:
    """Return the client that the options describe; enter it to connect.

    Without a name the player gets a unique one, since two commands may run at the same time.
    `resume` is the secret of a reconnecting player. `seated` is for commands that play, and `views`
    for commands that show positions.
    """
    known = account(token_file, server)
    return Client(
        server,
        name=name if known or name else f"{login()}-{secrets.token_hex(2)}",
        token=known,
        resume=resume,
        seated=seated,
        views=views,
        kind=kind,
        agent="kibitz",
        patience=patience,
        opening=OPENING_SECONDS,
    )


def login() -> str:
    """Return the user's login name, or a replacement that servers accept.

    A reserved name, such as ``root`` in containers, is replaced by one derived from the machine:
    the same for each call, since sessions are saved by name, but different in each container.
    """
    from kibitz_server.accounts.names import BadName, claim

    try:
        login = getpass.getuser()
    except (OSError, KeyError):
        login = ""
    name = "".join(c for c in login if c.isalnum() or c in "-_.")[:24]
    try:
        claim(name)
    except BadName:
        return f"guest-{hashlib.sha256(platform.node().encode()).hexdigest()[:6]}"
    return name
