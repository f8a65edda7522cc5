"""`kibitz bot check`: test a bot against everything that a correct server may send it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Literal

import click

from kibitz.options import notation
from kibitz.options.program import bot_or_program
from kibitz.output import echo, echo_json
from kibitz.process.event_loop import run
from kibitz_bots.adapters.external_program import WithProgram, program_words
from kibitz_bots.number_types import FiniteRange
from kibitz_protocol.wire.clocks import TimeControl

if TYPE_CHECKING:
    from kibitz.conformance.runner import ConformanceConfig

EXIT_UNABLE = 2
"""The exit status if the checks could not begin."""


@click.command(
    "check", cls=WithProgram, short_help="Test a bot: legal play, passes, clocks, reconnects."
)
@click.argument("bots", nargs=-1, metavar="[BOT]")
@click.option("--game", "wanted", multiple=True, metavar="NAME", help="The game to test in.")
@click.option("--stdio", "way", flag_value="stdio", help="PROGRAM speaks JSON lines over stdio.")
@click.option("--gomocup", "way", flag_value="gomocup", help="PROGRAM is a Gomocup engine.")
@click.option(
    "--tc", default="none", type=notation.TIME_CONTROL, help="Clock of the matches, such as 10+0.1."
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0, 2**31),
    help="Random seed.",
)
@click.option(
    "--patience",
    default=30.0,
    show_default=True,
    type=FiniteRange(0.1, 3600),
    help="Seconds to wait for an answer, unless the clock allows less.",
)
@click.option("--check", "only", multiple=True, metavar="NAME", help="Run only this check.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def doctor(
    bots: tuple[str, ...],
    wanted: tuple[str, ...],
    way: Literal["stdio", "gomocup"] | None,
    tc: TimeControl,
    seed: int,
    patience: float,
    only: tuple[str, ...],
    as_json: bool,
) -> None:
    """Test BOT, which is a house bot or a Python file, or a PROGRAM, and print a report.

    PROGRAM connects by itself to KIBITZ_SERVER, joins KIBITZ_LOBBY and uses the name KIBITZ_NAME.
    These are environment variables; {url}, {lobby} and {name} in its arguments stand for the same
    values. The exit status is 0 if all checks passed, 1 if one failed, and 2 if the checks could
    not begin.

    \b
    kibitz bot check mybot.py
    kibitz bot check --game line-nim -- node mybot.js --server {url} --lobby {lobby}
    kibitz bot check --stdio --game line-nim -- ./mybot
    """
    from kibitz.builtin_games import load_games
    from kibitz.conformance.bot_process import BotCommand, BotInterface
    from kibitz.conformance.checks import CHECKS
    from kibitz.conformance.results import CheckResult
    from kibitz.conformance.runner import ConformanceConfig
    from kibitz.local.match_series import check_bot

    box = load_games("plain")
    _require_known(wanted, list(box), "--game")
    _require_known(only, [check.name for check in CHECKS], "--check")
    words = bot_or_program(bots)
    if way and not program_words():
        raise click.UsageError(f"--{way} needs a program after --, such as -- node bot.js")
    chosen: BotInterface = "house" if bots else "own" if way is None else way
    if chosen == "house":
        check_bot(words[0])

    def tell(finding: CheckResult) -> None:
        if not as_json:
            echo("\n".join(finding.lines()))

    order = ConformanceConfig(
        bot=BotCommand(words, chosen),
        games=box,
        wanted=wanted,
        control=tc,
        seed=seed,
        timeout_s=patience,
        only=only,
        tell=tell,
    )
    sys.exit(_examine(order, as_json=as_json))


def _examine(order: ConformanceConfig, *, as_json: bool) -> int:
    """Run the checks, print their report, and return the exit status."""
    from kibitz.conformance.runner import run_checks

    try:
        chart = run(run_checks(order))
    except OSError as error:
        echo(f"cannot start {order.bot.name}: {error}", err=True)
        return EXIT_UNABLE
    if as_json:
        echo_json(json.dumps(chart.as_dict()))
    else:
        echo(f"\n{chart.summary}")
    return 0 if chart.passed else 1


def _require_known(given: tuple[str, ...], known: list[str], option: str) -> None:
    for word in given:
        if word not in known:
            raise click.BadParameter(
                f"{word!r}: expected one of {', '.join(known)}", param_hint=option
            )
