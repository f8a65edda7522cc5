"""Time controls: one schema for all of them, and the notation that people type.

Time that a seat uses on a turn is taken, in this order, from the free time of the move, the
main time, the overage bank and the byo-yomi periods; when all are used up the flag falls.
So per-move limits, Fischer clocks, banks and byo-yomi are one ledger with some parts zero.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from pydantic import Field

from kibitz_protocol.values import Millis, Strict, Tolerant

_PART = re.compile(r"^(?:(?P<key>move|byo|bank)=)?(?P<value>[0-9.:+x]+)$")


class TimeControl(Strict):
    """How long the seats may think, in milliseconds; all zero means no clock."""

    move_ms: Millis = Field(0, description="free time on every move, not carried over")
    main_ms: Millis = Field(0, description="main time of a seat for the whole match")
    increment_ms: Millis = Field(0, description="added to the main time after each own move")
    bank_ms: Millis = Field(0, description="overage bank, used after move and main time")
    periods: int = Field(0, ge=0, le=1000, description="byo-yomi periods after all else")
    period_ms: Millis = Field(0, description="length of a byo-yomi period")

    @property
    def limited(self) -> bool:
        """Whether a flag can fall at all."""
        return bool(self.move_ms or self.main_ms or self.bank_ms or self.periods)

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read ``10+0.1``, ``5:00+2``, ``move=1``, ``byo=60+3x10``, ``move=1,bank=60``, ``none``.

        Numbers are seconds, or minutes and seconds around a colon. Raises `ValueError` with
        what was expected.
        """
        if text.strip().lower() in {"none", "inf", ""}:
            return cls()
        fields: dict[str, int] = {}
        for part in text.strip().split(","):
            fields |= _parse_part(part.strip(), text)
        control = cls(**fields)
        if not control.limited:
            raise ValueError(f"time control leaves no time at all: {text!r}")
        return control

    def __str__(self) -> str:
        if not self.limited:
            return "none"
        parts = []
        if self.periods:
            parts.append(f"byo={_seconds(self.main_ms)}+{self.periods}x{_seconds(self.period_ms)}")
        elif self.main_ms or self.increment_ms:
            parts.append(f"{_seconds(self.main_ms)}+{_seconds(self.increment_ms)}")
        if self.move_ms:
            parts.append(f"move={_seconds(self.move_ms)}")
        if self.bank_ms:
            parts.append(f"bank={_seconds(self.bank_ms)}")
        return ",".join(parts)


class Clock(Tolerant):
    """What a seat has left, in milliseconds, at the start of its next turn."""

    main_ms: Millis = 0
    bank_ms: Millis = 0
    periods: int = Field(0, ge=0)


def _parse_part(part: str, text: str) -> dict[str, int]:
    found = _PART.match(part)
    if found is None:
        raise ValueError(_expectation(text))
    key, value = found["key"], found["value"]
    try:
        if key in {"move", "bank"}:
            return {f"{key}_ms": _millis(value)}
        main, _, rest = value.partition("+")
        if key == "byo":
            periods, _, period = rest.partition("x")
            return {
                "main_ms": _millis(main),
                "periods": int(periods),
                "period_ms": _millis(period),
            }
        return {"main_ms": _millis(main), "increment_ms": _millis(rest or "0")}
    except (ValueError, InvalidOperation):
        raise ValueError(_expectation(text)) from None


def _expectation(text: str) -> str:
    return f"expected a time control like 10+0.1, move=1, byo=60+3x10 or none, not {text!r}"


def _millis(text: str) -> int:
    minutes, colon, seconds = text.rpartition(":")
    total = Decimal(seconds) + (Decimal(minutes) * 60 if colon else 0)
    return int(total * 1000)


def _seconds(millis: int) -> str:
    return f"{Decimal(millis) / 1000:f}"
