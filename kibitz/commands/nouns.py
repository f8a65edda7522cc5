"""`kibitz bot`, `game`, `match` and `record`: command groups with one module per command."""

from __future__ import annotations

import click

from kibitz.command_table import CommandTable, Entry

BOT: dict[str, Entry] = {
    "list": ("kibitz.commands.bots:list_bots", "List the house bots."),
    "show": ("kibitz.commands.bots:show_bot", "Explain a house bot and its parameters."),
    "new": (
        "kibitz.commands.new_bot:new_bot",
        "Create a starter bot; the suffix selects the language.",
    ),
    "check": (
        "kibitz.commands.doctor:doctor",
        "Test a bot: legal play, passes, clocks, reconnects.",
    ),
    "warm": ("kibitz.commands.bots:warm", "Compile house bots so that they start at once."),
}
GAME: dict[str, Entry] = {
    "list": ("kibitz.commands.games:list_games", "List the games."),
    "show": ("kibitz.commands.games:show_game", "Explain a game: options, moves, bots."),
    "new": ("kibitz.commands.new_game:new_game", "Create a working game to change into yours."),
}
MATCH: dict[str, Entry] = {
    "list": ("kibitz.commands.matches:list_matches", "List the matches of a server."),
    "shadow": (
        "kibitz.commands.shadow:shadow",
        "Ask a bot for its move at each turn of a live match.",
    ),
    "abort": (
        "kibitz.commands.matches:abort",
        "End a match without a result, as the operator.",
    ),
}
RECORD: dict[str, Entry] = {
    "replay": ("kibitz.commands.replay:replay", "Step through a recorded match."),
    "export": ("kibitz.commands.export:export", "Draw a record as a picture or a page."),
    "analyze": ("kibitz.commands.analyze:analyze", "Evaluate every move of a record with a bot."),
    "branch": (
        "kibitz.commands.branch:branch",
        "Continue a match from any ply with another bot.",
    ),
    "bisect": ("kibitz.commands.bisect:bisect", "Find the move that decided a match."),
    "verify": (
        "kibitz.commands.verify:verify",
        "Check records: hashes, seeds, legality, clocks, results.",
    ),
    "report": ("kibitz.commands.report:report", "Explain why a seat dropped out of a match."),
    "retry": ("kibitz.commands.retry:retry", "Send a recorded turn to a bot again."),
}
NOUN_COMMANDS = tuple(
    f"{noun} {verb}"
    for noun, table in (("bot", BOT), ("game", GAME), ("match", MATCH), ("record", RECORD))
    for verb in table
)


@click.group(cls=CommandTable, sections={"Commands": BOT})
def bot() -> None:
    """List, create and check bots."""


@click.group(cls=CommandTable, sections={"Commands": GAME})
def game() -> None:
    """List, explain and create games."""


@click.group(cls=CommandTable, sections={"Commands": MATCH})
def match() -> None:
    """List, shadow and abort matches on a server."""


@click.group(cls=CommandTable, sections={"Commands": RECORD})
def record() -> None:
    """Replay, draw, analyze and verify records."""
