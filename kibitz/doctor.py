"""`kibitz doctor`: put a bot through everything that a correct server may do to it."""

from __future__ import annotations

import json
import sys
from typing import Literal

import click

from kibitz import notation
from kibitz.foreign import WithProgram, given, one_of
from kibitz.output import echo, echo_json
from kibitz.running import run
from kibitz_protocol.clocks import TimeControl

UNABLE = 2
"""The exit status when the examination could not begin."""


@click.command(cls=WithProgram, short_help="Examine a bot: legal play, passes, clocks, reconnects.")
@click.argument("bots", nargs=-1, metavar="[BOT]")
@click.option("--game", "wanted", multiple=True, metavar="NAME", help="Examine it in this game.")
@click.option("--stdio", "way", flag_value="stdio", help="PROGRAM speaks JSON lines.")
@click.option("--gomocup", "way", flag_value="gomocup", help="PROGRAM is a Gomocup engine.")
@click.option(
    "--tc", default="none", type=notation.TIME_CONTROL, help="The clock of the matches: 10+0.1."
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0, 2**31))
@click.option(
    "--patience",
    default=30.0,
    show_default=True,
    type=click.FloatRange(0.1, 3600),
    help="Seconds for an answer where no clock says less.",
)
@click.option("--check", "only", multiple=True, metavar="NAME", help="Make this check only.")
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
    """Examine BOT, a personality or a Python file, or a PROGRAM, and print a report.

    PROGRAM connects by itself: KIBITZ_SERVER, KIBITZ_LOBBY and KIBITZ_NAME say where to and as
    whom, and {url}, {lobby} and {name} in it are filled in. The status is 0 when all checks
    passed, 1 when one failed, 2 when the examination could not begin.

    \b
    kibitz doctor mybot.py
    kibitz doctor --game line-nim -- node mybot.js --server {url} --lobby {lobby}
    kibitz doctor --stdio --game line-nim -- ./mybot
    """
    from kibitz.box import games
    from kibitz.clinic.checks import CHECKS
    from kibitz.clinic.findings import Finding
    from kibitz.clinic.patient import Prescription, Way
    from kibitz.clinic.practice import Examination, examine

    box = games("plain")
    _known(wanted, list(box), "--game")
    _known(only, [check.name for check in CHECKS], "--check")
    words = one_of(bots)
    if way and not given():
        raise click.UsageError(f"--{way} is for a program after --, such as -- node bot.js")
    chosen: Way = "house" if bots else "own" if way is None else way
    if chosen == "house":
        _check_bot(words[0])

    def tell(finding: Finding) -> None:
        if not as_json:
            echo("\n".join(finding.lines()))

    order = Examination(
        how=Prescription(words, chosen),
        games=box,
        wanted=wanted,
        control=tc,
        seed=seed,
        patience=patience,
        only=only,
        tell=tell,
    )
    try:
        chart = run(examine(order))
    except OSError as error:
        echo(f"cannot start {order.how.name}: {error}", err=True)
        sys.exit(UNABLE)
    if as_json:
        echo_json(json.dumps(chart.plain()))
    else:
        echo(f"\n{chart.summary}")
    sys.exit(0 if chart.healthy else 1)


def _known(given: tuple[str, ...], known: list[str], option: str) -> None:
    for word in given:
        if word not in known:
            raise click.BadParameter(
                f"{word!r}: expected one of {', '.join(known)}", param_hint=option
            )


def _check_bot(spec: str) -> None:
    from kibitz.play import check_bot
    from kibitz_bots.loading import SpecError

    try:
        check_bot(spec)
    except SpecError as error:
        raise click.UsageError(str(error)) from None
