"""Measure plies per second for machine learning: batches, single environments, and OpenSpiel.

    python -m benchmarks.environments [--seconds S] [--rounds N] [--count N] [--page FILE]

A ply is the same work in each column: compute the observation of the seat to act and the mask of
legal actions, draw and play a random legal action, and start a new play if one has ended.

`batch` steps many plays at once in machine code (`kibitz_games.vector`) on one thread. `PettingZoo`
is one iteration of ``agent_iter``, as on the page about learning, with an action drawn from the
mask. `OpenSpiel` is the same loop over the most similar OpenSpiel game: `mnk` on 10 by 10 cells,
Connect Four, two-player Chinese Checkers. This column needs OpenSpiel (``pip install open_spiel``).

Seconds are CPU time, so that other load on the machine matters less. The columns of a row are
measured in turn, `rounds` times; the output has the median, the minimum and the maximum.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import machine
from docs.generate.markdown import table
from kibitz_games.core import registry
from kibitz_games.core.game import Json
from kibitz_games.vector import VectorGame

OPTIONS: dict[str, dict[str, Json]] = {"five-in-a-row": {"size": 10}}
WANTED = {"five-in-a-row": 1_000_000, "line-nim": 1_000_000, "tanks": 1_500_000}
WANTED_LOOP = 25_000
OPEN_SPIEL = {
    "five-in-a-row": "mnk(m=10,n=10,k=5)",
    "connect-four": "connect_four",
    "chinese-checkers": "chinese_checkers(players=2)",
}
"""The most similar OpenSpiel games."""
STEPS = 20
"""Unmeasured steps at the start, so that measured plays are in the middle of the game."""
WARM = 0.05
"""Seconds of warm-up, which include compiling or loading code."""
Column = Callable[[float], float]
"""Returns plies per second, measured for the given number of seconds."""
Figures = dict[str, list[float]]
"""The plies per second of each column, one value per round."""


def batched(name: str, count: int, seconds: float) -> float:
    """Return the plies per second of a batch."""
    with VectorGame(name, OPTIONS.get(name), count=count, seed=1, threads=1) as games:
        for _ in range(STEPS):
            games.step(games.sample())
        steps, began = 0, time.thread_time()
        while (passed := time.thread_time() - began) < seconds:
            games.step(games.sample())
            steps += 1
        return steps * count / passed


def looped(name: str, seconds: float) -> float:
    """Return the plies per second of PettingZoo's loop."""
    from kibitz_bots.adapters.pettingzoo import env

    game, source = env(name, OPTIONS.get(name), views=False), np.random.default_rng(1)
    game.reset(seed=1)
    plies, began = 0, time.thread_time()
    while (passed := time.thread_time() - began) < seconds:
        game.reset()
        for _ in game.agent_iter():
            seen, _, termination, truncation, _ = game.last()
            if termination or truncation:
                break
            legal = np.flatnonzero(seen["action_mask"])
            game.step(int(legal[source.integers(len(legal))]))
            plies += 1
            # Read the clock rarely, so that reading it does not distort the result.
            if plies % 64 == 0 and time.thread_time() - began >= seconds:
                break
    return plies / passed


def open_spiel(spec: str, seconds: float) -> float:
    """Return the plies per second of an OpenSpiel game, with its fastest documented interface."""
    import pyspiel  # type: ignore[import-not-found,unused-ignore]
    from open_spiel.python.observation import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        make_observation,
    )

    game, source = pyspiel.load_game(spec), np.random.default_rng(1)
    seen: Any = make_observation(game)
    plies, began = 0, time.thread_time()
    while (passed := time.thread_time() - began) < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            seen.set_from(state, state.current_player())
            legal = np.flatnonzero(np.asarray(state.legal_actions_mask(), np.int8))
            state.apply_action(int(legal[source.integers(len(legal))]))
            plies += 1
            if plies % 64 == 0 and time.thread_time() - began >= seconds:
                break
    return plies / passed


