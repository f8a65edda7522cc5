"""The models of options, moves and views, and their conversion to and from states."""

from __future__ import annotations

import bisect
import functools
import random
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, get_args

import numpy as np
from pydantic import Field

from kibitz_games.compiled.kernels import RecordReader
from kibitz_games.core.game import Features, IllegalAction, InvalidSetup, Json, Model, Notation
from kibitz_games.number_merge import rules

Preset = Literal["fair", "classic", "long", "open"]
First = Literal["seat-0", "seat-1", "random"]
Reason = Literal["merged", "dropped"]
Threshold = int | str
Number = Annotated[int, Field(ge=1, le=rules.LARGEST)]

PRESETS: dict[Preset, tuple[int, Threshold]] = {
    "fair": (8, "2/5"),
    "classic": (6, "mean"),
    "long": (12, "1/3"),
    "open": (40, "1/3"),
}
"""The length of the row and the threshold of each preset."""
CHOICES: tuple[First, ...] = get_args(First)
MEAN = "mean"
_NAMES: tuple[Preset, ...] = tuple(PRESETS)
_FRACTION = re.compile(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})")


class Options(Model):
    """The options of a match: a preset, and options that override it."""

    preset: Preset = Field(
        "fair",
        description="Length of the row and threshold: fair (8 numbers, 2/5 of their total),"
        " classic (6, their mean), long (12, 1/3 of the total), open (40, 1/3).",
    )
    length: int | None = Field(
        None,
        ge=rules.SHORTEST,
        le=rules.LONGEST,
        description="The number of numbers in the initial row, instead of the preset's.",
        examples=[10],
    )
    threshold: Threshold | None = Field(
        None,
        description='What a sum has to exceed: a whole number, "mean" for the mean of the row, or a'
        ' fraction of its total such as "2/5". Defaults to the preset\'s.',
        examples=["1/3"],
    )
    row: tuple[Number, ...] | None = Field(
        None,
        min_length=rules.SHORTEST,
        max_length=rules.LONGEST,
        description="The numbers, at least 1 each and at most 999 in total; by default random"
        " digits from 1 to 9.",
        examples=[[3, 1, 4, 1, 5]],
    )
    first: First = Field(
        "seat-0",
        description="The seat that moves first: seat-0, seat-1, or random. Matches are played in"
        " pairs on the same row with swapped seats, so each player moves first once.",
    )


class Move(Model):
    """A merge of two neighbors; `index` is the index of the left one in the current row."""

    index: int = Field(ge=0, lt=rules.MAX_PLIES)


class Last(Model):
    """The last merge: the seat, both numbers, the index of their sum, and the points scored."""

    seat: int = Field(ge=0, lt=rules.SEATS)
    index: int = Field(ge=0, lt=rules.MAX_PLIES)
    left: Number
    right: Number
    gain: int = Field(ge=-1, le=1)


class View(Model):
    """A position. Nothing is hidden, so all viewers get the same view.

    `options` contains the length, the threshold and the initial row. `threshold` is the exact value
    as a numerator and a denominator, `rule` its origin in words.
    """

    options: Options
    threshold: list[int] = Field(min_length=2, max_length=2)
    rule: str
    ply: int = Field(ge=0, le=rules.MAX_PLIES)
    to_act: int = Field(ge=-1, lt=rules.SEATS)
    first: int = Field(ge=0, lt=rules.SEATS, description="The seat that moved first.")
    row: list[int] = Field(min_length=1, max_length=rules.LONGEST)
    scores: list[int] = Field(min_length=rules.SEATS, max_length=rules.SEATS)
    last: Last | None = None
    over: Reason | None = None
    out: int | None = Field(None, ge=0, lt=rules.SEATS, description="The seat that left the match.")


# ------------------------------------------------------------------------------------- options


