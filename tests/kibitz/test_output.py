"""Untrusted text on its way to a terminal: all commands that print it use the filter."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kibitz import output
from kibitz.cli import kibitz
from kibitz.conformance.results import CheckResult
from kibitz.text import result_tables
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_arena.report import export
from kibitz_arena.report import text as report_text
from kibitz_arena.report.html import render_html
from kibitz_clients.matches.timeline import MatchInfo
from kibitz_clients.render.svg import document
from kibitz_clients.wording import descriptions, tables
from kibitz_games.core import registry
from kibitz_games.core.scene import Cell, Scene
from kibitz_protocol.client.errors import HelloRefusedError, RefusedError
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.recordfile import write_record
from kibitz_protocol.wire.records import (
    Cause,
    Comment,
    Forfeited,
    Moved,
    Noted,
    Player,
    Result,
    SeatResult,
)
from kibitz_protocol.wire.refusals import Code
from tests.arena import samples
from tests.protocol.test_printable import HOSTILE, dangers
from tests.tools import fake_connection as testing

ROOT = Path(__file__).parents[2]
EVIL = "".join(HOSTILE[kind] for kind in HOSTILE if kind != "surrogate") + "[red]<b>&"
"""All hostile content at once, except lone surrogates, which cannot be sent."""


def safe(text: str) -> bool:
    """Return whether a multi-line text is safe to show and has no forged lines."""
    lines = text.split("\n")
    return not any(map(dangers, lines)) and not any(
        line.lstrip().startswith(("2026-01-01 INFO", "forged")) for line in lines
    )


def player(name: str = EVIL) -> Player:
    return Player.model_construct(player="p1", name=name, kind="bot")


def brief() -> MatchBrief:
    found = testing.brief(testing.play_record(registry.get("number-merge"), ["a", "b"], 2, first))
    result = Result.model_construct(
        seats=[
            SeatResult.model_construct(rank=1, score=1.0, cause=None, detail=""),
            SeatResult.model_construct(rank=2, score=0.0, cause=Cause.CRASH, detail=EVIL),
        ],
        cause=Cause.CRASH,
        reason=EVIL,
        plies=2,
    )
    return found.model_copy(update={"seats": [player(), player()], "result": result})


def first(play: Any) -> int:
    return int(play.legal[0])


def lobby() -> LobbyBrief:
    return LobbyBrief.model_construct(
        lobby="L1",
        name=EVIL,
        host=EVIL,
        state="running",
        joinable="open",
        watchable=True,
        games=["number-merge"],
        members=1,
        places=2,
    )


# ------------------------------------------------------------------------------ assembled texts


def test_the_words_of_a_match_are_single_lines() -> None:
    facts = MatchInfo.from_brief(brief())
    result = brief().result
    assert result is not None
    move = Moved.model_construct(
        seq=1, at_ms=0, seat=0, ply=1, action={EVIL: EVIL}, elapsed_ms=0, comment=None
    )
    said = [
        descriptions.comment_text(
            Comment.model_construct(text=EVIL, line=[EVIL], value=None, depth=None, nodes=None)
        ),
        descriptions.entry_text(None, move),
        descriptions.entry_text(None, Noted.model_construct(seq=1, at_ms=0, seat=0, text=EVIL)),
        descriptions.entry_text(
            None,
            Forfeited.model_construct(seq=1, at_ms=0, seat=0, cause=Cause.CRASH, detail=EVIL),
        ),
        descriptions.player_labels(facts),
        descriptions.result_summary(facts, result),
        descriptions.end_reason(result),
        *descriptions.result_lines(facts, result),
    ]
    for line in said:
        assert not dangers(line), line
    assert not dangers(descriptions.explain_error(RefusedError(Code.ILLEGAL, EVIL, EVIL)))


def test_tables_and_sentences_of_the_commands_are_safe() -> None:
    course = LobbyProgress("L1")
    course.add(brief())
    told = [
        *tables.lobby_table([lobby()]),
        *tables.match_table([brief()]),
        *tables.results_table([brief()]),
        *result_tables.abnormal_endings([brief()]),
        *CheckResult(
            check="x", game=None, seats=None, status="Failed", expected=EVIL, came=EVIL, output=EVIL
        ).lines(),
        course.tables(),
        course._describe_end(brief()),
        *course._apply_started([brief().model_copy(update={"match": "M9"})]),
    ]
    for text in told:
        assert safe(text), text


def test_json_is_exact_and_safe() -> None:
    for line in (
        *tables.lobby_table([lobby()], as_json=True),
        *tables.match_table([brief()], as_json=True),
    ):
        shown = printed(line, as_json=True)
        assert safe(shown)
        assert json.loads(shown) == json.loads(line)


def printed(text: str, *, as_json: bool = False) -> str:
    """Return the output of a command."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        (output.echo_json if as_json else output.echo)(text)
    return stream.getvalue()


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_is_printed_a_terminal_does_not_obey_it(kind: str) -> None:
    assert not any(map(dangers, printed(HOSTILE[kind]).split("\n")))


