"""Results as one page of HTML that needs nothing else: no server, no network, no fonts.

The page may be opened from a disk or hung on any web site. Its content security policy lets
nothing be loaded and no script run but its own, which is known by its hash; so even a name that
was not escaped could do no harm. All text is escaped nevertheless, in one place (`_text`).

Colour is never the only thing that tells: every shaded cell has its number, every whisker too.
"""

from __future__ import annotations

import base64
import hashlib
import html
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from kibitz_clients.arena import chart, dress, wording
from kibitz_clients.arena.claims import Held
from kibitz_clients.arena.results import GameLine, Pair, Results, Standing
from kibitz_clients.arena.sequential import Verdict
from kibitz_protocol import printable
from kibitz_protocol.records import Cause

LISTED: Final = 5000
"""The page lists so many games at most, and says so where there are more."""
DASH: Final = "–"
ORDER: Final = "Games in the order in which they ended."


def page(results: Results, records: Mapping[str, str]) -> str:
    """Return the page; `records` has the path of a game's record, from the page's folder, by tag.

    The same results make the same page, byte for byte.
    """
    played = bool(results.played)
    sections = [
        _ratings(results),
        *([_sequential(results.sequential)] if results.sequential else []),
        *([_claims(results.claims)] if results.claims else []),
        *([_crosstable(results), _superiority(results), _ends(results)] if played else []),
        *([_games(results, records)] if played else []),
    ]
    name = _text(results.event.name)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name}: results</title>",
            f"<style>{dress.STYLE}</style>",
            "</head>",
            "<body>",
            _header(results),
            "<main>",
            *sections,
            "</main>",
            _footer(results),
            f"<script>{dress.SCRIPT}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _policy() -> str:
    return (
        f"default-src 'none'; style-src '{_hash(dress.STYLE)}'; script-src '{_hash(dress.SCRIPT)}';"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _text(value: object) -> str:
    """Return a value as text for any place in the page, attributes included."""
    return html.escape(printable.lines(str(value)), quote=True)


# Parts that sections are made of


def _section(key: str, title: str, *parts: str) -> str:
    inside = "\n".join(part for part in parts if part)
    title = f'<h2 id="{key}-title">{title}</h2>'
    return f'<section aria-labelledby="{key}-title">\n{title}\n{inside}\n</section>'


def _table(
    key: str, kind: str, caption: str, head: str, rows: Sequence[str], foot: str = ""
) -> str:
    """Return a table in a box of its own to scroll in; all it gets is HTML, rows are whole."""
    parts = [
        f'<div class="scroll" role="region" aria-labelledby="{key}-title" tabindex="0">',
        f'<table id="{key}" class="{kind}">',
        f"<caption>{caption}</caption>",
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody>",
        f"<tfoot>{foot}</tfoot>" if foot else "",
        "</table></div>",
    ]
    return "\n".join(part for part in parts if part)


def _row(cells: Iterable[str], attributes: str = "") -> str:
    return f"<tr{attributes}>{''.join(cells)}</tr>"


def _heads(*names: str, left: Sequence[str] = ()) -> str:
    return "".join(
        f'<th scope="col"{" class=l" if name in left else ""}>{_text(name)}</th>' for name in names
    )


def _cells(*values: object) -> str:
    return "".join(f"<td>{_text(value)}</td>" for value in values)


def _entrant(rank: int, standing: Standing, *, what: bool = False) -> str:
    name = _text(standing.name)
    more = f'<span class="what">{_text(standing.what)}</span>' if what else ""
    return (
        f'<th scope="row"><span class="rank">{rank}</span>'
        f'<span class="name" title="{name}">{name}</span>{more}</th>'
    )


# Head and foot


def _header(results: Results) -> str:
    event = results.event
    facts = {
        "Game": wording.game(event),
        "Seats": event.seats,
        "Clock": "none" if event.time_control == "none" else event.time_control,
        "Format": event.format,
        "Entrants": len(results.standings),
        "Seed": event.seed,
        "Time of play": wording.duration(results.seconds),
    }
    pairs = "".join(
        f"<div><dt>{key}</dt><dd>{_text(fact)}</dd></div>" for key, fact in facts.items()
    )
    notes = "".join(f"<li>{_text(note)}</li>" for note in wording.notes(results))
    return "\n".join(
        [
            "<header>",
            f"<h1>{_text(event.name)}</h1>",
            f'<p class="lead">{_text(wording.progress(results))}</p>',
            f"<dl>{pairs}</dl>",
            *([f'<ul class="notes">{notes}</ul>'] if notes else []),
            "</header>",
        ]
    )


def _footer(results: Results) -> str:
    event = f"Event <code>{_text(results.event.hash)}</code>"
    return f"<footer><p>Made by kibitz. {event}</p></footer>"


# Ratings


def _ratings(results: Results) -> str:
    scale = chart.Scale.of(results.standings)
    two, byes = results.event.seats == 2, any(each.byes for each in results.standings)
    axis = ""
    if scale:
        named = '<span class="unseen">95% interval</span>'
        axis = f'<th scope="col" class="chart">{named}{chart.axis(scale)}</th>'
    counts = ("Won", "Drawn", "Lost") if two else ("Mean place", "1st", "Shared 1st")
    head = _heads("Entrant", "Rating", "±") + axis
    head += _heads("Games", "Points", "Score", *counts, *(["Byes"] if byes else []))
    points = wording.column_of_points([each.points for each in results.standings])
    rows = [
        _standing(rank, standing, results, scale, points[rank - 1], byes=byes)
        for rank, standing in enumerate(results.standings, 1)
    ]
    caption = (
        "Ratings in Elo with 95% intervals. Score is the share of opponents beaten, ties half."
    )
    return _section("ratings", "Ratings", _table("ratings", "standings", caption, head, rows))


def _standing(
    rank: int,
    standing: Standing,
    results: Results,
    scale: chart.Scale | None,
    points: str,
    *,
    byes: bool,
) -> str:
    picture = f'<td class="chart">{chart.interval(scale, standing)}</td>' if scale else ""
    reach = "anchor" if standing.anchor else wording.elo(wording.reach(standing), signed=False)
    return _row(
        [
            _entrant(rank, standing, what=True),
            f'<td class="rating">{wording.elo(standing.rating)}</td>',
            f'<td class="soft">{reach}</td>',
            picture,
            _cells(standing.games, points, wording.percent(_score(results, rank), 1)),
            _cells(*_counts(standing, results.event.seats)),
            _cells(standing.byes) if byes else "",
        ]
    )


def _score(results: Results, rank: int) -> float | None:
    return wording.score(results.crosstable[rank - 1])


def _counts(standing: Standing, seats: int) -> tuple[object, ...]:
    if seats == 2:
        return standing.wins, standing.draws, standing.losses
    return wording.decimal(standing.mean_place, 2), standing.wins, standing.draws


# The sequential test


def _sequential(test: Verdict) -> str:
    said = wording.verdict(test)
    return _section(
        "test",
        "Sequential test",
        f"<p>{_text(said[0].upper() + said[1:])}</p>",
        f'<p class="soft">{_text(wording.hypotheses(test))}; LLR {wording.bound(test.llr)}</p>',
        chart.gauge(test),
    )


# What was claimed


def _claims(claims: Sequence[Held]) -> str:
    rows = "".join(f"<li>{_text(wording.held(each))}</li>" for each in claims)
    return _section("claims", "Claims", f"<ul>{rows}</ul>")


# Everybody against everybody


def _crosstable(results: Results) -> str:
    rows = [[_meeting(pair) for pair in row] for row in results.crosstable]
    each = wording.per_pairing(results)
    of = f" from {wording.counted(each, 'game')} each" if each else ""
    if results.event.seats == 2:
        caption = (
            f"Points of the row against the column{of}; below them wins{DASH}draws{DASH}losses."
        )
    else:
        caption = (
            f"How often the row finished before the column{of}, ties half;"
            f" below it before{DASH}beside{DASH}behind."
        )
    return _section("crosstable", "Cross-table", _square("crosstable", caption, results, rows))


def _meeting(pair: Pair | None) -> str:
    if pair is None:
        return '<td class="soft">·</td>'
    if not pair.games:
        return f'<td class="soft">{wording.NOTHING}</td>'
    counts = DASH.join(map(str, (pair.wins, pair.draws, pair.losses)))
    shade = _shade(pair.points / pair.games)
    return f"<td{shade}>{wording.points(pair.points)}<small>{counts}</small></td>"


def _superiority(results: Results) -> str:
    rows = [
        [_chance(None if row == column else chance, mine=row == column) for column, chance in each]
        for row, each in enumerate(map(enumerate, results.superiority))
    ]
    caption = "How likely it is that the row is stronger than the column."
    table = _square("superiority", caption, results, rows)
    return _section("superiority", "Likelihood of superiority", table)


def _chance(chance: float | None, *, mine: bool) -> str:
    if chance is None:
        return f'<td class="soft">{"·" if mine else wording.NOTHING}</td>'
    return f"<td{_shade(chance)}>{_text(wording.percent(chance))}</td>"


def _shade(share: float) -> str:
    """Return the class of a cell by its score: towards a win or towards a loss, in steps."""
    step = round(abs(share - 0.5) * 2 * dress.STEPS)
    return f' class="{"w" if share > 0.5 else "l"}{step}"' if step else ""


def _square(key: str, caption: str, results: Results, rows: Sequence[Sequence[str]]) -> str:
    standings = results.standings
    heads = "".join(
        f'<th scope="col" title="{name}"><span class="head">{name}</span></th>'
        for name in (_text(each.name) for each in standings)
    )
    lines = [
        _row([_entrant(rank, each), *cells])
        for rank, (each, cells) in enumerate(zip(standings, rows, strict=True), 1)
    ]
    return _table(key, "square", caption, f'<th scope="col">Entrant</th>{heads}', lines)


# How games ended


def _ends(results: Results) -> str:
    summary = f"<p>Games: {_text(wording.terminations(results.games))}.</p>"
    rows = wording.ends(results)
    if not rows:
        return _section("ends", "How games ended", summary)
    words = wording.end_words(rows)
    lines = [_end_row(row, words) for row in rows]
    caption = "Entrants whose games did not all end as the rules have it, by what they did."
    head = _heads("Entrant", "Games", *(word.capitalize() for word in words))
    table = _table("ends", "ends", caption, head, lines[:-1], lines[-1])
    return _section("ends", "How games ended", summary, table)


def _end_row(row: wording.Ends, words: Sequence[str]) -> str:
    cells = "".join(_end_cell(row.counts.get(word, 0), word) for word in words)
    name = f'<span class="name">{_text(row.name)}</span>'
    return _row([f'<th scope="row">{name}</th>', _cells(row.games), cells])


def _end_cell(count: int, word: str) -> str:
    if not count:
        return '<td class="soft">·</td>'
    return f"<td{'' if word == 'normal' else ' class=odd'}>{count}</td>"


# Games


def _games(results: Results, records: Mapping[str, str]) -> str:
    listed = _listed(results.games)
    ranks = {standing.name: rank for rank, standing in enumerate(results.standings, 1)}
    rounds = any(game.round is not None for game in listed)
    kind = "games" if results.event.seats == 2 else "games many"
    rows = [_game(game, ranks, records.get(game.tag), rounds=rounds) for game in listed]
    return _section(
        "games",
        "Games",
        _left_out(results, listed),
        _replaying(listed, records),
        _filter(results),
        _table("games", kind, ORDER, _game_heads(results, rounds), rows),
    )


def _listed(games: Sequence[GameLine]) -> list[GameLine]:
    """Return the games to list: all, or those in which somebody dropped out and the latest."""
    order = sorted(range(len(games)), key=lambda index: (not _is_odd(games[index]), -index))
    return [games[index] for index in sorted(order[:LISTED])]


def _is_odd(game: GameLine) -> bool:
    return game.termination != "normal" or any(game.causes)


def _left_out(results: Results, listed: Sequence[GameLine]) -> str:
    if len(listed) == len(results.games):
        return ""
    return (
        f"<p>Of {len(results.games):,} games these are {len(listed):,}: those in which somebody"
        " dropped out, and the latest. The files of results beside this page have all.</p>"
    )


def _replaying(listed: Sequence[GameLine], records: Mapping[str, str]) -> str:
    path = next((records[game.tag] for game in listed if game.tag in records), None)
    if path is None:
        return ""
    command = f"<code>kibitz replay {_text(shlex.quote(path))}</code>"
    return f'<p class="soft">Step through a record with {command}.</p>'


def _filter(results: Results) -> str:
    options = "".join(
        f'<option value="{rank}">{_text(each.name)}</option>'
        for rank, each in enumerate(results.standings, 1)
    )
    return (
        '<form id="filter" class="filter" hidden>'
        f"<label>Entrant {_select('one', 'all', options)}</label>"
        f"<label>with {_select('two', 'anybody', options)}</label>"
        '<label><input type="checkbox" name="odd"> only drop-outs</label>'
        '<output id="shown" class="soft"></output></form>'
    )


def _select(name: str, everybody: str, options: str) -> str:
    return f'<select name="{name}"><option value="">{everybody}</option>{options}</select>'


def _game_heads(results: Results, rounds: bool) -> str:
    if results.event.seats == 2:
        players = (
            '<th scope="col">First seat</th><th scope="col" class="res">Result</th>'
            '<th scope="col" class="l">Second seat</th>'
        )
    else:
        seats = [f"Seat {number}" for number in range(1, results.event.seats + 1)]
        players = _heads(*seats, left=seats)
    return "".join(
        [
            _heads("Game", *(["Round"] if rounds else [])),
            players,
            _heads("Ended by", "Plies", "Time", "Replay", left=("Ended by", "Replay")),
        ]
    )


def _game(game: GameLine, ranks: Mapping[str, int], path: str | None, *, rounds: bool) -> str:
    """Return a row; `data-who` has the ranks of its players, for the filter."""
    who = " ".join(str(ranks[name]) for name in game.players)
    used = wording.duration(sum(game.used_ms) / 1000) if game.used_ms else wording.NOTHING
    return _row(
        [
            f'<th scope="row">{_text(game.tag)}</th>',
            _cells(game.round or wording.NOTHING) if rounds else "",
            _two(game) if len(game.players) == 2 else _many(game),
            _ending(game),
            _cells(game.plies, used),
            _replay(path),
        ],
        f' data-who="{who}"{" data-odd" if _is_odd(game) else ""}',
    )


def _two(game: GameLine) -> str:
    (a, b), (first, second) = game.places, map(_text, game.players)
    score = f"½{DASH}½" if a == b else f"1{DASH}0" if a < b else f"0{DASH}1"
    return (
        f"<td>{_winner(first, a < b)}</td>"
        f'<td class="res">{score}</td>'
        f'<td class="l">{_winner(second, b < a)}</td>'
    )


def _many(game: GameLine) -> str:
    return "".join(
        f'<td class="l"><span class="place">{place}</span> {_winner(_text(name), place == 1)}</td>'
        for place, name in zip(game.places, game.players, strict=True)
    )


def _winner(name: str, won: bool) -> str:
    return f"<b>{name}</b>" if won else name


def _ending(game: GameLine) -> str:
    """Say what ended the game, in the game's words, and who dropped out."""
    parts = [
        f'<span class="odd">{_text(name)}: {wording.DROPPED[cause]}</span>'
        for name, cause in zip(game.players, game.causes, strict=True)
        if cause is not None
    ]
    if game.cause is Cause.RULES or not parts:
        parts.insert(0, _text(game.reason or wording.DROPPED[game.cause]))
    return f'<td class="l end">{", ".join(parts)}</td>'


def _replay(path: str | None) -> str:
    """Return a link to a record; a path can never become another kind of address."""
    if path is None:
        return f'<td class="l replay soft">{wording.NOTHING}</td>'
    link = f'<a href="{_text(quote(path))}">record</a>'
    button = '<button type="button" hidden title="copy the command that replays it">copy</button>'
    return f'<td class="l replay">{link} {button}</td>'
