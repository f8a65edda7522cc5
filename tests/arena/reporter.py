"""A progress display for tests."""

from __future__ import annotations


class FakeReporter:
    """Collects what is shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, done: int, total: int, text: str) -> None:
        self.lines.append(f"{done} of {total}: {text}")

    def say(self, text: str) -> None:
        self.lines.append(text)
