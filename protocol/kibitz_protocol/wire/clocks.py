"""Time controls: one schema for all of them, the notation that people type, and the arithmetic.

Time that a seat uses on a turn is taken, in this order, from the free time of the move, the
main time, the overage bank and the byo-yomi periods; when all are used up the flag falls.
So per-move limits, Fischer clocks, banks and byo-yomi are one scheme in which some parts are zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field, ValidationError

from kibitz_protocol.wire.values import MAX_SAFE_INT, Millis, Strict

_TIME = r"(?:[0-9]{1,9}:)?[0-9]{1,9}(?:\.[0-9]{1,3})?"
_PARTS: Final = (
    re.compile(rf"(?P<main_ms>{_TIME})(?:\+(?P<increment_ms>{_TIME}))?"),
    re.compile(rf"byo=(?P<main_ms>{_TIME})\+(?P<periods>[0-9]{{1,4}})x(?P<period_ms>{_TIME})"),
    re.compile(rf"move=(?P<move_ms>{_TIME})"),
    re.compile(rf"inc=(?P<increment_ms>{_TIME})"),
    re.compile(rf"bank=(?P<bank_ms>{_TIME})"),
)
"""The parts of the notation, by the names of their fields."""


class TimeControl(Strict):
    """A time control, in milliseconds; all zero means no clock."""

    move_ms: Millis = Field(0, description="free time on every move, not carried over")
    main_ms: Millis = Field(0, description="main time of a seat for the whole match")
    increment_ms: Millis = Field(0, description="added to the main time after each own move")
    bank_ms: Millis = Field(0, description="overage bank, used after move and main time")
    periods: int = Field(0, ge=0, le=1000, description="byo-yomi periods after all else")
    period_ms: Millis = Field(0, description="length of a byo-yomi period")

    @property
    def flaw(self) -> str | None:
        """The reason why this makes no sense, or None; hosting with a flaw is a bad option."""
        if bool(self.periods) != bool(self.period_ms):
            return "byo-yomi needs both periods and their length"
        if self.increment_ms and not self.limited:
            return "an increment needs a time to add it to"
        return None

    @property
    def limited(self) -> bool:
        """Whether a flag can fall at all."""
        return bool(self.move_ms or self.main_ms or self.bank_ms or self.periods)

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read ``10+0.1``, ``5:00+2``, ``move=1``, ``byo=60+3x10``, ``move=1,bank=60``, ``none``.

        Numbers are seconds, or minutes and seconds around a colon, to the millisecond; ``inc``
        gives the increment where the form of the main time has no place for it. Raises
        `ValueError` with what was expected.
        """
        if text.strip().lower() in {"none", "inf", ""}:
            return cls()
        fields: dict[str, int] = {}
        for part in text.split(","):
            _add_part(fields, part.strip(), text)
        try:
            control = cls.model_validate(fields)
        except ValidationError as error:
            raise ValueError(f"time control is too long: {_shown(text)}") from error
        flaw = control.flaw or (None if control.limited else "it leaves no time at all")
        if flaw is not None:
            raise ValueError(f"time control {_shown(text)}: {flaw}")
        return control

    def __str__(self) -> str:
        if not self.limited:
            return "none"
        parts = []
        if self.periods:
            parts.append(f"byo={_seconds(self.main_ms)}+{self.periods}x{_seconds(self.period_ms)}")
            if self.increment_ms:
                parts.append(f"inc={_seconds(self.increment_ms)}")
        elif self.main_ms or self.increment_ms:
            parts.append(f"{_seconds(self.main_ms)}+{_seconds(self.increment_ms)}")
        if self.move_ms:
            parts.append(f"move={_seconds(self.move_ms)}")
        if self.bank_ms:
            parts.append(f"bank={_seconds(self.bank_ms)}")
        return ",".join(parts)


# A plain dataclass, which messages validate like a model: every move makes one and reads several,
# and a model takes six times as long to make and four times as long per attribute read.
# Treat it as immutable; `frozen` would make it as slow to make as a model.
@dataclass(slots=True)
class Clock:
    """The time that a seat has left at the start of its next turn, in milliseconds."""

    main_ms: Millis = 0
    bank_ms: Millis = 0
    periods: Annotated[int, Field(ge=0)] = 0


