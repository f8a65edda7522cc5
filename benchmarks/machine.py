"""A description of the machine that a benchmark ran on."""

from __future__ import annotations

import os
import platform
import subprocess
import time

import psutil


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
    words = ["git", "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
