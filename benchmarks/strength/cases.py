"""The cases: every tournament of `matrix.yaml`, with the claims to test.

`tournaments` expands the matrix; the comment at its top explains the notation.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kibitz_arena.config import build
from kibitz_arena.tournament import Tournament

MATRIX = Path(__file__).with_name("matrix.yaml")
QUICK_DIVISOR = 10
"""Divisor for the number of blocks in a quick run."""


class UnknownCaseError(ValueError):
    """Raised if a case is not in the matrix; the message names the closest one, or all."""


@dataclass(frozen=True)
class StrengthCase:
    """A tournament with claims; its paths are relative to `base`."""

    name: str
    tournament: Tournament
    base: Path = MATRIX.parent


def tournaments(matrix: Path = MATRIX) -> dict[str, dict[str, Any]]:
    """Return the values of every tournament by name, for `kibitz_arena.config.build`."""
    by_name: dict[str, dict[str, Any]] = {}
    for group in yaml.safe_load(matrix.read_text(encoding="utf-8")):
        for values in map(_expand, _of_group(group)):
            if values["name"] in by_name:
                raise ValueError(f"{matrix.name}: {values['name']} is defined twice")
            by_name[values["name"]] = values
    return by_name


def select(wanted: Sequence[str] = (), matrix: Path = MATRIX) -> list[StrengthCase]:
    """Return the named cases, or all cases if no names are given, in the order of the matrix.

    Raises `UnknownCaseError`, or `ConfigError` if a tournament is invalid.
    """
    known = tournaments(matrix)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            more = f"did you mean {near[0]}?" if near else f"known cases: {', '.join(known)}"
            raise UnknownCaseError(f"unknown case {name!r}; {more}")
    chosen = {name: known[name] for name in wanted} or known
    return [
        StrengthCase(name, build(values, f"{matrix.name}: {name}"), matrix.parent)
        for name, values in chosen.items()
    ]


def shortened(tournament: Tournament) -> Tournament:
    """Return a tournament with a tenth of the blocks, but at least one."""
    blocks = max(1, tournament.blocks_per_pairing // QUICK_DIVISOR)
    return tournament.model_copy(update={"blocks": blocks, "games": None, "balanced": True})


# The notation of the matrix


def _of_group(group: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tournaments of a group, including their shared keys."""
    shared = {key: value for key, value in group.items() if key not in ("each", "tournaments")}
    for bot, time in group.get("each", {}).items():
        search, _, evaluation = bot.rpartition("-")
        names = {"bot": bot, "time": str(time), "search": search, "evaluation": evaluation}
        yield _filled(shared, names)
    for name, own in group.get("tournaments", {}).items():
        yield {"name": name, **shared, **own}


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    """Substitute the names in every string of a value."""
    if isinstance(value, str):
        return value.format_map(names)
    if isinstance(value, Mapping):
        return {_filled(key, names): _filled(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, names) for part in value]
    return value


def _expand(values: dict[str, Any]) -> dict[str, Any]:
    """Replace `bots` and `better` in the values by entrants and claims."""
    game = values["game"].partition(":")[0]
    bots = values.pop("bots", {})
    entrants = [{"name": name, "bot": f"{game}/{bot or name}"} for name, bot in bots.items()]
    values["entrants"] = entrants + values.get("entrants", [])
    better = values.pop("better", None)
    if better is not None:
        others = [entrant["name"] for entrant in values["entrants"] if entrant["name"] != better]
        values["claims"] = [f"{better} is better than {other}" for other in others]
    return values
