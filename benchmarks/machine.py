"""A description of the machine that a benchmark ran on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Sequence

import psutil


class UncommittedError(Exception):
    """Sources that differ from their last commit; the message lists them."""


def machine() -> str:
    """Return a one-line description of this machine, without a period."""
    processor = "an unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    gib = psutil.virtual_memory().total / 2**30
    return (
        f"{os.cpu_count()} cores of {processor}, {gib:.0f} GiB, Python"
        f" {platform.python_version()}, {time.strftime('%Y-%m-%d')}"
    )


def commit() -> str:
    """Return the commit that is checked out, in 12 digits.

    Raises `subprocess.CalledProcessError` outside a clone.
    """
    return _git("rev-parse", "--short=12", "HEAD")


def last_commit_of(folders: Sequence[str]) -> str:
    """Return the last commit that changed one of the folders of the repository, in 12 digits.

    Raises `UncommittedError` if the folders have uncommitted changes, and
    `subprocess.CalledProcessError` outside a clone.
    """
    root = _git("rev-parse", "--show-toplevel")
    changed = _git("-C", root, "status", "--porcelain", "--", *folders)
    if changed:
        raise UncommittedError(f"uncommitted changes, commit them first:\n{changed}")
    return _git("-C", root, "log", "-1", "--format=%h", "--abbrev=12", "--", *folders)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()
