"""A bot in any language that exchanges JSON objects, one per line, over standard input and output.

Each match starts a process. It reads these messages in this order, one per line::

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

Invalid fields of a comment, such as a value of ``nan``, are dropped and noted in the record; the
move still counts.

``legal`` is null if the server sends a description (``legal_rule``) instead of a list. ``refused``
is the reason why the server refused the last answer to the same turn. The program's standard error
is recorded. Its input is closed after ``end``, and the program should then exit. There is no
handshake, and messages have no identifiers.
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
"""How many characters of a line an error message quotes."""


class StdioBot(Bot):
    """A bot that plays a program's answers; each match has its own process."""

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
        # The number of answers still due for canceled turns.
        self._late_answers = 0

    def on_match_start(self, match: Match) -> None:
        """Start the program and send it the match."""
        self._program = LineProcess(self._command, self._starter, limits=self._limits)
        self._program.send(_line(start_message(match)))

    def choose(self, turn: Turn) -> Answer:
        """Send the turn and wait for the answer until the turn is canceled."""
        if self._program is None:
            self.on_match_start(turn.match)
        assert self._program is not None
        if self._late_answers == 0:
            for line in self._program.pending():
                self._program.note(f"dropped unsolicited output: {line[:SHOWN]}")
        self._program.send(_line(turn_message(turn)))
        self._late_answers += 1
        while True:
            answer = self._program.receive(called_off=turn.cancelled)
            self._late_answers -= 1
            if self._late_answers == 0:
                return parse_reply(answer)

    def on_match_end(self, match: Match, result: Result) -> None:
        """Send the result and let the program exit."""
        if self._program is None:
            return
        try:
            self._program.send(_line({"type": "end", "result": result.model_dump(mode="json")}))
        except ProgramError:
            pass  # it exited before the match ended
        finally:
            self._program.close()
            self._program = None


def factory(
    command: Sequence[str], limits: ProcessLimits | None = None, games: Sequence[str] = ()
) -> Callable[[], Bot]:
    """Return the bot factory for a command; an empty `games` means all."""
    starter = starters()
    return lambda: StdioBot(command, starter, limits, games)


def start_message(match: Match) -> dict[str, Any]:
    """Return the message that starts a match."""
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
    """Return the message that asks for a move."""
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
    """Parse an answer; raise `BadAnswer` if it is invalid."""
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
    """Return the action of a line whose comment is not valid JSON, None if it is ambiguous.

    C programs print ``nan`` and ``inf``, which JSON does not allow.
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
