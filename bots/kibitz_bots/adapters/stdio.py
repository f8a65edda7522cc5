"""A bot in any language: one JSON object a line on standard input, one a line back.

A process is started for each match. It reads, in this order, one line each::

    {"type": "start", "match": "m1", "game": "line-nim", "options": {...}, "seat": 0,
     "players": ["ada", "bob"], "time_control": "10+0.1"}
    {"type": "turn", "ply": 0, "seat": 0, "view": {...}, "legal": [{...}, ...],
     "legal_rule": null, "ms": 900, "clocks": [...], "refused": null}
    ...
    {"type": "end", "result": {...}}

and answers every ``turn`` with one line: a move such as an element of ``legal``, or an object with
``action`` and an optional ``comment`` (value, depth, nodes, line, text)::

    {"x": 3, "y": 4}
    {"action": {"x": 3, "y": 4}, "comment": {"value": 1.5, "depth": 7}}

Fields of a comment that cannot be read, such as a value of ``nan``, are left out and noted in the
record; they never lose the move.

``legal`` is null if the server sends a rule in words (``legal_rule``) instead of a list.
``refused`` is the reason why the last answer was refused; the same turn is asked again then. The
program's standard error goes into the record. After ``end`` its input ends, and the program should
end too. The protocol needs nothing else: no handshake, no identifiers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict
from typing import Any

from kibitz_bots.adapters.launcher import ProcessLimits
from kibitz_bots.adapters.line_process import LineProcess, ProgramError, program_name, starters
from kibitz_bots.sdk import Answer, BadAnswer, Bot, Decision, Match, Turn
from kibitz_protocol.wire.records import Result

SHOWN = 200
"""Characters of a line that a complaint quotes."""


class StdioBot(Bot):
    """Plays a program's answers; each match has a process, which ends with it."""

    def __init__(
        self,
        command: Sequence[str],
        starter: Executor,
        limits: ProcessLimits | None = None,
        games: Sequence[str] = (),
    ) -> None:
        self.name = program_name(command)
        self.games = games
        self._command = list(command)
        self._starter = starter
        self._limits = limits
        self._program: LineProcess | None = None
        # Pending answers to turns that were called off.
        self._late_answers = 0

    def on_match_start(self, match: Match) -> None:
        """Start the program and tell it about the match."""
        self._program = LineProcess(self._command, self._starter, limits=self._limits)
        self._program.send(_line(start_message(match)))

    def choose(self, turn: Turn) -> Answer:
        """Ask the program, and wait as long as anybody waits for the answer."""
        if self._program is None:
            self.on_match_start(turn.match)
        assert self._program is not None
        if self._late_answers == 0:
            for line in self._program.pending():
                self._program.note(f"dropped, for it was not asked: {line[:SHOWN]}")
        self._program.send(_line(turn_message(turn)))
        self._late_answers += 1
        while True:
            answer = self._program.receive(called_off=turn.cancelled)
            self._late_answers -= 1
            if self._late_answers == 0:
                return parse_reply(answer)

    def on_match_end(self, match: Match, result: Result) -> None:
        """Tell the program how it ended, and let it end."""
        if self._program is None:
            return
        try:
            self._program.send(_line({"type": "end", "result": result.model_dump(mode="json")}))
        except ProgramError:
            pass  # it went before the match did
        finally:
            self._program.close()
            self._program = None


def factory(
    command: Sequence[str], limits: ProcessLimits | None = None, games: Sequence[str] = ()
) -> Callable[[], Bot]:
    """Return the factory that makes a bot of a command for each match; `games` () means all."""
    starter = starters()
    return lambda: StdioBot(command, starter, limits, games)


def start_message(match: Match) -> dict[str, Any]:
    """Return the first line of a match."""
    return {
        "type": "start",
        "match": match.id,
        "game": match.game,
        "options": match.options,
        "seat": match.seat,
        "players": [player.name for player in match.players],
        "time_control": str(match.time_control),
    }


def turn_message(turn: Turn) -> dict[str, Any]:
    """Return the line that asks for a move."""
    return {
        "type": "turn",
        "ply": turn.ply,
        "seat": turn.seat,
        "view": turn.observation,
        "legal": None if turn.listed is None else list(turn.listed),
        "legal_rule": turn.rule,
        "ms": turn.budget.ms,
        "clocks": [asdict(clock) for clock in turn.clocks],
        "refused": turn.refusal,
    }


def parse_reply(line: str) -> Answer:
    """Parse an answer, or raise `BadAnswer` with what was expected."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        action = _action_beside_rubbish(line)
        if action is None:
            raise BadAnswer(f"expected a JSON object on one line, not {line[:SHOWN]!r}") from None
        answer = {"action": action, "comment": line[:SHOWN]}
    if not isinstance(answer, dict):
        raise BadAnswer(f"expected a JSON object, not {line[:SHOWN]!r}")
    if not isinstance(answer.get("action"), dict):
        return answer
    return Decision(answer["action"], answer.get("comment"))


_ACTION = re.compile(r'(?<!\\)"action"\s*:\s*')


def _action_beside_rubbish(line: str) -> dict[str, Any] | None:
    """Return the action of a line with an invalid comment, None unless there is exactly one.

    Programs in C write ``nan`` and ``inf`` for such values, and JSON has neither.
    """
    actions = [*_ACTION.finditer(line)]
    if not line.startswith("{") or '"comment"' not in line or len(actions) != 1:
        return None
    try:
        action, _ = json.JSONDecoder().raw_decode(line, actions[0].end())
    except (ValueError, RecursionError):
        return None
    return action if isinstance(action, dict) else None


def _line(message: dict[str, Any]) -> str:
    return json.dumps(message, separators=(",", ":"))
