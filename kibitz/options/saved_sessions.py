"""Saved sessions: secrets that let people reconnect after their terminal was closed.

A server identifies a guest by the resume secret of its first welcome. People have no other copy of
it, so interactive commands store it here: one file for each server and identity
(`kibitz_bots.running.state_file`). The file also lists the lobbies opened by `kibitz host`, keyed
by their settings.

Only one process at a time uses an identity; otherwise two terminals would take each other's seat.
Errors here never prevent play: if the directory is unusable or a file is damaged, the user gets a
message, and the session is not saved or a new one starts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import click
from filelock import Timeout
from pydantic import BaseModel, Field, ValidationError

from kibitz.output import ignore
from kibitz_bots.running.state_file import StateFile, digest, state_directory
from kibitz_protocol.client.client import Client, connect_again
from kibitz_protocol.client.errors import HelloRefusedError
from kibitz_protocol.wire.values import Key, Secret

Tell = Callable[[str], None]


class HostedLobby(BaseModel):
    """A lobby opened by this user."""

    lobby: Key
    invite: str | None = None


class StoredSession(BaseModel):
    """The contents of a session file."""

    server: str
    name: str
    resume: Secret | None = None
    """None for an account, which is identified by its token."""
    pid: int = 0
    """The process that wrote the file."""
    hosted: dict[str, HostedLobby] = Field(default_factory=dict)


class InUseError(click.ClickException):
    """Another process of this user uses the identity."""

    def __init__(self, server: str, kept: StoredSession | None) -> None:
        who = f"{kept.name!r}" if kept else "this player"
        process = f" (process {kept.pid})" if kept and kept.pid else ""
        super().__init__(
            f"another of your terminals{process} is already {who} on {server}; close it, or choose"
            " another name with --name"
        )


class SavedSession:
    """The saved session of one identity on one server; close it when done."""

    def __init__(self, server: str, who: str, tell: Tell, *, fresh: bool = False) -> None:
        """Take the identity `who`, or raise `InUseError`.

        `tell` gets messages for the user. With `fresh` the saved session is not used; it is
        replaced as soon as the server has welcomed a new player.
        """
        self.server = server
        self.stored: StoredSession | None = None
        """The saved session; None when it is no longer valid."""
        self._tell = tell
        self._file: StateFile | None = None
        self._failed = False
        """Whether the file could not be written."""
        path = state_directory("sessions") / f"{digest(server.rstrip('/'), who)}.json"
        try:
            self._file = StateFile(path)
        except Timeout:
            raise InUseError(server, _read(path, ignore)) from None
        except OSError as error:
            self._cannot(error)
            return
        self.stored = None if fresh else _read(path, tell)

    @property
    def resume(self) -> str | None:
        """The secret to reconnect with."""
        return None if self.stored is None else self.stored.resume

    def hosted(self, key: str) -> HostedLobby | None:
        """Return the lobby opened under `key`."""
        return None if self.stored is None else self.stored.hosted.get(key)

    def store(self, client: Client, *, account: bool) -> None:
        """Save the session from the server's welcome."""
        hosted = {} if self.stored is None else self.stored.hosted
        resume = None if account else client.resume
        self._save(
            StoredSession(
                server=self.server,
                name=client.name,
                resume=resume,
                pid=os.getpid(),
                hosted=hosted,
            )
        )

    def store_hosted(self, key: str, lobby: str, invite: str | None) -> None:
        """Save the lobby opened under `key`."""
        if self.stored is not None:
            hosted = self.stored.hosted | {key: HostedLobby(lobby=lobby, invite=invite)}
            self._save(self.stored.model_copy(update={"hosted": hosted}))

    def drop_hosted(self, key: str) -> None:
        """Forget the lobby opened under `key`, which no longer exists."""
        if self.stored is not None and key in self.stored.hosted:
            hosted = {
                name: hosted_lobby
                for name, hosted_lobby in self.stored.hosted.items()
                if name != key
            }
            self._save(self.stored.model_copy(update={"hosted": hosted}))

    def forget(self) -> None:
        """Remove the saved session, because the server rejected it or it is no longer needed."""
        self.stored = None
        if self._file is not None:
            self._file.remove()

    def close(self) -> None:
        """Release the identity for other processes. The session file is kept."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> SavedSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _save(self, kept: StoredSession) -> None:
        self.stored = kept
        if self._file is None or self._failed:
            return
        try:
            self._file.write(kept.model_dump_json())
        except OSError as error:
            self._cannot(error)

    def _cannot(self, error: Exception) -> None:
        self._failed = True
        self._tell(
            "this session cannot be saved, so you cannot reconnect after closing the terminal:"
            f" {error}"
        )


def account(token: str) -> str:
    """Return the identity for a token, without the token in it."""
    return f"token {digest(token)}"


def host_of(server: str, lobby: str) -> StoredSession | None:
    """Return the session of the guest who opened a lobby, None if there is none.

    This does not lock the identity, because another process may be following the lobby with it.
    Callers must not take a seat with its secret.
    """
    with contextlib.suppress(OSError):
        for path in sorted(state_directory("sessions").glob("*.json")):
            saved = _read(path, ignore)
            if (
                saved is None
                or saved.resume is None
                or saved.server.rstrip("/") != server.rstrip("/")
            ):
                continue
            if any(hosted.lobby == lobby for hosted in saved.hosted.values()):
                return saved
    return None


def take_free_identity(
    server: str, who: str, tell: Tell, *, fresh: bool = False, most: int = 64
) -> SavedSession:
    """Take the first unused one of the identities ``who 1``, ``who 2``, ..."""
    for number in range(1, most):
        with contextlib.suppress(InUseError):
            return SavedSession(server, f"{who} {number}", tell, fresh=fresh)
    return SavedSession(server, f"{who} {most}", tell, fresh=fresh)


@contextlib.asynccontextmanager
async def connect_saved(
    saved: SavedSession, make: Callable[[str | None], Client], tell: Tell, *, account: bool
) -> AsyncIterator[Client]:
    """Connect with the saved session (see `connect_again`), and save the resulting one."""

    def forget(error: HelloRefusedError) -> None:
        name = "" if saved.stored is None else saved.stored.name
        tell(
            f"{saved.server} no longer recognizes {name!r} ({error.message});"
            " connecting as a new player"
        )
        saved.forget()

    async with connect_again(make, saved.resume, forget) as client:
        saved.store(client, account=account)
        yield client


def _read(path: Path, tell: Tell) -> StoredSession | None:
    """Return the contents of a file; report a damaged one, which will be replaced."""
    try:
        return StoredSession.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        why = "the file is damaged" if isinstance(error, ValidationError) else error.strerror
        tell(f"cannot use the saved session {path}: {why}")
        return None
