"""The results page, checked with an independent parser."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TypeAlias

import pytest

from kibitz_arena.report import html as module
from kibitz_arena.report.html import render_html
from kibitz_arena.results import Results
from tests.arena import samples

Make: TypeAlias = Callable[[], Results]
VOID = {"meta", "input", "br"}
SAMPLES = [
    samples.league,
    samples.melee,
    samples.swiss,
    samples.crowd,
    samples.untouched,
    samples.hostile,
]
every_sample = pytest.mark.parametrize("make", SAMPLES, ids=lambda make: make.__name__)


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parts: list[str | Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return all descendants of a kind, in document order."""
        found = []
        for part in self.parts:
            if isinstance(part, Element):
                found += [*([part] if part.tag == tag else []), *part.all(tag)]
        return found

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


class Tree(HTMLParser):
    """Builds elements and rejects unclosed elements and duplicate attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]
        self.feed(text)
        self.close()
        assert self._open == [self.root], f"still open: {[each.tag for each in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len({*names}), f"an attribute twice in {self.get_starttag_text()}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].parts.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"expected </{self._open[-1].tag}>, got </{tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].parts.append(data)


def render(results: Results) -> str:
    return render_html(results, samples.records(results))


def tree(results: Results) -> Element:
    return Tree(render(results)).root


def table(root: Element, key: str) -> Element:
    return next(each for each in root.all("table") if each.attributes.get("id") == key)


def body(root: Element, key: str) -> list[list[str]]:
    rows = table(root, key).all("tbody")[0].all("tr")
    return [[cell.text for cell in row.parts if isinstance(cell, Element)] for row in rows]


@every_sample
def test_the_page_is_well_formed_and_has_one_title(make: Make) -> None:
    results = make()
    root = tree(results)
    assert [each.text for each in root.all("h1")] == [results.event.name]
    assert [each.text for each in root.all("title")] == [f"{results.event.name}: results"]
    ids = Counter(
        each.attributes["id"]
        for tag in ("table", "h2", "form", "output")
        for each in root.all(tag)
        if "id" in each.attributes
    )
    assert set(ids.values()) == {1}


@every_sample
def test_tables_have_captions_and_scopes_and_are_rectangles(make: Make) -> None:
    for each in tree(make()).all("table"):
        assert each.all("caption")[0].text
        assert all(head.attributes["scope"] in {"row", "col"} for head in each.all("th"))
        rows = each.all("tr")
        assert len({sum(isinstance(p, Element) for p in row.parts) for row in rows}) == 1


@every_sample
def test_regions_and_sections_are_named_by_headings_that_are_there(make: Make) -> None:
    root = tree(make())
    headings = {each.attributes["id"] for each in root.all("h2")}
    for each in root.all("section") + [d for d in root.all("div") if "role" in d.attributes]:
        assert each.attributes["aria-labelledby"] in headings


@every_sample
def test_nothing_is_loaded_from_anywhere(make: Make) -> None:
    text = render(make())
    assert not re.search(
        r"https?://|//\w|\bsrc\s*=|@import|url\(|<link|<iframe", text.split("<body>")[0]
    )
    assert not re.search(r"https?://|\bsrc\s*=|<link|<iframe|<img", text)


@every_sample
def test_the_policy_allows_the_page_s_own_style_and_script_and_nothing_else(make: Make) -> None:
    root = tree(make())
    policy = next(
        each.attributes["content"] for each in root.all("meta") if "http-equiv" in each.attributes
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        (source,) = root.all(kind)
        digest = base64.b64encode(hashlib.sha256(source.text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


@every_sample
def test_the_same_results_make_the_same_page(make: Make) -> None:
    assert render(make()) == render(make())


@every_sample
def test_every_entrant_and_every_game_is_there(make: Make) -> None:
    results = make()
    root = tree(results)
    names = [row[0] for row in body(root, "ratings")]
    for rank, (standing, name) in enumerate(zip(results.standings, names, strict=True), 1):
        assert name == f"{rank}{standing.name}{standing.what}"
    if results.games:
        assert [row[0] for row in body(root, "games")] == [game.tag for game in results.games]
        assert len(table(root, "crosstable").all("td")) == len(results.standings) ** 2


def test_names_are_text_wherever_they_are() -> None:
    results = samples.hostile()
    text = render(results)
    for markup in ("<script>alert", "</title><b>", "<i>", "<em>", "<u>"):
        assert markup not in text
        assert markup.replace("<", "&lt;").replace(">", "&gt;") in text
    root = Tree(text).root
    assert len(root.all("script")) == 1
    attributes = {
        name
        for tag in ("th", "td", "span", "option")
        for e in root.all(tag)
        for name in e.attributes
    }
    assert attributes <= {"class", "scope", "title", "value"}
    options = [each.text for each in root.all("option")]
    assert options[1:4] == [each.name for each in results.standings]


def test_games_of_two_show_who_won_and_why() -> None:
    results = samples.league()
    for row, game in zip(body(tree(results), "games"), results.games, strict=True):
        tag, first, score, second, ending, plies, *_ = row
        assert (tag, first, second, plies) == (game.tag, *game.players, str(game.plies))
        expected = {(1, 2): "1–0", (2, 1): "0–1", (1, 1): "½–½"}
        assert score == expected[game.places[0], game.places[1]]
        fault = game.causes[1]
        assert ending.startswith(game.players[1]) if fault else ending == game.reason


def test_games_of_six_show_the_place_at_every_seat() -> None:
    results = samples.melee()
    for row, game in zip(body(tree(results), "games"), results.games, strict=True):
        seats = zip(game.places, game.players, strict=True)
        assert row[1:7] == [f"{place} {name}" for place, name in seats]


def test_rows_know_their_players_and_drop_outs_for_the_filter() -> None:
    results = samples.league()
    names = [each.name for each in results.standings]
    rows = table(tree(results), "games").all("tbody")[0].all("tr")
    for row, game in zip(rows, results.games, strict=True):
        ranks = row.attributes["data-who"].split()
        assert [names[int(rank) - 1] for rank in ranks] == game.players
        assert ("data-odd" in row.attributes) == any(game.causes)


def test_records_are_linked_by_paths_and_by_nothing_else() -> None:
    results = samples.melee()
    tags = [game.tag for game in results.games[:4]]
    paths = ["records/b1.1.jsonl", "javascript:alert(1)", "a b/ü?#.jsonl"]
    text = render_html(results, dict(zip(tags, paths, strict=False)))
    links = [each.attributes["href"] for each in Tree(text).root.all("a")]
    assert links == ["records/b1.1.jsonl", "javascript%3Aalert%281%29", "a%20b/%C3%BC%3F%23.jsonl"]
    assert "kibitz record replay records/b1.1.jsonl" in text
    assert "kibitz record replay" not in render_html(results, {}).split("<script>")[0]


def test_colour_never_stands_alone() -> None:
    root = tree(samples.league())
    cells = table(root, "crosstable").all("td")
    shaded = [cell for cell in cells if cell.attributes.get("class")]
    assert shaded
    assert all(re.search(r"\d|·|–", cell.text) for cell in shaded)


def test_shades_follow_the_score() -> None:
    assert [module.shade(share) for share in (0.0, 0.4, 0.5, 0.6, 1.0)] == [
        "l5",
        "l1",
        "",
        "w1",
        "w5",
    ]


def test_a_page_of_very_many_games_says_which_it_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LISTED_GAMES", 20)
    results = samples.league()
    root = tree(results)
    listed = [row[0] for row in body(root, "games")]
    tags = [game.tag for game in results.games]
    odd = [game.tag for game in results.games if any(game.causes)]
    assert len(listed) == 20
    assert {*odd} <= {*listed}
    assert listed[-1] == tags[-1]
    assert listed == sorted(listed, key=tags.index)
    assert "This table lists 20 of 252 games" in render(results)


def test_the_sequential_test_is_there_when_the_event_has_one() -> None:
    assert "Sequential test" in [each.text for each in tree(samples.league()).all("h2")]
    assert "Sequential test" not in [each.text for each in tree(samples.melee()).all("h2")]


def test_before_the_first_game_there_are_entrants_and_no_empty_tables() -> None:
    headings = [each.text for each in tree(samples.untouched()).all("h2")]
    assert headings == ["Ratings"]
