"""A PostgreSQL server for tests: a given one, or a temporary one of its own.

`KIBITZ_TEST_POSTGRES` is the address of a server whose user may make databases. Without it a
cluster is made in a temporary directory, where the programs are installed; it listens on a Unix
socket in there and is ended by its process id. PostgreSQL refuses to run as root, who starts it as
the user ``postgres`` or ``nobody`` instead.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from kibitz_server.storage.location import PostgresURL

ADDRESS = os.environ.get("KIBITZ_TEST_POSTGRES", "")
SKIPPED = "no PostgreSQL: KIBITZ_TEST_POSTGRES names no server, and initdb is not installed"
START_TIMEOUT_S = 30.0
_FAST: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off"}
"""A test that kills the server's process, but not the machine, loses nothing by it."""


def programs() -> Path | None:
    """Return the folder of the newest initdb and postgres, None where there are none."""
    found = shutil.which("initdb")
    versions = [Path(found).resolve().parent] if found else []
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    versions += sorted((each.parent for each in installed), key=lambda each: each.parent.name)
    return versions[-1] if versions else None


class PostgresCluster:
    """A PostgreSQL server in a directory of its own."""

    def __init__(self, directory: Path, settings: Mapping[str, str] = _FAST) -> None:
        folder = programs()
        if folder is None:
            raise FileNotFoundError(SKIPPED)
        self._programs = folder
        self._directory = directory
        self._settings = settings
        self._user = _unprivileged_user()
        directory.mkdir(exist_ok=True)
        if self._user is not None:
            os.chown(directory, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "-D", "data", "-A", "trust", "-U", "kibitz", "-E", "UTF8", "--no-sync")

    @property
    def url(self) -> str:
        """The address of the cluster's first database."""
        return f"postgresql://kibitz@/postgres?host={self._directory}"

    @property
    def pid(self) -> int:
        """The process whose children are the rest of it."""
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = {"listen_addresses": "", "unix_socket_directories": str(self._directory)}
        given = [f"-c{key}={value}" for key, value in {**options, **dict(self._settings)}.items()]
        deadline = time.monotonic() + START_TIMEOUT_S
        self._process = self._launch(given)
        while not self._answers():
            assert time.monotonic() < deadline, (self._directory / "log").read_text()
            if self._process.poll() is not None:  # processes of one that was killed still end
                self._process = self._launch(given)
            time.sleep(0.05)

    def kill(self) -> None:
        """End it with no chance to do anything about it."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it at once, without waiting for connected clients."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(START_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def _launch(self, given: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._directory / "log").open("ab") as log:
            return subprocess.Popen(
                [self._programs / "postgres", "-D", "data", *given],
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._as_user(),
            )

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(
            command, cwd=self._directory, check=True, capture_output=True, **self._as_user()
        )

    def _as_user(self) -> dict[str, Any]:
        user = self._user
        return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid}


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Return the user as whom root starts it; None for other users, who can start it themselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise LookupError("neither postgres nor nobody is a user here")


@contextlib.contextmanager
def cluster(settings: Mapping[str, str] = _FAST) -> Iterator[PostgresCluster]:
    """Run a throw-away cluster; at the end it is stopped, and nothing of it is left."""
    # Not in a directory of pytest's: only its owner may enter those.
    directory = Path(tempfile.mkdtemp(prefix="kibitz-pg-"))
    try:
        made = PostgresCluster(directory, settings)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def server_url() -> Iterator[str]:
    """Yield the address of a server: of the one that is named, or of a throw-away one."""
    if ADDRESS:
        yield ADDRESS
        return
    with cluster() as made:
        yield made.url


@contextlib.contextmanager
def database(server: str) -> Iterator[PostgresURL]:
    """Yield a new database of a server, which is dropped at the end."""
    name = f"kibitz_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f'CREATE DATABASE "{name}"')
    parts = urlsplit(server)
    try:
        yield PostgresURL(urlunsplit(parts._replace(path=f"/{name}")))
    finally:
        with psycopg.connect(server, autocommit=True) as db:
            db.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
