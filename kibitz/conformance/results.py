"""Results of the checks: passed, failed, or skipped for this bot."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from kibitz_protocol import printable

Status = Literal["Passed", "Failed", "Skipped"]


class FailedError(Exception):
    """Raised when a bot fails a check; the message says what was expected and what came instead."""

    def __init__(self, expected: str, came: str) -> None:
        super().__init__(f"expected {expected}; {came}")
        self.expected = expected
        self.came = came


class SkippedError(Exception):
    """A check that does not apply to this bot or game; says why."""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One line of the report."""

    check: str
    game: str | None
    seats: int | None
    status: Status
    why: str = ""
    """The reason if the check was skipped."""
    expected: str = ""
    came: str = ""
    output: str = ""
    """The last lines of the bot's output, if it failed."""
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """The name of the check, with game and seats."""
        where = "" if self.game is None else f", {self.game}"
        return f"{self.check}{where}" + (f", {self.seats} seats" if self.seats else "")

    def lines(self) -> list[str]:
        """Return the result as text: one line, followed by details after a failure."""
        return [printable.line(line) for line in self._lines()]

    def _lines(self) -> list[str]:
        if self.status == "Skipped":
            return [f"Skipped  {self.title} ({self.why})"]
        if self.status == "Passed":
            return [f"Passed   {self.title}"]
        shown = [f"Failed   {self.title}", f"         expected: {self.expected}"]
        shown.append(f"         found:    {self.came}")
        output = self.output.splitlines()
        return [
            *shown,
            *(["         its output:"] if output else []),
            *(f"         | {line}" for line in output),
        ]


@dataclass
class ConformanceReport:
    """The report of one bot."""

    bot: str
    results: list[CheckResult] = field(default_factory=list)

    def count(self, status: Status) -> int:
        """Return the number of checks with this status."""
        return sum(finding.status == status for finding in self.results)

    @property
    def passed(self) -> bool:
        """Whether all checks passed or were skipped."""
        return not self.count("Failed")

    @property
    def summary(self) -> str:
        """The last line of the report."""
        counts = f"{self.count('Passed')} passed, {self.count('Failed')} failed"
        return f"{self.bot}: {counts}, {self.count('Skipped')} skipped"

    def as_dict(self) -> dict[str, Any]:
        """Return the report for a program."""
        counts = {
            "passed": self.count("Passed"),
            "failed": self.count("Failed"),
            "skipped": self.count("Skipped"),
        }
        return {"bot": self.bot, **counts, "checks": [asdict(result) for result in self.results]}
