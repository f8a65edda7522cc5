"""The journal of schema 2, whose entries had no links: it is folded into segments once.

A stream that misses entries there (a fault of that version could lose them) becomes damaged
after the last entry that it has, and its rows are kept; all others go on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash


def upgrade_journal(db: sqlite3.Connection) -> None:
    """Empty `journal_unlinked`, within the transaction that upgrades the database."""
    ends = dict(_segment_ends(db))
    held: dict[int, list[bytes]] = {number: [] for number in ends}
    missing: dict[int, int] = {}
    last = 0
    for batch, text in db.execute("SELECT batch, lines FROM journal_unlinked ORDER BY batch"):
        last = batch
        for number, seq, line in _split(bytes(text)):
            if number not in ends or number in missing:
                continue
            wanted = ends[number][0] + len(held[number]) + 1
            if seq == wanted:
                held[number].append(line)
            elif seq > wanted:
                missing[number] = batch
    for number, lines in held.items():
        _write(db, number, *ends[number], lines)
    for number, batch in missing.items():
        sound = ends[number][0] + len(held[number])
        db.execute(
            "UPDATE stream SET state = 'damaged', sound = ?, reason = ? WHERE number = ?",
            (sound, f"entries after {sound} are missing before batch {batch}", number),
        )
    if missing:
        db.execute(
            "INSERT INTO journal_damaged (batch, lines) SELECT batch, lines FROM journal_unlinked"
        )
    db.execute("INSERT INTO setting VALUES ('trimmed', ?)", (last,))


def _segment_ends(db: sqlite3.Connection) -> Iterator[tuple[int, tuple[int, str]]]:
    """Return the end of the segments of each open stream, and keep the links of their heads."""
    rows = db.execute("SELECT number, head FROM stream WHERE state = 'open'").fetchall()
    for number, head in rows:
        link = chain_hash(EMPTY_CHAIN, bytes(head))
        db.execute("UPDATE stream SET link = ? WHERE number = ?", (link, number))
        end = db.execute(
            "SELECT last, chain FROM stretch WHERE stream = ? ORDER BY first DESC LIMIT 1",
            (number,),
        ).fetchone()
        yield number, (0, link) if end is None else end


def _split(text: bytes) -> Iterator[tuple[int, int, bytes]]:
    for row in filter(None, text.split(b"\n")):
        number, seq, line = row.split(b" ", 2)
        yield int(number), int(seq), line


def _write(db: sqlite3.Connection, number: int, last: int, link: str, lines: list[bytes]) -> None:
    if not lines:
        return
    for line in lines:
        link = chain_hash(link, line)
    db.execute(
        "INSERT INTO stretch (stream, first, last, chain, lines) VALUES (?, ?, ?, ?, ?)",
        (number, last + 1, last + len(lines), link, b"\n".join(lines)),
    )
