"""A PostgreSQL server for tests: an existing one or a temporary one.

`KIBITZ_TEST_POSTGRES` is the URL of a server whose user may create databases. Without it, a cluster
is created in a temporary directory if PostgreSQL is installed; it listens on a Unix socket there
and is stopped by its process id. PostgreSQL refuses to run as root, so root starts it as the user
``postgres`` or ``nobody``.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
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
"""Without fsync: tests kill the server's process but not the machine, so no data is lost."""


def programs() -> Path | None:
    """Return the folder of the newest initdb and postgres, None if there are none."""
    found = shutil.which("initdb")
    versions = [Path(found).resolve().parent] if found else []
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    versions += sorted((each.parent for each in installed), key=lambda each: each.parent.name)
    return versions[-1] if versions else None


class PostgresCluster:
    """A PostgreSQL server in its own directory."""

    def __init__(self, directory: Path, settings: Mapping[str, str] = _FAST) -> None:
        self._programs = _folder_of_programs()
        self._directory = directory
        self._settings = settings
        _make_directory(directory)
        _run(["cp", "-R", str(_initial_data()), "data"], directory)

    @property
    def url(self) -> str:
        """The URL of the cluster's first database."""
        return f"postgresql://kibitz@/postgres?host={self._directory}"

    @property
    def pid(self) -> int:
        """The process id of the parent of all server processes."""
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = {"listen_addresses": "", "unix_socket_directories": str(self._directory)}
        given = [f"-c{key}={value}" for key, value in {**options, **dict(self._settings)}.items()]
        deadline = time.monotonic() + START_TIMEOUT_S
        self._process = self._launch(given)
        while not self._answers():
            assert time.monotonic() < deadline, (self._directory / "log").read_text()
            if self._process.poll() is not None:  # processes of a killed server are still exiting
                self._process = self._launch(given)
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Stop the server immediately, without waiting for connected clients."""
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
                **_as_user(),
            )

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@functools.cache
def _initial_data() -> Path:
    """Return the data of a new cluster, which takes initdb longer to make than to copy."""
    directory = Path(tempfile.mkdtemp(prefix="kibitz-pg-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    _make_directory(directory)
    initdb = [str(_folder_of_programs() / "initdb"), "-D", "data", "-A", "trust", "--no-sync"]
    _run([*initdb, "-U", "kibitz", "-E", "UTF8"], directory)
    return directory / "data"


def _folder_of_programs() -> Path:
    """Return the folder of the programs, or raise `FileNotFoundError`."""
    folder = programs()
    if folder is None:
        raise FileNotFoundError(SKIPPED)
    return folder


def _make_directory(directory: Path) -> None:
    """Make a directory that belongs to the user who starts the server."""
    directory.mkdir(exist_ok=True)
    if (user := _unprivileged_user()) is not None:
        os.chown(directory, user.pw_uid, user.pw_gid)


def _run(command: Sequence[str], directory: Path) -> None:
    subprocess.run(command, cwd=directory, check=True, capture_output=True, **_as_user())


def _as_user() -> dict[str, Any]:
    user = _unprivileged_user()
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid}


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Return the user for root to start the server as; None if the current user is not root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise LookupError("this system has neither a user postgres nor nobody")


@contextlib.contextmanager
def cluster(settings: Mapping[str, str] = _FAST) -> Iterator[PostgresCluster]:
    """Run a temporary cluster; stop and delete it at the end."""
    # Not in one of pytest's directories, which only their owner can enter.
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
    """Yield the URL of the configured server or of a temporary one."""
    if ADDRESS:
        yield ADDRESS
        return
    with cluster() as made:
        yield made.url


@contextlib.contextmanager
def database(server: str) -> Iterator[PostgresURL]:
    """Yield a new database on a server, and drop it at the end."""
    name = f"kibitz_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f'CREATE DATABASE "{name}"')
    parts = urlsplit(server)
    try:
        yield PostgresURL(urlunsplit(parts._replace(path=f"/{name}")))
    finally:
        with psycopg.connect(server, autocommit=True) as db:
            db.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
