"""The last step before an untrusted bot: sets limits, creates scratch directories, and opens a port
to the server.

``python -I -S isolation/entrypoint.py [OPTIONS] -- COMMAND...``

It runs inside the sandbox, and then replaces itself with the command (`exec`). If the sandbox has
its own network, the entry point listens on the server's port there and passes the listening sockets
out over an inherited descriptor. The organizer's relay accepts connections on them and forwards
them to the real server. The bot therefore makes ordinary connections to an ordinary address.

It imports nothing from kibitz, so that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

EXIT_NOT_FOUND = 127
OOM_SCORE_ADJUSTMENT = 500
"""Makes the kernel kill a bot before the server and other programs if memory runs out."""
RLIMITS = {
    "processes": resource.RLIMIT_NPROC,
    "files": resource.RLIMIT_NOFILE,
    "file_bytes": resource.RLIMIT_FSIZE,
    "data_bytes": resource.RLIMIT_DATA,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Apply the options and execute the command."""
    words = sys.argv[1:] if argv is None else [*argv]
    at = words.index("--")
    given, command = _parser().parse_args(words[:at]), words[at + 1 :]
    for directory in given.mkdir:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for source, target in given.link:
        link_cache(source, target)
    if given.listen is not None:
        share_listener(given.control, given.listen)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE_ADJUSTMENT))
    for name, kind in RLIMITS.items():
        if (most := getattr(given, name)) is not None:
            set_rlimit(kind, most)
    set_rlimit(resource.RLIMIT_CORE, 0)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]!r}: {error.strerror}\n")
        sys.exit(EXIT_NOT_FOUND)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="entrypoint", description="Run a bot within limits.")
    made.add_argument("--mkdir", type=Path, action="append", default=[])
    made.add_argument("--link", nargs=2, action="append", default=[])
    made.add_argument("--listen", type=int, metavar="PORT")
    made.add_argument("--control", type=int, metavar="FD")
    made.add_argument("--processes", type=int)
    made.add_argument("--files", type=int)
    made.add_argument("--file-bytes", type=int)
    made.add_argument("--data-bytes", type=int)
    return made


def link_cache(source: str, target: str) -> None:
    """Link the readable files of a cache, which the bot can replace but not change.

    Lock files are left out, because a process must be able to write them. Missing files are
    recompiled.
    """
    with contextlib.suppress(OSError):
        if os.path.isdir(source):
            os.mkdir(target)
            for name in os.listdir(source):
                link_cache(f"{source}/{name}", f"{target}/{name}")
        elif not source.endswith(".lock") and os.access(source, os.R_OK):
            os.symlink(source, target)


def share_listener(control: int, port: int) -> None:
    """Listen on a port of this network, and pass the listening sockets out through `control`."""
    listeners = []
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with contextlib.suppress(OSError):
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.bind((host, port))
            listener.listen(64)
            listeners.append(listener)
    with socket.socket(fileno=control) as holder:
        socket.send_fds(holder, [b"listening"], [listener.fileno() for listener in listeners])
    for listener in listeners:
        listener.close()


def set_rlimit(kind: int, most: int) -> None:
    """Lower a limit permanently; a lower existing limit is kept."""
    _, hard = resource.getrlimit(kind)
    top = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (top, top))


if __name__ == "__main__":
    main()