def deal(options: Options, seed: int) -> dict[str, Json]:
    """Draw the options that are not set from `seed`: the row, and the seat that moves first."""
    source = random.Random(seed)
    drawn: dict[str, Json] = {}
    row = [source.randint(1, 9) for _ in range(_length(options))]
    if options.row is None:
        drawn["row"] = row
    if options.first == "random":
        drawn["first"] = source.randrange(rules.SEATS)
    return drawn


def start(options: Options, seats: int, deal: Mapping[str, Json]) -> np.record:
    """Return the first state, or raise `InvalidSetup` with the invalid option."""
    if seats != rules.SEATS:
        raise InvalidSetup("seats", f"expected 2 players, not {seats}")
    row = _row(options, deal)
    first = deal["first"] if options.first == "random" else CHOICES.index(options.first)
    assert isinstance(first, int)
    return _position(options, row, first)


def _position(options: Options, row: Sequence[int], first: int, **present: Any) -> np.record:
    part, parts = _rule(options)
    value = threshold(part, parts, row)
    chosen = (_NAMES.index(options.preset), CHOICES.index(options.first), part, parts)
    above, below = value.numerator, value.denominator
    return rules.make_state(row, above, below, first=first, options=chosen, **present)


def _length(options: Options) -> int:
    if options.length is not None:
        return options.length
    return PRESETS[options.preset][0] if options.row is None else len(options.row)


def _row(options: Options, dealt: Mapping[str, Json]) -> tuple[int, ...]:
    if options.row is None:
        drawn = dealt["row"]
        assert isinstance(drawn, Sequence)
        return tuple(int(str(number)) for number in drawn)
    if len(options.row) != _length(options):
        message = f"the row has {len(options.row)} numbers, not {options.length}"
        raise InvalidSetup("options.length", message)
    if sum(options.row) > rules.LARGEST:
        message = f"expected a total of at most {rules.LARGEST}, not {sum(options.row)}"
        raise InvalidSetup("options.row", message)
    return options.row


def _rule(options: Options) -> tuple[int, int]:
    """Return the threshold as (number, 0), as a fraction of the total, or as (0, 0) for the mean.

    Numbers are from 1 to `rules.LARGEST`, the range of possible sums.
    """
    chosen = PRESETS[options.preset][1] if options.threshold is None else options.threshold
    if chosen == MEAN:
        return 0, 0
    if isinstance(chosen, int) and 1 <= chosen <= rules.LARGEST:
        return chosen, 0
    match = _FRACTION.fullmatch(str(chosen))
    if match is None:
        expected = f'a whole number from 1 to {rules.LARGEST}, "mean" or a fraction such as "2/5"'
        raise InvalidSetup("options.threshold", f"expected {expected}, not {chosen!r}")
    return int(match[1]), int(match[2])


def threshold(part: int, parts: int, row: Sequence[int]) -> Fraction:
    """Return the exact threshold for a row."""
    if parts:
        return Fraction(part * sum(row), parts)
    return Fraction(part) if part else Fraction(sum(row), len(row))


# ---------------------------------------------------------------------------------------- moves


@functools.cache
def encode(action: int) -> Move:
    """Convert an action to its wire move. Moves are frozen, so each is created once and shared."""
    return Move(index=action)


def decode(state: Any, move: Move) -> int:
    """Convert a wire move to a legal action, or raise `IllegalAction`."""
    if int(state["side"]) < 0:
        raise IllegalAction("the game is over")
    last = int(state["count"]) - 2
    if move.index > last:
        expected = f"the index of the left one of two neighbors, 0 to {last}"
        raise IllegalAction(f"expected {expected}, not {move.index}")
    return move.index


class _Notation(Notation[Move]):
    """Moves written as the indices of two neighbors."""

    def format(self, move: Move) -> str:
        """Return a move as a person writes it: the indices of both numbers."""
        return f"{move.index}+{move.index + 1}"

    def parse(self, text: str) -> Move:
        """Parse a move written by `format`, or the left index alone."""
        match = re.fullmatch(r"\s*([0-9]{1,2})\s*(?:\+\s*([0-9]{1,2})\s*)?", text)
        left = int(match[1]) if match else rules.MAX_PLIES
        right = int(match[2]) if match and match[2] else left + 1
        if right != left + 1 or left >= rules.MAX_PLIES:
            raise IllegalAction(f"expected the indices of two neighbors such as 3+4, not {text!r}")
        return encode(left)

    def cells(self, move: Move) -> tuple[str, ...]:
        """Return the indices of both numbers."""
        return str(move.index), str(move.index + 1)


