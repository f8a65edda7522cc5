"""Generate the reference of exit statuses: those of all commands, then those of single commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from docs.generate import sources
from docs.generate.markdown import table

HEAD = """# Exit statuses

Every command exits with one of these statuses, unless the second table says otherwise:

| status | meaning |
|---|---|
| 0 | The command did what you asked. |
| 1 | The command failed. A sentence on stderr says why. A traceback means a bug. |
| 2 | The command line is wrong: an unknown option, a value out of range, a missing file. |
| 69 | A required package is missing; the message names the extra to install. |
| 129 | The terminal of the terminal client was closed. |
| 130 | You pressed Ctrl-C, even if the command finished its work. |
| 141 | The program reading the output, such as `head`, has exited. |

`kibitz serve` exits with 0 after SIGTERM and SIGHUP, with 130 after Ctrl-C, and with 1 if it cannot
use its database or another server has taken over the database.
"""
_BOT = "`connect`, and every bot that starts with `Bot.main`"
OF_COMMANDS: Final = (
    ("`play`, `host`, `demo`", "1", "A match ended by a crash, a timeout or another fault."),
    ("`arena`", "1", "A game ended by a fault, or the tournament stopped early."),
    ("`db check`", "1", "Something in the database is damaged or missing."),
    (_BOT, "1", "The bot crashed, made an illegal move, was removed, or lost its server."),
    (
        _BOT,
        "2",
        "The bot could not start: wrong options, a refused name or token, no lobby. `arena` does"
        " not start it again.",
    ),
)
"""Statuses without a constant in the sources."""
OF_CONSTANTS: Final[Mapping[str, tuple[str, str]]] = {
    "kibitz/local/tournament_source.py:EXIT_UNABLE": (
        "`arena`",
        "The tournament could not start: its file is wrong, or its bots cannot be isolated as"
        " asked.",
    ),
    "kibitz/commands/doctor.py:EXIT_UNABLE": ("`bot check`", "The bot could not be started."),
    "kibitz/commands/retry.py:EXIT_ILLEGAL": ("`record retry`", "The bot's answer is illegal."),
    "kibitz/commands/bisect.py:EXIT_NONE": (
        "`record bisect`",
        "The seat could not have done better at any of its turns.",
    ),
    "kibitz/options/analysis.py:EXIT_FAULT": (
        "`record analyze`, `bisect`, `branch`; `match shadow`",
        "The bot that analyzes or compares failed.",
    ),
    "kibitz/commands/verify.py:EXIT_BAD": ("`record verify`", "Verification of a record failed."),
    "kibitz/commands/verify.py:EXIT_INCOMPLETE": (
        "`record verify`",
        "A record is incomplete, but no record is invalid.",
    ),
    "kibitz/process/isolation/entrypoint.py:EXIT_NOT_FOUND": (
        "a program behind `--stdio` or `--gomocup`",
        "The program could not be started, usually because it does not exist.",
    ),
    "kibitz/process/limits.py:EXIT_OUT_OF_MEMORY": (
        "a bot with a memory limit",
        "The bot used more memory than its limit.",
    ),
    "kibitz/process/limits.py:EXIT_OUT_OF_CPU": (
        "a bot with a CPU limit",
        "The bot used more CPU time than its limit.",
    ),
}
"""Command and meaning of each constant in the sources."""
OF_EVERY_COMMAND: Final = frozenset(
    {
        "kibitz/extras.py:EXIT_MISSING",
        "kibitz/process/interrupts.py:EXIT_INTERRUPTED",
        "bots/kibitz_bots/process.py:EXIT_INTERRUPTED",
        "clients/kibitz_clients/tui/hangup.py:EXIT_HANGUP",
        "arena/kibitz_arena/runner/supervisor.py:EXIT_CANNOT_START",
    }
)
"""Constants covered by the first table, and the bot status that the tournament runner expects."""


def page() -> str:
    """Return the page of exit statuses."""
    values = sources.exit_statuses()
    rows = [
        *OF_COMMANDS,
        *((who, str(values[name]), what) for name, (who, what) in OF_CONSTANTS.items()),
    ]
    rows.sort(key=lambda row: (not row[0].startswith("`"), row[0], int(row[1])))
    return "\n".join(
        [HEAD, "## Statuses of single commands\n", table(("command", "status", "meaning"), rows)]
    )