# ------------------------------------------------------------------------------ whole commands


@pytest.fixture
def evil_record(tmp_path: Path) -> Path:
    """A record in which every text is hostile."""
    record = testing.play_record(registry.get("number-merge"), ["ada", "bo"], 4, first)
    seats = [seat.model_copy(update={"name": EVIL[:32]}) for seat in record.setup.seats]
    setup = record.setup.model_copy(update={"seats": seats})
    entries = []
    for at, entry in enumerate(record.entries):
        said = Comment(text=EVIL[at * 50 :][:200], line=[EVIL[at * 50 :][:40]])
        entries.append(entry.model_copy(update={"comment": said}))
    write_record(tmp_path / "m.jsonl", setup, entries)
    return tmp_path / "m.jsonl"


@pytest.mark.parametrize("words", [["record", "replay"], ["watch"]])
def test_a_record_of_a_stranger_is_told_safely(evil_record: Path, words: list[str]) -> None:
    result = CliRunner().invoke(kibitz, [*words, str(evil_record), "--plain"])
    assert result.exit_code == 0, result.output
    assert "0+1" in result.output
    assert "\\x1b[31mred" in result.output
    assert safe(result.output)
    exact = CliRunner().invoke(kibitz, [*words, str(evil_record), "--json"])
    assert safe(exact.output)
    said = [json.loads(line) for line in exact.output.splitlines()]
    texts = {line["comment"]["text"] for line in said if "comment" in line}
    assert texts == {EVIL[at:][:200] for at in (0, 50, 100, 150)}


def test_a_picture_of_a_strangers_record_is_well_formed(evil_record: Path) -> None:
    result = CliRunner().invoke(kibitz, ["record", "export", str(evil_record), "--out", "-"])
    assert result.exit_code == 0, result.output
    assert safe(result.output)
    ET.fromstring(result.output)


def test_a_file_that_is_no_record_is_named_safely(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({EVIL: EVIL}, ensure_ascii=False) + "\n", encoding="utf-8")
    for command in (
        ["record", "replay", str(path), "--plain"],
        ["record", "report", str(path)],
        ["record", "export", str(path), "--out", "-"],
    ):
        result = CliRunner().invoke(kibitz, command)
        assert result.exit_code == 1
        assert safe(result.output), result.output


def test_a_server_that_refuses_is_quoted_safely(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: Any, **__: Any) -> Any:
        raise HelloRefusedError(Code.UNAUTHORIZED, EVIL, EVIL)

    monkeypatch.setattr("kibitz.options.connection.Client", refusing)
    for command in (
        ["lobby", "list"],
        ["match", "list"],
        ["ladder", "rated"],
        ["host", "number-merge"],
        ["watch", "X", "--plain"],
    ):
        result = CliRunner().invoke(kibitz, command)
        assert result.exit_code == 1
        assert "\\x1b[31mred" in result.output
        assert safe(result.output), result.output


