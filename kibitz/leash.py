"""A process that ends when the one that started it is gone, however that one ended.

``python -m kibitz.leash PARENT MODULE ARGUMENTS...`` runs a module as ``python -m`` would. It
leaves the terminal's process group first, so that Ctrl-C reaches only the parent, which knows
in which order to end what it has started. Then a thread asks who the parent is: a process
whose parent has died is given another one. It asks to end politely, and a moment later insists.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import sys
import threading
import time

ASK_SECONDS = 0.5
"""How often the thread looks who the parent is."""
PATIENCE_SECONDS = 10.0
"""How long a process may take to end politely."""


def leashed(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs `module` on a leash held by this process."""
    return [sys.executable, "-m", "kibitz.leash", str(os.getpid()), module, *arguments]


def hold(parent: int) -> None:
    """End this process soon after process `parent` stops being its parent."""
    threading.Thread(target=_watch, args=(parent,), name="leash", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(ASK_SECONDS)
    signal.raise_signal(signal.SIGTERM)
    time.sleep(PATIENCE_SECONDS)
    os._exit(1)


def main() -> None:
    """Run the module that the command line names."""
    parent, module = int(sys.argv[1]), sys.argv[2]
    with contextlib.suppress(OSError, AttributeError):
        os.setsid()
    hold(parent)
    sys.argv = [module, *sys.argv[3:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