def columns(name: str, count: int) -> dict[str, Column]:
    """Return the measurements of a game by column."""
    columns: dict[str, Column] = {
        "batch": lambda seconds: batched(name, count, seconds),
        "PettingZoo": lambda seconds: looped(name, seconds),
    }
    if has_open_spiel() and name in OPEN_SPIEL:
        columns["OpenSpiel"] = lambda seconds: open_spiel(OPEN_SPIEL[name], seconds)
    return columns


def has_open_spiel() -> bool:
    """Return whether OpenSpiel is installed."""
    return importlib.util.find_spec("pyspiel") is not None


def measure(name: str, count: int, rounds: int, seconds: float) -> Figures:
    """Measure all columns of a game in turn."""
    chosen = columns(name, count)
    figures: Figures = {column: [] for column in chosen}
    for run in chosen.values():
        run(WARM)
    for _ in range(rounds):
        for column, run in chosen.items():
            figures[column].append(run(seconds))
    return figures


def shown(figures: list[float]) -> str:
    """Return the median with the minimum and the maximum, as text."""
    low, high = min(figures), max(figures)
    return f"{statistics.median(figures):,.0f} ({low:,.0f} to {high:,.0f})"


def rows(rates: dict[str, Figures]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and the rows of the table."""
    names = list(dict.fromkeys(column for figures in rates.values() for column in figures))
    heads = ["game", *names]
    return heads, [
        [game, *(shown(figures[name]) if name in figures else "" for name in names)]
        for game, figures in rates.items()
    ]


def missed(rates: dict[str, Figures]) -> list[str]:
    """Return a sentence for each median below its target."""
    sentences = []
    for game, figures in rates.items():
        for column, wanted in (("batch", WANTED.get(game, 0)), ("PettingZoo", WANTED_LOOP)):
            median = statistics.median(figures[column])
            if median < wanted:
                sentences.append(f"{game}, {column}: {median:,.0f}, below the target of {wanted:,}")
    return sentences


def page(command: str, rates: dict[str, Figures], compared: bool) -> str:
    """Return the results as a Markdown page."""
    heads, lines = rows(rates)
    load = f"{os.getloadavg()[1]:.1f} threads were active on average"
    beside = (
        "*OpenSpiel* is the same loop over its most similar game: "
        + ", ".join(f"`{spec}`" for spec in OPEN_SPIEL.values())
        + ", with observations from `make_observation(game).set_from`."
        if compared
        else "OpenSpiel was not installed (`pip install open_spiel`)."
    )
    return "\n".join(
        [
            "# How fast environments are",
            "",
            f"Written by `{command}` on {machine()}; {load}. The table has plies per CPU second:"
            " the median, and the minimum and maximum of the rounds. Only ratios within one run are"
            " comparable between machines.",
            "",
            "A ply is the same work in each column: compute the observation of the seat to act and"
            " the mask of legal actions, draw and play a random legal action, and start a new play"
            " if one has ended. *batch* is `kibitz_games.vector` on one thread, *PettingZoo* is one"
            " iteration of `agent_iter`. " + beside,
            "",
            table(heads, lines),
        ]
    )


def invocation(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> str:
    """Return the command for this measurement, without the path of the page."""
    options = (
        f"--{name} {value}"
        for name, value in vars(chosen).items()
        if name != "page" and value != parser.get_default(name)
    )
    return " ".join(["python -m benchmarks.environments", *options])


def main() -> None:
    """Print a table, and write the page if one is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds per measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=256, help="plays per batch")
    parser.add_argument("--page", type=Path, help="write a Markdown page")
    chosen = parser.parse_args()
    if not has_open_spiel():
        print("skipping OpenSpiel, which is not installed (pip install open_spiel)")
    rates: dict[str, Figures] = {}
    for name in registry.names():
        rates[name] = measure(name, chosen.count, chosen.rounds, chosen.seconds)
        parts = (f"{column} {shown(figures)}" for column, figures in rates[name].items())
        print(f"{name}: {', '.join(parts)}", flush=True)
    for sentence in missed(rates):
        print(sentence)
    if chosen.page:
        text = page(invocation(parser, chosen), rates, has_open_spiel())
        chosen.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
