"""An evaluated record as text (one line with a bar per move), as an SVG chart, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kibitz.analysis.evaluation import MoveEvaluation, Scale, Swing, costliest
from kibitz_clients.wording.descriptions import value_text
from kibitz_protocol.wire.recordfile import Record
from kibitz_training.figures import line_chart

BAR = 20
"""The width of the bars beside the moves, in columns."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def lines(record: Record, evaluations: Sequence[MoveEvaluation]) -> Iterator[str]:
    """Yield a line for each move, followed by the greatest swings."""
    names = _names(record)
    scale = Scale(evaluations)
    width = max((len(evaluation.played) for evaluation in evaluations), default=0)
    for evaluation in evaluations:
        better = "" if evaluation.agrees else f"  better {evaluation.best}"
        graph = _bar(evaluation, scale)
        yield (
            f"{evaluation.ply:>4}  {names[evaluation.seat]}  {evaluation.played.ljust(width)}"
            f"  {value_text(evaluation.comment):>10}  {graph}{better}"
        ).rstrip()
    agreed = sum(evaluation.agrees for evaluation in evaluations)
    yield f"the bot agrees with {agreed} of {len(evaluations)} moves"
    yield from _swing_lines(names, costliest(record, evaluations))


def _swing_lines(names: Sequence[str], changes: Sequence[Swing]) -> Iterator[str]:
    if changes:
        yield "largest drops in value between a player's consecutive turns:"
    for swing in changes:
        yield (
            f"{swing.before.ply:>4}  {names[swing.before.seat]}  played {swing.before.played}:"
            f" {value_text(swing.before.comment)} -> {value_text(swing.after.comment)}"
        )


def _names(record: Record) -> list[str]:
    """Return the name of each seat, padded to equal width."""
    seats = [f"{seat} {who.name}" for seat, who in enumerate(record.setup.seats, start=1)]
    width = max(map(len, seats))
    return [name.ljust(width) for name in seats]


def _bar(evaluation: MoveEvaluation, scale: Scale) -> str:
    """Return the value of a move as a bar of `BAR` columns."""
    place = scale.place(evaluation)
    if place is None:
        return " " * BAR
    eighths = round((place - scale.low) / (scale.high - scale.low) * BAR * 8)
    whole, rest = divmod(eighths, 8)
    return (_EIGHTHS[8] * whole + (_EIGHTHS[rest] if rest else "")).ljust(BAR)


def svg(record: Record, evaluations: Sequence[MoveEvaluation], title: str) -> str:
    """Return a step chart of each seat's values over the plies, as SVG."""
    scale = Scale(evaluations)
    series = {
        name.strip(): _steps(evaluations, seat, scale) for seat, name in enumerate(_names(record))
    }
    known = {name: values for name, values in series.items() if values}
    return line_chart(title, known, across="ply", up="value for the seat", low=scale.low)


def _steps(evaluations: Sequence[MoveEvaluation], seat: int, scale: Scale) -> list[float]:
    """Return the value of a seat at every ply, which is that of its latest turn."""
    own = [(e.ply, p) for e in evaluations if e.seat == seat and (p := scale.place(e)) is not None]
    if not own:
        return []
    values: list[float] = []
    for ply, place in own:
        values += [values[-1] if values else place] * (ply - len(values))
        values.append(place)
    return values


def to_json(record: Record, evaluations: Sequence[MoveEvaluation], by: str, ms: int) -> str:
    """Return the evaluation as one JSON object."""
    return json.dumps(
        {
            "match": record.setup.match,
            "game": record.setup.game,
            "by": by,
            "ms": ms,
            "moves": [_fields(evaluation) for evaluation in evaluations],
            "swings": [
                {
                    "seat": swing.before.seat,
                    "ply": swing.before.ply,
                    "change": swing.change,
                    "before": value_text(swing.before.comment),
                    "after": value_text(swing.after.comment),
                }
                for swing in costliest(record, evaluations)
            ],
        }
    )


def _fields(evaluation: MoveEvaluation) -> dict[str, Any]:
    comment = evaluation.comment.model_dump(exclude_none=True)
    fields = {
        "ply": evaluation.ply,
        "seat": evaluation.seat,
        "played": evaluation.played,
        "best": evaluation.best,
    }
    proven = {"proven": evaluation.proven, "end_in": evaluation.end_in} if evaluation.proven else {}
    return fields | proven | comment
