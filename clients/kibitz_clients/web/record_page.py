"""A recorded match as one HTML file: the browser client's viewer with the match inside.

The file needs no server and loads nothing. Its content security policy allows only its own script
and styles, by hash. Untrusted text (names, comments, notes) is embedded as data and shown as text.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import Any, Final

from kibitz_clients.matches import recorded_match
from kibitz_clients.matches.recorded_match import LoadedRecord
from kibitz_clients.matches.viewer_events import Replayer, Viewpoint
from kibitz_clients.web import site
from kibitz_clients.wording import descriptions
from kibitz_games.core.drawing import differing_parts, stage_of
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Scene
from kibitz_protocol import printable
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.messages import Event
from kibitz_protocol.wire.records import Entry, Moved, Player
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import PUBLIC

ENTRY_MODULE: Final = "recorded.js"
STYLES: Final = ("app.css", "board/board.css", "parts/viewer.css")
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript to draw the match; all of it is in this file.</noscript>
<script type="application/json" id="match">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def render_html(recorded: LoadedRecord, ply: int | None = None, seat: int | None = None) -> str:
    """Return a record as an HTML page that opens after `ply` plies.

    With `seat` the page contains only what that seat saw. Otherwise it contains everything and, in
    games with hidden information, the views of each seat and of the public. Raises `ValueError` for
    a ply that the match does not have.
    """
    if ply is not None:
        recorded_match.frame_at_ply(recorded.timeline, ply)
    files = site.read_files(site.STATIC_FILES)
    script = site.joined_modules(files, ENTRY_MODULE)
    style = "\n".join(files[name].decode("utf-8") for name in STYLES)
    data = _Contents(recorded, ply, seat).fields()
    title = f"{recorded.game.info.title}: {', '.join(data['names'])}"
    return _PAGE.format(
        policy=_policy(script, style),
        title=escape(printable.line(title)),
        style=style,
        data=_script_json(data),
        script=script,
    )


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _script_json(data: Any) -> str:
    """Return JSON that cannot end a script element, whatever text it contains."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A record may contain half of a surrogate pair, which UTF-8 cannot encode.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class _Contents:
    """The contents of the file of one record."""

    def __init__(self, recorded: LoadedRecord, ply: int | None, seat: int | None) -> None:
        self._recorded = recorded
        self._game = recorded.game.at_version(recorded.record.setup.rules_version)
        self._ply = ply
        # The players at the end; earlier ones may have been replaced.
        self._players: Sequence[Player] = recorded.timeline.info.seats
        hides = recorded.game.info.hidden
        others: list[Viewpoint] = [*range(len(self._players)), PUBLIC] if hides else []
        self._viewpoints: list[Viewpoint] = [None, *others] if seat is None else [seat]

    def fields(self) -> dict[str, Any]:
        recorded, setup = self._recorded, self._recorded.record.setup
        result = recorded.timeline.result
        shown = [self._viewpoint(viewpoint) for viewpoint in self._viewpoints]
        return {
            "title": recorded.game.info.title,
            "subtitle": self._subtitle(),
            "names": [player.name for player in self._players],
            "players": [player.model_dump(mode="json") for player in self._players],
            "control": setup.time_control.model_dump(mode="json"),
            "result": self._result(),
            "seats": [*map(descriptions.seat_note, result.seats if result else ())],
            "engines": [descriptions.engine_text(engine) for engine in setup.engines or ()],
            "ply": self._ply,
            "entries": [self._entry(entry) for entry in self._first_entries],
            "viewpoints": shown,
        }

    def _subtitle(self) -> str:
        setup = self._recorded.record.setup
        usual = self._game.Options().model_dump(mode="json")
        chosen = {name: v for name, v in setup.options.items() if usual.get(name) != v}
        options = ", ".join(f"{name} {value}" for name, value in chosen.items())
        parts = [setup.started[:16].replace("T", " "), f"clock {setup.time_control}", options]
        return printable.line(" · ".join(part for part in parts if part))

    def _result(self) -> str:
        timeline = self._recorded.timeline
        if timeline.result is None:
            return "not finished"
        return descriptions.result_summary(timeline.info, timeline.result, self._recorded.game)

    # ---------------------------------------------------------------------- viewpoints

    def _viewpoint(self, viewpoint: Viewpoint) -> dict[str, Any]:
        table = Replayer(self._recorded.game, self._recorded.record.setup, viewpoint)
        before = _scene(self._game, table.view())
        shown: dict[str, Any] = {
            "label": self._label(viewpoint),
            "stage": stage_of(before),
            "to_act": table.to_act,
        }
        steps = []
        clocks = None
        for event, first in zip(
            (table.apply(entry) for entry in self._recorded.record.entries),
            self._first_entries,
            strict=True,
        ):
            after = before if event.view is None else _scene(self._game, event.view)
            step = self._step(event, before, after)
            if event.entry != first:
                step["entry"] = self._entry(event.entry)
            if event.clocks == clocks:
                step.pop("clocks", None)
            steps.append(step)
            before, clocks = after, event.clocks
        return shown | {"steps": steps}

    def _step(self, event: Event, before: Scene, after: Scene) -> dict[str, Any]:
        step: dict[str, Any] = {"ply": event.ply, "to_act": event.to_act}
        if paint := difference(*differing_parts(before, after)):
            step["paint"] = paint
        if event.clocks is not None:
            step["clocks"] = [
                {name: left for name, left in asdict(clock).items() if left}
                for clock in event.clocks
            ]
        return step

    @functools.cached_property
    def _first_entries(self) -> Sequence[Entry]:
        """The entries as seen from the first viewpoint; other viewpoints store differences."""
        game, record = self._recorded.game, self._recorded.record
        return [event.entry for event in recorded_match.events(game, record, self._viewpoints[0])]

    def _entry(self, entry: Entry) -> dict[str, Any]:
        """Return an entry, with its action replaced by the move in the game's notation."""
        fields = entry.model_dump(mode="json", exclude_none=True)
        kept: dict[str, Any] = {name: fields[name] for name in _KEPT if name in fields}
        if isinstance(entry, Moved):
            kept["text"] = descriptions.move_text(self._game, entry.action)
        return kept

    def _label(self, viewpoint: Viewpoint) -> str:
        if viewpoint is None:
            return "everything"
        if viewpoint == PUBLIC:
            return "the public"
        return printable.line(f"{self._players[viewpoint].name} (seat {viewpoint + 1})")


_KEPT: Final = (
    *("seq", "kind", "seat", "ply", "at_ms", "elapsed_ms", "comment", "text", "cause"),
    *("detail", "player", "author", "reason", "refused"),
)
"""The fields of an entry that the viewer shows."""


def _scene(game: Game, view: Fields) -> Scene:
    return game.scene(game.View.model_validate(view))