# --- arithmetic ---------------------------------------------------------------------------
#
# Pure functions over immutable values, for every time control. The charge of a turn is taken, in
# this order, from the free time of the move, the main time, the overage bank and the byo-yomi
# periods. A period that is used up is lost; a partly used one is whole again on the next turn. The
# flag falls when the charge reaches all that is left, to the millisecond.

MAX_CLOCK_MS: Final = MAX_SAFE_INT
"""The cap on every number of a clock, the largest integer of the wire. Increments on top of huge
controls do not exceed it."""
EMPTY_CLOCK: Final = Clock(main_ms=0, bank_ms=0, periods=0)
"""The clock of a seat whose flag has fallen."""


def full_clock(control: TimeControl) -> Clock:
    """Return the clock of a seat before its first turn."""
    return _clock(control.main_ms, control.bank_ms, control.periods)


def until_flag(control: TimeControl, clock: Clock) -> int:
    """Return the milliseconds that a turn started with `clock` may be charged before the flag."""
    total = control.move_ms + clock.main_ms + clock.bank_ms
    if clock.periods:
        total += clock.periods * control.period_ms
    return total if total < MAX_CLOCK_MS else MAX_CLOCK_MS


def spend(control: TimeControl, clock: Clock, charged_ms: int) -> Clock | None:
    """Return the clock after a move that was charged `charged_ms`, or None if the flag fell.

    The increment of the move is included.
    """
    main, bank, periods = clock.main_ms, clock.bank_ms, clock.periods
    over = charged_ms - control.move_ms
    # The fast path of nearly every move: main time is left.
    if over >= main and charged_ms >= until_flag(control, clock):
        return None
    if over > main + bank:
        periods -= (over - main - bank) // control.period_ms
        main = bank = 0
    elif over > main:
        main, bank = 0, bank - (over - main)
    elif over > 0:
        main -= over
    return _clock(main + control.increment_ms, bank, periods)


def after_flag(control: TimeControl) -> Clock:
    """Return the clock after the turn of a seat whose flag fell and that plays on.

    This applies if the game skips the turn or the server moves for the seat. All its time is gone;
    it still gets the increment, as after every turn.
    """
    return _clock(control.increment_ms, 0, 0)


def _clock(main_ms: int, bank_ms: int, periods: int) -> Clock:
    return Clock(main_ms if main_ms < MAX_CLOCK_MS else MAX_CLOCK_MS, bank_ms, periods)


def clocks_json(clocks: Sequence[Clock]) -> bytes:
    """Return clocks as JSON for the wire, in a quarter of the time that pydantic takes."""
    if len(clocks) == 2:  # most matches, each of whose moves writes them
        one, other = clocks
        return (
            b'[{"main_ms":%d,"bank_ms":%d,"periods":%d},{"main_ms":%d,"bank_ms":%d,"periods":%d}]'
        ) % (one.main_ms, one.bank_ms, one.periods, other.main_ms, other.bank_ms, other.periods)
    written = [
        b'{"main_ms":%d,"bank_ms":%d,"periods":%d}' % (each.main_ms, each.bank_ms, each.periods)
        for each in clocks
    ]
    return b"[%b]" % b",".join(written)


# --- notation ------------------------------------------------------------------------------


def _add_part(fields: dict[str, int], part: str, text: str) -> None:
    """Read one part into `fields`; no part may occur twice."""
    form_match = next((match for form in _PARTS if (match := form.fullmatch(part))), None)
    if form_match is None:
        raise ValueError(_expectation(text))
    for field, value in form_match.groupdict().items():
        if value is None:
            continue
        if field in fields:
            raise ValueError(f"time control says {field} twice: {_shown(text)}")
        fields[field] = int(value) if field == "periods" else _millis(value)


def _expectation(text: str) -> str:
    return f"expected a time control like 10+0.1, move=1, byo=60+3x10 or none, not {_shown(text)}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _millis(text: str) -> int:
    minutes, colon, seconds = text.rpartition(":")
    total = Decimal(seconds) + (Decimal(minutes) * 60 if colon else 0)
    return int(total * 1000)


def _seconds(millis: int) -> str:
    return f"{Decimal(millis) / 1000:f}"