NOTATION: Final = _Notation()


# ---------------------------------------------------------------------------------------- views


_FIELDS = RecordReader(
    rules.STATE,
    *("preset", "choice", "part", "parts", "length", "above", "below", "first", "ply", "side"),
    *("end", "out", "count", "score", "prefix", "edge", "history"),
)


def view(state: np.record) -> View:
    """Return the view, which is the same for all seats and the public."""
    preset, choice, part, parts, length, above, below, first, ply, *rest = _FIELDS(state)
    side, end, out, count, scores, prefix, edge, history = rest
    start = tuple(prefix[i + 1] - prefix[i] for i in range(length))
    sums = [prefix[place] for place in edge[: count + 1]]
    row = [sums[i + 1] - sums[i] for i in range(count)]
    options, rule = _options(preset, choice, part, parts, start)
    last = None
    if ply > 0:
        index = bisect.bisect_left(edge, history[ply - 1], 0, count) - 1
        left = prefix[history[ply - 1]] - sums[index]
        beyond = row[index] * below - above
        last = Last.unchecked(
            {
                "seat": (first + ply - 1) % rules.SEATS,
                "index": index,
                "left": left,
                "right": row[index] - left,
                "gain": (beyond > 0) - (beyond < 0),
            }
        )
    fields = {
        "options": options,
        "threshold": [above, below],
        "rule": rule,
        "ply": ply,
        "to_act": side,
        "first": first,
        "row": row,
        "scores": [*scores],
        "last": last,
        "over": rules.REASONS[end] or None,
        "out": None if out == rules.NOBODY else out,
    }
    return View.unchecked(fields)


@functools.lru_cache(maxsize=1024)
def _options(
    preset: int, choice: int, part: int, parts: int, row: tuple[int, ...]
) -> tuple[Options, str]:
    """Return the complete options, and the rule for the threshold in words."""
    chosen: Threshold = f"{part}/{parts}" if parts else part or MEAN
    options = Options(
        preset=_NAMES[preset],
        length=len(row),
        threshold=chosen,
        row=row,
        first=CHOICES[choice],
    )
    return options, _words(part, parts, row)


def _words(part: int, parts: int, row: tuple[int, ...]) -> str:
    if parts:
        return f"{part}/{parts} of the total {sum(row)}"
    return "as chosen" if part else f"the mean of {len(row)} numbers with the total {sum(row)}"


def features(seen: View, seat: int) -> Features:
    """Return float32 [length + 2]: the row, the lead and the threshold, normalized."""
    length, total = _length(seen.options), sum(seen.row)
    numbers = np.zeros(length + 2, np.float32)
    numbers[: len(seen.row)] = np.array(seen.row) / total
    numbers[length] = (seen.scores[seat] - seen.scores[1 - seat]) / length
    numbers[length + 1] = min(1.0, seen.threshold[0] / seen.threshold[1] / total)
    return numbers


def state_from_view(seen: View) -> np.record:
    """Return the state that a view shows; its history contains only the last merge."""
    assert seen.options.row is not None
    scores = (seen.scores[0], seen.scores[1])
    st: Any = _position(seen.options, seen.options.row, seen.first, numbers=seen.row, scores=scores)
    st.side, st.end = seen.to_act, rules.REASONS.index(seen.over or "")
    st.out = rules.NOBODY if seen.out is None else seen.out
    if seen.last is not None:
        left = int(st.prefix[st.edge[seen.last.index]]) + seen.last.left
        st.history[seen.ply - 1] = np.searchsorted(st.prefix[: st.length + 1], left)
    state: np.record = st
    return state
