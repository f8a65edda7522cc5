"""The page generator: tables from synthetic results, bots, event files and schemas."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from benchmarks.strength.results import CaseResult, Measurement
from docs.generate import __main__ as command
from docs.generate import json_schema, markdown, messages, strength, tournament_files


def player(name: str, score: float, **fields: Any) -> dict[str, Any]:
    values = {"what": f"bot line-nim/{name}", "games": 10, "wins": 7, "draws": 0, "losses": 3}
    values |= {"low": score / 2, "high": 1 - (1 - score) / 2, "mean_score": 1.0, "causes": {}}
    return values | {"name": name, "score": score, "flags": 0, "p99_ms": 20} | fields


def result(
    players: list[dict[str, Any]], table: list[list[str | None]], **event: Any
) -> CaseResult:
    facts = {"name": "cup", "game": "line-nim", "options": {}, "seats": 2, "time_control": "none"}
    facts |= {"format": "round-robin", "seed": 1, "hash": "0"} | event
    measured = {"commit": "0123456789ab", "date": "2030-05-31"}
    values = {"event": facts, "measured": measured, "games": 10, "claims": []}
    values |= {"players": players, "crosstable": table}
    return CaseResult.model_validate(values)


PAIR = result(
    [player("Ada", 0.7), player("Bob", 0.3, causes={"crash": 2})],
    [[None, "7-0-3"], ["3-0-7", None]],
)
GAUNTLET = result(
    [player("Ada", 0.8, games=20), player("Bob", 0.3), player("Cyd", 0.1)],
    [[None, "7-0-3", "9-0-1"], ["3-0-7", None, "0-0-0"], ["1-0-9", "0-0-0", None]],
    format="gauntlet",
)
COPIES = result(
    [player("Ada", 0.9), *(player(f"Bob-{i}", 0.3, what="bot line-nim/Bob") for i in (1, 2))],
    [[None, "9-0-1", "8-0-2"], ["1-0-9", None, "5-0-5"], ["2-0-8", "5-0-5", None]],
    format="free-for-all",
    seats=3,
)


def test_a_cross_table_has_a_row_and_a_column_for_each() -> None:
    swiss = GAUNTLET.model_copy(
        update={"event": GAUNTLET.event.model_copy(update={"format": "swiss"})}
    )
    page = strength.page({"cup": swiss})
    assert "`cup`: 2 seats, no clock; measured: 0123456789ab 2030-05-31\n" in page
    assert "| entrant | Ada | Bob | Cyd | games |" in page
    assert "| Bob | 3-0-7 | · | – | 10 | 30.0% | 15.0% to 65.0% | 1.0 | – | – | 20 ms |" in page
    assert "0-0-0" not in page


def test_gauntlets_of_one_bot_are_one_table_with_the_strongest_opponent_first() -> None:
    page = strength.page({"cup": GAUNTLET, "bowl": GAUNTLET})
    table = page[page.index("`Ada`: 2 seats, no clock") :]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| ")]
    assert rows == ["| opponent", "| Bob", "| Bob", "| Cyd", "| Cyd"]
    row = "| Cyd | 10 | 9-0-1 | 90.0% | 45.0% to 95.0% | – | – | 20 ms | 0123456789ab 2030-05-31 |"
    assert row in table


def test_copies_and_pairs_are_a_row_each_with_their_faults() -> None:
    page = strength.page({"cup": PAIR, "bowl": COPIES})
    conditions = "2 seats, no clock; faults: Bob 2 crashed"
    assert f"| Ada | Bob | {conditions} | 10 | 7-0-3 | 70.0% |" in page
    assert "| Ada | 2 x line-nim/Bob | 3 seats, no clock | 10 | 90.0% |" in page
    assert (
        page.index("against copies of another") < page.index("### Pairs") < page.index("## Claims")
    )


def test_the_page_begins_with_when_it_was_measured() -> None:
    old = Measurement(commit="aaaaaaaaaaaa", date="2030-05-01", stored_only=True)
    page = strength.page(
        {"cup": PAIR, "bowl": COPIES, "old": PAIR.model_copy(update={"measured": old})},
        ["cup", "bowl", "old", "new"],
    )
    assert page.split("\n\n")[1] == (
        "This page shows the measured strength of the house bots: 2 events measured at commit"
        " `0123456789ab` on 2030-05-31; 1 event of earlier commits, stored from 2030-05-01 to"
        " 2030-05-01."
    )
    assert "| 20 ms | aaaaaaaaaaaa 2030-05-01 † |" in page
    assert page.endswith("## Not measured\n\nThese events have no result yet: `new`.\n")


def test_a_row_has_the_times_of_its_bot() -> None:
    fast = player("Ada", 0.7, what="bot line-nim/mcts:time=0.3", mean_ms=12.34)
    page = strength.page({"cup": result([fast, player("Bob", 0.3)], PAIR.crosstable)})
    assert "| 1.0 | 0.3 s | 12.3 ms | 20 ms | 0123456789ab 2030-05-31 |" in page


def test_only_claims_that_do_not_hold_have_a_row() -> None:
    claim = {"claim": "Ada is better than Bob", "games": 10, "wins": 7, "draws": 0, "losses": 3}
    claim |= {"share": True, "measured": 0.7, "low": 0.4, "high": 0.9, "holds": False}
    held = claim | {"claim": "Bob never loses to Ada", "holds": True}
    made = CaseResult.model_validate(PAIR.model_dump() | {"claims": [claim, held]})
    page = strength.page({"cup": made})
    assert "The events test 2 claims. 1 of them hold." in page
    row = (
        "| Ada is better than Bob | cup | 2 seats, no clock | 10 | 7-0-3 | 70.0% | 40.0% to 90.0% |"
    )
    assert row in page
    assert "never loses" not in page


class Part(BaseModel):
    """A part."""

    amount: int = Field(3, ge=1, le=9)
    """How many, as in ``4``."""
    share: float | None = Field(None, gt=0, lt=0.5)
    """A part of one."""
    kind: str
    undocumented: bool = False


def test_the_keys_of_a_model_are_described_by_the_docstrings_of_its_fields() -> None:
    with pytest.raises(tournament_files.UndocumentedFieldError, match="no docstring for kind, und"):
        tournament_files.described(Part)


def test_values_are_said_in_words() -> None:
    fields = Part.model_json_schema()["properties"]
    assert [json_schema.kind(field, str) for field in fields.values()] == [
        "whole number from 1 to 9",
        "number above 0 and below 0.5",
        "text",
        "true or false",
    ]
    assert [json_schema.default(field) for field in fields.values()][::3] == ["`3`", "false"]
    assert json_schema.default({}) == "none"
    nested = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Seat"}, {"const": "open"}]}}
    assert json_schema.kind(nested, str.lower) == "list of seat or `open`"
    assert json_schema.kind({"type": "integer", "maximum": 2**53 - 1}, str) == "whole number"


def test_a_message_is_named_by_its_type_and_its_parts_are_linked() -> None:
    part = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    move = {"properties": {"type": {"const": "move"}, "to": {"$ref": "#/$defs/Place"}}}
    union = {"oneOf": [{"$ref": "#/$defs/Move"}]}
    empty: dict[str, Any] = {"oneOf": []}
    page = messages.messages_page(
        {"$defs": {"Place": part, "Move": move, "ClientMessage": union, "ServerMessage": empty}}
    )
    assert "## From the client\n\n### `move`\n" in page
    assert "| `to` | [Place](#place) | none |  |" in page
    assert "## Parts\n\n### Place\n" in page


def test_text_stands_between_its_marks_and_nothing_else_changes() -> None:
    page = "# A\n\n<!-- b -->\nold\n<!-- e -->\n\nmore\n"
    made = markdown.between(page, "<!-- b -->", "<!-- e -->", "new\n")
    assert made == "# A\n\n<!-- b -->\n\nnew\n\n<!-- e -->\n\nmore\n"
    assert markdown.between(made, "<!-- b -->", "<!-- e -->", "new\n") == made
    for broken in ("# A\n", "<!-- b -->\n", "<!-- e -->\n"):
        with pytest.raises(markdown.NoMarkersError):
            markdown.between(broken, "<!-- b -->", "<!-- e -->", "new")


def test_a_bar_in_a_cell_is_no_column() -> None:
    assert markdown.table(("a",), [["x|y"]]) == "| a |\n|---|\n| x\\|y |\n"


def test_the_command_writes_what_differs_and_checks_without_writing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    monkeypatch.setattr(command, "pages", lambda: {page: "text\n"})
    assert command.main(["--check"]) == 1
    assert not page.exists()
    assert f"out of date: {page}" in capsys.readouterr().err
    assert command.main([]) == 0
    assert page.read_text() == "text\n"
    assert command.main(["--check"]) == 0
