"""Records as pages: their content for each viewer, without any markup from the record."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kibitz_clients.matches import recorded_match
from kibitz_clients.web.record_page import render_html
from kibitz_games.core import registry
from kibitz_games.core.drawing import stage_of
from kibitz_games.core.game import Game
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.recordfile import Record, write_record
from kibitz_protocol.wire.records import Comment, Commented, Engine, Moved, Noted, Player
from tests.clients.web.node import needs_node, run_node
from tests.tools import fake_connection as testing

HOSTILE = "</script><script>alert(1)</script><!--\u2028&\"'"


class Scripts(HTMLParser):
    """Collects the elements of a page and the text of its scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.texts: dict[str, str] = {}
        self.policy = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        given = dict(attrs)
        self._inside = given.get("id") or tag
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""

    def handle_data(self, data: str) -> None:
        self.texts[self._inside] = self.texts.get(self._inside, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    @property
    def match(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.texts["match"])
        return found


def page_of(
    record: Record, game: Game, path: Path, ply: int | None = None, seat: int | None = None
) -> Scripts:
    result = record.footer.result if record.footer else None
    write_record(path, record.setup, record.entries, result)
    loaded = recorded_match.load_record(path, {game.info.name: game}, seat)
    return Scripts(render_html(loaded, ply, seat))


def tanks() -> tuple[Game, Record]:
    """Return a match of four tanks with a note by the second one."""
    game = registry.get("tanks")
    record = testing.play_record(game, ["ada", "bo", "cy", "di"], 40, lambda play: play.legal[0])
    seq, at = len(record.entries) + 1, record.entries[-1].at_ms
    note = Noted(seq=seq, at_ms=at, seat=1, text="bo thinks of 42")
    return game, replace(record, entries=(*record.entries, note))


def test_the_steps_lead_from_the_first_stage_to_the_last_position(
    game: Game, finished: Record, tmp_path: Path
) -> None:
    match = page_of(finished, game, tmp_path / "m.jsonl").match
    (shown,) = match["viewpoints"]
    stage = shown["stage"]
    for step in shown["steps"]:
        stage = apply(stage, step.get("paint", {}))
    assert finished.footer is not None
    last = recorded_match.build_timeline(game, finished).newest
    assert last.view is not None
    assert stage == json.loads(
        json.dumps(stage_of(game.scene(game.View.model_validate(last.view))))
    )
    assert len(shown["steps"]) == len(match["entries"]) == len(finished.entries)
    assert shown["steps"][-1]["to_act"] == -1


def test_moves_are_in_the_words_of_the_game(game: Game, running: Record, tmp_path: Path) -> None:
    entry = running.entries[0]
    assert isinstance(entry, Moved)
    match = page_of(running, game, tmp_path / "m.jsonl").match
    written = game.notation.format(game.Move.model_validate(entry.action))
    assert match["entries"][0]["text"] == written
    assert "action" not in match["entries"][0]
    assert match["result"] == "not finished"


def test_only_the_hashed_script_and_style_may_run(
    game: Game, running: Record, tmp_path: Path
) -> None:
    page = page_of(running, game, tmp_path / "m.jsonl")
    for kind in ("script", "style"):
        digest = hashlib.sha256(page.texts[kind].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in page.policy
    assert page.policy.startswith("default-src 'none';")
    assert not {"link", "img", "iframe"} & set(page.elements)
    assert re.search(r"https?://(?!www\.w3\.org/2000/svg)", page.texts["script"]) is None


@pytest.mark.e2e
@needs_node
def test_the_script_is_one_module_that_declares_each_name_once(
    game: Game, running: Record, tmp_path: Path
) -> None:
    script = page_of(running, game, tmp_path / "m.jsonl").texts["script"]
    assert re.search(r"^(import|export)\b", script, re.MULTILINE) is None
    module = tmp_path / "viewer.mjs"
    module.write_text(script, encoding="utf-8")
    done = run_node("--check", str(module))
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_of_a_record_becomes_markup(game: Game, running: Record, tmp_path: Path) -> None:
    usual = page_of(running, game, tmp_path / "usual.jsonl")
    moved = running.entries[0]
    assert isinstance(moved, Moved)
    seats = [player.model_copy(update={"name": HOSTILE}) for player in running.setup.seats]
    said = moved.model_copy(update={"comment": Comment(text=HOSTILE, line=[HOSTILE])})
    seq, at = len(running.entries) + 1, running.entries[-1].at_ms
    author = Player(player="e", name=HOSTILE, kind="human")
    comment = Commented(
        seq=seq, at_ms=at, ply=30, author=author, audience="everybody", text=HOSTILE
    )
    engines = [Engine(name=HOSTILE, weights={HOSTILE: "ab" * 32}), None]
    setup = running.setup.model_copy(update={"seats": seats, "engines": engines})
    record = replace(running, setup=setup, entries=(said, *running.entries[1:], comment))
    page = page_of(record, game, tmp_path / "hostile.jsonl")
    assert page.elements == usual.elements
    assert page.texts["script"] == usual.texts["script"]
    assert page.match["players"][0]["name"] == HOSTILE
    assert page.match["engines"][0].startswith("</script><script>alert(1)</script>")
    assert page.match["engines"][1] == ""
    assert page.match["entries"][0]["comment"]["text"] == HOSTILE
    assert page.match["entries"][-1]["author"]["name"] == HOSTILE


def test_a_hiding_game_has_a_viewpoint_for_everybody(tmp_path: Path) -> None:
    game, record = tanks()
    match = page_of(record, game, tmp_path / "m.jsonl").match
    seats = len(record.setup.seats)
    assert [shown["label"] for shown in match["viewpoints"]] == [
        "everything",
        *(f"{player.name} (seat {seat})" for seat, player in enumerate(record.setup.seats, 1)),
        "the public",
    ]
    assert match["entries"][-1]["text"] == "bo thinks of 42"
    own, other, public = (match["viewpoints"][place] for place in (2, 1, seats + 1))
    assert "entry" not in own["steps"][-1]
    assert other["steps"][-1]["entry"]["kind"] == "hidden"
    assert public["steps"][0]["entry"]["kind"] == "hidden"


@pytest.mark.parametrize("seat", [0, 2])
def test_a_seats_page_holds_what_that_seat_saw_and_nothing_else(tmp_path: Path, seat: int) -> None:
    game, record = tanks()
    page = page_of(record, game, tmp_path / "m.jsonl", seat=seat)
    (shown,) = page.match["viewpoints"]
    events = list(recorded_match.events(game, record, seat))
    assert [entry["kind"] for entry in page.match["entries"]] == [e.entry.kind for e in events]
    assert "bo thinks of 42" not in page.texts["match"]
    assert "entry" not in shown["steps"][-1]


def test_a_page_opens_at_a_ply_that_the_match_has(
    game: Game, running: Record, tmp_path: Path
) -> None:
    assert page_of(running, game, tmp_path / "m.jsonl", ply=7).match["ply"] == 7
    with pytest.raises(ValueError, match="expected a ply from 0 to 30, not 31"):
        page_of(running, game, tmp_path / "m.jsonl", ply=31)


def test_the_same_record_is_the_same_page(game: Game, running: Record, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    write_record(path, running.setup, running.entries, None)
    loaded = recorded_match.load_record(path, {game.info.name: game})
    page = render_html(loaded)
    assert page == render_html(loaded)
    assert len(page) < 400_000