def test_an_event_file_with_hostile_texts_is_refused_safely(tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(json.dumps({"name": EVIL, EVIL: [EVIL]}), encoding="utf-8")
    result = CliRunner().invoke(kibitz, ["arena", str(path)])
    assert result.exit_code != 0
    assert safe(result.output), result.output


def test_the_traceback_of_a_fault_is_safe(capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError(EVIL)
    output.show_fault(ValueError, error, None)
    assert not any(map(dangers, capsys.readouterr().err.split("\n")))


def test_a_picture_says_hostile_captions_safely() -> None:
    scene = Scene("square", (Cell("a", 0, 0, "floor"),), (), (EVIL,))
    drawn = document.render_svg(scene, document.Caption(EVIL, EVIL, [EVIL, "b"], [EVIL]))
    assert safe(drawn)
    ET.fromstring(drawn)


# ------------------------------------------------------------------------------ events


def test_the_files_of_an_event_hold_nothing_that_a_terminal_obeys() -> None:
    clean = samples.swiss()
    first_name = clean.standings[0].name
    standings = [clean.standings[0].model_copy(update={"name": EVIL, "what": EVIL})]
    games = [
        game.model_copy(
            update={
                "reason": EVIL,
                "players": [EVIL if name == first_name else name for name in game.players],
            }
        )
        for game in clean.games
    ]
    results = clean.model_copy(
        update={
            "event": clean.event.model_copy(update={"name": EVIL}),
            "standings": [*standings, *clean.standings[1:]],
            "games": games,
        }
    )
    written = export.results_json(results)
    assert json.loads(written)["standings"][0]["name"] == EVIL
    told = (
        written,
        export.ratings_csv(results),
        export.games_csv(results),
        report_text.render_text(results),
        render_html(results, {}),
    )
    for text in told:
        assert not any(map(dangers, text.split("\n")))
    assert "[red]<b>" not in render_html(results, {})


# ------------------------------------------------------------------------------ no way around

ALLOWED = {
    "kibitz/output.py": "the one place",
    "kibitz/process/limits.py": "a sentence of its own, when nothing else works any more",
    "kibitz/process/isolation/entrypoint.py": "quotes its own argument, as repr escapes it",
    "kibitz/process/isolation/supervisor.py": "quotes its own argument, as repr escapes it",
    "bots/kibitz_bots/adapters/launcher.py": "a sentence of its own, before the program begins",
    "kibitz/analysis/match_process.py": "numbers for the server that started it",
    "games/kibitz_games/conformance/laws.py": "a tool of developers",
    "games/kibitz_games/core/schema.py": "a tool of developers",
    "games/kibitz_games/conformance/playthrough.py": "a tool of developers",
}
"""The modules that write to a terminal without `kibitz.output`, and why this is safe."""
SAFE_ARGUMENTS = ("printable.line", "printable.lines", "printable.json")
PACKAGES = (
    "protocol",
    "games",
    "search",
    "training",
    "server",
    "bots",
    "arena",
    "clients",
    "kibitz",
)
WRITERS = ("print", "echo", "sys.std", "sys.__std")
"""No other text of a module is a call that writes, so only modules that have one are parsed."""


def writes(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that write to a terminal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in {"print", "click.echo", "click.secho", "traceback.print_exc"} or (
                called.startswith(("sys.stdout.", "sys.stderr.", "sys.__stderr__."))
                and called.endswith((".write", ".writelines"))
            ):
                yield node


def test_no_code_writes_to_a_terminal_past_the_filter() -> None:
    found = set()
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if name in ALLOWED or not any(word in text for word in WRITERS):
            continue
        for call in writes(ast.parse(text)):
            said = "".join(map(ast.unparse, call.args))
            if not said.startswith(SAFE_ARGUMENTS):
                found.add(f"{name}:{call.lineno} {ast.unparse(call)}")
    assert not found


def test_no_screen_reads_markup_in_what_others_wrote() -> None:
    """Toasts, and strings handed to widgets, are markup unless the code disables it."""
    for path in (ROOT / "clients" / "kibitz_clients").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called.endswith(".notify"):
                told = node.args[0]
                plain_markup = any(
                    word.arg == "markup" and ast.unparse(word.value) == "False"
                    for word in node.keywords
                )
                assert plain_markup or isinstance(told, ast.Constant), ast.unparse(node)
            if called == "Option":
                assert ast.unparse(node.args[0]).startswith(("Text(", "'")), ast.unparse(node)


def test_every_log_of_a_process_has_the_formatter() -> None:
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Formatter" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "logging.Formatter":
                raise AssertionError(f"{path}: expected printable.LogFormatter")
